//! Tile coalescing.

use std::collections::VecDeque;

use quadrille::gpu::coalesce::tile_coalescing::TcSpec;

use super::bins::Bins;
use super::packets::{Beat, Quad, RasterTile};
use super::queue::{Cycle, Fifo, Pipe, Port};
use super::ratio;

/// Gathers quads by screen tile. A raster tile leaves the queue when its first quads are written; the
/// rest are written from a register.
#[derive(Debug)]
pub(super) struct TileCoalescing {
    pub(super) bins: Bins<Quad>,
    /// Port that raster tiles pass.
    tiles: Port,
    /// Port that their quads pass.
    pub(super) input: Port,
    pub(super) output: Pipe<Beat>,
    quads_per_beat: usize,
    /// Whether the raster tile at the front of the queue has passed its port.
    begun: bool,
    /// Quads that are not written yet of the raster tile in the register, and its screen tile.
    register: VecDeque<Quad>,
    tile: u32,
    /// Sequence number of the bin of the next quads, and how many of them are written together.
    slot: Option<(u64, usize)>,
    ended: bool,
}

impl TileCoalescing {
    pub(super) fn new(spec: &TcSpec) -> Self {
        let out = ratio(spec.quads_out_per_cycle);
        let quads_per_beat = out.quads_per_slot();
        let timeout = Some(spec.timeout_cycles);
        Self {
            bins: Bins::new(spec.bins, spec.bin_size, spec.evict, timeout),
            tiles: Port::new(ratio(spec.tiles_in_per_cycle)),
            input: Port::new(ratio(spec.quads_in_per_cycle)),
            output: Pipe::new(out.of_groups(quads_per_beat), spec.latency_cycles),
            quads_per_beat: quads_per_beat as usize,
            begun: false,
            register: VecDeque::new(),
            tile: 0,
            slot: None,
            ended: false,
        }
    }

    pub(super) fn begin_cycle(&mut self, now: Cycle) {
        self.bins.begin_cycle(now);
        self.tiles.begin_cycle();
        self.input.begin_cycle();
        self.output.port.begin_cycle();
    }

    pub(super) fn end_cycle(&mut self, now: Cycle) {
        self.tiles.end_cycle(now);
        self.input.end_cycle(now);
        self.output.port.end_cycle(now);
    }

    /// `ended`: nothing more will enter `queue`.
    pub(super) fn step(
        &mut self,
        now: Cycle,
        queue: &mut Fifo<RasterTile>,
        next: &mut Fifo<Beat>,
        ended: bool,
    ) -> bool {
        let mut moved = self.output.deliver(now, next);
        while self.bins.has_flushed() && self.output.can_start() {
            let leaving = self.bins.take(self.quads_per_beat);
            let beat =
                Beat { tile: leaving.key, quads: leaving.items, last: leaving.last, pairs: 0 };
            self.output.start(now, 1, Some(beat));
            moved = true;
        }
        if !self.begun
            && self.register.is_empty()
            && self.input.is_free()
            && self.tiles.is_free()
            && !queue.is_empty()
        {
            self.tiles.start(now, 1);
            self.begun = true;
            moved = true;
        }
        while self.write_some(now, queue) {
            moved = true;
        }
        let is_over = ended && queue.is_empty() && self.register.is_empty() && self.input.is_idle();
        if is_over && !self.ended {
            self.ended = true;
            self.bins.flush_all();
            moved = true;
        }
        moved
    }

    /// Writes the quads of a slot: as many as the port passes in this cycle and as the bin has room
    /// for, once there are places for all of them. Returns whether it did.
    fn write_some(&mut self, now: Cycle, queue: &mut Fifo<RasterTile>) -> bool {
        let (tile, left) = match queue.front() {
            Some(tile) if self.begun => (tile.tile, tile.quads.len()),
            _ => (self.tile, self.register.len()),
        };
        if left == 0 || !self.input.is_free() {
            return false;
        }
        let bin = self.bins.bin_for(tile);
        let room = self.bins.room(bin);
        let begun = self.bins.begun(bin);
        let same = |slot: &(u64, usize)| slot.0 == begun;
        let size = match self.slot.filter(same) {
            Some((_, size)) => size,
            None => self.input.left(left.min(room)),
        };
        if self.bins.places(bin) < size {
            self.slot = Some((begun, size));
            return false;
        }
        self.slot = None;
        if self.begun {
            let raster_tile = queue.pop().expect("a raster tile");
            self.begun = false;
            self.tile = raster_tile.tile;
            self.register = raster_tile.quads.into();
        }
        self.bins.write(bin, self.register.drain(..size), now);
        self.input.start(now, size as u64);
        true
    }

    /// Whether the unit will emit nothing more.
    pub(super) fn has_ended(&self) -> bool {
        self.ended && self.bins.is_empty() && self.output.is_idle()
    }
}
