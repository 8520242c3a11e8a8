//! Pictures: in memory, in files, and measured against each other.

mod frame;

pub use frame::Frame;
