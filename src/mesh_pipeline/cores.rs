//! Shader cores with the pixel shader of meshes. Slots, schedulers and launch order are those of the emulated pipeline (see
//! [`Schedule`]); the program differs.
//!
//! Input: warps; the queue in front of the unit holds the warp slots of the cores. Output: the same warps, shaded, in
//! launch order. The untimed frame computes the colours. Texture reads only add latency (assumption).

use serde::Serialize;

use super::draw_state::MeshDrawState;
use quadrille_gpu::warp::cores::CoresSpec;
use quadrille_gpu::warp::schedule::{Schedule, WarpProgram};
use quadrille_machine::{Cycle, Sink, Stage, Unit, Visitor, Warp, spec, statistics};

spec! {
    /// Costs of the pixel shader of meshes.
    PixelShaderSpec in "pixel_shader" {
        /// Instructions per pixel warp.
        instructions: u64 = 80, 1..=100_000, Assumed "interpolation of eight attributes, two texture reads, normal map, two lights";
        /// Cycles of the dependent chain of instructions.
        latency_cycles: u64 = 600, 1..=1_000_000, Assumed "80 instructions of ALU latency 4, two texture reads that hit the L2";
    }
}

statistics! {
    #[derive(Serialize)]
    pub(crate) struct MeshCoresCounters {
        /// Warps run.
        pub warps: u64,
        /// Quads shaded.
        pub quads: u64,
        /// Warp instructions issued.
        pub instructions: u64,
    }
}

/// Shader cores that run the pixel shader of meshes.
#[derive(Debug)]
pub struct MeshCores {
    gpc: usize,
    program: WarpProgram,
    schedule: Schedule,
    counters: MeshCoresCounters,
}

impl MeshCores {
    /// Creates idle cores in GPC 0.
    pub fn new(cores: &CoresSpec, shader: &PixelShaderSpec) -> Self {
        Self {
            gpc: 0,
            program: WarpProgram {
                instructions: shader.instructions,
                latency: shader.latency_cycles,
            },
            schedule: cores.schedule(),
            counters: MeshCoresCounters::default(),
        }
    }

    /// Assigns the cores to GPC `gpc`; the default is GPC 0.
    #[must_use]
    pub fn in_gpc(self, gpc: usize) -> Self {
        Self { gpc, ..self }
    }
}

impl Unit for MeshCores {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        for activity in &mut self.schedule.activity {
            visitor.activity("cores", activity);
        }
        visitor.statistics("cores", &self.counters);
    }
}

impl Stage<MeshDrawState> for MeshCores {
    type In = Warp;
    type Out = Warp;

    fn accept(
        &mut self,
        warp: Warp,
        arrival: Cycle,
        state: &mut MeshDrawState,
        next: &mut impl Sink<Warp, MeshDrawState>,
    ) -> Cycle {
        self.counters.warps += 1;
        self.counters.quads += warp.quads.len() as u64;
        self.counters.instructions += self.program.instructions;
        let owed = state.shader_issue.pay(self.gpc, self.schedule.next_scheduler());
        let done = self.schedule.run(arrival, self.program, owed);
        self.schedule.leave(done, Some(|ready| next.offer(warp, ready, state)))
    }

    fn done(&self) -> Cycle {
        self.schedule.left_at()
    }
}
