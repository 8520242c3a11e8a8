//! The input of the metrics: the colours of two pictures, finite and rounded by protocol.

use rayon::prelude::*;

use crate::choice;
use crate::image::{Frame, to_8_bit};
use crate::math::{SimdLevel, whole};

choice! {
    /// Conversion of values before they are compared.
    #[derive(Hash, Default)]
    pub enum Protocol {
        /// Clamped to `[0, 1]` and rounded to 8 bits, like the PNG files that the authors of 3D Gaussian splatting
        /// measure (Kerbl et al. 2023, `metrics.py`).
        #[default]
        Inria = "inria",
        /// Clamped to `[0, 1]` and not rounded, as gsplat measures its renders (`examples/simple_trainer.py`). SSIM
        /// mirrors the picture at its edge, as `torchmetrics` does since version 1.4.
        Gsplat = "gsplat",
        /// As gsplat, but SSIM is the mean over the pixels whose windows lie within the picture, as `pytorch_msssim`
        /// computes it for splatfacto of nerfstudio.
        Nerfstudio = "nerfstudio",
        /// Neither clamped nor rounded. FLIP, which is defined on `[0, 1]` only, still clamps.
        Float = "float",
    }
}

impl Protocol {
    fn converted(self, value: f32) -> f32 {
        match self {
            Self::Inria => f32::from(to_8_bit(value)) / f32::from(u8::MAX),
            Self::Gsplat | Self::Nerfstudio => value.clamp(0.0, 1.0),
            Self::Float => value,
        }
    }
}

pub(super) type Planes = [Vec<f32>; 3];

#[derive(Debug, Clone)]
pub(super) struct Pair {
    pub(super) width: usize,
    pub(super) height: usize,
    /// Number that represents 1.0: 255 for 8-bit values, so that differences are exact, else 1.
    pub(super) peak: f32,
    /// Premultiplied colour, in units of `1 / peak`.
    pub(super) colours: [Planes; 2],
    /// Whether each pixel counts; `None` if all do.
    pub(super) mask: Option<Vec<bool>>,
    pub(super) alpha_max_abs: f64,
    pub(super) non_finite_pixels: u64,
}

impl Pair {
    /// Converts `a` and `b`, which have the same size, under `protocol`. Pixels that do not count are black in both.
    pub(super) fn new(a: &Frame, b: &Frame, protocol: Protocol, mask: Option<&[bool]>) -> Self {
        let width = a.width() as usize;
        let mut pair = Self {
            width,
            height: a.height() as usize,
            peak: match protocol {
                Protocol::Inria => f32::from(u8::MAX),
                Protocol::Gsplat | Protocol::Nerfstudio | Protocol::Float => 1.0,
            },
            colours: [(); 2].map(|()| [(); 3].map(|()| vec![0.0; a.pixels().len()])),
            mask: mask.map(<[bool]>::to_vec),
            alpha_max_abs: 0.0,
            non_finite_pixels: 0,
        };
        let [p, q] = pair.colours.each_mut().map(|planes| {
            let [red, green, blue] = planes.each_mut().map(|p| p.par_chunks_mut(width));
            (red, green, blue).into_par_iter()
        });
        let pixels = (a.pixels().par_chunks(width), b.pixels().par_chunks(width));
        let rows = (p, q, pixels.into_par_iter()).into_par_iter().enumerate();
        let level = SimdLevel::best();
        let converted = rows.map(|(y, ((r, g, b), (r_too, g_too, b_too), pixels))| {
            let row = Row {
                pixels: pixels.into(),
                planes: [[r, g, b], [r_too, g_too, b_too]],
                mask: mask.map(|mask| &mask[y * width..][..width]),
            };
            level.run(|| match protocol {
                Protocol::Inria => row.convert(rounded),
                other => row.convert(|value| other.converted(value)),
            })
        });
        let (alpha, non_finite) = converted.reduce(
            || (0.0, 0),
            |(alpha, count), (other_alpha, other_count)| {
                (alpha.max(other_alpha), count + other_count)
            },
        );
        pair.alpha_max_abs = alpha / f64::from(pair.peak);
        pair.non_finite_pixels = non_finite;
        pair
    }

    pub(super) fn is_8_bit(&self) -> bool {
        self.peak > 1.0
    }

    pub(super) fn counted(&self) -> usize {
        let all = self.width * self.height;
        let inside = |mask: &Vec<bool>| mask.iter().filter(|counts| **counts).count();
        self.mask.as_ref().map_or(all, inside)
    }

