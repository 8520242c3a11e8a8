//! Planes of numbers in picture files, such as depth and normals.

/// One number per pixel, row by row from the top.
#[derive(Debug, Clone, PartialEq)]
pub struct Plane {
    /// Name of the channel in an `OpenEXR` file; empty, `X`, `Y` or `Z` in an NPY file.
    pub name: String,
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Values, row by row from the top.
    pub values: Vec<f64>,
}
