//! Construction of a splat at a point of a surface: shape, opacity, colour.

use nalgebra::{Matrix3, Quaternion, Rotation3, UnitQuaternion};

use super::harmonics::{self, BASIS, Y00};
use super::light::{Grain, Light, Material};
use super::random::{Rng, Vec3};
use super::surface::{SurfaceSample, perpendicular};
use quadrille_scene::Splat;

/// Shares of buried and hazy splats of a solid; the others lie on the surface.
const BURIED: f32 = 0.24;
const HAZE: f32 = 0.12;
/// Standard deviation of the noise in view-dependent coefficients of band 1; each further band has [`BAND_DECAY`] times the
/// deviation of the band before. Trained scenes measure 0.04 to 0.1 in all bands, most of it overfitting.
const COEFFICIENT_NOISE: f32 = 0.012;
const BAND_DECAY: f32 = 0.6;
const HIGHLIGHT_G: f32 = 0.6;
const THROUGH_G: f32 = 0.4;

/// Splat without colour, with y up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UnlitSplat {
    centre: Vec3,
    lit_at: Vec3,
    lit_normal: Vec3,
    /// World axes, thinnest last.
    axes: Matrix3<f32>,
    scale: Vec3,
    opacity: f32,
    dim: f32,
}

/// Places and shapes a splat of `material` at `sample`; neighbours are `spacing` apart.
pub(crate) fn unlit(
    sample: &SurfaceSample,
    material: &Material,
    spacing: f32,
    rng: &mut Rng,
) -> UnlitSplat {
    match material.grain {
        Grain::Solid => solid(sample, spacing, rng),
        Grain::Skin => skin(sample, spacing, rng),
        Grain::Foliage => foliage(sample, spacing, rng),
        Grain::Cloud => cloud(sample, spacing, rng),
    }
}

fn solid(sample: &SurfaceSample, spacing: f32, rng: &mut Rng) -> UnlitSplat {
    let kind = rng.unit();
    let (depth, opacity, size) = if kind < BURIED {
        (-spacing * rng.range(0.3, 2.5), 1.0 - 0.3 * rng.unit(), 1.1)
    } else if kind < BURIED + HAZE {
        let opacity = 0.05 * rng.log_normal(0.5);
        (spacing * rng.range(-0.5, 0.25), opacity, 1.6)
    } else {
        let faint = rng.unit();
        let depth = spacing * 0.06 * rng.normal();
        (depth, 1.0 - 0.25 * faint * faint, 1.0)
    };
    let long = size * 0.82 * spacing * rng.log_normal(0.25);
    let wide = long / (1.0 + 0.7 * rng.unit());
    let thin = 0.1 * spacing * rng.log_normal(0.5);
    let turned = turn(sample, rng);
    let side = sample.normal.cross(&turned);
    let slip = turned * rng.normal() + side * rng.normal();
    let lit_at = sample.position + slip * (0.18 * spacing);
    UnlitSplat {
        centre: lit_at + sample.normal * depth,
        lit_at,
        lit_normal: sample.normal,
        axes: Matrix3::from_columns(&[turned, side, sample.normal]),
        scale: Vec3::new(long, wide, thin),
        opacity: opacity.clamp(0.01, 0.999),
        dim: if depth < -0.3 * spacing { 0.97 } else { 1.0 },
    }
}

fn skin(sample: &SurfaceSample, spacing: f32, rng: &mut Rng) -> UnlitSplat {
    let side = sample.normal.cross(&sample.along);
    let long = spacing * rng.log_normal(0.15);
    UnlitSplat {
        centre: sample.position,
        lit_at: sample.position,
        lit_normal: sample.normal,
        axes: Matrix3::from_columns(&[sample.along, side, sample.normal]),
        scale: Vec3::new(long, long * rng.range(0.7, 0.95), 0.03 * spacing),
        opacity: rng.range(0.9, 0.995),
        dim: 1.0,
    }
}

fn foliage(sample: &SurfaceSample, spacing: f32, rng: &mut Rng) -> UnlitSplat {
    let depth = rng.unit();
    let normal = (sample.normal + 0.7 * rng.direction()).normalize();
    let leaf = (sample.along * 0.6 + rng.direction()).normalize();
    let leaf = (leaf - normal * leaf.dot(&normal))
        .try_normalize(1e-3)
        .unwrap_or_else(|| perpendicular(normal));
    let long = 0.75 * spacing * rng.log_normal(0.3);
    let faint = rng.unit() < 0.25;
    let lit_at = sample.position + 0.5 * spacing * rng.direction();
    UnlitSplat {
        centre: lit_at + sample.normal * (spacing * (0.6 - 2.6 * depth * depth)),
        lit_at,
        lit_normal: (sample.normal + 0.35 * normal).normalize(),
        axes: Matrix3::from_columns(&[leaf, normal.cross(&leaf), normal]),
        scale: Vec3::new(long, long * rng.range(0.25, 0.6), 0.15 * spacing),
        opacity: if faint { 0.06 * rng.log_normal(0.5) } else { rng.range(0.6, 0.98) },
        dim: (1.05 - 0.5 * depth * depth) * rng.range(0.75, 1.2),
    }
}

