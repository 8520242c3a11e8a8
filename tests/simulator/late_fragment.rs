//! A fragment that is tested one cycle before the termination bit of its pixel could be written, and
//! one that is tested a cycle later, worked by hand.

use quadrille::gpu::config::Config;
use quadrille::gpu::draw::Draw;
use quadrille::gpu::result::SimulationResult;
use quadrille::gpu::variant::Variant;
use quadrille::gpu::wiring::Simulator;
use quadrille::gpu::zrop::framebuffer::Tests;

/// Two splats on the four pixels of one quad, of alpha 0.99, the second `pause` cycles behind the
/// first, with early termination at 0.9. Memory plays no part, and each quad is a flush of its own.
fn two_splats(pause: u64) -> SimulationResult {
    let config = "
        vertex.bytes_per_splat = 0
        vertex.position_bytes = 0
        vertex.attribute_bytes = 0
        dram.latency_ns = 0
        l2.latency_ns = 0
        tc.bin_size = 1
        zrop.threshold = 0.9
    ";
    let config = Config::default().overlaid(config, "test").unwrap();
    let mut draw = Draw::rectangles(2, 2, &[[0, 0, 2, 2]; 2], [1.0; 3], 1.0);
    draw.bubble = Some((1, pause));
    let simulator = Simulator::new(&config, Variant::HET).unwrap();
    let result = simulator.run(&draw, draw.shader(), &Tests::default());
    assert_eq!(result.discrepancies(), Vec::<String>::new());
    result
}

/// The first splat: vertex shading is over in cycle 64, and the rectangle is out of primitive assembly
/// (4) in 68, of setup (10) in 78, of the coarse raster, Hi-Z and the fine raster (1 each) in 81. Its
/// quad is written to a bin in 81, which is full, and is out (1) in 82, out of PROP (4) in 86, and
/// tested in 86. It is out of ZROP (2) in 88, packed (1) in 89, launched (20) in 109, shaded (150) in
/// 259. The blend takes until 261, when all four pixels have reached the threshold, and the updates
/// arrive (8) in 269: one pixel per cycle, in 269 to 272, before any test.
///
/// The vertex port is free again in cycle 65, so the second splat comes out of vertex shading in
/// 65 + pause, and its quad can be tested 22 cycles later, like the quad of the first: in 87 + pause.
const FIRST_UPDATE: u64 = 269;
/// Pause with which the second quad reaches the test in the cycle of the first update.
const PAUSE: u64 = FIRST_UPDATE - 87;

/// Tested in 268, no bit is set yet. All four fragments of the second splat are shaded and blended:
/// the test is over in 270, and blending begins 171 cycles later, as 259 is after 88. It is done in 443.
#[test]
fn a_fragment_that_is_tested_a_cycle_earlier_is_late() {
    let result = two_splats(PAUSE - 1);
    assert_eq!(result.fragments.late, 4);
    assert_eq!(result.fragments.terminated, 0);
    assert_eq!(result.quads.live, [0, 0, 0, 0, 2]);
    assert_eq!((result.terminations, result.updates), (4, 4));
    let bits = [0, 1, 2, 3].map(|pixel| FIRST_UPDATE + pixel);
    assert_eq!(result.framebuffer.termination_cycles(), bits);
    assert_eq!(result.cycles, 443);
}

/// In 269 the updates go first, and the test follows in 273: all four fragments are killed. The end of
/// the flush leaves ZROP (2) in 275 and finds nothing to pack.
#[test]
fn a_fragment_that_is_tested_with_the_first_update_is_killed() {
    let result = two_splats(PAUSE);
    assert_eq!(result.fragments.late, 0);
    assert_eq!(result.fragments.terminated, 4);
    assert_eq!(result.quads.blended, 1);
    assert_eq!(result.quads.live, [1, 0, 0, 0, 1]);
    assert_eq!((result.terminations, result.updates), (4, 4));
    let bits = [0, 1, 2, 3].map(|pixel| FIRST_UPDATE + pixel);
    assert_eq!(result.framebuffer.termination_cycles(), bits);
    assert_eq!(result.cycles, 275);
}
