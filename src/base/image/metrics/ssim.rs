//! Structural similarity: Wang et al. 2004, as the authors of 3D Gaussian splatting measure it (`utils/loss_utils.py`).

use fearless_simd::{Simd, dispatch, f64x8, prelude::*};
use rayon::prelude::*;

use super::planes::Pair;
use super::separable::{Border, LANES, load, padded};
use crate::math::SimdLevel;

pub(super) const WINDOW_PIXELS: usize = 11;

const REACH: usize = WINDOW_PIXELS / 2;

const WINDOW_SIGMA_PIXELS: f64 = 1.5;

/// `(K1 L)^2` with K1 = 0.01 and a peak L of 1.
pub(super) const C1: f64 = 0.01 * 0.01;

/// `(K2 L)^2` with K2 = 0.03 and a peak L of 1.
pub(super) const C2: f64 = 0.03 * 0.03;

const HALF: usize = LANES / 2;

/// Mean structural similarity over the pixels that count and three channels: -1 to 1, and 1 for equal pictures. In f64,
/// since variances are small differences of large means; levels of vector instructions differ by less than 1e-12.
///
/// Without a `border`, pixels whose windows reach beyond the edge are left out; if no pixel is left, the border is zero.
pub(super) fn ssim(pair: &Pair, border: Option<Border>, level: SimdLevel) -> f64 {
    let counted = Counted { pair, margin: if border.is_none() { REACH } else { 0 } };
    let border = border.unwrap_or(Border::Zero);
    let count: usize = (0..pair.height).map(|y| counted.of_row(y)).sum();
    if count == 0 {
        return ssim(pair, Some(border), level);
    }
    let window = window();
    let [a, b] = &pair.colours;
    let mut sum = 0.0;
    for (a, b) in a.iter().zip(b) {
        let channel = Channel { pictures: [a, b], counted: &counted, window: &window, border };
        let rows = (0..pair.height).into_par_iter().map_init(
            || Means::new(pair.width),
            |means, y| dispatch!(level.level(), simd => channel.row_sum(simd, means, y)),
        );
        // Summed in the order of the rows, so that threads do not change the result.
        sum += rows.collect::<Vec<f64>>().iter().sum::<f64>();
    }
    sum / (3.0 * count as f64)
}

pub(super) fn window() -> [f64; WINDOW_PIXELS] {
    let weights: [f64; WINDOW_PIXELS] = std::array::from_fn(|i| {
        let distance = (i as f64 - REACH as f64) / WINDOW_SIGMA_PIXELS;
        (-0.5 * distance * distance).exp()
    });
    let sum: f64 = weights.iter().sum();
    weights.map(|weight| weight / sum)
}

struct Counted<'a> {
    pair: &'a Pair,
    /// Pixels at each edge that do not count.
    margin: usize,
}

impl Counted<'_> {
    fn of_row(&self, y: usize) -> usize {
        let columns = self.columns(y);
        let mask = self.pair.mask.as_ref();
        mask.map_or(columns.len(), |mask| {
            let row = &mask[y * self.pair.width..][columns.clone()];
            row.iter().filter(|counts| **counts).count()
        })
    }

    fn columns(&self, y: usize) -> std::ops::Range<usize> {
        let Pair { width, height, .. } = *self.pair;
        if y < self.margin || y + self.margin >= height || 2 * self.margin >= width {
            return 0..0;
        }
        self.margin..width - self.margin
    }

    /// Writes 1 for each counted pixel of row `y`, 0 for the others.
    fn weights(&self, y: usize, weights: &mut [f64]) {
        let columns = self.columns(y);
        weights.fill(0.0);
        weights[columns.clone()].fill(1.0);
        if let Some(mask) = &self.pair.mask {
            let row = &mask[y * self.pair.width..][..self.pair.width];
            for x in columns {
                weights[x] = f64::from(u8::from(row[x]));
            }
        }
    }
}

/// Windowed means of one row under the vertical window: a, b, a^2 + b^2 and a b.
struct Means {
    vertical: [Vec<f64>; 4],
    weights: Vec<f64>,
}

impl Means {
    fn new(width: usize) -> Self {
        let length = padded(width, REACH);
        Self {
            vertical: [(); 4].map(|()| vec![0.0; length]),
            weights: vec![0.0; width.next_multiple_of(LANES)],
        }
    }
}

struct Channel<'a> {
    pictures: [&'a [f32]; 2],
    counted: &'a Counted<'a>,
    window: &'a [f64; WINDOW_PIXELS],
    border: Border,
}

type Tap<'a> = ([&'a [f32]; 2], f64);

impl Channel<'_> {
    /// Sum of the similarities over the counted pixels of row `y`.
    #[inline(always)]
    fn row_sum<S: Simd>(&self, simd: S, means: &mut Means, y: usize) -> f64 {
        let Pair { width, height, .. } = *self.counted.pair;
        let rows = self.border.rows(y, WINDOW_PIXELS, height);
        let tap = |(row, weight): (Option<usize>, &f64)| {
            let row = row?;
            Some((self.pictures.map(|p| &p[row * width..(row + 1) * width]), *weight))
        };
        let taps: Vec<Tap<'_>> = rows.zip(self.window).filter_map(tap).collect();
        let [a, b, squares, products] = &mut means.vertical;
        for x in (0..width).step_by(LANES) {
            for half in [0, HALF] {
                let sums = match half {
                    0 => vertical::<S, false>(simd, &taps, x),
                    _ => vertical::<S, true>(simd, &taps, x),
                };
                let at = REACH + x + half;
                sums[0].store_slice(&mut a[at..at + HALF]);
                sums[1].store_slice(&mut b[at..at + HALF]);
                sums[2].store_slice(&mut squares[at..at + HALF]);
                sums[3].store_slice(&mut products[at..at + HALF]);
            }
        }
        for row in &mut means.vertical {
            self.border.extend(row, REACH, width);
        }
        self.counted.weights(y, &mut means.weights);
        self.horizontal(simd, means)
    }

    #[inline(always)]
    fn horizontal<S: Simd>(&self, simd: S, means: &Means) -> f64 {
        let peak = f64::from(self.counted.pair.peak);
        // Scaling the constants is cheaper than scaling the values, and similarity is the same in any unit.
        let [c1, c2] = [C1, C2].map(|c| c * peak * peak);
        let mut sum = f64x8::splat(simd, 0.0);
        for (block, weights) in means.weights.chunks_exact(HALF).enumerate() {
            let mut mean = [f64x8::splat(simd, 0.0); 4];
            for (tap, weight) in self.window.iter().enumerate() {
                let at = block * HALF + tap;
                for (mean, row) in mean.iter_mut().zip(&means.vertical) {
                    let values = f64x8::from_slice(simd, &row[at..at + HALF]);
                    *mean = values.mul_add(f64x8::splat(simd, *weight), *mean);
                }
            }
            let [a, b, squares, product] = mean;
            let (ab, aa_bb) = (a * b, a * a + b * b);
            let luminance = (ab * 2.0 + c1) / (aa_bb + c1);
            let contrast = ((product - ab) * 2.0 + c2) / (squares - aa_bb + c2);
            let counted = f64x8::from_slice(simd, weights);
            sum = (luminance * contrast).mul_add(counted, sum);
        }
        <[f64; HALF]>::from(sum).iter().sum()
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
