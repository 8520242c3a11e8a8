//! Places of the sums of splats in the tiles that they touch.

use rayon::prelude::*;

use super::tile::TILE_PX;
use crate::preprocess::{PixelBounds, Projected};
use quadrille_base::math::buffer::{Buffer, Line};
use quadrille_base::math::{fit, index};
use quadrille_base::{Error, Result};

/// Memory of the first phase, which later pictures use again.
#[derive(Debug, Default)]
pub(super) struct ReplayBuffers {
    /// Records of the splats of each tile.
    pub(super) records: Buffer<Line>,
    /// Per place: the position of its record plus one, or 0 without a record.
    pub(super) positions: Buffer<u64>,
}

impl ReplayBuffers {
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.records) + size_of_val(&*self.positions)
    }
}

fn tile(px: u16) -> u32 {
    u32::from(px) / fit::<u32>(TILE_PX)
}

fn columns(bounds: &PixelBounds) -> u32 {
    tile(bounds.x1) - tile(bounds.x0) + 1
}

/// Number of tiles that bounds touch.
pub(super) fn tiles(bounds: &PixelBounds) -> u32 {
    columns(bounds) * (tile(bounds.y1) - tile(bounds.y0) + 1)
}

/// Numbers of the pairs of splats and the tiles that their bounds touch. The pairs of a splat follow each other.
pub(super) struct Places {
    /// Per slot: the place of the splat in column 0 and row 0, modulo 2^32, and its number of columns.
    of_slots: Buffer<[u32; 2]>,
    /// First place of each chunk.
    pub(super) starts: Vec<usize>,
    pub(super) len: usize,
}

impl Places {
    pub(super) fn new(projected: &Projected) -> Result<Self> {
        let chunks = 0..projected.chunks();
        let of_chunk = |chunk| projected.chunk(chunk).bounds.iter().map(|b| u64::from(tiles(b)));
        let mut starts: Vec<usize> =
            chunks.into_par_iter().map(|chunk| index(of_chunk(chunk).sum())).collect();
        let mut len = 0;
        for start in &mut starts {
            len += std::mem::replace(start, len);
        }
        Error::check_limit("pairs of splats and tiles", u64::from(u32::MAX), len as u64)?;
        let slots = projected.chunk_slots();
        let mut of_slots = Buffer::<[u32; 2]>::zeroed(projected.chunks() * slots);
        let parts = of_slots.par_chunks_mut(slots.max(1)).zip(&starts);
        parts.enumerate().for_each(|(chunk, (of_slots, start))| {
            let mut place = fit::<u32>(*start);
            for (of_slot, bounds) in of_slots.iter_mut().zip(projected.chunk(chunk).bounds) {
                let columns = columns(bounds);
                let corner = tile(bounds.y0) * columns + tile(bounds.x0);
                *of_slot = [place.wrapping_sub(corner), columns];
                place += tiles(bounds);
            }
        });
        Ok(Self { of_slots, starts, len })
    }

    /// Place of a splat in a tile.
    #[inline(always)]
    pub(super) fn of(&self, slot: usize, [column, row]: [u32; 2]) -> usize {
        let [first, columns] = self.of_slots[slot];
        first.wrapping_add(row * columns + column) as usize
    }
}
