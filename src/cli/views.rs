//! Flags about views, and the cameras that they describe.

use std::path::{Path, PathBuf};

use super::console::Verbosity;
use super::outputs::parse_numbers;
use super::usage::whole;
use crate::error::{Error, Result};
use crate::image::check_memory;
use crate::scene::cameras::{self, DescribedViews, Framing, PictureSize};
use crate::scene::{Camera, Splats};

/// Flags about views: cameras of a file, a position, or a circle; without them, one view that shows the
/// main content of the scene.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "View")]
pub(crate) struct ViewArgs {
    /// Camera file: a cameras.json, a transforms.json, or the folder of a COLMAP model
    #[arg(long, value_name = "FILE", conflicts_with_all = ["eye", "target", "up", "fov", "orbit"])]
    cameras: Option<PathBuf>,
    /// Views to draw: an index from 0, a name, a range A..B (excluding B; either end may be omitted) or
    /// all [default: 0 with --cameras, all with --orbit]
    #[arg(long, value_name = "INDEX|NAME|A..B|all")]
    view: Option<String>,
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
    /// Vertical field of view in degrees [default: 50]
    #[arg(long, value_name = "DEGREES", value_parser = parse_fov)]
    fov: Option<f64>,
    /// Draw N views on a circle around the target, starting at --eye
    #[arg(long, value_name = "N", value_parser = whole::<u32>)]
    orbit: Option<u32>,
    /// Width of the picture in pixels; without --height, the height keeps the proportions
    #[arg(long, value_name = "PIXELS", value_parser = whole::<u32>)]
    width: Option<u32>,
    /// Height of the picture in pixels; without --width, the width keeps the proportions
    #[arg(long, value_name = "PIXELS", value_parser = whole::<u32>)]
    height: Option<u32>,
}

impl ViewArgs {
    /// The up direction that is given.
    pub(super) fn up(&self) -> Option<[f64; 3]> {
        self.up
    }

    /// The cameras of a scene of splats: at least one, in order, with distinct names.
    pub(crate) fn views(&self, splats: &Splats, verbosity: Verbosity) -> Result<Vec<Camera>> {
        let framing = || Framing::of(splats);
        self.views_of(framing, verbosity)
    }

    /// As [`Self::views`], but all cameras of a file if no flag chooses some.
    pub(crate) fn all_views(&self, splats: &Splats, verbosity: Verbosity) -> Result<Vec<Camera>> {
        let mut all = self.clone();
        all.view.get_or_insert_with(|| "all".to_owned());
        all.views(splats, verbosity)
    }

    /// The view that follows each of `cameras`, which these flags select: the next one of the file or
    /// circle. For the last view it is the one before it, seen from the other side: `true` tells so.
    pub(crate) fn following(
        &self,
        cameras: &[Camera],
        framing: impl FnOnce() -> Framing,
    ) -> Result<Vec<(Camera, bool)>> {
        let quiet = Verbosity {
            quiet: true,
            verbose: false,
        };
        let all = Self {
            view: Some("all".to_owned()),
            ..self.clone()
        };
        let all = all.views_of(framing, quiet)?;
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

    /// As [`Self::views`], for a scene with this `framing`, which is needed only without a camera file.
    pub(crate) fn views_of(
        &self,
        framing: impl FnOnce() -> Framing,
        verbosity: Verbosity,
    ) -> Result<Vec<Camera>> {
        let view = self.view.as_deref();
        let cameras = match &self.cameras {
            None => {
                let described = self.described().cameras(&framing())?;
                cameras::select(described, view.unwrap_or("all"))?
            }
            Some(path) if path == Path::new("-") => {
                let expected = "a file or folder, since its format follows from its name";
                return Err(Error::argument("--cameras", expected, "standard input (-)"));
            }
            Some(path) => {
                let view = view.unwrap_or("0");
                let (cameras, warnings) = cameras::load_views(path, view, self.size())?;
                for warning in &warnings {
                    verbosity.warn(warning);
                }
                cameras
            }
        };
        for camera in &cameras {
            let [x, y, z] = camera.eye().into();
            let [wide, high] = camera.focal_px;
            verbosity.remark(&format!(
                "view {}: eye {x:.4},{y:.4},{z:.4}, {} x {} pixels, focal length {wide:.2} x {high:.2} pixels",
                camera.name, camera.width, camera.height
            ));
            check_memory([camera.width, camera.height])?;
        }
        Ok(cameras)
    }

    /// All files that are read.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.cameras.as_deref().into_iter()
    }

    fn size(&self) -> PictureSize {
        PictureSize {
            width: self.width,
            height: self.height,
        }
    }

    /// The views that flags describe without a file.
    fn described(&self) -> DescribedViews {
        DescribedViews {
            eye: self.eye,
            target: self.target,
            up: self.up,
            fov_degrees: self.fov,
            orbit: self.orbit,
            size: self.size(),
        }
    }
}

fn parse_fov(text: &str) -> std::result::Result<f64, String> {
    let fov = text.parse().ok().filter(|fov| *fov > 0.0 && *fov < 180.0);
    fov.ok_or_else(|| "expected degrees between 0 and 180".to_owned())
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
