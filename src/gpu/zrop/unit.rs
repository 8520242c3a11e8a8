//! ZROP performs the termination, stencil and depth tests before shading, and termination updates (VR-Pipe, V-B).
//!
//! Input: beats of quads. Output: the same beats without quads that have no fragment left. The last beat
//! of a flush is always emitted, as it marks the end. Quads without coverage, which only quad-fragment
//! merging uses, pass untested. Rate: quads per cycle, less the cycles in which termination updates hold
//! the port. A fragment is terminated only if its pixel's bit was written before the cycle of its test.

use crate::optional_parts::{EARLY_TERMINATION, TERMINATION_FEEDBACK, TEST_CACHE};
use std::ops::Range;

use crate::zrop::termination::Feedback;
use quadrille_base::math::fit;
use quadrille_base::raster::tiles::{QUADS_PER_TILE, TILE_LENGTH, quad_index};

use super::early::EarlyTests;
use quadrille_machine::{
    BEAT_QUADS, Beat, Client, Cycle, IssuePort, LINE_BYTES, Ledger, LedgerMark, Quad, QuadMasks,
    Queue, Rate, RateLimiter, SECTOR_BYTES, Sink, Stage, StallReason, Unit, UnitCache,
    UnitCacheSpec, Visitor, beat_width, fragments, line_at, spec, statistics,
};

/// Name of the statistics of the cache of stencil and depth values.
pub const Z_CACHE: &str = "z_cache";

spec! {
    /// Configuration of the unit for early tests (ZROP).
    ZropSpec in "zrop" {
        /// Capacity of the input queue, in beats.
        queue: u64 = 4, 1..=65_536, Assumed "as the queues of the raster units";
        /// Quads looked up and tested per cycle.
        quads_per_cycle: Rate = Rate::new(8, 1), Rate::LEAST..=Rate::MOST, Calibrated "VR-Pipe's speedup of 2.78, which needs more than 5.56 quads per cycle";
        /// Capacity of the queue of beats that wait for stencil and depth values, which are requested on arrival.
        wait_queue: u64 = 256, 1..=65_536, Assumed "covers the L2's latency; as the colour unit";
        /// Latency of the test in cycles.
        latency_cycles: u64 = 2, 0..=10_000, Assumed "read and compare";
        /// Capacity of the cache of stencil and depth values, in bytes.
        cache_bytes: u64 = 32_768, 128..=268_435_456, Assumed "twice the colour cache", only_if TEST_CACHE;
        /// Ways per set; fully associative if at least the number of lines.
        cache_ways: u64 = 65_536, 1..=65_536, Assumed "as the colour cache", only_if TEST_CACHE;
        /// Bytes per cycle from the L2 and, separately, to the L2.
        l2_bytes_per_cycle: u64 = 128, 1..=4096, Assumed "as the colour cache";
        /// Capacity of the write buffer to the L2, in lines.
        write_buffer: u64 = 16, 1..=65_536, Assumed "as the colour cache", only_if TEST_CACHE;
        /// Whether values that were never written back start in their cleared state without a fetch.
        fast_clear: bool = true, .., Assumed "as the compression of cleared tiles in GPUs", only_if TEST_CACHE;
        /// Accumulated alpha at which a pixel is terminated.
        threshold: f64 = 0.996, 0.0..=1.0, Published "VR-Pipe IV-B", only_if EARLY_TERMINATION;
        /// Cycles from a blend to its termination update.
        feedback_cycles: u64 = 8, 0..=1_000_000, Assumed "a queue from the colour to the depth unit", only_if TERMINATION_FEEDBACK;
        /// Updates in flight or waiting, one per pixel; the colour unit waits while the queue is full.
        update_queue: u64 = 64, 1..=65_536, Assumed "eight warps of one terminated pixel per quad", only_if TERMINATION_FEEDBACK;
        /// Cycles for which an update holds the port.
        update_cycles: u64 = 1, 0..=1024, Assumed "load, or, store in a pipelined cache", only_if TERMINATION_FEEDBACK;
        /// Whether the coarse raster drops the raster tiles of a screen tile whose pixels are all terminated or fail the
        /// stencil test, in the time of an empty screen tile; it sees updates `feedback_cycles` after their writes.
        tile_stencil: bool = false, .., Assumed "VR-Pipe describes no test of whole tiles; the GPUs of benches/hardware have one", only_if EARLY_TERMINATION;
        /// Timing of termination updates: simulated, or ideal, before any later fragment is blended.
        feedback: Feedback = Feedback::Timed, .., Published "VR-Pipe V-B: the update passes through the z-cache", only_if TERMINATION_FEEDBACK;
    }
}

