//! No merging unit: quads that pass the depth test go to the shader as they are.
//!
//! In: beats. Out: their quads, in order. Rate: quads per cycle, those of the port towards the
//! shader cores (VR-Pipe, section III-B); no latency of its own.

use super::draw_state::MeshDrawState;
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
    port: IssuePort,
    counters: MergeCounters,
}

impl Passthrough {
    /// A unit that passes so many quads per cycle.
    #[must_use]
    pub fn new(quads_per_cycle: u64) -> Self {
        Self {
            quads_per_cycle: usize::try_from(quads_per_cycle).unwrap_or(1).max(1),
            out: Vec::new(),
            port: IssuePort::new(0),
            counters: MergeCounters::default(),
        }
    }
}

impl Unit for Passthrough {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.activity("merge", &mut self.port.activity);
        visitor.statistics("merge", &self.counters);
    }
}

impl Stage<MeshDrawState> for Passthrough {
    type In = Beat;
    type Out = Quad;

    fn accept(
        &mut self,
        beat: Beat,
        arrival: Cycle,
        state: &mut MeshDrawState,
        next: &mut impl Sink<Quad, MeshDrawState>,
    ) -> Cycle {
        for quad in beat.quads.iter() {
            let fragment = state.arrived(quad);
            let coverage = fragment.quad.coverage;
            let partial = state.pattern().partial_cells(coverage);
            self.counters.partial += u64::from(partial != 0);
            let index = state.depths.index(fragment.quad.position);
            let parts = vec![(fragment.owner, coverage)];
            self.out
                .push(state.shader_quad(index, fragment.draw, parts));
        }
        let mut start = self.port.start(arrival);
        for quads in self.out.chunks(self.quads_per_cycle) {
            start = self.port.start(arrival);
            for &quad in quads {
                self.port.issue(quad, start, 1, state, next);
                start = self.port.free() - 1;
            }
        }
        self.out.clear();
        start
    }

    fn drain(
        &mut self,
        at: Cycle,
        _state: &mut MeshDrawState,
        _next: &mut impl Sink<Quad, MeshDrawState>,
    ) -> Cycle {
        at.max(self.port.done())
    }
}
