//! Every path costs time: a port, a latency or a queue that is made slow shows in the cycles.
use quadrille::Simulation;
use quadrille::gpu::config::Config;
use quadrille::gpu::draw::{Draw, FlatTriangle};
use quadrille::gpu::raster::coarse::CoarseCounters;
use quadrille::gpu::result::SimulationResult;
use quadrille::gpu::variant::Variant;
use quadrille::gpu::warp::schedule::{Schedule, WarpProgram};
use quadrille::gpu::wiring::Simulator;
use quadrille::gpu::zrop::framebuffer::Tests;
use quadrille::gpu::zrop::termination::Updates;
use quadrille::gpu::zrop::unit::Zrop;
use quadrille::machine::packets::{Beat, Quad};
use quadrille::machine::rate::Rate;
use quadrille::machine::stage::Stage;
use quadrille::machine::timing::Cycle;
use quadrille::raster::geometry::Vertex;
use quadrille::{Recipe, Synthetic, simulate};

use crate::support::gpu::{Collector, machine, numbered_draw};

fn configured(assignments: &[&str]) -> Config {
    let with = |config: Config, assignment: &&str| config.with(assignment).unwrap();
    assignments.iter().fold(Config::default(), with)
}

fn run(draw: &Draw, assignments: &[&str], variant: Variant) -> SimulationResult {
    let simulator = Simulator::new(&configured(assignments), variant).unwrap();
    let result = simulator.run(draw, draw.shader(), &Tests::default());
    assert_eq!(result.discrepancies(), Vec::<String>::new());
    result
}

/// Overlapping rectangles.
fn layers(count: u32) -> Draw {
    let at = |n| [n * 37 % 90, n * 53 % 90, 5 + n % 23, 3 + n % 29];
    let rectangles: Vec<_> = (0..count).map(at).collect();
    Draw::rectangles(128, 128, &rectangles, [1.0; 3], 0.3)
}

/// With one quad per cycle, no variant shades more quads than it takes cycles.
#[test]
fn all_quads_pass_the_port_of_prop_to_the_cores() {
    let draw = layers(200);
    for variant in Variant::ALL {
        let result = run(&draw, &["prop.quads_out_per_cycle=1"], variant);
        assert!(result.cycles >= result.quads.shaded, "{variant}");
        assert!(result.quads.shaded > 2000, "{variant}");
        let names: Vec<_> = result.units.iter().map(|unit| unit.name).collect();
        assert_eq!(names.contains(&"qru"), variant.qru(), "{variant}");
        assert!(names.contains(&"pack") && names.contains(&"prop"));
        let unit = |name| result.units.iter().find(|u| u.name == name).unwrap();
        assert_eq!(unit("pack").moved, result.quads.shaded);
        assert_eq!(unit("prop").moved, result.quads.rasterized);
    }
}

/// Needles along the diagonal of 64 by 64 screen tiles: the walk looks at all of them and finds
/// coverage in some hundred. One screen tile per cycle, so a needle takes 4,096 cycles.
#[test]
fn needles_pay_for_empty_tiles() {
    let vertex = |x: i32, y: i32| Vertex { x: x * 256, y: y * 256 };
    let needle = |n: i32| FlatTriangle {
        corners: [vertex(n, 0), vertex(n + 2, 0), vertex(1023, 1023)],
        colour: [1.0; 3],
        alpha: 0.5,
        depth: 0.0,
    };
    let needles: Vec<_> = (0..10).map(needle).collect();
    let draw = Draw::triangles(1024, 1024, &needles);
    let slow = run(&draw, &["coarse.screen_tiles_tested_per_cycle=1"], Variant::BASELINE);
    let coarse: CoarseCounters = slow.statistics.of();
    assert_eq!(coarse.screen_tiles, 10 * 64 * 64);
    assert!(coarse.screen_tiles_empty > 10 * 63 * 60);
    assert!(slow.cycles >= coarse.screen_tiles);
    let fast = run(&draw, &["coarse.screen_tiles_tested_per_cycle=32"], Variant::BASELINE);
    assert!(fast.cycles * 4 < slow.cycles, "{} {}", fast.cycles, slow.cycles);
}