impl ZropSpec {
    fn cache(&self) -> UnitCacheSpec {
        UnitCacheSpec {
            client: Client::Depth,
            bytes: self.cache_bytes,
            ways: self.cache_ways,
            l2_bytes_per_cycle: self.l2_bytes_per_cycle,
            write_buffer: self.write_buffer,
            fast_clear: self.fast_clear,
        }
    }

    /// Configuration with all values in `memory_lines` on the chip: each line has a place of its own, and none is evicted.
    pub(crate) fn on_chip(&self, memory_lines: &Range<u32>) -> Self {
        let bytes = u64::from(memory_lines.end - memory_lines.start) * LINE_BYTES;
        Self { cache_bytes: bytes, cache_ways: 1, ..self.clone() }
    }

    /// Storage in bytes of the wait queue, which a GPU without tests does not have, and of the update queue. A quad takes a
    /// pointer to its primitive, a position and a mask; an update takes a quad index and a pixel number.
    pub fn storage_bytes(&self) -> u64 {
        const POINTER_BITS: u64 = 32;
        const MASK_BITS: u64 = 4;
        let quad_bits = POINTER_BITS + u64::from(QUADS_PER_TILE.ilog2()) + MASK_BITS;
        const UPDATE_BITS: u64 = 32 + 2;
        (self.wait_queue * BEAT_QUADS as u64 * quad_bits).div_ceil(8)
            + (self.update_queue * UPDATE_BITS).div_ceil(8)
    }
}

type LineSectors = (u32, u8);

fn sectors_at(address: u64, bytes: u64) -> impl Iterator<Item = LineSectors> {
    let sectors = address / SECTOR_BYTES..=(address + bytes - 1) / SECTOR_BYTES;
    sectors.map(line_sector)
}

#[inline]
fn line_sector(sector: u64) -> LineSectors {
    (line_at(sector * SECTOR_BYTES), 1 << (sector % (LINE_BYTES / SECTOR_BYTES)))
}

statistics! {
    /// Fragments or quads by outcome.
    pub struct Tested {
        /// Number of fragments or quads tested.
        pub tested: u64,
        /// Number dropped by the termination test.
        pub terminated: u64,
        /// Number dropped by the stencil test.
        pub stencil_failed: u64,
        /// Number dropped by the depth test.
        pub depth_failed: u64,
    }
}

impl Tested {
    /// Number of fragments or quads that passed all tests.
    pub fn passed(&self) -> u64 {
        self.tested - self.terminated - self.stencil_failed - self.depth_failed
    }
}

statistics! {
    /// Statistics of ZROP.
    pub struct ZropCounters {
        /// Fragments by outcome.
        pub fragments: Tested,
        /// Quads by outcome; a dropped quad counts for the test that dropped its last fragment.
        pub quads: Tested,
        /// Quads by the number (0 to 4) of fragments left after the termination test.
        pub left: [u64; 5],
        /// Quads at the termination test with all four pixels terminated, covered or not.
        pub finished: u64,
        /// Termination updates, one per pixel.
        pub updates: u64,
    }
}

/// Depth raster operation unit (ZROP): runs the tests before shading and performs termination updates.
#[derive(Debug)]
pub struct Zrop {
    spec: ZropSpec,
    terminating: bool,
    gpc: usize,
    cache: UnitCache,
    slots: Vec<u32>,
    lookup: RateLimiter,
    width: usize,
    waiting: Queue,
    /// Output port, which tests and termination updates share.
    pub pipe: IssuePort,
    /// Counts of tested and killed fragments and quads so far.
    pub counters: ZropCounters,
    ledger: Ledger,
}

