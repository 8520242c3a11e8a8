//! What limits a draw: the resource that is named, and the reasons for which units wait.

use quadrille::gpu::config::Config;
use quadrille::gpu::draw::Draw;
use quadrille::gpu::result::SimulationResult;
use quadrille::gpu::variant::Variant;
use quadrille::gpu::wiring::Simulator;
use quadrille::gpu::zrop::framebuffer::Tests;
use quadrille::gpu::zrop::unit::Zrop;
use quadrille::machine::packets::{Beat, Quad};
use quadrille::machine::stage::{Link, Sink};
use quadrille::machine::timing::StallReason;

use crate::support::emulated;
use crate::support::gpu::{Collector, machine, numbered_draw};
use crate::support::{shared, skipped};

/// A draw of `count` squares on top of each other.
fn squares(side: u32, count: usize) -> Draw {
    Draw::rectangles(side, side, &vec![[0, 0, side, side]; count], [1.0; 3], 0.25)
}

/// A draw of `count` squares of one quad.
fn quads(count: u32) -> Draw {
    let places: Vec<_> = (0..count).map(|n| [n * 7 % 32 * 2, n * 3 % 32 * 2, 2, 2]).collect();
    Draw::rectangles(64, 64, &places, [1.0; 3], 0.05)
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
    assert!(missed(&result, "vertex") < 600, "{}", missed(&result, "vertex"));
}

/// 400 splats of 16,384 quads. More of them wait in front of primitive assembly than its queue holds, so that
/// vertex shading is blocked.
#[test]
fn vertex_shading_does_not_limit_few_large_splats() {
    let draw = squares(256, 400);
    for variant in [Variant::BASELINE, Variant::HET] {
        let result = run(&draw, &[], variant);
        assert!(missed(&result, "vertex") < 1_000, "{variant}");
        let critical = result.critical_units();
        assert!(critical.iter().all(|unit| unit.name != "vertex"), "{variant}");
    }
}

/// One vertex warp and one fetch of positions at a time, so that the data of each warp are requested when the last
/// splat of the warp before has been taken, and arrive while the splats before it are still drawn. Once the queues up to
/// the raster are full, the wait for them delays nothing, however many splats follow.
#[test]
fn a_wait_counts_only_while_the_next_unit_has_room() {
    let one_by_one = ["vertex.warps=1", "vertex.fetch_queue=1"];
    let [few, many] = [100, 400].map(|count| {
        let result = run(&squares(256, count), &one_by_one, Variant::BASELINE);
        assert_eq!(result.vertex_warps, count.div_ceil(8) as u64);
        missed(&result, "vertex")
    });
    // 579 cycles each of the warps whose splats the queues take.
    assert!(few < 6 * 579, "{few}");
    assert_eq!(many, few);
}

/// 48 beats of a quad, whose stencil values come from DRAM: each is requested when the beat before has been tested,
/// and arrives about 500 cycles later. Behind a unit that takes a beat in 1,000 cycles, ZROP waits for room.
#[test]
fn zrop_waits_for_room_before_it_waits_for_data() {
    let config = emulated::config(&[
        "zrop.fast_clear=false",
        "zrop.wait_queue=1",
        "zrop.latency_cycles=64",
        "zrop.cache_bytes=128",
    ]);
    let waits = |every| {
        let draw = numbered_draw(256, 48);
        let mut state = machine(&draw, &config, &Tests::default(), true);
        let zrop = Zrop::new(&config.zrop, true, 0, 0..1024);
        let mut link = Link::new(2, zrop, Collector::new(every));
        let mut at = 0;
        for tile in 0..48 {
            let quads = [Quad { primitive: tile, position: 0, mask: 15 }];
            let beat = Beat { tile, quads: quads.into_iter().collect(), pairs: 0, last: true };
            at = link.offer(beat, at, &mut state);
        }
        let idle = link.stage.pipe.activity.idle;
        [StallReason::Blocked, StallReason::Miss].map(|reason| idle[reason as usize])
    };
    let [blocked, missed] = waits(0);
    assert!(blocked == 0 && missed > 47 * 500, "{blocked} {missed}");
    let [blocked, missed] = waits(1_000);
    assert!(blocked > 40 * 500 && missed < 600, "{blocked} {missed}");
}

/// The draw of a row of [`LIMITS`].
#[derive(Clone, Copy)]
enum Scene {
    /// 6,000 primitives of a quad each, all over the picture.
    Quads,
    /// 96 squares of 1,024 quads on top of each other.
    Layers,
    /// 24 squares of 16,384 quads on top of each other.
    Pictures,
}
use Scene::{Layers, Pictures, Quads};

impl Scene {
    fn draw(self) -> Draw {
        match self {
            Quads => quads(6_000),
            Layers => squares(64, 96),
            Pictures => squares(256, 24),
        }
    }
}

