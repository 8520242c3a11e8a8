//! Flags about views, and the cameras that they describe.

use std::convert::Infallible;
use std::path::{Path, PathBuf};

use super::choice::one_of;
use super::console::Verbosity;
use super::interrupt;
use quadrille_base::error::{Error, Result};
use quadrille_base::image::{FRAME_BYTES, check_memory};
use quadrille_base::parse::{finite, numbers, whole_number};
use quadrille_render::convert::JUDGING_ORBIT;
use quadrille_render::viewpoint;
use quadrille_scene::cameras::{
    self, CameraModel, CameraTransform, PictureScale, PictureSize, ViewSpec, Views,
    find_camera_file,
};
use quadrille_scene::{Camera, Splats};
use quadrille_suite::report::cameras::{reproducing_flags, view_flags};

/// Maximum of `--propose-views`.
const MAX_VIEWS: u32 = 100;

/// Flags about views: cameras of a file, a position, or a circle; without them, one view that shows the
/// main content of the scene.
#[derive(Debug, Clone, Default, PartialEq, clap::Args)]
#[command(next_help_heading = "View")]
pub(crate) struct ViewArgs {
    /// Camera file: a cameras.json, a transforms.json, a camera_path.json, poses of ns-export cameras, a
    /// camera track of splat-transform or SuperSplat, or the folder of a COLMAP model [default, if --view
    /// is given: the file that lies beside the scene]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["eye", "target", "up", "orbit"])]
    cameras: Option<PathBuf>,
    /// Views to draw, separated by commas: an index from 0, a name (also as it stands in the file), a
    /// range A..B (excluding B; either end may be omitted), every Nth of a range (..:8), all, or test or train
    /// as the trainers split them: every eighth by name is for tests, unless the file states the split
    /// [default: 0 with --cameras, all with --orbit]
    #[arg(long, value_name = "INDEX|NAME|A..B|..:N|all|test|train")]
    view: Option<String>,
    /// Move the cameras to the world of the scene: a dataparser_transforms.json of nerfstudio; "undo" for
    /// the inverse of the applied_transform in a transforms.json, for scenes trained on the COLMAP model;
    /// "none" [default: the dataparser_transforms.json beside a transforms.json or beside the scene]
    #[arg(long, value_name = "FILE|undo|none", value_parser = parse_transform)]
    transform: Option<CameraTransform>,
    /// Position of the camera in world units [default: chosen to show the main content]
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = parse_point)]
    eye: Option<[f64; 3]>,
    /// Point that the camera looks at [default: the centre of the main content]
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = parse_point)]
    target: Option<[f64; 3]>,
    /// Direction that points up in the picture [default: 0,-1,0 for splats; 0,1,0 for meshes, or
    /// 0,0,1 for meshes that stand along z]
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = parse_point)]
    up: Option<[f64; 3]>,
    /// Vertical field of view in degrees, also of camera files without intrinsics [default: 50]
    #[arg(long, value_name = "DEGREES", value_parser = finite)]
    fov: Option<f64>,
    /// Projection of the pictures, instead of the camera file's [default without a file: pinhole]. --fov also
    /// sets the field of view of a fisheye (up to 340 degrees, 180 by default); a panorama shows the whole
    /// sphere, in 2048 x 1024 pixels unless a size is given
    #[arg(long, value_name = "MODEL", value_parser = one_of::<CameraModel>())]
    camera_model: Option<CameraModel>,
    /// Choose N different views that show much of the scene, the best first
    #[arg(
        long,
        alias = "views",
        value_name = "N",
        value_parser = count_of_views,
        conflicts_with_all = ["cameras", "eye", "target", "orbit"]
    )]
    propose_views: Option<u32>,
    /// Draw N views on a circle around the target, starting at --eye
    #[arg(long, value_name = "N", value_parser = whole_number::<u32>)]
    orbit: Option<u32>,
    /// Width of the picture in pixels; without --height, the height keeps the proportions
    #[arg(long, value_name = "PIXELS", value_parser = whole_number::<u32>)]
    width: Option<u32>,
    /// Height of the picture in pixels; without --width, the width keeps the proportions
    #[arg(long, value_name = "PIXELS", value_parser = whole_number::<u32>)]
    height: Option<u32>,
    /// Factor on both sides of the pictures, such as 1/4 or 0.5, rounded as the trainers round
    #[arg(long, value_name = "FACTOR", conflicts_with_all = ["width", "height"], value_parser = str::parse::<PictureScale>)]
    picture_scale: Option<PictureScale>,
}

