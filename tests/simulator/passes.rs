//! Rendering in several passes: its picture and time against the variants of the pipeline, and a stencil
//! update by hand.
use quadrille::gpu::config::Config;
use quadrille::gpu::draw::Draw;
use quadrille::gpu::machine::Machine;
use quadrille::gpu::method::Method;
use quadrille::gpu::outcome::Outcome;
use quadrille::gpu::passes::Pass;
use quadrille::gpu::result::SimulationResult;
use quadrille::gpu::variant::Variant;
use quadrille::gpu::view::PreparedView;
use quadrille::gpu::wiring::{Simulator, Watch};
use quadrille::gpu::zrop::framebuffer::Tests;
use quadrille::machine::maps::MapKind;
use quadrille::suite::rows::PipelineCounts;
use quadrille::{Camera, Splats};

use crate::support::emulated::{config, prepared, run};
use crate::support::scenes::{self, Random};
use crate::support::{shared, skipped};

/// A random scene of splats of all kinds, seen by its camera.
fn random_scene(seed: u64, size: [u32; 2], len: usize) -> (Splats, Camera) {
    let random = &mut Random::new(seed);
    let camera = scenes::camera(random, size[0], size[1]);
    (scenes::splats(random, &camera, len, 1), camera)
}

/// The result of a view in a number of passes, whose times and counts add up.
fn in_passes(view: &PreparedView<'_>, config: &Config, passes: u32) -> SimulationResult {
    let method = Method::MultiPass(passes);
    let machine = Machine::new(config, method, Watch::default()).unwrap();
    let Outcome::Pipeline(named, result) =
        machine.run(view, &quadrille::Task::NEVER).unwrap().outcome
    else {
        panic!("not a result of several passes");
    };
    assert_eq!(named, method);
    check(&result, config);
    *result
}

fn check(result: &SimulationResult, config: &Config) {
    assert_eq!(result.discrepancies(), Vec::<String>::new());
    let passes = &result.passes;
    let sum = |of: fn(&Pass) -> u64| passes.iter().map(of).sum::<u64>();
    let gaps = 2 * (passes.len() as u64 - 1) * config.passes.draw_gap_cycles;
    assert_eq!(sum(|p| p.draw_cycles + p.update_cycles) + gaps, result.cycles);
    let updates = &result.stencil_updates;
    assert_eq!(sum(|p| p.terminated_pixels), updates.terminated);
    assert_eq!(result.terminations, updates.terminated);
    let layout = result.framebuffer.layout;
    let pixels = u64::from(layout.width) * u64::from(layout.height);
    assert_eq!(updates.fragments, pixels * (passes.len() as u64 - 1));
    let stencil = result.framebuffer.stencil();
    let marked = stencil.iter().filter(|value| **value != 0).count() as u64;
    assert_eq!(marked, updates.terminated);
    assert_eq!(passes.last().map(|p| p.update_cycles), Some(0));
}

/// One pass is the baseline's draw, whatever a gap would cost: there is none before the first draw.
#[test]
fn one_pass_is_the_baseline() {
    for (seed, gpcs) in [(1, 1), (2, 2)] {
        let (splats, camera) = random_scene(seed, [150, 90], 300);
        let view = prepared(&splats, &camera);
        let config = config(&[&format!("gpu.gpcs={gpcs}"), "passes.draw_gap_cycles=1000000"]);
        let baseline = run(&view, &config, Variant::BASELINE);
        let one = in_passes(&view, &config, 1);
        assert!(one.framebuffer.colours() == baseline.framebuffer.colours());
        assert_eq!(one.cycles, baseline.cycles);
        assert_eq!(one.fragments, baseline.fragments);
        assert_eq!(one.traffic, baseline.traffic);
        let counters = |result| PipelineCounts::of(Variant::BASELINE.into(), result, &config);
        assert_eq!(counters(&one), counters(&baseline));
    }
}

/// A pass per splat terminates a pixel before the next splat, as early termination with ideal feedback does.
/// Fewer passes blend more, and no fewer fragments than the ideal; more passes than splats are as many as
/// there are splats.
#[test]
fn a_pass_per_splat_is_ideal_termination() {
    for (seed, gpcs) in [(3, 1), (4, 2)] {
        let (splats, camera) = random_scene(seed, [70, 50], 400);
        let view = prepared(&splats, &camera);
        let gpcs = format!("gpu.gpcs={gpcs}");
        let config = config(&[&gpcs, "zrop.feedback=ideal", "zrop.threshold=0.7"]);
        let ideal = run(&view, &config, Variant::HET);
        assert!(ideal.terminations > 16, "{}", ideal.terminations);
        let count = view.draw().len();
        for passes in [count, 65_536] {
            let each = in_passes(&view, &config, passes);
            assert_eq!(each.passes.len(), count as usize);
            assert!(each.framebuffer.colours() == ideal.framebuffer.colours());
            assert_eq!(each.fragments.blended, ideal.fragments.blended);
        }
        let mut blended = ideal.fragments.blended;
        for passes in [16, 4, 1] {
            let fewer = in_passes(&view, &config, passes);
            assert!(fewer.fragments.blended >= blended, "{passes}");
            blended = fewer.fragments.blended;
        }
    }
}

