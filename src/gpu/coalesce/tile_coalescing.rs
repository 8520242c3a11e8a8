//! Tile coalescing (VR-Pipe, sections II-A, V-A and VII-A) gathers the quads of a screen tile, so that
//! warps hold quads of one tile and the colour cache sees them together.
//!
//! Input: raster tiles with covered pixels. Output: beats of quads, flush by flush, in order within a tile. Rates: raster
//! tiles and quads per cycle in, quads per cycle out. A raster tile whose quads do not fit into a cycle continues in the
//! next. A bin is flushed when it is full, when all bins are occupied and a quad of another tile arrives, at its deadline,
//! when its oldest quad is too far behind the newest one, and at the end of the draw. A [`FlushPolicy`] chooses the evicted bin and the deadlines. The entry of a quad is free
//! again when the quad has left. For shaders that blend in critical sections, the unit also flushes a bin before a quad
//! that covers a pixel which the bin holds, so that no two fragments of a flush share a pixel.

use arrayvec::ArrayVec;
use quadrille_base::math::{fit, index};
use quadrille_base::raster::strip::tile_quads;
use quadrille_base::raster::tiles::RASTER_TILE_QUADS;
use quadrille_machine::{
    BEAT_QUADS, Beat, Cycle, IssuePort, Ledger, Quad, RasterTile, Rate, RateClock, Sink, Stage,
    StallReason, Unit, Visitor, beat_width, spec,
};

use super::bins::{Bins, Coalescer, Flushes, Reason};
use super::flush_policy::{Evict, FlushPolicy, Timeout};
use super::held_pixels::HeldPixels;

spec! {
    /// Configuration of tile coalescing.
    TcSpec in "tc" {
        /// Capacity of the input queue, in raster tiles.
        queue: u64 = 4, 1..=65_536, Assumed "as the queues of the raster units";
        /// Number of bins, one screen tile each.
        bins: u64 = 32, 1..=65_536, Published "VR-Pipe Table I, measured in VII-A";
        /// Quads per bin.
        bin_size: u64 = 128, 1..=65_536, Published "VR-Pipe Table I";
        /// Raster tiles accepted per cycle.
        tiles_in_per_cycle: Rate = Rate::new(2, 1), Rate::LEAST..=Rate::MOST, Assumed "as the raster units; the Emerald simulator assembles one per cycle";
        /// Quads accepted per cycle, over all raster tiles of the cycle.
        quads_in_per_cycle: Rate = Rate::new(16, 1), Rate::LEAST..=Rate::MOST, Assumed "a full raster tile, as the Emerald simulator takes per cycle; two tiles of fewer quads share it";
        /// Quads emitted per cycle.
        quads_out_per_cycle: Rate = Rate::new(8, 1), Rate::LEAST..=Rate::MOST, Calibrated "VR-Pipe's speedup of 2.78, which needs more than 5.56 quads per cycle";
        /// Latency in cycles.
        latency_cycles: u64 = 1, 0..=10_000, Assumed "one read of a small memory";
        /// Cycles without a new quad after which a bin is flushed.
        timeout_cycles: u64 = 1024, 1..=1_000_000_000, Calibrated "the tile bins of VR-Pipe VII-A: longer than the time between two visits to a tile";
        /// Number of splats from the oldest quad of a bin to the newest in the unit at which the bin is flushed.
        max_span: u64 = 4_294_967_295, 0..=4_294_967_295, Assumed "VR-Pipe describes no such flush; smaller values shorten the time that splats stay in the buffer of vertex results";
        /// Eviction rule for when all bins are occupied.
        evict: Evict = Evict::FirstIn, .., Published "VR-Pipe V-A: the oldest bin";
    }
}

impl TcSpec {
    /// Flush policy with the configured eviction rule and timeout.
    pub fn policy(&self) -> Timeout<Evict> {
        Timeout { evict: self.evict, timeout_cycles: self.timeout_cycles }
    }
}

/// Tile coalescing unit with flush policy `P`.
#[derive(Debug)]
pub struct TileCoalescing<P> {
    bins: Coalescer<Quad, P>,
    tiles: RateClock,
    tile_rate: Rate,
    /// Raster tiles in.
    tiles_in: u64,
    together: usize,
    size: usize,
    /// Lower bound on the deadlines of all bins; lets the search for due bins be skipped.
    next_deadline: Cycle,
    max_span: u64,
    /// Newest splat in the unit so far.
    newest: u32,
    /// Lower bound on the oldest splats of all bins; lets the search for old bins be skipped.
    oldest: u32,
    /// Pixels in the bins, if each bin may hold a pixel only once.
    held: Option<HeldPixels>,
    ledger: Ledger,
}

