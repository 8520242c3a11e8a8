//! CROP: the colour raster operation unit with blending.

mod blend;
pub mod unit;
