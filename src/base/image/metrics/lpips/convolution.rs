//! Convolution followed by rectification, on vectors of output channels.

use std::ops::Range;

use fearless_simd::{dispatch, f32x16, prelude::*};

use super::maps::{LANES, Lanes, MARGIN, Maps};
use super::network::{Shape, Stride};
use crate::math::SimdLevel;
use crate::math::buffer::Buffer;

/// Rows per thread at a time, at most; more rows reuse cached weights more often.
const BAND_ROWS: usize = 4;

/// Bands per thread, so that threads finish at about the same time.
const BANDS_PER_THREAD: usize = 6;

pub(super) struct Convolution {
    shape: Shape,
    bias: Vec<Lanes>,
    /// Order: group of output blocks, input block, kernel row and column, input channel, block of the group.
    weights: Vec<Lanes>,
    level: SimdLevel,
}

impl Convolution {
    /// Reorders `weights` (output channel, input channel, row, column) for a SIMD level.
    pub(super) fn new(shape: Shape, weights: &[f32], bias: &[f32], level: SimdLevel) -> Self {
        let [outputs, inputs] = [shape.outputs, shape.inputs];
        let taps = shape.kernel * shape.kernel;
        let lanes = |block: usize, value: &dyn Fn(usize) -> f32| -> Lanes {
            let channel = |lane: usize| block * LANES + lane;
            std::array::from_fn(
                |lane| if channel(lane) < outputs { value(channel(lane)) } else { 0.0 },
            )
        };
        let blocks: Vec<usize> = (0..outputs.div_ceil(LANES)).collect();
        let mut ordered = Vec::with_capacity(blocks.len() * inputs * taps);
        for group in groups(&blocks, level) {
            for first in (0..inputs).step_by(LANES) {
                for tap in 0..taps {
                    for input in first..inputs.min(first + LANES) {
                        let weight = |o: usize| weights[(o * inputs + input) * taps + tap];
                        ordered.extend(group.iter().map(|&block| lanes(block, &weight)));
                    }
                }
            }
        }
        Self {
            shape,
            bias: blocks.iter().map(|&b| lanes(b, &|o| bias[o])).collect(),
            weights: ordered,
            level,
        }
    }

    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    /// Computes `rows` of the layer's maps in the memory of `old`. The result is the same on any number of threads; levels
    /// with and without fused multiply-add differ by rounding.
    pub(super) fn apply(&self, input: &Maps, rows: Range<usize>, old: Buffer<Lanes>) -> Maps {
        let bands = BANDS_PER_THREAD * rayon::current_num_threads();
        let band_rows = rows.len().div_ceil(bands).clamp(1, BAND_ROWS);
        let mut output = Maps::in_place_of(old, self.shape.size(input.size), rows);
        let [width, pitch] = [output.size.width, output.pitch()];
        output.fill_bands(band_rows, |first_row, values| {
            let mut band = Band { layer: self, input, first_row, width, pitch, values };
            dispatch!(self.level.level(), simd => band.compute(simd));
        });
        output
    }
}

fn groups(blocks: &[usize], level: SimdLevel) -> impl Iterator<Item = &[usize]> {
    let length = dispatch!(level.level(), simd => group_length(simd));
    let (groups, rest) = blocks.split_at(blocks.len() - blocks.len() % length);
    groups.chunks(length).chain(rest.chunks(1))
}

#[inline(always)]
fn group_length<S: Simd>(_: S) -> usize {
    if S::f32s::LEN == LANES { 2 } else { 1 }
}

struct Band<'a> {
    layer: &'a Convolution,
    input: &'a Maps,
    first_row: usize,
    width: usize,
    pitch: usize,
    values: &'a mut [Lanes],
}

impl Band<'_> {
    /// Computes all blocks. The tile, pixels by blocks of channels, is chosen so that its sums fill the level's registers.
    #[inline(always)]
    fn compute<S: Simd>(&mut self, simd: S) {
        match (S::f32s::LEN, self.layer.shape.stride) {
            // 28 of 32 registers hold sums.
            (16, Stride::One) => self.all_groups::<S, 14, 2, 1>(simd),
            (16, Stride::Four) => self.all_groups::<S, 14, 2, 4>(simd),
            // 12 of 16 registers hold sums, two for each pixel.
            (8, Stride::One) => self.all_groups::<S, 6, 1, 1>(simd),
            (8, Stride::Four) => self.all_groups::<S, 6, 1, 4>(simd),
            // 8 of 16 registers hold sums, four for each pixel.
            (_, Stride::One) => self.all_groups::<S, 2, 1, 1>(simd),
            (_, Stride::Four) => self.all_groups::<S, 2, 1, 4>(simd),
        }
    }

    #[inline(always)]
    fn all_groups<S: Simd, const P: usize, const Q: usize, const STRIDE: usize>(
        &mut self,
        simd: S,
    ) {
        let blocks = self.layer.bias.len();
        let together = blocks - blocks % Q;
        for output in (0..together).step_by(Q) {
            self.group::<S, P, Q, STRIDE>(simd, output);
        }
        for output in together..blocks {
            self.group::<S, P, 1, STRIDE>(simd, output);
        }
    }

    /// Computes `Q` blocks from `output` on. Their weights and one block of inputs stay in the cache over the whole band.
    #[inline(always)]
    fn group<S: Simd, const P: usize, const Q: usize, const STRIDE: usize>(
        &mut self,
        simd: S,
        output: usize,
    ) {
        let width = self.width;
        let rows = self.values.len() / (self.layer.bias.len() * self.pitch);
        for input in 0..self.input.blocks() {
            for row in 0..rows {
                let mut line = Line::<Q>::new(self, output, input, row);
                let mut x = 0;
                while x + P <= width {
                    line.tile::<S, P, STRIDE>(simd, x);
                    x += P;
                }
                while x + 4 <= width {
                    line.tile::<S, 4, STRIDE>(simd, x);
                    x += 4;
                }
                while x < width {
                    line.tile::<S, 1, STRIDE>(simd, x);
                    x += 1;
                }
            }
        }
    }
}

