//! CROP blends quads in order and detects pixels that reach the termination threshold (VR-Pipe, sections V-B and VII-A).
//!
//! Input: shaded warps in order. Rates: by default 64 bytes of colour per cycle, and at most four quads. The sectors of a
//! quad are requested when it enters. Quads wait for their sectors in order; the sectors of the quads behind them are
//! already requested. A quad also waits until the last quad at the same position has been blended.

use crate::optional_parts::BLENDING_IN_CROP;
use std::ops::Range;

use crate::draw_state::DrawState;
use crate::zrop::framebuffer::bytes_per_quad;
use crate::zrop::termination::{Termination, Updates};
use quadrille_base::raster::tiles::{QUADS_PER_TILE, TILE_LENGTH, quad_index};
use quadrille_base::shading::ColourFormat;

use super::blend::{blend_and_terminate, blend_warp};
use quadrille_machine::{
    Activity, Client, Cycle, LINE_BYTES, Ledger, MapKind, Memory, QuadMasks, Queue, Rate,
    RateLimiter, SECTOR_BYTES, ShadedWarp, Sink, Stage, StallReason, Unit, UnitCache,
    UnitCacheSpec, Visitor, fragments, line_at, lines_of, spec, statistics,
};

/// Name of the statistics of the colour cache.
pub const CROP_CACHE: &str = "crop_cache";

spec! {
    /// Configuration of the colour unit (CROP).
    CropSpec in "crop" {
        /// Capacity of the input queue, in warps.
        queue: u64 = 8, 1..=65_536, Assumed "64 quads", only_if BLENDING_IN_CROP;
        /// Format of the colour buffer.
        format: ColourFormat = ColourFormat::Rgba16F, .., Published "VR-Pipe Table I";
        /// Bytes of colour blended per cycle.
        bytes_per_cycle: u64 = 64, 1..=4096, Published "VR-Pipe VII-A, Fig. 20b", only_if BLENDING_IN_CROP;
        /// Maximum number of quads blended per cycle.
        quads_per_cycle: Rate = Rate::new(4, 1), Rate::LEAST..=Rate::MOST, Published "VR-Pipe VII-A: 16 ROP units per GPC", only_if BLENDING_IN_CROP;
        /// Capacity of the cache in bytes.
        cache_bytes: u64 = 16_384, 128..=268_435_456, Published "VR-Pipe Table I, measured in VII-A", only_if BLENDING_IN_CROP;
        /// Ways per set; fully associative if at least the number of lines.
        cache_ways: u64 = 65_536, 1..=65_536, Assumed "no eviction below the measured 16 KB", only_if BLENDING_IN_CROP;
        /// Bytes per cycle from the L2 and, separately, to the L2.
        l2_bytes_per_cycle: u64 = 128, 1..=4096, Calibrated "VR-Pipe's QM speedup of 1.49, which needs more than about 70", only_if BLENDING_IN_CROP;
        /// Capacity of the write buffer to the L2, in lines.
        write_buffer: u64 = 16, 1..=65_536, Assumed "an eighth of the cache", only_if BLENDING_IN_CROP;
        /// Whether colours that were never written back start in their cleared state without a fetch.
        fast_clear: bool = true, .., Assumed "as the compression of cleared tiles in GPUs", only_if BLENDING_IN_CROP;
        /// Capacity of the queue of quads that wait for their colours from the cache.
        wait_queue: u64 = 640, 1..=65_536, Calibrated "the 16 pixels per cycle of VR-Pipe Fig. 20b in RGBA8: it covers the L2's latency at four quads per cycle; a shorter queue limits RGBA8 to 14 pixels per cycle", only_if BLENDING_IN_CROP;
        /// Latency of a blend in cycles.
        blend_cycles: u64 = 2, 1..=1024, Assumed "multiply-add and rounding", only_if BLENDING_IN_CROP;
    }
}

