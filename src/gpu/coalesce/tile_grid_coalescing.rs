//! Tile-grid coalescing (VR-Pipe, sections V-A and V-C) gathers primitives that overlap the same grid of
//! 4x4 screen tiles, so that the quads of many primitives reach the same few tile bins together.
//!
//! Input: primitives in order. Output: each primitive once per tile grid in which the GPC owns a screen tile of its
//! bounding box, clipped to that grid, in order within a grid. Rates: primitives and grids per cycle in, primitives per
//! cycle out; grids without a tile of the GPC take no time, since they follow from the box and the tile mapping alone
//! (assumption). Variants without VR-Pipe's additions bypass the unit.

use crate::tile_owner::TileOwner;
use quadrille_base::math::fit;
use quadrille_base::raster::geometry::PixelRect;
use quadrille_base::raster::tiles::{TILE_PX, TileLayout};
use quadrille_machine::{
    Cycle, IssuePort, Primitive, Rate, Sink, Stage, StallReason, Unit, Visitor, spec,
};

use super::bins::{Bins, Coalescer, Reason};
use super::flush_policy::Evict;

spec! {
    /// Configuration of tile-grid coalescing.
    TgcSpec in "tgc" {
        /// Capacity of the input queue, in primitives.
        queue: u64 = 2, 1..=65_536, Assumed "as primitive assembly";
        /// Number of bins.
        bins: u64 = 128, 1..=65_536, Published "VR-Pipe Table I";
        /// Primitives per bin.
        bin_size: u64 = 16, 1..=65_536, Published "VR-Pipe Table I";
        /// Screen tiles along the side of a tile grid.
        grid_tiles: u64 = 4, 1..=64, Published "VR-Pipe Table I: 64x64 pixels, 4x4 tiles";
        /// Primitives accepted per cycle, counted once per tile grid.
        primitives_in_per_cycle: Rate = Rate::ONE, Rate::LEAST..=Rate::MOST, Assumed "one write port";
        /// Primitives emitted per cycle.
        primitives_out_per_cycle: Rate = Rate::ONE, Rate::LEAST..=Rate::MOST, Assumed "as setup";
        /// Capacity of the queue of flushed primitives whose vertices are being read again.
        fetch_queue: u64 = 256, 1..=65_536, Assumed "covers the L2's latency at one primitive per cycle";
        /// Number of splats from the oldest primitive of a bin to the newest in the unit at which the bin is flushed.
        max_span: u64 = 2048, 0..=4_294_967_295, Assumed "not in VR-Pipe: without this flush, a bin keeps its splats in the buffer of vertex results until the end of the draw";
        /// Latency in cycles.
        latency_cycles: u64 = 1, 0..=10_000, Assumed "one write, one read of a small memory";
        /// Eviction rule for when all bins are occupied.
        evict: Evict = Evict::FirstIn, .., Assumed "as tile coalescing: VR-Pipe flushes the oldest tile bin";
    }
}

impl TgcSpec {
    /// Bytes of the fetch queue, which holds three of the four vertices in `position_bytes` per primitive.
    pub fn fetch_bytes(&self, position_bytes: u64) -> u64 {
        self.fetch_queue * position_bytes * 3 / 4
    }

    /// Storage in bytes: three vertex pointers per entry, and a grid number per bin (VR-Pipe, Table III).
    pub fn storage_bytes(&self) -> u64 {
        const POINTER_BYTES: u64 = 4;
        const VERTICES: u64 = 3;
        const GRID_ID_BYTES: u64 = 2;
        (POINTER_BYTES * VERTICES * self.bin_size + GRID_ID_BYTES) * self.bins
    }
}

/// Tile-grid coalescing unit of a GPC.
#[derive(Debug)]
pub struct TileGridCoalescing {
    enabled: bool,
    grid_px: i32,
    grids_across: u32,
    owner: TileOwner,
    bins: Coalescer<Primitive, Evict>,
    bin_size: u64,
    max_span: u64,
}

impl TileGridCoalescing {
    /// Creates an idle unit for the screen tiles of `owner`. Primitives bypass it unless it is `enabled`.
    pub fn new(spec: &TgcSpec, enabled: bool, layout: TileLayout, owner: TileOwner) -> Self {
        let grid_px = fit::<u32>(spec.grid_tiles) * TILE_PX;
        let [across, down] = [layout.width, layout.height].map(|side| side.div_ceil(grid_px));
        let bins = Bins::new(spec.bins, spec.bin_size, (across * down) as usize, spec.evict);
        Self {
            enabled,
            grid_px: grid_px.cast_signed(),
            grids_across: across,
            owner,
            bins: Coalescer::new(
                bins,
                spec.primitives_in_per_cycle,
                IssuePort::new(spec.primitives_out_per_cycle, spec.latency_cycles),
            ),
            bin_size: spec.bin_size,
            max_span: spec.max_span,
        }
    }