struct Line<'a, const Q: usize> {
    layer: &'a Convolution,
    input: &'a Maps,
    blocks: [usize; 2],
    y: usize,
    values: &'a mut [Lanes],
    pitch: usize,
    weights: &'a [Lanes],
}

impl<'a, const Q: usize> Line<'a, Q> {
    fn new(band: &'a mut Band<'_>, output: usize, input: usize, row: usize) -> Self {
        let layer = band.layer;
        let taps = layer.shape.kernel * layer.shape.kernel;
        let depth = LANES.min(layer.shape.inputs - input * LANES);
        let weights = (output * layer.shape.inputs + input * LANES * Q) * taps;
        let start = (row * layer.bias.len() + output) * band.pitch;
        Self {
            layer,
            input: band.input,
            blocks: [output, input],
            y: band.first_row + row,
            values: &mut band.values[start..][..Q * band.pitch],
            pitch: band.pitch,
            weights: &layer.weights[weights..][..Q * depth * taps],
        }
    }

    #[expect(
        clippy::needless_range_loop,
        reason = "with iterators, the sums would not stay in registers: a quarter more time"
    )]
    #[inline(always)]
    fn tile<S: Simd, const P: usize, const STRIDE: usize>(&mut self, simd: S, x: usize) {
        let shape = self.layer.shape;
        let [output, input] = self.blocks;
        if input == 0 {
            let bias = &self.layer.bias[output..][..Q];
            for (row, bias) in self.values.chunks_mut(self.pitch).zip(bias) {
                row[MARGIN + x..][..P].fill(*bias);
            }
        }
        let mut sums = [[f32x16::splat(simd, 0.0); P]; Q];
        for q in 0..Q {
            let row = &self.values[q * self.pitch + MARGIN + x..][..P];
            for p in 0..P {
                sums[q][p] = f32x16::simd_from(simd, row[p]);
            }
        }
        let depth = self.weights.len() / (Q * shape.kernel * shape.kernel);
        let (weights, _) = self.weights.as_chunks::<Q>();
        for row in 0..shape.kernel {
            let y = (self.y * STRIDE + row).checked_sub(shape.padding);
            let Some(y) = y.filter(|&y| y < self.input.size.height) else { continue };
            let pixels = &self.input.row(y, input)[MARGIN - shape.padding + x * STRIDE..];
            for column in 0..shape.kernel {
                let tap = (row * shape.kernel + column) * depth;
                let weights = &weights[tap..][..depth];
                sums = add_tap::<S, P, Q, STRIDE>(simd, sums, &pixels[column..], weights);
            }
        }
        let is_last = input + 1 == self.input.blocks();
        let least = f32x16::splat(simd, if is_last { 0.0 } else { f32::MIN });
        for q in 0..Q {
            let row = &mut self.values[q * self.pitch + MARGIN + x..][..P];
            for p in 0..P {
                sums[q][p].max(least).store_slice(&mut row[p]);
            }
        }
    }
}

/// Adds the product of one kernel weight and the pixels under it, for each input channel of a block.
#[inline(always)]
fn add_tap<S: Simd, const P: usize, const Q: usize, const STRIDE: usize>(
    simd: S,
    mut sums: [[f32x16<S>; P]; Q],
    pixels: &[Lanes],
    weights: &[[Lanes; Q]],
) -> [[f32x16<S>; P]; Q] {
    // A slice of known length, so that no index below is checked.
    let pixels = &pixels[..(P - 1) * STRIDE + 1];
    for (channel, weights) in weights.iter().enumerate() {
        // No `map`: it would not be inlined, and the sums would leave the registers.
        let mut lanes = [f32x16::splat(simd, 0.0); Q];
        for q in 0..Q {
            lanes[q] = f32x16::simd_from(simd, weights[q]);
        }
        for p in 0..P {
            let pixel = f32x16::splat(simd, pixels[p * STRIDE][channel % LANES]);
            for q in 0..Q {
                sums[q][p] = pixel.mul_add(lanes[q], sums[q][p]);
            }
        }
    }
    sums
}
