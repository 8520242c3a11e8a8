//! Packing of quads into warps behind PROP's port to the shader cores (VR-Pipe, section III-B).
//!
//! Input: beats of quads, flush by flush. Output: warps of one screen tile in order. Quads pass PROP's port at its rate and
//! fill a warp; a warp leaves when it is full and at the end of a flush. While a full warp is not accepted, no quad passes.

use quadrille_machine::{
    Beat, Cycle, PackSpec, Rate, Sink, Stage, Unit, Visitor, Warp, WarpFiller,
};

/// Warp packing unit of the splat pipeline.
#[derive(Debug)]
pub struct WarpPacking {
    filler: WarpFiller,
}

impl WarpPacking {
    /// Creates an idle unit behind a port of `quads_per_cycle`.
    pub fn new(spec: &PackSpec, quads_per_cycle: Rate) -> Self {
        Self { filler: WarpFiller::new(spec, quads_per_cycle) }
    }
}

impl Unit for WarpPacking {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.filler.visit(visitor);
    }
}

impl<M> Stage<M> for WarpPacking {
    type In = Beat;
    type Out = Warp;

    fn accept(
        &mut self,
        beat: Beat,
        arrival: Cycle,
        state: &mut M,
        next: &mut impl Sink<Warp, M>,
    ) -> Cycle {
        let filler = &mut self.filler;
        let mut taken = arrival;
        let mut first = 0;
        while first < beat.quads.len() {
            let offset = filler.len();
            let (count, at) = filler.pass(&beat.quads[first..], arrival);
            // Quad reordering emits pairs at even offsets of beats that start at even offsets of warps.
            filler.mark_pairs(beat.pairs >> (first / 2) << (offset / 2));
            first += count;
            taken = at;
            if filler.is_full() {
                filler.emit(beat.tile, at, state, next);
            }
        }
        if beat.last {
            if !filler.is_empty() {
                filler.emit(beat.tile, taken, state, next);
            }
            filler.begin_flush();
        }
        taken
    }

    fn done(&self) -> Cycle {
        self.filler.done()
    }
}