/// The choice of the views by which a scene is judged.
#[derive(Debug, Clone)]
pub(crate) struct JudgingViews {
    views: ViewArgs,
    /// The camera file or the flag that the views come from.
    pub(crate) source: String,
    /// Whether files or flags place the views in the world of the scene as it was read.
    pub(crate) is_placed: bool,
}

impl JudgingViews {
    /// The cameras, for a scene of `splats` that was read from `scene`.
    ///
    /// # Errors
    /// As [`ViewArgs::of_scene`].
    pub(crate) fn cameras(
        &self,
        scene: &Path,
        splats: &Splats,
        verbosity: Verbosity,
    ) -> Result<Vec<Camera>> {
        self.views.views(scene, splats, verbosity)
    }

    /// All files that are read.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.views.files()
    }
}

/// The camera file beside a scene. A pipe has no folder.
pub(super) fn cameras_beside(scene: &Path) -> Option<PathBuf> {
    if scene == Path::new("-") {
        return None;
    }
    find_camera_file(scene)
}

impl ViewArgs {
    /// These flags with all views instead of those that a flag selects.
    pub(super) fn of_all(&self) -> Self {
        Self { view: Some("all".to_owned()), ..self.clone() }
    }

    /// These flags with the views of `file`, all of them if no flag selects some.
    pub(super) fn of_file(&self, file: &Path) -> Result<Self> {
        let others = [
            ("--cameras", self.cameras.is_some()),
            ("--propose-views", self.propose_views.is_some()),
        ];
        if let Some((other, _)) = others.iter().find(|(_, is_given)| *is_given) {
            let expected =
                format!("spiral, ellipse or interpolate beside {other}, or a file without it");
            let found = file.display().to_string();
            return Err(Error::argument("--path", expected, found));
        }
        Ok(self.with_file(file).of_all_unless_chosen())
    }

    /// The file of `--cameras`.
    pub(super) fn camera_file(&self) -> Option<&Path> {
        self.cameras.as_deref()
    }

    /// Whether a camera file gives the views of the scene at `scene`, and nothing in the scene decides on them.
    pub(super) fn are_of_file(&self, scene: &Path) -> bool {
        let is_described = self.eye.is_some() || self.target.is_some() || self.orbit.is_some();
        let is_decided = is_described || self.propose_views.is_some();
        let has_file =
            self.cameras.is_some() || self.view.is_some() && cameras_beside(scene).is_some();
        has_file && !is_decided
    }

    /// The views of `--view`.
    pub(super) fn selected(&self) -> Option<&str> {
        self.view.as_deref()
    }

    /// These flags with the cameras of `file`.
    pub(super) fn with_file(&self, file: &Path) -> Self {
        Self { cameras: Some(file.to_path_buf()), ..self.clone() }
    }

    /// These flags with all views, if no flag selects some.
    pub(super) fn of_all_unless_chosen(&self) -> Self {
        match self.view {
            Some(_) => self.clone(),
            None => self.of_all(),
        }
    }

    /// The flags about the world and the lenses of cameras, as words of a command.
    #[cfg(feature = "view")]
    pub(super) fn lens_words(&self) -> Vec<String> {
        let transform = self.transform.as_ref().and_then(|transform| match transform {
            CameraTransform::Found => None,
            CameraTransform::Identity => Some("none".to_owned()),
            CameraTransform::Undo => Some("undo".to_owned()),
            CameraTransform::File(path) => Some(path.display().to_string()),
        });
        let transform = transform.map(|transform| format!("--transform={transform}"));
        let fov = self.fov.map(|fov| format!("--fov={fov}"));
        let model = self.camera_model.map(|model| format!("--camera-model={model}"));
        [transform, fov, model].into_iter().flatten().collect()
    }

    /// Checks the values, before files are read.
    pub(crate) fn check(&self) -> Result<()> {
        self.spec().map(drop)
    }

