//! Public mesh files with parts that a mesh does not need, or that readers used to drop in silence.

use std::path::{Path, PathBuf};

use quadrille::Task;
use quadrille::geometry::files::load;

use crate::support::shared;

/// Folder of the files.
const FOLDER: &str = "cases/meshes-2";

/// Files that no reader of this program draws, and the reason.
const REFUSED: [(&str, &str); 12] = [
    ("07-obj-numbers/mixedeol.obj", "expected a number"),
    ("07-obj-numbers/upper.obj", "vertices with finite coordinates, found none"),
    ("08-obj-forward-index/a.obj", "of which there is none before this line"),
    ("21-glb/lenshort.glb", "expected 108 bytes"),
    ("30-uri/float_index.gltf", "floating point"),
    ("30-uri/null.gltf", "null"),
    ("30-uri/shortbuf.gltf", "expected 112 bytes"),
    ("54-invalid/index9.gltf", "expected indices below 4"),
    ("77-ply-extra-values/a.ply", "the end of the line"),
    ("83-meshopt/required.gltf", "EXT_meshopt_compression"),
    ("84-empty/matrix_w0.gltf", "an affine map"),
    ("91-files/file.gltf", "a URI with a scheme"),
];

fn mesh_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        if path.is_dir() {
            mesh_files(&path, found);
        } else if ["obj", "ply", "gltf", "glb"].contains(&extension) {
            found.push(path);
        }
    }
}

#[test]
fn every_file_is_read_or_refused_for_a_reason() {
    let Some(folder) = shared::path(FOLDER) else { return };
    let mut files = Vec::new();
    mesh_files(&folder, &mut files);
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
