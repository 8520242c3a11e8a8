//! Public mesh files with parts that a mesh does not need, or that readers used to drop in silence.

use quadrille::Task;
use quadrille::geometry::files::{bounds, load};

use crate::support::shared;

/// Folder of the files.
const FOLDER: &str = "cases/meshes-2";

/// Files that no reader of this program draws, and the reason.
const REFUSED: [(&str, &str); 11] = [
    ("07-obj-numbers/mixedeol.obj", "expected a number"),
    ("07-obj-numbers/upper.obj", "vertices with finite coordinates, found none"),
    ("08-obj-forward-index/a.obj", "of which there is none before this line"),
    ("21-glb/lenshort.glb", "expected 108 bytes"),
    ("30-uri/float_index.gltf", "floating point"),
    ("30-uri/null.gltf", "null"),
    ("30-uri/shortbuf.gltf", "expected 112 bytes"),
    ("54-invalid/index9.gltf", "expected indices below 4"),
    ("83-meshopt/required.gltf", "EXT_meshopt_compression"),
    ("84-empty/matrix_w0.gltf", "an affine map"),
    ("91-files/file.gltf", "a URI with a scheme"),
];

#[test]
fn every_file_is_read_or_refused_for_a_reason() {
    let Some(folder) = shared::path(FOLDER) else { return };
    let files = shared::files_below(&folder, &["obj", "ply", "gltf", "glb"]);
    assert!(files.len() > 100, "{}", files.len());
    let mut wrong = String::new();
    for path in files {
        let name = path.strip_prefix(&folder).unwrap().to_str().unwrap().to_owned();
        let refused = REFUSED.iter().find(|(listed, _)| *listed == name);
        match (load(&path, &Task::NEVER), refused) {
            (Ok(_), None) => {}
            (Ok(_), Some(_)) => wrong += &format!("{name} needs no exception any more\n"),
            (Err(error), None) => wrong += &format!("{name}: {error}\n"),
            (Err(error), Some((_, reason))) => {
                if !error.to_string().contains(reason) {
                    wrong += &format!("{name}: {error}, not {reason}\n");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// What is left out is counted in a warning, and the rest is the whole mesh.
#[test]
fn what_is_left_out_is_counted() {
    let Some(folder) = shared::path(FOLDER) else { return };
    for (name, faces, warning) in [
        ("01-obj-nan-normal/a.obj", 1, "without finite numbers are left out: 1"),
        ("01-obj-nan-normal/nanind.obj", 1, "without finite numbers are left out: 1"),
        ("03-nan-unreferenced-vertex/a.obj", 1, "unused vertices without finite coordinates"),
        ("03-nan-unreferenced-vertex/a.ply", 1, "unused vertices without finite coordinates"),
        ("04-obj-face-of-two/a.obj", 1, "faces of fewer than three corners are left out: 1"),
        ("04-obj-face-of-two/a.ply", 1, "faces of fewer than three corners are left out: 1"),
        ("25-color/u8_notnorm.gltf", 2, "does not state as normalized"),
        ("27-textransform/missing_set.gltf", 2, "the colour of their texture's corner: 2"),
        ("77-ply-extra-values/a.ply", 1, "rows with more values than the header states: 1"),
        ("85-two-clusters/two_thirds.obj", 4108, "are rounded to steps of up to 1.00e0"),
        ("85-two-clusters/third.obj", 3219, "are rounded to steps of up to 1.00e0"),
        ("20-gltf-nan/normal.gltf", 2, "normals of length 0 or without finite numbers"),
        ("78-obj-dangling/nanvt.obj", 1, "texture coordinates without finite numbers"),
        ("78-obj-dangling/vn.obj", 1, "indices of normals that the file lacks are left out: 4"),
        ("78-obj-dangling/vt.obj", 1, "indices of texture coordinates that the file lacks"),
    ] {
        let loaded = load(&folder.join(name), &Task::NEVER).unwrap();
        assert_eq!(loaded.mesh.faces(), faces, "{name}");
        let has = loaded.warnings.iter().any(|text| text.contains(warning));
        assert!(has, "{name}: {:?}", loaded.warnings);
    }
}

/// A vertex that no face uses has no part in the view of the mesh.
#[test]
fn unused_vertices_do_not_count() {
    let Some(folder) = shared::path(FOLDER) else { return };
    let load = |name: &str| load(&folder.join("45-unreferenced").join(name), &Task::NEVER).unwrap();
    let [clean, origin] = ["clean.obj", "origin.obj"].map(load);
    assert_eq!((clean.unused_positions, origin.unused_positions), (0, 1));
    assert_eq!(clean.mesh.positions, origin.mesh.positions);
    assert_eq!(clean.mesh.origin, origin.mesh.origin);
}

/// Colours of whole numbers are shares of 255, whether the file says so or not.
#[test]
fn colours_of_whole_numbers_are_shares() {
    let Some(folder) = shared::path(FOLDER) else { return };
    let loaded = load(&folder.join("25-color/u8_notnorm.gltf"), &Task::NEVER).unwrap();
    let colours = loaded.mesh.colours.iter().flatten();
    assert!(colours.clone().all(|c| (0.0..=1.0).contains(c)), "{:?}", loaded.mesh.colours);
    assert!(colours.copied().fold(0.0, f32::max) > 0.25);
}

/// A skin whose joints are outside the scene places its mesh, as a skin within it does.
#[test]
fn joints_outside_the_scene_place_a_mesh() {
    let Some(folder) = shared::path(FOLDER) else { return };
    let loaded = load(&folder.join("22-skin/joint_outside_scene.gltf"), &Task::NEVER).unwrap();
    assert!(!loaded.warnings.iter().any(|text| text.contains("skins")), "{:?}", loaded.warnings);
    // The joint halves the square from -1 to 1 and moves it by a half.
    let [least, most] = bounds(&loaded.mesh.positions);
    assert_eq!((least[..2].to_vec(), most[..2].to_vec()), (vec![0.0, -0.5], vec![1.0, 0.5]));
}

/// The parts of a mesh that are drawn as exactly as its positions are have no warning.
#[test]
fn meshes_close_together_have_no_coarse_steps() {
    let Some(folder) = shared::path(FOLDER) else { return };
    for name in [
        "85-two-clusters/near.obj",
        "79-to-splats-far/far.obj",
        "40-scale/e-30.obj",
        "40-scale/e37.obj",
    ] {
        let loaded = load(&folder.join(name), &Task::NEVER).unwrap();
        let is_coarse = |text: &String| text.contains("are rounded to steps");
        assert!(!loaded.warnings.iter().any(is_coarse), "{name}: {:?}", loaded.warnings);
    }
}

/// Names of materials in quotes or before a comment find their descriptions.
#[test]
fn quotes_and_comments_are_no_part_of_a_name() {
    let Some(folder) = shared::path(FOLDER) else { return };
    for name in ["quoted.obj", "usemtlcomment.obj", "trail.obj", "two.obj"] {
        let loaded = load(&folder.join("10-mtl-names").join(name), &Task::NEVER).unwrap();
        assert_eq!(loaded.mesh.materials[0].base_colour, [1.0, 0.0, 0.0], "{name}");
    }
}

/// The colour of an instance is a factor on the colours of its vertices.
#[test]
fn instances_have_colours() {
    let Some(folder) = shared::path(FOLDER) else { return };
    let mesh = load(&folder.join("82-inst2/color.gltf"), &Task::NEVER).unwrap().mesh;
    let of_face = |face: usize| mesh.colours[mesh.face(face)[0].colour as usize];
    assert_eq!([of_face(0), of_face(2)], [[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0]]);
}

/// The normals of a material have a transform that its colours have not.
#[test]
fn textures_have_transforms_of_their_own() {
    let Some(folder) = shared::path(FOLDER) else { return };
    let loaded = load(&folder.join("27-textransform/normal_scaled.gltf"), &Task::NEVER).unwrap();
    assert_eq!(loaded.warnings, Vec::<String>::new());
    let material = &loaded.mesh.materials[0];
    let [colours, normals] = [material.base_texture, material.normal_texture]
        .map(|at| loaded.mesh.textures[at.unwrap() as usize].uv_map.point([0.5, 0.25]));
    assert_eq!((colours, normals), ([0.5, 0.25], [2.0, 1.0]));
}
