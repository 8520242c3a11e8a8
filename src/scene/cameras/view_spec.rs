//! Description of the views of a scene in flags and suite files.

use std::path::{Path, PathBuf};

use nalgebra::Vector3;
use serde::Deserialize;

use super::beside;
use super::camera_file::CameraFile;
use super::camera_model::CameraModel;
use super::camera_options::CameraOptions;
use super::framing::{EyeRule, Framing, fitting_eye, orbit};
use super::picture_size::{PictureScale, PictureSize};
use super::selection::{load_selected, select};
use super::view_list::is_of_several;
use super::world_transform::CameraTransform;
use crate::camera::{Camera, Intrinsics};
use crate::splats::Splats;
use quadrille_base::error::{Error, Result, shown};
#[cfg(feature = "cli")]
use quadrille_base::parse::{finite, point, positive, whole_number};

const MAX_PROPOSED: u32 = 100;
/// Largest elevation in degrees: at 90, the line of sight would be along the up direction.
const MAX_ELEVATION: f64 = 89.0;
/// Selects all views, also the single one of a scene without a camera file, for which `all` is an error.
const ALL: &str = "..";

/// Description of views: the cameras of a file, a position, or a circle of positions. Omitted fields follow from the
/// file or from the [`Framing`] of the scene. Flags of commands and keys of suite files have the names of the fields.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(next_help_heading = "View"))]
pub struct ViewSpec {
    /// Camera file: a cameras.json, a transforms.json, a camera_path.json, poses of ns-export cameras, a
    /// camera track of splat-transform or SuperSplat, or the folder of a COLMAP model [default, if views
    /// are selected: the file beside the scene]
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE", conflicts_with_all = ["eye", "target", "up", "orbit"]))]
    pub cameras: Option<PathBuf>,
    /// Views to draw, separated by commas: an index from 0, a name (also as written in the file), a
    /// range A..B (excluding B; either end may be omitted), every Nth of a range (..:8), all, or a part: test,
    /// train or val as the camera file states, else every eighth view by name is a test view, as in the 3DGS
    /// trainer and gsplat. test:nerfstudio, test:10 (every tenth) and test:0.9 (nine tenths for training) are
    /// other splits [default: the first view of a camera file, but all in suites; all views of a circle]
    #[cfg_attr(feature = "cli", arg(long, value_name = "INDEX|NAME|A..B|..:N|all|test|train"))]
    pub view: Option<String>,
    /// Move the cameras to the world of the scene: a dataparser_transforms.json of nerfstudio; "undo" for
    /// the inverse of the applied_transform in a transforms.json, for scenes trained on the COLMAP model;
    /// "none" [default: the dataparser_transforms.json beside a transforms.json or beside the scene]
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE|undo|none"))]
    pub transform: Option<CameraTransform>,
    /// Position of the camera in world units [default: chosen to show the main content]
    #[cfg_attr(feature = "cli", arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = point))]
    pub eye: Option<[f64; 3]>,
    /// Point that the camera looks at [default: the centre of the main content]
    #[cfg_attr(feature = "cli", arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = point))]
    pub target: Option<[f64; 3]>,
    /// Direction that points up in the picture [default: 0,-1,0 for splats; 0,1,0 for meshes, or
    /// 0,0,1 for meshes that stand along z]
    #[cfg_attr(feature = "cli", arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = point))]
    pub up: Option<[f64; 3]>,
    /// Vertical field of view in degrees, also of camera files without intrinsics [default: 50]
    #[serde(rename = "fov")]
    #[cfg_attr(feature = "cli", arg(long = "fov", value_name = "DEGREES", value_parser = finite))]
    pub fov_degrees: Option<f64>,
    /// Projection of the pictures, instead of the camera file's [default without a file: pinhole]. An orthographic
    /// picture shows the plane through the target as the pinhole does. The field of view of a fisheye may be up to
    /// 340 degrees, and is 180 by default; a panorama shows the whole sphere, in 2048 x 1024 pixels unless a size is
    /// given
    #[cfg_attr(feature = "cli", arg(long, value_name = "MODEL"))]
    pub camera_model: Option<CameraModel>,
    /// Choose N different views that show much of the scene, the best first
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "N", value_parser = whole_number::<u32>,
            conflicts_with_all = ["cameras", "eye", "target", "orbit"])
    )]
    pub propose_views: Option<u32>,
    /// Draw N views on a circle around the target, starting at the eye
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", value_parser = whole_number::<u32>))]
    pub orbit: Option<u32>,
    /// Distance of the eye from the target, in world units [default: shows the main content]
    #[cfg_attr(feature = "cli", arg(long, value_name = "DISTANCE", value_parser = positive,
        conflicts_with_all = ["cameras", "eye", "propose_views"]))]
    pub radius: Option<f64>,
    /// Angle of the eye above the plane through the target, in degrees from -89 to 89; the plane is at right angles to
    /// --up [default: that of the automatic view]
    #[cfg_attr(feature = "cli", arg(long, value_name = "DEGREES", value_parser = finite, allow_hyphen_values = true,
        conflicts_with_all = ["cameras", "eye", "propose_views"]))]
    pub elevation: Option<f64>,
    /// Width of the picture in pixels; without a height, the height keeps the proportions
    #[cfg_attr(feature = "cli", arg(long, value_name = "PIXELS", value_parser = whole_number::<u32>))]
    pub width: Option<u32>,
    /// Height of the picture in pixels; without a width, the width keeps the proportions
    #[cfg_attr(feature = "cli", arg(long, value_name = "PIXELS", value_parser = whole_number::<u32>))]
    pub height: Option<u32>,
    /// Scale of width and height of the pictures, such as 1/4 or 0.5, rounded as by the trainers
    #[cfg_attr(feature = "cli", arg(long, value_name = "FACTOR", conflicts_with_all = ["width", "height"]))]
    pub picture_scale: Option<PictureScale>,
}

