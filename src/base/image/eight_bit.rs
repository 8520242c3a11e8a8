//! Eight bits per channel: the rounding of picture files and of the `inria` metrics.

use crate::math::low;

const MAX_8_BIT: f32 = 255.0;

/// 2^23: adding a value from 0 to 2^22 rounds it to a whole number in the low bits.
const WHOLE: f32 = 8_388_608.0;

/// `round(255 clamp(value, 0, 1))`, half away from zero; NaN becomes 0.
///
/// There is no gamma: the trainer of 3D Gaussian splatting compares its colours with the numbers in photographs' files,
/// so a frame holds display values already (Kerbl et al. 2023, `train.py` and `render.py`).
///
/// `f32::round` calls the C library on x86-64, which prevents vectorisation.
#[inline(always)]
#[expect(clippy::manual_clamp, reason = "the greater one of NaN and 0 is 0")]
pub fn to_8_bit(value: f32) -> u8 {
    let scaled = value.max(0.0).min(1.0) * MAX_8_BIT;
    // The sum is rounded half to even.
    let sum = scaled + WHOLE;
    let went_down_half = scaled - (sum - WHOLE) == 0.5;
    low(sum.to_bits() + u32::from(went_down_half))
}

/// Value of an 8-bit code, 0 to 1.
pub fn from_8_bit(value: u8) -> f32 {
    f32::from(value) / MAX_8_BIT
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::whole;

    /// Step between the tested bit patterns: a prime, so that low bits vary.
    const STRIDE: usize = 4099;
    /// Number of values tested on either side of each boundary between two codes.
    const BESIDE: u32 = 8;

    fn defined(value: f32) -> u8 {
        whole((value.clamp(0.0, 1.0) * MAX_8_BIT).round())
    }

    #[test]
    fn rounding_is_the_one_of_the_definition() {
        let everywhere = (0..=u32::MAX).step_by(STRIDE);
        let edges = (0..512_u16).map(|half| f32::from(half) / 2.0 / MAX_8_BIT).flat_map(|edge| {
            let first = edge.to_bits().saturating_sub(BESIDE);
            first..=first + 2 * BESIDE
        });
        let special = [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0];
        let special = special.map(f32::to_bits);
        for bits in everywhere.chain(edges).chain(special) {
            let value = f32::from_bits(bits);
            assert_eq!(to_8_bit(value), defined(value), "{value:e}");
        }
    }
}
