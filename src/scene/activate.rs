//! Activation: converts the raw values of a file to the values of [`SplatBlock`].
//!
//! Every value is computed in f64 and rounded once, so it is within one ulp of the exact result, as tests check. The code
//! consists of plain loops over whole blocks, which `dispatch!` compiles for each level of vector instructions. The levels
//! give the same bits, since the compiler neither fuses nor reorders operations.

use std::f64::consts::{LN_2, LOG2_E};

use fearless_simd::{Level, dispatch};

use super::activation::BEYOND_RANGE;
use super::scene_file::Dropped;
use super::splats::{BLOCK, Lanes, SplatBlock};
use quadrille_base::math::narrow;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueEncoding {
    /// Logarithms of scales and logits of opacities, as trainers save them.
    Raw,
    Linear,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Parameters<'a> {
    pub(super) level: Level,
    pub(super) encoding: ValueEncoding,
    /// Number of scales, 2 or 3; a missing third scale becomes 0 (2DGS).
    pub(super) scales: usize,
    /// Standard deviation of the 3D filter, in world units (Mip-Splatting).
    pub(super) filter: Option<&'a Lanes>,
}

/// Activates the first `lanes` splats in place and zeroes the rest. Counts invalid splats and marks them by x = NaN.
pub(super) fn activate(
    block: &mut SplatBlock,
    sh_rest: &mut [Lanes],
    lanes: usize,
    parameters: Parameters<'_>,
) -> Dropped {
    dispatch!(parameters.level, _simd => activate_lanes(block, sh_rest, lanes, parameters))
}

#[inline(always)]
fn activate_lanes(
    block: &mut SplatBlock,
    sh_rest: &mut [Lanes],
    lanes: usize,
    parameters: Parameters<'_>,
) -> Dropped {
    if parameters.encoding == ValueEncoding::Raw {
        // Infinities that are valid: decoders of 8-bit opacities write them as the logits of 0 and 1, and the
        // logarithm of a scale of 0 is infinite too.
        for logit in &mut block.opacity {
            *logit = logit.clamp(-EXP_RANGE, EXP_RANGE);
        }
        for log in block.scale.as_flattened_mut() {
            *log = if *log == f32::NEG_INFINITY { -EXP_RANGE } else { *log };
        }
    }
    let not_finite = finite_check(block, sh_rest, parameters.filter);
    let invalid: u32 = not_finite.iter().map(|c| u32::from(*c != 0.0)).sum();
    // NaN must be found before activation, which turns some infinities into NaN and some into finite numbers.
    let nan =
        if invalid == 0 { [false; BLOCK] } else { nan_lanes(block, sh_rest, parameters.filter) };
    let beyond = match invalid {
        0 => [false; BLOCK],
        _ => block.opacity.map(|opacity| opacity.to_bits() == BEYOND_RANGE.to_bits()),
    };
    let opacity_factor = scales(block, parameters);
    if parameters.encoding == ValueEncoding::Raw {
        block.opacity = sigmoid(&block.opacity);
    }
    if let Some(factor) = opacity_factor {
        for (o, f) in block.opacity.iter_mut().zip(factor) {
            *o = narrow(f64::from(*o) * f);
        }
    }
    let norm2 = normalise(&mut block.rotation);

    let zero: u64 = norm2.iter().map(|n| u64::from(*n <= 0.0)).sum();
    let overflow: u32 =
        block.scale.as_flattened().iter().map(|s| u32::from(*s == f32::INFINITY)).sum();
    if invalid == 0 && zero == 0 && overflow == 0 && lanes == BLOCK {
        return Dropped::default();
    }
    let own: &mut [Lanes; 14] = bytemuck::cast_mut(block);
    for values in own.iter_mut().chain(sh_rest) {
        values[lanes..].fill(0.0);
    }
    let mut dropped = Dropped::default();
    for lane in 0..lanes {
        let count = if beyond[lane] {
            &mut dropped.opacity_range
        } else if nan[lane] {
            &mut dropped.nan
        } else if not_finite[lane] != 0.0 {
            &mut dropped.infinite
        } else if norm2[lane] <= 0.0 {
            &mut dropped.zero_rotation
        } else if block.scale.iter().any(|s| s[lane] == f32::INFINITY) {
            &mut dropped.scale_overflow
        } else {
            continue;
        };
        *count += 1;
        block.mean[0][lane] = f32::NAN;
    }
    dropped
}

/// 0 for each lane with only finite values, else NaN (infinity times zero is NaN too).
#[inline(always)]
fn finite_check(block: &SplatBlock, sh_rest: &[Lanes], filter: Option<&Lanes>) -> Lanes {
    let own: &[Lanes; 14] = bytemuck::cast_ref(block);
    let mut check = [0.0; BLOCK];
    for lanes in own.iter().chain(sh_rest).chain(filter) {
        for (c, v) in check.iter_mut().zip(lanes) {
            *c += v * 0.0;
        }
    }
    check
}