/// Resources that assignments make so scarce that they limit a draw, and their names.
const LIMITS: [(&[&str], Variant, Scene, &str); 40] = [
    (&["vertex.primitives_per_cycle=1/8"], Variant::BASELINE, Quads, "vertex"),
    (&["vertex.warps=1"], Variant::BASELINE, Quads, "vertex"),
    (&["vertex.buffer_bytes=1280"], Variant::BASELINE, Quads, "vertex_buffer"),
    (&["vertex.fetch_queue=1"], Variant::BASELINE, Quads, "vertex_fetch"),
    (&["vpo.primitives_per_cycle=1/8"], Variant::BASELINE, Quads, "vpo"),
    (
        &["gpu.gpcs=2", "crossbar.primitives_per_cycle=1/8", "vertex.buffer_is_bounded=false"],
        Variant::BASELINE,
        Quads,
        "crossbar",
    ),
    (&["tgc.primitives_in_per_cycle=1/8"], Variant::TGC, Quads, "tgc"),
    (&["tgc.primitives_out_per_cycle=1/8"], Variant::TGC, Quads, "tgc_out"),
    (&["tgc.fetch_queue=1"], Variant::TGC, Quads, "tgc_fetch"),
    (&["setup.primitives_per_cycle=1/8"], Variant::BASELINE, Quads, "setup"),
    (&["coarse.tiles_per_cycle=1/16"], Variant::BASELINE, Layers, "coarse"),
    (&["hi_z.tiles_per_cycle=1/16"], Variant::BASELINE, Layers, "hi_z"),
    (&["fine.tiles_per_cycle=1/16"], Variant::BASELINE, Layers, "fine"),
    (&["tc.tiles_in_per_cycle=1/16"], Variant::BASELINE, Layers, "tc"),
    (&["tc.quads_in_per_cycle=1/2"], Variant::BASELINE, Layers, "tc"),
    (&["tc.quads_out_per_cycle=1/2"], Variant::BASELINE, Layers, "tc_out"),
    (&["prop.quads_in_per_cycle=1/2"], Variant::BASELINE, Layers, "prop"),
    (&["prop.quads_out_per_cycle=1/2"], Variant::BASELINE, Layers, "pack"),
    (&["zrop.quads_per_cycle=1/2"], Variant::BASELINE, Layers, "zrop"),
    (&["zrop.quads_per_cycle=1/2"], Variant::HET, Layers, "zrop"),
    (&["zrop.update_cycles=64"], Variant::HET, Layers, "zrop"),
    (&["zrop.update_queue=1", "zrop.feedback_cycles=200"], Variant::HET, Layers, "zrop_updates"),
    (
        &["zrop.l2_bytes_per_cycle=1", "zrop.cache_bytes=512", "zrop.fast_clear=false"],
        Variant::HET,
        Pictures,
        "z_fill",
    ),
    (&["qru.quads_per_cycle=1/2"], Variant::QM, Layers, "qru"),
    (&["launch.warps_per_cycle=1/32"], Variant::BASELINE, Layers, "launch"),
    (&["cores.issue_cycles=64"], Variant::BASELINE, Layers, "cores"),
    (&["cores.fragment_instructions=2000"], Variant::BASELINE, Layers, "cores"),
    (&["cores.warps_per_core=1", "cores.cores=4"], Variant::BASELINE, Layers, "cores"),
    (&["cores.warps_out_per_cycle=1/64"], Variant::BASELINE, Layers, "cores"),
    (&["vertex.instructions=10000"], Variant::BASELINE, Quads, "cores"),
    (&["cores.l1_bytes_per_cycle=1"], Variant::BASELINE, Quads, "l1_fill"),
    (&["crop.quads_per_cycle=1/2"], Variant::BASELINE, Layers, "crop"),
    (&["crop.bytes_per_cycle=16"], Variant::BASELINE, Layers, "crop"),
    (&["crop.wait_queue=1", "crop.cache_bytes=512"], Variant::BASELINE, Pictures, "crop"),
    (&["crop.blend_cycles=512"], Variant::BASELINE, Layers, "crop"),
    (&["crop.l2_bytes_per_cycle=4"], Variant::BASELINE, Pictures, "crop_write"),
    (&["l2.slices=1", "l2.slice_bytes_per_cycle=8"], Variant::BASELINE, Pictures, "l2"),
    (&["vertex.attribute_bytes=4096", "l2.slices=4"], Variant::BASELINE, Quads, "l2"),
    (&["vertex.bytes_per_splat=4096"], Variant::BASELINE, Quads, "dram"),
    (&["dram.gb_per_s=1", "l2.bytes=4096"], Variant::BASELINE, Pictures, "dram"),
];

