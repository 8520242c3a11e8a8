//! Units that are nothing but a rigid pipeline: each item holds the issue port for a known time, and
//! at most one comes out of it.

use super::issue_port::IssuePort;
use super::stage::{Sink, Stage};
use super::statistics::Statistics;
use super::timing::Cycle;
use super::unit::{Unit, Visitor};

/// A specification from which all that a rigid unit does follows.
pub trait Rigid: Clone {
    /// Name of the unit.
    const NAME: &'static str;
    /// What the unit counts.
    type Counters: Statistics + Default;

    /// Cycles from the last cycle of work on an item until it is offered to the next unit.
    fn latency_cycles(&self) -> u64;
}

/// What a rigid unit does to an item, over the state `M` that all units of a draw share.
pub trait Process<M>: Rigid {
    /// What it takes in.
    type In;
    /// What it hands on.
    type Out;

    /// Works on an item: returns the cycles for which it holds the port, at least 1, and what goes
    /// on, if anything does.
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
    /// Port through which items go.
    pub pipe: IssuePort,
    /// What the unit has counted.
    pub counters: S::Counters,
}

impl<S: Rigid> RigidUnit<S> {
    /// Creates a unit that has seen no item.
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
