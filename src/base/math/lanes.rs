//! Elementary functions of 16 lanes, for code that is generic over the SIMD level.
//!
//! All are `inline(always)`, so that they are compiled for the level of the dispatched function around them.

use fearless_simd::{f32x16, f64x8, i32x16, mask32x16, prelude::*, u32x16};

/// A mask as bits, one per lane.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "16 lanes have 16 bits")]
pub fn mask_bits<S: Simd>(mask: mask32x16<S>) -> u16 {
    mask.to_bitmask() as u16
}

/// Moves the selected lanes to the front, in order; the other lanes are arbitrary.
#[inline(always)]
pub fn compress<S: Simd>(simd: S, x: f32x16<S>, lanes: u16) -> f32x16<S> {
    #[cfg(target_arch = "x86_64")]
    if let fearless_simd::Level::Avx512(avx512) = simd.level() {
        return compress_avx512(avx512, x.into(), lanes).simd_into(simd);
    }
    let mut values = [0.0; 16];
    x.store_slice(&mut values);
    let mut front = [0.0; 16];
    let (mut left, mut to) = (lanes, 0);
    while left != 0 {
        front[to & 15] = values[left.trailing_zeros() as usize & 15];
        left &= left - 1;
        to += 1;
    }
    f32x16::from_slice(simd, &front)
}

#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    #[inline(always)]
    fn compress_avx512(
        _token: Avx512,
        x: std::arch::x86_64::__m512,
        lanes: u16,
    ) -> std::arch::x86_64::__m512 {
        std::arch::x86_64::_mm512_maskz_compress_ps(lanes, x)
    }
);

/// Counter per lane. With mask registers it adds 2 per count: to add 1, the compiler would turn the mask into a vector.
#[derive(Debug, Clone, Copy)]
pub struct LaneCounts<S: Simd>(u32x16<S>);

impl<S: Simd> LaneCounts<S> {
    /// Creates counts of zero.
    #[inline(always)]
    pub fn new(simd: S) -> Self {
        Self(u32x16::splat(simd, 0))
    }

    /// Adds one to each lane in `mask`; a lane counts up to 2^31 - 1.
    #[inline(always)]
    pub fn add(&mut self, simd: S, mask: mask32x16<S>) {
        if has_mask_registers(simd) {
            self.0 = mask.select(self.0 + 2, self.0);
        } else {
            self.0 -= mask_vector(simd, mask);
        }
    }

    /// Sum of all lanes.
    #[inline(always)]
    pub fn sum(self, simd: S) -> u64 {
        let kept = self.0.to_array().map(u64::from);
        kept.iter().sum::<u64>() / if has_mask_registers(simd) { 2 } else { 1 }
    }
}

/// Whether the level has mask registers. It then also has 32 vector registers, enough for four dependency chains.
#[inline(always)]
pub fn has_mask_registers<S: Simd>(simd: S) -> bool {
    #[cfg(target_arch = "x86_64")]
    return matches!(simd.level(), fearless_simd::Level::Avx512(_));
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = simd;
        false
    }
}

#[inline(always)]
fn mask_vector<S: Simd>(simd: S, mask: mask32x16<S>) -> u32x16<S> {
    let bits: [i32; 16] = mask.into();
    i32x16::simd_from(simd, bits).bitcast()
}

/// `x` in the lanes of a mask, 0 elsewhere.
#[inline(always)]
pub fn keep<S: Simd>(simd: S, mask: mask32x16<S>, x: f32x16<S>) -> f32x16<S> {
    if has_mask_registers(simd) {
        return mask.select(x, f32x16::splat(simd, 0.0));
    }
    (mask_vector(simd, mask) & x.bitcast::<u32x16<S>>()).bitcast()
}

/// Coefficients of the degree-5 polynomial for 2^f on [-1/2, 1/2], constant first; rounded to f32 its relative error is
/// 1.6e-7 there (minimax on the relative error, by the Remez algorithm in double precision: 7.5e-8 before rounding).
pub(super) const EXP2: [f32; 6] =
    [1.000_000_1, 0.693_146_94, 0.240_221_2, 0.055_507_13, 0.009_675_541, 0.001_327_647_2];

/// 1.5 * 2^23: adding it to a small f32 leaves the nearest integer in the low mantissa bits.
pub(super) const ROUND_MAGIC: f32 = 12_582_912.0;