impl Zrop {
    /// Creates the idle unit of GPC `gpc`. Stencil and depth values occupy `memory_lines`.
    pub fn new(spec: &ZropSpec, terminating: bool, gpc: usize, memory_lines: Range<u32>) -> Self {
        Self {
            spec: spec.clone(),
            terminating,
            gpc,
            cache: UnitCache::new(&spec.cache(), memory_lines),
            slots: Vec::new(),
            lookup: RateLimiter::new(spec.quads_per_cycle.per(beat_width(spec.quads_per_cycle))),
            width: beat_width(spec.quads_per_cycle) as usize,
            waiting: Queue::new(spec.wait_queue),
            pipe: IssuePort::of_beats(spec.quads_per_cycle, spec.latency_cycles),
            counters: ZropCounters::default(),
            ledger: Ledger::default(),
        }
    }

    #[inline(always)]
    fn mark(&mut self) -> LedgerMark {
        self.ledger.mark(&self.counters, Some(self.pipe.activity.busy))
    }

    /// Records the counts and busy cycles since `mark`, for a beat of `tile` at cycle `at`.
    #[inline(always)]
    fn record(&mut self, mark: LedgerMark, tile: u32, at: Cycle) {
        (self.ledger).record(mark, &self.counters, Some(self.pipe.activity.busy), Some(tile), at);
    }

    fn write_late(&mut self, state: &mut impl EarlyTests) {
        while let Some((beat, arrival)) = state.next_late_write(self.gpc) {
            let entered = self.lookup.serve(self.waiting.entry(arrival));
            let ready = self.fetch(&beat, entered, state);
            let mut start = self.pipe.start(arrival);
            self.pipe.hold_for_data(arrival, ready, || 0);
            for quads in beat.quads.chunks(self.width) {
                start = self.pipe.free().max(ready).max(start);
                for quad in quads {
                    state.terminate(quad_index(beat.tile, quad.position), quad.mask, start);
                }
                let mark = self.mark();
                self.pipe.work(start, quads.len() as u64);
                self.record(mark, beat.tile, start);
            }
            self.waiting.leave(start);
            for slot in self.slots.drain(..) {
                self.cache.used(slot, start + self.spec.latency_cycles);
            }
            self.pipe.activity.leave_queue(entered);
            state.leave_late(self.gpc, entered);
        }
    }

    /// Performs the termination updates that are due by `cycle`; returns the cycle at which the port is free. Updates that
    /// wait for stencil values do not delay tests.
    fn let_updates_in(&mut self, cycle: Cycle, state: &mut impl EarlyTests) -> Cycle {
        let mut start = cycle;
        loop {
            self.request_updates(start, state);
            let due = state.updates(self.gpc).and_then(|u| u.take_due(start));
            let Some(update) = due else { return start };
            let mark = self.mark();
            self.counters.updates += 1;
            // Only the port limits an update. If it also waited for room downstream, it would wait for CROP, and CROP waits
            // for room in the update queue: a deadlock.
            let begin = self.pipe.port_free().max(update.due);
            state.terminate(update.quad, update.mask, begin);
            self.record(mark, fit(update.quad / TILE_LENGTH), begin);
            self.pipe.hold_until(begin, StallReason::Starved);
            self.pipe.hold_until(begin + self.spec.update_cycles, StallReason::Contended);
            start = start.max(self.pipe.free());
        }
    }

    #[inline(always)]
    fn request_updates(&mut self, now: Cycle, state: &mut impl EarlyTests) {
        // Out of line, since most beats find no update to request.
        let updates = state.updates(self.gpc);
        if updates.is_some_and(|updates| updates.has_requests(now)) {
            self.request_all_updates(now, state);
        }
    }

