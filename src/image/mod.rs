//! Pictures: in memory, in files, and compared with each other.

#[cfg(feature = "cli")]
pub(crate) mod crop;
pub(crate) mod difference;
mod eight_bit;
pub(crate) mod exposure;
pub(crate) mod files;
#[cfg(feature = "cli")]
pub(crate) mod film;
mod frame;
mod layers;
#[cfg(feature = "cli")]
mod memory;
pub(crate) mod metrics;
pub(crate) mod srgb;

pub use eight_bit::{from_8_bit, to_8_bit};
pub use frame::{ColourSpace, Frame};
pub use layers::{Layer, LayerPicture, TopCount};
#[cfg(feature = "cli")]
pub(crate) use memory::check_memory;
