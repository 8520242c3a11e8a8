//! Units that are a rigid pipeline and nothing else: each item holds the issue port for a known number
//! of cycles and produces at most one item.

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

    /// Cycles from the last cycle at the issue port to the offer to the next stage.
    fn latency_cycles(&self) -> u64;
}

/// Processing of one item by a rigid unit, over the shared state `M`.
pub trait Process<M>: Rigid {
    /// Packet that the unit accepts.
    type In;
    /// Packet that the unit emits.
    type Out;

    /// Processes an item. Returns the cycles for which the item holds the issue port, at least 1, and
    /// the packet to emit, if any.
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
            pipe: IssuePort::new(spec.latency_cycles()),
            counters: S::Counters::default(),
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
        let start = self.pipe.start(arrival);
        match self.spec.process(item, &mut self.counters, state) {
            (cycles, Some(out)) => {
                self.pipe.issue(out, start, cycles, state, next);
            }
            (cycles, None) => self.pipe.work(start, cycles),
        }
        start
    }

    fn done(&self) -> Cycle {
        self.pipe.done()
    }
}
