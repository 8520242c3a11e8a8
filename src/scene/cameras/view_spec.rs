//! Description of the views of a scene, as flags and suite files give it.

use std::path::{Path, PathBuf};

use nalgebra::Vector3;
use serde::Deserialize;

use super::camera_file::CameraFile;
use super::camera_model::CameraModel;
use super::camera_options::CameraOptions;
use super::framing::{EyeRule, Framing, fitting_eye, orbit};
use super::picture_size::PictureSize;
use super::selection::{load_selected, select};
use super::world_transform::CameraTransform;
use crate::camera::{Camera, Intrinsics};
use quadrille_base::error::{Error, Result, shown};

/// Description of views: the cameras of a file, a position, or a circle of positions. Omitted fields follow from the
/// file or from the [`Framing`] of the scene.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ViewSpec {
    /// Camera file, or folder with one. It excludes `eye`, `target`, `up` and `orbit`.
    pub cameras: Option<PathBuf>,
    /// Transform of the cameras of the file; by default [`CameraTransform::Found`].
    pub transform: Option<CameraTransform>,
    /// Selected views, in the syntax of [`select`]; by default the first camera of a file, else all views.
    #[serde(rename = "view")]
    pub selected: Option<String>,
    /// Position of the camera in world space.
    pub eye: Option<[f64; 3]>,
    /// Point that the camera looks at.
    pub target: Option<[f64; 3]>,
    /// Direction that points up in the picture.
    pub up: Option<[f64; 3]>,
    /// Vertical field of view in degrees. A camera file takes it only if it has no intrinsics.
    #[serde(rename = "fov")]
    pub fov_degrees: Option<f64>,
    /// Projection that replaces the projection of the cameras.
    pub camera_model: Option<CameraModel>,
    /// Number of views on the circle through the eye around the target.
    pub orbit: Option<u32>,
    /// Size of the pictures.
    #[serde(flatten)]
    pub size: PictureSize,
}

/// Views of a scene.
#[derive(Debug, Clone, Default)]
pub struct Views {
    /// The cameras: at least one, with distinct names.
    pub cameras: Vec<Camera>,
    /// The name of each camera as it stands in its file; empty without a file.
    pub names_in_file: Vec<String>,
    /// Warnings about ignored or assumed values of the file, one sentence each.
    pub warnings: Vec<String>,
    /// Remarks on values of the file that were applied, one sentence each.
    pub remarks: Vec<String>,
    /// Frames per second that the file states.
    pub frame_rate: Option<f64>,
    /// The camera file.
    pub file: Option<PathBuf>,
    /// Complete description of views whose position follows from the framing.
    pub completed: Option<ViewSpec>,
}

impl ViewSpec {
    /// Checks the values, without the camera file.
    ///
    /// # Errors
    /// [`Error::Argument`] naming the field.
    pub fn check(&self) -> Result<()> {
        let points = [("eye", self.eye), ("target", self.target), ("up", self.up)];
        for (name, point) in points {
            if let Some([x, y, z]) = point.filter(|p| p.iter().any(|n| !n.is_finite())) {
                return Err(Error::argument(name, "three finite numbers", format!("{x},{y},{z}")));
            }
        }
        if self.up == Some([0.0; 3]) {
            return Err(Error::argument("up", "a direction such as 0,0,1", "0,0,0"));
        }
        let is_placed = points.iter().any(|(_, point)| point.is_some()) || self.orbit.is_some();
        if self.cameras.is_some() && is_placed {
            let expected = "either a camera file or eye, target, up and orbit";
            return Err(Error::argument("cameras", expected, "both"));
        }
        match (self.camera_model, self.fov_degrees) {
            (model, Some(fov)) => CameraModel::check_fov(model, fov),
            _ => Ok(()),
        }
    }

    /// Whether the views follow from the description alone, without the main content of a scene.
    pub fn is_fixed(&self) -> bool {
        self.cameras.is_some() || self.eye.is_some() && self.target.is_some()
    }

    /// Returns the views of the scene at `scene`, which is where files beside it are searched. The framing is needed only
    /// without a camera file.
    ///
    /// # Errors
    /// As [`Self::check`], [`load_with`](super::load_with) and [`select`].
    pub fn views(
        &self,
        scene: Option<&Path>,
        framing: impl FnOnce() -> Result<Framing>,
    ) -> Result<Views> {
        self.check()?;
        let mut views = match &self.cameras {
            Some(path) => self.views_in(path, scene)?,
            None => self.described(&framing()?)?,
        };
        views.cameras = self.with_model(views.cameras)?;
        views.warnings.extend(Camera::lens_warning(&views.cameras));
        Ok(views)
    }

