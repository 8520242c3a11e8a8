//! Tests of transforms between the worlds of cameras and scenes.

use super::*;

fn similarity(angles: [f64; 3], translation: [f64; 3], scale: f64) -> WorldTransform {
    let [x, y, z] = angles;
    WorldTransform {
        rotation: nalgebra::Rotation3::from_euler_angles(x, y, z).into_inner(),
        translation: Vector3::from(translation),
        scale,
    }
}

fn apply(transform: &WorldTransform, p: Vector3<f64>) -> Vector3<f64> {
    transform.scale * (transform.rotation * p + transform.translation)
}

#[test]
fn an_inverse_undoes() {
    let transform = similarity([0.3, -1.0, 2.0], [1.0, 2.0, -3.0], 0.25);
    let p = Vector3::new(0.5, -4.0, 7.0);
    let back = apply(&transform.inverse(), apply(&transform, p));
    assert!((back - p).norm() < 1e-12, "{back}");
}

/// The stored transform starts in COLMAP's world, the file is in the intermediate world.
#[test]
fn a_stored_transform_is_split_at_the_applied_one() {
    let applied = similarity([0.0, 0.0, 1.0], [0.5, 0.0, -1.0], 1.0);
    let orientation = similarity([0.3, -1.0, 2.0], [1.0, 2.0, -3.0], 1.0);
    let stored = WorldTransform {
        rotation: orientation.rotation * applied.rotation,
        translation: orientation.rotation * applied.translation + orientation.translation,
        scale: 0.125,
    };
    let p = Vector3::new(0.5, -4.0, 7.0);
    let direct = apply(&stored, p);
    let by_parts = apply(&stored.after_applied(&applied), apply(&applied, p));
    assert!((direct - by_parts).norm() < 1e-12, "{direct} {by_parts}");
}
