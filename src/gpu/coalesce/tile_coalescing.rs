//! Tile coalescing (VR-Pipe, sections II-A, V-A and VII-A): gathers the quads of a screen tile, so
//! that warps hold quads of one tile and the colour cache sees them together.
//!
//! In: raster tiles with covered pixels. Out: beats of quads, flush by flush; in order within a
//! tile. Rates: 8 quads a cycle in and out. A bin is flushed when it is full, when all bins are
//! occupied and a quad of another tile comes, when nothing came for it for so many cycles, and at
//! the end of the draw. Each quad's place is free again when it has left.

use crate::pipeline::issue_port::IssuePort;
use crate::pipeline::packets::{BEAT_QUADS, Beat, Few, Quad, RasterTile};
use crate::pipeline::spec::spec;
use crate::pipeline::stage::{Sink, Stage};
use crate::pipeline::timing::{Activity, Cycle, StallReason};
use crate::pipeline::unit::{Unit, Visitor};
use crate::raster::spans::tile_quads;

use super::bins::{Bins, Evict, Flushes, Reason};

spec! {
    /// Tile coalescing.
    TcSpec in "tc" {
        /// Raster tiles in the queue before it.
        queue: u64 = 4, 1..=65_536, Assumed "as the queues of the raster units";
        /// Bins, one screen tile each.
        bins: u64 = 32, 1..=65_536, Published "VR-Pipe Table I, measured in VII-A";
        /// Quads a bin.
        bin_size: u64 = 128, 1..=65_536, Published "VR-Pipe Table I";
        /// Quads a cycle in, and out.
        quads_per_cycle: u64 = 8, 1..=8, Assumed "half a raster tile a cycle; published speedups force more than 5.56";
        /// Latency in cycles.
        latency_cycles: u64 = 1, 0..=10_000, Assumed "one read of a small memory";
        /// Cycles after the last quad at which a bin is flushed.
        timeout_cycles: u64 = 1024, 1..=1_000_000_000, Assumed "longer than between two visits to a tile in the published microbenchmark";
        /// Which bin makes room when all are occupied.
        evict: Evict = Evict::FirstIn, .., Published "VR-Pipe V-A: the oldest bin";
    }
}

/// The unit.
#[derive(Debug)]
pub struct TileCoalescing {
    spec: TcSpec,
    bins: Bins<Quad>,
    /// Quads that leave a bin in one cycle.
    together: usize,
    /// Quads that a bin holds.
    size: usize,
    /// No bin's last quad is older than this.
    stalest: Cycle,
    /// Input port.
    pub input: Activity,
    input_free: Cycle,
    /// Output port.
    pub output: IssuePort,
    /// Flushes by reason; items are quads.
    pub flushes: Flushes,
    /// Quads in.
    pub quads_in: u64,
}

impl TileCoalescing {
    /// A unit for a picture of `tiles` screen tiles.
    #[must_use]
    pub fn new(spec: &TcSpec, tiles: usize) -> Self {
        Self {
            bins: Bins::new(spec.bins, spec.bin_size, tiles, spec.evict),
            together: usize::try_from(spec.quads_per_cycle).unwrap_or(BEAT_QUADS),
            size: usize::try_from(spec.bin_size).unwrap_or(usize::MAX),
            stalest: 0,
            input: Activity::default(),
            input_free: 0,
            output: IssuePort::new(spec.latency_cycles),
            flushes: Flushes::default(),
            quads_in: 0,
            spec: spec.clone(),
        }
    }

    fn flush<M>(
        &mut self,
        bin: u32,
        reason: Reason,
        at: Cycle,
        state: &mut M,
        next: &mut impl Sink<Beat, M>,
    ) {
        let mut flushed = self.bins.take(bin);
        self.flushes.count(reason, flushed.items.len());
        let count = flushed.items.len();
        // So that a beat's worth can be copied from anywhere.
        let padded = count + BEAT_QUADS;
        flushed.items.resize(padded, Quad::default());
        for first in (0..count).step_by(self.together) {
            let end = count.min(first + self.together);
            let Some(quads) = flushed.items[first..].first_chunk() else {
                break;
            };
            let beat = Beat {
                tile: flushed.key,
                quads: Few::first_of(quads, end - first),
                last: end == count,
            };
            let start = self.output.start(at);
            self.output.issue(beat, start, 1, state, next);
            self.bins.leave(&mut flushed, end - first, start);
        }
        flushed.items.truncate(count);
        self.bins.give_back(flushed);
    }

    /// Flushes what has timed out by `now`, the longest wait first.
    fn flush_stale<M>(&mut self, now: Cycle, state: &mut M, next: &mut impl Sink<Beat, M>) {
        while self.stalest + self.spec.timeout_cycles <= now {
            match self.bins.stalest() {
                None => self.stalest = now,
                Some((bin, last)) => {
                    self.stalest = last;
                    let due = last + self.spec.timeout_cycles;
                    if due <= now {
                        self.flush(bin, Reason::Timeout, due, state, next);
                    }
                }
            }
        }
    }

    /// The bin of `tile`, making room for it from `start` on if it has none.
    fn bin_for<M>(
        &mut self,
        tile: u32,
        start: Cycle,
        state: &mut M,
        next: &mut impl Sink<Beat, M>,
    ) -> u32 {
        self.bins.of(tile).unwrap_or_else(|| {
            if self.bins.empty().is_none() {
                let victim = self.bins.victim();
                self.flush(victim, Reason::Evicted, start, state, next);
            }
            self.bins.begin(tile)
        })
    }
}

impl Unit for TileCoalescing {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.activity("tc", &mut self.input);
        visitor.activity("tc_out", &mut self.output.activity);
        visitor.statistics("tc", &self.flushes);
    }
}

impl<M> Stage<M> for TileCoalescing {
    type In = RasterTile;
    type Out = Beat;

    fn accept(
        &mut self,
        item: RasterTile,
        arrival: Cycle,
        state: &mut M,
        next: &mut impl Sink<Beat, M>,
    ) -> Cycle {
        self.input.idle_until(arrival, StallReason::Starved);
        let start = self.input_free.max(arrival);
        self.flush_stale(start, state, next);
        let corner = (item.quarter >> 1) * 32 + (item.quarter & 1) * 4;
        let mut quads = tile_quads(item.mask).map(|quad| Quad {
            primitive: item.primitive,
            position: corner + quad.row * 8 + quad.column,
            mask: quad.mask,
        });
        let mut left = quads.len();
        self.quads_in += left as u64;
        let (mut taken, mut at) = (None, start);
        while left > 0 {
            let bin = self.bin_for(item.tile, at, state, next);
            let room = self.size - self.bins.bin(bin).items.len();
            let now = left.min(self.together).min(room);
            at = at.max(self.bins.bin(bin).places_free_at(now));
            taken = taken.or(Some(at));
            self.input.idle_until(at, StallReason::Full);
            self.input.busy_until(at + 1);
            let to = self.bins.bin(bin);
            to.items.extend(quads.by_ref().take(now));
            to.last_arrival = at;
            if now == room {
                self.flush(bin, Reason::Full, at, state, next);
            }
            left -= now;
            at += 1;
        }
        self.input_free = at;
        taken.unwrap_or(start)
    }

    fn drain(&mut self, at: Cycle, state: &mut M, next: &mut impl Sink<Beat, M>) -> Cycle {
        let at = at.max(self.input_free);
        self.flush_stale(at, state, next);
        while let Some(bin) = self.bins.first() {
            self.flush(bin, Reason::End, at, state, next);
        }
        at.max(self.output.done())
    }
}