    /// The description of the views, with checked values.
    pub(crate) fn spec(&self) -> Result<ViewSpec> {
        let spec = ViewSpec {
            cameras: self.cameras.clone(),
            transform: self.transform.clone(),
            selected: self.view.clone(),
            eye: self.eye,
            target: self.target,
            up: self.up,
            fov_degrees: self.fov,
            camera_model: self.camera_model,
            orbit: self.orbit,
            size: self.size(),
        };
        spec.check()?;
        Ok(spec)
    }

    /// The views of a scene of splats, which was read from `scene`.
    pub(crate) fn of_scene(
        &self,
        scene: &Path,
        splats: &Splats,
        verbosity: Verbosity,
    ) -> Result<Views> {
        let mut spec = self.spec()?;
        if let Some(count) = self.propose_views {
            return proposed(&spec, count, splats, verbosity);
        }
        let is_described = spec.eye.is_some() || spec.target.is_some() || spec.orbit.is_some();
        let is_open = spec.cameras.is_none() && !is_described;
        let beside = is_open.then(|| cameras_beside(scene)).flatten();
        if self.view.is_some() {
            spec.cameras = spec.cameras.or_else(|| beside.clone());
        }
        let framing = || viewpoint::framing(splats, &spec, interrupt::task());
        let views = reported(spec.views(Some(scene), framing)?, verbosity);
        if let Some(path) = beside {
            let path = path.display();
            match self.view {
                None => verbosity.note(&format!(
                    "{path} holds cameras of the scene; --view 0 or --view all draws them"
                )),
                Some(_) => verbosity.remark(&format!("cameras of {path}")),
            }
        }
        Ok(views)
    }

    /// As [`Self::of_scene`], but returns only the cameras of the views, and refuses pictures for which there is no
    /// memory.
    pub(crate) fn views(
        &self,
        scene: &Path,
        splats: &Splats,
        verbosity: Verbosity,
    ) -> Result<Vec<Camera>> {
        let cameras = self.of_scene(scene, splats, verbosity)?.cameras;
        let mut sizes = cameras.iter().map(|camera| [camera.width, camera.height]);
        sizes.try_for_each(|size| check_memory(size, FRAME_BYTES))?;
        Ok(cameras)
    }

    /// The views by which the scene at `scene` is judged: never a single one that the program chose. Without flags
    /// that choose views, they are all cameras of the file beside the scene or, without such a file, a circle
    /// of views, unless `refused_by`, the name of a flag, rules that out.
    ///
    /// # Errors
    /// [`Error::Argument`] if `refused_by` needs views that are not given.
    pub(crate) fn judging(
        &self,
        scene: &Path,
        refused_by: Option<&str>,
        verbosity: Verbosity,
    ) -> Result<JudgingViews> {
        let mut chosen = self.clone();
        let has_place = self.eye.is_some() || self.target.is_some() || self.up.is_some();
        let is_chosen = self.propose_views.is_some() || self.orbit.is_some() || self.eye.is_some();
        if self.cameras.is_none() && !is_chosen {
            let beside = (!has_place).then(|| cameras_beside(scene)).flatten();
            let file = scene.display();
            match (beside, refused_by) {
                (Some(path), _) => {
                    verbosity.note(&format!("views: cameras of {}, beside {file}", path.display()));
                    chosen.cameras = Some(path);
                }
                (None, Some(flag)) => {
                    let expected =
                        "--cameras FILE, --orbit N, --propose-views N or --eye X,Y,Z beside it";
                    let found = format!("none of them, and no camera file beside {file}");
                    return Err(Error::argument(flag, expected, found));
                }
                (None, None) => {
                    chosen.orbit = Some(JUDGING_ORBIT);
                    verbosity.note(&format!(
                        "views: a circle of {JUDGING_ORBIT} around the content, since no camera file lies beside \
                         {file} (--cameras, --orbit or --propose-views choose others)"
                    ));
                }
            }
        }
        let source = match (&chosen.cameras, chosen.propose_views, chosen.orbit) {
            (Some(path), _, _) => path.display().to_string(),
            (None, Some(count), _) => format!("--propose-views {count}"),
            (None, None, Some(count)) => format!("--orbit {count}"),
            (None, None, None) => "--eye".to_owned(),
        };
        Ok(JudgingViews {
            source,
            is_placed: has_place || chosen.cameras.is_some(),
            views: chosen.of_all_unless_chosen(),
        })
    }

