//! Sparse models in memory: lenses, and images with poses.

use std::collections::HashMap;
use std::path::Path;

use crate::camera::Intrinsics;
use crate::cameras::camera_file::{FileLens, panorama_intrinsics};
use quadrille_base::error::{Error, Result};

const MAX_POLYNOMIAL: usize = 4;
pub(super) const MAX_PARAMETERS: usize = 16;

pub(super) type Lenses = HashMap<u32, Lens>;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct PosedImage {
    pub(super) id: u32,
    pub(super) place: String,
    /// World-to-camera quaternion (w, x, y, z), of any length above zero.
    pub(super) quaternion: [f64; 4],
    pub(super) translation: [f64; 3],
    pub(super) camera_id: u32,
    pub(super) name: String,
}

/// Camera model of COLMAP. Its parameters are one or two focal lengths, the principal point and the distortion, except
/// for panoramas. A perspective camera without distortion is a pinhole; a fisheye never is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LensModel {
    id: i32,
    name: &'static str,
    focal_lengths: usize,
    pub(super) parameters: usize,
    family: Family,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Perspective,
    /// Fisheye that is distorted by a polynomial of the angle.
    Fisheye,
    /// Fisheye with tangential and thin-prism distortion.
    OtherFisheye,
    /// Unified camera model: a pinhole if alpha, the first distortion parameter, is zero.
    Unified,
    /// Whole sphere; the parameters repeat the picture's size.
    Panorama,
}

use Family::{Fisheye, OtherFisheye, Panorama, Perspective, Unified};

/// All models of COLMAP, with its numbers.
const MODELS: [LensModel; 19] = [
    lens_model(Perspective, 0, "SIMPLE_PINHOLE", 1, 3),
    lens_model(Perspective, 1, "PINHOLE", 2, 4),
    lens_model(Perspective, 2, "SIMPLE_RADIAL", 1, 4),
    lens_model(Perspective, 3, "RADIAL", 1, 5),
    lens_model(Perspective, 4, "OPENCV", 2, 8),
    lens_model(Fisheye, 5, "OPENCV_FISHEYE", 2, 8),
    lens_model(Perspective, 6, "FULL_OPENCV", 2, 12),
    lens_model(Perspective, 7, "FOV", 2, 5),
    lens_model(Fisheye, 8, "SIMPLE_RADIAL_FISHEYE", 1, 4),
    lens_model(Fisheye, 9, "RADIAL_FISHEYE", 1, 5),
    lens_model(OtherFisheye, 10, "THIN_PRISM_FISHEYE", 2, 12),
    lens_model(OtherFisheye, 11, "RAD_TAN_THIN_PRISM_FISHEYE", 2, MAX_PARAMETERS),
    lens_model(Perspective, 12, "SIMPLE_DIVISION", 1, 4),
    lens_model(Perspective, 13, "DIVISION", 2, 5),
    lens_model(Fisheye, 14, "SIMPLE_FISHEYE", 1, 3),
    lens_model(Fisheye, 15, "FISHEYE", 2, 4),
    lens_model(Unified, 16, "EUCM", 2, 6),
    lens_model(Panorama, 17, "EQUIRECTANGULAR", 0, 2),
    // Development versions of COLMAP called the equirectangular model by this name.
    lens_model(Panorama, 17, "SPHERICAL", 0, 2),
];

const fn lens_model(
    family: Family,
    id: i32,
    name: &'static str,
    focal_lengths: usize,
    parameters: usize,
) -> LensModel {
    LensModel { id, name, focal_lengths, parameters, family }
}

impl LensModel {
    pub(super) fn by_id(id: i32, path: &Path, place: &str) -> Result<Self> {
        Self::find(|m| m.id == id, &format!("model {id}"), path, place)
    }

    pub(super) fn by_name(name: &str, path: &Path, place: &str) -> Result<Self> {
        Self::find(|m| m.name == name, &format!("{name:.40}"), path, place)
    }

    fn find(is_it: impl Fn(&Self) -> bool, found: &str, path: &Path, place: &str) -> Result<Self> {
        MODELS.into_iter().find(is_it).ok_or_else(|| {
            let names = MODELS.map(|m| format!("{} ({})", m.name, m.id)).join(", ");
            Error::malformed(
                path,
                format!("{place}: camera model"),
                format!("a known model ({names}); `colmap image_undistorter` converts cameras to PINHOLE"),
                found,
            )
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Lens {
    pub(super) model: LensModel,
    pub(super) size_px: [u32; 2],
    pub(super) parameters: [f64; MAX_PARAMETERS],
}

impl Lens {
    pub(super) fn kind(&self) -> FileLens {
        let distortion = &self.parameters[self.model.focal_lengths + 2..];
        let (polynomial, rest) = distortion.split_at(MAX_POLYNOMIAL);
        match self.model.family {
            Family::Perspective if distortion.iter().all(|&k| k == 0.0) => FileLens::Pinhole,
            Family::Unified if distortion[0] == 0.0 => FileLens::Pinhole,
            Family::Perspective | Family::Unified => FileLens::Distorted,
            Family::Panorama => FileLens::Panorama,
            Family::Fisheye if rest.iter().all(|&k| k == 0.0) => {
                let [k1, k2, k3, k4] = [0, 1, 2, 3].map(|k| polynomial[k]);
                FileLens::Fisheye([k1, k2, k3, k4])
            }
            Family::Fisheye | Family::OtherFisheye => FileLens::OtherFisheye,
        }
    }

    pub(super) fn intrinsics(&self) -> Intrinsics {
        if self.model.family == Family::Panorama {
            return panorama_intrinsics(self.size_px);
        }
        let [a, b, c, d, ..] = self.parameters;
        let (focal_px, principal_px) = match self.model.focal_lengths {
            1 => ([a, a], [b, c]),
            _ => ([a, b], [c, d]),
        };
        let [width, height] = self.size_px;
        Intrinsics { width, height, focal_px, principal_px }
    }
}