/// Cameras that a [`ViewSpec`] gives for a scene, with remarks.
#[derive(Debug, Clone, Default)]
pub struct Views {
    /// At least one camera; names are distinct.
    pub cameras: Vec<Camera>,
    /// The name of each camera as it stands in its file; empty without a file.
    pub names_in_file: Vec<String>,
    /// The index by which `--view` selects each camera from its file; empty without a file.
    pub indices_in_file: Vec<usize>,
    /// Warnings about ignored or assumed values of the file, one sentence each.
    pub warnings: Vec<String>,
    /// Remarks on values of the file that were applied, one sentence each.
    pub remarks: Vec<String>,
    /// Frames per second, if the camera file states them.
    pub frame_rate: Option<f64>,
    /// Path of the camera file; `None` if the views come from no file.
    pub file: Option<PathBuf>,
    /// Description completed with the eye, target and field of view that the framing gave; `None` if it gave none.
    pub completed: Option<ViewSpec>,
}

impl ViewSpec {
    /// Describes one pinhole by its eye, target and up direction in world space, its vertical field of view in degrees, and
    /// the width and height of its picture in pixels.
    pub fn pinhole(
        [eye, target, up]: [[f64; 3]; 3],
        fov_degrees: f64,
        [width, height]: [u32; 2],
    ) -> Self {
        Self {
            eye: Some(eye),
            target: Some(target),
            up: Some(up),
            fov_degrees: Some(fov_degrees),
            width: Some(width),
            height: Some(height),
            ..Self::default()
        }
    }

    /// First camera of the description, with the framing of an empty scene.
    ///
    /// # Errors
    /// Errors of [`Self::views`], and [`Error::Argument`] if no view is selected.
    pub fn camera(&self) -> Result<Camera> {
        let views = self.views(None, || Ok(Framing::of(&Splats::from_splats(0, []))))?;
        let camera = views.cameras.into_iter().next();
        camera.ok_or_else(|| Error::argument("view", "at least one view", "none"))
    }

