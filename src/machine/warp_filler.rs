//! Packing of quads into warps, shared by the pipelines of splats and meshes.

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use super::issue_port::IssuePort;
use super::packets::{Quad, WARP_QUADS, Warp};
use super::rate::Rate;
use super::rate_limiter::RateClock;
use super::spec::spec;
use super::stage::Sink;
use super::statistics::statistics;
use super::timing::{Activity, Cycle};
use super::unit::{Unit, Visitor};

spec! {
    /// Configuration of warp packing.
    PackSpec in "pack" {
        /// Capacity of the input queue, in beats; in quads in the mesh path.
        queue: u64 = 16, 1..=65_536, Assumed "one full tile bin";
        /// Latency in cycles.
        latency_cycles: u64 = 1, 0..=10_000, Assumed "one write of a register";
    }
}

statistics! {
    /// Counts of quads packed into warps.
    #[derive(Serialize, Deserialize)]
    pub struct PackCounters {
        /// Quads received and emitted.
        pub quads: u64,
        /// Warps emitted.
        pub warps: u64,
        /// Subset of `warps` with fewer quads than a warp holds.
        pub partial_warps: u64,
    }
}

const PAIRS: u8 = (1 << (WARP_QUADS / 2)) - 1;

/// Packs quads into warps, one warp at a time, at the rate of the input port.
#[derive(Debug)]
pub struct WarpFiller {
    clock: RateClock,
    quads: ArrayVec<Quad, WARP_QUADS>,
    merge: u8,
    begins_flush: bool,
    passed: Cycle,
    input: Activity,
    output: IssuePort,
    counters: PackCounters,
}

impl WarpFiller {
    /// Creates a filler with an empty warp and an input port of `quads_per_cycle`.
    pub fn new(spec: &PackSpec, quads_per_cycle: Rate) -> Self {
        Self {
            clock: RateClock::new(quads_per_cycle),
            quads: ArrayVec::new(),
            merge: 0,
            begins_flush: true,
            passed: 0,
            input: Activity::of_rate(quads_per_cycle),
            output: IssuePort::new(Rate::ONE, spec.latency_cycles),
            counters: PackCounters::default(),
        }
    }

    /// Number of quads in the current warp, at most [`WARP_QUADS`].
    pub fn len(&self) -> usize {
        self.quads.len()
    }

    /// Whether the current warp holds no quads.
    pub fn is_empty(&self) -> bool {
        self.quads.is_empty()
    }

    /// Oldest quad of the current warp.
    pub fn first(&self) -> Option<&Quad> {
        self.quads.first()
    }

    /// Adds the prefix of `quads` that fits, at least one quad; all arrived at `arrival`. Returns the number
    /// added and the cycle in which the last of them passes the port. The warp must not be full.
    #[inline(always)]
    pub fn pass(&mut self, quads: &[Quad], arrival: Cycle) -> (usize, Cycle) {
        let count = self.quads.remaining_capacity().min(quads.len());
        match quads.first_chunk() {
            // Most warps are one beat, which is copied without a call.
            Some(&warp) if self.quads.is_empty() => self.quads = ArrayVec::from(warp),
            _ => {
                let fits = self.quads.try_extend_from_slice(&quads[..count]);
                debug_assert!(fits.is_ok() && count > 0, "quads for which there is room");
            }
        }
        let first = (self.clock).pass_from(arrival, (count as u64).saturating_sub(1));
        let last = self.clock.cycle();
        self.clock.pass_one();
        self.counters.quads += count as u64;
        self.input.moved += count as u64;
        self.input.wait_for_item(arrival, first);
        self.input.busy_until(self.clock.cycle().max(last + 1));
        self.passed = last;
        (count, last)
    }

    /// Whether the current warp holds [`WARP_QUADS`] quads.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.quads.is_full()
    }

    /// Marks the quads `2n` and `2n + 1` of the warp as a pair for quad merging, for each set bit `n` of `pairs`.
    #[inline]
    pub fn mark_pairs(&mut self, pairs: u8) {
        self.merge |= pairs & PAIRS;
    }

    /// Starts a flush: the next warp is marked as its first.
    #[inline]
    pub fn begin_flush(&mut self) {
        self.begins_flush = true;
    }

    /// Emits the warp for screen tile `tile` at or after `at`; the input port takes no quad before.
    pub fn emit<M>(&mut self, tile: u32, at: Cycle, state: &mut M, next: &mut impl Sink<Warp, M>) {
        self.counters.warps += 1;
        self.counters.partial_warps += u64::from(!self.quads.is_full());
        let warp = Warp {
            tile,
            quads: self.quads.take(),
            merge: std::mem::take(&mut self.merge),
            begins_flush: std::mem::take(&mut self.begins_flush),
        };
        let start = self.output.issue_on(warp, at.max(self.passed), 1, state, next);
        self.clock.wait_until(start);
    }

    /// Cycle at which the next stage has accepted the last warp.
    pub fn done(&self) -> Cycle {
        self.output.done()
    }
}

impl Unit for WarpFiller {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.activity("pack", &mut self.input);
        visitor.activity("pack_out", &mut self.output.activity);
        visitor.statistics("pack", &self.counters);
    }
}
