//! Warnings of fields that were set and that no run reads.

use crate::support::program::{DONE, Place};

/// A field of a unit that no variant has gets a warning, others get none.
#[test]
fn fields_without_effect_are_named() {
    let place = Place::new();
    let scene = ["synth", "object", "--splats", "200", "-o", "s.ply"];
    place.expect(DONE, &scene);
    let warnings = |arguments: &[&str]| {
        let run = ["sim", "s.ply", "--width", "32"];
        let output = place.expect(DONE, &[&run[..], arguments].concat());
        String::from_utf8(output.stderr).unwrap()
    };
    let set = ["--set", "tgc.bins=64", "--set", "zrop.threshold=0.9", "--set", "tc.bins=16"];
    let baseline = warnings(&[&["--method", "baseline"][..], &set].concat());
    for said in [
        "tgc.bins has no effect: no run has tile-grid coalescing",
        "zrop.threshold has no effect: no run has early termination",
    ] {
        assert!(baseline.contains(said), "{baseline}");
    }
    assert!(!baseline.contains("tc.bins has"), "{baseline}");
    let all = warnings(&[&["--method", "baseline,het+qm"][..], &set].concat());
    assert!(!all.contains("has no effect"), "{all}");
}

/// Frames of meshes read the configuration only if they are timed, and then not the units that meshes do not pass.
#[test]
fn fields_without_effect_on_meshes_are_named() {
    let place = Place::new();
    let warnings = |arguments: &[&str]| {
        let run = ["mesh", "plane", "--width", "16", "--height", "16", "--msaa", "1"];
        let output = place.expect(DONE, &[&run[..], arguments].concat());
        String::from_utf8(output.stderr).unwrap()
    };
    let set = ["--set", "tc.bins=9", "--set", "setup.queue=9", "--set", "qfm.queue=9"];
    let untimed = warnings(&[&["--preset", "orin"][..], &set].concat());
    assert!(untimed.contains("--preset orin has no effect without --cycles"), "{untimed}");
    for field in ["tc.bins", "setup.queue", "qfm.queue"] {
        let said = format!("{field} has no effect: no run has cycles (--cycles), which reads it");
        assert!(untimed.contains(&said), "{untimed}");
    }
    let timed = warnings(&[&["--preset", "orin", "--cycles"][..], &set].concat());
    assert!(timed.contains("tc.bins has no effect: no run has the graphics pipeline with splats"));
    assert!(timed.contains("qfm.queue has no effect: no run has quad-fragment merging"), "{timed}");
    assert!(!timed.contains("setup.queue") && !timed.contains("--preset"), "{timed}");
}
