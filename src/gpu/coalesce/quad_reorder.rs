//! Quad reordering (VR-Pipe, section V-C) finds quads of one flush at the same position, so that the
//! shader can merge them. Only variants with quad merging have the unit.
//!
//! Input: beats of quads that passed the tests, flush by flush. Output: beats of up to eight quads, pairs first. Quads are
//! scanned in arrival order: the second quad at a position forms a pair with the first and clears its register. Pairs leave
//! four at a time, and the remaining quads follow in arrival order. One beat per cycle fills a flush buffer; of two flush
//! buffers, one is scanned while the other is emptied.

use std::hint::select_unpredictable;

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use quadrille_base::math::index;
use quadrille_base::raster::tiles::{QUADS_PER_TILE, TILE_LENGTH};
use quadrille_machine::{
    Activity, BEAT_QUADS, Beat, Cycle, IssuePort, Quad, Queue, Rate, RateLimiter, Sink, Stage,
    StallReason, Unit, Visitor, spec, statistics,
};

spec! {
    /// Configuration of the quad reordering unit.
    QruSpec in "qru" {
        /// Capacity of the input queue, in beats.
        queue: u64 = 16, 1..=65_536, Assumed "one full tile bin";
        /// Quads paired in one scan; a longer flush is scanned in parts.
        window: u64 = 128, 1..=65_536, Published "VR-Pipe V-C: quad IDs from 0 to 127";
        /// Quads scanned per cycle.
        quads_per_cycle: Rate = Rate::new(4, 1), Rate::LEAST..=Rate::MOST, Calibrated "VR-Pipe's QM speedup of 1.49: with 2, the cycles would exceed those without merging; equals prop.quads_out_per_cycle";
        /// Number of flush buffers.
        buffers: u64 = 2, 1..=64, Assumed "double buffering";
        /// Latency in cycles.
        latency_cycles: u64 = 1, 0..=10_000, Assumed "one register read and a comparison";
    }
}

impl QruSpec {
    /// Storage in bytes (VR-Pipe, Table III): a pointer, a position and a bit per quad, and a register with a valid bit and
    /// a quad id per position.
    pub fn storage_bytes(&self) -> u64 {
        const POINTER_BITS: u64 = 32;
        let position_bits = u64::from(QUADS_PER_TILE.ilog2());
        let id_bits = u64::from(self.window.next_power_of_two().ilog2());
        let entries = self.buffers * ((POINTER_BITS + position_bits) * self.window).div_ceil(8);
        let registers = u64::from(QUADS_PER_TILE) * (1 + id_bits).div_ceil(8);
        entries + registers + self.window.div_ceil(8)
    }
}

statistics! {
    /// Statistics of quad reordering.
    #[derive(Serialize, Deserialize)]
    pub struct QruCounters {
        /// Quads received.
        pub quads_in: u64,
        /// Pairs emitted.
        pub pairs: u64,
        /// Quads emitted alone.
        pub singles: u64,
    }
}

const NONE: u32 = u32::MAX;

/// Quad reordering unit: pairs the quads at one position for quad merging.
#[derive(Debug)]
pub struct QuadReorder {
    enabled: bool,
    window_size: u64,
    window: Vec<Quad>,
    /// Window index of the unpaired quad at each screen position.
    registers: [u32; TILE_LENGTH],
    scan: RateLimiter,
    buffers: Queue,
    fill: RateLimiter,
    tile: u32,
    /// Quads of the next beat, pairs first.
    beat: [Quad; BEAT_QUADS],
    paired: usize,
    emitted: Cycle,
    entered: Option<Cycle>,
    scanned: Cycle,
    /// `[blocked, busy]` cycles of the output port at the end of the last scan; `last_scan` counts the cycles during it.
    output_before: [u64; 2],
    last_scan: [u64; 2],
    /// Cycle accounting of the scan port.
    pub input: Activity,
    /// Output port, one beat per cycle.
    pub pipe: IssuePort,
    /// Counts of quads and pairs so far.
    pub counters: QruCounters,
}

impl QuadReorder {
    /// Creates an idle unit. Beats bypass it unless it is `enabled`.
    pub fn new(spec: &QruSpec, enabled: bool) -> Self {
        Self {
            enabled,
            window_size: spec.window,
            window: Vec::new(),
            registers: [NONE; TILE_LENGTH],
            scan: RateLimiter::new(spec.quads_per_cycle),
            buffers: Queue::new(spec.buffers),
            fill: RateLimiter::new(Rate::ONE),
            tile: 0,
            beat: [Quad::default(); BEAT_QUADS],
            paired: 0,
            emitted: 0,
            entered: None,
            scanned: 0,
            output_before: [0; 2],
            last_scan: [0; 2],
            input: Activity::of_rate(spec.quads_per_cycle),
            pipe: IssuePort::new(Rate::ONE, spec.latency_cycles),
            counters: QruCounters::default(),
        }
    }

