//! Correction of a picture's colours to those of a photo before they are compared, for scenes whose photos differ in exposure
//! or white balance.

use nalgebra::{SMatrix, SVector};
use rayon::prelude::*;

use super::Frame;
use crate::choice;
use crate::error::{Error, Result};
use crate::math::narrow;

choice! {
    /// Map of colours that is fitted to a picture and a reference.
    pub enum ColourCorrection {
        /// Factor and offset per channel, which map the reference to the picture by least squares; the picture is mapped back
        /// (`color_correct_affine` of gsplat).
        Affine = "affine",
        /// Polynomial of degree 2 in all three channels, fitted five times to the pixels that are not saturated
        /// (`color_correct` of multinerf, `color_correct_quadratic` of gsplat).
        Quadratic = "quadratic",
    }
}

/// Distance from 0 and 1 within which a channel is saturated: half a step of 8 bits, as in multinerf.
const SATURATED: f64 = 0.5 / 255.0;
/// Number of fits of the quadratic map, as in multinerf.
const FITS: usize = 5;
/// Least variance and factor of the affine map, as in gsplat.
const LEAST: f64 = 1e-8;
/// Squares and products of three channels, the channels, and 1.
const TERMS: usize = 10;
/// Eigenvalues of the normal equations below this share of the largest count as 0, so that grey pictures have a solution. The
/// rounding of their sums in f64 is below 1e-15 of the largest.
const NULL_SHARE: f64 = 1e-14;
/// Pixels per partial sum: sums have the same order on any number of threads.
const SUMMED_PIXELS: usize = 1 << 14;

type Rgb = [f64; 3];
type Terms = SVector<f64, TERMS>;

impl ColourCorrection {
    /// Returns `picture` with colours corrected to `reference`, and the reference, both in sRGB over `background`, clamped to
    /// `[0, 1]`, and with their alpha, so that they are compared over black. Pixels that `mask` leaves out and pixels that are
    /// not finite have no part in the fit.
    ///
    /// # Errors
    /// [`Error::Argument`] when the sizes of the pictures or of the mask differ.
    pub fn corrected(
        self,
        [picture_of, reference_of]: [&Frame; 2],
        background: [f32; 3],
        mask: Option<&[bool]>,
    ) -> Result<[Frame; 2]> {
        let size = |frame: &Frame| format!("{} x {} pixels", frame.width(), frame.height());
        let [expected, found] = [reference_of, picture_of].map(size);
        Error::refuse_if(expected != found, "picture", expected, found)?;
        let opaque = [picture_of, reference_of].map(|frame| frame.to_srgb().over(background));
        let pixels = opaque.each_ref().map(|frame| frame.pixels());
        let is_finite = |at: usize| {
            pixels.iter().all(|pixels| pixels[at][..3].iter().all(|channel| channel.is_finite()))
        };
        let counts: Vec<bool> = match mask {
            Some(mask) => {
                let (expected, found) = (pixels[0].len(), mask.len());
                Error::refuse_if(expected != found, "mask", expected, found)?;
                (0..found).map(|at| mask[at] && is_finite(at)).collect()
            }
            None => (0..pixels[0].len()).map(is_finite).collect(),
        };
        let colours = pixels.map(|pixels| -> Vec<Rgb> {
            let clamped = |[r, g, b, _]: &[f32; 4]| [r, g, b].map(|c| f64::from(c.clamp(0.0, 1.0)));
            pixels.par_iter().map(clamped).collect()
        });
        let [picture, reference] = &colours;
        let corrected = match self {
            Self::Affine => affine(picture, reference, &counts),
            Self::Quadratic => quadratic(picture, reference, &counts),
        };
        let alphas =
            [picture_of, reference_of].map(|frame| frame.pixels().iter().map(|pixel| pixel[3]));
        let colours = [&corrected, reference];
        let [mut before, mut after] = opaque;
        for ((frame, colours), alphas) in
            [&mut before, &mut after].into_iter().zip(colours).zip(alphas)
        {
            for ((pixel, colour), alpha) in frame.pixels_mut().iter_mut().zip(colours).zip(alphas) {
                // What is not finite stays so, and is counted by the metrics.
                if pixel[..3].iter().all(|channel| channel.is_finite()) {
                    let [r, g, b] = colour.map(narrow);
                    *pixel = [r, g, b, alpha];
                }
            }
        }
        Ok([before, after])
    }
}

