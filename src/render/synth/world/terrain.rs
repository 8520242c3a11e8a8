//! The island's ground, its rocks, and the sea around it.

use std::f32::consts::TAU;

use super::plan::{TO_SUN, keeps_clear};
use super::sky;
use crate::synth::light::{Grain, Material, Occluder};
use crate::synth::part::Part;
use crate::synth::random::{Rng, Vec3, fractal, noise, step};
use crate::synth::surface::{Disk, Ellipsoid, SampledSurface, SurfaceSample, perpendicular};

const LAND_RADIUS: f32 = 5.0;
/// Splats of the sea have equal size within this radius, and grow with the distance beyond.
const NEAR_SEA_RADIUS: f32 = 5.0;
const HORIZON_RADIUS: f32 = 70.0;
/// Beyond this radius the sea bed is flat, at [`SEA_BED`].
const SHELF_RADIUS: f32 = 7.0;
const SEA_BED: f32 = -0.3;
/// Ground below this height has no splats.
const DRAWN_DEPTH: f32 = -0.12;
/// Attempts per splat to find ground above [`DRAWN_DEPTH`].
const TRIES: u32 = 12;
const ROCKS: u64 = 46;

/// Ground height above the sea at x, z.
pub(crate) fn height(x: f32, z: f32) -> f32 {
    if x.hypot(z) > SHELF_RADIUS {
        return SEA_BED;
    }
    let bump = |cx: f32, cz: f32, rx: f32, rz: f32| {
        (-((x - cx) / rx).powi(2) - ((z - cz) / rz).powi(2)).exp()
    };
    let p = Vec3::new(x, 0.0, z);
    let shore = 0.75 * bump(-0.3, -0.1, 3.1, 2.4) + 0.35 * bump(2.9, 0.5, 1.5, 1.1);
    let bay = 0.62 * bump(0.7, 2.5, 1.25, 1.2);
    let hill = 1.45 * bump(-1.7, -0.8, 1.25, 1.1) + 0.75 * bump(-0.3, -1.35, 1.3, 0.85);
    let head = 0.55 * bump(3.1, 0.25, 0.75, 0.7);
    let rough = 0.16 * fractal(p * 1.1, 3, 11);
    let crags = 0.7 * (0.25 - fractal(p * 1.6, 3, 23).abs()) * step(0.5, 1.4, hill);
    let land = shore + hill + head + rough + crags - bay + SEA_BED;
    // Beaches are flatter than the rest of the ground.
    if land > 0.0 { land * (0.35 + 0.65 * step(0.0, 0.25, land)) } else { land }
}

pub(crate) fn normal(x: f32, z: f32) -> Vec3 {
    let e = 0.03;
    Vec3::new(height(x - e, z) - height(x + e, z), 2.0 * e, height(x, z - e) - height(x, z + e))
        .normalize()
}

/// Height field over a disk. Steep ground has slightly fewer splats.
struct Land;

impl SampledSurface for Land {
    fn area(&self) -> f32 {
        // The last factor is the share of the circle that has splats, with slopes included.
        0.5 * LAND_RADIUS * LAND_RADIUS * TAU * 0.5
    }

    fn at(&self, [u, v]: [f32; 2], rng: &mut Rng) -> SurfaceSample {
        let (mut u, mut v) = (u, v);
        for _ in 0..TRIES {
            let sample = at_ground(u, v);
            if sample.position.y > DRAWN_DEPTH {
                return sample;
            }
            (u, v) = (rng.unit(), rng.unit());
        }
        at_ground(0.0, 0.1 * v)
    }
}

fn at_ground(u: f32, v: f32) -> SurfaceSample {
    let (sin, cos) = (u * TAU).sin_cos();
    let r = LAND_RADIUS * v.sqrt();
    let (x, z) = (r * cos, r * sin);
    let normal = normal(x, z);
    SurfaceSample {
        position: Vec3::new(x, height(x, z), z),
        normal,
        along: perpendicular(normal),
        stretch: 1.0,
    }
}

pub(crate) fn land() -> Part {
    Part::new(Land, 2.4, ground)
}

fn ground(sample: &SurfaceSample, rng: &mut Rng) -> Material {
    let p = sample.position;
    let patchy = fractal(p * 2.6, 3, 5);
    let fine = fractal(p * 14.0, 2, 6);
    let sand = Material::dull([0.66, 0.5, 0.31]).shaded(1.0 + 0.2 * fine);
    let wet = Material::dull([0.3, 0.22, 0.15]).with_gloss(0.6);
    let meadow = Material::dull([0.17, 0.25, 0.055])
        .mixed(Material::dull([0.36, 0.33, 0.08]), (0.5 + 0.9 * patchy).clamp(0.0, 1.0));
    let rock = Material::dull([0.26, 0.2, 0.15]).shaded(0.95 + 0.5 * fine);
    let beach = step(0.16, 0.08, p.y + 0.07 * patchy);
    let cliff = step(0.74, 0.56, sample.normal.y + 0.1 * patchy);
    let peak = step(1.4, 1.75, p.y + 0.3 * patchy);
    let worn = step(0.11, 0.05, path_distance(p.x, p.z) + 0.05 * fine);
    meadow
        .shaded(1.0 + 0.3 * fine + rng.range(-0.08, 0.08))
        .mixed(sand.shaded(0.8), worn * 0.9)
        .mixed(sand, beach)
        .mixed(rock, cliff.max(peak * 0.8) * (1.0 - beach))
        .mixed(wet, step(0.035, 0.01, p.y))
}

