//! Vertex shading: four corners per splat, in warps of 32 vertices on the shader cores.
//!
//! Input: splats in drawing order. Output: primitives in the same order, two triangles per splat or one
//! primitive of another kind. The eight splats of a warp are fetched from memory, shaded, and kept until
//! the last of them is assembled (VR-Pipe, section V-A: vertices wait in a buffer in the L2 cache).
//!
//! Vertex warps have priority: their issue cycles are charged to the fragment warps that run next on the
//! same scheduler (see [`ShaderIssue`](crate::gpu::warp::issue::ShaderIssue)), so no issue slot is used
//! twice and a vertex warp never waits for fragments (assumption).

use crate::gpu::draw_state::DrawState;
use crate::pipeline::issue_port::IssuePort;
use crate::pipeline::memory::traffic::Client;
use crate::pipeline::packets::Primitive;
use crate::pipeline::rate::Rate;
use crate::pipeline::spec::spec;
use crate::pipeline::stage::{Sink, Stage};
use crate::pipeline::statistics::statistics;
use crate::pipeline::timing::{Cycle, Queue, StallReason};
use crate::pipeline::unit::{Unit, Visitor};

spec! {
    /// Vertex shading.
    VertexSpec in "vertex" {
        /// Splats whose vertices make a warp (32 lanes, 4 vertices per splat).
        splats_per_warp: u64 = 8, 1..=8, Published "VR-Pipe III-A: two triangles with four vertices per splat";
        /// Instructions per warp.
        instructions: u64 = 16, 1..=10_000, Assumed "centre plus or minus two axes, transform, a few moves";
        /// Cycles from a warp's data to its results.
        latency_cycles: u64 = 64, 1..=100_000, Assumed "16 dependent instructions of ALU latency 4";
        /// Bytes fetched per splat.
        bytes_per_splat: u64 = 48, 0..=4096, Assumed "centre, two axes, colour and opacity, index: 12 words";
        /// Vertex warps in flight.
        warps: u64 = 64, 1..=4096, Assumed "enough to hide memory latency";
    }
}

statistics! {
    /// Statistics of vertex shading.
    pub struct VertexCounters {
        /// Vertex warps run.
        pub warps: u64,
    }
}

/// The vertex shading unit.
#[derive(Debug)]
pub struct VertexShading {
    spec: VertexSpec,
    /// Warps whose results are in the buffer.
    in_flight: Queue,
    /// Splats of the current warp that have not been emitted.
    left_in_warp: u64,
    results_at: Cycle,
    dispatched_at: Cycle,
    /// End of the bubble, see [`Draw::bubble`](crate::gpu::draw::Draw::bubble).
    held_until: Cycle,
    /// Statistics so far.
    pub counters: VertexCounters,
    /// Output port, one primitive per cycle.
    pub pipe: IssuePort,
}

impl VertexShading {
    /// Creates an idle unit.
    pub fn new(spec: &VertexSpec) -> Self {
        Self {
            spec: spec.clone(),
            in_flight: Queue::new(spec.warps),
            left_in_warp: 0,
            results_at: 0,
            dispatched_at: 0,
            held_until: 0,
            counters: VertexCounters::default(),
            pipe: IssuePort::new(Rate::ONE, 0),
        }
    }

    /// Fetches and shades the splats of the next warp.
    fn run_warp(&mut self, arrival: Cycle, state: &mut DrawState<'_>) {
        let dispatch = self
            .in_flight
            .entry(arrival.max(self.dispatched_at + u64::from(self.counters.warps > 0)));
        let bytes = self.spec.splats_per_warp * self.spec.bytes_per_splat;
        let data = state.memory.stream(Client::Vertex, bytes, dispatch);
        state
            .shader_issue
            .charge_vertex_warp(self.counters.warps, self.spec.instructions);
        self.results_at = data + self.spec.latency_cycles;
        self.dispatched_at = dispatch;
        self.counters.warps += 1;
        self.left_in_warp = self.spec.splats_per_warp;
    }
}

impl Unit for VertexShading {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.activity("vertex", &mut self.pipe.activity);
        visitor.statistics("vertex", &self.counters);
    }
}

impl<'m> Stage<DrawState<'m>> for VertexShading {
    type In = u32;
    type Out = Primitive;

    fn accept(
        &mut self,
        splat: u32,
        arrival: Cycle,
        state: &mut DrawState<'m>,
        next: &mut impl Sink<Primitive, DrawState<'m>>,
    ) -> Cycle {
        if let Some((_, cycles)) = state.draw.bubble.filter(|(before, _)| *before == splat) {
            self.held_until = self.pipe.free() + cycles;
        }
        let arrival = arrival.max(self.held_until);
        if self.left_in_warp == 0 {
            self.run_warp(arrival, state);
        }
        let mut left = arrival;
        for primitive in state.draw.primitives(splat) {
            let start = self.pipe.start(arrival);
            self.pipe
                .hold_until(self.results_at.max(start), StallReason::Miss);
            let start = self.pipe.free();
            left = self.pipe.issue(primitive, start, 1, state, next);
        }
        self.left_in_warp -= 1;
        if self.left_in_warp == 0 {
            self.in_flight.leave(left);
        }
        // Splats come from an index stream in memory: taking one is not what holds it back.
        arrival
    }

    fn done(&self) -> Cycle {
        self.pipe.done()
    }
}
