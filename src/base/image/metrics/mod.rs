//! Metrics that compare two pictures, under a named protocol.
//!
//! Colours are compared premultiplied, that is over black, so a picture with alpha equals the same picture over black; the
//! difference of alpha is reported separately. There is no gamma, alignment or cropping.
//!
//! NaN and infinite values never improve a metric: they count as 0 or 1, whichever is farther from the
//! other picture's value, unless both pictures have the same infinity. NaN differs from every value, also from NaN. Pixels
//! with such values are counted.

#[cfg(test)]
mod definitions;
mod flip;
mod flip_colour;
mod flip_filters;
mod flip_lanes;
mod flip_rows;
mod loss;
pub mod lpips;
mod planes;
mod psnr;
mod separable;
mod ssim;
mod ssimulacra2;
mod windows;

use serde::{Deserialize, Serialize};

pub use self::loss::{LossPadding, LossPictures, LossTerms};
pub use self::planes::Protocol;
pub use self::ssimulacra2::ssimulacra2;

use self::planes::Pair;
use self::separable::Border;
use super::Frame;
use crate::error::{Error, Result};
use crate::math::SimdLevel;

/// Differences of two pictures of the same size. 1.0 is the peak value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Peak signal-to-noise ratio over all pixels and the three colour channels, in decibels:
    /// `10 log10(1 / mse)`; `None` when the colours are identical under the protocol.
    pub psnr_db: Option<f64>,
    /// Structural similarity (Wang et al. 2004): 11 x 11 Gaussian window of sigma 1.5, C1 = 0.01^2, C2 = 0.03^2, mean
    /// over pixels and channels; 1 when identical. Beyond the edge are zeros; under [`Protocol::Gsplat`], the mirrored
    /// picture; and [`Protocol::Nerfstudio`] leaves out pixels whose windows reach there.
    pub ssim: f64,
    /// Mean FLIP error (Andersson et al. 2020), low dynamic range, 67 pixels per degree, in `[0, 1]`; 0 when identical.
    pub flip: f64,
    /// The largest difference of a colour channel.
    pub max_abs: f64,
    /// The 99.9th percentile over pixels of the largest difference of the three colour channels.
    pub p99_9_abs: f64,
    /// The mean squared difference over all pixels and the three colour channels.
    pub mse: f64,
    /// The largest difference of alpha, which affects none of the other numbers.
    pub alpha_max_abs: f64,
    /// Pixels with a NaN or infinite channel in either picture.
    pub non_finite_pixels: u64,
}

/// Arithmetic means of comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MeanComparison {
    /// Mean PSNR in decibels of the pictures that differ; `None` if none does.
    pub psnr_db: Option<f64>,
    /// Mean structural similarity; 1 when all pictures are identical.
    pub ssim: f64,
    /// Mean FLIP error, in `[0, 1]`.
    pub flip: f64,
    /// Mean of the largest differences of a colour channel.
    pub max_abs: f64,
    /// Mean of the 99.9th percentiles.
    pub p99_9_abs: f64,
    /// Mean of the mean squared differences.
    pub mse: f64,
    /// Mean of the largest differences of alpha.
    pub alpha_max_abs: f64,
    /// Number of identical pictures.
    pub identical: usize,
}

impl MeanComparison {
    /// The means of `all`; 0 without comparisons.
    pub fn of<'a>(all: impl IntoIterator<Item = &'a Comparison>) -> Self {
        let all: Vec<&Comparison> = all.into_iter().collect();
        let mean_of = |number: &dyn Fn(&Comparison) -> Option<f64>| {
            let values = all.iter().filter_map(|comparison| number(comparison));
            let (sum, count) = values.fold((0.0, 0.0), |(sum, n), value| (sum + value, n + 1.0));
            (count > 0.0).then(|| sum / count)
        };
        let mean = |number: fn(&Comparison) -> f64| mean_of(&|c| Some(number(c))).unwrap_or(0.0);
        Self {
            psnr_db: mean_of(&|c| c.psnr_db),
            ssim: mean(|c| c.ssim),
            flip: mean(|c| c.flip),
            max_abs: mean(|c| c.max_abs),
            p99_9_abs: mean(|c| c.p99_9_abs),
            mse: mean(|c| c.mse),
            alpha_max_abs: mean(|c| c.alpha_max_abs),
            identical: all.iter().filter(|c| c.psnr_db.is_none()).count(),
        }
    }
}

/// Compares two pictures in sRGB under `protocol`. Their order does not matter.
///
/// ```
/// use quadrille_base::image::Frame;
/// use quadrille_base::image::metrics::{Protocol, compare};
///
/// let grey = |value: f32| Frame::from_pixels(8, 8, vec![[value, value, value, 1.0]; 64]);
/// let found = compare(&grey(0.5), &grey(0.625), Protocol::Float)?;
/// assert_eq!(found.max_abs, 0.125);
/// assert!((found.psnr_db.unwrap() - 18.06).abs() < 0.01);
/// # Ok::<(), quadrille_base::Error>(())
/// ```
///
/// # Errors
/// [`Error::Argument`] when the pictures differ in size or have no pixels.
pub fn compare(a: &Frame, b: &Frame, protocol: Protocol) -> Result<Comparison> {
    compare_with_map(a, b, protocol).map(|(comparison, _)| comparison)
}

