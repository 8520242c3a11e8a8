//! Binning: for every tile, the splats whose pixel bounds touch it, in drawing order.
//!
//! The splats in view are divided into shares. Each share counts its entries per tile, prefix sums turn the counts into
//! positions, and each share writes to its own positions, so the lists do not depend on the number of threads. Then each
//! tile's list is sorted in the caches of one core: most splats are in one or two lists, far shorter than the frame's.
//!
//! Tiles are independent. If all lists together are too long, rows of tiles are filled, sorted and drawn band by band.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use fearless_simd::{dispatch, i32x16, mask32x16, prelude::*, u32x16};
use rayon::prelude::*;

use super::order::Sorter;
use super::tile::TILE_PX;
use crate::preprocess::{PixelBounds, Projected};
use quadrille_base::math::buffer::{Buffer, as_atomic_u64};
use quadrille_base::math::{SimdLevel, fit, prefetch};
use quadrille_base::task::Task;

/// Number of shares per thread. More shares balance better, but each needs `COUNTERS` counters per tile.
const SHARES_PER_THREAD: usize = 2;
/// Prefetch distance beyond a list's end, in entries: all lists are filled at once, and a store waits for its cache line.
const PREFETCH_ENTRIES: usize = 12;
/// Bounds processed per vector.
const LANES: usize = 16;
const TILE_SHIFT: u32 = TILE_PX.ilog2();
const SPANS: usize = 1 << NUMBER_BITS;
/// Bits of an element of the list of tiles that hold the index of the bounds; the higher bits hold the tile.
const NUMBER_BITS: u32 = 6;
// Pictures have at most 65,536 pixels per side.
const _: () = assert!((65_536 / TILE_PX).pow(2) << NUMBER_BITS <= u32::MAX as usize);
/// List capacity: four tiles per bounds, and the overrun of a vector store.
const LISTED: usize = 4 * SPANS + LANES;
/// Counters per tile. Neighbours in the file often share a tile: alternating counters avoids waiting for increments.
const COUNTERS: usize = 2;
/// Tile, and index of one of its counters.
type Counter = [usize; 2];
/// Maximum number of entries of a band of several rows: 24 MiB. Frames of a million splats at 980x545 have fewer.
const MOST_ENTRIES: usize = 3 << 20;

/// Lists of the splats in each tile of a band, in one array that is reused for later frames.
#[derive(Debug)]
pub(super) struct TileLists {
    entries: Buffer<u64>,
    ends: Vec<usize>,
    shares: Vec<ChunkShare>,
    pub(super) most_entries: usize,
    longest: usize,
}

