//! Stages of grids before the rasterizer: tessellation, the depth test of whole grids, and vertex shading ("Reducing
//! Shading on GPUs using Quad-Fragment Merging", section 2).
//!
//! Input: grids in submission order. Output: triangles of visible grids, in order. Rates: vertices per cycle and one
//! triangle per cycle. As soon as its vertices are known, a grid is tested against the farthest depths of the raster tiles
//! in its bounding box; a hidden grid takes no more time. Vertices of visible grids are shaded in warps of 32, which take
//! issue slots of the shader cores before any fragment. Vertices come from the tessellator and are not read from memory
//! (assumption; for polygon meshes it omits the traffic of index and vertex fetch).

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::current_grid::GridVisibility;
use super::draw_state::MeshDrawState;
use quadrille_base::math::index;
use quadrille_geometry::grid::Grid;
use quadrille_machine::{
    Cycle, IssuePort, Primitive, Queue, Rate, Sink, Stage, StallReason, Unit, Visitor, spec,
    statistics,
};

const WARP_LANES: u64 = 32;

spec! {
    /// Configuration of tessellation and vertex shading.
    GridsSpec in "grids" {
        /// Capacity of the input queue, in grids.
        queue: u64 = 2, 1..=65_536, Assumed "one grid waits while another one is tessellated";
        /// Vertices generated per cycle.
        vertices_per_cycle: u64 = 1, 1..=1024, Assumed "a grid of 512 triangles has 289 vertices, so triangles are the limit";
        /// Cycles per depth test of a grid.
        test_cycles: u64 = 1, 0..=10_000, Assumed "a pyramid of depths tests a box in one step";
        /// Capacity for vertex results, in grids.
        grids: u64 = 4, 1..=65_536, Assumed "enough to hide the latency of vertex shading";
        /// Instructions per vertex warp.
        instructions: u64 = 16, 1..=10_000, Assumed "transform and a few moves, as for splats";
        /// Latency from a grid's vertices to their results, in cycles.
        latency_cycles: u64 = 64, 0..=100_000, Assumed "16 dependent instructions of ALU latency 4";
    }
}

statistics! {
    /// Grids by outcome, and the vertices, warps and triangles of visible grids.
    #[derive(Serialize, Deserialize)]
    pub struct GridsCounters {
        /// Grids received.
        pub grids: u64,
        /// Triangles of all grids.
        pub triangles: u64,
        /// Grids culled because they lie outside the picture or face away.
        pub outside: u64,
        /// Grids culled because earlier grids hide them.
        pub hidden: u64,
        /// Grids drawn.
        pub visible: u64,
        /// Vertices shaded: all vertices of visible grids.
        pub vertices: u64,
        /// Vertex warps run.
        pub warps: u64,
        /// Triangles emitted, including the pieces of clipped triangles.
        pub triangles_out: u64,
    }
}

/// Unit for tessellation, the depth test of grids, and vertex shading.
#[derive(Debug)]
pub struct Grids {
    spec: GridsSpec,
    gpc: usize,
    kept: Queue,
    /// For each kept grid, oldest first: output cycles of waiting for its vertices, and all its output cycles.
    output_cycles: VecDeque<[u64; 2]>,
    triangles: Vec<Primitive>,
    input: IssuePort,
    output: IssuePort,
    counters: GridsCounters,
}

impl Grids {
    /// Creates an idle unit in GPC 0.
    pub fn new(spec: &GridsSpec) -> Self {
        Self {
            gpc: 0,
            kept: Queue::new(spec.grids),
            output_cycles: VecDeque::new(),
            triangles: Vec::new(),
            input: IssuePort::new(Rate::ONE, 0),
            output: IssuePort::new(Rate::ONE, 0),
            counters: GridsCounters::default(),
            spec: spec.clone(),
        }
    }

    /// Holds the input until `free`, when the vertices of another grid fit. The leaving grid spent a share of its output
    /// cycles waiting for its vertices. This share of the wait is charged to the lack of slots, the rest to the blocked
    /// output.
    fn wait_for_slot(&mut self, free: Cycle) {
        let wait = free.saturating_sub(self.input.activity.accounted());
        let [waited, total] = self.output_cycles.front().copied().unwrap_or_default();
        let too_few = wait * waited / total.max(1);
        self.input.hold_until(free - too_few, StallReason::Blocked);
        self.input.hold_until(free, StallReason::Full);
    }

    fn leave(&mut self, cycle: Cycle, output_cycles: [u64; 2]) {
        self.kept.leave(cycle);
        self.output_cycles.push_back(output_cycles);
        if self.output_cycles.len() > index(self.spec.grids) {
            self.output_cycles.pop_front();
        }
    }

    /// Moves the unit to GPC `gpc`. Its warps are charged to the schedulers of that GPC.
    #[must_use]
    pub fn in_gpc(self, gpc: usize) -> Self {
        Self { gpc, ..self }
    }
}

impl Unit for Grids {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.activity("grids", &mut self.input.activity);
        visitor.activity("triangles", &mut self.output.activity);
        visitor.statistics("grids", &self.counters);
    }
}

impl Stage<MeshDrawState> for Grids {
    type In = (u32, Grid);
    type Out = Primitive;

    fn accept(
        &mut self,
        (draw, grid): (u32, Grid),
        arrival: Cycle,
        state: &mut MeshDrawState,
        next: &mut impl Sink<Primitive, MeshDrawState>,
    ) -> Cycle {
        let vertices = grid.vertices.len() as u64;
        self.input.start(arrival);
        self.wait_for_slot(self.kept.entry(arrival));
        let start = self.input.free().max(arrival);
        let cycles = vertices.div_ceil(self.spec.vertices_per_cycle) + self.spec.test_cycles;
        self.input.work(start, cycles);
        let tested = start + cycles;
        let counters = &mut self.counters;
        counters.grids += 1;
        counters.triangles += grid.topology.triangles.len() as u64;
        self.triangles.clear();
        match state.take(draw, &grid, &mut self.triangles) {
            GridVisibility::Outside => counters.outside += 1,
            GridVisibility::Hidden => counters.hidden += 1,
            GridVisibility::Visible => counters.visible += 1,
        }
        if self.triangles.is_empty() {
            self.leave(tested, [0, 0]);
            return start;
        }
        counters.vertices += vertices;
        counters.triangles_out += self.triangles.len() as u64;
        for _ in 0..vertices.div_ceil(WARP_LANES) {
            let number = self.counters.warps;
            state.shader_issue.charge_vertex_warp(self.gpc, number, self.spec.instructions);
            self.counters.warps += 1;
        }
        self.output.start(tested);
        let begun = self.output.activity.accounted();
        let shaded = tested + self.spec.latency_cycles;
        // Until the next unit has room, the output is blocked, whether the vertices are shaded or not.
        self.output.hold_until(next.free().min(shaded), StallReason::Blocked);
        let blocked = self.output.activity.accounted() - begun;
        self.output.hold_until(shaded, StallReason::Miss);
        let waited = self.output.activity.accounted() - begun - blocked;
        for &triangle in &self.triangles {
            self.output.issue_on(triangle, shaded, 1, state, next);
        }
        self.leave(self.output.free(), [waited, self.output.activity.accounted() - begun]);
        start
    }

    fn done(&self) -> Cycle {
        self.input.done().max(self.output.done())
    }
}
