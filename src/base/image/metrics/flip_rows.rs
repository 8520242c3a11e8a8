//! One row of a picture under the filters of FLIP, in lanes.

use fearless_simd::{Simd, f32x16, prelude::*};

use super::flip_colour::LUMINANCE_SCALE;
use super::flip_filters::Filters;
use super::flip_lanes::Colours;
use super::planes::Planes;
use super::separable::{Border, LANES, load, padded};
use crate::math::narrow;

/// Luminance filters: contrast sensitivity, the features' Gaussian and its two derivatives.
const OF_LUMINANCE: usize = 4;

/// Chroma filters by the contrast sensitivity: one for Cx, two summed ones for Cz.
const OF_CHROMA: usize = 3;

/// Weights of all filters by distance from the centre, padded with zeros to the longest filter.
pub(super) struct Taps {
    vertical: Vec<Vertical>,
    horizontal: Vec<Horizontal>,
}

#[derive(Clone, Copy)]
struct Vertical {
    luminance: [f32; OF_LUMINANCE],
    chroma: [f32; OF_CHROMA],
}

#[derive(Clone, Copy)]
struct Horizontal {
    seen: [f32; 4],
    features: [f32; 3],
}

impl Taps {
    pub(super) fn new(pixels_per_degree: f64) -> Self {
        let Filters { sensitivity, derivatives } = Filters::new(pixels_per_degree);
        let gaussians: Vec<&[Vec<f64>; 2]> = sensitivity.iter().flatten().collect();
        let taps = gaussians[0][0].len().max(derivatives[0].len());
        let at = |weights: &[f64], tap: usize| {
            let first = (taps - weights.len()) / 2;
            tap.checked_sub(first).and_then(|at| weights.get(at)).copied().unwrap_or(0.0)
        };
        let feature = |i: usize, tap: usize| at(&derivatives[i], tap);
        let vertical = (0..taps).map(|tap| {
            let seen = |i: usize| at(&gaussians[i][0], tap);
            // Features are differences of luminance in units of white, so its offset cancels.
            let [gaussian, first, second] = [0, 1, 2].map(|i| feature(i, tap) / LUMINANCE_SCALE);
            Vertical {
                luminance: [seen(0), gaussian, first, second].map(narrow),
                chroma: [1, 2, 3].map(|i| narrow(seen(i))),
            }
        });
        let horizontal = (0..taps).map(|tap| Horizontal {
            seen: [0, 1, 2, 3].map(|i| narrow(at(&gaussians[i][1], tap))),
            features: [0, 1, 2].map(|i| narrow(feature(i, tap))),
        });
        Self { vertical: vertical.collect(), horizontal: horizontal.collect() }
    }

    fn reach(&self) -> usize {
        self.vertical.len() / 2
    }
}

pub(super) struct FilteredRow {
    width: usize,
    luminance: [Vec<f32>; OF_LUMINANCE],
    chroma: [Vec<f32>; OF_CHROMA],
}

impl FilteredRow {
    pub(super) fn new(width: usize) -> Self {
        Self { width, luminance: Default::default(), chroma: Default::default() }
    }

    #[inline(always)]
    pub(super) fn filter_columns<S: Simd>(
        &mut self,
        simd: S,
        picture: &Planes,
        taps: &Taps,
        y: usize,
    ) {
        let (width, reach) = (self.width, taps.reach());
        for row in self.luminance.iter_mut().chain(&mut self.chroma) {
            row.resize(padded(width, reach), 0.0);
        }
        let rows = Border::Nearest.rows(y, taps.vertical.len(), picture[0].len() / width);
        let slices = |row: usize| picture.each_ref().map(|plane| &plane[row * width..][..width]);
        let sources: Vec<[&[f32]; 3]> = rows.flatten().map(slices).collect();
        for x in (0..width).step_by(LANES) {
            let mut luminance = [f32x16::splat(simd, 0.0); OF_LUMINANCE];
            let mut chroma = [f32x16::splat(simd, 0.0); OF_CHROMA];
            // Weights of derivatives sum to 0. The value at the centre is subtracted first, so that rounding leaves no
            // remainder, which the root of a feature's difference would magnify.
            let centre = load(simd, sources[reach][0], x);
            for ([row, ..], tap) in sources.iter().zip(&taps.vertical) {
                let values = load(simd, row, x);
                let change = values - centre;
                for (i, values) in [values, values, change, change].into_iter().enumerate() {
                    let weight = f32x16::splat(simd, tap.luminance[i]);
                    luminance[i] = values.mul_add(weight, luminance[i]);
                }
            }
            for ([_, cx, cz], tap) in sources.iter().zip(&taps.vertical) {
                let (cx, cz) = (load(simd, cx, x), load(simd, cz, x));
                let weight = |i: usize| f32x16::splat(simd, tap.chroma[i]);
                chroma[0] = cx.mul_add(weight(0), chroma[0]);
                chroma[1] = cz.mul_add(weight(1), chroma[1]);
                chroma[2] = cz.mul_add(weight(2), chroma[2]);
            }
            let at = reach + x..reach + x + LANES;
            for (row, values) in self.luminance.iter_mut().zip(luminance) {
                values.store_slice(&mut row[at.clone()]);
            }
            for (row, values) in self.chroma.iter_mut().zip(chroma) {
                values.store_slice(&mut row[at.clone()]);
            }
        }
        for row in self.luminance.iter_mut().chain(&mut self.chroma) {
            Border::Nearest.extend(row, reach, width);
        }
    }

    #[inline(always)]
    pub(super) fn seen<S: Simd>(&self, simd: S, taps: &Taps, x: usize) -> Colours<S> {
        let [cx, cz, cz_too] = &self.chroma;
        let mut sums = [f32x16::splat(simd, 0.0); 4];
        for (offset, tap) in taps.horizontal.iter().enumerate() {
            let at = x + offset..x + offset + LANES;
            for (i, row) in [&self.luminance[0], cx, cz, cz_too].into_iter().enumerate() {
                let values = f32x16::from_slice(simd, &row[at.clone()]);
                sums[i] = values.mul_add(f32x16::splat(simd, tap.seen[i]), sums[i]);
            }
        }
        [sums[0], sums[1], sums[2] + sums[3]]
    }

    #[inline(always)]
    pub(super) fn features<S: Simd>(&self, simd: S, taps: &Taps, x: usize) -> [f32x16<S>; 2] {
        let [_, gaussian, first, second] = &self.luminance;
        // Horizontal and vertical edges, horizontal and vertical points.
        let mut sums = [f32x16::splat(simd, 0.0); 4];
        let centre = f32x16::from_slice(simd, &gaussian[x + taps.reach()..][..LANES]);
        for (offset, tap) in taps.horizontal.iter().enumerate() {
            let at = x + offset..x + offset + LANES;
            let weight = |i: usize| f32x16::splat(simd, tap.features[i]);
            let change = f32x16::from_slice(simd, &gaussian[at.clone()]) - centre;
            sums[0] = change.mul_add(weight(1), sums[0]);
            let values = f32x16::from_slice(simd, &first[at.clone()]);
            sums[1] = values.mul_add(weight(0), sums[1]);
            sums[2] = change.mul_add(weight(2), sums[2]);
            let values = f32x16::from_slice(simd, &second[at]);
            sums[3] = values.mul_add(weight(0), sums[3]);
        }
        let length = |x: f32x16<S>, y: f32x16<S>| x.mul_add(x, y * y).sqrt();
        [length(sums[0], sums[1]), length(sums[2], sums[3])]
    }
}
