//! CROP: the colour raster operation unit with blending.

pub(crate) mod blend;
pub(crate) mod places;
pub mod unit;
