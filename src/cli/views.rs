//! Flags about views, and the cameras that they describe.

use std::path::{Path, PathBuf};

use super::choice::one_of;
use super::camera_model::{CameraModel, check_fov, parse_fov};
use super::console::Verbosity;
use super::outputs::parse_numbers;
use super::usage::whole;
use quadrille_base::error::{Error, Result};
use quadrille_base::image::check_memory;
use quadrille_mesh::files::FileCamera;
use quadrille_render::viewpoint;
use quadrille_scene::cameras::{
    self, CameraOptions, CameraTransform, DEFAULT_SIDE_PX, DescribedViews, Framing, PictureScale,
    PictureSize, find_camera_file, load_selected,
};
use quadrille_scene::{Camera, Splats};

/// Maximum of `--propose-views`.
const MAX_VIEWS: u32 = 100;

/// Flags about views: cameras of a file, a position, or a circle; without them, one view that shows the
/// main content of the scene.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "View")]
pub(crate) struct ViewArgs {
    /// Camera file: a cameras.json, a transforms.json, a camera_path.json, poses of ns-export cameras, a
    /// camera track of splat-transform or SuperSplat, or the folder of a COLMAP model [default, if --view
    /// is given: the file that lies beside the scene]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["eye", "target", "up", "orbit"])]
    cameras: Option<PathBuf>,
    /// Views to draw, separated by commas: an index from 0, a name (also as it stands in the file), a
    /// range A..B (excluding B; either end may be omitted), every Nth of a range (..:8) or all
    /// [default: 0 with --cameras, all with --orbit]
    #[arg(long, value_name = "INDEX|NAME|A..B|..:N|all")]
    view: Option<String>,
    /// Move the cameras to the world of the scene: a dataparser_transforms.json of nerfstudio; "undo" for
    /// the inverse of the applied_transform in a transforms.json, for scenes trained on the COLMAP model;
    /// "none" [default: the dataparser_transforms.json beside a transforms.json or beside the scene]
    #[arg(long, value_name = "FILE|undo|none")]
    transform: Option<PathBuf>,
    /// Position of the camera in world units [default: chosen to show the main content]
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = parse_point)]
    eye: Option<[f64; 3]>,
    /// Point that the camera looks at [default: the centre of the main content]
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = parse_point)]
    target: Option<[f64; 3]>,
    /// Direction that points up in the picture [default: 0,-1,0 for splats; 0,1,0 for meshes, or
    /// 0,0,1 for those that stand along z]
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = parse_direction)]
    up: Option<[f64; 3]>,
    /// Vertical field of view in degrees, also of camera files without intrinsics [default: 50]
    #[arg(long, value_name = "DEGREES", value_parser = parse_fov)]
    fov: Option<f64>,
    /// Projection of the pictures, instead of that of the camera file [default without a file: pinhole].
    /// --fov is that of a fisheye too (up to 340 degrees, 180 by default); a panorama shows the whole
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
    #[arg(long, value_name = "N", value_parser = whole::<u32>)]
    orbit: Option<u32>,
    /// Width of the picture in pixels; without --height, the height keeps the proportions
    #[arg(long, value_name = "PIXELS", value_parser = whole::<u32>)]
    width: Option<u32>,
    /// Height of the picture in pixels; without --width, the width keeps the proportions
    #[arg(long, value_name = "PIXELS", value_parser = whole::<u32>)]
    height: Option<u32>,
    /// Factor on both sides of the pictures, such as 1/4 or 0.5, rounded as the trainers round
    #[arg(long, value_name = "FACTOR", conflicts_with_all = ["width", "height"], value_parser = str::parse::<PictureScale>)]
    picture_scale: Option<PictureScale>,
}

/// The views that flags choose.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChosenViews {
    /// At least one, with distinct names.
    pub(crate) cameras: Vec<Camera>,
    /// The name of each camera as it stands in its file; empty without a file.
    pub(crate) names_in_file: Vec<String>,
    /// Flags that reproduce views that the program chose in part.
    pub(crate) flags: Option<String>,
    /// Frames per second that a camera file states.
    pub(crate) frame_rate: Option<f64>,
    /// The camera file.
    pub(crate) file: Option<PathBuf>,
}

impl ViewArgs {
    /// The up direction that is given, or +y for a line of sight along z, which cannot be up.
    pub(super) fn up(&self) -> Option<[f64; 3]> {
        let sight = self.eye.zip(self.target);
        let is_along_z = sight.is_some_and(|(eye, target)| eye[..2] == target[..2]);
        self.up.or(is_along_z.then_some([0.0, 1.0, 0.0]))
    }

