//! Numbers: SIMD levels, elementary functions of lanes, spherical harmonics, splines, axes of covariances, nearest neighbours,
//! large arrays.

mod axes;
pub mod buffer;
mod cast;
mod dual;
mod harmonics;
pub mod lanes;
pub mod neighbours;
pub mod order;
mod sh_rotation;
mod simd_level;
pub mod spline;
pub mod transpose;
pub mod unfused;

pub use axes::axes_of_covariances;
pub use buffer::{CacheLevel, prefetch, prefetch_range, prefetch_to};
pub use cast::{byte, fit, index, low, narrow, whole};
pub use dual::Dual;
pub use harmonics::SH_C0;
pub use harmonics::{SH_SIGN_AXES, ShScalar, sh_basis, sh_colour, sh_terms};
pub use sh_rotation::sh_rotations;
pub use simd_level::SimdLevel;