    #[inline(never)]
    fn request_all_updates(&mut self, now: Cycle, state: &mut impl EarlyTests) {
        let per_quad = state.bytes_per_quad();
        let (updates, memory) = state.updates_and_memory(self.gpc);
        let Some(updates) = updates else { return };
        let (cache, update_cycles) = (&mut self.cache, self.spec.update_cycles);
        updates.request(now, |update| {
            let mut ready = update.due;
            for (line, sectors) in sectors_at(update.quad as u64 * per_quad, per_quad) {
                let (slot, there) = cache.access(line, sectors, true, update.due, memory);
                cache.used(slot, there + update_cycles);
                ready = ready.max(there);
            }
            ready
        });
    }

    fn fetch(&mut self, beat: &Beat, at: Cycle, state: &mut impl EarlyTests) -> Cycle {
        self.slots.clear();
        let per_quad = state.bytes_per_quad();
        let tile = u64::from(beat.tile) * u64::from(QUADS_PER_TILE) * per_quad;
        let writes = state.tests_write(beat);
        let mut ready = at;
        // Line and sectors of the pending request; empty before the first quad.
        let (mut line, mut sectors) = (0, 0);
        let mut add = |sector: u64| {
            let (next, mask) = line_sector(sector);
            if next != line {
                ready = ready.max(self.request(line, sectors, writes, at, state));
                (line, sectors) = (next, 0);
            }
            sectors |= mask;
        };
        let in_one_sector = SECTOR_BYTES.is_multiple_of(per_quad);
        for quad in &beat.quads {
            if quad.mask == 0 {
                continue;
            }
            let address = tile + u64::from(quad.position) * per_quad;
            let first = address / SECTOR_BYTES;
            add(first);
            if !in_one_sector {
                (first + 1..=(address + per_quad - 1) / SECTOR_BYTES).for_each(&mut add);
            }
        }
        ready.max(self.request(line, sectors, writes, at, state))
    }

    /// Requests `sectors` of `line` for the current beat, to write them if `writes`. Returns their arrival cycle.
    fn request(
        &mut self,
        line: u32,
        sectors: u8,
        writes: bool,
        at: Cycle,
        state: &mut impl EarlyTests,
    ) -> Cycle {
        if sectors == 0 {
            return at;
        }
        let (slot, ready) = self.cache.access(line, sectors, writes, at, state.memory());
        self.slots.push(slot);
        ready
    }

    /// Tests the quads of a beat in the slots `places`. Quads with a fragment left, and quads without coverage,
    /// move to the slots from `kept` on; returns the slot after the last one.
    #[inline(always)]
    fn test(
        &mut self,
        beat: &mut Beat,
        places: Range<usize>,
        mut kept: usize,
        state: &mut impl EarlyTests,
    ) -> usize {
        let first = places.start;
        let quads = &beat.quads[places.clone()];
        let covered = QuadMasks::of_each(quads, |quad| quad.mask);
        let mut left = covered;
        if self.terminating {
            let terminated = state.terminated(beat.tile, quads);
            left.0 &= !terminated.0;
            left.count(&mut self.counters.left);
            self.counters.left[0] += covered.quads() - left.quads();
            self.counters.finished += terminated.full();
        }
        self.counters.fragments.tested += covered.fragments();
        self.counters.fragments.terminated += QuadMasks(covered.0 & !left.0).fragments();
        self.counters.quads.tested += covered.quads();
        self.counters.quads.terminated += covered.quads() - left.quads();
        let has_tests = state.has_tests();
        // Without a terminated fragment the quads stay in place, which saves 50 instructions per quad (HET+QM).
        if left == covered && kept == first && !has_tests {
            return places.end;
        }
        for place in places {
            let quad = beat.quads[place];
            let mut mask = left.get(place - first);
            if has_tests && mask != 0 {
                mask = self.test_stencil_and_depth(beat.tile, Quad { mask, ..quad }, state);
            }
            // Quads without coverage pass untested, for quad-fragment merging.
            if mask != 0 || quad.mask == 0 {
                beat.quads[kept] = Quad { mask, ..quad };
                kept += 1;
            }
        }
        kept
    }

