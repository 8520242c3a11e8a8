//! Tests of the centres of scenes that are far from the origin.

use super::*;

#[test]
fn a_scene_is_far_if_its_splats_are_smaller_than_a_few_steps() {
    let at =
        |x: f64, scale: f64| Resolution::of((0..9).map(|i| ([x + f64::from(i), 0.0, -x], scale)));
    assert_eq!(at(0.0, 1e-3).unwrap().origin(), [0.0; 3]);
    // The step at 512,004 is 1/32.
    assert_eq!(at(512_000.0, 0.51).unwrap().origin(), [0.0; 3]);
    let far = at(512_000.25, 0.49).unwrap();
    assert_eq!(far.origin(), [512_004.0, 0.0, -512_000.0]);
    assert!(far.warning().unwrap().contains("3.12e-2"), "{:?}", far.warning());
    assert_eq!(at(f64::NAN, 1.0), None);
    // Details of 1e-9 units need a centre that is nearer than half a unit.
    let [x, ..] = Resolution::of((0..9).map(|_| ([0.3, 0.0, 0.0], 1e-9))).unwrap().origin();
    assert!((x - 0.3).abs() < 1e-4, "{x}");
}
