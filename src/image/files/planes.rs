//! Planes of numbers in picture files: layers beside the colours.

/// One number per pixel, row by row from the top.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plane {
    /// Name of the channel in an `OpenEXR` file; empty, `X`, `Y` or `Z` in an NPY file.
    pub(crate) name: String,
    /// Width and height in pixels.
    pub(crate) size: [u32; 2],
    pub(crate) values: Vec<f64>,
}
