//! Feature maps of a picture.

use std::ops::Range;

use rayon::prelude::*;

use crate::math::buffer::Buffer;

/// Channels per block, and lanes of the convolution's vectors.
pub(super) const LANES: usize = 16;

/// Zeros on either side of a row, in pixels: the largest padding of a convolution.
pub(super) const MARGIN: usize = 2;

pub(super) type Lanes = [f32; LANES];

#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) channels: usize,
}

/// Rows of the maps of one layer: per picture row, one row for each block of channels. Missing channels are 0.
pub(super) struct Maps {
    pub(super) size: Size,
    pub(super) rows: Range<usize>,
    values: Buffer<Lanes>,
}

impl Maps {
    /// Creates maps in the memory of `old`, with undefined content.
    pub(super) fn in_place_of(old: Buffer<Lanes>, size: Size, rows: Range<usize>) -> Self {
        let mut maps = Self { size, rows, values: old };
        maps.values.reserve_zeroed(maps.rows.len() * maps.row_length());
        maps
    }

    pub(super) fn into_buffer(self) -> Buffer<Lanes> {
        self.values
    }

    pub(super) fn copy(&mut self, strip: &Self) {
        let [length, row_length] = [strip.rows.len() * self.row_length(), self.row_length()];
        let start = (strip.rows.start - self.rows.start) * row_length;
        self.values[start..][..length].copy_from_slice(&strip.values[..length]);
    }

    pub(super) fn blocks(&self) -> usize {
        self.size.channels.div_ceil(LANES)
    }

    pub(super) fn pitch(&self) -> usize {
        self.size.width + 2 * MARGIN
    }

    fn row_length(&self) -> usize {
        self.blocks() * self.pitch()
    }

    pub(super) fn row(&self, y: usize, block: usize) -> &[Lanes] {
        let start = (y - self.rows.start) * self.row_length() + block * self.pitch();
        &self.values[start..][..self.pitch()]
    }

    pub(super) fn pixels(&self, y: usize, block: usize) -> &[Lanes] {
        &self.row(y, block)[MARGIN..][..self.size.width]
    }

    /// Calls `fill` in parallel for bands of at most `rows` rows, with the first row and all values, margins included (0).
    pub(super) fn fill_bands(&mut self, rows: usize, fill: impl Fn(usize, &mut [Lanes]) + Sync) {
        let [pitch, row_length] = [self.pitch(), self.row_length()];
        let first = self.rows.start;
        let values = &mut self.values[..self.rows.len() * row_length];
        values.par_chunks_mut(rows * row_length).enumerate().for_each(|(band, values)| {
            for row in values.chunks_mut(pitch) {
                row[..MARGIN].fill([0.0; LANES]);
                row[pitch - MARGIN..].fill([0.0; LANES]);
            }
            fill(first + band * rows, values);
        });
    }
}