    /// These flags with all views instead of those that a flag selects.
    pub(super) fn of_all(&self) -> Self {
        Self {
            view: Some("all".to_owned()),
            ..self.clone()
        }
    }

    /// These flags with the views of `file`, all of them if no flag selects some.
    pub(super) fn of_file(&self, file: &Path) -> Result<Self> {
        if let Some(other) = &self.cameras {
            let expected = "spiral, ellipse or interpolate beside --cameras, or a file without it";
            let found = format!("{} beside {}", file.display(), other.display());
            return Err(Error::argument("--path", expected, found));
        }
        let file = Self {
            cameras: Some(file.to_path_buf()),
            ..self.clone()
        };
        Ok(file.of_all_unless_chosen())
    }

    /// These flags with all views, if no flag selects some.
    pub(super) fn of_all_unless_chosen(&self) -> Self {
        match self.view {
            Some(_) => self.clone(),
            None => self.of_all(),
        }
    }

    /// The views of a scene of splats, which was read from `scene`.
    pub(crate) fn of_scene(
        &self,
        scene: &Path,
        splats: &Splats,
        verbosity: Verbosity,
    ) -> Result<ChosenViews> {
        if let Some(count) = self.propose_views {
            return self.proposed(count, splats, verbosity);
        }
        let framing = || viewpoint::framing(splats, &self.described());
        let is_described = self.eye.is_some() || self.target.is_some() || self.orbit.is_some();
        if self.cameras.is_some() || is_described {
            return self.chosen(Some(scene), framing, verbosity);
        }
        let Some(beside) = find_camera_file(scene) else {
            return self.chosen(Some(scene), framing, verbosity);
        };
        if self.view.is_none() {
            verbosity.remark(&format!(
                "{} holds cameras; --view 0 or --view all draws them",
                beside.display()
            ));
            return self.chosen(Some(scene), framing, verbosity);
        }
        verbosity.remark(&format!("cameras of {}", beside.display()));
        let found = Self {
            cameras: Some(beside),
            ..self.clone()
        };
        found.chosen(Some(scene), framing, verbosity)
    }

    /// As [`Self::of_scene`], but returns only the cameras of the views.
    pub(crate) fn views(
        &self,
        scene: &Path,
        splats: &Splats,
        verbosity: Verbosity,
    ) -> Result<Vec<Camera>> {
        Ok(self.of_scene(scene, splats, verbosity)?.cameras)
    }

    /// As [`Self::views`], but all cameras of a file if no flag chooses some.
    pub(crate) fn all_views(
        &self,
        scene: &Path,
        splats: &Splats,
        verbosity: Verbosity,
    ) -> Result<Vec<Camera>> {
        let mut all = self.clone();
        if all.cameras.is_some() || all.orbit.is_some() {
            all.view.get_or_insert_with(|| "all".to_owned());
        }
        all.views(scene, splats, verbosity)
    }

    /// The view that follows each of `cameras`, which these flags select: the next one of the file or
    /// circle. For the last view it is the one before it, seen from the other side: `true` tells so.
    pub(crate) fn following(
        &self,
        cameras: &[Camera],
        framing: impl FnOnce() -> Framing,
    ) -> Result<Vec<(Camera, bool)>> {
        let all = self.of_all().views_of(framing, Verbosity::QUIET)?;
        let after = |camera: &Camera| {
            let at = all.iter().position(|other| other.name == camera.name)?;
            let next = all.get(at + 1).map(|next| (next.clone(), false));
            next.or_else(|| Some((all.get(at.checked_sub(1)?)?.clone(), true)))
        };
        let found: Option<Vec<_>> = cameras.iter().map(after).collect();
        found.ok_or_else(|| {
            let expected = "several views (--cameras with a file of several, or --orbit)";
            Error::argument("--shutter", expected, "one view")
        })
    }

    /// The cameras of a scene with this `framing`, which is needed only without a camera file.
    pub(crate) fn views_of(
        &self,
        framing: impl FnOnce() -> Framing,
        verbosity: Verbosity,
    ) -> Result<Vec<Camera>> {
        if self.propose_views.is_some() {
            let expected = "a scene of splats, whose views can be compared";
            return Err(Error::argument("--propose-views", expected, "a mesh"));
        }
        let mut cameras = self.chosen(None, framing, verbosity)?.cameras;
        let others = cameras
            .iter_mut()
            .filter(|camera| !camera.projection.is_pinhole());
        let mut count = 0;
        for camera in others {
            *camera = camera.as_pinhole();
            count += 1;
        }
        if count > 0 {
            verbosity.warn(&format!(
                "{count} fisheyes or panoramas are drawn as pinholes, the only projection of meshes"
            ));
        }
        Ok(cameras)
    }

