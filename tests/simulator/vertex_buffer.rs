//! The circular buffer of vertex results: room for as many splats as it has bytes, and what waits for it.

use quadrille::gpu::draw::Draw;
use quadrille::gpu::result::SimulationResult;
use quadrille::gpu::variant::Variant;
use quadrille::gpu::wiring::Simulator;
use quadrille::gpu::zrop::framebuffer::Tests;

use crate::support::emulated::config;

/// A square alone in the last of 4x4 grids, and 4,000 squares of 4x4 pixels in the first.
fn draw() -> Draw {
    let first = std::iter::once([250, 250, 4, 4]);
    let others = (0..4_000).map(|n| [n % 15 * 4, n / 15 % 15 * 4, 4, 4]);
    let places: Vec<_> = first.chain(others).collect();
    Draw::rectangles(256, 256, &places, [1.0, 0.5, 0.25], 0.25)
}

fn run(assignments: &[&str], variant: Variant) -> SimulationResult {
    let draw = draw();
    let simulator = Simulator::new(&config(assignments), variant).unwrap();
    let result = simulator.run(&draw, draw.shader(), &Tests::default());
    assert_eq!(result.discrepancies(), Vec::<String>::new());
    result
}

const UNBOUNDED: &str = "vertex.buffer_is_bounded=false";
const NO_SPAN: &str = "tgc.max_span=4294967295";

/// Without a bound, the first splat waits in its grid bin to the end, and a circular buffer would hold all splats.
/// A bin whose oldest primitive is 100 splats behind is flushed.
#[test]
fn a_bin_does_not_keep_its_splats_for_long() {
    let kept = run(&[UNBOUNDED, NO_SPAN], Variant::TGC);
    assert_eq!((kept.tgc.span, kept.vertex_buffer.span_splats), (0, 4_001));
    let flushed = run(&[UNBOUNDED, "tgc.max_span=100"], Variant::TGC);
    assert_eq!(flushed.tgc.span, 1);
    let (live, span) = (flushed.vertex_buffer.live_splats, flushed.vertex_buffer.span_splats);
    assert!(span < 2_500 && live <= span, "{live} {span}");
    assert_eq!(flushed.frame().pixels(), kept.frame().pixels());
}

/// Without tile-grid coalescing, tile bins keep their splats: the first square waits for quads of its tile until the
/// timeout. With `tc.max_span` its bin is flushed when the newest splat is more than 100 behind, and vertex shading no
/// longer waits for room.
#[test]
fn a_tile_bin_does_not_keep_its_splats_for_long() {
    let no_timeout = "tc.timeout_cycles=1000000000";
    for variant in [Variant::BASELINE, Variant::HET] {
        let kept = run(&[UNBOUNDED, no_timeout], variant);
        assert_eq!((kept.tc.span, kept.vertex_buffer.span_splats), (0, 4_001), "{variant}");
        let flushed = run(&[UNBOUNDED, no_timeout, "tc.max_span=100"], variant);
        assert!(flushed.tc.span >= 1 && flushed.vertex_buffer.span_splats < 2_500, "{variant}");
        let room = "vertex.buffer_bytes=160000";
        let waits = |result: &SimulationResult| {
            let reasons = result.units[0].idle.iter();
            let mut full = reasons.filter(|(reason, _)| reason == "full vertex_buffer");
            full.next().map_or(0, |(_, cycles)| *cycles)
        };
        let [kept, flushed] =
            ["tc.max_span=4294967295", "tc.max_span=100"].map(|span| run(&[room, span], variant));
        assert!(waits(&flushed) < waits(&kept), "{variant} {} {}", waits(&flushed), waits(&kept));
        assert_eq!(flushed.frame().pixels(), kept.frame().pixels(), "{variant}");
    }
}

/// Room for 100 splats: no more are in the buffer, vertex shading waits for it, and the picture is the same. The
/// first splat leaves its grid bin when vertex shading needs its entry, whatever the span.
#[test]
fn vertex_warps_wait_for_room() {
    let bounded = "vertex.buffer_bytes=16000";
    for variant in [Variant::BASELINE, Variant::TGC, Variant::HET_QM] {
        let free = run(&[UNBOUNDED, NO_SPAN], variant);
        let tight = run(&[bounded, NO_SPAN], variant);
        let peaks = tight.vertex_buffer;
        assert!(peaks.span_splats <= 100 && peaks.span_bytes <= 16_000, "{variant}");
        assert!(tight.cycles > free.cycles, "{variant}");
        assert_eq!(tight.tgc.span, u64::from(variant.tgc()), "{variant}");
        let full = tight.units[0].idle.iter().find(|(reason, _)| reason == "full vertex_buffer");
        assert!(full.is_some_and(|(_, cycles)| *cycles > 0), "{variant}");
        if !variant.qru() {
            assert_eq!(tight.frame().pixels(), free.frame().pixels(), "{variant}");
        }
    }
}

/// A buffer of no bytes still takes a warp at a time, on one GPC and on several.
#[test]
fn a_warp_alone_has_room() {
    for gpcs in ["gpu.gpcs=1", "gpu.gpcs=3"] {
        let result = run(&[gpcs, "vertex.buffer_bytes=0"], Variant::HET_QM);
        assert!(result.vertex_buffer.span_splats <= 8, "{gpcs}");
    }
}
