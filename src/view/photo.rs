//! Photos cropped and resized as the cameras of pictures are.

use rayon::prelude::*;

use super::stage::ListedView;
use quadrille_base::error::{Error, Result};
use quadrille_base::image::Frame;
use quadrille_base::image::files::read_photo;
use quadrille_base::image::orientation::check_proportions;
use quadrille_base::math::{narrow, whole};
use quadrille_scene::Camera;

/// Distance in pixels of an edge from a whole number below which rounding caused it.
const EDGE_TOLERANCE: f64 = 1e-6;

/// First column and row of a part of a picture, and the columns and rows after it.
pub(crate) type PixelArea = [[u32; 2]; 2];

/// Reads the photo of a view, upright as its camera sees it.
///
/// # Errors
/// Errors of reading, and [`Error::Malformed`] for a photo that has other proportions than its camera.
pub(crate) fn photo_of(view: &ListedView) -> Result<Frame> {
    let missing = || Error::argument("source", "a view with a photo", "a view without one");
    let path = view.photo.as_ref().ok_or_else(missing)?;
    let size = [view.camera.width, view.camera.height];
    let photo = read_photo(path)?;
    let photo = if photo.is_seen_as_stored(size) { photo.stored } else { photo.upright() };
    check_proportions(path, [photo.width(), photo.height()], size)?;
    Ok(photo.to_srgb().into_owned())
}

/// Part of a photo that a picture shows: along each axis, the position of the picture's first edge in the photo, and the
/// pixels of the photo per pixel of the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Crop {
    begin: [f64; 2],
    step: [f64; 2],
    photo: [u32; 2],
    picture: [u32; 2],
}

/// Pixels of the photo that a pixel of the picture covers along one axis: the first, and the covered share of each.
type Shares = (usize, Vec<f32>);

impl Crop {
    /// The part of the `photo` of a listed camera that the camera shows after it is resized.
    pub(crate) fn new(listed: &Camera, resized: &Camera, photo: &Frame) -> Self {
        let photo = [photo.width(), photo.height()];
        let sides = [listed.width, listed.height];
        let along = |axis: usize| {
            let scale = f64::from(photo[axis]) / f64::from(sides[axis]);
            let step = listed.focal_px[axis] / resized.focal_px[axis];
            let begin = listed.principal_px[axis] - resized.principal_px[axis] * step;
            (begin * scale, step * scale)
        };
        let [x, y] = [along(0), along(1)];
        let picture = [resized.width, resized.height];
        Self { begin: [x.0, y.0], step: [x.1, y.1], photo, picture }
    }

    /// Edge number `pixel` of the picture, in pixels of the photo.
    fn edge(&self, axis: usize, pixel: u32) -> f64 {
        let edge = self.begin[axis] + self.step[axis] * f64::from(pixel);
        if (edge - edge.round()).abs() < EDGE_TOLERANCE { edge.round() } else { edge }
    }

    /// Part of the picture that the photo covers; `None` if it covers all of it.
    pub(crate) fn covered(&self) -> Option<PixelArea> {
        let area = [0, 1].map(|axis| {
            let is_inside = |pixel: &u32| {
                let [begin, end] = [*pixel, pixel + 1].map(|edge| self.edge(axis, edge));
                begin >= 0.0 && end <= f64::from(self.photo[axis])
            };
            let mut inside = (0..self.picture[axis]).filter(is_inside);
            let first = inside.next();
            // A single pixel is the first and the last.
            let last = inside.next_back().or(first);
            [first.unwrap_or(0), last.map_or(0, |last| last + 1)]
        });
        let whole = self.picture.map(|side| [0, side]);
        let [[x0, x1], [y0, y1]] = area;
        (area != whole).then_some([[x0, y0], [x1, y1]])
    }

    fn shares(&self, axis: usize) -> Vec<Shares> {
        let last_px = self.photo[axis] as usize;
        let covered = (0..self.picture[axis]).map(|pixel| {
            let [begin, end] = [pixel, pixel + 1].map(|edge| self.edge(axis, edge));
            let first = whole::<usize>(begin.floor().max(0.0)).min(last_px);
            let last = whole::<usize>(end.ceil().max(0.0)).min(last_px);
            let shares = (first..last).map(|photo| {
                let photo = photo as f64;
                let share = end.min(photo + 1.0) - begin.max(photo);
                narrow((share / self.step[axis]).max(0.0))
            });
            (first, shares.collect())
        });
        covered.collect()
    }

    /// The part of the photo in the size of the picture: each pixel is the mean of the area that it covers. Beyond the photo,
    /// pixels are transparent.
    pub(crate) fn of(&self, photo: &Frame) -> Frame {
        let [columns, rows] = [self.shares(0), self.shares(1)];
        let line = self.photo[0] as usize;
        let lines: Vec<Vec<[f32; 4]>> = rows
            .par_iter()
            .map(|(first, shares)| {
                let mut mean = vec![[0.0; 4]; line];
                let old = photo.pixels()[first * line..].chunks_exact(line);
                for (old, share) in old.zip(shares) {
                    for (mean, old) in mean.iter_mut().zip(old) {
                        *mean = [0, 1, 2, 3].map(|c| mean[c] + share * old[c]);
                    }
                }
                let new = columns.iter().map(|(first, shares)| {
                    let old = mean[*first..].iter().zip(shares);
                    old.fold([0.0; 4], |sum, (old, share)| {
                        [0, 1, 2, 3].map(|c| sum[c] + share * old[c])
                    })
                });
                new.collect()
            })
            .collect();
        let [width, height] = self.picture;
        Frame::from_pixels(width, height, lines.concat()).taken_as(photo.colour_space())
    }
}

/// Part of a picture of `size` pixels in 8-bit colours, and its size.
pub(crate) fn part_of(
    rgb: &[u8],
    size: [u32; 2],
    [[x0, y0], [x1, y1]]: PixelArea,
) -> (Vec<u8>, [u32; 2]) {
    let line = 3 * size[0] as usize;
    let rows = rgb.chunks_exact(line).take(y1 as usize).skip(y0 as usize);
    let part = rows.flat_map(|row| &row[3 * x0 as usize..3 * x1 as usize]);
    (part.copied().collect(), [x1 - x0, y1 - y0])
}

#[cfg(test)]
#[path = "tests/units/photo.rs"]
mod tests;
