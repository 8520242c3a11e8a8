//! Tests of the module `axes`.

use super::*;

#[test]
fn axes_have_their_covariances() {
    let covariances = [[2.0, 0.5, -0.3, 1.0, 0.2, 3.0], [1e-6, 0.0, 0.0, 4.0, 1e-3, 9.0], [0.0; 6]];
    let (scales, rotations) = axes_of_covariances(&covariances, &Task::NEVER).unwrap();
    for ((scale, rotation), expected) in scales.iter().zip(&rotations).zip(&covariances) {
        let [w, x, y, z] = rotation.map(f64::from);
        let turn = UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(w, x, y, z));
        let axes = turn.to_rotation_matrix().into_inner()
            * Matrix3::from_diagonal(&scale.map(f64::from).into());
        let m = axes * axes.transpose();
        let found = [m[(0, 0)], m[(0, 1)], m[(0, 2)], m[(1, 1)], m[(1, 2)], m[(2, 2)]];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - f64::from(*expected)).abs() < 2e-6, "{found}, {expected}");
        }
    }
    let infinite = [[f32::INFINITY, 0.0, 0.0, 1.0, 0.0, 1.0]];
    let (scales, _) = axes_of_covariances(&infinite, &Task::NEVER).unwrap();
    assert!(scales[0][0].is_nan());
}