    /// Replaces the projection, if a flag asks for it.
    fn with_model(&self, cameras: Vec<Camera>) -> Result<Vec<Camera>> {
        let Some(model) = self.camera_model else {
            return Ok(cameras);
        };
        let replace = |camera| model.replace(camera, self.fov, self.size());
        cameras.into_iter().map(replace).collect()
    }

    /// Whether `--fov` belongs to a lens that replaces the pinhole cameras of the view search.
    fn has_own_fov(&self) -> bool {
        self.camera_model.is_some_and(CameraModel::has_own_fov)
    }

    /// The cameras of a mesh: the cameras of its own file that `--view` selects or, if other flags describe
    /// views, the result of [`Self::views_of`].
    pub(crate) fn of_mesh(
        &self,
        file: &[FileCamera],
        framing: impl FnOnce() -> Framing,
        verbosity: Verbosity,
    ) -> Result<Vec<Camera>> {
        let is_described = self.eye.is_some() || self.target.is_some() || self.orbit.is_some();
        let is_described = is_described || self.cameras.is_some() || self.up.is_some();
        if file.is_empty() || is_described {
            return self.views_of(framing, verbosity);
        }
        let Some(view) = &self.view else {
            let names: Vec<_> = file.iter().map(|camera| camera.name.as_str()).collect();
            verbosity.remark(&format!(
                "the file holds cameras: {} (--view 0 or --view all draws them)",
                names.join(", ")
            ));
            return self.views_of(framing, verbosity);
        };
        if self.fov.is_some() {
            let expected = "--eye beside it: the file's cameras have their own";
            return Err(Error::argument("--fov", expected, "--view alone"));
        }
        let [_, height] = DEFAULT_SIDE_PX;
        let sized = file.iter().map(|camera| {
            let width = f64::from(height) * camera.aspect.unwrap_or(1.0);
            // Casts of floats saturate, and the size is checked.
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let [width, height] = self.size().of([width.round().max(1.0) as u32, height])?;
            camera.with_size(width, height)
        });
        let chosen = ChosenViews {
            cameras: cameras::select(sized.collect::<Result<_>>()?, view)?,
            ..ChosenViews::default()
        };
        Ok(checked(chosen, verbosity)?.cameras)
    }

    fn chosen(
        &self,
        scene: Option<&Path>,
        framing: impl FnOnce() -> Framing,
        verbosity: Verbosity,
    ) -> Result<ChosenViews> {
        check_fov(self.camera_model, self.fov)?;
        let chosen = match &self.cameras {
            None => self.described_views(&framing())?,
            Some(path) if path == Path::new("-") => {
                let expected = "a file or folder, since its format follows from its name";
                return Err(Error::argument("--cameras", expected, "standard input (-)"));
            }
            Some(path) => self.views_in(path, scene, verbosity)?,
        };
        let cameras = self.with_model(chosen.cameras)?;
        checked(ChosenViews { cameras, ..chosen }, verbosity)
    }

    /// Views that a search proposes.
    fn proposed(&self, count: u32, splats: &Splats, verbosity: Verbosity) -> Result<ChosenViews> {
        check_fov(self.camera_model, self.fov)?;
        let proposals = viewpoint::proposals(splats, &self.described(), count as usize)?;
        let mut cameras = Vec::new();
        for (view, camera) in proposals {
            verbosity.remark(&format!("view {}: {}", camera.name, flags_of(&view)));
            cameras.push(camera);
        }
        let chosen = ChosenViews {
            cameras: cameras::select(cameras, self.view.as_deref().unwrap_or("all"))?,
            ..ChosenViews::default()
        };
        let cameras = self.with_model(chosen.cameras)?;
        checked(ChosenViews { cameras, ..chosen }, verbosity)
    }

    fn described_views(&self, framing: &Framing) -> Result<ChosenViews> {
        if let Some(transform) = &self.transform {
            let expected = "--cameras beside it, or --view with a camera file beside the scene";
            let found = transform.display().to_string();
            return Err(Error::argument("--transform", expected, found));
        }
        let (mut resolved, described) = self.described().resolved(framing)?;
        if self.has_own_fov() {
            resolved.fov_degrees = self.fov;
        }
        let model = self.camera_model.map_or(String::new(), CameraModel::flag);
        let is_chosen = self.eye.is_none() || self.target.is_none();
        Ok(ChosenViews {
            cameras: cameras::select(described, self.view.as_deref().unwrap_or("all"))?,
            flags: is_chosen.then(|| flags_of(&resolved) + &model),
            ..ChosenViews::default()
        })
    }

