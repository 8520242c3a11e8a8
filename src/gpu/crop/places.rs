//! Places of quads in the memory of the colour buffer.

use crate::zrop::framebuffer::bytes_per_quad;
use quadrille_base::raster::tiles::{QUADS_PER_TILE, TILE_LENGTH};
use quadrille_base::shading::ColourFormat;
use quadrille_machine::{LINE_BYTES, SECTOR_BYTES, line_at, lines_of};

/// Position in memory by position in the tile: along a Z-order curve, so that a line is a compact block
/// of pixels.
#[allow(clippy::cast_possible_truncation, reason = "64 quads a tile")]
const fn z_order() -> [u8; TILE_LENGTH] {
    let mut order = [0; TILE_LENGTH];
    let mut position = 0;
    while position < QUADS_PER_TILE as u8 {
        let (x, y) = (position % 8, position / 8);
        let mut z = 0;
        let mut bit = 0;
        while bit < 3 {
            z |= (x >> bit & 1) << (2 * bit) | (y >> bit & 1) << (2 * bit + 1);
            bit += 1;
        }
        order[position as usize] = z;
        position += 1;
    }
    order
}
const Z_ORDER: [u8; TILE_LENGTH] = z_order();

/// Line and sectors of a quad of `bytes` at byte `first` of its tile.
#[allow(
    clippy::cast_possible_truncation,
    reason = "a tile has 32 lines at most"
)]
fn place(first: u64, bytes: u64) -> (u8, u8) {
    let sector = first % LINE_BYTES / SECTOR_BYTES;
    let count = bytes.div_ceil(SECTOR_BYTES);
    (
        line_at(first) as u8,
        (((1_u32 << count) - 1) << sector) as u8,
    )
}

/// Places of quads in the colour buffer's memory.
#[derive(Debug)]
pub(crate) struct ColourPlaces {
    /// Lines of a screen tile.
    lines_per_tile: u32,
    /// Line in the tile and sectors, by position.
    places: [(u8, u8); TILE_LENGTH],
}

impl ColourPlaces {
    /// The places in a colour buffer of a format.
    pub(crate) fn new(format: ColourFormat) -> Self {
        let bytes = bytes_per_quad(format);
        Self {
            lines_per_tile: lines_of(u64::from(QUADS_PER_TILE) * bytes),
            places: Z_ORDER.map(|order| place(u64::from(order) * bytes, bytes)),
        }
    }

    /// Line and sectors of a quad, counted from the first line of the buffer.
    #[inline]
    pub(crate) fn of(&self, tile: u32, position: u8) -> (u32, u8) {
        let (line, sectors) = self.places[usize::from(position) % self.places.len()];
        (tile * self.lines_per_tile + u32::from(line), sectors)
    }

    /// Lines of the quads of a tile at `positions`, each once.
    #[inline(always)]
    pub(crate) fn lines(
        &self,
        tile: u32,
        positions: impl Iterator<Item = u8>,
    ) -> impl Iterator<Item = u32> {
        let line = |position: u8| self.places[usize::from(position) % self.places.len()].0;
        // A tile has 32 lines at most.
        let mut left = positions.fold(0, |lines, position| lines | 1_u32 << (line(position) % 32));
        let first = tile * self.lines_per_tile;
        std::iter::from_fn(move || {
            let line = (left != 0).then(|| first + left.trailing_zeros());
            left &= left.wrapping_sub(1);
            line
        })
    }
}
