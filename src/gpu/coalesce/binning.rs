//! Binning for a tile-based GPU: lists the primitives of each tile in memory, and reads the lists tile by tile.
//!
//! Input: primitives in order. Output: the primitives of each tile in order, clipped to the tile, tile by tile, row by row;
//! tiles without primitives are left out. Rates: list entries per cycle in, primitives per cycle out.
//!
//! While binning, each tile that the bounding box of a primitive meets gets an entry (assumption: no test of edges). Bins on
//! the chip gather entries by tile and write them to the tile's list when they are full and, oldest first, when another
//! tile needs a bin. A list consists of blocks, each of which ends with a link to the next. When all primitives are
//! binned, or when lists and vertex results fill the parameter buffer, the tiles are drawn. Blocks are requested ahead of
//! their use, also those of the next tiles, one per cycle (assumption: the unit keeps the links in a table; it would else
//! wait for the memory once per block). Tiles that are drawn again after an overflow load what they have stored.

use std::mem::size_of;

use super::bins::{Bins, Coalescer, Reason};
use super::flush_policy::Evict;
use crate::draw_state::DrawState;
use quadrille_base::math::{fit, index};
use quadrille_base::raster::geometry::PixelRect;
use quadrille_base::raster::tiles::{TILE_PX, TileLayout};
use quadrille_machine::{
    Client, Cycle, IssuePort, Memory, Primitive, Queue, Rate, Sink, Stage, StallReason, Unit,
    Visitor, spec, statistics,
};

/// Bytes of the link at the end of a block.
const LINK_BYTES: u64 = size_of::<u32>() as u64;

spec! {
    /// Configuration of the binning unit of a tile-based GPU.
    BinningSpec in "binning" {
        /// Capacity of the input queue, in primitives.
        queue: u64 = 2, 1..=65_536, Assumed "as tile-grid coalescing";
        /// Screen tiles of 16x16 pixels along the side of a tile: 1, 2 and 4 give tiles of 16, 32 and 64 pixels.
        tile_side: u64 = 2, 1..=4, Assumed "32x32 pixels; tiles are typically 16x16 or 32x32 (Khronos' Vulkan tutorial, rendering approaches for mobile GPUs), and Mali GPUs list primitives by 16x16, 32x32 and 64x64 (Mesa, pan_tiler.c)";
        /// List entries written per cycle.
        entries_per_cycle: Rate = Rate::ONE, Rate::LEAST..=Rate::MOST, Assumed "one write port, as tile-grid coalescing";
        /// Bytes of a list entry.
        entry_bytes: u64 = 4, 1..=64, Assumed "the index of a primitive";
        /// Number of bins on the chip, one tile each.
        bins: u64 = 128, 1..=65_536, Assumed "as tile-grid coalescing";
        /// Entries per bin.
        bin_size: u64 = 8, 1..=65_536, Assumed "a sector of the L2";
        /// Bytes of a block of a list, with the link at its end.
        block_bytes: u64 = 512, 128..=65_536, Assumed "the blocks of the polygon lists of the Mali-400 (Mesa, lima_context.h)";
        /// Bytes of memory for lists and vertex results, at which the tiles are drawn before further primitives are binned.
        parameter_bytes: u64 = 134_217_728, 65_536..=1_073_741_824, Assumed "drivers let the buffer grow; this is room for 800,000 splats";
        /// Blocks requested ahead of their use.
        block_queue: u64 = 8, 1..=65_536, Assumed "a thousand primitives, which cover the latency of DRAM at one primitive per cycle";
        /// Primitives sent to setup per cycle.
        primitives_per_cycle: Rate = Rate::ONE, Rate::LEAST..=Rate::MOST, Assumed "as setup";
        /// Capacity of the queue of primitives whose vertices are being read again.
        fetch_queue: u64 = 1024, 1..=65_536, Assumed "covers the latency of DRAM at one primitive per cycle";
        /// Latency in cycles.
        latency_cycles: u64 = 1, 0..=10_000, Assumed "as tile-grid coalescing";
    }
}

statistics! {
    /// Lists of primitives by tile.
    pub struct TileListCounters {
        /// Primitives binned.
        pub primitives: u64,
        /// List entries written: pairs of a primitive and a tile.
        pub entries: u64,
        /// Blocks allocated.
        pub blocks: u64,
        /// Bytes of entries and links written.
        pub bytes_written: u64,
        /// Bytes of entries and links read.
        pub bytes_read: u64,
        /// Tiles drawn; a tile counts each time.
        pub tiles: u64,
        /// Times that the full parameter buffer made the unit draw all tiles before the end.
        pub overflows: u64,
        /// Cycles in which primitives are binned: up to the end of each binning pass from the start or the last overflow.
        pub binning_cycles: u64,
    }
}

