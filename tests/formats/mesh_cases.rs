//! Small meshes of users and of other projects: each has the picture that its format describes, or a warning or an
//! error that names the missing part.
//!
//! The files are not part of the project; without them the test says so and passes.
use std::fs;
use std::path::{Path, PathBuf};

use nalgebra::{Matrix3, Vector3};
use quadrille::geometry::files::{Mesh, load};
use quadrille::{Camera, Intrinsics, MeshDrawSettings, draw_mesh};

use crate::support::shared;

/// Pixels per world unit in the plane z = 0, in which most of the files have a square from -1 to 1.
const SCALE: f64 = 8.0;
/// Distance of the camera from that plane.
const DISTANCE: f64 = 5.0;
const SIDE: u32 = 64;

/// Expected result of a file.
enum Outcome {
    /// Pixels of the picture that are covered, their mean in linear light divided by its largest channel, and a
    /// part of each warning.
    Picture(u32, [f32; 3], &'static [&'static str]),
    /// Number of faces, for meshes of many, and a part of each warning.
    Faces(usize, &'static [&'static str]),
    /// A part of the error.
    Error(&'static str),
}
use Outcome::{Error, Faces, Picture};

/// The orange of the files `g*`, with the white highlight of their material.
const ORANGE: [f32; 3] = [1.0, 0.4, 0.16];
const WHITE: [f32; 3] = [1.0; 3];
/// A texture of red, green, blue and white quarters.
const QUARTERS: [f32; 3] = [0.95, 0.89, 1.0];
/// The pixels of a square from -1 to 1.
const SQUARE: u32 = 256;

const CASES: [(&str, Outcome); 43] = [
    ("g01_strip.gltf", Picture(SQUARE, ORANGE, &[])),
    ("g02_fan.gltf", Picture(SQUARE, ORANGE, &[])),
    ("g03_sparse_indices.gltf", Picture(SQUARE, ORANGE, &[])),
    ("g04_no_default_scene.gltf", Picture(SQUARE, ORANGE, &[])),
    ("g05_shear.gltf", Picture(SQUARE, ORANGE, &[])),
    ("g06_color_u8.gltf", Picture(SQUARE, [1.0, 0.2, 0.1], &[])),
    ("g07_mask_vertexalpha.gltf", Picture(SQUARE / 2, ORANGE, &[])),
    ("g09_restart.gltf", Error("accessors[2]: expected indices below 4, found 65535")),
    ("g10_node_visibility.gltf", Picture(SQUARE, ORANGE, &[])),
    ("g11_node_weights.gltf", Picture(3 * SQUARE / 2, ORANGE, &[])),
    ("g12_ortho_cam.gltf", Picture(SQUARE, ORANGE, &[])),
    ("i02_no_kd_map.obj", Picture(SQUARE, WHITE, &["\"tex.png\" is left out"])),
    (
        "i03_backslash.obj",
        Picture(
            SQUARE,
            QUARTERS,
            &["\"maps\\\\tex.png\" does not exist: \"maps/tex.png\" is read"],
        ),
    ),
    ("i05_d_and_Tr.obj", Picture(SQUARE, [1.0, 0.13, 0.13], &[])),
    ("i08_bmp.obj", Picture(SQUARE, WHITE, &["\"tex.bmp\" is left out"])),
    ("i10_progressive.obj", Picture(SQUARE, WHITE, &["\"tex prog.jpg\" is left out"])),
    ("i11_cmyk.obj", Picture(SQUARE, WHITE, &["\"tex_cmyk.jpg\" is left out"])),
    ("i12_palette.obj", Picture(SQUARE, WHITE, &["\"tex_pal.png\" is left out"])),
    ("i14_mtl_sub/a.obj", Picture(SQUARE, QUARTERS, &[])),
    ("i17_tristrips.ply", Picture(SQUARE, WHITE, &[])),
    ("i18_diffuse_red.ply", Picture(SQUARE, [1.0, 0.2, 0.0], &[])),
    ("i20_obj_color255.obj", Picture(SQUARE, [1.0, 0.28, 0.0], &["they are read as 0 to 255"])),
    (
        "i21_uniglt_nonroot.gltf",
        Picture(
            SQUARE,
            [1.0, 0.2, 0.2],
            &["nodes[1] is a root of the scene and a child of nodes[0]"],
        ),
    ),
    ("i23_negscale.gltf", Picture(2 * SQUARE, [1.0, 0.2, 0.2], &[])),
    ("i24_uv_u16_uri.gltf", Picture(SQUARE, WHITE, &["tex%20%C3%BCn%C3%AF.png\" is left out"])),
    ("i25_uv_u16_rawuri.gltf", Picture(SQUARE, WHITE, &["is left out"])),
    ("i15_local.obj", Faces(1_600, &[])),
    ("i15_utm.obj", Faces(1_600, &[])),
    ("i15_utm_double.ply", Faces(1_600, &[])),
    ("i27_blend.gltf", Faces(4, &[])),
    ("i28_blender_light.gltf", Faces(2, &[])),
    // Five textures of 4096x4096 that are not in the folder.
    ("i34_4k.obj", Faces(5, &["i34_0", "i34_1", "i34_2", "i34_3", "i34_4"])),
    ("public/22_vertex_color/22_vertex_color.gltf", Faces(5, &["points and lines are left out"])),
    ("public/AlphaBlendModeTest.glb", Faces(61, &[])),
    ("public/VolumetricFogExample.glb", Faces(360, &[])),
    ("public/face.obj", Faces(51_712, &[])),
    ("public/target.obj", Faces(1_660, &[])),
    ("public/tristrips_bunny.ply", Faces(69_451, &[])),
    ("public/truck.obj", Faces(4_770, &[])),
    ("public/vr-gallery.glb", Faces(1_930, &[])),
    ("public/BoxDraco.gltf", Error("KHR_draco_mesh_compression")),
    ("public/box-subdirectories/box-textured.obj", Picture(400, [0.71, 0.92, 1.0], &[])),
    (
        "public/craft_speederD.gltf",
        Picture(
            117,
            [1.0, 0.83, 0.66],
            &["nodes[1] is a root of the scene and a child of nodes[0]"],
        ),
    ),
];

