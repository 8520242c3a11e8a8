//! The flags that say from where to look, and the cameras they make. `render` and `sim` share
//! them.

use std::path::PathBuf;

use nalgebra::Vector3;

use super::Verbosity;
use crate::error::{Error, Result};
use crate::scene::cameras::{self, DEFAULT_FOV_DEGREES, DEFAULT_SIDE_PX, DEFAULT_UP, Subject};
use crate::scene::{Camera, Intrinsics, Splats};

/// View names listed in an error before the rest is cut off.
const LISTED_NAMES: usize = 12;

/// From where to look.
///
/// With `--cameras`, views come from a file; with `--eye`, from there; with `--orbit`, from a ring;
/// with none of these, one view is chosen that shows the scene's main content.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "View")]
pub(crate) struct ViewArgs {
    /// Cameras: a cameras.json, a transforms.json, or the folder of a COLMAP model
    #[arg(long, value_name = "FILE", conflicts_with_all = ["eye", "target", "up", "fov", "orbit"])]
    cameras: Option<PathBuf>,
    /// Which views: an index from 0, a name, a range A..B (B excluded; either may be left out), or
    /// all [default: 0 with --cameras, all with --orbit]
    #[arg(long, value_name = "INDEX|NAME|A..B|all")]
    view: Option<String>,
    /// Where the camera stands, in world units
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = parse_point)]
    eye: Option<[f64; 3]>,
    /// What the camera looks at [default: the middle of the scene's main content]
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = parse_point)]
    target: Option<[f64; 3]>,
    /// Direction that is up in the picture [default: 0,-1,0, as trained scenes have it; 0,1,0 of
    /// meshes]
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = parse_point)]
    up: Option<[f64; 3]>,
    /// Vertical field of view in degrees [default: 50; of procedural meshes their own]
    #[arg(long, value_name = "DEGREES")]
    fov: Option<f64>,
    /// That many views on a circle around the target, the first at --eye if given
    #[arg(long, value_name = "N")]
    orbit: Option<u32>,
    /// Width of the picture in pixels; alone, the height follows
    #[arg(long, value_name = "PIXELS")]
    width: Option<u32>,
    /// Height of the picture in pixels; alone, the width follows
    #[arg(long, value_name = "PIXELS")]
    height: Option<u32>,
}

/// Where the camera stands where flags say nothing.
#[derive(Debug, Clone)]
pub(crate) enum Stand {
    /// Where it sees the subject's ball, off the world's axes.
    ForBall,
    /// There.
    At(Vector3<f64>),
    /// In this direction from the subject, as near as all the points allow.
    ForPoints(Vector3<f64>, Vec<[f32; 3]>),
}

/// How a scene is looked at where flags say nothing.
#[derive(Debug, Clone)]
pub(crate) struct Framing {
    /// What to show.
    pub(crate) subject: Subject,
    /// From where.
    pub(crate) stand: Stand,
    /// Direction that is up in the picture.
    pub(crate) up: [f64; 3],
    /// Vertical field of view, in degrees.
    pub(crate) fov_degrees: f64,
    /// Width and height in pixels.
    pub(crate) size: [u32; 2],
}

impl Framing {
    /// The main content of trained splats.
    pub(crate) fn of(splats: &Splats) -> Self {
        Self {
            subject: Subject::of(splats),
            stand: Stand::ForBall,
            up: DEFAULT_UP,
            fov_degrees: DEFAULT_FOV_DEGREES,
            size: DEFAULT_SIDE_PX,
        }
    }
}

impl ViewArgs {
    /// The views `view` of a camera file, on pictures of `size` (width, height) as the flags of
    /// these names have it.
    pub(crate) fn of_file(cameras: PathBuf, view: Option<String>, size: [Option<u32>; 2]) -> Self {
        Self {
            cameras: Some(cameras),
            view,
            width: size[0],
            height: size[1],
            ..Self::default()
        }
    }

    /// The cameras these flags ask for, at least one, in order, with distinct names.
    ///
    /// # Errors
    /// [`Error::Caller`] names the flag that mends it; a camera file has its own errors.
    pub(crate) fn views(&self, splats: &Splats, verbosity: Verbosity) -> Result<Vec<Camera>> {
        self.views_of(|| Framing::of(splats), verbosity)
    }

    /// The same for a scene whose own `framing` is asked for only if no file says where to look
    /// from.
    ///
    /// # Errors
    /// As [`Self::views`].
    pub(crate) fn views_of(
        &self,
        framing: impl FnOnce() -> Framing,
        verbosity: Verbosity,
    ) -> Result<Vec<Camera>> {
        match &self.cameras {
            Some(path) => {
                let file = cameras::load(path, self.width.zip(self.height).map(|(w, h)| [w, h]))?;
                for warning in &file.warnings {
                    verbosity.warn(warning);
                }
                let chosen = select(file.cameras, self.view.as_deref().unwrap_or("0"))?;
                chosen.iter().map(|camera| self.resize(camera)).collect()
            }
            None => select(
                self.made_up(&framing())?,
                self.view.as_deref().unwrap_or("all"),
            ),
        }
    }

