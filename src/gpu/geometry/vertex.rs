//! Vertex shading: four or three corners per splat, in warps of 32 vertices on the shader cores.
//!
//! Input: splats in drawing order. Output: primitives in the same order, two triangles per splat or one
//! primitive of another kind. The splats of a warp are fetched from memory, shaded, and their
//! results written to the [buffer](super::vertex_buffer) in the L2 (VR-Pipe, section V-A).
//!
//! Vertex warps have priority: their issue cycles are charged to the fragment warps that run next on the same scheduler
//! (see `ShaderIssue`). Assumption: no issue slot is charged twice, and no vertex warp waits for one.

use super::vertex_buffer::EntryBytes;
use crate::draw::SplatPrimitive;
use crate::draw_state::DrawState;
use crate::optional_parts::VERTEX_BUFFER;
use quadrille_machine::{
    Client, Cycle, IssuePort, Primitive, Queue, Rate, Sink, Stage, StallReason, Unit, Visitor,
    spec, statistics,
};

spec! {
    /// Configuration of vertex shading.
    VertexSpec in "vertex" {
        /// Shape in which splats are drawn. With three vertices, a warp has more splats and a splat fewer bytes of results,
        /// in proportion to the vertices.
        splat_primitive: SplatPrimitive = SplatPrimitive::Triangles, .., Published "VR-Pipe III-A: two triangles with four vertices per splat";
        /// Splats per warp of 32 lanes, at 4 vertices per splat.
        splats_per_warp: u64 = 8, 1..=8, Published "VR-Pipe III-A: two triangles with four vertices per splat";
        /// Instructions per vertex warp.
        instructions: u64 = 16, 0..=10_000, Assumed "centre plus or minus two axes, transform, a few moves";
        /// Latency from a warp's data to its results, in cycles.
        latency_cycles: u64 = 64, 1..=100_000, Assumed "16 dependent instructions of ALU latency 4";
        /// Bytes fetched per splat.
        bytes_per_splat: u64 = 48, 0..=4096, Assumed "centre, two axes, colour and opacity, index: 12 words";
        /// Position bytes of a splat's vertices, read by assembly and setup.
        position_bytes: u64 = 64, 0..=4096, Assumed "four vertices of four words";
        /// Attribute bytes of a splat's vertices, read by fragment warps.
        attribute_bytes: u64 = 96, 0..=4096, Assumed "four vertices of colour, opacity and offset from the centre: six words";
        /// L2 bytes per GPC for the results of vertex shading; at most half of the L2 in all.
        buffer_bytes: u64 = 524_288, 0..=1_073_741_824, Assumed "an eighth of the L2 of VR-Pipe's single GPC", only_if VERTEX_BUFFER;
        /// Whether vertex warps wait for room in the buffer of vertex results. If not, the buffer grows to hold
        /// all splats in use.
        buffer_is_bounded: bool = true, .., Published "VR-Pipe V-A: a circular buffer in the L2", only_if VERTEX_BUFFER;
        /// Capacity of the queue of primitives whose positions are being fetched for assembly.
        fetch_queue: u64 = 256, 1..=65_536, Assumed "covers the L2's latency at one primitive per cycle";
        /// Primitives sent to primitive assembly per cycle.
        primitives_per_cycle: Rate = Rate::ONE, Rate::LEAST..=Rate::MOST, Assumed "as primitive assembly";
        /// Maximum number of vertex warps in flight.
        warps: u64 = 64, 1..=4096, Assumed "enough to hide memory latency";
    }
}

impl VertexSpec {
    pub(crate) fn buffer_entries(&self, bytes: u64) -> Option<u64> {
        let EntryBytes { positions, attributes } = self.entry();
        let entry = positions + attributes;
        bytes.checked_div(entry).filter(|_| self.buffer_is_bounded)
    }

    pub(crate) fn entry(&self) -> EntryBytes {
        let [positions, attributes] = [self.position_bytes, self.attribute_bytes]
            .map(|of_four| of_four * self.splat_primitive.vertices() / 4);
        EntryBytes { positions, attributes }
    }

    /// Splats whose vertices fill a warp.
    pub(crate) fn splats_in_warp(&self) -> u64 {
        self.splats_per_warp * 4 / self.splat_primitive.vertices()
    }
}

statistics! {
    /// Statistics of vertex shading.
    pub struct VertexCounters {
        /// Vertex warps run.
        pub warps: u64,
    }
}