/// A resource that must limit a draw is named, whatever waits for it.
#[test]
fn the_resource_that_limits_is_named() {
    let mut wrong = Vec::new();
    for (assignments, variant, scene, name) in LIMITS {
        let result = run(&scene.draw(), assignments, variant);
        if result.limit().as_deref() != Some(name) {
            let demands: Vec<_> =
                (result.units.iter()).map(|unit| (unit.name, unit.demand())).collect();
            wrong.push(format!(
                "{variant} {assignments:?}: {:?} instead of {name}: {demands:.2?}",
                result.limit()
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Flushes of 64 quads without pairs take 16 cycles to scan, 8 to emit and 64/3 to blend. A single buffer is scanned and
/// emptied in turns, in 24 cycles, in a third of which the scan waits for the buffer.
#[test]
fn quad_reordering_with_one_buffer_limits_while_it_empties_it() {
    let places: Vec<_> = (0..800).map(|n| [n % 8 * 16, n % 40 / 8 * 16, 16, 16]).collect();
    let draw = Draw::rectangles(128, 80, &places, [1.0; 3], 0.05);
    let set = |buffers| [buffers, "prop.quads_out_per_cycle=8", "crop.bytes_per_cycle=96"];
    let limit = |buffers| run(&draw, &set(buffers), Variant::QRU).limit().unwrap();
    assert!(limit("qru.buffers=1").split(", ").any(|port| port == "qru"));
    assert_eq!(limit("qru.buffers=2"), "crop");
}

/// 40,000 primitives of a quad each, two per cycle from vertex shading. The units of the raster are at work for a
/// cycle with each of them, or with two of them together.
#[test]
fn raster_units_take_as_many_primitives_as_configured() {
    let draw = quads(40_000);
    let units = ["coarse", "hi_z", "fine"];
    let busy = |primitives: u32| {
        let front = ["vertex", "vpo", "setup"].iter().map(|unit| (*unit, 2));
        let raster = units.iter().map(|unit| (*unit, primitives));
        let mut assignments = vec!["vertex.warps=256".to_owned()];
        let rates = front.chain(raster);
        assignments.extend(rates.map(|(unit, n)| format!("{unit}.primitives_per_cycle={n}")));
        let assignments: Vec<_> = assignments.iter().map(String::as_str).collect();
        let result = run(&draw, &assignments, Variant::BASELINE);
        units.map(|name| result.units.iter().find(|unit| unit.name == name).unwrap().busy)
    };
    assert_eq!(busy(1), [40_000; 3]);
    let together = busy(2);
    let is_half = |busy: &u64| (20_000..21_000).contains(busy);
    assert!(together.iter().all(is_half), "{together:?}");
}

/// Attributes of 4,096 bytes per splat, of which 126 fit into the buffer of vertex results. With as much room as 512 KB
/// give, the L2 limits the draw.
const LARGE_ATTRIBUTES: &str = "vertex.attribute_bytes=4096";

/// The room for vertex results limits all variants, and is named in place of the unit that waits for it.
#[test]
fn the_buffer_of_vertex_results_limits_under_its_own_name() {
    for variant in Variant::ALL {
        let result = run(&quads(6_000), &[LARGE_ATTRIBUTES], variant);
        assert_eq!(result.limit().as_deref(), Some("vertex_buffer"), "{variant}");
        let vertex = result.units.iter().find(|unit| unit.name == "vertex");
        let idle = &vertex.unwrap().idle;
        let waited = idle.iter().find(|(reason, _)| reason == "full vertex_buffer");
        assert!(waited.is_some_and(|(_, cycles)| *cycles > 0), "{idle:?}");
    }
}

/// Twice the size of the buffer, which is named, shortens the draw more than twice the rate of the L2, of DRAM, or of
/// the ports of the first-level caches.
#[test]
fn more_of_the_named_resource_shortens_the_draw_most() {
    if skipped::is_slow() {
        return;
    }
    let Some(splats) = shared::scene("truck") else {
        return;
    };
    let Some(cameras) = shared::cameras("scenes/truck.cameras.json") else {
        return;
    };
    let camera = cameras[0].resized(245, 136).unwrap();
    let view = emulated::prepared(&splats, &camera);
    for variant in Variant::ALL {
        let run = |more: &[&str]| {
            let config = emulated::config(&[&[LARGE_ATTRIBUTES], more].concat());
            emulated::run(&view, &config, variant)
        };
        let result = run(&[]);
        assert_eq!(result.limit().as_deref(), Some("vertex_buffer"), "{variant}");
        let with_room = run(&["vertex.buffer_bytes=1MB"]).cycles;
        assert!(with_room < result.cycles * 9 / 10, "{variant}");
        let others = ["l2.slices=64", "dram.gb_per_s=204.8", "cores.l1_bytes_per_cycle=128"];
        for other in others {
            assert!(with_room < run(&[other]).cycles, "{variant}: {other}");
        }
    }
}
