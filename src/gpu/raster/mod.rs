//! Raster units: turn primitives into raster tiles with pixel coverage.

pub mod coarse;
pub mod fine;
pub mod hi_z;
pub mod screen;
pub mod setup;
