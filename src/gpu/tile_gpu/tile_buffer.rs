//! Colours of the tiles in work, on the chip: blends the quads of a tile, and writes the tile to memory once.
//!
//! Input: shaded warps in order, tile by tile. Rates: by default those of CROP, 64 bytes of colour per cycle and at most four
//! quads. A quad waits until the last quad at the same position has been blended; no quad waits for colours. At the end of
//! a tile its pixels are written through the L2 to DRAM, without a copy in the L2 (assumption: nothing reads them soon).

use crate::crop::blend::{Blended, blend_and_terminate, blend_warp};
use crate::crop::unit::{CROP_CACHE, CropCounters};
use crate::draw_state::DrawState;
use crate::optional_parts::TILE_BLENDING;
use crate::zrop::framebuffer::bytes_per_quad;
use crate::zrop::termination::Termination;
use quadrille_base::raster::tiles::{TILE_LENGTH, quad_index};
use quadrille_base::shading::ColourFormat;
use quadrille_machine::{
    Activity, CacheCounters, Cycle, Ledger, MapKind, Rate, RateLimiter, SECTOR_BYTES, ShadedWarp,
    Sink, Stage, StallReason, Unit, Visitor, WARP_QUADS, fragments, spec, statistics,
};

spec! {
    /// Configuration of the tile buffer of a tile-based GPU.
    TileBufferSpec in "tile_buffer" {
        /// Capacity of the input queue, in warps.
        queue: u64 = 8, 1..=65_536, Assumed "as CROP", only_if TILE_BLENDING;
        /// Tiles on the chip at once.
        buffers: u64 = 2, 1..=1024, Assumed "one tile is written while the next is drawn";
        /// Bytes of colour blended per cycle.
        bytes_per_cycle: u64 = 64, 1..=4096, Assumed "as CROP, so that both pipelines differ by the round trip to the L2", only_if TILE_BLENDING;
        /// Maximum number of quads blended per cycle.
        quads_per_cycle: Rate = Rate::new(4, 1), Rate::LEAST..=Rate::MOST, Assumed "as CROP", only_if TILE_BLENDING;
        /// Latency of a blend in cycles.
        blend_cycles: u64 = 2, 1..=1024, Assumed "as CROP", only_if TILE_BLENDING;
        /// Bytes per cycle to the L2.
        l2_bytes_per_cycle: u64 = 128, 1..=4096, Assumed "as CROP";
    }
}

impl TileBufferSpec {
    /// Rate of blending in quads.
    pub fn limit(&self, format: ColourFormat) -> Rate {
        let by_bytes = Rate::of(self.bytes_per_cycle, bytes_per_quad(format));
        if by_bytes < self.quads_per_cycle { by_bytes } else { self.quads_per_cycle }
    }
}

statistics! {
    /// Traffic of whole tiles.
    pub struct TileTrafficCounters {
        /// Tiles written.
        pub tiles_written: u64,
        /// Pixels written.
        pub pixels_written: u64,
        /// Pixels loaded after an overflow of the parameter buffer.
        pub pixels_loaded: u64,
    }
}

/// Tile buffer: times and blends the quads of shaded warps, and writes finished tiles.
#[derive(Debug)]
pub struct TileBuffer {
    spec: TileBufferSpec,
    termination: Option<Termination>,
    gpc: usize,
    sectors_per_quad: u64,
    blend: RateLimiter,
    write: RateLimiter,
    activity: Activity,
    held_until: Cycle,
    last_done: Cycle,
    counters: CropCounters,
    traffic: TileTrafficCounters,
    sectors: CacheCounters,
    ledger: Ledger,
}

impl TileBuffer {
    /// Creates the idle unit of GPC `gpc`, with early termination if `termination` has its parameters.
    pub fn new(
        spec: &TileBufferSpec,
        format: ColourFormat,
        termination: Option<Termination>,
        gpc: usize,
    ) -> Self {
        let rate = spec.limit(format);
        Self {
            termination,
            gpc,
            sectors_per_quad: bytes_per_quad(format).div_ceil(SECTOR_BYTES),
            blend: RateLimiter::new(rate),
            write: RateLimiter::new(Rate::of(spec.l2_bytes_per_cycle, SECTOR_BYTES)),
            activity: Activity::of_rate(rate),
            held_until: 0,
            last_done: 0,
            counters: CropCounters::default(),
            traffic: TileTrafficCounters::default(),
            sectors: CacheCounters::default(),
            ledger: Ledger::default(),
            spec: spec.clone(),
        }
    }

