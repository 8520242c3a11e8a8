//! Requested sizes of pictures, and their effect on cameras.

use std::str::FromStr;

use serde::Deserialize;

use crate::camera::{Camera, MAX_SIDE_PX};
use quadrille_base::error::{Error, Result};
use quadrille_base::lens::Projection;

const MAX_DECIMALS: usize = 6;

/// Requested width and height of a picture, in pixels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PictureSize {
    /// Width in pixels; `None` follows the height, or keeps the original width.
    pub width: Option<u32>,
    /// Height in pixels; `None` follows the width, or keeps the original height.
    pub height: Option<u32>,
    /// Factor for both sides, used if neither is requested.
    pub scale: Option<PictureScale>,
}

/// Factor for the sides of a picture: a fraction above 0, written in files as a number or a string.
///
/// ```
/// let quarter: quadrille_scene::cameras::PictureScale = "1/4".parse()?;
/// assert_eq!("0.25".parse(), Ok(quarter));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "RawScale")]
pub struct PictureScale {
    numerator: u32,
    denominator: u32,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawScale {
    Number(f64),
    Text(String),
}

impl TryFrom<RawScale> for PictureScale {
    type Error = String;

    fn try_from(raw: RawScale) -> std::result::Result<Self, String> {
        match raw {
            RawScale::Number(number) => number.to_string().parse(),
            RawScale::Text(text) => text.parse(),
        }
    }
}

impl FromStr for PictureScale {
    type Err = String;

    /// Parses a fraction such as `1/4` or a number such as `0.25`.
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let parsed = match text.split_once('/') {
            Some((numerator, denominator)) => numerator.parse().ok().zip(denominator.parse().ok()),
            None => decimal(text),
        };
        let positive = parsed.filter(|&(n, d): &(u32, u32)| n > 0 && d > 0);
        let (numerator, denominator) =
            positive.ok_or("expected a fraction or number above 0 such as 1/4 or 0.5")?;
        let shared = greatest_common_divisor(numerator, denominator);
        Ok(Self { numerator: numerator / shared, denominator: denominator / shared })
    }
}

fn decimal(text: &str) -> Option<(u32, u32)> {
    let (_, decimals) = text.split_once('.').unwrap_or((text, ""));
    let is_number = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    if !is_number || decimals.len() > MAX_DECIMALS {
        return None;
    }
    Some((text.replacen('.', "", 1).parse().ok()?, 10_u32.pow(u32::try_from(decimals.len()).ok()?)))
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

impl PictureScale {
    /// Scaled side, rounded with ties to even: Python's `round`, with which the trainer scales photographs.
    fn of(self, side: u32) -> u32 {
        let [n, d] = [self.numerator, self.denominator].map(u64::from);
        let (whole, rest) = (u64::from(side) * n / d, u64::from(side) * n % d);
        let is_up = 2 * rest > d || (2 * rest == d && whole % 2 == 1);
        u32::try_from(whole + u64::from(is_up)).unwrap_or(u32::MAX).max(1)
    }
}

impl PictureSize {
    /// Width and height of the picture in pixels. If one side is requested, the other one keeps the proportions
    /// of `original`; without a requested side, the size is `original`, times the scale if there is one.
    pub fn of(self, original: [u32; 2]) -> Result<[u32; 2]> {
        let size = match (self.width, self.height, self.scale) {
            (Some(width), Some(height), _) => [width, height],
            (Some(width), None, _) => [width, scaled(original[1], width, original[0])],
            (None, Some(height), _) => [scaled(original[0], height, original[1]), height],
            (None, None, Some(scale)) => original.map(|side| scale.of(side)),
            (None, None, None) => original,
        };
        for (side, pixels) in ["width", "height"].into_iter().zip(size) {
            let expected = format_args!("1 to {MAX_SIDE_PX} pixels");
            Error::refuse_if(!(1..=MAX_SIDE_PX).contains(&pixels), side, expected, pixels)?;
        }
        Ok(size)
    }

    /// Resizes the picture of `camera`.
    ///
    /// Pixels keep their shape. With one side requested, both focal lengths scale by that side's factor,
    /// although the other side is rounded to a whole pixel. With both sides requested, they scale by the
    /// height's factor: the vertical field of view stays, and the horizontal one is extended or cropped
    /// around the principal point. If the proportions differ by rounding alone, and with a scale, each axis
    /// has its own factor, so that both fields of view stay, as in the trainer of 3D Gaussian splatting.
    pub fn apply(self, camera: &Camera) -> Result<Camera> {
        let [width, height] = self.of([camera.width, camera.height])?;
        let mut resized = camera.resized(width, height)?;
        let factor = match (self.width, self.height) {
            // A panorama shows the whole sphere at any proportions.
            _ if camera.projection == Projection::Equirectangular => return Ok(resized),
            (Some(width), None) => f64::from(width) / f64::from(camera.width),
            (None, Some(height)) => f64::from(height) / f64::from(camera.height),
            (Some(_), Some(_)) if !is_rounded(camera, [width, height]) => {
                let factor = f64::from(height) / f64::from(camera.height);
                let off_centre = camera.principal_px[0] - f64::from(camera.width) / 2.0;
                resized.principal_px[0] = f64::from(width) / 2.0 + off_centre * factor;
                factor
            }
            _ => return Ok(resized),
        };
        resized.focal_px = camera.focal_px.map(|focal| focal * factor);
        Ok(resized)
    }

    /// Sentence on the change of the field of view of `camera`, if the requested size has other proportions.
    pub fn reshaping(self, camera: &Camera) -> Option<String> {
        let (width, height) = self.width.zip(self.height)?;
        let is_panorama = camera.projection == Projection::Equirectangular;
        if is_panorama || is_rounded(camera, [width, height]) {
            return None;
        }
        let resized = self.apply(camera).ok()?;
        let degrees = |camera: &Camera| camera.fov()[0].to_degrees();
        let (from, to) = (degrees(camera), degrees(&resized));
        let change = if to > from { "extended" } else { "cropped" };
        // The angles are exact for pinholes only, so other projections get none.
        let angles = if camera.projection.is_pinhole() {
            format!(" from {from:.1} to {to:.1} degrees")
        } else {
            String::new()
        };
        let (w, h) = (camera.width, camera.height);
        Some(format!(
            "{width} x {height} pixels have other proportions than the {w} x {h} of the cameras: the vertical field of view stays, the horizontal one is {change}{angles}"
        ))
    }
}

/// True if a size has the proportions of the camera's picture, up to rounding to whole pixels.
fn is_rounded(camera: &Camera, [width, height]: [u32; 2]) -> bool {
    let [w, h] = [camera.width, camera.height].map(u64::from);
    let (across, down) = (u64::from(width) * h, u64::from(height) * w);
    across.abs_diff(down) < w.max(h)
}

/// `side * to / from`, rounded and clamped to 1..=`u32::MAX`; `side` itself if `to` is 0.
fn scaled(side: u32, to: u32, from: u32) -> u32 {
    if to == 0 {
        return side;
    }
    let (side, to, from) = (u64::from(side), u64::from(to), u64::from(from.max(1)));
    u32::try_from((side * to + from / 2) / from).unwrap_or(u32::MAX).max(1)
}
