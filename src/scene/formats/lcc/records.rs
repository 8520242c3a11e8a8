//! Records of LCC: 32 bytes per splat, and 64 bytes of higher coefficients.

use std::f32::consts::FRAC_1_SQRT_2;

use crate::activation::{log_scale, logit};
use crate::table::RawColumns;
use quadrille_base::math::SH_C0;
use quadrille_base::math::narrow;

/// Position in f32, colour and opacity in 8 bits, scale in 16 bits, rotation in 32 bits, and a normal in 16 bits.
pub(super) const RECORD_BYTES: usize = 32;
/// 15 coefficients in 11, 10 and 11 bits for red, green and blue, and four bytes without a meaning.
pub(super) const REST_BYTES: usize = 64;
/// Number of higher coefficients per channel, of degree 3.
const REST: usize = 15;

/// Least and greatest value of each component of an attribute.
pub(super) type Range = [[f64; 3]; 2];

/// Component `axis` of an attribute at the share `at`, 0 to 1.
fn mixed([low, high]: &Range, axis: usize, at: f64) -> f32 {
    narrow(low[axis] * (1.0 - at) + high[axis] * at)
}

/// Quaternion w, x, y, z of its three smaller components in 10 bits each, and the place of the largest one among x, y, z
/// and w, which is positive.
fn rotation(packed: u32) -> [f32; 4] {
    let smaller = [0, 10, 20].map(|shift| {
        let at = (packed >> shift & 1023) as f32 / 1023.0;
        (2.0 * at - 1.0) * FRAC_1_SQRT_2
    });
    let squares: f32 = smaller.iter().map(|v| v * v).sum();
    let [a, b, c] = smaller;
    let largest = (1.0 - squares.min(1.0)).sqrt();
    let [x, y, z, w] = match packed >> 30 {
        0 => [largest, a, b, c],
        1 => [a, largest, b, c],
        2 => [a, b, largest, c],
        _ => [a, b, c, largest],
    };
    [w, x, y, z]
}

/// Decodes a splat into row `row` of `raw`. `rest` holds its higher coefficients, if `raw` has them.
pub(super) fn decode(
    raw: &mut RawColumns,
    row: usize,
    record: &[u8; RECORD_BYTES],
    rest: Option<&[u8; REST_BYTES]>,
    [scale, coefficient]: [&Range; 2],
) {
    let word = |at: usize| {
        u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
    };
    let half = |at: usize| u16::from_le_bytes([record[at], record[at + 1]]);
    for axis in 0..3 {
        raw.mean[axis][row] = f32::from_bits(word(4 * axis)).into();
        let colour = f64::from(record[12 + axis]) / 255.0;
        raw.sh_constant[axis][row] = narrow((colour - 0.5) / SH_C0);
        let share = f64::from(half(16 + 2 * axis)) / 65535.0;
        raw.scale[axis][row] = log_scale(mixed(scale, axis, share));
    }
    raw.opacity[row] = logit(f64::from(record[15]) / 255.0);
    for (column, value) in raw.rotation.iter_mut().zip(rotation(word(22))) {
        column[row] = value;
    }
    let Some(rest) = rest else { return };
    for (k, packed) in rest.as_chunks().0.iter().take(REST).enumerate() {
        let packed = u32::from_le_bytes(*packed);
        let shares = [
            f64::from(packed & 2047) / 2047.0,
            f64::from(packed >> 11 & 1023) / 1023.0,
            f64::from(packed >> 21 & 2047) / 2047.0,
        ];
        for (channel, share) in shares.into_iter().enumerate() {
            raw.sh_rest[channel * REST + k][row] = mixed(coefficient, channel, share);
        }
    }
}