    /// Times a quad whose position was last blended until `blended`. Returns the cycle at which its blend begins.
    fn time(&mut self, arrival: Cycle, blended: &mut Cycle) -> Cycle {
        let begin = self.blend.serve(arrival.max(*blended));
        let end = self.blend.free().max(begin + 1);
        if begin == self.held_until {
            self.activity.idle_for_room(0, arrival, begin);
        }
        self.activity.idle_until(arrival, StallReason::Starved);
        self.activity.work_on_data(0, arrival, begin, end);
        *blended = begin + self.spec.blend_cycles;
        self.last_done = *blended;
        begin
    }

    fn terminate(&mut self, quad: usize, reached: u8, by: Termination, state: &mut DrawState<'_>) {
        self.counters.terminations += fragments(reached);
        let updates = &mut state.updates[self.gpc];
        let sent = updates.send(quad, reached, self.last_done, by.feedback_cycles);
        // As in CROP, a blend whose updates do not fit into the queue holds the port.
        self.held_until = sent.saturating_sub(self.spec.blend_cycles);
        self.blend.hold_until(self.held_until);
    }
}

impl Unit for TileBuffer {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        if self.termination.is_some() {
            let full = self.activity.idle[StallReason::Full as usize];
            visitor.waits("zrop_updates", "tile_buffer", StallReason::Full, full);
        }
        visitor.activity("tile_buffer", &mut self.activity);
        visitor.statistics("tile_buffer", &self.counters);
        visitor.ledger("tile_buffer", Some("tile_buffer"), &mut self.ledger, &self.counters);
        visitor.statistics("tiles", &self.traffic);
        self.sectors.hits = self.counters.quads * self.sectors_per_quad;
        visitor.statistics(CROP_CACHE, &self.sectors);
        let rate = Rate::of(self.spec.l2_bytes_per_cycle, 1);
        visitor.cache_port("tile_write", rate, self.sectors.written_back * SECTOR_BYTES);
    }
}

impl<'m> Stage<DrawState<'m>> for TileBuffer {
    type In = ShadedWarp;
    type Out = ();

    fn accept(
        &mut self,
        warp: ShadedWarp,
        arrival: Cycle,
        state: &mut DrawState<'m>,
        _next: &mut impl Sink<(), DrawState<'m>>,
    ) -> Cycle {
        let mark = self.ledger.mark(&self.counters, Some(self.activity.busy));
        let outcomes: [Blended; WARP_QUADS] = match self.termination {
            Some(by) => blend_and_terminate(state.level, &mut state.framebuffer, &warp, by),
            None => {
                blend_warp(state.level, &mut state.framebuffer, &warp);
                let mask = |quad: usize| warp.quads.get(quad).map_or(0, |quad| quad.mask);
                std::array::from_fn(|quad| Blended { mask: mask(quad), ..Blended::default() })
            }
        };
        let mut left = arrival;
        for (quad, outcome) in warp.quads.iter().zip(&outcomes) {
            self.counters.fragments_dropped += fragments(outcome.dropped);
            if outcome.mask == 0 {
                self.counters.quads_dropped += 1;
                continue;
            }
            let blended_at = state.framebuffer.blended_at(warp.tile);
            left = self.time(arrival, &mut blended_at[usize::from(quad.position) % TILE_LENGTH]);
            self.activity.moved += 1;
            self.counters.quads += 1;
            self.counters.fragments += fragments(outcome.mask);
            self.counters.late += fragments(outcome.late);
            let at = quad_index(warp.tile, quad.position);
            if let Some(maps) = &mut state.maps {
                maps.count(MapKind::Blended, at, outcome.mask);
                maps.terminated(at, outcome.reached);
                maps.count(MapKind::Late, at, outcome.late);
            }
            if let Some(by) = self.termination.filter(|_| outcome.reached != 0) {
                self.terminate(at, outcome.reached, by, state);
            }
        }
        let (tile, busy) = (Some(warp.tile), Some(self.activity.busy));
        self.ledger.record(mark, &self.counters, busy, tile, left);
        state.spare_quads.push(warp.quads);
        left
    }

    fn end_tile(
        &mut self,
        at: Cycle,
        state: &mut DrawState<'m>,
        _next: &mut impl Sink<(), DrawState<'m>>,
    ) -> Cycle {
        let done = at.max(self.last_done);
        let Some(tile) = state.tiles.current.take() else { return done };
        let mut written = done;
        for part in tile.parts {
            self.traffic.pixels_written += part.pixels;
            for (client, line, bytes) in state.tiles.buffers_of(part, tile.is_partial) {
                let sectors = bytes.div_ceil(SECTOR_BYTES);
                let sent = self.write.serve_all(done, sectors);
                self.sectors.written_back += sectors;
                written = written.max(state.memory.write_through(client, line, bytes, sent));
            }
        }
        self.traffic.tiles_written += 1;
        self.traffic.pixels_loaded = state.tiles.pixels_loaded;
        state.tiles.buffers.leave(written + 1);
        done
    }

    fn done(&self) -> Cycle {
        self.last_done
    }
}
