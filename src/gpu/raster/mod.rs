//! From primitives to the pixels they cover.

pub mod coarse;
pub mod fine;
pub mod hi_z;
pub mod screen;
pub mod setup;
