//! Pictures larger than memory.

use std::process::Command;

use crate::support::program::{Place, USAGE};

/// Limit of the address space, in KiB: 4 GB, which hold no picture of 17 GB.
const LIMIT_KIB: u64 = 4_000_000;

#[test]
fn a_picture_larger_than_memory_is_refused_before_the_work() {
    let place = Place::new();
    let limited = format!("ulimit -v {LIMIT_KIB} && exec \"$0\" \"$@\"");
    let output = Command::new("sh")
        .args(["-c", &limited, env!("CARGO_BIN_EXE_quadrille")])
        .args([
            "sim",
            "scene.ply",
            "-o",
            "a.png",
            "--width",
            "32768",
            "--height",
            "32768",
        ])
        .current_dir(place.path("."))
        .env("RAYON_NUM_THREADS", "2")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(USAGE), "{errors}");
    assert!(errors.contains("17.2 GB"), "{errors}");
    assert!(!place.path("a.png").exists());
}