/// As [`compare_with_map`], over an opaque sRGB `background` in place of black. The difference of alpha is taken before
/// compositing.
pub fn compare_over(
    a: &Frame,
    b: &Frame,
    background: [f32; 3],
    protocol: Protocol,
) -> Result<(Comparison, Vec<f32>)> {
    let measure = Measure { protocol, background, mask: None };
    measure.compare(a, b)
}

/// Settings of a comparison of two pictures.
#[derive(Debug, Clone, Copy)]
pub struct Measure<'a> {
    /// Conversion of values before they are compared.
    pub protocol: Protocol,
    /// Colour behind both pictures, in sRGB.
    pub background: [f32; 3],
    /// Whether each pixel counts, row by row from the top; `None` if all do. The others are black in both pictures, and
    /// all metrics are means over the pixels that count.
    pub mask: Option<&'a [bool]>,
}

impl Measure<'_> {
    /// Compares two pictures. Also returns the FLIP error of every pixel, in `[0, 1]`, row by row from the top.
    ///
    /// # Errors
    /// As [`compare`]; and [`Error::Argument`] for a mask of another size, or one in which no pixel counts.
    pub fn compare(&self, a: &Frame, b: &Frame) -> Result<(Comparison, Vec<f32>)> {
        let pixels = a.pixels().len();
        if let Some(mask) = self.mask {
            let found = format_args!("{} pixels", mask.len());
            Error::refuse_if(mask.len() != pixels, "mask", format_args!("{pixels} pixels"), found)?;
            let expected = "at least one pixel that counts";
            Error::refuse_if(!mask.contains(&true), "mask", expected, "none")?;
        }
        let seen = |pair: Pair| self.measured(&pair);
        if self.background == [0.0; 3] {
            return Ok(seen(checked_pair(a, b, self.protocol, self.mask)?));
        }
        let alpha_max_abs = checked_pair(a, b, self.protocol, self.mask)?.alpha_max_abs;
        let [a, b] = [a, b].map(|picture| picture.over(self.background));
        let (comparison, errors) = seen(checked_pair(&a, &b, self.protocol, self.mask)?);
        let comparison = Comparison { alpha_max_abs, ..comparison };
        Ok((comparison, errors))
    }

    fn measured(&self, pair: &Pair) -> (Comparison, Vec<f32>) {
        let [mse, max_abs, p99_9_abs] = psnr::differences(pair);
        let level = SimdLevel::best();
        let errors = flip::error_map(pair, level);
        let counted = errors.iter().enumerate().filter(|(at, _)| pair.counts(*at));
        let sum: f64 = counted.map(|(_, error)| f64::from(*error)).sum();
        let border = match self.protocol {
            Protocol::Gsplat => Some(Border::Mirrored),
            Protocol::Nerfstudio => None,
            Protocol::Inria | Protocol::Float => Some(Border::Zero),
        };
        let comparison = Comparison {
            psnr_db: psnr::psnr_db(mse),
            ssim: ssim::within_range(mse, || ssim::ssim(pair, border, level)),
            flip: sum / pair.counted() as f64,
            max_abs,
            p99_9_abs,
            mse,
            alpha_max_abs: pair.alpha_max_abs,
            non_finite_pixels: pair.non_finite_pixels,
        };
        (comparison, errors)
    }
}

/// Peak signal-to-noise ratio of colours as floats, in decibels; infinite when they are the same.
pub fn psnr_db(a: &Frame, b: &Frame) -> Result<f64> {
    Ok(compare(a, b, Protocol::Float)?.psnr_db.unwrap_or(f64::INFINITY))
}

/// Peak signal-to-noise ratio of colours as floats, in decibels, and the largest difference of a colour
/// channel. Equal to the results of [`compare`], without the cost of its slower metrics.
pub fn psnr_and_max_abs(a: &Frame, b: &Frame) -> Result<(Option<f64>, f64)> {
    let [mse, max_abs, _] = psnr::differences(&checked_pair(a, b, Protocol::Float, None)?);
    Ok((psnr::psnr_db(mse), max_abs))
}

fn checked_pair(a: &Frame, b: &Frame, protocol: Protocol, mask: Option<&[bool]>) -> Result<Pair> {
    let size = |frame: &Frame| format!("{} x {} pixels", frame.width(), frame.height());
    if (a.width(), a.height()) != (b.width(), b.height()) {
        return Err(Error::argument("size of the second picture", size(a), size(b)));
    }
    if a.pixels().is_empty() {
        return Err(Error::argument("size of the pictures", "at least 1 x 1", size(a)));
    }
    Ok(Pair::new(&a.to_srgb(), &b.to_srgb(), protocol, mask))
}

/// As [`compare`]; also returns the FLIP error of every pixel, in `[0, 1]`, row by row from the top.
pub fn compare_with_map(
    a: &Frame,
    b: &Frame,
    protocol: Protocol,
) -> Result<(Comparison, Vec<f32>)> {
    compare_over(a, b, [0.0; 3], protocol)
}
