//! Pictures: in memory, in files, and measured against each other.

mod eight_bit;
pub mod files;
mod frame;

pub use eight_bit::{from_8_bit, to_8_bit};
pub use frame::Frame;
