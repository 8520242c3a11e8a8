//! Tests of the module `upright`.

use super::*;
use quadrille_base::math::narrow;
use quadrille_scene::Splat;

/// Returns 32 x 32 flat splats on a square of side 4 at `centre` with the normal `normal`.
fn square(centre: Vector3<f64>, normal: Vector3<f64>) -> Vec<Splat> {
    let turn = UnitQuaternion::rotation_between(&Vector3::z(), &normal);
    let turn = turn.unwrap_or_else(UnitQuaternion::identity);
    let at = |i: u32| f64::from(i) / 8.0 - 2.0;
    (0..32)
        .flat_map(|x| (0..32).map(move |y| Vector3::new(at(x), at(y), 0.0)))
        .map(|p| Splat {
            mean: (centre + turn * p).map(narrow).into(),
            scale: [0.1, 0.1, 0.001],
            rotation: [turn.w, turn.i, turn.j, turn.k].map(narrow),
            opacity: 0.9,
            sh: [[0.0; 3]; 25],
        })
        .collect()
}

fn up_of(splats: Vec<Splat>) -> Vector3<f64> {
    let default = Vector3::new(0.0, -1.0, 0.0);
    up(&Splats::from_splats(0, splats), default, &Task::NEVER).unwrap()
}

/// A floor with a wall on it.
fn scene(up: Vector3<f64>) -> Vec<Splat> {
    let mut splats = square(Vector3::zeros(), up);
    let wall = Vector3::ith(up.iamin(), 1.0);
    let wall = (wall - up * wall.dot(&up)).normalize();
    splats.extend(square(up, wall).into_iter().step_by(4));
    splats
}

#[test]
fn the_axis_across_the_floor_is_up() {
    assert_eq!(up_of(scene(Vector3::new(0.0, -1.0, 0.0))), Vector3::new(0.0, -1.0, 0.0));
    assert_eq!(up_of(scene(Vector3::z())), Vector3::z());
    // A floor at the bottom, and content above it.
    assert_eq!(up_of(scene(Vector3::y())), Vector3::y());
}

#[test]
fn a_tilt_is_corrected() {
    // A floor alone says nothing about the sign.
    let tilted = Vector3::new(0.0, -1.0, 0.25).normalize();
    let found = up_of(square(Vector3::zeros(), tilted));
    assert!(found.dot(&tilted).abs() > 0.9998, "{found:?}");
    // An invisible tilt is not corrected.
    let level = Vector3::new(0.0, -1.0, 0.04).normalize();
    let found = up_of(square(Vector3::zeros(), level));
    assert_eq!(found.abs(), Vector3::y());
}

#[test]
fn without_evidence_the_default_holds() {
    let default = Vector3::new(0.0, -1.0, 0.0);
    assert_eq!(up_of(Vec::new()), default);
    let mut cube = Vec::new();
    for axis in 0..3 {
        for sign in [-1.0, 1.0] {
            let normal = Vector3::ith(axis, sign);
            cube.extend(square(normal * 2.0, normal));
        }
    }
    assert_eq!(up_of(cube), default);
    // Balls and needles have no normal, wherever they are.
    for scale in [[0.1; 3], [0.1, 0.001, 0.001]] {
        let row = square(Vector3::zeros(), Vector3::x());
        let round = row.into_iter().map(|splat| Splat { scale, ..splat });
        assert_eq!(up_of(round.collect()), default, "{scale:?}");
    }
}
