//! Numbers: SIMD levels and the functions that lanes need, spherical harmonics.

pub(crate) mod buffer;
mod harmonics;
pub mod lanes;
mod prefetch;
mod simd_level;
pub mod unfused;

pub use harmonics::{SH_C0, ShScalar, sh_colour};
pub use prefetch::prefetch;
pub use simd_level::SimdLevel;
