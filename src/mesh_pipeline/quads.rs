//! Conversion of raster tiles into quads for the depth test.
//!
//! Input: raster tiles. Output: beats of the quads in which a triangle covers a sample, in order; for quad-fragment merging
//! also the quads that it only touches ("Reducing Shading on GPUs using Quad-Fragment Merging", section 3.3). Rate: one
//! beat of up to 8 quads per cycle. Tiles share no beat: VR-Pipe's tile coalescing serves blending and is left out.

use arrayvec::ArrayVec;
use serde::Serialize;

use super::draw_state::MeshDrawState;
use quadrille_base::raster::sampled::TileSamples;
use quadrille_base::raster::tiles::{QUADS_PER_TILE, TILE_QUADS};
use quadrille_machine::{
    Beat, Cycle, IssuePort, Quad, RasterTile, Rate, Sink, Stage, Unit, Visitor, spec, statistics,
};

spec! {
    /// Configuration of the unit that splits raster tiles into quads.
    QuadsSpec in "quads" {
        /// Capacity of the input queue, in raster tiles.
        queue: u64 = 5, 1..=65_536, Assumed "as the raster units";
        /// Quads emitted per cycle.
        quads_per_cycle: u64 = 8, 1..=8, Assumed "as tile coalescing";
        /// Latency in cycles.
        latency_cycles: u64 = 1, 0..=10_000, Assumed "one cycle";
    }
}

statistics! {
    #[derive(Serialize)]
    pub(crate) struct QuadsCounters {
        /// Raster tiles received.
        pub tiles: u64,
        /// Quads emitted with a covered sample.
        pub covered: u64,
        /// Quads that a triangle touches without covering a sample.
        pub touched: u64,
        /// Subset of `touched` that is emitted.
        pub empties_out: u64,
    }
}

/// Unit that cuts raster tiles into beats of quads.
#[derive(Debug)]
pub struct Quads {
    quads_per_cycle: usize,
    port: IssuePort,
    counters: QuadsCounters,
}

impl Quads {
    /// Creates an idle unit; its port issues one beat per cycle.
    pub fn new(spec: &QuadsSpec) -> Self {
        Self {
            quads_per_cycle: usize::try_from(spec.quads_per_cycle).unwrap_or(1),
            port: IssuePort::new(Rate::ONE, spec.latency_cycles),
            counters: QuadsCounters::default(),
        }
    }

    #[inline]
    fn quad(
        &mut self,
        tile: &RasterTile<TileSamples>,
        at: u8,
        state: &mut MeshDrawState,
    ) -> Option<Quad> {
        let samples = tile.samples.quads[usize::from(at)];
        if samples.coverage == 0 {
            self.counters.touched += 1;
            if !state.passes_empties {
                return None;
            }
            self.counters.empties_out += 1;
        } else {
            self.counters.covered += 1;
        }
        let row = (tile.quarter >> 1) * 4 + at / 4;
        let column = (tile.quarter & 1) * 4 + at % 4;
        let position = row * TILE_QUADS.to_le_bytes()[0] + column;
        let at = state.depths.position(tile.tile * QUADS_PER_TILE + u32::from(position));
        Some(Quad {
            primitive: state.fragment(tile.primitive, at, samples.coverage, samples.centres),
            position,
            mask: state.pattern().covered_pixels(samples.coverage),
        })
    }
}

impl Unit for Quads {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.activity("quads", &mut self.port.activity);
        visitor.statistics("quads", &self.counters);
    }
}

impl Stage<MeshDrawState> for Quads {
    type In = RasterTile<TileSamples>;
    type Out = Beat;

    fn accept(
        &mut self,
        tile: RasterTile<TileSamples>,
        arrival: Cycle,
        state: &mut MeshDrawState,
        next: &mut impl Sink<Beat, MeshDrawState>,
    ) -> Cycle {
        self.counters.tiles += 1;
        let mut start = self.port.start(arrival);
        let mut quads = ArrayVec::new();
        let mut is_idle = true;
        for at in 0..16 {
            if tile.samples.touched >> at & 1 == 1
                && let Some(quad) = self.quad(&tile, at, state)
            {
                quads.push(quad);
            }
            let ends = quads.len() == self.quads_per_cycle || at == 15;
            if ends && !quads.is_empty() {
                let beat = Beat { tile: tile.tile, quads: quads.take(), pairs: 0, last: false };
                start = self.port.issue_on(beat, arrival, 1, state, next);
                is_idle = false;
            }
        }
        if is_idle {
            self.port.work(start, 1);
        }
        start
    }

    fn done(&self) -> Cycle {
        self.port.done()
    }
}
