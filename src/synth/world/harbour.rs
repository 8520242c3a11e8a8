//! The pier and the boat.

use nalgebra::Vector3;

use super::plan::FINE;
use crate::synth::chance::noise;
use crate::synth::material::Material;
use crate::synth::part::Part;
use crate::synth::surface::{Ellipsoid, Frustum, Patch, Quad, Triangle};

/// Ends of the pier: x, z.
const PIER: [[f32; 2]; 2] = [[0.62, 1.45], [0.95, 3.1]];
/// Position of the boat.
const BOAT: [f32; 3] = [-0.85, 0.0, 3.5];

pub(crate) fn all() -> Vec<Part> {
    let mut parts = pier();
    parts.extend(boat(Vector3::from(BOAT)));
    parts
}

/// Planks on posts, from the beach into the bay.
fn pier() -> Vec<Part> {
    let [start, end] = PIER.map(|[x, z]| Vector3::new(x, 0.09, z));
    let run = end - start;
    let across = run.cross(&Vector3::y()).normalize() * 0.26;
    let deck = Quad::new(start - across * 0.5, across, run);
    let mut parts = vec![Part::new(deck, FINE, move |patch, _| {
        let along = (patch.position - start).norm() / 0.07;
        let gap = if along.fract() < 0.2 { 0.6 } else { 1.0 };
        Material::dull([0.42, 0.28, 0.18])
            .shaded(gap * (0.85 + 0.4 * noise(Vector3::repeat(along.floor()), 77)))
    })];
    for post in 0..7_u8 {
        for side in [-0.5, 0.5] {
            let foot = start + run * (0.1 + 0.15 * f32::from(post)) + across * side;
            let pole = Frustum::new(foot - Vector3::y() * 0.25, 0.3, [0.022, 0.022]);
            parts.push(Part::new(pole, FINE, |_, _| {
                Material::dull([0.14, 0.1, 0.07])
            }));
        }
    }
    parts
}

/// A small boat with a sail at anchor.
fn boat(at: Vector3<f32>) -> Vec<Part> {
    let hull = Ellipsoid::whole(at + Vector3::y() * 0.03, Vector3::new(0.34, 0.12, 0.13));
    let mast = Frustum::new(at + Vector3::y() * 0.08, 0.8, [0.014, 0.01]);
    let sail = |u: [f32; 3], v: [f32; 3], foot: [f32; 3]| {
        Triangle(Quad::new(
            at + Vector3::from(foot),
            Vector3::from(u),
            Vector3::from(v),
        ))
    };
    let canvas = |patch: &Patch| {
        let glow = 0.32 + 0.08 * noise(patch.position * 9.0, 79);
        Material {
            emission: Vector3::new(1.0, 0.62, 0.36) * glow,
            ..Material::dull([0.75, 0.68, 0.58])
        }
    };
    vec![
        Part::new(hull, FINE, move |patch, _| {
            if patch.position.y > 0.11 {
                Material::dull([0.75, 0.72, 0.66])
            } else {
                Material::dull([0.08, 0.16, 0.26]).with_gloss(0.5)
            }
        }),
        Part::new(mast, FINE, |_, _| Material::dull([0.25, 0.16, 0.09])),
        Part::new(
            sail([-0.26, 0.03, 0.06], [0.0, 0.66, 0.0], [-0.02, 0.2, 0.0]),
            FINE,
            move |patch, _| canvas(patch),
        ),
        Part::new(
            sail([0.27, -0.04, 0.03], [0.0, 0.56, 0.0], [0.02, 0.2, 0.0]),
            FINE,
            move |patch, _| canvas(patch),
        ),
    ]
}