impl<P: FlushPolicy> TileCoalescing<P> {
    /// Creates an idle unit for a picture of `tiles` screen tiles.
    pub fn new(spec: &TcSpec, policy: P, tiles: usize) -> Self {
        let bins = Bins::new(spec.bins, spec.bin_size, tiles, policy);
        Self {
            bins: Coalescer::new(
                bins,
                spec.quads_in_per_cycle,
                IssuePort::of_beats(spec.quads_out_per_cycle, spec.latency_cycles),
            ),
            tiles: RateClock::new(spec.tiles_in_per_cycle),
            tile_rate: spec.tiles_in_per_cycle,
            tiles_in: 0,
            together: beat_width(spec.quads_out_per_cycle) as usize,
            size: index(spec.bin_size),
            next_deadline: Cycle::MAX,
            max_span: spec.max_span,
            newest: 0,
            oldest: 0,
            held: None,
            ledger: Ledger::default(),
        }
    }

    /// Restricts each bin to one fragment per pixel if `once`.
    #[must_use]
    pub(crate) fn holding_pixels_once(self, spec: &TcSpec, once: bool) -> Self {
        Self { held: once.then(|| HeldPixels::new(spec.bins)), ..self }
    }

    /// Flushes by reason; items are quads.
    pub fn flushes(&self) -> &Flushes {
        &self.bins.flushes
    }

    fn flush<M>(
        &mut self,
        bin: u32,
        reason: Reason,
        at: Cycle,
        state: &mut M,
        next: &mut impl Sink<Beat, M>,
    ) {
        let (output, flushes) = (&self.bins.output, &self.bins.flushes);
        let mark = (self.ledger).mark(flushes, Some(output.activity.busy));
        let mut flushed = self.bins.take(bin, reason);
        if let Some(held) = &mut self.held {
            held.clear(bin);
        }
        let count = flushed.items.len();
        // Padding, so that eight quads can be copied from any index.
        flushed.items.resize(count + BEAT_QUADS, Quad::default());
        for first in (0..count).step_by(self.together) {
            let end = count.min(first + self.together);
            let Some(&quads) = flushed.items[first..].first_chunk() else { break };
            // Copying a whole beat and truncating it is cheaper than copying a part.
            let mut quads = ArrayVec::from(quads);
            quads.truncate(end - first);
            let beat = Beat { tile: flushed.key, quads, pairs: 0, last: end == count };
            let output = &mut self.bins.output;
            let start = output.issue_on(beat, at, (end - first) as u64, state, next);
            self.bins.bins.leave(&mut flushed, end - first, start);
        }
        flushed.items.truncate(count);
        let (tile, busy) = (Some(flushed.key), self.bins.output.activity.busy);
        (self.ledger).record(mark, &self.bins.flushes, Some(busy), tile, at);
        self.bins.give_back(flushed);
    }

    fn begin<M>(
        &mut self,
        tile: u32,
        at: Cycle,
        state: &mut M,
        next: &mut impl Sink<Beat, M>,
    ) -> u32 {
        if let Some(victim) = self.bins.victim() {
            self.flush(victim, Reason::Evicted, at, state, next);
        }
        self.bins.bins.begin(tile)
    }

    /// Flushes the bins due by `now`, earliest deadline first. Stops after a flush of `until` and returns its cycle.
    fn flush_due<M>(
        &mut self,
        now: Cycle,
        until: Option<u32>,
        state: &mut M,
        next: &mut impl Sink<Beat, M>,
    ) -> Option<Cycle> {
        while self.next_deadline <= now {
            let due = self.bins.bins.next_due();
            self.next_deadline = due.map_or(Cycle::MAX, |(_, deadline)| deadline);
            if let Some((bin, deadline)) = due.filter(|(_, deadline)| *deadline <= now) {
                self.flush(bin, Reason::Timeout, deadline, state, next);
                if until == Some(bin) {
                    return Some(deadline);
                }
            }
        }
        None
    }

    /// Flushes the bins whose first quad is more than `max_span` splats behind the newest one, of which `primitive` is the
    /// latest.
    fn flush_old<M>(
        &mut self,
        primitive: u32,
        at: Cycle,
        state: &mut M,
        next: &mut impl Sink<Beat, M>,
    ) {
        self.newest = self.newest.max(primitive);
        let Some(oldest) = u64::from(self.newest).checked_sub(self.max_span) else { return };
        let oldest = fit(oldest);
        // Quads of a bin are in drawing order, but tile-grid coalescing sends older ones to other bins.
        self.oldest = self.oldest.min(primitive);
        while self.oldest < oldest {
            let first = self.bins.bins.oldest_by(|quad| quad.primitive);
            self.oldest = first.map_or(u32::MAX, |(_, first)| first);
            if let Some((bin, _)) = first.filter(|&(_, first)| first < oldest) {
                self.flush(bin, Reason::Span, at, state, next);
            }
        }
    }
}