fn affine(picture: &[Rgb], reference: &[Rgb], counts: &[bool]) -> Vec<Rgb> {
    // Sums of 1, the reference, the picture, their product, and the square of the reference.
    let sums = summed(picture.len(), |at, sums: &mut [[f64; 5]; 3]| {
        if counts[at] {
            for (channel, sums) in sums.iter_mut().enumerate() {
                let (own, seen) = (picture[at][channel], reference[at][channel]);
                let terms = [1.0, seen, own, seen * own, seen * seen];
                sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
            }
        }
    });
    let maps = sums.map(|[count, reference, picture, product, square]| {
        let [reference, picture, product, square] =
            [reference, picture, product, square].map(|sum| sum / count.max(1.0));
        let slope = (product - reference * picture) / (square - reference * reference).max(LEAST);
        // Where the picture does not follow the reference, as in a constant channel, only the mean is corrected; gsplat makes
        // such a channel black.
        let slope = if slope.abs() < LEAST { 1.0 } else { slope };
        [slope, picture - slope * reference]
    });
    let back = |colour: &Rgb| {
        [0, 1, 2].map(|channel: usize| {
            let [slope, offset] = maps[channel];
            ((colour[channel] - offset) / slope).clamp(0.0, 1.0)
        })
    };
    picture.par_iter().map(back).collect()
}

fn quadratic(picture: &[Rgb], reference: &[Rgb], counts: &[bool]) -> Vec<Rgb> {
    let is_inside = |value: f64| (SATURATED..=1.0 - SATURATED).contains(&value);
    let mut corrected = picture.to_vec();
    for _ in 0..FITS {
        // Normal equations of each channel: the products of the terms, and with the reference.
        let equations = summed(picture.len(), |at, sums: &mut [NormalEquations; 3]| {
            let terms = terms_of(&corrected[at]);
            for (channel, sums) in sums.iter_mut().enumerate() {
                let values = [picture, &corrected, reference].map(|colours| colours[at][channel]);
                if counts[at] && values.into_iter().all(is_inside) {
                    sums.products += terms * terms.transpose();
                    sums.with_reference += terms * reference[at][channel];
                }
            }
        });
        let maps = equations.map(|equations| equations.solution());
        let mapped = |colour: &Rgb| {
            let terms = terms_of(colour);
            maps.each_ref().map(|map| map.dot(&terms).clamp(0.0, 1.0))
        };
        corrected = corrected.par_iter().map(mapped).collect();
    }
    corrected
}

fn terms_of(&[r, g, b]: &Rgb) -> Terms {
    Terms::from([r * r, r * g, r * b, g * g, g * b, b * b, r, g, b, 1.0])
}

#[derive(Clone, Copy, Default)]
struct NormalEquations {
    products: SMatrix<f64, TERMS, TERMS>,
    with_reference: Terms,
}

impl NormalEquations {
    /// Solution of least length.
    fn solution(&self) -> Terms {
        let eigen = self.products.symmetric_eigen();
        let largest = eigen.eigenvalues.amax();
        let along = eigen.eigenvectors.transpose() * self.with_reference;
        let kept = along.zip_map(&eigen.eigenvalues, |along, eigenvalue| {
            if eigenvalue > NULL_SHARE * largest { along / eigenvalue } else { 0.0 }
        });
        eigen.eigenvectors * kept
    }
}

/// Sums that can be added to each other.
trait Sums: Clone + Default + Send {
    fn add(&mut self, other: &Self);
}

impl Sums for [[f64; 5]; 3] {
    fn add(&mut self, other: &Self) {
        let sums = self.as_flattened_mut().iter_mut().zip(other.as_flattened());
        sums.for_each(|(sum, other)| *sum += other);
    }
}

impl Sums for [NormalEquations; 3] {
    fn add(&mut self, other: &Self) {
        for (sum, other) in self.iter_mut().zip(other) {
            sum.products += other.products;
            sum.with_reference += other.with_reference;
        }
    }
}