    /// Checks values and conflicts between them, without reading the camera file.
    pub fn check(&self) -> Result<()> {
        let points = [("eye", self.eye), ("target", self.target), ("up", self.up)];
        for (name, point) in points {
            if let Some([x, y, z]) = point.filter(|p| p.iter().any(|n| !n.is_finite())) {
                return Err(Error::argument(name, "three finite numbers", format!("{x},{y},{z}")));
            }
        }
        Error::refuse_if(self.up == Some([0.0; 3]), "up", "a direction such as 0,0,1", "0,0,0")?;
        let is_placed = points.iter().any(|(_, point)| point.is_some()) || self.orbit.is_some();
        if self.cameras.is_some() && is_placed {
            return Err(Error::conflict("cameras", "eye, target, up or orbit"));
        }
        let others = self.cameras.is_some() || self.is_described();
        if let Some(count) = self.propose_views {
            if others {
                return Err(Error::conflict("propose_views", "cameras, eye, target or orbit"));
            }
            if !(1..=MAX_PROPOSED).contains(&count) {
                let expected = format!("a whole number from 1 to {MAX_PROPOSED}");
                return Err(Error::argument("propose_views", expected, count));
            }
        }
        if let Some(degrees) = self.elevation.filter(|degrees| degrees.abs() > MAX_ELEVATION) {
            let expected = format!("degrees from -{MAX_ELEVATION} to {MAX_ELEVATION}");
            return Err(Error::argument("elevation", expected, degrees));
        }
        if let Some(radius) = self.radius.filter(|radius| !(radius.is_finite() && *radius > 0.0)) {
            return Err(Error::argument("radius", "a distance above 0", radius));
        }
        if self.is_moved()
            && (self.cameras.is_some() || self.eye.is_some() || self.propose_views.is_some())
        {
            return Err(Error::conflict("radius and elevation", "cameras, eye or propose_views"));
        }
        if self.picture_scale.is_some() && (self.width.is_some() || self.height.is_some()) {
            return Err(Error::conflict("picture_scale", "width or height"));
        }
        match (self.camera_model, self.fov_degrees) {
            (model, Some(fov)) => CameraModel::check_fov(model, fov),
            _ => Ok(()),
        }
    }

    /// True if the description has a radius or an elevation.
    pub fn is_moved(&self) -> bool {
        self.radius.is_some() || self.elevation.is_some()
    }

    /// True if the description places the camera: by an eye, a target, an orbit, a radius or an elevation.
    pub fn is_described(&self) -> bool {
        self.is_moved() || self.eye.is_some() || self.target.is_some() || self.orbit.is_some()
    }

    /// Camera file beside the scene at `scene`; `None` if the description names another source of views.
    pub fn camera_file_beside(&self, scene: &Path) -> Option<PathBuf> {
        let is_open = self.cameras.is_none() && self.propose_views.is_none();
        (is_open && !self.is_described()).then(|| beside::find(scene)).flatten()
    }

    /// The same description with the camera file beside `scene`, if it selects views and names no source of them.
    #[must_use]
    pub fn beside(&self, scene: &Path) -> Self {
        let file = self.view.as_ref().and_then(|_| self.camera_file_beside(scene));
        Self { cameras: self.cameras.clone().or(file), ..self.clone() }
    }

    /// The same description with `file` as its camera file.
    #[must_use]
    pub fn with_file(&self, file: &Path) -> Self {
        Self { cameras: Some(file.to_path_buf()), ..self.clone() }
    }

    /// The same description with all views selected.
    #[must_use]
    pub fn with_all(&self) -> Self {
        Self { view: Some(ALL.to_owned()), ..self.clone() }
    }

    /// The same description, with all views selected if it selects none.
    #[must_use]
    pub fn with_all_unless_selected(&self) -> Self {
        if self.view.is_some() { self.clone() } else { self.with_all() }
    }

    /// Requested size of the pictures.
    pub fn size(&self) -> PictureSize {
        PictureSize { width: self.width, height: self.height, scale: self.picture_scale }
    }

    /// The same description with pictures of another size.
    #[must_use]
    pub fn with_size(&self, size: PictureSize) -> Self {
        let PictureSize { width, height, scale: picture_scale } = size;
        Self { width, height, picture_scale, ..self.clone() }
    }

