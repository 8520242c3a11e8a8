//! Numbers: SIMD levels, elementary functions of lanes, spherical harmonics, large arrays.

pub(crate) mod buffer;
mod harmonics;
pub mod lanes;
mod sh_rotation;
mod simd_level;
pub mod unfused;

pub(crate) use buffer::prefetch;
pub use harmonics::SH_C0;
pub(crate) use harmonics::{SH_SIGN_AXES, sh_basis, sh_colour};
pub(crate) use sh_rotation::sh_rotations;
pub use simd_level::SimdLevel;

/// Converts an index or a length, saturating: no array of the host holds more than `usize::MAX` items.
#[inline(always)]
pub(crate) fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Rounds to f32; values beyond its range become infinite.
#[expect(clippy::cast_possible_truncation, reason = "rounding is the point")]
#[inline(always)]
pub(crate) const fn narrow(value: f64) -> f32 {
    value as f32
}