impl<P: FlushPolicy> Unit for TileCoalescing<P> {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.bins.input.least = self.tile_rate.cycles_for(self.tiles_in);
        self.bins.visit([TcSpec::UNIT, "tc_out"], visitor);
        visitor.ledger("tc", Some("tc_out"), &mut self.ledger, &self.bins.flushes);
    }
}

impl<M, P: FlushPolicy> Stage<M> for TileCoalescing<P> {
    type In = RasterTile;
    type Out = Beat;

    fn accept(
        &mut self,
        item: RasterTile,
        arrival: Cycle,
        state: &mut M,
        next: &mut impl Sink<Beat, M>,
    ) -> Cycle {
        self.bins.input.idle_until(arrival, StallReason::Starved);
        self.tiles_in += 1;
        let start = self.tiles.pass_from(self.bins.input_clock.cycle().max(arrival), 1);
        self.bins.input_clock.wait_until(start);
        let corner = (item.quarter >> 1) * 32 + (item.quarter & 1) * 4;
        // An iterator instead of an array: the host cannot forward several small stores to one wide load, so a copy of the
        // array would wait for them.
        let mut left = tile_quads(item.mask).map(|quad| Quad {
            primitive: item.primitive,
            position: corner + quad.place,
            mask: quad.mask,
        });
        let (mut passed, count) = (0, left.len());
        let (mut taken, mut at) = (None, start);
        while passed < count {
            self.flush_due(at, None, state, next);
            // The bin is looked up once per cycle of a raster tile, not per quad.
            let bin_index = match self.bins.bins.of(item.tile) {
                Some(bin) => bin,
                None => self.begin(item.tile, at, state, next),
            };
            let fitting = self.held.as_ref().map_or(count - passed, |held| {
                let left: ArrayVec<Quad, RASTER_TILE_QUADS> = left.clone().collect();
                held.fitting(bin_index, &left)
            });
            if fitting == 0 {
                self.flush(bin_index, Reason::Conflict, at, state, next);
                continue;
            }
            let bin = self.bins.bins.bin(bin_index);
            let room = self.size - bin.items.len();
            let now = index(self.bins.input_clock.left_in_cycle(fitting.min(room) as u64));
            let written = at.max(bin.entries_free_at(now));
            // While the quads wait for free entries, bins become due, and this bin may be one of them.
            if let Some(flushed) = self.flush_due(written, Some(bin_index), state, next) {
                at = flushed;
                self.bins.input_clock.wait_until(at);
                continue;
            }
            at = written;
            let (bin, policy) = self.bins.bins.bin_and_policy(bin_index);
            self.bins.input_clock.pass_from(at, now as u64);
            let first = bin.items.len();
            // The iterator's known length lets `extend` reserve room once.
            let next_quad = |_| left.next().unwrap_or_default();
            bin.items.extend((0..now).map(next_quad));
            passed += now;
            if let Some(held) = &mut self.held {
                held.add(bin_index, &bin.items[first..]);
            }
            bin.last_arrival = at;
            // Only a lower bound: it may be a deadline that the bin had before this item, which costs one search without a
            // result.
            self.next_deadline = self.next_deadline.min(policy.deadline(&bin.status()));
            taken = taken.or(Some(at));
            self.bins.charge_wait(bin_index, at);
            self.bins.count_input(at, now as u64);
            if now == room {
                self.flush(bin_index, Reason::Full, at, state, next);
            }
            at = self.bins.input_clock.cycle();
        }
        self.flush_old(item.primitive, at, state, next);
        taken.unwrap_or(start)
    }

    /// Flushes the bins whose first quad belongs to `primitive` or an earlier one: at their deadlines, or at once under a
    /// policy without deadlines.
    fn release(&mut self, primitive: u32, at: Cycle, state: &mut M, next: &mut impl Sink<Beat, M>) {
        let at = at.max(self.bins.input_clock.whole_cycle());
        let is_old = |quad: &Quad| quad.primitive <= primitive;
        while let Some((bin, deadline)) = self.bins.bins.due_of_old(is_old) {
            if deadline == Cycle::MAX {
                self.flush(bin, Reason::Span, at, state, next);
            } else {
                self.flush_due(deadline, None, state, next);
            }
        }
    }

    fn drain(&mut self, at: Cycle, state: &mut M, next: &mut impl Sink<Beat, M>) -> Cycle {
        let at = at.max(self.bins.input_clock.whole_cycle());
        self.flush_due(at, None, state, next);
        while let Some(bin) = self.bins.bins.first() {
            self.flush(bin, Reason::End, at, state, next);
        }
        at.max(self.bins.output.done())
    }
}
