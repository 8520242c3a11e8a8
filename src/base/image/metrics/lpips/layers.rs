//! The layers without weights, and the comparison of maps.

use std::ops::Range;

use rayon::prelude::*;

use super::maps::{LANES, Lanes, MARGIN, Maps};
use super::network::{POOL_STRIDE, pooled};
use crate::math::SimdLevel;
use crate::math::buffer::Buffer;

/// Added to the length of a pixel's channels before the division, as in the authors' program.
const LENGTH_EPSILON: f32 = 1e-10;

/// Maximum pooling of `rows` in the memory of `old`; pixels that fill no window are left out.
pub(super) fn pool(
    level: SimdLevel,
    input: &Maps,
    window: usize,
    rows: Range<usize>,
    old: Buffer<Lanes>,
) -> Maps {
    let mut output = Maps::in_place_of(old, pooled(input.size, window), rows);
    let [width, pitch] = [output.size.width, output.pitch()];
    output.fill_bands(1, |y, values| {
        level.run(|| {
            for (block, row) in values.chunks_mut(pitch).enumerate() {
                pool_row(&mut row[MARGIN..][..width], window, |offset| {
                    input.pixels(y * POOL_STRIDE + offset, block)
                });
            }
        });
    });
    output
}

#[inline(always)]
fn pool_row<'a>(row: &mut [Lanes], window: usize, source: impl Fn(usize) -> &'a [Lanes]) {
    // Values are rectified, so none is below 0.
    row.fill([0.0; LANES]);
    for offset in 0..window {
        let pixels = source(offset);
        for (x, maximum) in row.iter_mut().enumerate() {
            for pixel in &pixels[x * POOL_STRIDE..][..window] {
                for (maximum, value) in maximum.iter_mut().zip(pixel) {
                    *maximum = maximum.max(*value);
                }
            }
        }
    }
}

/// Squared difference of length-normalised channels, weighted by channel: summed over `rows`, divided by all pixels.
pub(super) fn difference(
    level: SimdLevel,
    maps: &[Maps; 2],
    weights: &[Lanes],
    rows: Range<usize>,
) -> f64 {
    let rows = rows.into_par_iter().map_init(
        || [const { Vec::new() }; 3],
        |scratch, y| level.run(|| row_difference(maps, y, weights, scratch)),
    );
    // Summed in the order of the rows, so that threads do not change the result.
    let sum: f64 = rows.collect::<Vec<f64>>().iter().sum();
    let size = maps[0].size;
    sum / (size.width as f64 * size.height as f64)
}

#[inline(always)]
fn row_difference(
    maps: &[Maps; 2],
    y: usize,
    weights: &[Lanes],
    scratch: &mut [Vec<Lanes>; 3],
) -> f64 {
    let [lengths @ .., sums] = scratch;
    for (maps, squares) in maps.iter().zip(lengths.iter_mut()) {
        squares.clear();
        squares.resize(maps.size.width, [0.0; LANES]);
        for block in 0..maps.blocks() {
            for (pixel, squares) in maps.pixels(y, block).iter().zip(squares.iter_mut()) {
                for (square, value) in squares.iter_mut().zip(pixel) {
                    *square += value * value;
                }
            }
        }
        for squares in squares.iter_mut() {
            let length = squares.iter().sum::<f32>().sqrt();
            *squares = [1.0 / (length + LENGTH_EPSILON); LANES];
        }
    }
    sums.clear();
    sums.resize(maps[0].size.width, [0.0; LANES]);
    for (block, weights) in weights.iter().enumerate() {
        let [a, b] = [maps[0].pixels(y, block), maps[1].pixels(y, block)];
        for (x, sums) in sums.iter_mut().enumerate() {
            let [a, b, per_a, per_b] = [&a[x], &b[x], &lengths[0][x], &lengths[1][x]];
            for lane in 0..LANES {
                let difference = a[lane] * per_a[lane] - b[lane] * per_b[lane];
                sums[lane] += weights[lane] * difference * difference;
            }
        }
    }
    sums.iter().flatten().copied().map(f64::from).sum()
}
