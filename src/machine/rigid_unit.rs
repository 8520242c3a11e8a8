//! Rigid units: an item holds the issue port for a time known in advance and produces at most one item.

use super::issue_port::IssuePort;
use super::ledger::Ledger;
use super::stage::{Sink, Stage};
use super::statistics::{Counter, Statistics};
use super::timing::Cycle;
use super::unit::{Unit, Visitor};

/// Specification of a rigid unit, which defines its behaviour completely.
pub trait Rigid: Clone {
    /// Name of the unit in reports.
    const NAME: &'static str;
    /// Statistics of the unit.
    type Counters: Statistics + Counter + Default;

    /// Creates the idle issue port with the unit's rate and latency.
    fn port(&self) -> IssuePort;

    /// Largest number of groups of items that share a cycle.
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

    /// Group of an item. Items of at most [`Rigid::groups_per_cycle`] groups share a cycle.
    fn group(_item: &Self::In) -> u32 {
        0
    }

    /// Screen tile of an item, if it belongs to one.
    fn tile(_item: &Self::In) -> Option<u32> {
        None
    }

    /// Processes an item; returns its number of items at the issue port, at least 1, and the packet to emit, if any.
    fn process(
        &self,
        item: Self::In,
        counters: &mut Self::Counters,
        state: &M,
    ) -> (u64, Option<Self::Out>);
}

/// Groups of items that share the current cycle of an issue port.
#[derive(Debug)]
pub struct CycleGroups {
    most: u64,
    cycle: Cycle,
    groups: u64,
    /// Sum of the cycles that each group takes if it shares none.
    alone: u64,
}

impl CycleGroups {
    /// Creates the groups of cycle 0, of which up to `most` share a cycle.
    pub fn new(most: u64) -> Self {
        Self { most, cycle: 0, groups: 0, alone: 0 }
    }

    /// Counts a group that takes `cycles` cycles of the port if it shares none.
    #[inline]
    pub fn count(&mut self, cycles: u64) {
        self.alone += cycles;
    }

    /// Minimum number of cycles for all counted groups, if each cycle is shared by as many groups as possible.
    pub fn least_cycles(&self) -> u64 {
        self.alone.div_ceil(self.most)
    }

    /// Moves to the port's `cycle`. If it is a new cycle, `is_shared` tells whether the last group has items in it.
    #[inline]
    pub fn move_to(&mut self, cycle: Cycle, is_shared: bool) {
        if cycle != self.cycle {
            (self.cycle, self.groups) = (cycle, is_shared.into());
        }
    }

    /// Whether the cycle has as many groups as may share it.
    #[inline]
    pub fn are_full(&self) -> bool {
        self.groups == self.most
    }

    /// Begins a group in `cycle`, beside the groups that already share this cycle.
    #[inline]
    pub fn begin_in(&mut self, cycle: Cycle) {
        let others = if cycle == self.cycle && !self.are_full() { self.groups } else { 0 };
        (self.cycle, self.groups) = (cycle, others + 1);
    }
}

/// Stage with the behaviour of the specification `S`.
#[derive(Debug)]
pub struct RigidUnit<S: Rigid> {
    spec: S,
    group: u32,
    /// Items of the current group that the issue port has taken.
    in_group: u64,
    groups: CycleGroups,
    /// Issue port of the unit, with its pipeline.
    pub pipe: IssuePort,
    /// Statistics of the run so far.
    pub counters: S::Counters,
    ledger: Ledger,
}

impl<S: Rigid> RigidUnit<S> {
    /// Creates an idle unit.
    pub fn new(spec: &S) -> Self {
        Self {
            spec: spec.clone(),
            group: 0,
            in_group: 0,
            groups: CycleGroups::new(spec.groups_per_cycle()),
            pipe: spec.port(),
            counters: S::Counters::default(),
            ledger: Ledger::default(),
        }
    }

    /// Begins the group of the next item; ends the current cycle first if it already has the largest number of groups.
    #[inline]
    fn begin_group(&mut self) {
        self.end_group();
        self.groups.move_to(self.pipe.port_free(), self.pipe.is_mid_cycle());
        if self.groups.are_full() {
            self.pipe.end_cycle();
        }
        self.groups.begin_in(self.pipe.port_free());
    }
}

impl<S: Rigid> RigidUnit<S> {
    fn end_group(&mut self) {
        let items = std::mem::take(&mut self.in_group);
        self.groups.count(self.pipe.activity.least_cycles_of(items));
    }
}

impl<S: Rigid> Unit for RigidUnit<S> {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.end_group();
        self.pipe.activity.least = self.groups.least_cycles();
        visitor.activity(S::NAME, &mut self.pipe.activity);
        visitor.statistics(S::NAME, &self.counters);
        visitor.ledger(S::NAME, Some(S::NAME), &mut self.ledger, &self.counters);
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
        let tile = S::tile(&item);
        let mark = self.ledger.mark(&self.counters, Some(self.pipe.activity.busy));
        let (count, out) = self.spec.process(item, &mut self.counters, state);
        self.in_group += count;
        let start = match out {
            Some(out) => self.pipe.issue_on(out, arrival, count, state, next),
            None => self.pipe.work_on(arrival, count),
        };
        (self.ledger).record(mark, &self.counters, Some(self.pipe.activity.busy), tile, start);
        start
    }

    fn done(&self) -> Cycle {
        self.pipe.done()
    }
}
