//! Views chosen from a camera file, and the size of their pictures.

use std::path::Path;

use super::load::{CameraOptions, load_with};
use crate::error::{Error, Result};
use crate::scene::camera::{Camera, MAX_SIDE_PX};

/// View names listed in an error before the rest is cut off.
const LISTED_NAMES: usize = 12;

/// Requested width and height of a picture, in pixels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PictureSize {
    /// Width; `None` follows the height, or keeps the original width.
    pub width: Option<u32>,
    /// Height; `None` follows the width, or keeps the original height.
    pub height: Option<u32>,
}

impl PictureSize {
    /// Width and height of the picture. A side without a request keeps the proportions of `original`;
    /// without any request, the size is `original`.
    ///
    /// # Errors
    /// [`Error::Argument`] naming `width` or `height` when a side is not from 1 to 32768 pixels.
    pub fn of(self, original: [u32; 2]) -> Result<[u32; 2]> {
        let size = match (self.width, self.height) {
            (Some(width), Some(height)) => [width, height],
            (Some(width), None) => [width, scaled(original[1], width, original[0])],
            (None, Some(height)) => [scaled(original[0], height, original[1]), height],
            (None, None) => original,
        };
        for (side, pixels) in ["width", "height"].into_iter().zip(size) {
            if !(1..=MAX_SIDE_PX).contains(&pixels) {
                let expected = format!("1 to {MAX_SIDE_PX} pixels");
                return Err(Error::argument(side, expected, pixels.to_string()));
            }
        }
        Ok(size)
    }

    /// Resizes the picture of `camera`.
    ///
    /// With one side requested, pixels keep their shape: both focal lengths scale by that side's
    /// factor, although the other side is rounded to a whole pixel. With both, each axis has its own
    /// factor.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub fn apply(self, camera: &Camera) -> Result<Camera> {
        let [width, height] = self.of([camera.width, camera.height])?;
        let mut resized = camera.resized(width, height)?;
        let factor = match (self.width, self.height) {
            (Some(width), None) => f64::from(width) / f64::from(camera.width),
            (None, Some(height)) => f64::from(height) / f64::from(camera.height),
            _ => return Ok(resized),
        };
        resized.focal_px = camera.focal_px.map(|focal| focal * factor);
        Ok(resized)
    }
}

/// `side * to / from`, rounded and clamped to 1..=`u32::MAX`; `side` itself if `to` is 0.
fn scaled(side: u32, to: u32, from: u32) -> u32 {
    if to == 0 {
        return side;
    }
    let (side, to, from) = (u64::from(side), u64::from(to), u64::from(from.max(1)));
    u32::try_from((side * to + from / 2) / from)
        .unwrap_or(u32::MAX)
        .max(1)
}

/// Loads the cameras of the file `path` that `views` selects (see [`select`]), with pictures of `size`,
/// and the file's warnings.
///
/// # Errors
/// As [`load`](super::load), [`select`] and [`PictureSize::of`].
pub fn load_views(
    path: &Path,
    views: &str,
    size: PictureSize,
) -> Result<(Vec<Camera>, Vec<String>)> {
    let options = CameraOptions {
        fallback_size_px: size.width.zip(size.height).map(|(w, h)| [w, h]),
    };
    let file = load_with(path, &options)?;
    let chosen = select(file.cameras, views)?;
    let sized: Result<_> = chosen.iter().map(|camera| size.apply(camera)).collect();
    Ok((sized?, file.warnings))
}

/// Selects the cameras of `view`: an index from 0, a name, a range `A..B` (B excluded, either may be
/// left out) or `all`. A plain whole number is always an index.
///
/// # Errors
/// [`Error::Argument`] naming `view` when it selects no camera.
pub fn select(mut cameras: Vec<Camera>, view: &str) -> Result<Vec<Camera>> {
    let count = cameras.len();
    if view == "all" {
        return Ok(cameras);
    }
    let named = || cameras.iter().position(|camera| camera.name == view);
    let range = match plain_index(view).or_else(named) {
        Some(index) => Some((index, index + 1)),
        None => view.split_once("..").and_then(|(a, b)| {
            let end = |text: &str, default| match text {
                "" => Some(default),
                text => plain_index(text),
            };
            Some((end(a, 0)?, end(b, count)?))
        }),
    };
    match range {
        Some((start, end)) if start < end && end <= count => {
            cameras.truncate(end);
            Ok(cameras.split_off(start))
        }
        _ => Err(no_such_view(&cameras, view)),
    }
}

/// Parses a whole number without leading zeros: `007` is a name, as of photographs.
fn plain_index(text: &str) -> Option<usize> {
    let index: usize = text.parse().ok()?;
    (index.to_string() == text).then_some(index)
}

fn no_such_view(cameras: &[Camera], view: &str) -> Error {
    let names = cameras.iter().take(LISTED_NAMES).map(|c| c.name.as_str());
    let more = (cameras.len() > LISTED_NAMES).then_some("...");
    let names: Vec<&str> = names.chain(more).collect();
    Error::argument(
        "view",
        format!(
            "an index below {0}, a range within 0..{0}, \"all\", or a name: {1}",
            cameras.len(),
            names.join(", ")
        ),
        format!("\"{view}\""),
    )
}
