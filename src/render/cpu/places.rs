//! Places of the sums of splats in the tiles that they touch.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use super::tile::TILE_PX;
use crate::preprocess::{PixelBounds, Projected};
use quadrille_base::math::buffer::{Buffer, Line};
use quadrille_base::math::{fit, index, prefetch};
use quadrille_base::{Error, Result};

/// Memory of the first phase, which later pictures use again.
#[derive(Debug, Default)]
pub(super) struct ReplayBuffers {
    /// Records of the splats of each tile.
    pub(super) records: Buffer<Line>,
    pub(super) places: Places,
    /// Per place: the position of its record plus one, or 0 without a record.
    pub(super) positions: Buffer<u64>,
}

impl ReplayBuffers {
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.records)
            + size_of_val(&*self.positions)
            + size_of_val(&*self.places.of_slots)
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
#[derive(Debug, Default)]
pub(super) struct Places {
    /// Per slot: the place of the splat in column 0 and row 0, modulo 2^32, and its number of columns.
    of_slots: Buffer<[u32; 2]>,
    /// First place of each chunk.
    pub(super) starts: Vec<usize>,
    pub(super) len: usize,
}

impl Places {
    /// Numbers the pairs of a picture.
    pub(super) fn number(&mut self, projected: &Projected) -> Result<()> {
        let chunks = 0..projected.chunks();
        let of_chunk = |chunk| projected.chunk(chunk).bounds.iter().map(|b| u64::from(tiles(b)));
        self.starts = chunks.into_par_iter().map(|chunk| index(of_chunk(chunk).sum())).collect();
        self.len = 0;
        for start in &mut self.starts {
            self.len += std::mem::replace(start, self.len);
        }
        Error::check_limit("pairs of splats and tiles", u64::from(u32::MAX), self.len as u64)?;
        let slots = projected.chunk_slots();
        self.of_slots.reserve_zeroed(projected.chunks() * slots);
        let parts = self.of_slots.par_chunks_mut(slots.max(1)).zip(&self.starts);
        parts.enumerate().for_each(|(chunk, (of_slots, start))| {
            let mut place = fit::<u32>(*start);
            for (of_slot, bounds) in of_slots.iter_mut().zip(projected.chunk(chunk).bounds) {
                let columns = columns(bounds);
                let corner = tile(bounds.y0) * columns + tile(bounds.x0);
                *of_slot = [place.wrapping_sub(corner), columns];
                place += tiles(bounds);
            }
        });
        Ok(())
    }
}

/// The places of the splats of a tile.
pub(super) struct TilePlaces<'a> {
    pub(super) places: &'a Places,
    /// Column and row of the tile.
    pub(super) cell: [u32; 2],
    /// Position of the tile's first record.
    pub(super) first: usize,
    pub(super) positions: &'a [AtomicU64],
}

impl TilePlaces<'_> {
    /// Fetches the entry that [`Self::store`] reads for a slot.
    #[inline(always)]
    pub(super) fn prefetch(&self, slot: usize) {
        prefetch(&self.places.of_slots, slot);
    }

    /// Stores the position of a splat's record, given the number of the record in the tile.
    #[inline(always)]
    pub(super) fn store(&self, slot: usize, record: Option<usize>) {
        let [column, row] = self.cell;
        let [first, columns] = self.places.of_slots[slot];
        let place = first.wrapping_add(row * columns + column) as usize;
        let position = record.map_or(0, |record| (self.first + record + 1) as u64);
        // Every place belongs to one tile, so relaxed order is enough.
        self.positions[place].store(position, Relaxed);
    }
}
