//! Any bytes are a Draco stream of a glTF mesh or a typed error.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use quadrille_geometry::files::parse;

fuzz_target!(|bytes: &[u8]| {
    let length = bytes.len();
    let document = format!(
        r#"{{"asset": {{"version": "2.0"}}, "nodes": [{{"mesh": 0}}], "meshes": [{{"primitives": [{{
            "attributes": {{"POSITION": 0, "NORMAL": 1}}, "indices": 2,
            "extensions": {{"KHR_draco_mesh_compression": {{
                "bufferView": 0, "attributes": {{"POSITION": 0, "NORMAL": 1}}
            }}}}
        }}]}}], "accessors": [
            {{"componentType": 5126, "count": 16, "type": "VEC3"}},
            {{"componentType": 5126, "count": 16, "type": "VEC3"}},
            {{"componentType": 5125, "count": 54, "type": "SCALAR"}}
        ], "bufferViews": [{{"buffer": 0, "byteLength": {length}}}],
        "buffers": [{{"uri": "stream", "byteLength": {length}}}]}}"#
    );
    let parsed = parse(document.as_bytes(), Path::new("fuzz.gltf"), &mut |_| {
        Ok(bytes.to_vec())
    });
    let Ok(loaded) = parsed else {
        return;
    };
    let mesh = loaded.mesh;
    assert!(mesh.positions.iter().flatten().all(|x| x.is_finite()));
    assert!(mesh.normals.iter().flatten().all(|x| x.is_finite()));
    assert_eq!(mesh.faces(), 18);
});
