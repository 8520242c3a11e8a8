//! Pictures of other sizes, by the bicubic filter with which trainers reduce their photos.

use rayon::prelude::*;

use super::{Frame, to_8_bit};
use crate::math::{narrow, whole};

/// Parameter a of cubic convolution (Keys 1981), as in Pillow's `BICUBIC`.
const CUBIC_A: f64 = -0.5;
const CUBIC_RADIUS: f64 = 2.0;
/// Fraction bits of weights for 8-bit values, as in Pillow: two bits of a 32-bit sum remain for sign and overshoot.
const WEIGHT_BITS: u32 = 32 - 8 - 2;

/// Number type in which a picture is resized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResizedValues {
    /// 8 bits, rounded after each of the two passes: the bytes that Pillow's `Image.resize` with `BICUBIC` returns.
    EightBit,
    /// Floats, neither rounded nor clamped.
    Float,
}

/// Resizes a picture to `size` (width, height), each side at least 1, by cubic convolution with a = -0.5 that is
/// stretched when the picture becomes smaller; columns first, then rows, as Pillow does. The trainers of 3D Gaussian
/// splatting and gsplat reduce photos by this filter. Premultiplied colours and alpha are filtered alike.
pub fn resized(frame: &Frame, size: [u32; 2], values: ResizedValues) -> Frame {
    let [width, height] = [frame.width(), frame.height()];
    let mut rows = frame.pixels().to_vec();
    if values == ResizedValues::EightBit {
        // Whole numbers of 0 to 255 are exact in f32.
        rows.par_iter_mut().for_each(|p| *p = p.map(|c| f32::from(to_8_bit(c))));
    }
    if width != size[0] {
        let columns = taps(width, size[0]);
        let narrow = rows
            .par_chunks(width as usize)
            .flat_map_iter(|row| columns.iter().map(|taps| values.filtered(taps, |at| row[at])));
        rows = narrow.collect();
    }
    if height != size[1] {
        let lines = taps(height, size[1]);
        let stride = size[0] as usize;
        let short = lines.par_iter().flat_map_iter(|taps| {
            let source = &rows;
            (0..stride).map(move |x| values.filtered(taps, |at| source[at * stride + x]))
        });
        rows = short.collect();
    }
    if values == ResizedValues::EightBit {
        rows.par_iter_mut().for_each(|p| *p = p.map(|c| c / f32::from(u8::MAX)));
    }
    Frame::from_pixels(size[0], size[1], rows).taken_as(frame.colour_space())
}

struct Taps {
    first: usize,
    weights: Vec<f64>,
    fixed: Vec<i32>,
}

impl ResizedValues {
    fn filtered(self, taps: &Taps, source: impl Fn(usize) -> [f32; 4]) -> [f32; 4] {
        match self {
            Self::EightBit => {
                let mut sums = [1_i64 << (WEIGHT_BITS - 1); 4];
                for (at, &weight) in taps.fixed.iter().enumerate() {
                    for (sum, value) in sums.iter_mut().zip(source(taps.first + at)) {
                        *sum += i64::from(weight) * whole::<i64>(value);
                    }
                }
                sums.map(|sum| narrow(((sum >> WEIGHT_BITS).clamp(0, 255)) as f64))
            }
            Self::Float => {
                let mut sums = [0.0; 4];
                for (at, &weight) in taps.weights.iter().enumerate() {
                    for (sum, value) in sums.iter_mut().zip(source(taps.first + at)) {
                        *sum += weight * f64::from(value);
                    }
                }
                sums.map(narrow)
            }
        }
    }
}

fn kernel(distance: f64) -> f64 {
    let x = distance.abs();
    match x {
        x if x < 1.0 => ((CUBIC_A + 2.0) * x - (CUBIC_A + 3.0)) * x * x + 1.0,
        x if x < 2.0 => (((x - 5.0) * x + 8.0) * x - 4.0) * CUBIC_A,
        _ => 0.0,
    }
}