impl CropSpec {
    /// Rate of blending in quads, and its field: bytes or lanes limit it, depending on the colour format.
    pub fn limit(&self) -> (Rate, &'static str) {
        let by_bytes = Rate::of(self.bytes_per_cycle, bytes_per_quad(self.format));
        match by_bytes < self.quads_per_cycle {
            true => (by_bytes, "crop.bytes_per_cycle"),
            false => (self.quads_per_cycle, "crop.quads_per_cycle"),
        }
    }

    /// Size and ports of the colour cache.
    pub fn cache(&self) -> UnitCacheSpec {
        UnitCacheSpec {
            client: Client::Colour,
            bytes: self.cache_bytes,
            ways: self.cache_ways,
            l2_bytes_per_cycle: self.l2_bytes_per_cycle,
            write_buffer: self.write_buffer,
            fast_clear: self.fast_clear,
        }
    }
}

statistics! {
    /// Counters of CROP.
    pub struct CropCounters {
        /// Quads blended.
        pub quads: u64,
        /// Fragments blended.
        pub fragments: u64,
        /// Fragments blended into pixels that had already reached the threshold.
        pub late: u64,
        /// Quads not blended because of ideal termination.
        pub quads_dropped: u64,
        /// Fragments not blended because of ideal termination.
        pub fragments_dropped: u64,
        /// Pixels that reached the threshold.
        pub terminations: u64,
    }
}

/// Memory index of each quad position in a tile, along a Z-order curve, so that a line is a compact block of pixels.
#[allow(clippy::cast_possible_truncation, reason = "64 quads a tile")]
const fn z_order() -> [u8; TILE_LENGTH] {
    let mut order = [0; TILE_LENGTH];
    let mut position = 0;
    while position < QUADS_PER_TILE as u8 {
        let (x, y) = (position % 8, position / 8);
        let mut z = 0;
        let mut bit = 0;
        while bit < 3 {
            z |= (x >> bit & 1) << (2 * bit) | (y >> bit & 1) << (2 * bit + 1);
            bit += 1;
        }
        order[position as usize] = z;
        position += 1;
    }
    order
}
const Z_ORDER: [u8; TILE_LENGTH] = z_order();

#[allow(clippy::cast_possible_truncation, reason = "a tile has 32 lines at most")]
fn line_and_sectors(first: u64, bytes: u64) -> (u8, u8) {
    let sector = first % LINE_BYTES / SECTOR_BYTES;
    let count = bytes.div_ceil(SECTOR_BYTES);
    (line_at(first) as u8, (((1_u32 << count) - 1) << sector) as u8)
}

#[derive(Debug)]
pub(crate) struct ColourLayout {
    lines_per_tile: u32,
    sectors_per_quad: u64,
    by_position: [(u8, u8); TILE_LENGTH],
}

impl ColourLayout {
    pub(crate) fn new(format: ColourFormat) -> Self {
        let bytes = bytes_per_quad(format);
        Self {
            lines_per_tile: lines_of(u64::from(QUADS_PER_TILE) * bytes),
            sectors_per_quad: bytes.div_ceil(SECTOR_BYTES),
            by_position: Z_ORDER.map(|order| line_and_sectors(u64::from(order) * bytes, bytes)),
        }
    }

    #[inline]
    pub(crate) fn of(&self, tile: u32, position: u8) -> (u32, u8) {
        let (line, sectors) = self.by_position[usize::from(position) % self.by_position.len()];
        (tile * self.lines_per_tile + u32::from(line), sectors)
    }

    /// Distinct memory lines that hold the colours of the quads of `tile` at `positions`.
    #[inline(always)]
    fn lines(&self, tile: u32, positions: impl Iterator<Item = u8>) -> impl Iterator<Item = u32> {
        let line =
            |position: u8| self.by_position[usize::from(position) % self.by_position.len()].0;
        // One bit per line; a tile has at most 32 lines.
        let mut left = positions.fold(0, |lines, position| lines | 1_u32 << (line(position) % 32));
        let first = tile * self.lines_per_tile;
        std::iter::from_fn(move || {
            let line = (left != 0).then(|| first + left.trailing_zeros());
            left &= left.wrapping_sub(1);
            line
        })
    }
}