/// 2^x for x in [-126, 127], relative error below 3e-7. Other lanes are arbitrary but never trap; no denormals arise.
#[inline(always)]
pub fn exp2<S: Simd>(simd: S, x: f32x16<S>) -> f32x16<S> {
    let magic = f32x16::splat(simd, ROUND_MAGIC);
    let shifted = x + magic;
    let f = x - (shifted - magic);
    let mut p = f32x16::splat(simd, EXP2[5]);
    for &c in EXP2[..5].iter().rev() {
        p = p.mul_add(f, f32x16::splat(simd, c));
    }
    let exponent = shifted.bitcast::<u32x16<S>>() << 23;
    (p.bitcast::<u32x16<S>>() + exponent).bitcast()
}

/// 2^x where `masks` are set, 0 elsewhere, relative error below 3e-7. There, x must be in the domain of [`exp2`].
///
/// All vectors take each step together, since one alone is a chain of latencies that a core cannot hide. AVX-512 splits off
/// the integer part and scales by it in one instruction each: its results differ in the last bits.
#[inline(always)]
pub fn exp2_where<S: Simd, const N: usize>(
    simd: S,
    masks: [mask32x16<S>; N],
    x: [f32x16<S>; N],
) -> [f32x16<S>; N] {
    #[cfg(target_arch = "x86_64")]
    if let fearless_simd::Level::Avx512(avx512) = simd.level() {
        let mut fraction = x;
        for fraction in &mut fraction {
            *fraction = fraction_avx512(avx512, (*fraction).into()).simd_into(simd);
        }
        let mut p = [f32x16::splat(simd, EXP2_UNIT[5]); N];
        for &c in EXP2_UNIT[..5].iter().rev() {
            for i in 0..N {
                p[i] = p[i].mul_add(fraction[i], f32x16::splat(simd, c));
            }
        }
        for i in 0..N {
            let mask = mask_bits(masks[i]);
            p[i] = scale_where_avx512(avx512, mask, p[i].into(), x[i].into()).simd_into(simd);
        }
        return p;
    }
    let mut y = x;
    for (y, mask) in y.iter_mut().zip(masks) {
        *y = keep(simd, mask, exp2(simd, *y));
    }
    y
}

/// Coefficients for 2^f on [0, 1], constant first: relative error 7.5e-8, 1.5e-7 rounded (found as [`EXP2`]).
#[cfg(target_arch = "x86_64")]
const EXP2_UNIT: [f32; 6] =
    [0.999_999_94, 0.693_153_1, 0.240_153_61, 0.055_826_318, 0.008_989_339, 0.001_877_576_7];

#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    /// Fractional part of x: its distance from the integer below.
    #[inline(always)]
    fn fraction_avx512(_token: Avx512, x: std::arch::x86_64::__m512) -> std::arch::x86_64::__m512 {
        /// Keep no fraction bits, round down, suppress exceptions.
        const FLOOR: i32 = 0x09;
        std::arch::x86_64::_mm512_reduce_ps::<FLOOR>(x)
    }
);

#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    /// `p * 2^floor(x)` where the mask is set, 0 elsewhere.
    #[inline(always)]
    fn scale_where_avx512(
        _token: Avx512,
        mask: u16,
        p: std::arch::x86_64::__m512,
        x: std::arch::x86_64::__m512,
    ) -> std::arch::x86_64::__m512 {
        std::arch::x86_64::_mm512_maskz_scalef_ps(mask, p, x)
    }
);

/// 1 / sqrt(x) for normal x > 0, with a relative error below 3e-7.
#[inline(always)]
pub fn rsqrt<S: Simd>(simd: S, x: f32x16<S>) -> f32x16<S> {
    #[cfg(target_arch = "x86_64")]
    if let fearless_simd::Level::Avx512(avx512) = simd.level() {
        return rsqrt_avx512(avx512, x.into()).simd_into(simd);
    }
    f32x16::splat(simd, 1.0) / x.sqrt()
}

#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    #[inline(always)]
    fn rsqrt_avx512(_token: Avx512, x: std::arch::x86_64::__m512) -> std::arch::x86_64::__m512 {
        use std::arch::x86_64::*;
        // One Newton step: y + y / 2 * (1 - x y^2) squares the guess's error of 2^-14.
        let y = _mm512_rsqrt14_ps(x);
        let error = _mm512_fnmadd_ps(_mm512_mul_ps(x, y), y, _mm512_set1_ps(1.0));
        _mm512_fmadd_ps(_mm512_mul_ps(y, _mm512_set1_ps(0.5)), error, y)
    }
);

