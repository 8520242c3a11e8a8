//! Packing and unpacking of the values of SPZ.

use std::f64::consts::FRAC_1_SQRT_2;

use half::f16;

use crate::quaternion::{with_largest, without_largest};
use quadrille_base::math::{byte, fit, narrow, whole};

const COLOUR_SCALE: f64 = 0.15;
/// Largest magnitude of a 9-bit quaternion component.
const COMPONENT_MAX: f64 = 511.0;
/// Bound of 24-bit positions, exclusive above.
const POSITION_LIMIT: f64 = 8_388_608.0;

pub(super) fn half_position(bytes: [u8; 2]) -> f32 {
    f16::from_le_bytes(bytes).to_f32()
}

pub(super) fn position([a, b, c]: [u8; 3], fraction_bits: u8) -> f32 {
    // Moves the sign bit from bit 23 to bit 31; the shift back extends the sign.
    let fixed = i32::from_le_bytes([0, a, b, c]) >> 8;
    narrow(f64::from(fixed) * (-f64::from(fraction_bits)).exp2())
}

pub(super) fn holds_position(value: f64, fraction_bits: u8) -> bool {
    (-POSITION_LIMIT..POSITION_LIMIT).contains(&fixed_position(value, fraction_bits))
}

/// Packs a coordinate, clamped to the range.
pub(super) fn pack_position(value: f64, fraction_bits: u8) -> [u8; 3] {
    let fixed = fixed_position(value, fraction_bits).clamp(-POSITION_LIMIT, POSITION_LIMIT - 1.0);
    let [a, b, c, _] = whole::<i32>(fixed).to_le_bytes();
    [a, b, c]
}

fn fixed_position(value: f64, fraction_bits: u8) -> f64 {
    (value * f64::from(fraction_bits).exp2()).round()
}

pub(super) fn colour(packed: u8) -> f32 {
    narrow((f64::from(packed) / 255.0 - 0.5) / COLOUR_SCALE)
}

pub(super) fn pack_colour(value: f32) -> u8 {
    byte((f64::from(value) * COLOUR_SCALE + 0.5) * 255.0)
}

pub(super) fn scale(packed: u8) -> f32 {
    f32::from(packed) / 16.0 - 10.0
}

pub(super) fn pack_scale(value: f32) -> u8 {
    byte((f64::from(value) + 10.0) * 16.0)
}

pub(super) fn coefficient(packed: u8) -> f32 {
    (f32::from(packed) - 128.0) / 128.0
}

/// Packs a higher coefficient, rounded to a multiple of `bucket`. The format's own writer rounds twice, to
/// 1/128 and to buckets, which adds 1/256 to coefficients on average.
#[inline(always)]
pub(super) fn pack_coefficient(value: f32, bucket: u8) -> u8 {
    // Integer operations are vectorised. Half a bucket is rounded away from zero.
    let half_buckets = whole::<i32>(value.clamp(-2.0, 2.0) * (256.0 / f32::from(bucket)));
    let buckets = (half_buckets + half_buckets.signum()) / 2;
    fit((buckets * i32::from(bucket) + 128).clamp(0, 255))
}

/// Rotation (w, x, y, z) from its vector part, as versions 1 and 2 store it.
pub(super) fn rotation_of_vector(packed: [u8; 3]) -> [f32; 4] {
    let vector = packed.map(|v| f64::from(v) / 127.5 - 1.0);
    let squares: f64 = vector.iter().map(|v| v * v).sum();
    let [x, y, z] = vector.map(narrow);
    [narrow((1.0 - squares).max(0.0).sqrt()), x, y, z]
}

/// Rotation (w, x, y, z) from a word of versions 3 and 4: the index of the largest of x, y, z, w in the upper
/// two bits, then the others, the last one in the lowest bits.
pub(super) fn rotation(packed: u32) -> [f32; 4] {
    let component = |shift: u32| {
        let magnitude = f64::from(packed >> shift & 511) / COMPONENT_MAX * FRAC_1_SQRT_2;
        if packed >> (shift + 9) & 1 == 1 { -magnitude } else { magnitude }
    };
    let [x, y, z, w] = with_largest([20, 10, 0].map(component), (packed >> 30) as usize);
    [w, x, y, z]
}

pub(super) fn pack_rotation([w, x, y, z]: [f64; 4]) -> u32 {
    let (largest, others) = without_largest([x, y, z, w]);
    let mut packed = fit::<u32>(largest);
    for value in others {
        let magnitude = (value.abs() / FRAC_1_SQRT_2 * COMPONENT_MAX).round();
        let magnitude = whole::<u32>(magnitude.min(COMPONENT_MAX));
        packed = packed << 10 | u32::from(value < 0.0) << 9 | magnitude;
    }
    packed
}

#[cfg(test)]
#[path = "tests/packed.rs"]
mod tests;
