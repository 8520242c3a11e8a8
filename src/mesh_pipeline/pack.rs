//! Packing of quads into warps for the shader (VR-Pipe, section III-B: the port from PROP to the shader cores).
//!
//! Input: quads at any position. Output: warps of up to 8 quads, in order. Rate: quads per cycle. A warp leaves when it is
//! full, when a quad of another draw arrives, and at the end (assumption: draws differ in state, and there is no time-out).

use super::draw_state::MeshDrawState;
use quadrille_base::raster::tiles::QUADS_PER_TILE;
use quadrille_machine::{
    Cycle, PackSpec, Quad, Rate, Sink, Stage, Unit, Visitor, Warp, WarpFiller,
};

/// Packing unit: groups the quads of a draw into warps.
#[derive(Debug)]
pub struct Pack {
    filler: WarpFiller,
    draw: u32,
}

impl Pack {
    /// Creates an empty unit behind a port of `quads_per_cycle`.
    pub fn new(spec: &PackSpec, quads_per_cycle: Rate) -> Self {
        Self { filler: WarpFiller::new(spec, quads_per_cycle), draw: 0 }
    }

    fn emit(
        &mut self,
        at: Cycle,
        state: &mut MeshDrawState,
        next: &mut impl Sink<Warp, MeshDrawState>,
    ) {
        if let Some(first) = self.filler.first() {
            self.filler.emit(state.record_of(first).index / QUADS_PER_TILE, at, state, next);
        }
    }
}

impl Unit for Pack {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.filler.visit(visitor);
    }
}

impl Stage<MeshDrawState> for Pack {
    type In = Quad;
    type Out = Warp;

    fn accept(
        &mut self,
        quad: Quad,
        arrival: Cycle,
        state: &mut MeshDrawState,
        next: &mut impl Sink<Warp, MeshDrawState>,
    ) -> Cycle {
        let draw = state.record_of(&quad).draw;
        if draw != self.draw {
            self.emit(arrival, state, next);
            self.draw = draw;
        }
        let (_, at) = self.filler.pass(&[quad], arrival);
        if self.filler.is_full() {
            self.emit(at, state, next);
        }
        at
    }

    fn drain(
        &mut self,
        at: Cycle,
        state: &mut MeshDrawState,
        next: &mut impl Sink<Warp, MeshDrawState>,
    ) -> Cycle {
        self.emit(at, state, next);
        at.max(self.filler.done())
    }
}