/// Upper bound of sqrt(x), too large by a relative 2^-11 at most, and cheaper; x below 1e-30 counts as 1e-30.
#[inline(always)]
pub fn sqrt_above<S: Simd>(simd: S, x: f32x16<S>) -> f32x16<S> {
    let x = x.max(f32x16::splat(simd, 1e-30));
    #[cfg(target_arch = "x86_64")]
    if let fearless_simd::Level::Avx512(avx512) = simd.level() {
        return sqrt_above_avx512(avx512, x.into()).simd_into(simd);
    }
    x.sqrt()
}

#[cfg(target_arch = "x86_64")]
fearless_simd::kernel!(
    #[inline(always)]
    fn sqrt_above_avx512(
        _token: Avx512,
        x: std::arch::x86_64::__m512,
    ) -> std::arch::x86_64::__m512 {
        use std::arch::x86_64::*;
        /// Compensates for the reciprocal root's relative error of 2^-14.
        const ABOVE: f32 = 1.0 + 1.0 / 8192.0;
        _mm512_mul_ps(_mm512_mul_ps(x, _mm512_set1_ps(ABOVE)), _mm512_rsqrt14_ps(x))
    }
);

/// log2(x) for normal x > 0, absolute error below 3e-7 * max(1, |log2 x|). Zero gives about -127, below any cut.
#[inline(always)]
pub fn log2<S: Simd>(simd: S, x: f32x16<S>) -> f32x16<S> {
    // x = 2^e * m with m in [sqrt(1/2), sqrt(2)); log2 m = 2/ln2 * atanh((m - 1) / (m + 1)).
    const SQRT_HALF_BITS: u32 = 0x3f35_04f3;
    const TWO_OVER_LN2: f32 = 2.885_39;
    let bits = x.bitcast::<u32x16<S>>() - u32x16::splat(simd, SQRT_HALF_BITS);
    // The exponent is signed: an arithmetic shift keeps the sign.
    let e: f32x16<S> = (bits.bitcast::<i32x16<S>>() >> 23).to_float();
    let m = ((bits & u32x16::splat(simd, 0x007f_ffff)) + u32x16::splat(simd, SQRT_HALF_BITS))
        .bitcast::<f32x16<S>>();
    let t = (m - 1.0) / (m + 1.0);
    let t2 = t * t;
    let mut p = f32x16::splat(simd, 1.0 / 9.0);
    for c in [1.0 / 7.0, 1.0 / 5.0, 1.0 / 3.0, 1.0] {
        p = p.mul_add(t2, f32x16::splat(simd, c));
    }
    (p * t).mul_add(f32x16::splat(simd, TWO_OVER_LN2), e)
}

/// 16 lanes of f64, in two halves.
#[derive(Clone, Copy)]
pub struct F64Lanes<S: Simd>(pub f64x8<S>, pub f64x8<S>);

impl<S: Simd> F64Lanes<S> {
    /// Sets all lanes to `value`.
    #[inline(always)]
    pub fn splat(simd: S, value: f64) -> Self {
        Self(f64x8::splat(simd, value), f64x8::splat(simd, value))
    }

    /// Converts f32 lanes; exact.
    #[inline(always)]
    pub fn widen(x: f32x16<S>) -> Self {
        let (low, high) = x.widen();
        Self(low, high)
    }

    /// Rounds to the nearest f32.
    #[inline(always)]
    pub fn narrow(self) -> f32x16<S> {
        self.0.narrow(self.1)
    }

    /// `self * b + c`, fused where the level supports it.
    #[inline(always)]
    pub fn mul_add(self, b: Self, c: Self) -> Self {
        Self(self.0.mul_add(b.0, c.0), self.1.mul_add(b.1, c.1))
    }

    /// Multiplies lane by lane.
    #[inline(always)]
    pub fn times(self, b: Self) -> Self {
        Self(self.0 * b.0, self.1 * b.1)
    }

    /// Subtracts `b` lane by lane.
    #[inline(always)]
    pub fn minus(self, b: Self) -> Self {
        Self(self.0 - b.0, self.1 - b.1)
    }

    /// Square roots.
    #[inline(always)]
    #[must_use]
    pub fn sqrt(self) -> Self {
        Self(self.0.sqrt(), self.1.sqrt())
    }

    /// `1 / self`, relative error below 1e-13 for values normal in f32: an f32 quotient and one Newton step.
    #[inline(always)]
    pub fn recip(self, simd: S) -> Self {
        let guess = Self::widen(f32x16::splat(simd, 1.0) / self.narrow());
        let two = Self::splat(simd, 2.0);
        let error = Self(-self.0, -self.1).mul_add(guess, two);
        guess.times(error)
    }
}
