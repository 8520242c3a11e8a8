//! The test of all samples of a pixel at once, with the same bits as [`sample_test`].

use fearless_simd::{Simd, f32x16, prelude::*};

use super::sample_test::{Sample, sample_test};
use super::triangle::MovingTriangle;
use crate::deferred::camera::lens::LensShear;
use crate::deferred::sample::pattern::{LANES, PixelSamples};
use crate::math::lanes::mask_bits;

/// What all sample tests of a frame share.
#[derive(Debug, Clone, Copy)]
pub struct TestView {
    /// Shear of the lens.
    pub shear: LensShear,
    /// Distance of the near plane.
    pub near: f32,
    /// Column and row of the picture's centre, in pixels.
    pub centre: [f32; 2],
}

impl TestView {
    /// A sample of a pixel.
    pub fn sample(&self, [x, y]: [u32; 2], samples: &PixelSamples, lane: usize) -> Sample {
        let [left, top] = self.corner([x, y]);
        Sample {
            xy: [left + samples.x[lane], top + samples.y[lane]],
            uv: [samples.u[lane], samples.v[lane]],
            t: samples.t[lane],
        }
    }

    /// The top left corner of a pixel, from the picture's centre.
    #[allow(
        clippy::cast_precision_loss,
        reason = "pictures have at most 2^15 pixels per side"
    )]
    #[inline(always)]
    fn corner(&self, [x, y]: [u32; 2]) -> [f32; 2] {
        [x as f32 - self.centre[0], y as f32 - self.centre[1]]
    }
}

/// Hits of the samples of a pixel.
#[derive(Debug, Clone, Copy)]
pub struct PixelHits<S: Simd> {
    /// Samples that are hit.
    pub hits: u16,
    /// Weights of the corners, as in [`TriangleHit::weights`](super::sample_test::TriangleHit); valid where
    /// a sample is hit.
    pub weights: [f32x16<S>; 3],
    /// Depths, valid where a sample is hit.
    pub depth: f32x16<S>,
}

/// Tests the samples of a pixel that are in `wanted`.
#[inline(always)]
pub fn test_pixel<S: Simd>(
    simd: S,
    triangle: &MovingTriangle,
    view: &TestView,
    (pixel, samples): ([u32; 2], &PixelSamples),
    wanted: u16,
) -> PixelHits<S> {
    let zero = f32x16::splat(simd, 0.0);
    let t = f32x16::from_slice(simd, &samples.t);
    let [u, v] = [
        f32x16::from_slice(simd, &samples.u),
        f32x16::from_slice(simd, &samples.v),
    ];
    let [left, top] = view.corner(pixel);
    let [column, row] = [
        f32x16::from_slice(simd, &samples.x) + left,
        f32x16::from_slice(simd, &samples.y) + top,
    ];
    let along = [u * view.shear.a[0] - column, v * view.shear.a[1] - row];
    let aside = [u * view.shear.b[0], v * view.shear.b[1]];
    let (mut x, mut y, mut z) = ([zero; 3], [zero; 3], [zero; 3]);
    for i in 0..3 {
        let (p, d) = (&triangle.start[i], &triangle.change[i]);
        z[i] = f32x16::splat(simd, p[2]) + t * d[2];
        x[i] = ((f32x16::splat(simd, p[0]) + t * d[0]) + aside[0]) + along[0] * z[i];
        y[i] = ((f32x16::splat(simd, p[1]) + t * d[1]) + aside[1]) + along[1] * z[i];
    }
    let mut weights = [zero; 3];
    let (mut below, mut above) = ([0; 3], [0; 3]);
    for i in 0..3 {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        weights[i] = x[j] * y[k] - x[k] * y[j];
        below[i] = mask_bits(weights[i].simd_lt(zero));
        above[i] = mask_bits(weights[i].simd_gt(zero));
    }
    let mut hits = 0;
    if triangle.faces.front {
        hits |= below[0] & below[1] & below[2];
    }
    if triangle.faces.back {
        hits |= above[0] & above[1] & above[2];
    }
    // Samples on an edge, or with a weight that is not a number, are rare.
    let signed = (below[0] | above[0]) & (below[1] | above[1]) & (below[2] | above[2]);
    let unsigned = !signed & wanted;
    let mut found = PixelHits {
        hits: hits & wanted,
        weights,
        depth: zero,
    };
    // Most pixels that are tested have no hit.
    if found.hits | unsigned == 0 {
        return found;
    }
    let sum = (weights[0] + weights[1]) + weights[2];
    let distance = (weights[0] * z[0] + weights[1] * z[1]) + weights[2] * z[2];
    found.depth = sum * view.near / distance;
    let is_in_front = found.depth.simd_gt(zero) & found.depth.simd_le(f32x16::splat(simd, 1.0));
    found.hits &= mask_bits(is_in_front);
    if unsigned != 0 {
        found.hits |= on_edges(triangle, view, (pixel, samples), unsigned);
    }
    found
}

/// The hits among samples that lie on edges.
#[cold]
fn on_edges(
    triangle: &MovingTriangle,
    view: &TestView,
    (pixel, samples): ([u32; 2], &PixelSamples),
    wanted: u16,
) -> u16 {
    let is_hit = |lane: &usize| {
        let sample = view.sample(pixel, samples, *lane);
        sample_test(triangle, &view.shear, view.near, &sample).is_some()
    };
    let lanes = (0..LANES).filter(|lane| wanted >> lane & 1 == 1);
    lanes.filter(is_hit).fold(0, |bits, lane| bits | 1 << lane)
}
