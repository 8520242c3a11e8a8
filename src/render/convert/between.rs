//! Views halfway between neighbouring cameras.

use std::f64::consts::FRAC_PI_2;

use nalgebra::{Rotation3, UnitQuaternion};

use quadrille_scene::Camera;

/// Cameras that differ by at least this angle in radians are not neighbours: the subject lies between opposite cameras.
const LARGEST_ANGLE: f64 = FRAC_PI_2;

/// Returns views halfway between each camera and its nearest neighbour, once per pair, with the lens of the first. A
/// neighbour is a different camera whose orientation differs by less than 90 degrees. Empty if no camera has a
/// neighbour, in particular for a single camera.
///
/// A scene that was pruned by `cameras` is judged by these views, which did not take part in the pruning.
pub fn views_between(cameras: &[Camera]) -> Vec<Camera> {
    let mut pairs: Vec<[usize; 2]> = Vec::new();
    for first in 0..cameras.len() {
        if let Some(second) = nearest(cameras, first) {
            let pair = [first.min(second), first.max(second)];
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
    }
    pairs.iter().map(|pair| halfway(pair.map(|at| &cameras[at]))).collect()
}

fn rotation(camera: &Camera) -> UnitQuaternion<f64> {
    UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(camera.view_from_world))
}

fn nearest(cameras: &[Camera], own: usize) -> Option<usize> {
    let (eye, turn) = (cameras[own].eye(), rotation(&cameras[own]));
    let others = cameras.iter().enumerate().filter(|(at, _)| *at != own);
    let neighbours = others.filter_map(|(at, other)| {
        let (distance, angle) = ((other.eye() - eye).norm(), turn.angle_to(&rotation(other)));
        (angle < LARGEST_ANGLE && distance + angle > 0.0).then_some((at, distance))
    });
    neighbours.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(at, _)| at)
}

fn halfway([a, b]: [&Camera; 2]) -> Camera {
    let eye = (a.eye() + b.eye()) / 2.0;
    let view_from_world = rotation(a).slerp(&rotation(b), 0.5).to_rotation_matrix().into_inner();
    Camera {
        name: format!("{} - {}", a.name, b.name),
        view_from_world,
        translation_in_view: -(view_from_world * eye),
        ..a.clone()
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::Vector3;
    use quadrille_scene::Intrinsics;

    use super::*;

    /// A camera on the unit circle around the origin, which it looks at.
    fn on_circle(degrees: f64) -> Camera {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let lens = Intrinsics::from_vertical_fov(64, 48, 1.0);
        let (eye, up) = (Vector3::new(cos, 0.0, sin), Vector3::y());
        Camera::look_at(format!("{degrees}"), lens, eye, Vector3::zeros(), up).unwrap()
    }

    #[test]
    fn a_view_halfway_looks_in_the_direction_between() {
        let cameras = [0.0, 60.0, 100.0, 250.0].map(on_circle);
        let between = views_between(&cameras);
        // The pair of 60 and 100 is found from both; 250 has no neighbour within 90 degrees.
        let names: Vec<&str> = between.iter().map(|camera| camera.name.as_str()).collect();
        assert_eq!(names, ["0 - 60", "60 - 100"]);
        let expected = on_circle(30.0);
        let turn = between[0].view_from_world - expected.view_from_world;
        assert!(turn.norm() < 1e-12, "{turn}");
        // The middle of a chord of 60 degrees.
        let eye = expected.eye() * 30.0_f64.to_radians().cos();
        assert!((between[0].eye() - eye).norm() < 1e-12);
        for alone in [&cameras[..1], &cameras[3..], &[on_circle(5.0), on_circle(5.0)]] {
            assert!(views_between(alone).is_empty());
        }
    }
}