    fn test_stencil_and_depth(&mut self, tile: u32, quad: Quad, state: &mut impl EarlyTests) -> u8 {
        let outcome = state.test(tile, &quad);
        self.counters.fragments.stencil_failed += fragments(outcome.stencil_failed);
        self.counters.fragments.depth_failed += fragments(outcome.depth_failed);
        let mask = quad.mask & !(outcome.stencil_failed | outcome.depth_failed);
        if mask == 0 {
            let by_depth = outcome.depth_failed != 0;
            self.counters.quads.depth_failed += u64::from(by_depth);
            self.counters.quads.stencil_failed += u64::from(!by_depth);
        }
        mask
    }
}

impl Unit for Zrop {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.activity("zrop", &mut self.pipe.activity);
        visitor.statistics("zrop", &self.counters);
        visitor.ledger("zrop", Some("zrop"), &mut self.ledger, &self.counters);
        self.cache.visit(Z_CACHE, ["z_fill", "z_write"], visitor);
    }
}

impl<M: EarlyTests> Stage<M> for Zrop {
    type In = Beat;
    type Out = Beat;

    fn accept(
        &mut self,
        mut beat: Beat,
        arrival: Cycle,
        state: &mut M,
        next: &mut impl Sink<Beat, M>,
    ) -> Cycle {
        if state.writes_late() {
            let taken = next.offer(beat, arrival, state);
            self.write_late(state);
            return taken;
        }
        let mut left = arrival;
        let mut ready = arrival;
        let tests = self.terminating || state.has_tests();
        if self.terminating {
            state.prefetch_termination(beat.tile);
        }
        if tests {
            left = self.lookup.serve(self.waiting.entry(arrival));
            self.request_updates(left, state);
            ready = self.fetch(&beat, left, state);
        }
        let mut start = self.pipe.free().max(arrival).max(ready);
        if tests {
            let mut kept = 0;
            let count = beat.quads.len();
            for first in (0..count.max(1)).step_by(self.width) {
                // Updates go first: they may have arrived while the port was idle.
                start = self.let_updates_in(start.max(self.pipe.free()), state);
                self.pipe.start(arrival);
                self.pipe.hold_for_data(arrival, ready, || next.free());
                let end = count.min(first + self.width);
                let tile = beat.tile;
                let mark = self.mark();
                kept = self.test(&mut beat, first..end, kept, state);
                let is_last = end == count;
                if is_last && (kept > 0 || beat.last) {
                    beat.quads.truncate(kept);
                    self.pipe.issue(beat, start, (end - first) as u64, state, next);
                    self.record(mark, tile, start);
                    break;
                }
                self.pipe.work(start, (end - first) as u64);
                self.record(mark, tile, start);
            }
        } else {
            let count = beat.quads.len() as u64;
            let tile = beat.tile;
            let mark = self.mark();
            self.counters.quads.tested += count;
            let masks = QuadMasks::of_each(&beat.quads, |quad| quad.mask);
            self.counters.fragments.tested += masks.fragments();
            start = self.pipe.issue_on(beat, arrival, count, state, next);
            self.record(mark, tile, start);
            left = start;
        }
        if tests {
            self.pipe.activity.leave_queue(left);
            self.waiting.leave(start);
            for slot in self.slots.drain(..) {
                self.cache.used(slot, start + self.spec.latency_cycles);
            }
        }
        left
    }

    fn drain(&mut self, at: Cycle, state: &mut M, _next: &mut impl Sink<Beat, M>) -> Cycle {
        // All beats have passed CROP, so it sends no more updates.
        self.let_updates_in(Cycle::MAX, state);
        at.max(self.pipe.done())
    }

    fn end_tile(&mut self, at: Cycle, _state: &mut M, _next: &mut impl Sink<Beat, M>) -> Cycle {
        // Updates in flight do not hold up the tests of the next tile: each holds the port when it arrives.
        at.max(self.pipe.done())
    }

    fn done(&self) -> Cycle {
        self.pipe.done()
    }
}
