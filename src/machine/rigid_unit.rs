//! Units that are an issue port with a pipeline and nothing else: each item holds the port for a known
//! time and produces at most one item.

use super::issue_port::IssuePort;
use super::stage::{Sink, Stage};
use super::statistics::Statistics;
use super::timing::Cycle;
use super::unit::{Unit, Visitor};

/// Specification of a rigid unit, which defines its behaviour completely.
pub trait Rigid: Clone {
    /// Name of the unit in reports.
    const NAME: &'static str;
    /// Statistics of the unit.
    type Counters: Statistics + Default;

    /// Creates the idle issue port: its rate and latency.
    fn port(&self) -> IssuePort;

    /// Groups of items that share a cycle.
    fn groups_per_cycle(&self) -> u64 {
        1
    }
}

/// Processing of one item by a rigid unit, over the shared state `M`.
pub trait Process<M>: Rigid {
    /// Packet that the unit accepts.
    type In;
    /// Packet that the unit emits.
    type Out;

    /// Group of an item: items of at most [`Rigid::groups_per_cycle`] groups share a cycle.
    fn group(_item: &Self::In) -> u32 {
        0
    }

    /// Processes an item. Returns for how many items it counts at the issue port, at least 1, and the
    /// packet to emit, if any.
    fn process(
        &self,
        item: Self::In,
        counters: &mut Self::Counters,
        state: &M,
    ) -> (u64, Option<Self::Out>);
}

/// A rigid unit of specification `S`.
#[derive(Debug)]
pub struct RigidUnit<S: Rigid> {
    spec: S,
    /// Group of the last item.
    group: u32,
    /// Cycle of the issue port when an item came, and the groups in that cycle.
    cycle: Cycle,
    groups: u64,
    /// Issue port.
    pub pipe: IssuePort,
    /// Statistics so far.
    pub counters: S::Counters,
}

impl<S: Rigid> RigidUnit<S> {
    /// Creates an idle unit.
    pub fn new(spec: &S) -> Self {
        Self {
            spec: spec.clone(),
            group: 0,
            cycle: 0,
            groups: 0,
            pipe: spec.port(),
            counters: S::Counters::default(),
        }
    }

    /// Ends the current cycle before the first item of a group if as many groups as may share the cycle have
    /// items in it.
    #[inline]
    fn begin_group(&mut self) {
        let cycle = self.pipe.port_free();
        if cycle != self.cycle {
            (self.cycle, self.groups) = (cycle, self.pipe.is_mid_cycle().into());
        }
        if self.groups < self.spec.groups_per_cycle() {
            self.groups += 1;
        } else {
            self.pipe.end_cycle();
            (self.cycle, self.groups) = (self.pipe.port_free(), 1);
        }
    }
}

impl<S: Rigid> Unit for RigidUnit<S> {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.activity(S::NAME, &mut self.pipe.activity);
        visitor.statistics(S::NAME, &self.counters);
    }
}

impl<M, S: Process<M>> Stage<M> for RigidUnit<S> {
    type In = S::In;
    type Out = S::Out;

    #[inline]
    fn accept(
        &mut self,
        item: S::In,
        arrival: Cycle,
        state: &mut M,
        next: &mut impl Sink<S::Out, M>,
    ) -> Cycle {
        let group = S::group(&item);
        if group != self.group {
            self.group = group;
            self.begin_group();
        }
        match self.spec.process(item, &mut self.counters, state) {
            (count, Some(out)) => self.pipe.issue_on(out, arrival, count, state, next),
            (count, None) => self.pipe.work_on(arrival, count),
        }
    }

    fn done(&self) -> Cycle {
        self.pipe.done()
    }
}
