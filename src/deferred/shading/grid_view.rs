//! Parameters that all shading grids of a frame share.

use crate::camera::lens::LensShear;

/// Subpixel positions per pixel to which corners are rounded: samples on pixel borders, which standard patterns have,
/// must not fall to either side by chance.
pub(super) const SUBPIXELS: f32 = 256.0;

/// Rule that determines the cells of shading grids.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GridRule {
    /// Cells are the pixels of the picture.
    Pixel,
    /// Adaptive anisotropic shading: larger cells where blur hides detail.
    Adaptive {
        /// Scale of the cells: approximately the side of a cell relative to the width of the blur.
        quality: f64,
    },
}

/// Grid rule, lens and picture geometry, which all shading grids of a frame share.
#[derive(Debug, Clone, Copy)]
pub struct GridView {
    /// Rule for the sizes of cells.
    pub rule: GridRule,
    /// Shear of the lens.
    pub shear: LensShear,
    /// Distance of the near plane in world units.
    pub near: f32,
    /// Column and row of the picture's centre, in pixels.
    pub centre: [f64; 2],
    /// Distance from the picture's centre at which regions of large triangles are clipped, in pixels along each axis.
    pub reach_px: f64,
}
