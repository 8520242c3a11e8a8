//! COLMAP's camera models: how many parameters each has, and which of them make a pinhole.

use std::path::Path;

use crate::error::{Error, Result};
use crate::scene::camera::Intrinsics;

/// Most parameters of a camera model.
pub(super) const MAX_PARAMETERS: usize = 12;

/// How a model gives its focal length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Focal {
    /// f, cx, cy, then distortion.
    One,
    /// fx, fy, cx, cy, then distortion.
    Two,
}

/// A perspective camera model: a pinhole when the parameters beyond the focal lengths and the
/// principal point are zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Model {
    id: i32,
    name: &'static str,
    focal: Focal,
    /// Number of parameters, distortion included.
    pub(super) parameters: usize,
}

/// The perspective models, by COLMAP's numbers. Fisheye models are none: their rays bend even
/// with all distortion parameters at zero.
const MODELS: [Model; 7] = [
    model(0, "SIMPLE_PINHOLE", Focal::One, 3),
    model(1, "PINHOLE", Focal::Two, 4),
    model(2, "SIMPLE_RADIAL", Focal::One, 4),
    model(3, "RADIAL", Focal::One, 5),
    model(4, "OPENCV", Focal::Two, 8),
    model(6, "FULL_OPENCV", Focal::Two, MAX_PARAMETERS),
    model(7, "FOV", Focal::Two, 5),
];

const fn model(id: i32, name: &'static str, focal: Focal, parameters: usize) -> Model {
    Model {
        id,
        name,
        focal,
        parameters,
    }
}

impl Model {
    /// The model of COLMAP's number `id`.
    pub(super) fn by_id(id: i32, path: &Path, place: &str) -> Result<Self> {
        let found = MODELS.into_iter().find(|m| m.id == id);
        found.ok_or_else(|| unknown(path, place, &format!("model {id}")))
    }

    /// The model called `name`.
    pub(super) fn by_name(name: &str, path: &Path, place: &str) -> Result<Self> {
        let found = MODELS.into_iter().find(|m| m.name == name);
        found.ok_or_else(|| unknown(path, place, &format!("{name:.40}")))
    }
}

fn unknown(path: &Path, place: &str, found: &str) -> Error {
    let names = MODELS.map(|m| format!("{} ({})", m.name, m.id)).join(", ");
    Error::file(
        path,
        format!("{place}: camera model"),
        format!("a perspective model ({names}); `colmap image_undistorter` makes one"),
        found,
    )
}

/// The lens of a camera, with what its file says about distortion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Lens {
    model: Model,
    size_px: [u32; 2],
    parameters: [f64; MAX_PARAMETERS],
}

impl Lens {
    /// A lens of `model`; `parameters` beyond the model's number are zero.
    pub(super) fn new(model: Model, size_px: [u32; 2], parameters: [f64; MAX_PARAMETERS]) -> Self {
        Self {
            model,
            size_px,
            parameters,
        }
    }

    /// Whether some distortion parameter is not zero.
    pub(super) fn is_distorted(&self) -> bool {
        let pinhole = match self.model.focal {
            Focal::One => 3,
            Focal::Two => 4,
        };
        self.parameters[pinhole..].iter().any(|&k| k != 0.0)
    }

    /// The pinhole of this lens, distortion ignored.
    pub(super) fn intrinsics(&self) -> Intrinsics {
        let [a, b, c, d, ..] = self.parameters;
        let (focal_px, principal_px) = match self.model.focal {
            Focal::One => ([a, a], [b, c]),
            Focal::Two => ([a, b], [c, d]),
        };
        Intrinsics {
            width: self.size_px[0],
            height: self.size_px[1],
            focal_px,
            principal_px,
        }
    }
}
