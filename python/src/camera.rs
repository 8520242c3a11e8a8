//! Python class of cameras, and functions that read camera files.

use pyo3::prelude::*;
use quadrille::nalgebra::{Matrix3, Vector3};
use quadrille::{
    Camera, CameraFile, CameraOptions, CameraTransform, DistortedLens, DistortionModel, Error,
    FisheyeLens, Intrinsics, PictureSize, Projection,
};

use quadrille_scene::cameras::ViewSpec;

use crate::errors::to_python;
use crate::run::run;

/// Square matrix in row-major order.
type Rows<const N: usize> = [[f64; N]; N];

/// Python class of a camera.
#[pyclass(frozen, module = "quadrille._quadrille", name = "Camera")]
#[derive(Debug)]
pub(crate) struct RawCamera(pub(crate) Camera);

/// Names of the projections without coefficients; a fisheye has up to four.
const LENSES: [&str; 4] = ["pinhole", "fisheye", "equirectangular", "orthographic"];

fn projection(lens: &str, coefficients: &[f64]) -> quadrille::Result<Projection> {
    let plain = match lens {
        "pinhole" => Projection::Pinhole,
        "equirectangular" => Projection::Equirectangular,
        "orthographic" => Projection::Orthographic,
        "fisheye" => {
            let expected = "up to 4 numbers";
            let found = format_args!("{coefficients:?}");
            Error::refuse_if(coefficients.len() > 4, "distortion", expected, found)?;
            let k = |at: usize| coefficients.get(at).copied().unwrap_or(0.0);
            return FisheyeLens::new([k(0), k(1), k(2), k(3)]).map(Projection::Fisheye);
        }
        other => {
            let Ok(model) = other.parse::<DistortionModel>() else {
                let models = DistortionModel::ALL.map(DistortionModel::name);
                let expected = format!("one of {}", [&LENSES[..], &models].concat().join(", "));
                return Err(Error::argument("lens", expected, other));
            };
            return DistortedLens::new(model, coefficients).map(Projection::Distorted);
        }
    };
    let expected = format_args!("none for the lens {lens}");
    let is_distorted = !coefficients.is_empty();
    Error::refuse_if(is_distorted, "distortion", expected, format_args!("{coefficients:?}"))?;
    Ok(plain)
}

fn intrinsics((width, height): (u32, u32), k: Rows<3>) -> PyResult<Intrinsics> {
    let is_lens = k[0][1] == 0.0 && k[1][0] == 0.0 && k[2] == [0.0, 0.0, 1.0];
    if !is_lens {
        let expected = "[[fx, 0, cx], [0, fy, cy], [0, 0, 1]]";
        return Err(to_python(Error::argument("K", expected, format!("{k:?}"))));
    }
    Ok(Intrinsics { width, height, focal_px: [k[0][0], k[1][1]], principal_px: [k[0][2], k[1][2]] })
}

#[pymethods]
impl RawCamera {
    #[new]
    fn new(
        size: (u32, u32),
        k: Rows<3>,
        viewmat: Rows<4>,
        name: String,
        lens: &str,
        distortion: Vec<f64>,
    ) -> PyResult<Self> {
        if viewmat[3] != [0.0, 0.0, 0.0, 1.0] {
            let found = format!("{:?}", viewmat[3]);
            return Err(to_python(Error::argument("viewmat: last row", "[0, 0, 0, 1]", found)));
        }
        let rotation = Matrix3::from_fn(|row, column| viewmat[row][column]);
        let translation = Vector3::from_fn(|row, _| viewmat[row][3]);
        let camera = Camera::new(name, intrinsics(size, k)?, rotation, translation);
        let camera = camera.map_err(to_python)?;
        Ok(Self(match projection(lens, &distortion).map_err(to_python)? {
            Projection::Pinhole => camera,
            other => camera.with_projection(other),
        }))
    }

    #[staticmethod]
    fn look_at(
        eye: [f64; 3],
        target: [f64; 3],
        up: [f64; 3],
        size: (u32, u32),
        fov_degrees: f64,
    ) -> PyResult<Self> {
        let (width, height) = size;
        if !(fov_degrees > 0.0 && fov_degrees < 180.0) {
            let expected = "an angle between 0 and 180";
            let found = fov_degrees.to_string();
            return Err(to_python(Error::argument("fov_degrees", expected, found)));
        }
        let view = ViewSpec::pinhole([eye, target, up], fov_degrees, [width, height]);
        view.camera().map(Self).map_err(to_python)
    }

    /// Returns the camera with another picture size. With both sides, each axis is scaled by its own factor; with one side,
    /// the aspect ratio is kept, as on the command line.
    fn resized(&self, width: Option<u32>, height: Option<u32>) -> PyResult<Self> {
        let resized = match (width, height) {
            (Some(width), Some(height)) => self.0.resized(width, height),
            (width, height) => {
                PictureSize { width, height, ..PictureSize::default() }.apply(&self.0)
            }
        };
        resized.map(Self).map_err(to_python)
    }

    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    #[getter]
    fn width(&self) -> u32 {
        self.0.width
    }

    #[getter]
    fn height(&self) -> u32 {
        self.0.height
    }

    #[getter]
    fn lens(&self) -> &'static str {
        match self.0.projection {
            Projection::Pinhole => LENSES[0],
            Projection::Fisheye(_) => LENSES[1],
            Projection::Equirectangular => LENSES[2],
            Projection::Orthographic => LENSES[3],
            Projection::Distorted(lens) => lens.model().name(),
        }
    }

    #[getter]
    fn k(&self) -> Rows<3> {
        let ([fx, fy], [cx, cy]) = (self.0.focal_px, self.0.principal_px);
        [[fx, 0.0, cx], [0.0, fy, cy], [0.0, 0.0, 1.0]]
    }

    #[getter]
    fn viewmat(&self) -> Rows<4> {
        let (r, t) = (&self.0.view_from_world, &self.0.translation_in_view);
        let row = |i: usize| [r[(i, 0)], r[(i, 1)], r[(i, 2)], t[i]];
        [row(0), row(1), row(2), [0.0, 0.0, 0.0, 1.0]]
    }

    /// Coefficients of the lens's distortion.
    #[getter]
    fn distortion(&self) -> Vec<f64> {
        match self.0.projection {
            Projection::Fisheye(lens) => lens.coefficients().to_vec(),
            Projection::Distorted(lens) => lens.coefficients().to_vec(),
            _ => Vec::new(),
        }
    }
}

/// Loads the cameras of a file, or of one part of its train/test split; also returns warnings about the file.
#[pyfunction]
pub(crate) fn load_cameras(
    py: Python<'_>,
    path: std::path::PathBuf,
    transform: Option<String>,
    split: Option<String>,
) -> PyResult<(Vec<RawCamera>, Vec<String>)> {
    let options = CameraOptions {
        transform: transform.map_or(CameraTransform::Found, CameraTransform::from),
        ..CameraOptions::default()
    };
    let file = run(py, |_| {
        let mut file = quadrille::load_cameras_with(&path, &options)?;
        split.as_deref().map_or(Ok(()), |views| file.select(views))?;
        Ok(file)
    })?;
    let warnings = warnings_of(&file);
    Ok((file.cameras.into_iter().map(RawCamera).collect(), warnings))
}

/// Warnings about a camera file, including one for each camera that cannot be drawn.
pub(crate) fn warnings_of(file: &CameraFile) -> Vec<String> {
    let refused = file.refused.iter();
    let refused =
        refused.map(|camera| format!("{} is left out: {}", camera.name_in_file, camera.error));
    file.warnings.iter().cloned().chain(refused).collect()
}
