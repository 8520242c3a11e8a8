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
