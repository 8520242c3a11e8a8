//! Quad reordering (VR-Pipe, section V-C) finds quads of one flush at the same position, so that the
//! shader can merge them. With or without quad merging it packs quads into warps.
//!
//! Input: beats of quads that passed the tests, flush by flush. Output: warps of one screen tile, with the
//! quads of each position in order. With quad merging, quads are scanned in arrival order: the second
//! quad at a position forms a pair with the first and clears its register. Pairs fill warps as they are
//! found, and the remaining quads follow in arrival order. Of two flush buffers, one is scanned while
//! the other is emptied. Without quad merging, quads fill warps in arrival order.

use arrayvec::ArrayVec;
use serde::Serialize;

use crate::math::index;
use crate::pipeline::issue_port::IssuePort;
use crate::pipeline::packets::{Beat, Quad, WARP_QUADS, Warp};
use crate::pipeline::spec::spec;
use crate::pipeline::stage::{Sink, Stage};
use crate::pipeline::statistics::statistics;
use crate::pipeline::timing::{Activity, Cycle, Queue, RateLimiter, StallReason};
use crate::pipeline::unit::{Unit, Visitor};
use crate::raster::tiles::QUADS_PER_TILE;

spec! {
    /// Quad reordering and warp packing.
    QruSpec in "qru" {
        /// Beats in the queue before it.
        queue: u64 = 16, 1..=65_536, Assumed "one full tile bin";
        /// Quads that can be paired in one scan; a flush that is longer is scanned in parts.
        window: u64 = 128, 1..=65_536, Published "VR-Pipe V-C: quad IDs from 0 to 127";
        /// Quads scanned per cycle.
        quads_per_cycle: u64 = 4, 1..=64, Calibrated "VR-Pipe's QM speedup of 1.49: with 2, merging would be slower than not; as the port that it sits at";
        /// Number of flush buffers.
        buffers: u64 = 2, 1..=64, Assumed "double buffering";
        /// Latency in cycles.
        latency_cycles: u64 = 1, 0..=10_000, Assumed "one register read and a comparison";
    }
}

impl QruSpec {
    /// Bytes of storage: a pointer and a position per quad of every flush buffer, a bit per quad, and a
    /// register of a valid bit and a quad ID per position in the tile (VR-Pipe, Table III, which counts
    /// one buffer).
    pub(crate) fn storage_bytes(&self) -> u64 {
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
    #[derive(Serialize)]
    pub struct QruCounters {
        /// Quads in.
        pub quads_in: u64,
        /// Pairs emitted.
        pub pairs: u64,
        /// Quads emitted alone.
        pub singles: u64,
        /// Warps emitted.
        pub warps: u64,
    }
}

/// Content of an empty register.
const NONE: u32 = u32::MAX;

/// The quad reordering and warp packing unit.
#[derive(Debug)]
pub struct QuadReorder {
    spec: QruSpec,
    merging: bool,
    /// Quads of the current flush, and whether each is part of a pair.
    window: Vec<(Quad, bool)>,
    registers: [u32; QUADS_PER_TILE as usize],
    /// Quads packed per cycle without quad merging.
    together: usize,
    scan: RateLimiter,
    buffers: Queue,
    warp: Warp,
    /// Cycle at which the current flush entered its buffer.
    entered: Option<Cycle>,
    /// Cycle at which the last quad was scanned.
    scanned: Cycle,
    /// Accounting of the scan port.
    pub input: Activity,
    /// Output port.
    pub pipe: IssuePort,
    /// Statistics so far.
    pub counters: QruCounters,
}

impl QuadReorder {
    /// Creates an idle unit that pairs quads if `merging`, or else packs `packed_per_cycle` quads per
    /// cycle.
    pub fn new(spec: &QruSpec, merging: bool, packed_per_cycle: u64) -> Self {
        Self {
            merging,
            window: Vec::new(),
            registers: [NONE; QUADS_PER_TILE as usize],
            scan: RateLimiter::new(if merging { spec.quads_per_cycle } else { 1 }, 1),
            together: index(packed_per_cycle).min(WARP_QUADS),
            buffers: Queue::new(spec.buffers),
            warp: Warp {
                tile: 0,
                quads: ArrayVec::new(),
                merge: 0,
            },
            entered: None,
            scanned: 0,
            input: Activity::default(),
            pipe: IssuePort::new(spec.latency_cycles),
            counters: QruCounters::default(),
            spec: spec.clone(),
        }
    }