/// Nothing is terminated above an alpha of 0.99, which the threshold then exceeds: all pictures are the
/// baseline's, and passes cost their updates and gaps.
#[test]
fn without_terminations_passes_only_cost_time() {
    let (splats, camera) = random_scene(5, [150, 90], 300);
    let view = prepared(&splats, &camera);
    let config = config(&["zrop.threshold=1.0", "crop.format=rgba32f"]);
    let baseline = in_passes(&view, &config, 1);
    let eight = in_passes(&view, &config, 8);
    assert_eq!(eight.stencil_updates.terminated, 0);
    assert!(eight.framebuffer.colours() == baseline.framebuffer.colours());
    assert_eq!(eight.fragments, baseline.fragments);
    let updates: u64 = eight.passes.iter().map(|p| p.update_cycles).sum();
    assert!(eight.cycles > baseline.cycles + updates + 14 * 3060);
}

/// The pixels of each update are those whose alpha the passes before it brought to the threshold, and no
/// fragment is blended into them afterwards.
#[test]
fn terminated_pixels_take_no_fragments() {
    // Each rectangle adds alpha 0.9: 0.9, 0.99, 0.999 behind three of them.
    let whole = [0, 0, 32, 32];
    let left = [0, 0, 16, 32];
    let rectangles = [whole, left, left, whole, whole, left];
    let draw = Draw::rectangles(32, 32, &rectangles, [1.0, 0.5, 0.25], 0.9);
    let simulator = Simulator::new(&Config::default(), Variant::BASELINE).unwrap();
    let watch = Watch { maps: true, ..Watch::default() };
    let simulator = simulator.in_passes(6).watching(watch);
    let result = simulator.run(&draw, draw.shader(), &Tests::default());
    check(&result, &Config::default());
    let terminated: Vec<_> = result.passes.iter().map(|p| p.terminated_pixels).collect();
    // The left half has taken three after the third pass, the right half after the fifth.
    assert_eq!(terminated, [0, 0, 512, 0, 512, 0]);
    let fragments = result.fragments;
    assert_eq!(fragments.blended, 3 * 1024);
    // The fourth and fifth rectangle find the left half terminated, the sixth covers it alone.
    assert_eq!(fragments.terminated, 3 * 512);
    let (maps, layout) = (result.maps.unwrap(), result.framebuffer.layout);
    let shaded = maps.pixels(MapKind::Shaded, layout);
    assert!(shaded.iter().all(|n| *n == 3));
}

/// The first of two passes over 64x64 pixels, and the update behind it.
fn update_of_64(assignments: &[&str]) -> SimulationResult {
    let config = config(assignments);
    let draw = Draw::rectangles(64, 64, &[[0, 0, 64, 64]; 2], [1.0; 3], 0.9);
    let simulator = Simulator::new(&config, Variant::BASELINE).unwrap();
    let simulator = simulator.in_passes(2);
    let result = simulator.run(&draw, draw.shader(), &Tests::default());
    check(&result, &config);
    result
}

/// 64x64 pixels are 32x32 quads, and the 32 on the diagonal belong to both triangles: 1056 quads. Tile bins
/// hold 128 quads and are flushed at the end of the draw: 12 screen tiles of 64 quads make 8 warps each, the 4
/// on the diagonal, with 8 quads twice, 9 each: 132 warps of 8 instructions. A quad in RGBA16F is a sector.
///
/// The warps leave PROP at four quads per cycle in 264 cycles, and at one per cycle in 1056, 792 later. A
/// chain that is 100 cycles longer ends 100 cycles later, as 64 schedulers never wait for each other. Where
/// every pixel is terminated the last warp's quads pass ZROP after it, in a cycle; its stencil values are in
/// the cache since the tests of the draw. The gap is not part of the update; it is made longer by 16 cycles, the
/// resolution of the bandwidth of memory.
#[test]
fn an_update_of_64_by_64_pixels_by_hand() {
    let none = update_of_64(&[]);
    let updates = &none.stencil_updates;
    assert_eq!((updates.quads, updates.fragments), (1056, 4096));
    assert_eq!((updates.warps, updates.instructions), (132, 132 * 8));
    assert_eq!(updates.sectors_read, 1056);
    assert_eq!((updates.discarded, updates.terminated), (4096, 0));
    let cycles = |assignments: &[&str]| update_of_64(assignments).passes[0].update_cycles;
    let whole = none.passes[0].update_cycles;
    assert_eq!(cycles(&["prop.quads_out_per_cycle=1"]), whole + 792);
    assert_eq!(cycles(&["passes.update_latency_cycles=132"]), whole + 100);
    assert_eq!(cycles(&["passes.draw_gap_cycles=3076"]), whole);
    let all = update_of_64(&["zrop.threshold=0.5"]);
    assert_eq!(all.passes[0].update_cycles, whole + 1);
    assert_eq!(all.passes[0].terminated_pixels, 4096);
    assert_eq!((all.stencil_updates.discarded, all.fragments.terminated), (0, 4096));
}

/// Never faster than hardware early termination, and never more fragments terminated, on one small view of
/// each of the four scenes of the paper's kind.
#[test]
fn hardware_termination_is_never_slower() {
    if skipped::is_slow() {
        return;
    }
    for name in ["truck", "statue", "robot", "showroom"] {
        let Some(splats) = shared::scene(name) else {
            continue;
        };
        let Some(cameras) = shared::cameras(&format!("scenes/{name}.cameras.json")) else {
            continue;
        };
        let camera = cameras[0].resized(123, 69).unwrap();
        let view = prepared(&splats, &camera);
        let config = config(&[]);
        let het = run(&view, &config, Variant::HET);
        for passes in [1, 2, 8, 32] {
            let found = in_passes(&view, &config, passes);
            assert!(found.cycles >= het.cycles, "{name} in {passes} passes");
            assert!(found.fragments.blended >= het.fragments.blended, "{name}");
        }
    }
}
