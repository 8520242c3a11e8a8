//! Planes of numbers in picture files: layers beside the colours.

use std::path::Path;

use super::{PictureFormat, content_of, exr, npy};
use crate::error::{Error, Result};

/// One number per pixel, row by row from the top.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plane {
    /// Name of the channel in an `OpenEXR` file; empty, `X`, `Y` or `Z` in an NPY file.
    pub(crate) name: String,
    /// Width and height in pixels.
    pub(crate) size: [u32; 2],
    pub(crate) values: Vec<f64>,
}

/// Reads the planes of the file `path`: the channels of an `OpenEXR` file besides R, G, B and A, or an
/// NPY file of H x W or H x W x 3 numbers.
pub(crate) fn read(path: &Path) -> Result<Vec<Plane>> {
    let file = std::fs::File::open(path).map_err(|e| Error::read(path, e))?;
    let content = content_of(file, path)?;
    match PictureFormat::of_content(&content) {
        Some(PictureFormat::Exr) => exr::decode_planes(&content, path),
        Some(PictureFormat::Npy) => npy::decode_planes(&content, path),
        _ => {
            let expected = "layers: an OpenEXR or NPY file";
            Err(Error::malformed(
                path,
                "first bytes",
                expected,
                "another format",
            ))
        }
    }
}
