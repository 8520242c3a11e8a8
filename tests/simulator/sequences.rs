//! Frames of a sequence: what the L2 holds from frame to frame.

use quadrille::gpu::config::Config;
use quadrille::gpu::draw::Draw;
use quadrille::gpu::result::SimulationResult;
use quadrille::gpu::variant::Variant;
use quadrille::gpu::wiring::Simulator;
use quadrille::gpu::zrop::framebuffer::Tests;

use crate::support::emulated::config;

/// Splats of the draw. Each is 48 bytes of vertices.
const SPLATS: usize = 2_000;

fn draw(side: u32) -> Draw {
    let rectangles = vec![[0, 0, 16, 16]; SPLATS];
    Draw::rectangles(side, side, &rectangles, [1.0, 0.5, 0.25], 0.01)
}

fn run(simulator: &Simulator, draw: &Draw) -> SimulationResult {
    let result = simulator.run(draw, draw.shader(), &Tests::default());
    let nothing: [String; 0] = [];
    assert_eq!(result.discrepancies(), nothing);
    result
}

/// A frame, and the same frame again.
fn pair(config: &Config, variant: Variant) -> [SimulationResult; 2] {
    let draw = draw(64);
    let simulator = || Simulator::new(config, variant).unwrap();
    let first = run(&simulator().in_sequence(None), &draw);
    let second = run(&simulator().in_sequence(Some(&first)), &draw);
    let cold = run(&simulator(), &draw);
    // The first frame reads what a frame alone reads.
    assert_eq!(first.traffic.vertex, cold.traffic.vertex);
    assert_eq!(cold.traffic.vertex.dram_read_bytes, SPLATS as u64 * 48);
    assert_eq!(first.frame(), second.frame());
    assert_eq!(first.frame(), cold.frame());
    assert_eq!(first.fragments, second.fragments);
    [first, second]
}

/// 96,000 bytes of vertices stay in an L2 of 4 MB, and nothing of them is left in one of 64 KB, half of which holds the
/// results of vertex shading, since they pass it in turn.
#[test]
fn a_warm_frame_reads_what_the_l2_has_lost() {
    for variant in [Variant::BASELINE, Variant::QM] {
        let [first, second] = pair(&config(&[]), variant);
        assert_eq!(second.dram_bytes, 0);
        assert!(second.cycles < first.cycles);
        let [first, second] = pair(&config(&["l2.bytes=65536"]), variant);
        assert_eq!(first.traffic.vertex, second.traffic.vertex);
    }
}

/// Early termination begins each frame with cleared stencil values, so the second frame terminates as many pixels as the
/// first.
#[test]
fn stencil_values_are_cleared_between_frames() {
    let draw = {
        let rectangles = vec![[0, 0, 32, 32]; SPLATS];
        Draw::rectangles(64, 64, &rectangles, [1.0; 3], 0.5)
    };
    let config = config(&[]);
    let simulator = || Simulator::new(&config, Variant::HET).unwrap();
    let first = run(&simulator().in_sequence(None), &draw);
    let second = run(&simulator().in_sequence(Some(&first)), &draw);
    assert_eq!((first.terminations, second.terminations), (1024, 1024));
    assert_eq!(second.traffic.depth.dram_read_bytes, 0);
}

/// A picture of another size has its colours and vertices in other lines: it begins cold.
#[test]
fn a_frame_of_another_size_finds_nothing() {
    let config = config(&[]);
    let simulator = || Simulator::new(&config, Variant::BASELINE).unwrap();
    let first = run(&simulator().in_sequence(None), &draw(64));
    let second = run(&simulator().in_sequence(Some(&first)), &draw(128));
    assert_eq!(second.dram_bytes, first.dram_bytes);
}
