//! Binning: for every tile, the splats whose pixel bounds touch it, in drawing order.
//!
//! The splats in view are divided into shares. Each share counts its entries per tile, prefix sums
//! turn the counts into positions, and each share writes to its own positions, so the lists do not
//! depend on the number of threads. Then every tile's list is sorted by itself, in the caches of one
//! core: most splats are in one or two lists, and a list is far shorter than the frame's.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use super::order::Sorter;
use super::tile::TILE_PX;
use crate::preprocess::{PixelBounds, Projected};
use quadrille_base::math::buffer::{Buffer, as_atomic_u64};
use quadrille_base::math::{SimdLevel, fit, prefetch};
use quadrille_base::task::Task;

/// Shares per thread: more shares balance better, but each needs a counter per tile.
const SHARES_PER_THREAD: usize = 2;
/// Distance in entries at which the cache line beyond a list's end is prefetched: all lists are
/// filled at once, and a store waits for its line.
const PREFETCH_ENTRIES: usize = 12;
/// Tile numbers beyond the last tile that [`Span::for_each`] uses for padding.
const NO_TILES: usize = 3;
/// Words between the discard areas of two shares: two cache lines, so that threads do not contend.
const DISCARD_WORDS: usize = 16;

/// The lists of all tiles, in one array; kept between frames.
#[derive(Debug, Default)]
pub(super) struct TileLists {
    /// Entries, tile after tile, followed by each share's discard area (see [`ChunkShare::fill`]).
    entries: Buffer<u64>,
    /// End of each tile's list.
    ends: Vec<usize>,
    shares: Vec<ChunkShare>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TileGrid {
    pub(super) columns: usize,
    pub(super) rows: usize,
    /// Row of tiles of the picture that is the first one of the grid.
    pub(super) first_row: usize,
    /// Whether the picture has more rows than the grid.
    is_band: bool,
}

/// The tiles that a splat's bounds touch: the first tile, and the number of further columns and rows.
#[derive(Debug, Clone, Copy)]
struct Span {
    first: u32,
    more_columns: u16,
    more_rows: u16,
}

/// A contiguous part of the chunks of splats.
#[derive(Debug, Default)]
struct ChunkShare {
    chunks: std::ops::Range<usize>,
    /// Entries per tile, then the position of each tile's next entry.
    positions: Vec<usize>,
}

impl TileGrid {
    pub(super) fn new(width: u32, height: u32) -> Self {
        Self {
            columns: (width as usize).div_ceil(TILE_PX),
            rows: (height as usize).div_ceil(TILE_PX),
            first_row: 0,
            is_band: false,
        }
    }

    /// Divides the grid of a picture into grids of at most `rows` rows, from the top.
    pub(super) fn bands(self, rows: usize) -> impl Iterator<Item = Self> {
        (0..self.rows).step_by(rows).map(move |first_row| Self {
            rows: rows.min(self.rows - first_row),
            first_row,
            is_band: true,
            ..self
        })
    }

    /// The part of the bounds of a splat in the grid, with rows counted from the first one of the grid.
    #[inline(always)]
    fn clipped(self, bounds: PixelBounds) -> Option<PixelBounds> {
        if !self.is_band {
            return Some(bounds);
        }
        let first = self.first_row * TILE_PX;
        let last = first + self.rows * TILE_PX - 1;
        let (y0, y1) = (usize::from(bounds.y0), usize::from(bounds.y1));
        (y0 <= last && y1 >= first).then(|| PixelBounds {
            y0: fit(y0.max(first) - first),
            y1: fit(y1.min(last) - first),
            ..bounds
        })
    }

    pub(super) fn len(self) -> usize {
        self.columns * self.rows
    }