    /// The views that flags alone describe.
    fn made_up(&self, framing: &Framing) -> Result<Vec<Camera>> {
        let intrinsics = self.intrinsics(framing)?;
        let up = Vector3::from(self.up.unwrap_or(framing.up));
        if up.norm() == 0.0 {
            return Err(Error::caller("--up", "a direction", "0,0,0"));
        }
        let mut subject = framing.subject;
        if let Some(target) = self.target {
            subject.centre = Vector3::from(target);
        }
        let target = subject.centre;
        let eye = match (self.eye, &framing.stand) {
            (Some(eye), _) => Vector3::from(eye),
            (None, Stand::At(eye)) => *eye,
            (None, Stand::ForBall) => subject.default_eye(&intrinsics, up),
            (None, Stand::ForPoints(direction, points)) => {
                cameras::fitting_eye(&intrinsics, target, *direction, up, points)
            }
        };
        if let Some(count) = self.orbit {
            return cameras::orbit(count, intrinsics, eye, target, up);
        }
        let name = if self.eye.is_some() { "eye" } else { "auto" };
        let camera = Camera::look_at(name, intrinsics, eye, target, up)
            .map_err(|error| mended_by("--eye, --target, --up", error))?;
        Ok(vec![camera])
    }

    /// The lens of made-up views: `--fov` and the size, square pixels.
    fn intrinsics(&self, framing: &Framing) -> Result<Intrinsics> {
        let fov = self.fov.unwrap_or(framing.fov_degrees);
        if !(fov > 0.0 && fov < 180.0) {
            return Err(Error::caller(
                "--fov",
                "degrees between 0 and 180",
                fov.to_string(),
            ));
        }
        let [width, height] = self.size(framing.size)?;
        Ok(Intrinsics::from_vertical_fov(
            width,
            height,
            fov.to_radians(),
        ))
    }

    /// The size of a picture that is `original` pixels wide and high without flags.
    fn size(&self, original: [u32; 2]) -> Result<[u32; 2]> {
        for (flag, side) in [("--width", self.width), ("--height", self.height)] {
            if side == Some(0) {
                return Err(Error::caller(flag, "at least 1 pixel", "0"));
            }
        }
        Ok(match (self.width, self.height) {
            (Some(width), Some(height)) => [width, height],
            (Some(width), None) => [width, scaled(original[1], width, original[0])],
            (None, Some(height)) => [scaled(original[0], height, original[1]), height],
            (None, None) => original,
        })
    }

    /// `camera` on a picture of the size asked for.
    ///
    /// With one side given, pixels keep their shape: both focal lengths scale by that side's
    /// factor, though the other side is rounded to a whole pixel. With both, each axis has its own
    /// factor.
    fn resize(&self, camera: &Camera) -> Result<Camera> {
        let [width, height] = self.size([camera.width, camera.height])?;
        let mut resized = camera
            .resized(width, height)
            .map_err(|error| mended_by("--width, --height", error))?;
        let factor = match (self.width, self.height) {
            (Some(width), None) => f64::from(width) / f64::from(camera.width),
            (None, Some(height)) => f64::from(height) / f64::from(camera.height),
            _ => return Ok(resized),
        };
        resized.focal_px = camera.focal_px.map(|focal| focal * factor);
        Ok(resized)
    }
}

/// `side * to / from`, rounded, at least 1. Beyond u32, u32::MAX, which no picture may be.
fn scaled(side: u32, to: u32, from: u32) -> u32 {
    let (side, to, from) = (u64::from(side), u64::from(to), u64::from(from.max(1)));
    u32::try_from((side * to + from / 2) / from)
        .unwrap_or(u32::MAX)
        .max(1)
}

/// Puts the flag that mends it before what an error is about.
fn mended_by(flags: &str, error: Error) -> Error {
    match error {
        Error::Caller {
            what,
            expected,
            found,
        } => Error::caller(format!("{flags}: {what}"), expected, found),
        other => other,
    }
}

/// A point or direction: three numbers with commas between.
fn parse_point(text: &str) -> std::result::Result<[f64; 3], String> {
    let numbers: Option<Vec<f64>> = text
        .split(',')
        .map(|part| part.trim().parse().ok().filter(|n: &f64| n.is_finite()))
        .collect();
    numbers
        .and_then(|numbers| numbers.try_into().ok())
        .ok_or_else(|| "expected three finite numbers such as 1,-2,0.5".to_owned())
}

/// The cameras that `--view` names. A plain whole number is always an index.
fn select(mut cameras: Vec<Camera>, view: &str) -> Result<Vec<Camera>> {
    let count = cameras.len();
    if view == "all" {
        return Ok(cameras);
    }
    if let Some(index) = plain_index(view) {
        if index >= count {
            return Err(no_such_view(&cameras, view));
        }
        return Ok(vec![cameras.swap_remove(index)]);
    }
    if let Some(index) = cameras.iter().position(|camera| camera.name == view) {
        return Ok(vec![cameras.swap_remove(index)]);
    }
    let range = view.split_once("..").and_then(|(a, b)| {
        let end = |text: &str, default| match text {
            "" => Some(default),
            text => plain_index(text),
        };
        Some((end(a, 0)?, end(b, count)?))
    });
    match range {
        Some((start, end)) if start < end && end <= count => {
            cameras.truncate(end);
            Ok(cameras.split_off(start))
        }
        _ => Err(no_such_view(&cameras, view)),
    }
}

/// A whole number without leading zeros: `007` is a name, since photographs are called so.
fn plain_index(text: &str) -> Option<usize> {
    let index: usize = text.parse().ok()?;
    (index.to_string() == text).then_some(index)
}

fn no_such_view(cameras: &[Camera], view: &str) -> Error {
    let mut names: Vec<&str> = cameras
        .iter()
        .take(LISTED_NAMES)
        .map(|c| c.name.as_str())
        .collect();
    if cameras.len() > LISTED_NAMES {
        names.push("...");
    }
    Error::caller(
        "--view",
        format!(
            "an index below {0}, a range within 0..{0}, \"all\", or a name: {1}",
            cameras.len(),
            names.join(", ")
        ),
        format!("\"{view}\""),
    )
}

#[cfg(test)]
mod tests;