#[derive(Debug, Default)]
struct List {
    /// Entries as indices of binned primitives.
    entries: Vec<u32>,
    /// Addresses of the blocks.
    blocks: Vec<u64>,
}

/// Binning unit of a tile-based GPU.
#[derive(Debug)]
pub struct Binning {
    spec: BinningSpec,
    tile_px: i32,
    tiles_across: usize,
    bins: Coalescer<u32, Evict>,
    primitives: Vec<Primitive>,
    lists: Vec<List>,
    entries_per_block: usize,
    /// Address of the lists, and the bytes in use there.
    memory: [u64; 2],
    /// Bytes of the vertex results of binned splats.
    result_bytes: u64,
    last_splat: Option<u32>,
    /// Cycle by which all entries are written.
    written: Cycle,
    pass_start: Cycle,
    requests: Queue,
    requested: Cycle,
    counters: TileListCounters,
}

impl Binning {
    /// Creates an idle unit for a picture of `layout`, with its lists in memory from `address` on.
    pub fn new(spec: &BinningSpec, layout: TileLayout, address: u64) -> Self {
        let tile_px = fit::<u32>(spec.tile_side) * TILE_PX;
        let [across, down] = [layout.width, layout.height].map(|side| side.div_ceil(tile_px));
        let tiles = (across * down) as usize;
        let bins = Bins::new(spec.bins, spec.bin_size, tiles, Evict::FirstIn);
        Self {
            tile_px: tile_px.cast_signed(),
            tiles_across: across as usize,
            bins: Coalescer::new(
                bins,
                spec.entries_per_cycle,
                IssuePort::new(spec.primitives_per_cycle, spec.latency_cycles),
            ),
            primitives: Vec::new(),
            lists: (0..tiles).map(|_| List::default()).collect(),
            entries_per_block: index((spec.block_bytes - LINK_BYTES) / spec.entry_bytes),
            memory: [address, 0],
            result_bytes: 0,
            last_splat: None,
            written: 0,
            pass_start: 0,
            requests: Queue::new(spec.block_queue),
            requested: 0,
            counters: TileListCounters::default(),
            spec: spec.clone(),
        }
    }

    #[allow(clippy::cast_possible_wrap, clippy::cast_possible_truncation, reason = "few tiles")]
    fn rect(&self, tile: usize) -> PixelRect {
        let [x, y] = [tile % self.tiles_across, tile / self.tiles_across];
        let [x0, y0] = [x, y].map(|tiles| tiles as i32 * self.tile_px);
        PixelRect { x0, y0, x1: x0 + self.tile_px, y1: y0 + self.tile_px }
    }

    /// Writes the entries of a bin to the list of its tile.
    fn flush(&mut self, bin: u32, reason: Reason, at: Cycle, memory: &mut Memory) {
        let mut flushed = self.bins.take(bin, reason);
        let tile = flushed.key as usize;
        let mut left = &flushed.items[..];
        let mut accepted = at;
        while !left.is_empty() {
            let list = &mut self.lists[tile];
            let in_block = list.entries.len() % self.entries_per_block;
            if in_block == 0 {
                // Lists that fill the parameter buffer between two primitives reuse its start.
                let [base, used] = self.memory;
                list.blocks.push(base + used % self.spec.parameter_bytes);
                self.memory[1] += self.spec.block_bytes;
                self.counters.blocks += 1;
            }
            let (now, later) = left.split_at(left.len().min(self.entries_per_block - in_block));
            list.entries.extend_from_slice(now);
            let block = list.blocks.last().copied().unwrap_or_default();
            let ends = list.entries.len().is_multiple_of(self.entries_per_block);
            let bytes = now.len() as u64 * self.spec.entry_bytes + u64::from(ends) * LINK_BYTES;
            let address = block + in_block as u64 * self.spec.entry_bytes;
            accepted = accepted.max(memory.write_bytes(Client::VertexResults, address, bytes, at));
            self.counters.bytes_written += bytes;
            left = later;
        }
        let count = flushed.items.len();
        self.written = self.written.max(accepted);
        self.bins.bins.leave(&mut flushed, count, accepted);
        self.bins.give_back(flushed);
    }

    fn insert(&mut self, tile: usize, entry: u32, memory: &mut Memory) {
        let start = self.bins.input_clock.cycle();
        let key = fit::<u32>(tile);
        let index = match self.bins.bins.of(key) {
            Some(index) => index,
            None => {
                if let Some(victim) = self.bins.victim() {
                    self.flush(victim, Reason::Evicted, start, memory);
                }
                self.bins.bins.begin(key)
            }
        };
        let bin = self.bins.bins.bin(index);
        let written = start.max(bin.entries_free_at(1));
        bin.last_arrival = written;
        bin.items.push(entry);
        let is_full = bin.items.len() as u64 == self.spec.bin_size;
        self.bins.charge_wait(index, written);
        self.bins.input_clock.wait_until(written);
        self.bins.input_clock.pass_one();
        self.bins.count_input(written, 1);
        self.counters.entries += 1;
        if is_full {
            self.flush(index, Reason::Full, written, memory);
        }
    }