/// Number of covered pixels, and their mean divided by its largest channel.
fn picture(mesh: &Mesh) -> (u32, [f32; 3]) {
    let fov = 2.0 * (f64::from(SIDE) / SCALE / 2.0 / DISTANCE).atan();
    let lens = Intrinsics::from_vertical_fov(SIDE, SIDE, fov);
    // From +z towards -z.
    let axes = Matrix3::from_diagonal(&Vector3::new(1.0, -1.0, -1.0));
    let camera = Camera::new("front", lens, axes, Vector3::new(0.0, 0.0, DISTANCE)).unwrap();
    let (frame, _) = draw_mesh(mesh, &camera, &MeshDrawSettings::default()).unwrap();
    let covered = || frame.pixels().iter().filter(|pixel| pixel[..3] != [0.0; 3]);
    let sum = covered().fold([0.0; 3], |sum: [f32; 3], pixel| [0, 1, 2].map(|k| sum[k] + pixel[k]));
    let largest = sum.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    (covered().count() as u32, sum.map(|channel| channel / largest))
}

/// Whether there is one warning for each part, which contains it.
fn say(warnings: &[String], parts: &[&str]) -> bool {
    let mut pairs = warnings.iter().zip(parts);
    warnings.len() == parts.len() && pairs.all(|(warning, part)| warning.contains(part))
}

/// Names of all mesh files below a folder, relative to it.
fn meshes(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            let extension = path.extension().and_then(|e| e.to_str());
            match extension {
                _ if path.is_dir() => folders.push(path),
                Some("obj" | "ply" | "gltf" | "glb") => {
                    found.push(path.strip_prefix(folder).unwrap().to_path_buf());
                }
                _ => {}
            }
        }
    }
    found
}

#[test]
fn every_file_is_drawn_or_says_why_not() {
    let Some(folder) = shared::path("cases/meshes") else {
        return;
    };
    for name in meshes(&folder) {
        let is_listed = CASES.iter().any(|(listed, _)| Path::new(listed) == name);
        assert!(is_listed, "{} is in no row of the table", name.display());
    }
    let mut wrong = Vec::new();
    for (name, outcome) in CASES {
        let path = folder.join(Path::new(name));
        match (load(&path, &quadrille::Task::NEVER), outcome) {
            (Err(error), Error(part)) => {
                if !error.to_string().contains(part) {
                    wrong.push(format!("{name}: {error}"));
                }
            }
            (Err(error), _) => wrong.push(format!("{name}: {error}")),
            (Ok(loaded), Error(part)) => {
                wrong.push(format!("{name}: expected {part}, found {:?}", loaded.warnings));
            }
            (Ok(loaded), Faces(faces, parts)) => {
                let (found, warnings) = (loaded.mesh.faces(), &loaded.warnings);
                if found != faces || !say(warnings, parts) {
                    wrong.push(format!("{name}: {found} faces, {warnings:?}"));
                }
            }
            (Ok(loaded), Picture(pixels, colour, parts)) => {
                let warnings = &loaded.warnings;
                let (found, mean) = picture(&loaded.mesh);
                let off = colour.iter().zip(mean).map(|(a, b)| (a - b).abs());
                let is_right = say(warnings, parts)
                    && found.abs_diff(pixels) <= pixels / 15
                    && off.fold(0.0, f32::max) < 0.1;
                if !is_right {
                    wrong.push(format!("{name}: {found} pixels of {mean:.2?}, {warnings:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