fn path_distance(x: f32, z: f32) -> f32 {
    let line = 0.95 - 0.35 * (x * 1.1 - 0.3).sin() - 0.14 * x;
    if (-1.6..3.2).contains(&x) { (z - line).abs() * 0.85 } else { f32::INFINITY }
}

pub(crate) fn sea() -> Part {
    Part::new(Disk::new(Vec3::zeros(), NEAR_SEA_RADIUS, HORIZON_RADIUS), 0.34, water)
}

fn water(sample: &SurfaceSample, rng: &mut Rng) -> Material {
    let p = sample.position;
    let depth = -height(p.x, p.z);
    let distance = p.norm();
    // Waves finer than a splat average out.
    let calm = 1.0 / sample.stretch.sqrt();
    let swell = calm * fractal(p.component_mul(&Vec3::new(0.55, 0.0, 1.9)), 3, 31);
    let ripple = noise(p.component_mul(&Vec3::new(1.6, 0.0, 6.0)), 37);
    let deep = Vec3::new(0.012, 0.05, 0.085);
    let body = deep.lerp(&Vec3::new(0.06, 0.32, 0.3), step(0.3, 0.02, depth + 0.03 * swell));
    // The waves mirror the evening sky, which is warm towards the sun and blue opposite.
    let towards_sun =
        Vec3::new(p.x, 0.0, p.z).try_normalize(1e-3).map_or(0.0, |d| d.dot(&Vec3::from(TO_SUN)));
    let mirrored =
        sky::colour(Vec3::new(towards_sun * TO_SUN[0], 0.12, towards_sun * TO_SUN[2] - 0.2));
    let crest = calm * step(0.2, 0.5, swell + 0.35 * ripple);
    let share = 0.16 + 0.5 * step(4.0, 45.0, distance) + 0.1 * swell + 0.28 * crest;
    let rings = (depth * 60.0 + 3.0 * noise(p * 1.7, 33)).sin();
    let foam = step(0.055, 0.01, depth + 0.03 * noise(p * 5.0, 35)) * step(-0.2, 0.9, rings);
    let albedo = body.lerp(&Vec3::repeat(0.75), foam * rng.range(0.6, 1.0));
    let path = Vec3::new(1.5, 0.85, 0.35) * (towards_sun.max(0.0).powi(10) * (0.1 + 0.9 * crest));
    Material {
        albedo: albedo * (1.0 + 0.3 * swell),
        emission: mirrored * (share.max(0.05) * (1.0 - 0.8 * foam)) + path,
        gloss: 0.8,
        grain: Grain::Skin,
    }
}

pub(crate) fn rocks(seed: u64, occluders: &mut Vec<Occluder>) -> Vec<Part> {
    let mut parts = Vec::new();
    for index in 0..ROCKS {
        let mut rng = Rng::new(seed ^ 0x40c5, index);
        let angle = rng.range(0.0, TAU);
        let Some(r) = shoreline(angle) else { continue };
        let r = r + rng.range(-0.08, 0.22);
        let (x, z) = (r * angle.cos(), r * angle.sin());
        if keeps_clear(x, z) {
            continue;
        }
        let size = 0.05 + 0.16 * rng.unit().powi(3);
        let radii = Vec3::new(1.2, 0.8, 0.9) * size;
        let centre = Vec3::new(x, height(x, z).max(-0.03), z);
        occluders.push(Occluder::round(centre, radii, 0.9));
        parts.push(Part::new(Ellipsoid { centre, radii, cut: 0.35 }, 1.3, |sample, _| {
            let p = sample.position;
            let tone = 0.9 + 0.8 * fractal(p * 9.0, 3, 41);
            Material::dull([0.27, 0.24, 0.22])
                .shaded(tone.max(0.2))
                .mixed(Material::dull([0.07, 0.07, 0.06]), step(0.05, 0.02, p.y))
        }));
    }
    parts
}

/// Distance from the island's centre to its shore in a direction, searched from outside.
fn shoreline(angle: f32) -> Option<f32> {
    let (sin, cos) = angle.sin_cos();
    (0..90_u8)
        .map(|i| LAND_RADIUS * (1.0 - f32::from(i) / 90.0))
        .find(|r| height(r * cos, r * sin) > 0.0)
}
