//! Pictures: in memory, in files, and compared with each other.

mod colour_correction;
pub mod crop;
pub mod difference;
mod eight_bit;
pub mod exposure;
pub mod files;
pub mod film;
mod frame;
mod layers;
mod light_mean;
mod memory;
pub mod metrics;
pub mod orientation;
pub mod resize;
pub mod srgb;

pub use colour_correction::ColourCorrection;
pub use eight_bit::{from_8_bit, to_8_bit};
pub use frame::{ColourSpace, Frame, composite_over};
pub use layers::{Layer, LayerPicture, TopCount};
pub use light_mean::LightMean;
pub use memory::{FRAME_BYTES, available_bytes, check_memory, check_memory_beside};