    /// The description of the views of a mesh.
    pub(crate) fn spec_of_mesh(&self) -> Result<ViewSpec> {
        if self.propose_views.is_some() {
            let expected = "a scene of splats, whose views can be compared";
            return Err(Error::argument("--propose-views", expected, "a mesh"));
        }
        self.spec()
    }

    /// All files that are read.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let transform = match &self.transform {
            Some(CameraTransform::File(path)) => Some(path.as_path()),
            _ => None,
        };
        self.cameras.as_deref().into_iter().chain(transform)
    }

    fn size(&self) -> PictureSize {
        PictureSize { width: self.width, height: self.height, scale: self.picture_scale }
    }
}

/// Views that a search proposes.
fn proposed(spec: &ViewSpec, count: u32, splats: &Splats, verbosity: Verbosity) -> Result<Views> {
    let mut cameras = Vec::new();
    for (view, camera) in viewpoint::proposals(splats, spec, count as usize, interrupt::task())? {
        verbosity.remark(&format!("view {}: {}", camera.name, view_flags(&view)));
        cameras.push(camera);
    }
    let cameras = cameras::select(cameras, spec.selected.as_deref().unwrap_or("all"))?;
    let views = Views { cameras: spec.with_model(cameras)?, ..Views::default() };
    Ok(reported(views, verbosity))
}

fn parse_transform(text: &str) -> std::result::Result<CameraTransform, Infallible> {
    Ok(text.to_owned().into())
}

fn parse_point(text: &str) -> std::result::Result<[f64; 3], String> {
    numbers(text).ok_or_else(|| "expected three numbers such as 1,-2,0.5".to_owned())
}

fn reported(views: Views, verbosity: Verbosity) -> Views {
    report(&views, verbosity);
    views
}

/// Prints remarks and warnings about views.
pub(super) fn report(views: &Views, verbosity: Verbosity) {
    views.remarks.iter().for_each(|remark| verbosity.remark(remark));
    views.warnings.iter().for_each(|warning| verbosity.warn(warning));
    for camera in &views.cameras {
        let [x, y, z] = camera.eye().into();
        let [wide, high] = camera.focal_px;
        verbosity.remark(&format!(
            "view {}: eye {x:.4},{y:.4},{z:.4}, {} x {} pixels, focal length {wide:.2} x {high:.2} pixels",
            camera.name, camera.width, camera.height
        ));
    }
    if let Some(flags) = reproducing_flags(views) {
        verbosity.remark(&format!("flags of this view: {flags}"));
    }
}

fn count_of_views(text: &str) -> std::result::Result<u32, String> {
    let count = whole_number(text).ok().filter(|n| (1..=MAX_VIEWS).contains(n));
    count.ok_or_else(|| format!("expected a whole number from 1 to {MAX_VIEWS}"))
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use nalgebra::Vector3;

    use quadrille_scene::Intrinsics;
    use quadrille_scene::cameras::Framing;
    use quadrille_suite::report::cameras::look_at_flags;

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        views: ViewArgs,
    }

    #[test]
    fn flags_describe_a_camera_to_the_last_bit() {
        let third = 1.0 / 3.0;
        for (points, fov_degrees, size) in [
            (
                [[-third, 0.1, 1e-17], [7e20, -0.0, 2.0], [0.0, -third, third]],
                49.999_999_999_999_99,
                [980, 545],
            ),
            ([[1e-300, -5.5, 3.0], [0.0, 0.1 + 0.2, 0.0], [0.0, 0.0, -1.0]], 1e-3, [1, 32_768]),
        ] {
            let flags = look_at_flags(points, fov_degrees, size);
            let words = std::iter::once("program").chain(flags.split(' '));
            let spec = Program::try_parse_from(words).unwrap().views.spec().unwrap();
            let framing = || Ok(Framing::of(&Splats::from_splats(0, [])));
            let [camera] = &spec.views(None, framing).unwrap().cameras[..] else {
                panic!("{flags}: another number of views");
            };
            let lens = Intrinsics::from_vertical_fov(size[0], size[1], fov_degrees.to_radians());
            let [eye, target, up] = points.map(Vector3::from);
            let expected = Camera::look_at(&*camera.name, lens, eye, target, up).unwrap();
            assert_eq!(camera, &expected, "{flags}");
        }
    }
}