    /// The views of a camera file for the scene at `scene`.
    fn views_in(
        &self,
        path: &Path,
        scene: Option<&Path>,
        verbosity: Verbosity,
    ) -> Result<ChosenViews> {
        let transform = match &self.transform {
            None => CameraTransform::Found,
            Some(word) if word == Path::new("undo") => CameraTransform::Undo,
            Some(word) if word == Path::new("none") => CameraTransform::Identity,
            Some(file) => CameraTransform::File(file.clone()),
        };
        let options = CameraOptions {
            fallback_fov_degrees: self.fov.filter(|_| !self.has_own_fov()),
            transform,
            scene: scene.map(Path::to_path_buf),
            ..CameraOptions::default()
        };
        let view = self.view.as_deref().unwrap_or("0");
        let file = load_selected(path, view, self.size(), options)?;
        if self.fov.is_some() && !file.lacks_intrinsics && !self.has_own_fov() {
            let found = format!("{}, which has its own", path.display());
            let expected = "--cameras with a file without intrinsics beside it";
            return Err(Error::argument("--fov", expected, found));
        }
        for remark in &file.remarks {
            verbosity.remark(remark);
        }
        for warning in &file.warnings {
            verbosity.warn(warning);
        }
        Ok(ChosenViews {
            cameras: file.cameras,
            names_in_file: file.names_in_file,
            flags: None,
            frame_rate: file.frame_rate,
            file: Some(path.to_path_buf()),
        })
    }

    /// Fingerprint of all files that cameras are read from: their numbers as text; empty without a file.
    pub(super) fn file_text(&self) -> Result<String> {
        let Some(path) = &self.cameras else {
            return Ok(String::new());
        };
        let views = self.of_all().views_in(path, None, Verbosity::QUIET)?;
        Ok(format!("{:?}", views.cameras))
    }

    /// All files that are read.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let files = [self.cameras.as_deref(), self.transform.as_deref()];
        files.into_iter().flatten()
    }

    fn size(&self) -> PictureSize {
        PictureSize {
            width: self.width,
            height: self.height,
            scale: self.picture_scale,
        }
    }

    /// The views that flags describe without a file.
    fn described(&self) -> DescribedViews {
        DescribedViews {
            eye: self.eye,
            target: self.target,
            up: self.up,
            // Views are searched with pinholes, which other lenses then replace.
            fov_degrees: self.fov.filter(|_| !self.has_own_fov()),
            orbit: self.orbit,
            size: self.size(),
        }
    }
}

/// The position and lens of a description as flags, which reproduce it to the last bit.
fn flags_of(views: &DescribedViews) -> String {
    let points = [
        ("eye", views.eye),
        ("target", views.target),
        ("up", views.up),
    ];
    let points = points.into_iter().filter_map(|(flag, point)| {
        let [x, y, z] = point?;
        Some(format!("--{flag} {x},{y},{z}"))
    });
    let fov = views.fov_degrees.map(|fov| format!("--fov {fov}"));
    let orbit = views.orbit.map(|count| format!("--orbit {count}"));
    points.chain(fov).chain(orbit).collect::<Vec<_>>().join(" ")
}

fn parse_direction(text: &str) -> std::result::Result<[f64; 3], String> {
    let direction = parse_point(text)?;
    let is_zero = direction == [0.0; 3];
    (!is_zero)
        .then_some(direction)
        .ok_or_else(|| "expected a direction such as 0,0,1".to_owned())
}

fn parse_point(text: &str) -> std::result::Result<[f64; 3], String> {
    parse_numbers(text)
        .filter(|numbers: &[f64; 3]| numbers.iter().all(|n| n.is_finite()))
        .ok_or_else(|| "expected three finite numbers such as 1,-2,0.5".to_owned())
}

/// Remarks on the cameras, and refuses pictures for which there is no memory.
fn checked(chosen: ChosenViews, verbosity: Verbosity) -> Result<ChosenViews> {
    for camera in &chosen.cameras {
        let [x, y, z] = camera.eye().into();
        let [wide, high] = camera.focal_px;
        verbosity.remark(&format!(
            "view {}: eye {x:.4},{y:.4},{z:.4}, {} x {} pixels, focal length {wide:.2} x {high:.2} pixels",
            camera.name, camera.width, camera.height
        ));
        check_memory([camera.width, camera.height])?;
    }
    if let Some(flags) = &chosen.flags {
        verbosity.remark(&format!("the view is that of {flags}"));
    }
    Ok(chosen)
}

fn count_of_views(text: &str) -> std::result::Result<u32, String> {
    let count = whole(text).ok().filter(|n| (1..=MAX_VIEWS).contains(n));
    count.ok_or_else(|| format!("expected a whole number from 1 to {MAX_VIEWS}"))
}
