//! Binning: for every tile, the splats whose pixel bounds touch it, in drawing order.
//!
//! The drawing order is cut into shares. Each share counts its entries a tile, the counts become
//! places, and each share fills its own places: the lists come out the same whatever the threads.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use super::tile::TILE_PX;
use crate::buffer::{Buffer, as_atomic_u32};
use crate::preprocess::{PixelBounds, Preprocessed};

/// Shares of the drawing order a thread: more balance better, each costs a counter a tile.
const SHARES_PER_THREAD: usize = 2;
/// Words between the dumps of two shares: two cache lines, so that threads do not contend.
const DUMP_WORDS: usize = 32;

/// The lists of all tiles, in one array; kept between frames.
#[derive(Debug, Default)]
pub(super) struct Bins {
    /// Slots, tile after tile; behind them each share's dump, see [`Share::fill`].
    slots: Buffer<u32>,
    /// Where each tile's list ends.
    ends: Vec<usize>,
    shares: Vec<Share>,
}

/// The tiles of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TileGrid {
    /// Columns of tiles.
    pub(super) columns: usize,
    /// Rows of tiles.
    pub(super) rows: usize,
}

/// The tiles that a splat's bounds touch: the first one, and how many more to the right and below.
#[derive(Debug, Clone, Copy)]
struct Span {
    first: u32,
    more_columns: u16,
    more_rows: u16,
}

/// A contiguous part of the drawing order.
#[derive(Debug, Default)]
struct Share {
    order: std::ops::Range<usize>,
    /// Entries a tile, then the place of the next one.
    places: Vec<usize>,
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

    #[inline(always)]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a picture has fewer than 2^20 tiles"
    )]
    fn span(self, bounds: PixelBounds) -> Span {
        let tile = |px: u16| usize::from(px) / TILE_PX;
        let (column, row) = (tile(bounds.x0), tile(bounds.y0));
        Span {
            first: (row * self.columns + column) as u32,
            more_columns: (tile(bounds.x1) - column) as u16,
            more_rows: (tile(bounds.y1) - row) as u16,
        }
    }
}

impl Span {
    /// Calls `visit` for each tile, row by row.
    ///
    /// Most spans are one to four tiles. They take the same four calls, those beyond the span with
    /// `false`, since a branch on a span's shape would be mispredicted more often than not.
    #[inline(always)]
    fn for_each(self, grid: TileGrid, mut visit: impl FnMut(usize, bool)) {
        let first = self.first as usize;
        let (columns, rows) = (usize::from(self.more_columns), usize::from(self.more_rows));
        if columns <= 1 && rows <= 1 {
            let (right, below) = (columns == 1, rows == 1);
            let down = rows * grid.columns;
            visit(first, true);
            visit(first + columns, right);
            visit(first + down, below);
            visit(first + columns + down, right & below);
        } else {
            for row in 0..=rows {
                for column in 0..=columns {
                    visit(first + row * grid.columns + column, true);
                }
            }
        }
    }
}

impl Share {
    /// Counts entries a tile.
    fn count(&mut self, grid: TileGrid, bounds: &[PixelBounds]) {
        self.places.clear();
        self.places.resize(grid.len(), 0);
        let places = &mut self.places[..];
        for &bounds in &bounds[self.order.clone()] {
            grid.span(bounds)
                .for_each(grid, |tile, inside| places[tile] += usize::from(inside));
        }
    }

    /// Writes slots to their places; what is outside a span goes to the word at `dump`.
    fn fill(&mut self, grid: TileGrid, frame: &Preprocessed, slots: &[AtomicU32], dump: usize) {
        let places = &mut self.places[..];
        let order = &frame.order()[self.order.clone()];
        for (&bounds, &slot) in frame.bounds()[self.order.clone()].iter().zip(order) {
            grid.span(bounds).for_each(grid, |tile, inside| {
                let place = places[tile];
                slots[if inside { place } else { dump }].store(slot, Relaxed);
                places[tile] += usize::from(inside);
            });
        }
    }
}

impl Bins {
    /// Fills the lists.
    pub(super) fn fill(&mut self, grid: TileGrid, frame: &Preprocessed) {
        let count = rayon::current_num_threads() * SHARES_PER_THREAD;
        self.shares.resize_with(count, Share::default);
        for (i, share) in self.shares.iter_mut().enumerate() {
            share.order = frame.len() * i / count..frame.len() * (i + 1) / count;
        }
        self.shares
            .par_iter_mut()
            .for_each(|share| share.count(grid, frame.bounds()));
        self.ends.clear();
        let mut place = 0;
        for tile in 0..grid.len() {
            for share in &mut self.shares {
                place += std::mem::replace(&mut share.places[tile], place);
            }
            self.ends.push(place);
        }
        let entries = place;
        self.slots.reserve_zeroed(entries + count * DUMP_WORDS);
        let slots = as_atomic_u32(&mut self.slots);
        self.shares
            .par_iter_mut()
            .enumerate()
            .for_each(|(i, share)| {
                share.fill(grid, frame, slots, entries + i * DUMP_WORDS);
            });
    }

    /// The list of tile `tile`, nearest first.
    pub(super) fn tile(&self, tile: usize) -> &[u32] {
        let start = tile.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.slots[start..self.ends[tile]]
    }

    /// Bytes of the lists.
    pub(super) fn used_bytes(&self) -> usize {
        self.ends
            .last()
            .map_or(0, |&entries| entries * size_of::<u32>())
    }
}
