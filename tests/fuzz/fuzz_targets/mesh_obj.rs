//! Any bytes are a mesh or a typed error, as OBJ with the rest as its materials, and as PLY.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use quadrille_geometry::files::BezierPatches;
use quadrille_geometry::files::parse;

fuzz_target!(|bytes: &[u8]| {
    // Files that the mesh names hold what stands from the first material on.
    let mark = b"newmtl";
    let cut = bytes.windows(mark.len()).position(|window| window == mark);
    let (mesh, materials) = bytes.split_at(cut.unwrap_or(bytes.len()));
    for name in ["fuzz.obj", "fuzz.ply"] {
        let Ok(loaded) = parse(mesh, Path::new(name), &mut |_| Ok(materials.to_vec())) else {
            continue;
        };
        let mesh = loaded.mesh;
        for face in 0..mesh.faces() {
            assert!(mesh.face(face).len() >= 3);
        }
        let last = mesh.positions.len();
        assert!(mesh.corners.iter().all(|corner| (corner.position as usize) < last));
        assert!(mesh.positions.iter().flatten().all(|x| x.is_finite()));
        assert!(mesh.face_materials.iter().all(|m| (*m as usize) < mesh.materials.len()));
    }
    let _ = BezierPatches::parse(bytes, Path::new("fuzz"));
});