    /// Emits the first `count` quads of the beat, `paired` of them in pairs, at or after `at`; `last` ends a scan.
    fn emit<M>(
        &mut self,
        count: usize,
        paired: usize,
        last: bool,
        at: Cycle,
        state: &mut M,
        next: &mut impl Sink<Beat, M>,
    ) {
        let mut quads = ArrayVec::from(self.beat);
        quads.truncate(count);
        let beat = Beat { tile: self.tile, quads, pairs: (1 << (paired / 2)) - 1, last };
        self.counters.pairs += paired as u64 / 2;
        self.emitted = self.pipe.issue_on(beat, at, 1, state, next) + 1;
    }

    #[allow(clippy::cast_possible_truncation, reason = "windows are validated to be small")]
    fn take<M>(
        &mut self,
        quads: &[Quad],
        entered: Cycle,
        state: &mut M,
        next: &mut impl Sink<Beat, M>,
    ) {
        let begin = self.scan.free().max(entered);
        self.input.idle_in_storage(self.last_scan, entered);
        self.input.idle_until(begin, StallReason::Blocked);
        let first = self.window.len();
        self.window.extend_from_slice(quads);
        for (id, &quad) in (first as u32..).zip(quads) {
            self.scanned = self.scan.serve(entered);
            // Branch-free, since the host cannot predict which quads have a partner: the slots of the next pair are always
            // written.
            let register = &mut self.registers[usize::from(quad.position) % TILE_LENGTH];
            let older = *register;
            let has_partner = older != NONE;
            *register = select_unpredictable(has_partner, NONE, id);
            let older = select_unpredictable(has_partner, older, id);
            let place = self.paired % BEAT_QUADS;
            self.beat[place] = self.window[older as usize];
            self.beat[place + 1] = quad;
            self.paired += 2 * usize::from(has_partner);
            if self.paired == BEAT_QUADS {
                self.paired = 0;
                self.emit(BEAT_QUADS, BEAT_QUADS, false, self.scanned, state, next);
            }
        }
        // The scan port does not pause between the quads of a beat.
        self.input.busy_until(self.scan.free().max(self.scanned + 1));
        self.input.moved += quads.len() as u64;
    }

    fn room(&self) -> usize {
        index(self.window_size) - self.window.len()
    }

    /// Ends a scan at `at`: emits the unpaired quads in arrival order and frees the buffer.
    fn finish_scan<M>(&mut self, at: Cycle, state: &mut M, next: &mut impl Sink<Beat, M>) {
        let mut window = std::mem::take(&mut self.window);
        // Unpaired quads move to the front without branches, as in the scan.
        let mut singles = 0;
        for id in 0..window.len() {
            let quad = window[id];
            window[singles] = quad;
            let register = self.registers[usize::from(quad.position) % TILE_LENGTH];
            singles += usize::from(register as usize == id);
        }
        self.counters.singles += singles as u64;
        let mut paired = std::mem::take(&mut self.paired);
        let mut count = paired;
        let mut left = &window[..singles];
        while !left.is_empty() {
            let (now, later) = left.split_at(left.len().min(BEAT_QUADS - count));
            self.beat[count..count + now.len()].copy_from_slice(now);
            count += now.len();
            left = later;
            if count == BEAT_QUADS {
                self.emit(count, paired, false, at, state, next);
                (count, paired) = (0, 0);
            }
        }
        if count > 0 {
            self.emit(count, paired, true, at, state, next);
        }
        self.window = window;
        self.window.clear();
        self.registers.fill(NONE);
        self.entered = None;
        self.buffers.leave(self.emitted.max(at));
        let now = self.pipe.output_cycles();
        self.last_scan = [0, 1].map(|i| now[i] - self.output_before[i]);
        self.output_before = now;
    }
}

impl Unit for QuadReorder {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        if self.enabled {
            visitor.activity("qru", &mut self.input);
            visitor.activity("qru_out", &mut self.pipe.activity);
            visitor.statistics("qru", &self.counters);
        }
    }
}

impl<M> Stage<M> for QuadReorder {
    type In = Beat;
    type Out = Beat;

    fn is_bypassed(&self) -> bool {
        !self.enabled
    }

    fn bypass(&self, beat: Beat) -> Option<Beat> {
        Some(beat)
    }

    fn accept(
        &mut self,
        beat: Beat,
        arrival: Cycle,
        state: &mut M,
        next: &mut impl Sink<Beat, M>,
    ) -> Cycle {
        self.input.idle_until(arrival, StallReason::Starved);
        self.tile = beat.tile;
        self.counters.quads_in += beat.quads.len() as u64;
        let mut filled = None;
        let mut quads = &beat.quads[..];
        while !quads.is_empty() {
            let entered = self.entered.unwrap_or_else(|| self.buffers.entry(arrival));
            self.entered = Some(entered);
            let at = filled.unwrap_or_else(|| self.fill.serve(entered.max(arrival))).max(entered);
            filled = Some(at);
            let (now, rest) = quads.split_at(quads.len().min(self.room()));
            self.take(now, at, state, next);
            quads = rest;
            if self.room() == 0 {
                self.finish_scan(self.scanned, state, next);
            }
        }
        let filled = filled.unwrap_or(arrival);
        if beat.last && !self.window.is_empty() {
            self.finish_scan(self.scanned.max(filled), state, next);
        }
        filled
    }

    fn done(&self) -> Cycle {
        self.pipe.done()
    }
}
