//! Tests of the module `transform`.

use super::*;

#[test]
fn matrices_of_similarities_are_taken_apart() {
    let rotation = UnitQuaternion::from_euler_angles(0.4, -1.1, 2.0);
    let expected = Similarity { rotation, scale: 0.25, translation: Vector3::new(1.0, 2.0, -3.0) };
    let mut matrix = (rotation.to_rotation_matrix().matrix() * 0.25).to_homogeneous();
    matrix.fixed_view_mut::<3, 1>(0, 3).copy_from(&expected.translation);
    let found = Similarity::of_matrix(&matrix).unwrap();
    assert!(found.rotation.angle_to(&rotation) < 1e-7 && (found.scale - 0.25).abs() < 1e-12);
    assert_eq!(found.translation, expected.translation);
    for (row, column, value) in [(0, 0, 9.0), (1, 2, f64::NAN), (2, 3, f64::INFINITY), (3, 0, 1.0)]
    {
        let mut wrong = matrix;
        wrong[(row, column)] = value;
        let error = Similarity::of_matrix(&wrong).unwrap_err().to_string();
        assert!(error.starts_with("matrix: expected a rotation, a uniform scale"), "{error}");
    }
    assert!(Similarity::of_matrix(&(-matrix)).is_err(), "a mirrored scene");
    assert!(Similarity::of_matrix(&Matrix4::zeros()).is_err());
}
