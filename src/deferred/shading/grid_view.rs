//! Parameters that the shading grids of all triangles of a frame share.

use crate::camera::lens::LensShear;

/// Corners are rounded to this many subpixel positions per pixel: samples on pixel borders, which standard
/// patterns have, must not fall to either side by chance.
pub(super) const SUBPIXELS: f32 = 256.0;

/// The rule by which the cells of a grid are chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GridRule {
    /// The pixels of the picture.
    Pixel,
    /// Adaptive anisotropic shading: larger cells where blur hides detail.
    Adaptive {
        /// Scale of the cells: about the cell's side over the width of the blur.
        quality: f64,
    },
}

/// Grid rule, lens and picture geometry, which the grids of all triangles of a frame share.
#[derive(Debug, Clone, Copy)]
pub struct GridView {
    /// The rule of the cells.
    pub rule: GridRule,
    /// Shear of the lens.
    pub shear: LensShear,
    /// Distance of the near plane.
    pub near: f32,
    /// Column and row of the picture's centre, in pixels.
    pub centre: [f64; 2],
    /// Distance from the picture's centre at which regions of large triangles are clipped, in pixels along each axis.
    pub reach_px: f64,
}
