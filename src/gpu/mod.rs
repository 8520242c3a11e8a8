//! The emulated graphics pipeline: functional and timed.

pub mod geometry;
pub mod packets;
pub mod raster;
pub mod warp;