/// Activates the scales and applies the 3D filter; returns the factors by which the filter reduces opacities.
///
/// Mip-Splatting (Yu et al. 2024, section 4.1): scale' = sqrt(scale^2 + f^2), opacity' = opacity *
/// sqrt(prod scale^2 / prod scale'^2). A missing axis is ignored.
#[inline(always)]
fn scales(block: &mut SplatBlock, parameters: Parameters<'_>) -> Option<[f64; BLOCK]> {
    let mut factor = [1.0; BLOCK];
    for axis in &mut block.scale[..parameters.scales] {
        let linear = match parameters.encoding {
            ValueEncoding::Raw => exp(axis),
            ValueEncoding::Linear => axis.map(f64::from),
        };
        if let Some(filter) = parameters.filter {
            for lane in 0..BLOCK {
                let (s, f) = (linear[lane], f64::from(filter[lane]));
                let wide = (s * s + f * f).sqrt();
                factor[lane] *= if wide > 0.0 { s / wide } else { 1.0 };
                axis[lane] = narrow(wide);
            }
        } else {
            for lane in 0..BLOCK {
                axis[lane] = narrow(linear[lane]);
            }
        }
    }
    parameters.filter.map(|_| factor)
}

/// Normalises quaternions and returns their squared norms, which do not underflow in f64.
#[inline(always)]
fn normalise(rotation: &mut [Lanes; 4]) -> [f64; BLOCK] {
    // Index loops over single arrays are vectorised; iterators over the four components become gathers.
    let [w, x, y, z] = rotation;
    let mut norm2 = [0.0; BLOCK];
    for i in 0..BLOCK {
        let (w, x) = (f64::from(w[i]), f64::from(x[i]));
        let (y, z) = (f64::from(y[i]), f64::from(z[i]));
        norm2[i] = w * w + x * x + (y * y + z * z);
    }
    let mut inverse = [0.0; BLOCK];
    for i in 0..BLOCK {
        inverse[i] = 1.0 / norm2[i].sqrt();
    }
    for component in [w, x, y, z] {
        for i in 0..BLOCK {
            component[i] = narrow(f64::from(component[i]) * inverse[i]);
        }
    }
    norm2
}

fn nan_lanes(block: &SplatBlock, sh_rest: &[Lanes], filter: Option<&Lanes>) -> [bool; BLOCK] {
    let own: &[Lanes; 14] = bytemuck::cast_ref(block);
    let mut nan = [false; BLOCK];
    for lanes in own.iter().chain(sh_rest).chain(filter) {
        for (n, v) in nan.iter_mut().zip(lanes) {
            *n |= v.is_nan();
        }
    }
    nan
}

// A scene needs four exponentials per splat, and the compiler vectorises these plain loops in f64, but not calls
// of the standard library's `exp`.

/// Argument bound beyond which results are 0 or infinity in f32: e^-104 is below half of the least denormal.
const EXP_RANGE: f32 = 128.0;

/// 1.5 * 2^52: adding it leaves the nearest integer in the low bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

const MANTISSA_BITS: u32 = 52;

/// 1/k! for k = 8 down to 0. With |r| <= ln 2 / 2, the first omitted term is below 2.1e-10 relative, 1/280 of an f32 ulp.
const EXP_TERMS: [f64; 9] =
    [1.0 / 40320.0, 1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0];

/// e^x with a relative error of 2.2e-10; x is clamped to -128..=128. NaN is undefined.
#[inline(always)]
fn exp(x: &Lanes) -> [f64; BLOCK] {
    let mut result = [0.0; BLOCK];
    for (result, x) in result.iter_mut().zip(x) {
        let x = if *x < -EXP_RANGE { -EXP_RANGE } else { *x };
        let x = f64::from(if x > EXP_RANGE { EXP_RANGE } else { x });
        let shifted = x * LOG2_E + ROUNDER;
        let n = shifted - ROUNDER;
        let r = x - n * LN_2;
        let mut power = EXP_TERMS[0];
        for term in &EXP_TERMS[1..] {
            power = power * r + term;
        }
        // The low bits of `shifted` hold n; shifted to the exponent, they give 2^n.
        let bits = (shifted.to_bits() << MANTISSA_BITS).wrapping_add(1f64.to_bits());
        *result = power * f64::from_bits(bits);
    }
    result
}

#[inline(always)]
fn sigmoid(x: &Lanes) -> Lanes {
    let (mut negative, mut result) = ([0.0; BLOCK], [0.0; BLOCK]);
    for i in 0..BLOCK {
        negative[i] = -x[i];
    }
    let exp = exp(&negative);
    for i in 0..BLOCK {
        result[i] = narrow(1.0 / (1.0 + exp[i]));
    }
    result
}

#[cfg(test)]
#[path = "tests/units/activate.rs"]
mod tests;
