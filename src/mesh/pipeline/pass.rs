//! No merging unit: quads that pass the depth test go to the shader as they are.
//!
//! In: beats. Out: their quads, in order. Rate: quads a cycle, those of the port towards the shader
//! cores (VR-Pipe, section III-B); no latency of its own.

use super::machine::MeshMachine;
use super::outcome::{MergeStage, UnitCounters};
use crate::pipeline::issue_port::IssuePort;
use crate::pipeline::packets::{Beat, Quad};
use crate::pipeline::stage::{Sink, Stage};
use crate::pipeline::timing::Cycle;
use crate::pipeline::unit::{Unit, Visitor};

/// The unit.
#[derive(Debug)]
pub struct Pass {
    quads_per_cycle: usize,
    out: Vec<Quad>,
    /// Issue port.
    pub pipe: IssuePort,
    /// Counters.
    pub counters: UnitCounters,
}

impl Pass {
    /// A unit that passes so many quads a cycle.
    #[must_use]
    pub fn new(quads_per_cycle: u64) -> Self {
        Self {
            quads_per_cycle: usize::try_from(quads_per_cycle).unwrap_or(1).max(1),
            out: Vec::new(),
            pipe: IssuePort::new(0),
            counters: UnitCounters::default(),
        }
    }
}

impl Unit for Pass {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.activity("merge", &mut self.pipe.activity);
    }
}

impl Stage<MeshMachine> for Pass {
    type In = Beat;
    type Out = Quad;

    fn accept(
        &mut self,
        beat: Beat,
        arrival: Cycle,
        machine: &mut MeshMachine,
        next: &mut impl Sink<Quad, MeshMachine>,
    ) -> Cycle {
        for quad in beat.quads.iter() {
            let fragment = machine.arrived(quad.primitive);
            self.counters
                .count(fragment.quad.coverage, machine.pattern());
            let from = (fragment.owner, fragment.draw);
            self.out.push(machine.alone(from, &fragment.quad));
        }
        let mut start = self.pipe.start(arrival);
        for quads in self.out.chunks(self.quads_per_cycle) {
            start = self.pipe.start(arrival);
            for &quad in quads {
                self.pipe.issue(quad, start, 1, machine, next);
                start = self.pipe.free() - 1;
            }
        }
        self.out.clear();
        start
    }

    fn drain(
        &mut self,
        at: Cycle,
        _machine: &mut MeshMachine,
        _next: &mut impl Sink<Quad, MeshMachine>,
    ) -> Cycle {
        at.max(self.pipe.done())
    }
}

impl MergeStage for Pass {
    fn counters(&self) -> UnitCounters {
        self.counters
    }
}
