//! The input of the metrics: the colours of two pictures, finite and rounded by protocol.

use crate::choice;
use crate::image::{Frame, to_8_bit};

choice! {
    /// Conversion of values before they are compared.
    #[derive(Hash, Default)]
    pub enum Protocol {
        /// Clamped to `[0, 1]` and rounded to 8 bits, as the authors of 3D Gaussian splatting measure
        /// pictures they have written to PNG (Kerbl et al. 2023, `metrics.py`).
        #[default]
        Inria = "inria",
        /// Clamped to `[0, 1]` and not rounded, as gsplat measures its renders (`examples/simple_trainer.py`). SSIM
        /// mirrors the picture at its edge, as `torchmetrics` does since version 1.4.
        Gsplat = "gsplat",
        /// As gsplat, but SSIM is the mean over the pixels whose windows lie within the picture, as `pytorch_msssim`
        /// computes it for splatfacto of nerfstudio.
        Nerfstudio = "nerfstudio",
        /// Neither clamped nor rounded, except that FLIP, defined on `[0, 1]` only, clamps.
        Float = "float",
    }
}

impl Protocol {
    /// The number that the protocol takes for a value of a picture.
    fn converted(self, value: f32) -> f32 {
        match self {
            Self::Inria => f32::from(to_8_bit(value)) / f32::from(u8::MAX),
            Self::Gsplat | Self::Nerfstudio => value.clamp(0.0, 1.0),
            Self::Float => value,
        }
    }
}

/// One picture's red, green and blue, each row by row from the top.
pub(super) type Planes = [Vec<f32>; 3];

/// Two pictures of the same size.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    pub(super) width: usize,
    pub(super) height: usize,
    /// The number that represents 1.0: 255 for 8-bit values, so that differences are exact, else 1.
    pub(super) peak: f32,
    /// Premultiplied colour, in units of `1 / peak`.
    pub(super) colours: [Planes; 2],
    /// Whether each pixel counts; `None` if all do.
    pub(super) mask: Option<Vec<bool>>,
    /// The largest difference of alpha, in units of 1.0.
    pub(super) alpha_max_abs: f64,
    /// Pixels with a NaN or infinite channel in either picture.
    pub(super) non_finite_pixels: u64,
}

impl Pair {
    /// Converts `a` and `b`, which have the same size, under `protocol`. Pixels that do not count are black in both.
    pub(super) fn new(a: &Frame, b: &Frame, protocol: Protocol, mask: Option<&[bool]>) -> Self {
        let count = a.pixels().len();
        let empty = || [(); 3].map(|()| Vec::with_capacity(count));
        let mut pair = Self {
            width: a.width() as usize,
            height: a.height() as usize,
            peak: match protocol {
                Protocol::Inria => f32::from(u8::MAX),
                Protocol::Gsplat | Protocol::Nerfstudio | Protocol::Float => 1.0,
            },
            colours: [empty(), empty()],
            mask: mask.map(<[bool]>::to_vec),
            alpha_max_abs: 0.0,
            non_finite_pixels: 0,
        };
        let number = |value: f32| match protocol {
            Protocol::Inria => f32::from(to_8_bit(value)),
            other => other.converted(value),
        };
        for (at, (p, q)) in a.pixels().iter().zip(b.pixels()).enumerate() {
            if mask.is_some_and(|mask| !mask[at]) {
                let planes = pair.colours.iter_mut().flatten();
                planes.for_each(|plane| plane.push(0.0));
                continue;
            }
            let finite = p.iter().chain(q).all(|value| value.is_finite());
            pair.non_finite_pixels += u64::from(!finite);
            for channel in 0..3 {
                let (p, q) = made_finite(p[channel], q[channel]);
                pair.colours[0][channel].push(number(p));
                pair.colours[1][channel].push(number(q));
            }
            let (p, q) = made_finite(p[3], q[3]);
            let alpha = f64::from(number(p)) - f64::from(number(q));
            pair.alpha_max_abs = pair.alpha_max_abs.max(alpha.abs() / f64::from(pair.peak));
        }
        pair
    }

    /// Number of pixels that count.
    pub(super) fn counted(&self) -> usize {
        let all = self.width * self.height;
        let inside = |mask: &Vec<bool>| mask.iter().filter(|counts| **counts).count();
        self.mask.as_ref().map_or(all, inside)
    }

    /// Whether pixel `at` counts.
    pub(super) fn counts(&self, at: usize) -> bool {
        self.mask.as_ref().is_none_or(|mask| mask[at])
    }
}

/// Replaces NaN and infinite values by 0 or 1, whichever is farther from the other value, so that they
/// never improve a metric; the same NaN or infinity in both is no difference.
fn made_finite(p: f32, q: f32) -> (f32, f32) {
    let farthest_from = |other: f32| if other >= 0.5 { 0.0 } else { 1.0 };
    match (p.is_finite(), q.is_finite()) {
        (true, true) => (p, q),
        (true, false) => (p, farthest_from(p)),
        (false, true) => (farthest_from(q), q),
        (false, false) if p == q || (p.is_nan() && q.is_nan()) => (0.0, 0.0),
        (false, false) => (0.0, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poison_is_counted_and_never_flatters() {
        let (nan, inf) = (f32::NAN, f32::INFINITY);
        assert_eq!(made_finite(0.2, nan), (0.2, 1.0));
        assert_eq!(made_finite(-inf, 0.9), (0.0, 0.9));
        assert_eq!(made_finite(nan, nan), (0.0, 0.0));
        assert_eq!(made_finite(inf, inf), (0.0, 0.0));
        assert_eq!(made_finite(inf, -inf), (0.0, 1.0));
        assert_eq!(made_finite(nan, inf), (0.0, 1.0));
        let frame = |value: f32| Frame::from_pixels(2, 1, vec![[value, 0.0, 0.0, nan], [0.0; 4]]);
        let pair = Pair::new(&frame(nan), &frame(0.75), Protocol::Inria, None);
        assert_eq!(pair.non_finite_pixels, 1);
        assert_eq!((pair.colours[0][0][0], pair.colours[1][0][0]), (0.0, 191.0));
        assert_eq!(pair.alpha_max_abs, 0.0, "the same NaN in both");
    }
}
