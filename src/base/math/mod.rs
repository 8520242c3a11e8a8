//! Numbers: SIMD levels, elementary functions of lanes, spherical harmonics, large arrays.

pub mod buffer;
mod harmonics;
pub mod lanes;
mod sh_rotation;
mod simd_level;
pub mod unfused;

pub use buffer::prefetch;
pub use harmonics::SH_C0;
pub use harmonics::{SH_SIGN_AXES, sh_basis, sh_colour};
pub use sh_rotation::sh_rotations;
pub use simd_level::SimdLevel;

/// Converts an index or a length, saturating: no array of the host holds more than `usize::MAX` items.
#[inline(always)]
pub fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Rounds to f32; values beyond its range become infinite.
#[expect(clippy::cast_possible_truncation, reason = "rounding is the point")]
#[inline(always)]
pub const fn narrow(value: f64) -> f32 {
    value as f32
}
