//! SSIMULACRA 2.1 (Sneyers, Cloudinary, 2023): structural similarity, added edges and lost edges in the colour space XYB, at six
//! sizes of the picture, weighted by scores of viewers.

use ssimulacra2::{LinearRgb, compute_frame_ssimulacra2};

use super::planes::{Planes, Protocol};
use super::{Frame, checked_pair};
use crate::error::{Error, Result};
use crate::image::srgb::decode_srgb;

/// Smallest side in pixels of pictures that the metric is defined for.
const LEAST_SIDE: usize = 8;

/// Score of a picture without a difference.
const IDENTICAL: f64 = 100.0;

/// Score of `distorted` beside `original`: 100 for the same colours, about 90 for a difference that viewers do not notice, 30 for
/// low quality, without a lower bound. The order matters: an edge that only the original has counts differently from an edge
/// that only the other picture has. Colours are premultiplied, under `protocol`. One thread computes the score, in about 140
/// bytes per pixel.
///
/// # Errors
/// [`Error::Argument`] when the pictures differ in size or have fewer than 8 pixels along a side.
pub fn ssimulacra2(original: &Frame, distorted: &Frame, protocol: Protocol) -> Result<f64> {
    let pair = checked_pair(distorted, original, protocol, None)?;
    let [width, height] = [pair.width, pair.height];
    let what = "size of pictures for SSIMULACRA2";
    let expected = format_args!("at least {LEAST_SIDE} x {LEAST_SIDE} pixels");
    let found = format_args!("{width} x {height}");
    Error::refuse_if(width.min(height) < LEAST_SIDE, what, expected, found)?;
    let [distorted, original] = &pair.colours;
    if distorted == original {
        // Rounding would leave the score slightly below.
        return Ok(IDENTICAL);
    }
    let refused = |error: &dyn std::fmt::Display| Error::argument(what, expected, error);
    let linear = |planes: &Planes| {
        let [red, green, blue] = planes;
        let pixels = red.iter().zip(green).zip(blue);
        let pixels = pixels.map(|((r, g), b)| decode_srgb([r, g, b].map(|c| c / pair.peak)));
        LinearRgb::new(pixels.collect(), width, height).map_err(|error| refused(&error))
    };
    let score = compute_frame_ssimulacra2(linear(original)?, linear(distorted)?);
    score.map_err(|error| refused(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Codes = Vec<[u16; 3]>;

    fn picture(width: u16, height: u16) -> Codes {
        let code = |x: u32, y: u32, c: u32| (3 * x * x + 5 * y * y + 2 * x * y * c) / 16 + 40 * c;
        let pixel = |x, y| [0, 1, 2].map(|c| (code(x, y, c) % 256) as u16);
        let row = |y| (0..u32::from(width)).map(move |x| pixel(x, y));
        (0..u32::from(height)).flat_map(row).collect()
    }

    fn banded(codes: &Codes) -> Codes {
        codes.iter().map(|pixel| pixel.map(|code| code / 16 * 16 + 8)).collect()
    }

    /// Means of 3 x 3 pixels, rounded down, with the pixels at the edge repeated.
    fn blurred(codes: &Codes, [width, height]: [u16; 2]) -> Codes {
        let [width, height] = [width, height].map(usize::from);
        let near = |at: usize, count: usize| [at.saturating_sub(1), at, (at + 1).min(count - 1)];
        let mean = |x: usize, y: usize, c: usize| {
            let rows = near(y, height).into_iter();
            let pixels = rows.flat_map(|row| near(x, width).map(|at| codes[row * width + at][c]));
            pixels.sum::<u16>() / 9
        };
        let row = |y| (0..width).map(move |x| [0, 1, 2].map(|c| mean(x, y, c)));
        (0..height).flat_map(row).collect()
    }

    fn frame(codes: &Codes, [width, height]: [u16; 2]) -> Frame {
        let pixel = |[r, g, b]: [u16; 3]| {
            [f32::from(r) / 255.0, f32::from(g) / 255.0, f32::from(b) / 255.0, 1.0]
        };
        let pixels = codes.iter().copied().map(pixel).collect();
        Frame::from_pixels(u32::from(width), u32::from(height), pixels)
    }

    /// Scores that the tool `ssimulacra2` of libjxl 0.11.2 prints for PNG files of the same pixels. Its 32-bit floats are
    /// rounded in another order.
    #[test]
    fn scores_are_those_of_the_reference_tool() {
        const ROUNDING: f64 = 0.06;
        for (size, bands, blur) in [
            ([96, 64], [71.527_632, 71.496_135], [1.947_571, -4.021_416]),
            ([61, 37], [58.839_816, 59.076_201], [-33.224_379, -33.611_997]),
            ([8, 8], [93.420_676, 94.066_670], [98.756_354, 97.179_461]),
            ([9, 100], [93.577_259, 94.027_596], [78.981_934, 72.054_895]),
            ([256, 256], [77.018_185, 76.873_017], [-38.394_828, -37.039_499]),
        ] {
            let codes = picture(size[0], size[1]);
            let a = frame(&codes, size);
            for (other, expected) in [(banded(&codes), bands), (blurred(&codes, size), blur)] {
                let b = frame(&other, size);
                for (pair, expected) in [[&a, &b], [&b, &a]].into_iter().zip(expected) {
                    let score = ssimulacra2(pair[0], pair[1], Protocol::Inria).unwrap();
                    assert!((score - expected).abs() < ROUNDING, "{size:?}: {score}, {expected}");
                }
            }
        }
    }

    #[test]
    fn equal_pictures_have_the_highest_score() {
        let a = frame(&picture(40, 30), [40, 30]);
        let mut poisoned = a.clone();
        poisoned.pixels_mut()[17][1] = f32::NAN;
        for protocol in [Protocol::Inria, Protocol::Gsplat, Protocol::Float] {
            assert_eq!(ssimulacra2(&a, &a, protocol).unwrap(), IDENTICAL);
            // NaN equals nothing.
            assert!(ssimulacra2(&poisoned, &poisoned, protocol).unwrap() < 99.0);
        }
    }

    #[test]
    fn scores_do_not_depend_on_threads() {
        let size = [96, 64];
        let (a, b) = (frame(&picture(96, 64), size), frame(&banded(&picture(96, 64)), size));
        let score = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| ssimulacra2(&a, &b, Protocol::Gsplat).unwrap().to_bits())
        };
        assert_eq!(score(1), score(3));
    }

    #[test]
    fn small_pictures_are_refused() {
        let a = Frame::new(20, 7);
        let error = ssimulacra2(&a, &a, Protocol::Inria).unwrap_err().to_string();
        assert!(error.contains("at least 8 x 8 pixels, found 20 x 7"), "{error}");
    }
}
