//! Any bytes are a mesh or a typed error, as glTF or GLB whose files hold the same bytes.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use quadrille_geometry::files::parse;

fuzz_target!(|bytes: &[u8]| {
    let Ok(loaded) = parse(bytes, Path::new("fuzz.gltf"), &mut |_| Ok(bytes.to_vec())) else {
        return;
    };
    let mesh = loaded.mesh;
    let last = mesh.positions.len();
    assert!(mesh.corners.iter().all(|corner| (corner.position as usize) < last));
    assert!(mesh.positions.iter().flatten().all(|x| x.is_finite()));
    assert!(mesh.normals.iter().flatten().all(|x| x.is_finite()));
    assert!(mesh.face_materials.iter().all(|m| (*m as usize) < mesh.materials.len()));
});
