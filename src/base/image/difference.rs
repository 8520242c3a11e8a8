//! Pictures of differences, and colour scales.

use super::Frame;
use crate::error::{Error, Result};

/// Magma-like scale at 0, 1/4, 1/2, 3/4 and 1; lightness increases throughout, so it also reads in grey.
const HEAT: [[f32; 3]; 5] = [
    [0.0, 0.0, 0.02],
    [0.31, 0.07, 0.48],
    [0.72, 0.22, 0.47],
    [0.98, 0.54, 0.38],
    [0.99, 0.99, 0.76],
];

/// The colour at `position`, 0 to 1, on a scale of evenly spaced `colours`, with linear interpolation. Positions outside
/// the range give the end colours, NaN the last colour.
pub fn colour_at(colours: &[[f32; 3]], position: f32) -> [f32; 3] {
    let mut steps = position.clamp(0.0, 1.0) * (colours.len() - 1) as f32;
    for pair in colours.windows(2) {
        if steps <= 1.0 {
            return [0, 1, 2].map(|c| pair[0][c] + (pair[1][c] - pair[0][c]) * steps);
        }
        steps -= 1.0;
    }
    colours[colours.len() - 1]
}

/// The colour of an error of 0 to 1 in a [`heat_picture`], sRGB.
pub fn heat_colour(error: f32) -> [f32; 3] {
    colour_at(&HEAT, error)
}

/// Draws errors of 0 to 1 as a picture of `size_px` (width, height): 0 is black, 1 cream. The scale is fixed, so that
/// pictures of different pairs are comparable.
pub fn heat_picture(size_px: [u32; 2], errors: &[f32]) -> Frame {
    let pixels = errors.iter().map(|&error| {
        let [r, g, b] = heat_colour(error);
        [r, g, b, 1.0]
    });
    Frame::from_pixels(size_px[0], size_px[1], pixels.collect())
}

/// Scale of the differences in Figure 1 of "A Pixel Merge Unit".
pub const DIFFERENCE_SCALE: f32 = 100.0;

/// Draws `|a - b| * scale` of red, green and blue in sRGB, clamped to 0..=1, with alpha 1; NaN becomes white.
///
/// # Errors
/// [`Error::Argument`] when the pictures differ in size.
pub fn scaled_difference(a: &Frame, b: &Frame, scale: f32) -> Result<Frame> {
    let size = |frame: &Frame| format!("{} x {}", frame.width(), frame.height());
    if (a.width(), a.height()) != (b.width(), b.height()) {
        return Err(Error::argument("pictures to compare", size(a), size(b)));
    }
    let [a, b] = [a.to_srgb(), b.to_srgb()];
    let pixels = a.pixels().iter().zip(b.pixels()).map(|(a, b)| {
        // `min` returns 1 for NaN.
        let [r, g, b] = [0, 1, 2].map(|c| ((a[c] - b[c]).abs() * scale).min(1.0));
        [r, g, b, 1.0]
    });
    Ok(Frame::from_pixels(a.width(), a.height(), pixels.collect()))
}