    /// Paths of the files that the description names: camera file and transform.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let transform = match &self.transform {
            Some(CameraTransform::File(path)) => Some(path.as_path()),
            _ => None,
        };
        self.cameras.as_deref().into_iter().chain(transform)
    }

    /// Mutable paths of [`Self::files`], for resolving relative paths.
    pub fn files_mut(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        let transform = match &mut self.transform {
            Some(CameraTransform::File(path)) => Some(path),
            _ => None,
        };
        self.cameras.iter_mut().chain(transform)
    }

    /// Command-line flags that reproduce the position and the lens to the last bit.
    pub fn flags(&self) -> String {
        let points = [("eye", self.eye), ("target", self.target), ("up", self.up)];
        let points = points.into_iter().filter_map(|(flag, point)| {
            let [x, y, z] = point?;
            Some(format!("--{flag} {x},{y},{z}"))
        });
        let fov = self.fov_degrees.map(|fov| format!("--fov {fov}"));
        let orbit = self.orbit.map(|count| format!("--orbit {count}"));
        let model = self.camera_model.map(|model| format!("--camera-model {model}"));
        points.chain(fov).chain(orbit).chain(model).collect::<Vec<_>>().join(" ")
    }

    /// Returns the cameras that the description selects; all of them without a selection.
    ///
    /// # Errors
    /// Errors of [`select`].
    pub fn select(&self, cameras: Vec<Camera>) -> Result<Vec<Camera>> {
        select(cameras, self.view.as_deref().unwrap_or(ALL))
    }

    /// True if the views do not depend on the main content of the scene.
    pub fn is_fixed(&self) -> bool {
        let is_in_file = self.cameras.is_some() && !self.is_orthographic();
        is_in_file || self.eye.is_some() && self.target.is_some()
    }

    /// Returns the cameras of the camera file, or without one those that the description and `framing` give. `scene` is the
    /// path of the scene, beside which a world transform may lie.
    pub fn views(
        &self,
        scene: Option<&Path>,
        framing: impl FnOnce() -> Result<Framing>,
    ) -> Result<Views> {
        self.check()?;
        let (mut views, framing) = match &self.cameras {
            Some(path) => {
                let views = self.views_in(path, scene)?;
                (views, self.is_orthographic().then(framing).transpose()?)
            }
            None => {
                let framing = framing()?;
                (self.described(&framing)?, Some(framing))
            }
        };
        let centre = framing.map(|framing| framing.subject.centre);
        let target = self.target.map(Vector3::from).or(centre).unwrap_or_default();
        let cameras = views.cameras.into_iter().map(|camera| self.with_model(camera, target));
        views.cameras = cameras.collect::<Result<_>>()?;
        views.warnings.extend(Camera::lens_warning(&views.cameras));
        Ok(views)
    }

    fn views_in(&self, path: &Path, scene: Option<&Path>) -> Result<Views> {
        let expected = "a file or folder, since its format follows from its name";
        Error::refuse_if(path == Path::new("-"), "cameras", expected, "standard input (-)")?;
        let fov = self.pinhole_fov_degrees();
        let options = CameraOptions {
            fallback_fov_degrees: fov,
            transform: self.transform.clone().unwrap_or_default(),
            scene: scene.map(Path::to_path_buf),
            ..CameraOptions::default()
        };
        let selected = self.view.as_deref().unwrap_or("0");
        let (mut file, reshaped) = load_selected(path, selected, self.size(), options)?;
        // A lens that replaces the lens of the file has a field of view of its own.
        let replaced = self.camera_model.is_some_and(CameraModel::has_own_fov);
        file.warnings.extend(reshaped.filter(|_| !replaced));
        if fov.is_some() && !file.lacks_intrinsics {
            let other = format!("{}, whose cameras have their own", shown(path));
            return Err(Error::conflict("fov", other));
        }
        Ok(Views { file: Some(path.to_path_buf()), ..file.into() })
    }

    /// Cameras of a description without a camera file, named `eye`, `auto` or `orbit_00` onwards.
    fn described(&self, framing: &Framing) -> Result<Views> {
        if self.transform.is_some() {
            return Err(Error::needs("transform", "a camera file, whose cameras it moves"));
        }
        if let Some(view) =
            self.view.as_ref().filter(|list| self.orbit.is_none() && is_of_several(list))
        {
            let expected = "an index or a name, unless there is a camera file (cameras: FILE, or a file beside the \
                            scene) or an orbit with several views";
            return Err(Error::argument("view", expected, format!("\"{view}\"")));
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
        // Only with such a flag, since the sum would round the eye.
        let eye = if self.is_moved() { target + self.target_to_eye(eye - target, up) } else { eye };
        let up = match self.up {
            Some(_) => up,
            None => up_across(up, target - eye),
        };
        let mut cameras = match self.orbit {
            Some(count) => orbit(count, intrinsics, eye, target, up)?,
            None => {
                let name = if self.eye.is_some() { "eye" } else { "auto" };
                vec![Camera::look_at(name, intrinsics, eye, target, up)?]
            }
        };
        let completed = (!self.is_fixed()).then(|| self.placed([eye, target, up], framing));
        if self.eye.is_none() {
            let limit = subject.near_limit((eye - target).norm());
            cameras.iter_mut().for_each(|camera| camera.near_limit = Some(limit));
        }
        let is_automatic = self.orbit.is_none() && self.eye.is_none();
        let warnings = match self.view.as_deref() {
            Some(view) if is_automatic && view != ALL => vec![format!(
                "view \"{view}\" is the automatic view, since no camera file or orbit gives others"
            )],
            _ => Vec::new(),
        };
        Ok(Views { cameras: self.select(cameras)?, completed, warnings, ..Views::default() })
    }

    /// Vector from the target to the eye, with the radius and the elevation of the description in place of those of
    /// `automatic`.
    fn target_to_eye(&self, automatic: Vector3<f64>, up: Vector3<f64>) -> Vector3<f64> {
        let radius = self.radius.unwrap_or_else(|| automatic.norm());
        let direction = automatic.normalize();
        let Some(elevation) = self.elevation else { return direction * radius };
        let up = up.normalize();
        let flat = direction - up * direction.dot(&up);
        // An eye above the target has no direction in the plane: any will do.
        let flat = flat.try_normalize(1e-9).unwrap_or_else(|| {
            let axis = Vector3::ith(up.iamin(), 1.0);
            (axis - up * axis.dot(&up)).normalize()
        });
        let (sin, cos) = elevation.to_radians().sin_cos();
        (flat * cos + up * sin) * radius
    }

    /// The same description with an eye, a target, an up direction, and the field of view of the framing if it has none.
    #[must_use]
    pub fn placed(&self, [eye, target, up]: [Vector3<f64>; 3], framing: &Framing) -> Self {
        let default = self.camera_model.is_none_or(|model| !model.has_own_fov());
        Self {
            eye: Some(eye.into()),
            target: Some(target.into()),
            up: Some(up.into()),
            radius: None,
            elevation: None,
            fov_degrees: self.fov_degrees.or(default.then_some(framing.fov_degrees)),
            ..self.clone()
        }
    }

    /// Intrinsics with square pixels; omitted values are taken from `framing`.
    pub fn intrinsics(&self, framing: &Framing) -> Result<Intrinsics> {
        let fov = self.pinhole_fov_degrees().unwrap_or(framing.fov_degrees);
        let [width, height] = self.size().of(framing.size)?;
        Ok(Intrinsics::from_vertical_fov(width, height, fov.to_radians()))
    }

    /// Field of view in degrees, unless it is of a fisheye that replaces the pinholes afterwards.
    fn pinhole_fov_degrees(&self) -> Option<f64> {
        let has_own = self.camera_model.is_some_and(CameraModel::has_own_fov);
        self.fov_degrees.filter(|_| !has_own)
    }

    /// Replaces the projection of a camera that looks at `target`, if the description names one.
    ///
    /// # Errors
    /// [`Error::Argument`] for sizes out of range, and for an orthographic camera at its target.
    pub fn with_model(&self, camera: Camera, target: Vector3<f64>) -> Result<Camera> {
        let Some(model) = self.camera_model else { return Ok(camera) };
        model.applied(camera, self.fov_degrees, self.size(), target)
    }

    /// Whether the description names orthographic cameras, whose scale is that of their target.
    pub fn is_orthographic(&self) -> bool {
        self.camera_model == Some(CameraModel::Orthographic)
    }
}

impl From<CameraFile> for Views {
    fn from(file: CameraFile) -> Self {
        Self {
            cameras: file.cameras,
            names_in_file: file.names_in_file,
            indices_in_file: file.indices,
            warnings: file.warnings,
            remarks: file.remarks,
            frame_rate: file.frame_rate,
            ..Self::default()
        }
    }
}

/// The up direction of the framing, or another axis if it is along the line of sight, as in a view from above.
fn up_across(up: Vector3<f64>, sight: Vector3<f64>) -> Vector3<f64> {
    /// Largest sine of the angle between directions that count as parallel.
    const PARALLEL: f64 = 1e-6;
    let is_across =
        |up: &Vector3<f64>| up.cross(&sight).norm() > PARALLEL * up.norm() * sight.norm();
    let others = [Vector3::y(), Vector3::z()].map(|axis| axis * up.sum().signum());
    std::iter::once(up).chain(others).find(is_across).unwrap_or(up)
}
