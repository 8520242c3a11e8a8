//! The shader of a stencil update between two batches of multi-pass rendering (VR-Pipe, section IV-B, Algorithm 1).
//!
//! Input: warps of the rectangle's quads. Each fragment reads its pixel's alpha from the colour buffer through the L2, a
//! sector at a time over the port of its core, and is discarded below the threshold. The surviving fragments go to ZROP,
//! which writes their stencil values; CROP sees none. Colours are read as ZROP and CROP leave them in memory: a sector that
//! CROP never wrote is fetched from DRAM like any other, since a shader does not know the cleared state (assumption).

use arrayvec::ArrayVec;

use super::schedule::{Schedule, WarpProgram};
use crate::crop::blend::at_least;
use crate::crop::unit::ColourLayout;
use crate::draw_state::DrawState;
use quadrille_base::math::index;
use quadrille_base::raster::tiles::quad_index;
use quadrille_base::shading::ColourFormat;
use quadrille_machine::{
    Beat, Client, Cycle, Quad, Rate, RateLimiter, SECTOR_BYTES, WARP_QUADS, Warp, fragments,
    sectors_of, spec, statistics,
};

spec! {
    /// Costs of rendering in several passes.
    PassesSpec in "passes" {
        /// Cycles between the end of a draw and the start of the next.
        draw_gap_cycles: u64 = 3060, 0..=1_000_000_000, Assumed "5 microseconds at 612 MHz, in which the driver changes shader and stencil state, waits for the pipeline and submits a draw";
        /// Instructions of the stencil update's shader.
        update_instructions: u64 = 8, 0..=100_000, Assumed "address, load, compare, discard, exit";
        /// Cycles of the dependent chain of the update shader, without the load.
        update_latency_cycles: u64 = 32, 0..=1_000_000, Assumed "eight instructions of ALU latency 4";
    }
}

statistics! {
    /// Counters of the stencil updates.
    pub struct UpdateCounters {
        /// Warps run.
        pub warps: u64,
        /// Quads shaded.
        pub quads: u64,
        /// Fragments shaded.
        pub fragments: u64,
        /// Fragments discarded because their pixels are below the threshold.
        pub discarded: u64,
        /// Pixels whose stencil value changed.
        pub terminated: u64,
        /// Sectors of colour read.
        pub sectors_read: u64,
        /// Warp instructions issued.
        pub instructions: u64,
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct UpdateCores {
    pub(crate) cores: u64,
    pub(crate) l2_bytes_per_cycle: u64,
    /// Format of the colour buffer, which starts at the first line of memory.
    pub(crate) format: ColourFormat,
    pub(crate) threshold: f32,
}

#[derive(Debug)]
pub(crate) struct UpdateShader {
    program: WarpProgram,
    threshold: f32,
    layout: ColourLayout,
    ports: Vec<RateLimiter>,
    pub counters: UpdateCounters,
}

impl UpdateShader {
    pub(crate) fn new(spec: &PassesSpec, on: UpdateCores) -> Self {
        let port = RateLimiter::new(Rate::of(on.l2_bytes_per_cycle, SECTOR_BYTES));
        Self {
            program: WarpProgram {
                instructions: spec.update_instructions,
                latency: spec.update_latency_cycles,
            },
            threshold: on.threshold,
            layout: ColourLayout::new(on.format),
            ports: vec![port; index(on.cores)],
            counters: UpdateCounters::default(),
        }
    }

    /// Runs a warp that gets its slot at `arrival`, on the next scheduler of GPC `gpc`. Returns when it leaves the slot.
    pub(super) fn run(
        &mut self,
        warp: &Warp,
        arrival: Cycle,
        gpc: usize,
        schedule: &mut Schedule,
        state: &mut DrawState<'_>,
    ) -> Cycle {
        let scheduler = schedule.next_scheduler();
        let owed = state.shader_issue.pay(gpc, scheduler);
        let mut program = self.program;
        // Latency, not instructions: other warps fill the cycles in which this one waits.
        program.latency += self.read(warp, scheduler, arrival, state) - arrival;
        let done = schedule.run(arrival, program, owed);
        self.counters.warps += 1;
        self.counters.instructions += program.instructions;
        let quads = self.terminated(warp, state);
        let beat = Beat { tile: warp.tile, quads, pairs: 0, last: true };
        let writes = &mut state.update.writes[gpc];
        schedule.leave(done, (!beat.quads.is_empty()).then_some(|ready| writes.offer(beat, ready)))
    }

    fn read(
        &mut self,
        warp: &Warp,
        scheduler: usize,
        at: Cycle,
        state: &mut DrawState<'_>,
    ) -> Cycle {
        let core = scheduler % self.ports.len();
        let mut arrived = at;
        for quad in &warp.quads {
            let (line, sectors) = self.layout.of(warp.tile, quad.position);
            for sector in sectors_of(sectors) {
                let sent = self.ports[core].serve(at);
                let ready = state.memory.read(Client::Colour, line, 1 << sector, sent);
                self.counters.sectors_read += 1;
                arrived = arrived.max(ready);
            }
        }
        arrived
    }

    fn terminated(&mut self, warp: &Warp, state: &mut DrawState<'_>) -> ArrayVec<Quad, WARP_QUADS> {
        let mut out = ArrayVec::new();
        for quad in &warp.quads {
            let at = quad_index(warp.tile, quad.position);
            let mask =
                quad.mask & at_least(state.level, &state.framebuffer.colours()[at], self.threshold);
            let before = state.framebuffer.terminated_in(at);
            let newly = fragments(mask & !before);
            self.counters.quads += 1;
            self.counters.fragments += fragments(quad.mask);
            self.counters.discarded += fragments(quad.mask & !mask);
            self.counters.terminated += newly;
            state.update.terminated_pixels += newly;
            if mask != 0 {
                out.push(Quad { mask, ..*quad });
            }
        }
        out
    }
}
