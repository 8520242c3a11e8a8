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
#[path = "tests/between.rs"]
mod tests;
