//! Means of two pictures under the Gaussian window of SSIM, in lanes.

use fearless_simd::{Simd, f64x8, prelude::*};

use super::separable::{Border, LANES, load, padded};

pub(super) const WINDOW_PIXELS: usize = 11;

/// Pixels of the window on each side of its centre.
pub(super) const REACH: usize = WINDOW_PIXELS / 2;

const WINDOW_SIGMA_PIXELS: f64 = 1.5;

/// `(K1 L)^2` with K1 = 0.01 and a peak L of 1.
pub(super) const C1: f64 = 0.01 * 0.01;

/// `(K2 L)^2` with K2 = 0.03 and a peak L of 1.
pub(super) const C2: f64 = 0.03 * 0.03;

/// Pixels whose means are computed together.
pub(super) const HALF: usize = LANES / 2;

/// Weights of the window along one axis.
pub(super) fn window() -> [f64; WINDOW_PIXELS] {
    let weights: [f64; WINDOW_PIXELS] = std::array::from_fn(|i| {
        let distance = (i as f64 - REACH as f64) / WINDOW_SIGMA_PIXELS;
        (-0.5 * distance * distance).exp()
    });
    let sum: f64 = weights.iter().sum();
    weights.map(|weight| weight / sum)
}

/// Two pictures of one size under a window.
pub(super) struct Windows<'a> {
    /// Row by row from the top; pixels of several channels have their values side by side.
    pub(super) pictures: [&'a [f32]; 2],
    /// Values per row: pixels times channels.
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) channels: usize,
    /// Only [`Border::Zero`] for more than one channel.
    pub(super) border: Border,
    pub(super) weights: &'a [f64; WINDOW_PIXELS],
}

/// Vertical means of one row: a, b, a^2 + b^2 and a b.
pub(super) struct Vertical([Vec<f64>; 4]);

type Tap<'a> = ([&'a [f32]; 2], f64);

impl Windows<'_> {
    pub(super) fn vertical(&self) -> Vertical {
        let length = padded(self.width, REACH * self.channels);
        Vertical([(); 4].map(|()| vec![0.0; length]))
    }

    /// Averages under the vertical window around row `y`.
    #[inline(always)]
    pub(super) fn average_rows<S: Simd>(&self, simd: S, y: usize, means: &mut Vertical) {
        let Self { width, height, .. } = *self;
        let rows = self.border.rows(y, WINDOW_PIXELS, height);
        let tap = |(row, weight): (Option<usize>, &f64)| {
            let row = row?;
            Some((self.pictures.map(|p| &p[row * width..(row + 1) * width]), *weight))
        };
        let taps: Vec<Tap<'_>> = rows.zip(self.weights).filter_map(tap).collect();
        let reach = REACH * self.channels;
        let [a, b, squares, products] = &mut means.0;
        for x in (0..width).step_by(LANES) {
            for half in [0, HALF] {
                let sums = match half {
                    0 => vertical::<S, false>(simd, &taps, x),
                    _ => vertical::<S, true>(simd, &taps, x),
                };
                let at = reach + x + half;
                sums[0].store_slice(&mut a[at..at + HALF]);
                sums[1].store_slice(&mut b[at..at + HALF]);
                sums[2].store_slice(&mut squares[at..at + HALF]);
                sums[3].store_slice(&mut products[at..at + HALF]);
            }
        }
        for row in &mut means.0 {
            self.border.extend(row, reach, width);
        }
    }

    /// Windowed means of a, b, a^2 + b^2 and a b at the eight values from `x` on.
    #[inline(always)]
    pub(super) fn means<S: Simd>(&self, simd: S, rows: &Vertical, x: usize) -> [f64x8<S>; 4] {
        let mut mean = [f64x8::splat(simd, 0.0); 4];
        for (tap, weight) in self.weights.iter().enumerate() {
            let at = x + tap * self.channels;
            for (mean, row) in mean.iter_mut().zip(&rows.0) {
                let values = f64x8::from_slice(simd, &row[at..at + HALF]);
                *mean = values.mul_add(f64x8::splat(simd, *weight), *mean);
            }
        }
        mean
    }
}

/// Sums over the vertical window for half (`UPPER` or not) of the 16 pixels from column `x`: a, b, a^2 + b^2 and a b.
#[inline(always)]
fn vertical<S: Simd, const UPPER: bool>(simd: S, taps: &[Tap<'_>], x: usize) -> [f64x8<S>; 4] {
    let [mut a, mut b, mut squares, mut products] = [f64x8::splat(simd, 0.0); 4];
    for ([row_a, row_b], weight) in taps {
        let (p, q) = (load(simd, row_a, x).widen(), load(simd, row_b, x).widen());
        let (p, q) = if UPPER { (p.1, q.1) } else { (p.0, q.0) };
        let (weighted_p, weighted_q) = (p * *weight, q * *weight);
        a += weighted_p;
        b += weighted_q;
        squares = weighted_p.mul_add(p, weighted_q.mul_add(q, squares));
        products = weighted_p.mul_add(q, products);
    }
    [a, b, squares, products]
}

/// Similarity of two pictures in eight windows.
#[derive(Clone, Copy)]
pub(super) struct WindowSimilarity<S: Simd> {
    /// Windowed means of a and b.
    pub(super) means: [f64x8<S>; 2],
    pub(super) luminance: f64x8<S>,
    pub(super) contrast: f64x8<S>,
    /// Denominators of luminance and contrast.
    pub(super) denominators: [f64x8<S>; 2],
}

impl<S: Simd> WindowSimilarity<S> {
    /// Similarity of windows by their means of a, b, a^2 + b^2 and a b, with C1 and C2 in the unit of the squares.
    #[inline(always)]
    pub(super) fn of([a, b, squares, product]: [f64x8<S>; 4], [c1, c2]: [f64; 2]) -> Self {
        let (ab, aa_bb) = (a * b, a * a + b * b);
        let denominators = [aa_bb + c1, squares - aa_bb + c2];
        Self {
            means: [a, b],
            luminance: (ab * 2.0 + c1) / denominators[0],
            contrast: ((product - ab) * 2.0 + c2) / denominators[1],
            denominators,
        }
    }

    #[inline(always)]
    pub(super) fn value(&self) -> f64x8<S> {
        self.luminance * self.contrast
    }
}
