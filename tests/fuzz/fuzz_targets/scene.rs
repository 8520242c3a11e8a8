//! Any bytes are a scene or a typed error, as each format that is read; and a PLY header or a
//! typed error, whose body can be walked.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use quadrille::load_named_bytes;
use quadrille_scene::formats::ply::Header as Header;

fuzz_target!(|bytes: &[u8]| {
    for name in ["fuzz.ply", "fuzz.splat", "fuzz.spz", "fuzz.sog", "fuzz.ksplat", "fuzz.glb"] {
        let path = Path::new(name);
        let Ok(scene) = load_named_bytes(bytes, path) else {
            continue;
        };
        for splat in scene.splats.iter() {
            let finite = splat.mean.iter().chain(&splat.scale).chain(splat.sh.as_flattened());
            assert!(finite.copied().all(f32::is_finite), "{splat:?}");
            assert!((0.0..=1.0).contains(&splat.opacity), "{splat:?}");
            let norm2: f32 = splat.rotation.iter().map(|q| q * q).sum();
            assert!((norm2 - 1.0).abs() < 1e-5, "{splat:?}");
        }
    }
    let path = Path::new("fuzz.ply");
    if let Ok(header) = Header::parse(bytes, path) {
        let _ = header.check_body(bytes, path);
    }
});