    #[inline(always)]
    fn span(self, bounds: PixelBounds) -> Span {
        let tile = |px: u16| usize::from(px) / TILE_PX;
        let (column, row) = (tile(bounds.x0), tile(bounds.y0));
        Span {
            first: fit(row * self.columns + column),
            more_columns: fit(tile(bounds.x1) - column),
            more_rows: fit(tile(bounds.y1) - row),
        }
    }
}

impl Span {
    /// Calls `visit` for each tile, row by row.
    ///
    /// Most spans are one to four tiles. They all take the same four calls; calls beyond the span pass
    /// `false` and a number beyond the last tile, since a branch on the span's shape would be
    /// mispredicted more often than not. The numbers differ, so that no counter is updated twice in
    /// a row.
    #[inline(always)]
    fn for_each(self, grid: TileGrid, mut visit: impl FnMut(usize, bool)) {
        let first = self.first as usize;
        let (columns, rows) = (usize::from(self.more_columns), usize::from(self.more_rows));
        if columns <= 1 && rows <= 1 {
            let (right, below) = (columns == 1, rows == 1);
            let mut visit_if = |inside, tile, i| {
                visit(if inside { tile } else { grid.len() + i }, inside);
            };
            visit_if(true, first, 0);
            visit_if(right, first + 1, 0);
            visit_if(below, first + grid.columns, 1);
            visit_if(right & below, first + 1 + grid.columns, 2);
        } else {
            for row in 0..=rows {
                for column in 0..=columns {
                    visit(first + row * grid.columns + column, true);
                }
            }
        }
    }
}

impl ChunkShare {
    fn count(&mut self, grid: TileGrid, frame: &Projected) {
        self.positions.clear();
        self.positions.resize(grid.len() + NO_TILES, 0);
        let positions = &mut self.positions[..];
        for chunk in self.chunks.clone() {
            let bounds = frame.chunk(chunk).bounds.iter();
            for bounds in bounds.filter_map(|&bounds| grid.clipped(bounds)) {
                grid.span(bounds)
                    .for_each(grid, |tile, inside| positions[tile] += usize::from(inside));
            }
        }
    }

    /// Writes entries to their positions; entries outside a span go to the words from `discard` on.
    fn fill(&mut self, grid: TileGrid, frame: &Projected, entries: &[AtomicU64], discard: usize) {
        let positions = &mut self.positions[..];
        for (position, word) in positions[grid.len()..].iter_mut().zip(discard..) {
            *position = word;
        }
        for chunk in self.chunks.clone() {
            let chunk = frame.chunk(chunk);
            let keys = chunk.keys.iter().zip(chunk.first_slot..);
            for (&bounds, (&key, slot)) in chunk.bounds.iter().zip(keys) {
                let entry = u64::from(key) << 32 | u64::from(slot);
                let Some(bounds) = grid.clipped(bounds) else {
                    continue;
                };
                grid.span(bounds).for_each(grid, |tile, inside| {
                    let position = positions[tile];
                    // At every entry: with it, binning takes 0.55 to 0.7 of the time. Prefetching for the
                    // first tile of each splat only took 1.2 times as long as this.
                    prefetch(entries, position + PREFETCH_ENTRIES);
                    // Shares write to disjoint positions, so relaxed order is enough. Atomics make the shared
                    // array safe.
                    entries[position].store(entry, Relaxed);
                    positions[tile] += usize::from(inside);
                });
            }
        }
    }
}

impl TileLists {
    /// Fills the lists, each in the order of the slots.
    pub(super) fn fill(&mut self, grid: TileGrid, frame: &Projected) {
        let count = rayon::current_num_threads() * SHARES_PER_THREAD;
        self.shares.resize_with(count, ChunkShare::default);
        for (i, share) in self.shares.iter_mut().enumerate() {
            share.chunks = frame.chunks() * i / count..frame.chunks() * (i + 1) / count;
        }
        self.shares
            .par_iter_mut()
            .for_each(|share| share.count(grid, frame));
        self.ends.clear();
        let mut position = 0;
        for tile in 0..grid.len() {
            for share in &mut self.shares {
                position += std::mem::replace(&mut share.positions[tile], position);
            }
            self.ends.push(position);
        }
        let len = position;
        self.entries.reserve_zeroed(len + count * DISCARD_WORDS);
        let entries = as_atomic_u64(&mut self.entries);
        self.shares
            .par_iter_mut()
            .enumerate()
            .for_each(|(i, share)| {
                share.fill(grid, frame, entries, len + i * DISCARD_WORDS);
            });
    }

    /// Sorts every list: nearest first, ties by slot. Skips the lists left once `task` is cancelled.
    pub(super) fn sort(&mut self, level: SimdLevel, task: &Task) {
        let mut lists = Vec::with_capacity(self.ends.len());
        let mut rest = &mut self.entries[..];
        let mut start = 0;
        for &end in &self.ends {
            let (list, tail) = rest.split_at_mut(end - start);
            lists.push(list);
            (rest, start) = (tail, end);
        }
        // In the SH room, sorting list by list takes 0.55 of the time of one sort of the whole frame,
        // although the lists have 1.6 times as many entries: each list fits the first two levels of cache.
        lists
            .into_par_iter()
            .for_each_init(Sorter::default, |sorter, list| {
                if !task.is_cancelled() {
                    sorter.sort(level, list);
                }
            });
    }

    /// The list of tile `tile`: slots in the low halves, depth keys in the high ones.
    pub(super) fn tile(&self, tile: usize) -> &[u64] {
        let start = tile.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.entries[start..self.ends[tile]]
    }

    pub(super) fn used_bytes(&self) -> usize {
        self.ends
            .last()
            .map_or(0, |&entries| entries * size_of::<u64>())
    }
}
