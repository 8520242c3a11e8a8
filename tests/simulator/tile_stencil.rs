//! The stencil test of whole screen tiles: the same pictures and counts of fragments, in less time.

use quadrille::StencilTest;
use quadrille::gpu::draw::Draw;
use quadrille::gpu::result::SimulationResult;
use quadrille::gpu::variant::Variant;
use quadrille::gpu::wiring::Simulator;
use quadrille::gpu::zrop::framebuffer::Tests;

use quadrille_base::shading::CompareOp;

use crate::support::emulated::config;

const TILES: &str = "zrop.tile_stencil=true";

fn run(assignments: &[&str], variant: Variant, tests: &Tests, draw: &Draw) -> SimulationResult {
    let simulator = Simulator::new(&config(assignments), variant).unwrap();
    let result = simulator.run(draw, draw.shader(), tests);
    assert_eq!(result.discrepancies(), Vec::<String>::new(), "{assignments:?} {variant}");
    result
}

/// Layers over 6x5 screen tiles whose pixels end in the eighth layer, and layers that leave the first column alive.
#[test]
fn tiles_of_terminated_pixels_are_dropped() {
    let layers: Vec<_> = (0..300).map(|n| [n % 2 * 16, 0, 96 - n % 2 * 16, 72]).collect();
    let draw = Draw::rectangles(96, 72, &layers, [1.0, 0.5, 0.25], 0.5);
    let tests = Tests::default();
    for variant in [Variant::HET, Variant::HET_QM] {
        // Ideal feedback: no late fragment is blended, so the picture does not depend on the time of the drop.
        let ideal = "zrop.feedback=ideal";
        let quads = run(&[ideal], variant, &tests, &draw);
        let tiles = run(&[ideal, TILES], variant, &tests, &draw);
        assert_eq!(quads.raster.tiles_dropped, 0, "{variant}");
        assert!(tiles.raster.tiles_dropped > 1_000, "{variant} {}", tiles.raster.tiles_dropped);
        assert_eq!(tiles.fragments.rasterized, quads.fragments.rasterized, "{variant}");
        assert_eq!(tiles.quads.rasterized, quads.quads.rasterized, "{variant}");
        assert!(2 * tiles.cycles < quads.cycles, "{variant} {} {}", tiles.cycles, quads.cycles);
        // Which quads are merged depends on time.
        if !variant.qru() {
            assert_eq!(tiles.fragments.blended, quads.fragments.blended);
            assert_eq!(tiles.frame().pixels(), quads.frame().pixels());
        }
        // Timed feedback: only late fragments may differ.
        let timed = run(&[TILES], variant, &tests, &draw);
        assert!(timed.raster.tiles_dropped > 1_000, "{variant}");
        assert_eq!(timed.fragments.rasterized, quads.fragments.rasterized, "{variant}");
    }
    // Without early termination there is nothing to drop.
    let [without, with] = [&[][..], &[TILES]].map(|set| run(set, Variant::QM, &tests, &draw));
    assert_eq!((with.cycles, with.raster.tiles_dropped), (without.cycles, 0));
}

/// A stencil that fails in the left two of three screen tiles and in all but one pixel of the right one. Of 10 rectangles,
/// 10 times 2 screen tiles are dropped with 4 raster tiles each; the quads of the third are tested.
#[test]
fn tiles_that_fail_the_stencil_test_are_dropped() {
    let draw = Draw::rectangles(48, 16, &[[0, 0, 48, 16]; 10], [1.0, 0.5, 0.25], 0.25);
    let test = StencilTest { compare: CompareOp::Equal, reference: 1, ..StencilTest::default() };
    let values = (0..48 * 16).map(|pixel| u8::from(pixel == 40)).collect();
    let tests = Tests { stencil: Some((test, values)), depth: None };
    let quads = run(&[], Variant::BASELINE, &tests, &draw);
    let tiles = run(&[TILES], Variant::BASELINE, &tests, &draw);
    assert_eq!((quads.raster.tiles_dropped, tiles.raster.tiles_dropped), (0, 80));
    assert_eq!((tiles.fragments, tiles.fragments.blended), (quads.fragments, 10));
    assert_eq!(tiles.frame().pixels(), quads.frame().pixels());
}
