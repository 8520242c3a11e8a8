//! Numbers: SIMD levels and the functions that lanes need, spherical harmonics, large arrays.

pub(crate) mod buffer;
mod harmonics;
pub mod lanes;
mod simd_level;
pub mod unfused;

pub(crate) use buffer::prefetch;
pub use harmonics::SH_C0;
pub(crate) use harmonics::{sh_basis, sh_colour};
pub use simd_level::SimdLevel;

/// A number of things as an index or a length: no memory of the host holds more than `usize` counts.
#[inline(always)]
pub(crate) fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Rounds to f32; what is too large becomes infinite.
#[expect(clippy::cast_possible_truncation, reason = "rounding is the point")]
#[inline(always)]
pub(crate) const fn narrow(value: f64) -> f32 {
    value as f32
}