/// Sums over `count` pixels, in the same order on any number of threads.
fn summed<S: Sums>(count: usize, add: impl Fn(usize, &mut S) + Sync) -> S {
    let starts: Vec<usize> = (0..count).step_by(SUMMED_PIXELS).collect();
    let part = |start: &usize| {
        let mut sums = S::default();
        (*start..count.min(start + SUMMED_PIXELS)).for_each(|at| add(at, &mut sums));
        sums
    };
    let parts: Vec<S> = starts.par_iter().map(part).collect();
    parts.iter().fold(S::default(), |mut sums, part| {
        sums.add(part);
        sums
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIDE: u32 = 40;

    /// Colours all over the cube, none of them saturated.
    fn reference() -> Frame {
        let pixels = (0..SIDE * SIDE).map(|at| {
            let channel = |factor: u32| 0.1 + 0.8 * ((at * factor) % 997) as f32 / 996.0;
            [channel(37), channel(101), channel(613), 1.0]
        });
        Frame::from_pixels(SIDE, SIDE, pixels.collect())
    }

    fn mapped(frame: &Frame, map: impl Fn([f32; 3]) -> [f32; 3]) -> Frame {
        let pixels = frame.pixels().iter().map(|&[r, g, b, _]| {
            let [r, g, b] = map([r, g, b]);
            [r, g, b, 1.0]
        });
        Frame::from_pixels(frame.width(), frame.height(), pixels.collect())
    }

    fn apart(correction: ColourCorrection, picture: &Frame, reference: &Frame) -> f32 {
        let [corrected, kept] = correction.corrected([picture, reference], [0.0; 3], None).unwrap();
        assert_eq!(&kept, reference);
        let values = corrected.pixels().as_flattened().iter().zip(kept.pixels().as_flattened());
        values.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    }

    /// A picture of other exposure is the reference after either correction; mixed channels need the quadratic one.
    #[test]
    fn fitted_maps_are_undone() {
        let reference = reference();
        let exposed = mapped(&reference, |[r, g, b]| [0.8 * r + 0.05, 0.9 * g, 0.7 * b + 0.1]);
        assert!(apart(ColourCorrection::Affine, &exposed, &reference) < 1e-6);
        assert!(apart(ColourCorrection::Quadratic, &exposed, &reference) < 1e-6);
        let mixed = mapped(&reference, |[r, g, b]| {
            [0.7 * r + 0.2 * g, 0.8 * g + 0.1 * b, 0.1 * r + 0.6 * b + 0.1]
        });
        assert!(apart(ColourCorrection::Affine, &mixed, &reference) > 0.05);
        assert!(apart(ColourCorrection::Quadratic, &mixed, &reference) < 1e-5);
    }

    /// Grey and constant pictures have no unique map, and keep finite colours.
    #[test]
    fn grey_pictures_have_a_map() {
        let grey = mapped(&reference(), |[r, ..]| [r; 3]);
        let darker = mapped(&grey, |grey| grey.map(|v| 0.5 * v + 0.2));
        for correction in ColourCorrection::ALL {
            assert!(apart(correction, &darker, &grey) < 1e-5, "{correction}");
            let constant = mapped(&grey, |_| [0.5; 3]);
            let [corrected, _] = correction.corrected([&constant, &grey], [0.0; 3], None).unwrap();
            assert!(corrected.pixels().as_flattened().iter().all(|v| (0.0..=1.0).contains(v)));
        }
    }

    /// Saturated pixels, pixels that do not count and pixels that are not finite have no part in the fit.
    #[test]
    fn outliers_do_not_count() {
        let reference = reference();
        let mut picture = mapped(&reference, |colour| colour.map(|v| 0.7 * v + 0.1));
        let (mut seen, mut mask) = (reference.clone(), vec![true; (SIDE * SIDE) as usize]);
        picture.pixels_mut()[0] = [f32::NAN, 0.3, f32::INFINITY, 1.0];
        picture.pixels_mut()[1..200].fill([0.9, 0.1, 0.4, 1.0]);
        mask[1..200].fill(false);
        for correction in ColourCorrection::ALL {
            let [corrected, _] =
                correction.corrected([&picture, &seen], [0.0; 3], Some(&mask)).unwrap();
            let pixels = corrected.pixels().iter().zip(reference.pixels());
            for (found, expected) in pixels.skip(200) {
                let off = [0, 1, 2].map(|c| (found[c] - expected[c]).abs());
                assert!(off.iter().all(|off| *off < 1e-5), "{correction}: {off:?}");
            }
            assert!(corrected.pixels()[0][0].is_nan());
            let short = correction.corrected([&picture, &seen], [0.0; 3], Some(&mask[1..]));
            assert!(short.is_err());
        }
        // White pixels of the photo, where the picture is not white.
        for pixel in &mut seen.pixels_mut()[200..500] {
            *pixel = [1.0; 4];
        }
        let [corrected, _] = ColourCorrection::Quadratic
            .corrected([&picture, &seen], [0.0; 3], Some(&mask))
            .unwrap();
        let (found, expected) = (corrected.pixels()[700], reference.pixels()[700]);
        assert!((found[0] - expected[0]).abs() < 1e-5, "{found:?} {expected:?}");
    }
}