impl Default for TileLists {
    fn default() -> Self {
        Self {
            entries: Buffer::default(),
            ends: Vec::new(),
            shares: Vec::new(),
            most_entries: MOST_ENTRIES,
            longest: 0,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TileGrid {
    pub(super) columns: usize,
    pub(super) rows: usize,
    /// Tile row of the picture where the grid starts.
    pub(super) first_row: usize,
}

#[derive(Debug, Default)]
struct ChunkShare {
    chunks: Range<usize>,
    /// Per tile and counter: first the number of entries, then the position of the next entry in the band.
    positions: Vec<[usize; COUNTERS]>,
}

impl TileGrid {
    pub(super) fn new(width: u32, height: u32) -> Self {
        Self {
            columns: (width as usize).div_ceil(TILE_PX),
            rows: (height as usize).div_ceil(TILE_PX),
            first_row: 0,
        }
    }

    /// Divides the grid into bands of at most `rows` rows, from the top.
    pub(super) fn bands(self, rows: usize) -> impl Iterator<Item = Self> {
        (0..self.rows).step_by(rows).map(move |first| Self {
            rows: rows.min(self.rows - first),
            first_row: self.first_row + first,
            ..self
        })
    }

    pub(super) fn len(self) -> usize {
        self.columns * self.rows
    }

    pub(super) fn rows_in(self, whole: Self) -> Range<usize> {
        let first = self.first_row - whole.first_row;
        first..first + self.rows
    }

    pub(super) fn row(self) -> Self {
        Self { rows: 1, ..self }
    }

    pub(super) fn tiles_in(self, whole: Self) -> Range<usize> {
        let first = (self.first_row - whole.first_row) * self.columns;
        first..first + self.len()
    }

    /// First and last tile columns and rows that each of 16 bounds touches; rows are relative to the grid's first row.
    #[inline(always)]
    fn span<S: Simd>(self, simd: S, bounds: &[u32; 2 * LANES]) -> [[u32x16<S>; 2]; 2] {
        let [low, high] = [0, LANES].map(|at| u32x16::from_slice(simd, &bounds[at..at + LANES]));
        let of_pixels =
            |packed: u32x16<S>| [(packed & 0xffff) >> TILE_SHIFT, packed >> (16 + TILE_SHIFT)];
        let columns = of_pixels(low.unzip_low(high));
        let [first_row, last_row] = of_pixels(low.unzip_high(high));
        let row = |row: usize| u32x16::splat(simd, fit(row));
        // The last row of bounds above the grid wraps to a negative number.
        let rows = [
            first_row.max(row(self.first_row)) - row(self.first_row),
            last_row.min(row(self.first_row + self.rows - 1)) - row(self.first_row),
        ];
        [columns, rows]
    }

    /// Calls `visit` for every tile that one of `bounds` touches, with one of the tile's counters and the index of the
    /// bounds. Order and counters depend only on the grid and the bounds.
    ///
    /// Most bounds touch one to four tiles. The tiles of many bounds are listed first, since branches on their number
    /// would be mispredicted more often than not.
    #[inline(always)]
    fn for_each<S: Simd>(
        self,
        simd: S,
        bounds: &[PixelBounds],
        mut visit: impl FnMut(Counter, usize),
    ) {
        let mut listed = [0; LISTED];
        let columns = u32x16::splat(simd, fit(self.columns));
        #[expect(clippy::cast_possible_truncation, reason = "16 lanes")]
        let lane_number = u32x16::from_fn(simd, |lane| lane as u32);
        for (group, bounds) in bounds.chunks(SPANS).enumerate() {
            let first_index = group * SPANS;
            let mut len = 0;
            for (part, bounds) in bounds.chunks(LANES).enumerate() {
                let mut words = [0; 2 * LANES];
                let source: &[u32] = bytemuck::cast_slice(bounds);
                match source.first_chunk() {
                    Some(whole) => words = *whole,
                    None => words[..source.len()].copy_from_slice(source),
                }
                let [[column, last_column], [row, last_row]] = self.span(simd, &words);
                let (right, below) = (last_column - column, last_row - row);
                let one = u32x16::splat(simd, 1);
                // For bounds outside the grid, `below` is negative.
                let inside = below.bitcast::<i32x16<S>>().simd_ge(i32x16::splat(simd, 0));
                let some = inside & mask32x16::from_bitmask(simd, (1 << bounds.len()) - 1);
                let wide = some & (right | below).simd_gt(one);
                let narrow = some & !wide;
                let right = narrow & right.simd_eq(one);
                let below = narrow & below.simd_eq(one);
                let number = lane_number + fit::<u32>(part * LANES);
                let first = (row * columns + column) << NUMBER_BITS | number;
                let (next, down) = (1 << NUMBER_BITS, columns << NUMBER_BITS);
                // Handles all four tiles without a branch on the span: a branch per splat took 1.13 to 1.3 times as
                // long (AVX-512 and AVX2).
                let places = [
                    (narrow, first),
                    (right, first + next),
                    (below, first + down),
                    (right & below, first + down + next),
                ];
                for (mask, place) in places {
                    append(simd, place, mask, &mut listed, &mut len);
                }
                let mut wide = wide.to_bitmask();
                while wide != 0 {
                    let lane = wide.trailing_zeros() as usize;
                    wide &= wide - 1;
                    let index = first_index + part * LANES + lane;
                    self.for_each_of_wide(bounds[lane], |tile| visit([tile, 0], index));
                }
            }
            // The list makes the visits one loop without branches, which takes 0.61 (room) to 0.85 (truck) of
            // the time of visiting the tiles splat by splat.
            for pair in listed[..len].chunks(COUNTERS) {
                for (counter, &place) in pair.iter().enumerate() {
                    let (tile, number) = (place >> NUMBER_BITS, place as usize % SPANS);
                    visit([tile as usize, counter], first_index + number);
                }
            }
        }
    }

    fn for_each_of_wide(self, bounds: PixelBounds, mut visit: impl FnMut(usize)) {
        let tile = |px: u16| usize::from(px) / TILE_PX;
        let first = tile(bounds.y0).max(self.first_row);
        for row in first..=tile(bounds.y1).min(self.first_row + self.rows - 1) {
            for column in tile(bounds.x0)..=tile(bounds.x1) {
                visit((row - self.first_row) * self.columns + column);
            }
        }
    }
}

#[inline(always)]
fn append<S: Simd>(
    simd: S,
    values: u32x16<S>,
    mask: mask32x16<S>,
    list: &mut [u32; LISTED],
    len: &mut usize,
) {
    #[cfg(target_arch = "x86_64")]
    if let fearless_simd::Level::Avx512(_) = simd.level() {
        values.compress(mask).store_slice(&mut list[*len..*len + LANES]);
        *len += mask.to_bitmask().count_ones() as usize;
        return;
    }
    // Works on half vectors, which most levels compress without a branch.
    let (values, masks) = (values.split(), simd.split_mask32x16(mask));
    for (values, mask) in [(values.0, masks.0), (values.1, masks.1)] {
        values.compress(mask).store_slice(&mut list[*len..*len + LANES / 2]);
        *len += mask.to_bitmask().count_ones() as usize;
    }
}

impl ChunkShare {
    #[inline(always)]
    fn count<S: Simd>(&mut self, simd: S, grid: TileGrid, frame: &Projected) {
        self.positions.clear();
        self.positions.resize(grid.len(), [0; COUNTERS]);
        let positions = &mut self.positions[..];
        for chunk in self.chunks.clone() {
            grid.for_each(simd, frame.chunk(chunk).bounds, |[tile, counter], _| {
                positions[tile][counter] += 1;
            });
        }
    }

    /// Writes the entries of a band, which has the tiles `tiles` of the grid. In a band that is not the whole grid, entries
    /// alternate between a tile's counters in another way than during counting, so only the first counter is used.
    #[inline(always)]
    fn fill<S: Simd, const IS_WHOLE: bool>(
        &mut self,
        simd: S,
        band: TileGrid,
        tiles: Range<usize>,
        frame: &Projected,
        entries: &[AtomicU64],
    ) {
        let positions = &mut self.positions[tiles];
        for chunk in self.chunks.clone() {
            let chunk = frame.chunk(chunk);
            band.for_each(simd, chunk.bounds, |[tile, counter], index| {
                let slot = chunk.first_slot + fit::<u32>(index);
                let entry = u64::from(chunk.keys[index]) << 32 | u64::from(slot);
                let next = &mut positions[tile][if IS_WHOLE { counter } else { 0 }];
                // With a prefetch at every entry, binning takes 0.55 to 0.7 of the time. A prefetch only for the
                // first tile of each splat takes 1.2 times as long as this.
                prefetch(entries, *next + PREFETCH_ENTRIES);
                // Shares write to disjoint positions, so relaxed order is enough. Atomics make the shared
                // array safe.
                entries[*next].store(entry, Relaxed);
                *next += 1;
            });
        }
    }
}

/// Divides `items` into parts of the given lengths.
pub(super) fn split<T>(mut items: &mut [T], lengths: impl Iterator<Item = usize>) -> Vec<&mut [T]> {
    let part = |length: usize| {
        let (part, rest) = std::mem::take(&mut items).split_at_mut(length);
        items = rest;
        part
    };
    lengths.map(part).collect()
}

impl TileLists {
    /// Counts the entries of the lists of `grid` and divides the grid into bands, from the top.
    pub(super) fn count(
        &mut self,
        level: SimdLevel,
        grid: TileGrid,
        frame: &Projected,
    ) -> Vec<TileGrid> {
        quadrille_base::span!("bin");
        // The number of shares depends on the number of threads, but the lists do not: prefix sums give every
        // share its own positions.
        let count = rayon::current_num_threads() * SHARES_PER_THREAD;
        self.shares.resize_with(count, ChunkShare::default);
        for (i, share) in self.shares.iter_mut().enumerate() {
            share.chunks = frame.chunks() * i / count..frame.chunks() * (i + 1) / count;
        }
        self.shares.par_iter_mut().for_each(
            |share| dispatch!(level.frame_level(), simd => share.count(simd, grid, frame)),
        );
        let mut bands: Vec<TileGrid> = Vec::new();
        let mut entries = 0;
        self.longest = 0;
        for row in grid.bands(1) {
            let counts = self.shares.iter().flat_map(|share| &share.positions[row.tiles_in(grid)]);
            let of_row: usize = counts.flatten().sum();
            match bands.last_mut() {
                Some(band) if entries + of_row <= self.most_entries => {
                    band.rows += 1;
                    entries += of_row;
                }
                _ => {
                    bands.push(row);
                    entries = of_row;
                }
            }
            self.longest = self.longest.max(entries);
        }
        bands
    }

    pub(super) fn fill(
        &mut self,
        level: SimdLevel,
        grid: TileGrid,
        band: TileGrid,
        frame: &Projected,
    ) {
        quadrille_base::span!("bin");
        let tiles = band.tiles_in(grid);
        self.ends.clear();
        let mut position = 0;
        for tile in tiles.clone() {
            for share in &mut self.shares {
                let counters = &mut share.positions[tile];
                if band != grid {
                    *counters = [counters.iter().sum(), 0];
                }
                for next in counters {
                    position += std::mem::replace(next, position);
                }
            }
            self.ends.push(position);
        }
        if self.entries.len() < self.longest {
            // Spare pages cost nothing until they are written, and later views often have longer lists.
            self.entries.reserve_zeroed(self.longest * 3 / 2);
        }
        let entries = as_atomic_u64(&mut self.entries);
        self.shares.par_iter_mut().for_each(|share| {
            let tiles = tiles.clone();
            dispatch!(level.frame_level(), simd => if band == grid { share.fill::<_, true>(simd, band, tiles, frame, entries) } else { share.fill::<_, false>(simd, band, tiles, frame, entries) });
        });
    }

    pub(super) fn sort(&mut self, level: SimdLevel, task: &Task) {
        quadrille_base::span!("sort");
        let ranges: Vec<_> = self.lists().collect();
        let lists = split(&mut self.entries, ranges.iter().map(ExactSizeIterator::len));
        // In the SH room, sorting list by list takes 0.55 of the time of one sort of the whole frame,
        // although the lists have 1.6 times as many entries: each list fits the first two levels of cache.
        lists.into_par_iter().for_each_init(Sorter::default, |sorter, list| {
            if !task.is_cancelled() {
                sorter.sort(level, list);
            }
        });
    }

    /// Entries of a tile: slots in the low halves, depth keys in the high halves.
    pub(super) fn tile(&self, tile: usize) -> &[u64] {
        let start = tile.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.entries[start..self.ends[tile]]
    }

    /// Positions of the entries of each tile.
    pub(super) fn lists(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| start..*end)
    }

    pub(super) fn used_bytes(&self) -> usize {
        self.longest * size_of::<u64>()
    }
}

#[cfg(test)]
#[path = "tests/bin.rs"]
mod tests;
