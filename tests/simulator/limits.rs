//! What limits a draw: the resource that is named, and the reasons for which units wait.

use quadrille::gpu::config::Config;
use quadrille::gpu::draw::Draw;
use quadrille::gpu::result::SimulationResult;
use quadrille::gpu::variant::Variant;
use quadrille::gpu::wiring::Simulator;
use quadrille::gpu::zrop::framebuffer::Tests;

/// A draw of `count` squares on top of each other.
fn squares(side: u32, count: usize) -> Draw {
    Draw::rectangles(side, side, &vec![[0, 0, side, side]; count], [1.0; 3], 0.25)
}

fn run(draw: &Draw, assignments: &[&str], variant: Variant) -> SimulationResult {
    let with = |config: Config, assignment: &&str| config.with(assignment).unwrap();
    let config = assignments.iter().fold(Config::default(), with);
    let simulator = Simulator::new(&config, variant).unwrap();
    let result = simulator.run(draw, draw.shader(), &Tests::default());
    assert_eq!(result.discrepancies(), Vec::<String>::new());
    result
}

/// Cycles in which a unit waits for its own data.
fn missed(result: &SimulationResult, name: &str) -> u64 {
    let unit = result.units.iter().find(|unit| unit.name == name).unwrap();
    let missed = unit.idle.iter().filter(|(reason, _)| reason == "miss");
    missed.map(|(_, cycles)| cycles).sum()
}

/// Two vertex warps of 8 splats, of which the second is dispatched a cycle behind the first and arrives after
/// the latencies of DRAM, the L2 and the shader, 579 cycles. Its requests are made when the first eight splats
/// have been blended, long after.
#[test]
fn the_second_vertex_warp_waits_for_its_own_data_alone() {
    let result = run(&squares(700, 16), &[], Variant::BASELINE);
    assert_eq!(result.vertex_warps, 2);
    // 16 squares of 350 quads a side, two quads per cycle.
    assert!(result.cycles > 16 * 350 * 350 / 2, "{}", result.cycles);
    assert!(
        missed(&result, "vertex") < 600,
        "{}",
        missed(&result, "vertex")
    );
}

/// 400 splats of 16,384 quads. More of them wait in front of primitive assembly than its queue holds, so that
/// vertex shading is blocked.
#[test]
fn vertex_shading_does_not_limit_few_large_splats() {
    let draw = squares(256, 400);
    for variant in [Variant::BASELINE, Variant::HET] {
        let result = run(&draw, &[], variant);
        assert!(missed(&result, "vertex") < 1_000, "{variant}");
        let critical = result.critical_unit().map(|unit| unit.name);
        assert_ne!(critical, Some("vertex"), "{variant}");
    }
}
