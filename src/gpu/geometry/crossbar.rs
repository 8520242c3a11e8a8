//! The crossbar between the geometry units and the rasterizers of several GPCs: it sends each primitive
//! to the GPCs that own a screen tile in its box (VR-Pipe, section V-A).
//!
//! Input: primitives from the assembly units of the GPCs, batch by batch in draw order. Output: the primitives of each GPC
//! in draw order. Rates: one primitive per cycle from each GPC, to any number of GPCs at once, and one per cycle to each
//! GPC. A single GPC has no crossbar: its primitives take no time.
//!
//! In front of each GPC stands a queue per source. The GPC reads the batches in draw order, all of one batch from the queue
//! of its source, and continues when the source has reported the end of the batch to all GPCs. Primitives of later batches
//! wait in their queues, and a full queue holds up its source.
//!
//! Primitives are pushed in draw order, so every wait is for an earlier primitive and all times are exact. An entry of a
//! queue is reserved when a primitive is sent, and its release is known at the source at once (assumption).

use crate::tile_owner::TileMap;
use quadrille_base::math::index;
use quadrille_machine::{
    Cycle, IssuePort, Primitive, Queue, Rate, RateLimiter, Sink, StallReason, Unit, Visitor, spec,
    statistics,
};

spec! {
    /// Configuration of the crossbar from primitive assembly to the GPCs. A GPU with one GPC has no crossbar.
    CrossbarSpec in "crossbar" {
        /// Capacity of the queue between two GPCs, in primitives.
        queue: u64 = 64, 1..=65_536, Assumed "four vertex warps of two triangles per splat, so that the GPCs work on several batches at once";
        /// Primitives per cycle through each source port and each destination port.
        primitives_per_cycle: Rate = Rate::ONE, Rate::LEAST..=Rate::MOST, Assumed "as primitive assembly and setup";
        /// Whether a batch without a primitive for a GPC occupies the port of that GPC as long as one primitive.
        counts_empty_batches: bool = true, .., Assumed "the end of a batch is a packet too; Emerald sends every cluster a mask per vertex warp";
        /// Latency in cycles.
        latency_cycles: u64 = 20, 0..=10_000, Assumed "arbitration, and wires across the die";
    }
}

statistics! {
    /// Traffic of the crossbar.
    pub struct CrossbarCounters {
        /// Primitives sent.
        pub primitives: u64,
        /// Primitives received, summed over GPCs.
        pub received: u64,
        /// Batches received, summed over GPCs.
        pub batches: u64,
        /// Batches received that had no primitive for the GPC.
        pub empty_batches: u64,
    }
}

#[derive(Debug)]
struct Destination<N> {
    queues: Box<[Queue]>,
    /// Whether the current batch has had a primitive for this GPC.
    has_primitive: bool,
    pipe: IssuePort,
    next: N,
}

/// Crossbar together with the consumer `N` in each GPC behind it.
#[derive(Debug)]
pub struct Crossbar<N> {
    spec: CrossbarSpec,
    map: TileMap,
    sources: Vec<RateLimiter>,
    destinations: Vec<Destination<N>>,
    counters: CrossbarCounters,
}

impl<N> Crossbar<N> {
    /// Creates an idle crossbar between the GPCs of `map` and the consumers of their primitives.
    pub fn new(spec: &CrossbarSpec, map: TileMap, gpcs: impl IntoIterator<Item = N>) -> Self {
        let count = index(u64::from(map.count));
        let destination = |next| Destination {
            queues: vec![Queue::new(spec.queue); count].into(),
            has_primitive: false,
            pipe: IssuePort::new(spec.primitives_per_cycle, 0),
            next,
        };
        Self {
            spec: spec.clone(),
            map,
            sources: vec![RateLimiter::new(spec.primitives_per_cycle); count],
            destinations: gpcs.into_iter().map(destination).collect(),
            counters: CrossbarCounters::default(),
        }
    }

    fn is_bypassed(&self) -> bool {
        self.destinations.len() == 1
    }

    pub(super) fn source(&mut self, source: usize) -> Source<'_, N> {
        Source { crossbar: self, source }
    }

    /// Ends the current batch, whose source finished it at cycle `at`.
    pub(super) fn end_batch(&mut self, at: Cycle) {
        if self.is_bypassed() {
            return;
        }
        let arrived = at + self.spec.latency_cycles;
        for destination in &mut self.destinations {
            self.counters.batches += 1;
            let pipe = &mut destination.pipe;
            if std::mem::take(&mut destination.has_primitive) {
                pipe.hold_until(arrived, StallReason::Starved);
            } else {
                self.counters.empty_batches += 1;
                let start = pipe.start(arrived);
                if self.spec.counts_empty_batches {
                    pipe.work(start, 1);
                } else {
                    pipe.hold_until(start, StallReason::Starved);
                }
            }
        }
    }

    pub(super) fn end<M>(&mut self, at: Cycle, state: &mut M)
    where
        N: Sink<Primitive, M>,
    {
        let bypassed = self.is_bypassed();
        let latency = self.spec.latency_cycles;
        for destination in &mut self.destinations {
            let at = if bypassed { at } else { destination.pipe.done().max(at + latency) };
            destination.next.end(at, state);
        }
    }
}

impl<N: Unit> Unit for Crossbar<N> {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        if !self.is_bypassed() {
            for destination in &mut self.destinations {
                visitor.activity(CrossbarSpec::UNIT, &mut destination.pipe.activity);
            }
            visitor.statistics(CrossbarSpec::UNIT, &self.counters);
        }
        for destination in &mut self.destinations {
            destination.next.visit(visitor);
        }
    }
}

#[derive(Debug)]
pub(super) struct Source<'c, N> {
    crossbar: &'c mut Crossbar<N>,
    source: usize,
}

impl<M, N: Sink<Primitive, M>> Sink<Primitive, M> for Source<'_, N> {
    fn offer(&mut self, item: Primitive, at: Cycle, state: &mut M) -> Cycle {
        let Crossbar { spec, map, sources, destinations, counters } = &mut *self.crossbar;
        if let [only] = &mut destinations[..] {
            return only.next.offer(item, at, state);
        }
        let owners = map.owners_in(item.bounds);
        let is_owner = |gpc: usize| owners >> gpc & 1 == 1;
        let sent = (0..destinations.len())
            .filter(|&gpc| is_owner(gpc))
            .map(|gpc| destinations[gpc].queues[self.source].entry(at))
            .fold(at, Cycle::max);
        let sent = sources[self.source].serve(sent);
        counters.primitives += 1;
        let arrived = sent + spec.latency_cycles;
        for (gpc, destination) in destinations.iter_mut().enumerate() {
            if !is_owner(gpc) {
                continue;
            }
            counters.received += 1;
            destination.has_primitive = true;
            let (pipe, next) = (&mut destination.pipe, &mut destination.next);
            let start = pipe.issue_on(item, arrived, 1, state, next);
            destination.queues[self.source].leave(start);
        }
        sent
    }

    fn end(&mut self, _at: Cycle, _state: &mut M) {}

    fn release(&mut self, primitive: u32, at: Cycle, state: &mut M) {
        for destination in &mut self.crossbar.destinations {
            destination.next.release(primitive, at, state);
        }
    }
}
