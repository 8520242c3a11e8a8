//! Raster units: from primitives to covered pixels.

pub mod coarse;
pub mod coverage;
pub mod fine;
pub mod hi_z;
pub mod screen;
pub mod setup;
