//! Order of the splats of each tile, kept from one frame to the next ("Neo: Real-Time On-Device 3D Gaussian Splatting with
//! Reuse-and-Update Sorting Acceleration", 2025, arXiv 2511.12930).
//!
//! The accelerator keeps a table of each tile in memory: its splats in the order of the last frame, with their depths. A frame
//! reads each chunk of a table once, sorts it on the chip, leaves out splats that have left the tile, merges the splats that
//! have come, and writes it back. The borders of the chunks alternate by half a chunk, so that a splat can move farther in the
//! next frame. Depths are a frame old: the rendering cores know the new depth of an entry when they read it, and write it back;
//! entries behind the last one that a tile reads keep their depths.

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::sort::SortWork;
use super::spec::GscoreSpec;
use crate::compute::assign::TileLists;
use crate::draw::Draw;
use quadrille_base::math::{index, whole};
use quadrille_machine::documented;

/// Share of the splats whose movement [`KeptCounts::places_p99`] bounds.
const MOVED_SHARE: f64 = 0.99;

documented! {
    /// Pairs of a frame whose order follows from the order of the frame before.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
    pub struct KeptCounts {
        /// Pairs in the tables of the frame before.
        pub table_pairs: u64,
        /// Pairs that have come to their tile since then.
        pub incoming: u64,
        /// Pairs that have left their tile.
        pub outgoing: u64,
        /// Places by which 99 % of the remaining pairs have moved at most, from the exact order before to the exact order now,
        /// among the remaining pairs of a tile.
        pub places_p99: u64,
        /// The most places by which a remaining pair has moved.
        pub places_max: u64,
        /// Neighbours in the order of blending that are in the wrong order, among the entries that the cores read.
        pub inversions: u64,
        /// PSNR of the picture in dB against the picture in the exact order; null for equal pictures.
        pub psnr_vs_sorted_db: Option<f64>,
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Entry {
    /// Index of the splat in the scene.
    splat: u32,
    /// Depth by which the entry is sorted.
    depth: f32,
}

/// Tables of a frame.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct KeptOrder {
    size: [u32; 2],
    /// Entries of each tile in the order of blending.
    tables: Vec<Vec<Entry>>,
    /// Splats of each tile in the exact order.
    exact: Vec<Vec<u32>>,
    /// Number of frames before this one, whose parity places the borders of chunks.
    frame: u64,
}

/// Order of a frame by the tables of the frame before, with its work.
pub(crate) struct Updated {
    pub(crate) lists: TileLists,
    counts: KeptCounts,
    pub(crate) sort: SortWork,
    order: KeptOrder,
}

/// Table of a tile after the update, with the drawn splats in its order.
#[derive(Default)]
struct Tile {
    table: Vec<Entry>,
    list: Vec<u32>,
    incoming: u64,
    outgoing: u64,
    moved: Vec<u64>,
    sort: SortWork,
}

impl KeptOrder {
    /// Tables of a first frame, in the exact order of `lists`.
    pub(crate) fn first(draw: &Draw, lists: &TileLists) -> Self {
        let exact = exact(draw, lists);
        let entries = |tile: usize| {
            let splats = lists.tile(tile).iter().map(|splat| &draw.splats[*splat as usize]);
            splats.map(|splat| Entry { splat: splat.index, depth: splat.depth }).collect()
        };
        let tables = (0..lists.tiles()).map(entries).collect();
        Self { size: [draw.width, draw.height], tables, exact, frame: 0 }
    }

    /// Updates the order for a frame whose tiles have the splats of `lists`. Pictures of another size have no order to keep.
    pub(crate) fn updated(
        &self,
        draw: &Draw,
        lists: &TileLists,
        spec: &GscoreSpec,
    ) -> Option<Updated> {
        if self.size != [draw.width, draw.height] {
            return None;
        }
        let frame = self.frame + 1;
        let chunks = ChunkBorders { chunk: index(spec.chunk), is_shifted: frame % 2 == 1 };
        let tiles = (0..lists.tiles()).into_par_iter();
        let tiles = tiles.map(|tile| {
            let before = (&self.tables[tile][..], &self.exact[tile][..]);
            update(before, draw, lists.tile(tile), chunks, spec)
        });
        let tiles: Vec<Tile> = tiles.collect();
        let mut counts = KeptCounts::default();
        let (mut moved, mut sort) = (Vec::new(), SortWork::default());
        for (tile, before) in tiles.iter().zip(&self.tables) {
            counts.table_pairs += before.len() as u64;
            counts.incoming += tile.incoming;
            counts.outgoing += tile.outgoing;
            moved.extend(&tile.moved);
            sort.add(&tile.sort);
        }
        moved.sort_unstable();
        let rank = (MOVED_SHARE * moved.len() as f64).ceil().max(1.0);
        counts.places_p99 = moved.get(whole::<usize>(rank) - 1).copied().unwrap_or(0);
        counts.places_max = moved.last().copied().unwrap_or(0);
        let (tables, of_tiles) = tiles.into_iter().map(|tile| (tile.table, tile.list)).unzip();
        let of_tiles: Vec<Vec<u32>> = of_tiles;
        let order = Self { size: self.size, tables, exact: exact(draw, lists), frame };
        Some(Updated { lists: TileLists::of_tiles(&of_tiles), counts, sort, order })
    }
}

impl Updated {
    /// Counts of the frame, whose rendering cores have read `entries` of each tile.
    pub(crate) fn counted(&self, entries: impl Iterator<Item = u64>) -> KeptCounts {
        let inversions = entries.enumerate().map(|(tile, read)| {
            let list = self.lists.tile(tile);
            let read = &list[..list.len().min(index(read))];
            // Drawn numbers ascend in the exact order.
            read.array_windows().filter(|[a, b]| a > b).count() as u64
        });
        KeptCounts { inversions: inversions.sum(), ..self.counts }
    }

    /// Tables of this frame, after the rendering cores have read `entries` of each tile and written their depths back.
    pub(crate) fn written(mut self, draw: &Draw, entries: impl Iterator<Item = u64>) -> KeptOrder {
        for (tile, read) in entries.enumerate() {
            let depths =
                self.lists.tile(tile).iter().map(|splat| draw.splats[*splat as usize].depth);
            for (entry, depth) in self.order.tables[tile].iter_mut().zip(depths).take(index(read)) {
                entry.depth = depth;
            }
        }
        self.order
    }
}

fn exact(draw: &Draw, lists: &TileLists) -> Vec<Vec<u32>> {
    let of_tile = |tile: usize| {
        lists.tile(tile).iter().map(|splat| draw.splats[*splat as usize].index).collect()
    };
    (0..lists.tiles()).map(of_tile).collect()
}

/// Division of tables into chunks.
#[derive(Clone, Copy)]
struct ChunkBorders {
    chunk: usize,
    /// Whether the first chunk has half the size.
    is_shifted: bool,
}

impl ChunkBorders {
    fn chunks<T>(self, table: &mut [T]) -> impl Iterator<Item = &mut [T]> {
        let first = if self.is_shifted { (self.chunk / 2).min(table.len()) } else { 0 };
        let (first, others) = table.split_at_mut(first);
        std::iter::once(first)
            .filter(|first| !first.is_empty())
            .chain(others.chunks_mut(self.chunk))
    }
}

fn is_before(a: &Entry, b: &Entry) -> std::cmp::Ordering {
    a.depth.total_cmp(&b.depth).then(a.splat.cmp(&b.splat))
}

/// Updates the table of a tile for the drawn splats `list`, which are in the exact order.
fn update(
    (before, exact_before): (&[Entry], &[u32]),
    draw: &Draw,
    list: &[u32],
    borders: ChunkBorders,
    spec: &GscoreSpec,
) -> Tile {
    let number_of = |number: &u32| draw.splats[*number as usize].index;
    // Drawn number and exact place of each splat of the scene in the tile.
    let drawn: HashMap<u32, (u32, usize)> =
        list.iter().enumerate().map(|(at, number)| (number_of(number), (*number, at))).collect();
    let mut tile = Tile::default();
    let mut old = before.to_vec();
    for chunk in borders.chunks(&mut old) {
        chunk.sort_by(is_before);
        tile.sort.add_chunk(chunk.len() as u64, spec);
    }
    let remaining: Vec<_> = old.into_iter().filter(|e| drawn.contains_key(&e.splat)).collect();
    tile.outgoing = (before.len() - remaining.len()) as u64;
    let known: HashSet<u32> = remaining.iter().map(|entry| entry.splat).collect();
    let incoming = list.iter().map(|number| &draw.splats[*number as usize]);
    let incoming = incoming.filter(|splat| !known.contains(&splat.index));
    // The drawing order is the order of depth.
    let incoming: Vec<_> =
        incoming.map(|splat| Entry { splat: splat.index, depth: splat.depth }).collect();
    tile.incoming = incoming.len() as u64;
    tile.sort.add_tile(tile.incoming, spec);
    if !incoming.is_empty() && !remaining.is_empty() {
        tile.sort.add_merge((remaining.len() + incoming.len()) as u64, spec);
    }
    tile.moved = moved(exact_before, list, &drawn, number_of);
    tile.table = merged(&remaining, &incoming);
    tile.list = tile.table.iter().map(|entry| drawn[&entry.splat].0).collect();
    tile
}

/// Places by which the splats that remain in a tile have moved from one exact order to the next.
fn moved(
    before: &[u32],
    list: &[u32],
    drawn: &HashMap<u32, (u32, usize)>,
    number_of: impl Fn(&u32) -> u32,
) -> Vec<u64> {
    let remaining = before.iter().filter(|splat| drawn.contains_key(splat));
    let places: HashMap<u32, usize> =
        remaining.enumerate().map(|(place, splat)| (*splat, place)).collect();
    let now = list.iter().filter_map(|number| places.get(&number_of(number)));
    now.enumerate().map(|(place, before)| place.abs_diff(*before) as u64).collect()
}

/// Merges two tables by depth, as a unit does that compares their first entries. The first one may be out of order.
fn merged(table: &[Entry], incoming: &[Entry]) -> Vec<Entry> {
    let (mut table, mut incoming) = (table.iter().peekable(), incoming.iter().peekable());
    let mut all = Vec::with_capacity(table.len() + incoming.len());
    loop {
        let next = match (table.peek(), incoming.peek()) {
            (Some(old), Some(new)) if is_before(new, old).is_lt() => incoming.next(),
            (Some(_), _) => table.next(),
            (None, _) => incoming.next(),
        };
        match next {
            Some(entry) => all.push(*entry),
            None => return all,
        }
    }
}

#[cfg(test)]
#[path = "../tests/units/kept_order.rs"]
mod tests;