    fn flush<M>(
        &mut self,
        bin: u32,
        reason: Reason,
        at: Cycle,
        state: &mut M,
        next: &mut impl Sink<Primitive, M>,
    ) {
        let mut flushed = self.bins.take(bin, reason);
        for item in 0..flushed.items.len() {
            let start = self.bins.output.issue_on(flushed.items[item], at, 1, state, next);
            self.bins.bins.leave(&mut flushed, 1, start);
        }
        self.bins.give_back(flushed);
    }

    fn flush_old<M>(
        &mut self,
        newest: u32,
        at: Cycle,
        state: &mut M,
        next: &mut impl Sink<Primitive, M>,
    ) {
        // The first bin has the oldest first primitive, so the loop stops at the first newer one.
        while let Some(bin) = self.bins.bins.first()
            && (self.bins.bins.bin(bin).items.first()).is_some_and(|p| p.primitive <= newest)
        {
            self.flush(bin, Reason::Span, at, state, next);
        }
    }

    fn insert<M>(
        &mut self,
        grid: u32,
        primitive: Primitive,
        start: Cycle,
        state: &mut M,
        next: &mut impl Sink<Primitive, M>,
    ) {
        let index = match self.bins.bins.of(grid) {
            Some(index) => index,
            None => {
                if let Some(victim) = self.bins.victim() {
                    self.flush(victim, Reason::Evicted, start, state, next);
                }
                self.bins.bins.begin(grid)
            }
        };
        let bin = self.bins.bins.bin(index);
        let written = start.max(bin.entries_free_at(1));
        bin.last_arrival = written;
        bin.items.push(primitive);
        let full = bin.items.len() as u64 == self.bin_size;
        self.bins.charge_wait(index, written);
        self.bins.input_clock.wait_until(written);
        self.bins.input_clock.pass_one();
        self.bins.count_input(written, 1);
        if full {
            self.flush(index, Reason::Full, written, state, next);
        }
    }
}

impl Unit for TileGridCoalescing {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        if self.enabled {
            self.bins.visit([TgcSpec::UNIT, "tgc_out"], visitor);
        }
    }
}

impl<M> Stage<M> for TileGridCoalescing {
    type In = Primitive;
    type Out = Primitive;

    fn is_bypassed(&self) -> bool {
        !self.enabled
    }

    fn bypass(&self, primitive: Primitive) -> Option<Primitive> {
        Some(primitive)
    }

    #[allow(clippy::cast_sign_loss, reason = "bounds lie inside the picture")]
    fn accept(
        &mut self,
        primitive: Primitive,
        arrival: Cycle,
        state: &mut M,
        next: &mut impl Sink<Primitive, M>,
    ) -> Cycle {
        let (size, bounds) = (self.grid_px, primitive.bounds);
        self.bins.input.idle_until(arrival, StallReason::Starved);
        self.bins.input_clock.wait_until(arrival);
        let taken = self.bins.input_clock.cycle();
        for y in bounds.y0 / size..=(bounds.y1 - 1) / size {
            for x in bounds.x0 / size..=(bounds.x1 - 1) / size {
                let grid = PixelRect {
                    x0: x * size,
                    y0: y * size,
                    x1: (x + 1) * size,
                    y1: (y + 1) * size,
                };
                let part = Primitive { bounds: bounds.intersect(grid), ..primitive };
                if !self.owner.owns_any(part.bounds) {
                    continue;
                }
                let key = y as u32 * self.grids_across + x as u32;
                self.insert(key, part, self.bins.input_clock.cycle(), state, next);
            }
        }
        let oldest = u64::from(primitive.primitive).checked_sub(self.max_span + 1);
        if let Some(oldest) = oldest.map(fit) {
            self.flush_old(oldest, self.bins.input_clock.cycle(), state, next);
        }
        taken
    }

    fn release(
        &mut self,
        primitive: u32,
        at: Cycle,
        state: &mut M,
        next: &mut impl Sink<Primitive, M>,
    ) {
        self.flush_old(primitive, at.max(self.bins.input_clock.whole_cycle()), state, next);
    }

    fn drain(&mut self, at: Cycle, state: &mut M, next: &mut impl Sink<Primitive, M>) -> Cycle {
        let at = at.max(self.bins.input_clock.whole_cycle());
        while let Some(bin) = self.bins.bins.first() {
            self.flush(bin, Reason::End, at, state, next);
        }
        at.max(self.bins.output.done())
    }
}