    pub(super) fn counts(&self, at: usize) -> bool {
        self.mask.as_ref().is_none_or(|mask| mask[at])
    }
}

struct Row<'a> {
    pixels: [&'a [[f32; 4]]; 2],
    planes: [[&'a mut [f32]; 3]; 2],
    mask: Option<&'a [bool]>,
}

impl Row<'_> {
    /// Writes the converted planes; returns the largest difference of alpha and the number of pixels that are not finite.
    #[inline(always)]
    fn convert(self, number: impl Fn(f32) -> f32) -> (f64, u64) {
        let ([a, b], [to_a, to_b]) = (self.pixels, self.planes);
        let (mut largest, mut non_finite) = (0.0_f64, 0);
        for (x, (p, q)) in a.iter().zip(b).enumerate() {
            if self.mask.is_some_and(|mask| !mask[x]) {
                continue;
            }
            let (mut p, mut q) = (*p, *q);
            if !(is_finite(p) && is_finite(q)) {
                non_finite += 1;
                for (p, q) in p.iter_mut().zip(&mut q) {
                    (*p, *q) = made_finite(*p, *q);
                }
            }
            for channel in 0..3 {
                to_a[channel][x] = number(p[channel]);
                to_b[channel][x] = number(q[channel]);
            }
            let alpha = f64::from(number(p[3])) - f64::from(number(q[3]));
            largest = largest.max(alpha.abs());
        }
        (largest, non_finite)
    }
}

#[inline(always)]
fn is_finite([r, g, b, a]: [f32; 4]) -> bool {
    r.is_finite() & g.is_finite() & b.is_finite() & a.is_finite()
}

/// As [`to_8_bit`](crate::image::to_8_bit), as a float, without a library call.
#[inline(always)]
fn rounded(value: f32) -> f32 {
    // The float below one half: one half plus the float below it would round up to one.
    let scaled = value.clamp(0.0, 1.0) * f32::from(u8::MAX);
    f32::from(whole::<u8>(scaled + 0.5_f32.next_down()))
}

/// Replaces NaN and infinite values by 0 or 1, whichever is farther from the other value, so that they
/// never improve a metric. The same infinity in both counts as equal; NaN equals nothing.
fn made_finite(p: f32, q: f32) -> (f32, f32) {
    let farthest_from = |other: f32| if other >= 0.5 { 0.0 } else { 1.0 };
    match (p.is_finite(), q.is_finite()) {
        (true, true) => (p, q),
        (true, false) => (p, farthest_from(p)),
        (false, true) => (farthest_from(q), q),
        (false, false) if p == q => (0.0, 0.0),
        (false, false) => (0.0, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_rounded_as_in_files() {
        let near = |step: u16| {
            let edge = (f32::from(step) + 0.5) / 255.0;
            [edge.next_down().next_down(), edge.next_down(), edge, edge.next_up()]
        };
        let edges = (0..=255).flat_map(near);
        let values = (0..=20_000_u16).map(|i| f32::from(i) / 19_990.0);
        for value in edges.chain(values).chain([-1.0, 0.499_999_97 / 255.0, f32::NAN]) {
            assert_eq!(rounded(value), f32::from(to_8_bit(value)), "{value}");
        }
    }

    #[test]
    fn poison_is_counted_and_never_flatters() {
        let (nan, inf) = (f32::NAN, f32::INFINITY);
        assert_eq!(made_finite(0.2, nan), (0.2, 1.0));
        assert_eq!(made_finite(-inf, 0.9), (0.0, 0.9));
        assert_eq!(made_finite(nan, nan), (0.0, 1.0));
        assert_eq!(made_finite(inf, inf), (0.0, 0.0));
        assert_eq!(made_finite(inf, -inf), (0.0, 1.0));
        assert_eq!(made_finite(nan, inf), (0.0, 1.0));
        let frame = |value: f32| Frame::from_pixels(2, 1, vec![[value, 0.0, 0.0, nan], [0.0; 4]]);
        let pair = Pair::new(&frame(nan), &frame(0.75), Protocol::Inria, None);
        assert_eq!(pair.non_finite_pixels, 1);
        assert_eq!((pair.colours[0][0][0], pair.colours[1][0][0]), (0.0, 191.0));
        assert_eq!(pair.alpha_max_abs, 1.0, "NaN in both is not the same");
    }
}
