//! CROP: the colour raster operation unit and its cache.

mod blend;
pub mod cache;
pub mod unit;
