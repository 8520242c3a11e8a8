//! No merging unit: quads that pass the depth test go to the shader as they are.
//!
//! In: beats. Out: their quads, in order. Rate: quads a cycle, those of the port towards the shader
//! cores (VR-IssuePort, section III-B); no latency of its own.

use super::machine::MeshMachine;
use super::outcome::MergeStage;
use crate::mesh::merge::MergeCounters;
use crate::pipeline::issue_port::IssuePort;
use crate::pipeline::packets::{Beat, Quad};
use crate::pipeline::stage::{Sink, Stage};
use crate::pipeline::timing::Cycle;
use crate::pipeline::unit::{Unit, Visitor};

/// The unit.
#[derive(Debug)]
pub struct Passthrough {
    quads_per_cycle: usize,
    out: Vec<Quad>,
    /// Issue port.
    pub pipe: IssuePort,
    counters: MergeCounters,
}

impl Passthrough {
    /// A unit that passes so many quads a cycle.
    #[must_use]
    pub fn new(quads_per_cycle: u64) -> Self {
        Self {
            quads_per_cycle: usize::try_from(quads_per_cycle).unwrap_or(1).max(1),
            out: Vec::new(),
            pipe: IssuePort::new(0),
            counters: MergeCounters::default(),
        }
    }
}

impl Unit for Passthrough {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.activity("merge", &mut self.pipe.activity);
    }
}

impl Stage<MeshMachine> for Passthrough {
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
            let partial = machine.pattern().partial_cells(fragment.quad.coverage);
            self.counters.partial += u64::from(partial != 0);
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

impl MergeStage for Passthrough {
    fn counters(&self) -> MergeCounters {
        self.counters
    }
}
