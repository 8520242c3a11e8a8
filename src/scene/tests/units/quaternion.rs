//! Tests of quaternions without their largest component.

use super::*;

#[test]
fn a_quaternion_survives_the_loss_of_its_largest_component() {
    let q = [0.1, -0.5, 0.7, -0.5];
    let norm = q.iter().map(|v: &f64| v * v).sum::<f64>().sqrt();
    for turn in 0..4 {
        let mut turned = q.map(|v| v / norm);
        turned.rotate_left(turn);
        let (index, others) = without_largest(turned);
        let back = with_largest(others, index);
        let dot: f64 = (0..4).map(|i| f64::from(back[i]) * turned[i]).sum();
        assert!((dot.abs() - 1.0).abs() < 1e-7, "{turned:?}: {back:?}");
    }
}
