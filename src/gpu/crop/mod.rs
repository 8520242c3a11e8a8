//! CROP, the colour raster operation unit: blends shaded quads into the colour buffer.

pub(crate) mod blend;
pub mod unit;
