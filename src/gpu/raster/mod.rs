//! From primitives to the pixels they cover.

pub mod coarse;
pub mod fine;
pub mod hi_z;
pub mod outline;
pub mod polygon;
pub mod sampled;
pub mod samples;
pub mod setup;
pub mod spans;