/// 2,000 blends of the same four pixels, 1,024 cycles each, one after the other.
#[test]
fn blends_of_one_pixel_wait_for_each_other() {
    let draw = Draw::rectangles(16, 16, &[[4, 4, 2, 2]; 2000], [1.0; 3], 0.01);
    let result = run(&draw, &["crop.blend_cycles=1024"], Variant::BASELINE);
    assert!(result.cycles >= 2000 * 1024, "{}", result.cycles);
    assert_eq!(result.limit().as_deref(), Some("crop"));
}

/// One warp in ten cycles from the cores to CROP.
#[test]
fn shaded_warps_pass_a_port() {
    let draw = layers(200);
    let result = run(&draw, &["cores.warps_out_per_cycle=1/10"], Variant::BASELINE);
    // All fragments survive, so all warps have results.
    assert!(result.cycles >= 10 * (result.warps - 1));
    assert!(result.warps > 300);
}

/// Two warps on one scheduler, of 20 instructions of two cycles each: the second issues its first
/// instruction in cycle 40, and its chain of 150 cycles counts from there.
#[test]
fn a_chain_counts_from_its_first_instruction() {
    let mut schedule = Schedule::new(1, 2, 8, Rate::ONE);
    let program = WarpProgram { instructions: 20, latency: 150 };
    assert_eq!(schedule.run(0, program, 0), 150);
    assert_eq!(schedule.run(0, program, 0), 40 + 150);
    // A vertex warp before it is work of the scheduler.
    assert_eq!(schedule.run(0, program, 32), 80 + 32 + 150);
    assert_eq!(schedule.activity[0].busy, 3 * 40 + 32);
    assert_eq!(schedule.activity[0].idle.iter().sum::<u64>(), 0);
}

fn quad(position: u8) -> Quad {
    Quad { primitive: 0, position, mask: 15 }
}

/// Sends eight quads of screen tile 2 to ZROP in cycle 100 with an update of quad `updated` that arrives
/// in `due`; returns the mask that is left of that quad, and the cycle in which the beat is offered.
fn beat_with_update(assignments: &[&str], updated: u8, due: Cycle) -> (u8, Cycle) {
    let config = configured(assignments);
    let draw = numbered_draw(128, 256);
    let mut machine = machine(&draw, &config, &Tests::default(), true);
    let mut unit = Zrop::new(&config.zrop, true, 0, 0..128);
    machine.updates[0] = Updates::new(config.zrop.update_queue, config.zrop.update_cycles);
    machine.updates[0].send(64 * 2 + usize::from(updated), 0b0001, due, 0);
    let beat = Beat { tile: 2, quads: (0..8).map(quad).collect(), pairs: 0, last: true };
    let mut sink = Collector::new(0);
    unit.accept(beat, 100, &mut machine, &mut sink);
    let (beat, at, _) = &sink.items[0];
    let tested = beat.quads.iter().find(|quad| quad.position == updated);
    (tested.map_or(0, |quad| quad.mask), *at)
}

/// With one quad per cycle, quad n is tested in cycle 100 + n: an update that arrives in cycle 104 comes
/// too late for quad 3, and takes the port from quad 4, which sees it in the next cycle. The last quad is
/// tested in cycle 108, and the beat offered a latency of 2 later.
#[test]
fn quads_of_a_beat_are_tested_in_the_cycle_of_their_turn() {
    let slow = ["zrop.quads_per_cycle=1"];
    assert_eq!(beat_with_update(&slow, 3, 104), (0b1111, 110));
    assert_eq!(beat_with_update(&slow, 4, 104), (0b1110, 110));
    assert_eq!(beat_with_update(&slow, 7, 104), (0b1110, 110));
    // Eight quads per cycle: all in cycle 100.
    assert_eq!(beat_with_update(&[], 7, 101), (0b1111, 102));
    assert_eq!(beat_with_update(&[], 7, 100), (0b1110, 103));
}