/// Vertex shading unit: runs vertex warps and emits the primitives of their splats.
#[derive(Debug)]
pub struct VertexShading {
    spec: VertexSpec,
    gpc: usize,
    in_flight: Queue,
    left_in_warp: u64,
    results_at: Cycle,
    dispatched_at: Cycle,
    /// Cycles by which the full vertex buffer delays the dispatch of the current warp.
    delay: Cycle,
    left_at: Cycle,
    /// Cycle until which the input pauses, see [`Draw::bubble`](crate::draw::Draw::bubble).
    held_until: Cycle,
    /// Number of vertex warps run so far.
    pub counters: VertexCounters,
    /// Output port to primitive assembly.
    pub pipe: IssuePort,
}

impl VertexShading {
    /// Creates an idle unit in GPC 0.
    pub fn new(spec: &VertexSpec) -> Self {
        Self {
            spec: spec.clone(),
            gpc: 0,
            in_flight: Queue::new(spec.warps),
            left_in_warp: 0,
            results_at: 0,
            dispatched_at: 0,
            delay: 0,
            left_at: 0,
            held_until: 0,
            counters: VertexCounters::default(),
            pipe: IssuePort::new(spec.primitives_per_cycle, 0),
        }
    }

    /// Moves the unit to GPC `gpc`. Its warps are charged to the schedulers of that GPC.
    #[must_use]
    pub fn in_gpc(self, gpc: usize) -> Self {
        Self { gpc, ..self }
    }

    fn run_warp<'m>(
        &mut self,
        first: u32,
        arrival: Cycle,
        state: &mut DrawState<'m>,
        next: &mut impl Sink<Primitive, DrawState<'m>>,
    ) {
        let next_cycle = self.dispatched_at + u64::from(self.counters.warps > 0);
        let with_room = self.in_flight.entry(arrival.max(next_cycle.saturating_sub(self.delay)));
        let mut dispatch = with_room.max(next_cycle);
        let splats = self.spec.splats_in_warp();
        let end = (u64::from(first) + splats).min(state.draw.len().into());
        if let Some(splat) = state.vertex_buffer.must_leave(end, splats) {
            next.release(splat, dispatch, state);
            dispatch = dispatch.max(state.vertex_buffer.free_through(splat));
        }
        self.delay = dispatch - with_room;
        let bytes = splats * self.spec.bytes_per_splat;
        let data = state.memory.stream(Client::Vertex, bytes, dispatch);
        state.shader_issue.charge_vertex_warp(
            self.gpc,
            self.counters.warps,
            self.spec.instructions,
        );
        let (buffer, memory) = (&mut state.vertex_buffer, &mut state.memory);
        if first < state.draw.len() {
            buffer.dispatch(u64::from(first) + splats, dispatch);
        }
        self.results_at = buffer.write(first, splats, data + self.spec.latency_cycles, memory);
        self.dispatched_at = dispatch;
        self.counters.warps += 1;
        self.left_in_warp = splats;
    }

    /// Holds the output until the current warp's results are in the buffer. The next unit has room at `room`.
    fn wait_for_results(&mut self, room: Cycle) {
        let ready = self.results_at;
        // Until the next unit has room, the output is blocked, whether the results have arrived or not.
        self.pipe.hold_until(room.min(ready), StallReason::Blocked);
        // With room in the buffer, the results would have arrived `delay` cycles earlier.
        self.pipe.hold_until(ready.saturating_sub(self.delay), StallReason::Miss);
        self.pipe.hold_until(ready, StallReason::Full);
    }
}

impl Unit for VertexShading {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        let full = self.pipe.activity.idle[StallReason::Full as usize];
        visitor.waits("vertex_buffer", "vertex", StallReason::Full, full);
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
            self.run_warp(splat, arrival, state, next);
        }
        let mut left = arrival;
        for primitive in state.draw.primitives(splat, self.spec.splat_primitive) {
            let mut start = self.pipe.start(arrival);
            // Rarely taken: only the first primitive of a warp waits for results.
            if self.results_at > start {
                self.wait_for_results(next.free());
                start = self.pipe.free();
            }
            left = self.pipe.issue(primitive, start, 1, state, next);
        }
        self.left_at = left;
        self.left_in_warp -= 1;
        if self.left_in_warp == 0 {
            self.in_flight.leave(left);
        }
        // Splats come from an index stream in memory, which never delays vertex shading.
        arrival
    }

    fn drain(
        &mut self,
        at: Cycle,
        _state: &mut DrawState<'m>,
        _next: &mut impl Sink<Primitive, DrawState<'m>>,
    ) -> Cycle {
        if self.left_in_warp > 0 {
            self.left_in_warp = 0;
            self.in_flight.leave(self.left_at);
        }
        at.max(self.pipe.done())
    }

    fn done(&self) -> Cycle {
        self.pipe.done()
    }
}