fn cloud(sample: &SurfaceSample, spacing: f32, rng: &mut Rng) -> UnlitSplat {
    let long = 1.5 * spacing * rng.log_normal(0.3);
    let axis = perpendicular(sample.normal);
    UnlitSplat {
        centre: sample.position - sample.normal * (spacing * 2.0 * rng.unit()),
        lit_at: sample.position,
        lit_normal: sample.normal,
        axes: Matrix3::from_columns(&[axis, sample.normal.cross(&axis), sample.normal]),
        scale: Vec3::new(long, long * rng.range(0.5, 1.0), long * 0.5),
        opacity: rng.range(0.08, 0.4),
        dim: 1.0,
    }
}

fn turn(sample: &SurfaceSample, rng: &mut Rng) -> Vec3 {
    let (sin, cos) = rng.range(0.0, std::f32::consts::TAU).sin_cos();
    sample.along * cos + sample.normal.cross(&sample.along) * sin
}

/// Lights a splat and rotates it by half a turn about x: recipes have y up, scenes y down.
pub(crate) fn finish(
    splat: &UnlitSplat,
    material: &Material,
    light: &Light,
    sh_degree: u8,
    rng: &mut Rng,
) -> Splat {
    let wrap = match material.grain {
        Grain::Solid | Grain::Skin => 0.0,
        Grain::Foliage => 0.35,
        Grain::Cloud => 0.6,
    };
    let (colour, sunlit) = light.shade(splat.lit_at, splat.lit_normal, material, wrap);
    let colour = colour * splat.dim;
    let mut sh = [[0.0; 3]; 25];
    if sh_degree > 0 {
        view_dependence(&mut sh[..BASIS], splat, material, light, sunlit);
        for (index, rgb) in sh[..BASIS].iter_mut().enumerate().skip(1) {
            let grain = f32::from(harmonics::band(index)) - 1.0;
            let noise = COEFFICIENT_NOISE * BAND_DECAY.powf(grain);
            *rgb = rgb.map(|value| value + noise * rng.normal());
        }
    }
    for channel in 0..3 {
        sh[0][channel] += (colour[channel] - 0.5) / Y00;
    }
    sh[(usize::from(sh_degree) + 1).pow(2)..].fill([0.0; 3]);
    let half_turn = UnitQuaternion::from_quaternion(Quaternion::new(0.0, 1.0, 0.0, 0.0));
    let rotation = Rotation3::from_matrix_unchecked(splat.axes);
    let q = half_turn * UnitQuaternion::from_rotation_matrix(&rotation);
    Splat {
        mean: saved(splat.centre).into(),
        scale: splat.scale.into(),
        rotation: [q.w, q.i, q.j, q.k],
        opacity: splat.opacity,
        sh,
    }
}

/// Adds highlights and light through leaves, in the axes of scenes. The mean colour (degree 0) does not change.
fn view_dependence(
    sh: &mut [[f32; 3]],
    splat: &UnlitSplat,
    material: &Material,
    light: &Light,
    sunlit: f32,
) {
    let n = splat.lit_normal;
    let tint = light.sun / light.sun.max().max(1e-6);
    if material.gloss > 0.0 {
        // Line of sight that the surface reflects towards the sun.
        let axis = light.to_sun - n * (2.0 * light.to_sun.dot(&n));
        let strength = 0.16 * material.gloss * sunlit.sqrt();
        harmonics::add_lobe(sh, saved(axis), HIGHLIGHT_G, tint * strength);
    }
    if material.grain == Grain::Foliage || material.grain == Grain::Cloud {
        let strength = tint.component_mul(&material.albedo.map(f32::sqrt)) * 0.05;
        harmonics::add_lobe(sh, saved(light.to_sun), THROUGH_G, strength);
    }
    sh[0] = [0.0; 3];
}

/// Converts from y up to y down.
fn saved(v: Vec3) -> Vec3 {
    Vec3::new(v.x, -v.y, -v.z)
}
