//! Tile-grid coalescing (VR-Pipe, sections V-A and V-C): gathers primitives that meet the same grid
//! of 4x4 screen tiles, so that the quads of many primitives reach the same few tile bins together.
//!
//! In: primitives in order. Out: primitives, each once for every tile grid that its bounding box
//! meets, bounded to that grid; in order within a grid. Rates: one primitive a cycle and grid in,
//! one a cycle out. Switched off, it hands primitives on as they come and takes no time.

use crate::pipeline::issue_port::IssuePort;
use crate::pipeline::packets::Primitive;
use crate::pipeline::spec::spec;
use crate::pipeline::stage::{Sink, Stage};
use crate::pipeline::timing::{Activity, Cycle, StallReason};
use crate::pipeline::unit::{Unit, Visitor};
use crate::raster::geometry::PixelRect;
use crate::raster::tiles::TILE_PX;
use crate::raster::tiles::TileLayout;

use super::bins::{Bins, Evict, Flushes, Reason};

spec! {
    /// Tile-grid coalescing.
    TgcSpec in "tgc" {
        /// Primitives in the queue before it.
        queue: u64 = 2, 1..=65_536, Assumed "as primitive assembly";
        /// Bins.
        bins: u64 = 128, 1..=65_536, Published "VR-Pipe Table I";
        /// Primitives a bin.
        bin_size: u64 = 16, 1..=65_536, Published "VR-Pipe Table I";
        /// Screen tiles along the side of a tile grid.
        grid_tiles: u64 = 4, 1..=64, Published "VR-Pipe Table I: 64x64 pixels, 4x4 tiles";
        /// Latency in cycles.
        latency_cycles: u64 = 1, 0..=10_000, Assumed "one write, one read of a small memory";
        /// Which bin makes room when all are occupied.
        evict: Evict = Evict::FirstIn, .., Assumed "VR-Pipe flushes the oldest tile bin; taken over for grids";
    }
}

impl TgcSpec {
    /// Bytes of storage: a pointer to each of three vertices an entry and the grid's number a bin
    /// (VR-Pipe, Table III).
    #[must_use]
    pub fn storage_bytes(&self) -> u64 {
        const POINTER_BYTES: u64 = 4;
        const VERTICES: u64 = 3;
        const GRID_ID_BYTES: u64 = 2;
        (POINTER_BYTES * VERTICES * self.bin_size + GRID_ID_BYTES) * self.bins
    }
}

/// The unit.
#[derive(Debug)]
pub struct TileGridCoalescing {
    spec: TgcSpec,
    enabled: bool,
    grid_px: i32,
    grids_across: u32,
    bins: Bins<Primitive>,
    /// Input port.
    pub input: Activity,
    input_free: Cycle,
    /// Output port.
    pub output: IssuePort,
    /// Flushes by reason; items are primitives.
    pub flushes: Flushes,
    /// Primitives in.
    pub primitives_in: u64,
    /// Primitives out, one for each grid met.
    pub primitives_out: u64,
}

impl TileGridCoalescing {
    /// A unit for a picture of this layout.
    #[must_use]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "at most 64 tiles of 16 pixels"
    )]
    pub fn new(spec: &TgcSpec, enabled: bool, layout: TileLayout) -> Self {
        let grid_px = spec.grid_tiles as u32 * TILE_PX;
        let (across, down) = (
            layout.width.div_ceil(grid_px),
            layout.height.div_ceil(grid_px),
        );
        Self {
            enabled,
            grid_px: grid_px.cast_signed(),
            grids_across: across,
            bins: Bins::new(
                spec.bins,
                spec.bin_size,
                (across * down) as usize,
                spec.evict,
            ),
            input: Activity::default(),
            input_free: 0,
            output: IssuePort::new(spec.latency_cycles),
            flushes: Flushes::default(),
            primitives_in: 0,
            primitives_out: 0,
            spec: spec.clone(),
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
        let mut flushed = self.bins.take(bin);
        self.flushes.count(reason, flushed.items.len());
        for item in 0..flushed.items.len() {
            let start = self.output.start(at);
            let primitive = flushed.items[item];
            self.output.issue(primitive, start, 1, state, next);
            self.bins.leave(&mut flushed, 1, start);
        }
        self.bins.give_back(flushed);
    }

    /// Adds a primitive to the bin of a grid, from `start` on; returns when that was done.
    fn insert<M>(
        &mut self,
        grid: u32,
        primitive: Primitive,
        start: Cycle,
        state: &mut M,
        next: &mut impl Sink<Primitive, M>,
    ) -> Cycle {
        let bin = self.bins.of(grid).unwrap_or_else(|| {
            if self.bins.empty().is_none() {
                let victim = self.bins.victim();
                self.flush(victim, Reason::Evicted, start, state, next);
            }
            self.bins.begin(grid)
        });
        let bin_state = self.bins.bin(bin);
        let written = start.max(bin_state.places_free_at(1));
        bin_state.last_arrival = written;
        bin_state.items.push(primitive);
        let full = bin_state.items.len() as u64 == self.spec.bin_size;
        self.input.idle_until(written, StallReason::Full);
        self.input.busy_until(written + 1);
        if full {
            self.flush(bin, Reason::Full, written, state, next);
        }
        written
    }
}

impl Unit for TileGridCoalescing {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        if self.enabled {
            visitor.activity("tgc", &mut self.input);
            visitor.activity("tgc_out", &mut self.output.activity);
            visitor.statistics("tgc", &self.flushes);
        }
    }
}

impl<M> Stage<M> for TileGridCoalescing {
    type In = Primitive;
    type Out = Primitive;

    #[allow(clippy::cast_sign_loss, reason = "bounds lie inside the picture")]
    fn accept(
        &mut self,
        primitive: Primitive,
        arrival: Cycle,
        state: &mut M,
        next: &mut impl Sink<Primitive, M>,
    ) -> Cycle {
        self.primitives_in += 1;
        if !self.enabled {
            self.primitives_out += 1;
            return next.offer(primitive, arrival, state);
        }
        let size = self.grid_px;
        let bounds = primitive.bounds;
        self.input.idle_until(arrival, StallReason::Starved);
        let taken = self.input_free.max(arrival);
        let mut at = taken;
        for y in bounds.y0 / size..=(bounds.y1 - 1) / size {
            for x in bounds.x0 / size..=(bounds.x1 - 1) / size {
                let grid = PixelRect {
                    x0: x * size,
                    y0: y * size,
                    x1: (x + 1) * size,
                    y1: (y + 1) * size,
                };
                let part = Primitive {
                    bounds: bounds.intersect(grid),
                    ..primitive
                };
                self.primitives_out += 1;
                let key = y as u32 * self.grids_across + x as u32;
                at = self.insert(key, part, at, state, next) + 1;
            }
        }
        self.input_free = at;
        taken
    }

    fn drain(&mut self, at: Cycle, state: &mut M, next: &mut impl Sink<Primitive, M>) -> Cycle {
        while let Some(bin) = self.bins.first() {
            self.flush(bin, Reason::End, at.max(self.input_free), state, next);
        }
        at.max(self.output.done())
    }
}