    fn note_scan(&mut self) {
        self.input.idle_until(self.scanned, StallReason::Blocked);
        self.input.busy_until(self.scanned + 1);
    }

    /// Emits the current warp at or after `at`, if it is not empty.
    fn emit<M>(&mut self, at: Cycle, state: &mut M, next: &mut impl Sink<Warp, M>) {
        if self.warp.quads.is_empty() {
            return;
        }
        self.counters.warps += 1;
        let start = self.pipe.start(at);
        let warp = Warp {
            tile: self.warp.tile,
            quads: self.warp.quads.take(),
            merge: std::mem::take(&mut self.warp.merge),
        };
        self.pipe.issue(warp, start, 1, state, next);
    }

    fn push<M>(&mut self, quad: Quad, at: Cycle, state: &mut M, next: &mut impl Sink<Warp, M>) {
        self.warp.quads.push(quad);
        if self.warp.quads.is_full() {
            self.emit(at, state, next);
        }
    }

    /// Scans a quad; emits a pair if an older quad waits at its position.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "windows are validated to be small"
    )]
    fn scan<M>(&mut self, quad: Quad, at: Cycle, state: &mut M, next: &mut impl Sink<Warp, M>) {
        let id = self.window.len() as u32;
        let register = &mut self.registers[usize::from(quad.position)];
        let older = std::mem::replace(register, id);
        self.window.push((quad, older != NONE));
        if older == NONE {
            return;
        }
        *register = NONE;
        let (first, paired) = &mut self.window[older as usize];
        *paired = true;
        let first = *first;
        self.counters.pairs += 1;
        self.warp.merge |= 1 << (self.warp.quads.len() / 2);
        self.warp.quads.push(first);
        self.push(quad, at, state, next);
    }

    /// Ends a scan: emits the quads without a partner in arrival order.
    fn finish_scan<M>(&mut self, at: Cycle, state: &mut M, next: &mut impl Sink<Warp, M>) {
        let window = std::mem::take(&mut self.window);
        for &(quad, paired) in &window {
            if !paired {
                self.counters.singles += 1;
                self.push(quad, at, state, next);
            }
        }
        self.emit(at, state, next);
        self.window = window;
        self.window.clear();
        self.registers.fill(NONE);
        if self.entered.take().is_some() {
            self.buffers.leave(self.pipe.free().max(at));
        }
    }
}

impl Unit for QuadReorder {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.activity("qru", &mut self.input);
        visitor.activity("qru_out", &mut self.pipe.activity);
        visitor.statistics("qru", &self.counters);
    }
}

impl<M> Stage<M> for QuadReorder {
    type In = Beat;
    type Out = Warp;

    fn accept(
        &mut self,
        beat: Beat,
        arrival: Cycle,
        state: &mut M,
        next: &mut impl Sink<Warp, M>,
    ) -> Cycle {
        self.warp.tile = beat.tile;
        self.input.idle_until(arrival, StallReason::Starved);
        let mut taken = arrival;
        if self.merging {
            for &quad in beat.quads.iter() {
                let entered = match self.entered {
                    Some(entered) => entered.max(arrival),
                    None => self.buffers.entry(arrival),
                };
                self.entered = Some(entered);
                taken = taken.max(entered);
                self.scanned = self.scan.serve(entered);
                self.input.idle_until(entered, StallReason::Full);
                self.note_scan();
                self.scan(quad, self.scanned, state, next);
                if self.window.len() as u64 == self.spec.window {
                    self.finish_scan(self.scanned, state, next);
                }
            }
        } else {
            for quads in beat.quads.chunks(self.together) {
                self.scanned = self.scan.serve(arrival);
                self.note_scan();
                taken = self.scanned;
                self.counters.singles += quads.len() as u64;
                let (now, later) =
                    quads.split_at(quads.len().min(self.warp.quads.remaining_capacity()));
                self.warp.quads.extend(now.iter().copied());
                if self.warp.quads.is_full() {
                    self.emit(self.scanned, state, next);
                }
                self.warp.quads.extend(later.iter().copied());
                // Quads wait in the queue while warps are not accepted.
                self.scan.hold_until(self.pipe.free().saturating_sub(1));
            }
        }
        self.counters.quads_in += beat.quads.len() as u64;
        if beat.last {
            let at = self.scanned.max(taken);
            if self.merging {
                self.finish_scan(at, state, next);
            } else {
                self.emit(at, state, next);
            }
        }
        taken
    }

    fn done(&self) -> Cycle {
        self.pipe.done()
    }
}
