//! Numbers: SIMD levels and the functions that lanes need, spherical harmonics.

pub(crate) mod buffer;
mod harmonics;
pub(crate) mod lanes;
mod prefetch;
mod simd_level;
pub(crate) mod unfused;

pub use harmonics::SH_C0;
pub(crate) use harmonics::sh_colour;
pub(crate) use prefetch::prefetch;
pub use simd_level::SimdLevel;
