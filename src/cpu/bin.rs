//! Binning: for every tile, the splats whose pixel bounds touch it, in drawing order.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use bytemuck::zeroed_vec;
use rayon::prelude::*;

use super::tile::TILE_PX;
use crate::preprocess::{PixelBounds, Preprocessed};

/// Shares of the drawing order a thread: more balance better, each costs a counter a tile.
const SHARES_PER_THREAD: usize = 2;

/// The lists of all tiles, in one array; kept between frames.
#[derive(Debug, Default)]
pub(super) struct Bins {
    /// Slots, tile after tile. Atomic only so that threads may fill disjoint places of one array
    /// in safe code.
    slots: Vec<AtomicU32>,
    /// Where each tile's list ends.
    ends: Vec<usize>,
}

/// The tiles of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TileGrid {
    /// Columns of tiles.
    pub(super) columns: usize,
    /// Rows of tiles.
    pub(super) rows: usize,
}

impl TileGrid {
    pub(super) fn new(width: u32, height: u32) -> Self {
        Self {
            columns: (width as usize).div_ceil(TILE_PX),
            rows: (height as usize).div_ceil(TILE_PX),
        }
    }

    pub(super) fn len(self) -> usize {
        self.columns * self.rows
    }

    /// Indices of the tiles that `bounds` touches, row by row.
    #[inline(always)]
    fn touched(self, bounds: PixelBounds) -> impl Iterator<Item = usize> {
        let tiles =
            |first: u16, last: u16| usize::from(first) / TILE_PX..=usize::from(last) / TILE_PX;
        tiles(bounds.y0, bounds.y1).flat_map(move |row| {
            tiles(bounds.x0, bounds.x1).map(move |column| row * self.columns + column)
        })
    }
}

impl Bins {
    /// Fills the lists.
    pub(super) fn fill(&mut self, grid: TileGrid, frame: &Preprocessed) {
        let (order, bounds) = (frame.order(), frame.bounds());
        let share_len = order
            .len()
            .div_ceil(rayon::current_num_threads() * SHARES_PER_THREAD)
            .max(1);
        let mut shares: Vec<(&[u32], Vec<u32>)> = order
            .chunks(share_len)
            .map(|slots| (slots, vec![0; grid.len()]))
            .collect();
        shares.par_iter_mut().for_each(|(slots, places)| {
            for &slot in *slots {
                for tile in grid.touched(bounds[slot as usize]) {
                    places[tile] += 1;
                }
            }
        });
        self.ends.clear();
        let mut place = 0;
        for tile in 0..grid.len() {
            for (_, places) in &mut shares {
                place += std::mem::replace(&mut places[tile], place);
            }
            self.ends.push(place as usize);
        }
        if self.slots.len() < place as usize {
            self.slots = zeroed_vec(place as usize);
        }
        let all = &self.slots;
        shares.par_iter_mut().for_each(|(slots, places)| {
            for &slot in *slots {
                for tile in grid.touched(bounds[slot as usize]) {
                    all[places[tile] as usize].store(slot, Relaxed);
                    places[tile] += 1;
                }
            }
        });
    }

    /// The list of tile `tile`, nearest first.
    pub(super) fn tile(&self, tile: usize) -> &[AtomicU32] {
        let start = tile.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.slots[start..self.ends[tile]]
    }

    /// Entries in all lists.
    pub(super) fn entries(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }
}