    fn views_in(&self, path: &Path, scene: Option<&Path>) -> Result<Views> {
        if path == Path::new("-") {
            let expected = "a file or folder, since its format follows from its name";
            return Err(Error::argument("cameras", expected, "standard input (-)"));
        }
        let fov = self.pinhole_fov_degrees();
        let options = CameraOptions {
            fallback_fov_degrees: fov,
            transform: self.transform.clone().unwrap_or_default(),
            scene: scene.map(Path::to_path_buf),
            ..CameraOptions::default()
        };
        let selected = self.selected.as_deref().unwrap_or("0");
        let (mut file, reshaped) = load_selected(path, selected, self.size, options)?;
        // A lens that replaces the lens of the file has a field of view of its own.
        let replaced = self.camera_model.is_some_and(CameraModel::has_own_fov);
        file.warnings.extend(reshaped.filter(|_| !replaced));
        if fov.is_some() && !file.lacks_intrinsics {
            let found = format!("{}, which has its own", shown(path));
            let expected = "a camera file without intrinsics beside it";
            return Err(Error::argument("fov", expected, found));
        }
        Ok(Views { file: Some(path.to_path_buf()), ..file.into() })
    }

    /// The cameras without a file: `eye` or `auto`, or `orbit_00` and so on.
    fn described(&self, framing: &Framing) -> Result<Views> {
        if self.transform.is_some() {
            let expected = "a camera file (cameras), whose cameras it moves";
            return Err(Error::argument("transform", expected, "none"));
        }
        let intrinsics = self.intrinsics(framing)?;
        let up = Vector3::from(self.up.unwrap_or(framing.up));
        let mut subject = framing.subject;
        if let Some(target) = self.target {
            subject.centre = Vector3::from(target);
        }
        let target = subject.centre;
        let eye = match (self.eye, &framing.eye) {
            (Some(eye), _) => Vector3::from(eye),
            (None, EyeRule::At(eye)) => *eye,
            (None, EyeRule::ForSphere) => subject.default_eye(&intrinsics, up),
            (None, EyeRule::ForPoints { direction, points, origin }) => {
                let origin = Vector3::from(*origin);
                origin + fitting_eye(&intrinsics, target - origin, *direction, up, points)
            }
        };
        let cameras = match self.orbit {
            Some(count) => orbit(count, intrinsics, eye, target, up)?,
            None => {
                let name = if self.eye.is_some() { "eye" } else { "auto" };
                vec![Camera::look_at(name, intrinsics, eye, target, up)?]
            }
        };
        let completed = (!self.is_fixed()).then(|| self.placed([eye, target, up], framing));
        Ok(Views {
            cameras: select(cameras, self.selected.as_deref().unwrap_or("all"))?,
            completed,
            ..Views::default()
        })
    }

    /// The same description with an eye, a target and an up direction, and the field of view that follows from the framing.
    #[must_use]
    pub fn placed(&self, [eye, target, up]: [Vector3<f64>; 3], framing: &Framing) -> Self {
        let default = self.camera_model.is_none_or(|model| !model.has_own_fov());
        Self {
            eye: Some(eye.into()),
            target: Some(target.into()),
            up: Some(up.into()),
            fov_degrees: self.fov_degrees.or(default.then_some(framing.fov_degrees)),
            ..self.clone()
        }
    }

    /// Intrinsics with square pixels.
    ///
    /// # Errors
    /// As [`PictureSize::of`].
    pub fn intrinsics(&self, framing: &Framing) -> Result<Intrinsics> {
        let fov = self.pinhole_fov_degrees().unwrap_or(framing.fov_degrees);
        let [width, height] = self.size.of(framing.size)?;
        Ok(Intrinsics::from_vertical_fov(width, height, fov.to_radians()))
    }

    /// The field of view, unless it belongs to a lens that replaces the pinholes with which views are searched.
    fn pinhole_fov_degrees(&self) -> Option<f64> {
        let has_own = self.camera_model.is_some_and(CameraModel::has_own_fov);
        self.fov_degrees.filter(|_| !has_own)
    }

    /// Replaces the projection of cameras, if the description names one.
    ///
    /// # Errors
    /// As [`PictureSize::of`].
    pub fn with_model(&self, cameras: Vec<Camera>) -> Result<Vec<Camera>> {
        let Some(model) = self.camera_model else { return Ok(cameras) };
        let applied = |camera| model.applied(camera, self.fov_degrees, self.size);
        cameras.into_iter().map(applied).collect()
    }
}

impl From<CameraFile> for Views {
    fn from(file: CameraFile) -> Self {
        Self {
            cameras: file.cameras,
            names_in_file: file.names_in_file,
            warnings: file.warnings,
            remarks: file.remarks,
            frame_rate: file.frame_rate,
            ..Self::default()
        }
    }
}
