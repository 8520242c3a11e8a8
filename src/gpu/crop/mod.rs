//! CROP: the colour raster operation unit with blending.

pub(crate) mod blend;
pub mod unit;
