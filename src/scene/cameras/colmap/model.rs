//! Sparse models in memory: lenses, and images with poses.

use std::collections::HashMap;
use std::path::Path;

use crate::camera::Intrinsics;
use crate::cameras::camera_file::{distorted, fisheye, panorama_intrinsics};
use quadrille_base::error::{Error, Result};
use quadrille_base::lens::{DistortionModel, Projection};

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
/// for panoramas.
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
    /// Lens with distortion; a perspective one without it is a pinhole.
    Distorted(DistortionModel),
    /// Fisheye that is distorted by a polynomial of the angle.
    Fisheye,
    /// Whole sphere; the parameters repeat the picture's size.
    Panorama,
}

use Family::{Distorted, Fisheye, Panorama};

const PERSPECTIVE: Family = Distorted(DistortionModel::OpenCv);
const DIVISION: Family = Distorted(DistortionModel::Division);
const THIN_PRISM: Family = Distorted(DistortionModel::ThinPrismFisheye);
const RAD_TAN_THIN_PRISM: Family = Distorted(DistortionModel::RadTanThinPrismFisheye);

/// All models of COLMAP, with its numbers.
const MODELS: [LensModel; 19] = [
    lens_model(PERSPECTIVE, 0, "SIMPLE_PINHOLE", 1, 3),
    lens_model(PERSPECTIVE, 1, "PINHOLE", 2, 4),
    lens_model(PERSPECTIVE, 2, "SIMPLE_RADIAL", 1, 4),
    lens_model(PERSPECTIVE, 3, "RADIAL", 1, 5),
    lens_model(PERSPECTIVE, 4, "OPENCV", 2, 8),
    lens_model(Fisheye, 5, "OPENCV_FISHEYE", 2, 8),
    lens_model(PERSPECTIVE, 6, "FULL_OPENCV", 2, 12),
    lens_model(Distorted(DistortionModel::FieldOfView), 7, "FOV", 2, 5),
    lens_model(Fisheye, 8, "SIMPLE_RADIAL_FISHEYE", 1, 4),
    lens_model(Fisheye, 9, "RADIAL_FISHEYE", 1, 5),
    lens_model(THIN_PRISM, 10, "THIN_PRISM_FISHEYE", 2, 12),
    lens_model(RAD_TAN_THIN_PRISM, 11, "RAD_TAN_THIN_PRISM_FISHEYE", 2, MAX_PARAMETERS),
    lens_model(DIVISION, 12, "SIMPLE_DIVISION", 1, 4),
    lens_model(DIVISION, 13, "DIVISION", 2, 5),
    lens_model(Fisheye, 14, "SIMPLE_FISHEYE", 1, 3),
    lens_model(Fisheye, 15, "FISHEYE", 2, 4),
    lens_model(Distorted(DistortionModel::Unified), 16, "EUCM", 2, 6),
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
    /// The projection with the distortion of the lens, a pinhole if there is none.
    pub(super) fn projection(&self) -> Result<Projection> {
        let used = self.model.focal_lengths + 2..self.model.parameters;
        let coefficients = self.parameters.get(used).unwrap_or_default();
        match self.model.family {
            Panorama => Ok(Projection::Equirectangular),
            Fisheye => {
                let k = |at: usize| coefficients.get(at).copied().unwrap_or_default();
                fisheye([k(0), k(1), k(2), k(3)])
            }
            // With a first coefficient of 0, these models are pinholes.
            Distorted(DistortionModel::FieldOfView | DistortionModel::Unified)
                if coefficients[0] == 0.0 =>
            {
                Ok(Projection::Pinhole)
            }
            Distorted(model)
                if model.is_perspective() && coefficients.iter().all(|k| *k == 0.0) =>
            {
                Ok(Projection::Pinhole)
            }
            Distorted(model) => distorted(model, coefficients),
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
