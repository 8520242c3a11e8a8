//! Pictures: in memory, in files, and measured against each other.

pub mod difference;
mod eight_bit;
pub mod files;
mod frame;
pub mod metrics;

pub use eight_bit::{from_8_bit, to_8_bit};
pub use frame::Frame;