/// Colour raster operation unit (CROP): times and blends the quads of shaded warps.
#[derive(Debug)]
pub struct Crop {
    spec: CropSpec,
    /// Threshold and feedback of early termination; `None` if it is off.
    termination: Option<Termination>,
    gpc: usize,
    layout: ColourLayout,
    lookup: RateLimiter,
    blend: RateLimiter,
    waiting: Queue,
    /// Cache of colour sectors.
    pub cache: UnitCache,
    /// Cycle accounting of the blending port.
    pub activity: Activity,
    /// Cycle until which the last terminating blend holds the port because the update queue is full.
    held_until: Cycle,
    last_done: Cycle,
    /// Counts of blended, late and dropped quads and fragments so far.
    pub counters: CropCounters,
    ledger: Ledger,
}

impl Crop {
    /// Creates the idle unit of GPC `gpc`. The colours of the framebuffer lie in `memory_lines`.
    pub fn new(
        spec: &CropSpec,
        termination: Option<Termination>,
        gpc: usize,
        memory_lines: Range<u32>,
    ) -> Self {
        let (rate, _) = spec.limit();
        let port = RateLimiter::new(rate);
        Self {
            termination,
            gpc,
            layout: ColourLayout::new(spec.format),
            lookup: port.clone(),
            blend: port,
            waiting: Queue::new(spec.wait_queue),
            cache: UnitCache::new(&spec.cache(), memory_lines),
            activity: Activity::of_rate(rate),
            held_until: 0,
            last_done: 0,
            counters: CropCounters::default(),
            ledger: Ledger::default(),
            spec: spec.clone(),
        }
    }

    /// Times a quad that arrives `later` cycles after the previous one and has its colours in `sectors` of `line`.
    /// `blended` is the cycle of the last blend at its position and is updated. Returns the cycle of the lookup.
    #[inline(always)]
    fn time<const TERMINATING: bool>(
        &mut self,
        line: u32,
        sectors: u8,
        arrival: Cycle,
        later: Cycle,
        blended: &mut Cycle,
        memory: &mut Memory,
    ) -> Cycle {
        // A quad is looked up when it enters and blended when its data and the last blend at its position are done. The
        // latency of the L2 costs throughput only if the wait queue is too short.
        let looked_up = self.lookup.serve(self.waiting.entry(arrival));
        let access = self.cache.request(line, sectors, looked_up, memory);
        let ready = access.ready;
        let begin = self.blend.serve(ready.max(*blended));
        let end = self.blend.free().max(begin + 1);
        if TERMINATING && begin == self.held_until {
            self.activity.idle_for_room(later, ready, begin);
        }
        self.activity.work_on_data(later, ready, begin, end);
        self.waiting.leave(begin);
        let done = begin + self.spec.blend_cycles;
        *blended = done;
        self.cache.end(&access, sectors, done);
        self.last_done = done;
        looked_up
    }

    #[inline(always)]
    fn count(&mut self, quads: u64) {
        self.activity.moved += quads;
        self.counters.quads += quads;
        self.cache.count(quads * self.layout.sectors_per_quad);
    }

    #[inline(always)]
    fn blend(&mut self, warp: &ShadedWarp, arrival: Cycle, state: &mut DrawState<'_>) -> Cycle {
        blend_warp(state.level, &mut state.framebuffer, warp);
        let blended_at = state.framebuffer.blended_at(warp.tile);
        let mut looked_up = arrival;
        let mut later = self.activity.arrive(arrival);
        for quad in warp.quads.iter() {
            let (line, sectors) = self.layout.of(warp.tile, quad.position);
            let blended = &mut blended_at[usize::from(quad.position) % TILE_LENGTH];
            looked_up =
                self.time::<false>(line, sectors, arrival, later, blended, &mut state.memory);
            // The other quads of the warp arrive in the same cycle.
            later = 0;
        }
        self.count(warp.quads.len() as u64);
        self.counters.fragments += warp.quads.fragments();
        if let Some(maps) = &mut state.maps {
            for quad in warp.quads.iter() {
                maps.count(MapKind::Blended, quad_index(warp.tile, quad.position), quad.mask);
            }
        }
        looked_up
    }

