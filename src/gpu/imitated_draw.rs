//! Draws that imitate VR-Pipe's additions on a GPU without them (VR-Pipe, section VI-D).
//!
//! Early termination: a first draw counts the fragments of each pixel up to the one that terminates it, and leaves the counts
//! in the stencil buffer. The stencil test of the timed draw decrements the value of each fragment's pixel and drops
//! fragments at zero, ahead of their shading. Values have eight bits: of more than 255 fragments in a pixel, the timed draw
//! drops the rest.
//!
//! Quad merging: the fragment shader merges neighbouring quads of a warp and discards one of each pair, in the share in
//! which simulated quad merging removes quads.

use super::crop::blend::{at_least, blend_behind};
use super::draw::Draw;
use super::draw_state::DrawState;
use super::imitation::{Imitation, ImitationOutcome};
use super::result::SimulationResult;
use super::variant::Variant;
use super::warp::fragment::FragmentShader;
use super::warp::imitated_merging::MergeShare;
use super::wiring::Simulator;
use super::zrop::framebuffer::Tests;
use quadrille_base::math::narrow;
use quadrille_base::raster::tiles::quad_index;
use quadrille_base::shading::{CompareOp, StencilOperation, StencilTest};
use quadrille_machine::{
    Beat, ColourQuad, Cycle, Retired, Sink, Stage, Unit, Visitor, WARP_QUADS, chain, statistics,
};

/// Simulates the draws of an imitation on the machine of `simulator`, which simulates the conventional pipeline. Returns
/// the result of the timed draw.
pub fn run(
    simulator: &Simulator,
    imitation: Imitation,
    draw: &Draw,
    shader: FragmentShader<'_>,
) -> SimulationResult {
    let variant = imitation.variant();
    let mut timed = simulator.clone();
    let mut tests = Tests::default();
    let mut outcome = ImitationOutcome::default();
    if variant.het() {
        let test = StencilTest {
            compare: CompareOp::NotEqual,
            pass: StencilOperation::DecrementClamp,
            ..StencilTest::default()
        };
        let (counts, uncounted) =
            count_fragments(&simulator.beside(Variant::BASELINE), draw, shader);
        tests.stencil = Some((test, counts));
        outcome.fragments_uncounted = uncounted;
        timed = timed.with_filled_tests();
    }
    if variant.qru() {
        let merging = simulator.beside(variant).run(draw, shader, &Tests::default());
        let share = MergeShare::of(&merging.quads);
        outcome.merge_share = share.ratio();
        timed = timed.merging_in_shader(share);
    }
    let mut result = timed.run(draw, shader, &tests);
    result.imitation = Some(outcome);
    result
}

/// Draws without warps. Returns the stencil values of the timed draw, row by row, and the number of fragments ahead of
/// termination that they do not count.
fn count_fragments(
    simulator: &Simulator,
    draw: &Draw,
    shader: FragmentShader<'_>,
) -> (Vec<u8>, u64) {
    let pixels = draw.width as usize * draw.height as usize;
    let tests = Tests { stencil: Some((StencilTest::default(), vec![0; pixels])), depth: None };
    let threshold = narrow(simulator.config().zrop.threshold);
    let result = simulator.run_with(draw, shader, &tests, |gpc| {
        let count = FragmentCount { threshold, counters: CountedFragments::default() };
        gpc.raster(gpc.tests(gpc.flush_policy(), chain! { 1 => count, Retired::default() }))
    });
    let uncounted = result.statistics.of::<CountedFragments>().uncounted;
    (result.framebuffer.stencil(), uncounted)
}

statistics! {
    /// Fragments ahead of the termination of their pixels.
    struct CountedFragments {
        /// Fragments in pixels whose stencil value is at its maximum.
        uncounted: u64,
    }
}

/// Stage that blends quads and counts fragments in the stencil values of pixels below the termination threshold.
#[derive(Debug)]
struct FragmentCount {
    threshold: f32,
    counters: CountedFragments,
}

impl Unit for FragmentCount {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.statistics("fragment_count", &self.counters);
    }
}

impl<'m> Stage<DrawState<'m>> for FragmentCount {
    type In = Beat;
    type Out = ();

    fn accept(
        &mut self,
        beat: Beat,
        arrival: Cycle,
        state: &mut DrawState<'m>,
        _next: &mut impl Sink<(), DrawState<'m>>,
    ) -> Cycle {
        let framebuffer = &mut state.framebuffer;
        let across = framebuffer.layout.tiles_across;
        let tile = [beat.tile % across, beat.tile / across];
        let mut shaded = [ColourQuad::default(); WARP_QUADS];
        state.shader.shade_into::<false>(tile, &beat.quads, &mut shaded);
        for (quad, colour) in beat.quads.iter().zip(&shaded) {
            let at = quad_index(beat.tile, quad.position);
            let stored = &mut framebuffer.colour[at];
            let live = quad.mask & !at_least(state.level, stored, self.threshold);
            blend_behind(state.level, framebuffer.format, stored, &colour.kept(live).colour);
            self.counters.uncounted += framebuffer.count_in_stencil(at, live);
        }
        arrival
    }
}