    /// Draws all tiles from `at` on. If `is_partial`, further primitives will be binned.
    fn draw_tiles<'m>(
        &mut self,
        at: Cycle,
        is_partial: bool,
        state: &mut DrawState<'m>,
        next: &mut impl Sink<Primitive, DrawState<'m>>,
    ) {
        let at = at.max(self.bins.input_clock.whole_cycle());
        while let Some(bin) = self.bins.bins.first() {
            self.flush(bin, Reason::End, at, &mut state.memory);
        }
        let at = at.max(self.written);
        self.counters.binning_cycles += at - self.pass_start;
        self.requested = self.requested.max(at);
        self.bins.output.hold_until(at, StallReason::Starved);
        for tile in 0..self.lists.len() {
            if !self.lists[tile].entries.is_empty() && !state.task.is_cancelled() {
                let list = std::mem::take(&mut self.lists[tile]);
                self.draw_tile(tile, &list, is_partial, state, next);
            }
        }
        self.primitives.clear();
        self.memory[1] = 0;
        self.result_bytes = 0;
        self.pass_start = self.bins.output.done();
    }

    fn draw_tile<'m>(
        &mut self,
        tile: usize,
        list: &List,
        is_partial: bool,
        state: &mut DrawState<'m>,
        next: &mut impl Sink<Primitive, DrawState<'m>>,
    ) {
        self.counters.tiles += 1;
        let rect = self.rect(tile);
        let free = self.bins.output.start(0);
        state.tiles.begin(tile, rect, is_partial, free, &mut state.memory);
        let blocks = list.blocks.iter().zip(list.entries.chunks(self.entries_per_block));
        for (&address, entries) in blocks {
            self.requested = self.requests.entry(self.requested);
            let has_link = entries.len() == self.entries_per_block;
            let bytes =
                entries.len() as u64 * self.spec.entry_bytes + u64::from(has_link) * LINK_BYTES;
            let memory = &mut state.memory;
            let arrived = memory.read_bytes(Client::VertexResults, address, bytes, self.requested);
            self.requested += 1;
            self.counters.bytes_read += bytes;
            for &entry in entries {
                let primitive = self.primitives[entry as usize];
                let part = Primitive { bounds: primitive.bounds.intersect(rect), ..primitive };
                let output = &mut self.bins.output;
                output.start(0);
                output.hold_until(arrived, StallReason::Miss);
                let start = output.free();
                output.issue(part, start, 1, state, next);
            }
            self.requests.leave(self.bins.output.port_free());
        }
        next.end_tile(self.bins.output.done(), state);
    }
}

impl Unit for Binning {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.bins.visit([BinningSpec::UNIT, "binning_out"], visitor);
        visitor.statistics("tile_lists", &self.counters);
    }
}

impl<'m> Stage<DrawState<'m>> for Binning {
    type In = Primitive;
    type Out = Primitive;

    #[allow(clippy::cast_sign_loss, reason = "bounds lie inside the picture")]
    fn accept(
        &mut self,
        primitive: Primitive,
        arrival: Cycle,
        state: &mut DrawState<'m>,
        next: &mut impl Sink<Primitive, DrawState<'m>>,
    ) -> Cycle {
        let mut arrival = arrival;
        if self.memory[1] + self.result_bytes >= self.spec.parameter_bytes {
            self.counters.overflows += 1;
            self.draw_tiles(arrival, true, state, next);
            self.bins.input.idle_until(self.pass_start, StallReason::Blocked);
            arrival = arrival.max(self.pass_start);
        }
        self.bins.input.idle_until(arrival, StallReason::Starved);
        self.bins.input_clock.wait_until(arrival);
        let taken = self.bins.input_clock.cycle();
        if self.last_splat.replace(primitive.primitive) != Some(primitive.primitive) {
            self.result_bytes += state.vertex_buffer.entry_bytes();
        }
        let entry = fit::<u32>(self.primitives.len());
        self.primitives.push(primitive);
        self.counters.primitives += 1;
        let (size, bounds) = (self.tile_px, primitive.bounds);
        for y in bounds.y0 / size..=(bounds.y1 - 1) / size {
            for x in bounds.x0 / size..=(bounds.x1 - 1) / size {
                let tile = y as usize * self.tiles_across + x as usize;
                self.insert(tile, entry, &mut state.memory);
            }
        }
        taken
    }

    fn drain(
        &mut self,
        at: Cycle,
        state: &mut DrawState<'m>,
        next: &mut impl Sink<Primitive, DrawState<'m>>,
    ) -> Cycle {
        self.draw_tiles(at, false, state, next);
        at.max(self.bins.output.done())
    }
}