    #[inline(always)]
    fn blend_and_terminate(
        &mut self,
        warp: &ShadedWarp,
        termination: Termination,
        arrival: Cycle,
        state: &mut DrawState<'_>,
    ) -> Cycle {
        let outcomes = blend_and_terminate(state.level, &mut state.framebuffer, warp, termination);
        let blended_at = state.framebuffer.blended_at(warp.tile);
        let mut looked_up = arrival;
        let mut quads = 0;
        for (quad, outcome) in warp.quads.iter().zip(&outcomes) {
            self.counters.fragments_dropped += fragments(outcome.dropped);
            if outcome.mask == 0 {
                self.counters.quads_dropped += 1;
                continue;
            }
            let (line, sectors) = self.layout.of(warp.tile, quad.position);
            let blended_at = &mut blended_at[usize::from(quad.position) % TILE_LENGTH];
            let later = self.activity.arrive(arrival);
            looked_up =
                self.time::<true>(line, sectors, arrival, later, blended_at, &mut state.memory);
            quads += 1;
            self.counters.late += fragments(outcome.late);
            let index = quad_index(warp.tile, quad.position);
            if let Some(maps) = &mut state.maps {
                maps.count(MapKind::Blended, index, outcome.mask);
                maps.terminated(index, outcome.reached);
                maps.count(MapKind::Late, index, outcome.late);
            }
            if outcome.reached != 0 {
                self.terminate(index, outcome.reached, termination, &mut state.updates[self.gpc]);
            }
        }
        self.count(quads);
        let blended = QuadMasks::of_each(&outcomes, |outcome| outcome.mask);
        self.counters.fragments += blended.fragments();
        looked_up
    }

    fn terminate(
        &mut self,
        quad: usize,
        reached: u8,
        termination: Termination,
        updates: &mut Updates,
    ) {
        self.counters.terminations += fragments(reached);
        let sent = updates.send(quad, reached, self.last_done, termination.feedback_cycles);
        // A blend whose updates do not fit into the queue holds the port.
        self.held_until = sent.saturating_sub(self.spec.blend_cycles);
        self.blend.hold_until(self.held_until);
    }
}

impl Unit for Crop {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        if self.termination.is_some() {
            let full = self.activity.idle[StallReason::Full as usize];
            visitor.waits("zrop_updates", "crop", StallReason::Full, full);
        }
        visitor.activity("crop", &mut self.activity);
        visitor.statistics("crop", &self.counters);
        visitor.ledger("crop", Some("crop"), &mut self.ledger, &self.counters);
        self.cache.visit(CROP_CACHE, ["crop_fill", "crop_write"], visitor);
    }
}

impl<'m> Stage<DrawState<'m>> for Crop {
    type In = ShadedWarp;
    type Out = ();

    fn accept(
        &mut self,
        warp: ShadedWarp,
        arrival: Cycle,
        state: &mut DrawState<'m>,
        _next: &mut impl Sink<(), DrawState<'m>>,
    ) -> Cycle {
        for line in self.layout.lines(warp.tile, warp.quads.iter().map(|quad| quad.position)) {
            self.cache.prefetch_behind(line, &state.memory);
        }
        let mark = (self.ledger).mark(&self.counters, Some(self.activity.busy));
        let looked_up = match self.termination {
            None => self.blend(&warp, arrival, state),
            Some(termination) => self.blend_and_terminate(&warp, termination, arrival, state),
        };
        self.activity.leave_queue(looked_up);
        let (tile, busy) = (Some(warp.tile), Some(self.activity.busy));
        (self.ledger).record(mark, &self.counters, busy, tile, looked_up);
        state.spare_quads.push(warp.quads);
        looked_up
    }

    fn drain(
        &mut self,
        at: Cycle,
        state: &mut DrawState<'m>,
        _next: &mut impl Sink<(), DrawState<'m>>,
    ) -> Cycle {
        let done = at.max(self.last_done);
        if state.update.write_back_colours {
            return self.cache.write_back_all(done, &mut state.memory);
        }
        done
    }

    fn done(&self) -> Cycle {
        self.last_done
    }
}
