//! Vertex shading: four corners a splat, in warps of 32 vertices on the shader cores.
//!
//! In: splats in drawing order. Out: primitives in the same order, two triangles a splat (or one
//! rectangle). A warp's eight splats are fetched from memory, shaded, and kept until the last of
//! them is assembled (VR-Pipe, section V-A: vertices wait in a buffer in the L2 cache).
//!
//! Vertex warps go first: the issue slots they take are owed by the fragment warps that come to the
//! same scheduler next (see [`ShaderIssue`](super::super::warp::ShaderIssue)), so no slot is used
//! twice, while a vertex warp itself never waits for fragments (assumption).

use crate::gpu::machine::Machine;
use crate::pipeline::packets::Primitive;
use crate::pipeline::spec::spec;
use crate::pipeline::stage::{Pipe, Sink, Stage};
use crate::pipeline::timing::{Cycle, Idle, Queue};

spec! {
    /// Vertex shading.
    VertexSpec in "vertex" {
        /// Splats whose vertices make a warp (32 lanes, 4 vertices a splat).
        splats_per_warp: u64 = 8, 1..=8, Published "VR-Pipe III-A: two triangles with four vertices a splat";
        /// Instructions a warp.
        instructions: u64 = 16, 1..=10_000, Assumed "centre plus or minus two axes, transform, a few moves";
        /// Cycles from a warp's data to its results.
        latency_cycles: u64 = 64, 1..=100_000, Assumed "16 dependent instructions of ALU latency 4";
        /// Bytes fetched a splat.
        bytes_per_splat: u64 = 48, 0..=4096, Assumed "centre, two axes, colour and opacity, index: 12 words";
        /// Vertex warps in flight.
        warps: u64 = 64, 1..=4096, Assumed "enough to hide memory latency";
    }
}

/// The unit.
#[derive(Debug)]
pub struct VertexShading {
    spec: VertexSpec,
    /// Warps whose results are held.
    in_flight: Queue,
    /// Splats of the current warp that are still to be handed on.
    left_in_warp: u64,
    results_at: Cycle,
    dispatched_at: Cycle,
    warps: u64,
    /// Hands one primitive on a cycle.
    pub pipe: Pipe,
}

impl VertexShading {
    /// A unit of this specification.
    #[must_use]
    pub fn new(spec: &VertexSpec) -> Self {
        Self {
            spec: spec.clone(),
            in_flight: Queue::new(spec.warps),
            left_in_warp: 0,
            results_at: 0,
            dispatched_at: 0,
            warps: 0,
            pipe: Pipe::new(0),
        }
    }

    /// Vertex warps run.
    #[must_use]
    pub fn warps(&self) -> u64 {
        self.warps
    }

    /// Fetches and shades the next warp's splats.
    fn run_warp(&mut self, arrival: Cycle, machine: &mut Machine<'_>) {
        let dispatch = self
            .in_flight
            .entry(arrival.max(self.dispatched_at + u64::from(self.warps > 0)));
        let bytes = self.spec.splats_per_warp * self.spec.bytes_per_splat;
        let data = machine.memory.stream(bytes, dispatch);
        machine
            .shader_issue
            .charge_vertex_warp(self.warps, self.spec.instructions);
        self.results_at = data + self.spec.latency_cycles;
        self.dispatched_at = dispatch;
        self.warps += 1;
        self.left_in_warp = self.spec.splats_per_warp;
    }
}

impl<'m> Stage<Machine<'m>> for VertexShading {
    type In = u32;
    type Out = Primitive;

    fn accept(
        &mut self,
        splat: u32,
        arrival: Cycle,
        machine: &mut Machine<'m>,
        next: &mut impl Sink<Primitive, Machine<'m>>,
    ) -> Cycle {
        if self.left_in_warp == 0 {
            self.run_warp(arrival, machine);
        }
        let mut left = arrival;
        for primitive in machine.draw.primitives(splat) {
            let start = self.pipe.start(arrival);
            self.pipe.hold_until(self.results_at.max(start), Idle::Miss);
            let start = self.pipe.free();
            left = self.pipe.issue(primitive, start, 1, machine, next);
        }
        self.left_in_warp -= 1;
        if self.left_in_warp == 0 {
            self.in_flight.leave(left);
        }
        // Splats come from an index stream in memory: taking one is not what holds it back.
        arrival
    }

    fn drain(
        &mut self,
        at: Cycle,
        _machine: &mut Machine<'m>,
        _next: &mut impl Sink<Primitive, Machine<'m>>,
    ) -> Cycle {
        at.max(self.pipe.done())
    }
}