fn taps(from: u32, to: u32) -> Vec<Taps> {
    let scale = f64::from(from) / f64::from(to);
    let stretch = scale.max(1.0);
    let radius = CUBIC_RADIUS * stretch;
    let tap = |pixel: u32| {
        let centre = (f64::from(pixel) + 0.5) * scale;
        let first = whole::<usize>(centre - radius + 0.5);
        let end = whole::<usize>(centre + radius + 0.5).min(from as usize);
        let weight = |at: usize| kernel((at as f64 - centre + 0.5) / stretch);
        let mut weights: Vec<f64> = (first..end).map(weight).collect();
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= sum);
        let one = f64::from(1_u32 << WEIGHT_BITS);
        // Rounds half away from zero, as Pillow does.
        let fixed = weights.iter().map(|weight| whole::<i32>((weight * one).round()));
        Taps { first, fixed: fixed.collect(), weights }
    };
    (0..to).map(tap).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::from_8_bit;

    /// A picture of 8-bit values from a linear congruential generator.
    fn drawn([width, height]: [u32; 2]) -> Frame {
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            from_8_bit(u8::try_from(state >> 24).unwrap())
        };
        let pixels = (0..width * height).map(|_| [next(), next(), next(), 1.0]);
        Frame::from_pixels(width, height, pixels.collect())
    }

    fn bytes(frame: &Frame) -> Vec<u8> {
        frame.pixels().iter().flat_map(|p| [p[0], p[1], p[2]]).map(to_8_bit).collect()
    }

    /// Expected bytes by Pillow 13.0: the picture as an array, `Image.fromarray(array).resize(size, Image.BICUBIC)`.
    #[test]
    fn eight_bit_values_are_the_bytes_of_pillow() {
        for (size, expected) in PILLOW {
            let found = bytes(&resized(&drawn([13, 7]), size, ResizedValues::EightBit));
            assert_eq!(found, expected, "{size:?}");
        }
    }

    #[test]
    fn floats_agree_with_rounded_values() {
        let picture = drawn([13, 7]);
        for size in [[5, 3], [13, 7], [20, 7], [4, 11]] {
            let [rounded, floats] = [ResizedValues::EightBit, ResizedValues::Float]
                .map(|values| resized(&picture, size, values));
            for (a, b) in rounded.pixels().iter().zip(floats.pixels()) {
                // Each pass rounds by half a step; the second one amplifies by at most 1.3.
                let near = |c: usize| (a[c] - b[c].clamp(0.0, 1.0)).abs() < 2.0 / 255.0;
                assert!((0..3).all(near), "{size:?}: {a:?} {b:?}");
                assert!((b[3] - 1.0).abs() < 1e-6);
            }
        }
    }

    #[rustfmt::skip]
    const PILLOW: [([u32; 2], &[u8]); 3] = [
        ([5, 3], &[
            125, 123, 128, 135, 170, 74, 132, 123, 67, 87, 103, 160, 168, 148, 153, 147, 111, 130, 124, 123, 106, 134, 159, 151, 112, 128,
            104, 107, 130, 129, 121, 103, 94, 149, 108, 136, 191, 129, 132, 120, 139, 109, 120, 78, 170,
        ]),
        ([20, 7], &[
            52, 100, 131, 112, 51, 119, 187, 20, 84, 200, 123, 12, 186, 112, 42, 161, 68, 109, 146, 177, 72, 188, 231, 66, 251, 219,
            83, 211, 169, 62, 126, 90, 58, 28, 18, 80, 19, 128, 123, 44, 167, 167, 90, 73, 194, 183, 44, 127, 252, 50, 86, 255,
            87, 131, 178, 189, 190, 110, 255, 230, 192, 255, 254, 119, 177, 224, 32, 90, 160, 30, 111, 63, 94, 167, 52, 147, 228, 84,
            26, 255, 63, 74, 159, 74, 212, 4, 98, 62, 55, 53, 54, 95, 22, 205, 103, 35, 194, 184, 167, 111, 162, 255, 2, 13,
            255, 117, 52, 158, 214, 149, 108, 177, 243, 186, 143, 175, 108, 122, 96, 27, 236, 195, 172, 196, 167, 84, 141, 135, 26, 114,
            138, 210, 88, 164, 186, 92, 202, 67, 207, 243, 104, 199, 187, 72, 109, 90, 5, 151, 155, 81, 166, 210, 106, 129, 216, 71,
            41, 135, 142, 0, 73, 148, 17, 71, 58, 39, 150, 84, 82, 198, 155, 151, 155, 241, 143, 104, 255, 120, 71, 252, 186, 169,
            106, 167, 104, 181, 157, 21, 229, 205, 4, 79, 189, 0, 75, 140, 9, 144, 133, 86, 113, 71, 146, 157, 5, 174, 244, 138,
            141, 218, 174, 134, 219, 91, 162, 248, 71, 200, 195, 92, 159, 109, 145, 37, 12, 159, 131, 4, 119, 235, 26, 18, 252, 51,
            43, 152, 89, 87, 63, 115, 203, 78, 53, 113, 128, 114, 28, 177, 172, 120, 131, 118, 76, 143, 54, 9, 180, 25, 174, 169,
            130, 201, 174, 131, 123, 179, 60, 157, 108, 76, 170, 112, 136, 156, 191, 204, 221, 218, 120, 255, 164, 92, 225, 33, 165, 79,
            7, 92, 27, 28, 61, 172, 72, 157, 214, 97, 200, 217, 108, 215, 99, 164, 8, 130, 129, 67, 142, 70, 118, 40, 6, 38,
            109, 36, 74, 232, 101, 156, 149, 90, 141, 162, 53, 103, 244, 23, 70, 218, 86, 106, 196, 167, 122, 191, 223, 113, 188, 97,
            144, 137, 88, 145, 39, 250, 97, 54, 150, 34, 74, 59, 58, 54, 95, 220, 134, 66, 224, 203, 36, 191, 160, 140, 86, 187,
            120, 106, 190, 97, 135, 81, 97, 148, 98, 94, 166, 174, 101, 186, 163, 138, 195, 171, 202, 205, 200, 250, 205, 244, 140, 162,
            193, 59, 126, 66, 46, 111, 81, 112, 138, 90, 191, 113, 64, 246, 28, 153, 119, 135, 195, 12, 224, 114, 26, 198, 90, 125,
            181, 87, 205, 172,
        ]),
        ([4, 11], &[
            155, 70, 75, 193, 168, 67, 82, 97, 114, 194, 119, 158, 122, 114, 108, 147, 152, 61, 104, 97, 131, 174, 131, 149, 89, 171,
            146, 98, 140, 57, 122, 104, 143, 141, 144, 146, 133, 176, 130, 141, 175, 68, 79, 132, 105, 108, 131, 191, 168, 121, 129, 141,
            156, 117, 76, 149, 115, 86, 144, 143, 178, 48, 137, 108, 105, 175, 112, 153, 155, 84, 164, 47, 122, 109, 117, 120, 147, 124,
            167, 140, 141, 133, 94, 105, 91, 132, 92, 150, 144, 90, 186, 137, 122, 142, 60, 151, 110, 83, 73, 188, 74, 107, 155, 150,
            112, 94, 90, 146, 134, 93, 108, 186, 112, 156, 130, 138, 113, 105, 102, 161, 149, 109, 139, 176, 156, 192, 116, 126, 116, 122,
            107, 173,
        ]),
    ];
}
