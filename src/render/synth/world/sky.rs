//! The sky at sunset, and its clouds.

use std::f32::consts::TAU;

use super::plan::TO_SUN;
use crate::synth::light::{Grain, Material};
use crate::synth::part::Part;
use crate::synth::random::{Rng, Vec3, fractal, step};
use crate::synth::surface::{Ellipsoid, SampledSurface, SurfaceSample, perpendicular};

const DOME_RADIUS: f32 = 75.0;
/// Size of the dome's splats, relative to the island's.
const DOME_STRETCH: f32 = 24.0;
/// Size of the clouds' splats, relative to the island's.
const CLOUD_STRETCH: f32 = 6.5;
const BANKS: u64 = 13;

/// Upper half sphere and a strip below the horizon, seen from inside.
struct Dome;

impl SampledSurface for Dome {
    fn area(&self) -> f32 {
        1.1 * TAU * (DOME_RADIUS / DOME_STRETCH).powi(2)
    }

    fn at(&self, [u, v]: [f32; 2], _: &mut Rng) -> SurfaceSample {
        let y = 1.0 - 1.1 * v;
        let r = (1.0 - y * y).max(0.0).sqrt();
        let (sin, cos) = (u * TAU).sin_cos();
        let out = Vec3::new(r * cos, y, r * sin);
        SurfaceSample {
            position: out * DOME_RADIUS,
            normal: -out,
            along: perpendicular(out),
            stretch: DOME_STRETCH,
        }
    }
}

/// Linear sky colour in a direction of any length.
pub(crate) fn colour(direction: Vec3) -> Vec3 {
    let d = direction.normalize();
    let sun = Vec3::from(TO_SUN).normalize();
    let near = d.dot(&sun).max(0.0);
    // Around the horizon the glow depends only on the bearing.
    let level = |v: Vec3| Vec3::new(v.x, 0.0, v.z).normalize();
    let bearing = 0.5 + 0.5 * level(d + Vec3::x() * 1e-6).dot(&level(sun));
    let zenith = Vec3::new(0.07, 0.13, 0.32);
    let high = Vec3::new(0.24, 0.26, 0.46);
    let low = Vec3::new(0.4, 0.26, 0.36).lerp(&Vec3::new(1.35, 0.52, 0.16), bearing.powi(2));
    let y = d.y.max(0.0);
    let sky = low.lerp(&high, step(0.0, 0.3, y)).lerp(&zenith, step(0.15, 0.85, y));
    let glow = Vec3::new(1.6, 0.75, 0.25)
        * (0.5 * near.powi(12) + 2.2 * near.powi(250) + 8.0 * near.powi(3000));
    sky + glow
}

pub(crate) fn all(seed: u64) -> Vec<Part> {
    let mut parts = vec![Part::new(Dome, 1.0, |sample, _| {
        let lit = colour(sample.position);
        let veil = fractal(sample.position.component_mul(&Vec3::new(0.03, 0.2, 0.03)), 3, 51);
        let wisps = step(0.05, 0.5, veil) * step(0.02, 0.12, -sample.normal.y);
        let pink = Vec3::new(1.0, 0.55, 0.45);
        Material::glowing((lit + pink * (0.2 * wisps)).into()).with_grain(Grain::Skin)
    })];
    for bank in 0..BANKS {
        let mut rng = Rng::new(seed ^ 0xc10d, bank);
        let angle = TAU * (bank as f32 + rng.range(-0.3, 0.3)) / BANKS as f32;
        let distance = rng.range(30.0, 48.0);
        let middle =
            Vec3::new(distance * angle.cos(), rng.range(4.5, 11.5), distance * angle.sin());
        parts.extend(bank_of_clouds(middle, &mut rng));
    }
    parts
}

fn bank_of_clouds(middle: Vec3, rng: &mut Rng) -> Vec<Part> {
    let across = Vec3::y().cross(&middle).normalize();
    let length = rng.range(4.0, 8.0);
    (0..14_u8)
        .map(|i| {
            let t = f32::from(i) / 6.5 - 1.0;
            let size = (1.0 - 0.65 * t * t) * rng.range(0.5, 1.2);
            let lift = Vec3::y() * (rng.range(-0.2, 1.4) * (1.0 - t * t));
            let centre = middle + across * ((t + rng.range(-0.1, 0.1)) * length) + lift;
            Part::new(
                Puff(Ellipsoid::whole(centre, Vec3::new(2.0, 0.8, 2.0) * size)),
                1.0,
                |sample, _| vapour(sample),
            )
        })
        .collect()
}

struct Puff(Ellipsoid);

impl SampledSurface for Puff {
    fn area(&self) -> f32 {
        self.0.area() / (CLOUD_STRETCH * CLOUD_STRETCH)
    }

    fn at(&self, uv: [f32; 2], rng: &mut Rng) -> SurfaceSample {
        let sample = self.0.at(uv, rng);
        let billow = fractal(sample.position * 0.8, 3, 53);
        SurfaceSample {
            position: sample.position + sample.normal * (1.7 * billow),
            stretch: CLOUD_STRETCH,
            ..sample
        }
    }
}

fn vapour(sample: &SurfaceSample) -> Material {
    let behind = colour(sample.position);
    Material {
        emission: behind * 0.45 + Vec3::new(0.05, 0.04, 0.06),
        ..Material::dull([0.5, 0.42, 0.4])
    }
    .with_grain(Grain::Cloud)
}
