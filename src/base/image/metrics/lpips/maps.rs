//! Feature maps of one picture.

use rayon::prelude::*;

use crate::math::buffer::Buffer;

/// Channels that are stored together, and lanes of the convolution's vectors.
pub(super) const LANES: usize = 16;

/// Zeros on the left and on the right of each row, in pixels: the largest padding of a convolution.
pub(super) const MARGIN: usize = 2;

/// One pixel's values in a block of [`LANES`] channels.
pub(super) type Lanes = [f32; LANES];

/// The channels of one layer, as a row of pixels for each block of channels for each row of the picture.
/// Channels of the last block that the layer does not have are 0.
pub(super) struct Maps {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) channels: usize,
    values: Buffer<Lanes>,
}

impl Maps {
    /// Maps whose rows are to be filled, in the memory of `old`, whose content is ignored.
    pub(super) fn in_place_of(
        old: Buffer<Lanes>,
        [width, height]: [usize; 2],
        channels: usize,
    ) -> Self {
        let mut maps = Self {
            width,
            height,
            channels,
            values: old,
        };
        maps.values
            .reserve_zeroed(height * maps.blocks() * maps.pitch());
        maps
    }

    /// The memory, for other maps.
    pub(super) fn into_buffer(self) -> Buffer<Lanes> {
        self.values
    }

    /// Number of blocks of channels.
    pub(super) fn blocks(&self) -> usize {
        self.channels.div_ceil(LANES)
    }

    /// Length of a row with its margins.
    pub(super) fn pitch(&self) -> usize {
        self.width + 2 * MARGIN
    }

    /// One block's row with its margins.
    pub(super) fn row(&self, y: usize, block: usize) -> &[Lanes] {
        let pitch = self.pitch();
        &self.values[(y * self.blocks() + block) * pitch..][..pitch]
    }

    /// One block's row without margins.
    pub(super) fn pixels(&self, y: usize, block: usize) -> &[Lanes] {
        &self.row(y, block)[MARGIN..][..self.width]
    }

    /// Calls `fill` in parallel for bands of at most `rows` rows: with the first row, and with the values of the
    /// band, a row with its margins for each block for each row. The margins are 0.
    pub(super) fn fill_bands(&mut self, rows: usize, fill: impl Fn(usize, &mut [Lanes]) + Sync) {
        let [pitch, row_length] = [self.pitch(), self.blocks() * self.pitch()];
        let values = &mut self.values[..self.height * row_length];
        let bands = values.par_chunks_mut(rows * row_length).enumerate();
        bands.for_each(|(band, values)| {
            for row in values.chunks_mut(pitch) {
                row[..MARGIN].fill([0.0; LANES]);
                row[pitch - MARGIN..].fill([0.0; LANES]);
            }
            fill(band * rows, values);
        });
    }
}