/// Four updates of a quad through a queue of two, each of which takes ten cycles: the third has a place when
/// the first is over, and so on.
#[test]
fn updates_wait_for_a_place_in_their_queue() {
    let mut updates = Updates::new(2, 10);
    assert_eq!(updates.send(7, 0b0011, 100, 8), 100);
    // Performed from 108 and from 118; over in 118 and 128.
    assert_eq!(updates.send(8, 0b0011, 101, 8), 128);
    // The third is over in 138 and the fourth in 148.
    assert_eq!(updates.send(9, 0b0011, 129, 8), 148);
    let due: Vec<_> = std::iter::from_fn(|| updates.remove()).map(|u| u.due).collect();
    assert_eq!(due, [108, 108, 126, 136, 146, 156]);
}

/// A draw whose last blend terminates its pixels lasts until the last of the updates is over.
#[test]
fn updates_belong_to_the_draw() {
    let draw = Draw::rectangles(16, 16, &[[0, 0, 16, 16]; 3], [1.0; 3], 0.9);
    let short = run(&draw, &[], Variant::HET);
    let long = run(&draw, &["zrop.update_cycles=50"], Variant::HET);
    assert_eq!((short.terminations, short.updates), (256, 256));
    assert_eq!(long.updates, 256);
    assert!(long.cycles >= 256 * 50);
}

/// In f32 no fragment is decided by the reference renderer's arithmetic, and hardly any outcome changes.
#[test]
fn the_oracle_of_the_alpha_cut_is_counted_and_can_be_left_out() {
    let island = Synthetic::new(Recipe::Object, 1, 3000, 0).unwrap();
    let camera = island.cameras()[0].resized(200, 150).unwrap();
    let results = ["exact", "f32"].map(|rule| {
        let config = configured(&[&format!("cores.near_cut={rule}")]);
        let simulation = Simulation::new(config, [Variant::BASELINE]);
        let mut results = simulate(&island.splats(), &camera, &simulation).unwrap();
        results.remove(0).into_pipeline().unwrap()
    });
    let [exact, f32] = &results;
    assert!(exact.near_cut_fragments > 0);
    assert_eq!(f32.near_cut_fragments, 0);
    let changed = exact.fragments.pruned.abs_diff(f32.fragments.pruned);
    assert!(changed <= exact.near_cut_fragments);
}

/// Six pixels in two quads, of which the second has two: five layers have five quads of four live fragments and five of
/// two. With early termination and opaque layers, a rectangle of eight pixels that comes long after them finds one quad
/// terminated, and of the other one the two pixels that no layer covers alive.
#[test]
fn quads_are_counted_by_their_live_fragments() {
    let layers = [[0, 0, 3, 2]; 5];
    let open = Draw::rectangles(64, 64, &layers, [1.0; 3], 0.25);
    let live = run(&open, &[], Variant::BASELINE).quads.live;
    assert_eq!(live, [0, 0, 5, 0, 5]);
    let elsewhere = (0..3_000).map(|n| [32 + n % 16 * 2, n / 16 % 32 * 2, 2, 2]);
    let before: Vec<_> = layers.into_iter().chain(elsewhere).collect();
    let counts = |places: &[[u32; 4]]| {
        let opaque = Draw::rectangles(64, 64, places, [1.0; 3], 0.99);
        let result = run(&opaque, &[], Variant::HET);
        let mut units = result.statistics.units();
        let (_, zrop) = units.find(|(unit, _)| *unit == "zrop").unwrap();
        let finished = zrop.iter().find(|count| count.name == "finished").unwrap();
        (result.quads.live, finished.value)
    };
    let (mut live, finished) = counts(&before);
    live[0] += 1;
    live[2] += 1;
    let with_last = [&before[..], &[[0, 0, 4, 2]]].concat();
    assert_eq!(counts(&with_last), (live, finished + 1));
}
