//! Formats of colour buffers, and the rounding of stored values.

use fearless_simd::{f32x16, prelude::*, u32x16};

use crate::choice;

use super::quad_blend::QuadColour;

choice! {
    /// Format of a pixel with red, green, blue and alpha.
    #[derive(Default, PartialOrd, Hash)]
    pub enum ColourFormat {
        /// Eight bits per channel, 0 to 1 in steps of 1/255.
        Rgba8 = "rgba8",
        /// IEEE 754 binary16 per channel.
        #[default]
        Rgba16F = "rgba16f",
        /// IEEE 754 binary32 per channel.
        Rgba32F = "rgba32f",
    }
}

impl ColourFormat {
    /// Bytes per pixel.
    pub fn bytes_per_pixel(self) -> u32 {
        match self {
            Self::Rgba8 => 4,
            Self::Rgba16F => 8,
            Self::Rgba32F => 16,
        }
    }

    /// Rounds `value` to the format: the value read back after it is stored.
    ///
    /// `Rgba8` clamps to 0..=1 (NaN to 0) and rounds to a multiple of 1/255, ties of the f32 product by 255 to even;
    /// `Rgba16F` rounds to the nearest binary16, ties to even, with denormals and infinities; `Rgba32F` is the identity.
    #[must_use]
    #[inline(always)]
    pub fn store(self, value: QuadColour) -> QuadColour {
        match self {
            Self::Rgba8 => each(value, round_unorm8),
            Self::Rgba16F => each(value, round_f16),
            Self::Rgba32F => value,
        }
    }

    /// [`ColourFormat::store`] of the lanes of a vector, in the same operations.
    #[inline(always)]
    pub fn store_lanes<S: Simd>(self, simd: S, value: f32x16<S>) -> f32x16<S> {
        match self {
            Self::Rgba8 => unorm8_lanes(simd, value),
            Self::Rgba16F => f16_lanes(simd, value),
            Self::Rgba32F => value,
        }
    }
}

/// Applies `f` to every channel of every fragment. A plain loop, so that the compiler vectorizes it.
#[inline(always)]
fn each(mut value: QuadColour, f: impl Fn(f32) -> f32) -> QuadColour {
    for channel in &mut value {
        for v in channel {
            *v = f(*v);
        }
    }
    value
}

/// 2^23: a f32 from here on has no fraction bits, so adding it rounds.
const NO_FRACTION: f32 = 8_388_608.0;

#[inline(always)]
fn round_unorm8(x: f32) -> f32 {
    // Comparisons in place of `clamp`, so that NaN becomes 0.
    let x = if x > 0.0 { x } else { 0.0 };
    let x = if x < 1.0 { x } else { 1.0 };
    ((x * 255.0 + NO_FRACTION) - NO_FRACTION) / 255.0
}

#[inline(always)]
fn unorm8_lanes<S: Simd>(simd: S, x: f32x16<S>) -> f32x16<S> {
    let lane = |v: f32| f32x16::splat(simd, v);
    let x = x.simd_gt(lane(0.0)).select(x, lane(0.0));
    let x = x.simd_lt(lane(1.0)).select(x, lane(1.0));
    ((x * lane(255.0) + lane(NO_FRACTION)) - lane(NO_FRACTION)) / lane(255.0)
}

const EXPONENT: u32 = 0x7f80_0000;
const SIGN: u32 = 0x8000_0000;
/// 1.5 * 2^13. Times 2^e, its last binary digit has the value 2^(e - 10), as in a binary16 with exponent e.
/// Adding the product therefore rounds a value to binary16, to nearest, ties to even.
const MAGIC: f32 = 12_288.0;
/// Addend for 2^-14, the least normal binary16: below it the last place stays 2^-24.
const LEAST: f32 = MAGIC / 16_384.0;
/// Addend for values of 2^16 and above, which binary16 cannot hold. It is finite, so large values stay large.
const GREATEST: f32 = MAGIC * 65_536.0;
/// 2^112: scales 65536, the next value after the greatest finite binary16, 65504, to infinity.
const TO_THE_EDGE: f32 = f32::from_bits((112 + 127) << 23);

/// The nearest binary16, as f32: the bits of the `half` crate, but vectorized with SSE2 alone. NaN stays NaN.
#[inline(always)]
fn round_f16(x: f32) -> f32 {
    let bits = x.to_bits();
    let magic = f32::from_bits(bits & EXPONENT) * MAGIC;
    // Comparisons, not `clamp`: one instruction each.
    let magic = if magic > LEAST { magic } else { LEAST };
    let magic = if magic < GREATEST { magic } else { GREATEST };
    let rounded = (x + magic) - magic;
    let in_range = (rounded * TO_THE_EDGE) * (1.0 / TO_THE_EDGE);
    // The sign is copied explicitly, since the sum loses the sign of zero.
    f32::from_bits(in_range.to_bits() | (bits & SIGN))
}

#[inline(always)]
fn f16_lanes<S: Simd>(simd: S, x: f32x16<S>) -> f32x16<S> {
    let lane = |v: f32| f32x16::splat(simd, v);
    let bits = x.bitcast::<u32x16<S>>();
    let power: f32x16<S> = (bits & EXPONENT).bitcast();
    // Never NaN, so the treatment of NaN by `min` and `max` does not matter.
    let magic = (power * lane(MAGIC)).max(lane(LEAST)).min(lane(GREATEST));
    let rounded = (x + magic) - magic;
    let in_range = (rounded * lane(TO_THE_EDGE)) * lane(1.0 / TO_THE_EDGE);
    (in_range.bitcast::<u32x16<S>>() | (bits & SIGN)).bitcast()
}
