//! `world`: an island at sunset, with a lighthouse, cottages, woods, a pier and a boat, in a sea under clouds.
//!
//! Lengths are in units of about ten metres, and the island is about nine units wide. As seen from the
//! first camera, the sun is low on the left, slightly behind the island.

mod buildings;
mod plan;
mod sky;
mod terrain;
mod woods;

use std::sync::Arc;

use super::light::{Light, Occluder};
use super::part::{BuiltScene, cameras};
use super::random::Vec3;
use plan::TO_SUN;

pub(crate) fn build(seed: u64) -> BuiltScene {
    let mut parts = vec![terrain::land(), terrain::sea()];
    let mut occluders: Vec<Occluder> = Vec::new();
    parts.extend(terrain::rocks(seed, &mut occluders));
    parts.extend(buildings::all(&mut occluders));
    parts.extend(woods::all(seed, &mut occluders));
    parts.extend(sky::all(seed));
    BuiltScene {
        parts,
        light: Light {
            to_sun: Vec3::from(TO_SUN).normalize(),
            sun: Vec3::new(3.3, 1.75, 0.72),
            sky: [
                Vec3::new(0.42, 0.46, 0.68),
                Vec3::new(0.56, 0.4, 0.4),
                Vec3::new(0.16, 0.12, 0.1),
            ],
            exposure: 1.15,
            occluders,
            ground: Some(Arc::new(terrain::height)),
        },
        cameras: cameras(
            34.0,
            &[
                ("bay", [3.9, 1.9, 9.3], [0.15, 0.95, 0.0]),
                ("front", [0.8, 2.2, 10.6], [0.3, 1.0, 0.0]),
                ("lighthouse", [7.6, 1.5, 6.2], [1.4, 1.0, 0.2]),
                ("village", [-1.4, 1.5, 6.4], [0.2, 0.55, 0.6]),
                ("sunset", [8.2, 0.8, 5.2], [-0.2, 1.4, -0.1]),
                ("above", [0.5, 13.0, 8.5], [0.0, 0.0, 0.2]),
                ("behind", [-7.0, 2.6, -9.5], [0.0, 0.8, 0.0]),
            ],
        ),
    }
}
