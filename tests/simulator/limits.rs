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

/// A draw of `count` squares of one quad.
fn quads(count: u32) -> Draw {
    let places: Vec<_> = (0..count)
        .map(|n| [n * 7 % 32 * 2, n * 3 % 32 * 2, 2, 2])
        .collect();
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

/// What a row of [`LIMITS`] draws.
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
const LIMITS: [(&[&str], Variant, Scene, &str); 36] = [
    (
        &["vertex.primitives_per_cycle=1/8"],
        Variant::BASELINE,
        Quads,
        "vertex",
    ),
    (&["vertex.warps=1"], Variant::BASELINE, Quads, "vertex"),
    (
        &["vpo.primitives_per_cycle=1/8"],
        Variant::BASELINE,
        Quads,
        "vpo",
    ),
    (
        &[
            "gpu.gpcs=2",
            "crossbar.primitives_per_cycle=1/8",
            "vertex.buffer_is_bounded=false",
        ],
        Variant::BASELINE,
        Quads,
        "crossbar",
    ),
    (
        &["tgc.primitives_in_per_cycle=1/8"],
        Variant::TGC,
        Quads,
        "tgc",
    ),
    (
        &["tgc.primitives_out_per_cycle=1/8"],
        Variant::TGC,
        Quads,
        "tgc_out",
    ),
    (
        &["setup.primitives_per_cycle=1/8"],
        Variant::BASELINE,
        Quads,
        "setup",
    ),
    (
        &["coarse.tiles_per_cycle=1/16"],
        Variant::BASELINE,
        Layers,
        "coarse",
    ),
    (
        &["hi_z.tiles_per_cycle=1/16"],
        Variant::BASELINE,
        Layers,
        "hi_z",
    ),
    (
        &["fine.tiles_per_cycle=1/16"],
        Variant::BASELINE,
        Layers,
        "fine",
    ),
    (
        &["tc.tiles_in_per_cycle=1/16"],
        Variant::BASELINE,
        Layers,
        "tc",
    ),
    (
        &["tc.quads_in_per_cycle=1/2"],
        Variant::BASELINE,
        Layers,
        "tc",
    ),
    (
        &["tc.quads_out_per_cycle=1/2"],
        Variant::BASELINE,
        Layers,
        "tc_out",
    ),
    (
        &["prop.quads_in_per_cycle=1/2"],
        Variant::BASELINE,
        Layers,
        "prop",
    ),
    (
        &["prop.quads_out_per_cycle=1/2"],
        Variant::BASELINE,
        Layers,
        "pack",
    ),
    (
        &["zrop.quads_per_cycle=1/2"],
        Variant::BASELINE,
        Layers,
        "zrop",
    ),
    (&["zrop.quads_per_cycle=1/2"], Variant::HET, Layers, "zrop"),
    (&["zrop.update_cycles=64"], Variant::HET, Layers, "zrop"),
    (
        &[
            "zrop.l2_bytes_per_cycle=1",
            "zrop.cache_bytes=512",
            "zrop.fast_clear=false",
        ],
        Variant::HET,
        Pictures,
        "z_fill",
    ),
    (&["qru.quads_per_cycle=1/2"], Variant::QM, Layers, "qru"),
    (
        &["launch.warps_per_cycle=1/32"],
        Variant::BASELINE,
        Layers,
        "launch",
    ),
    (
        &["cores.issue_cycles=64"],
        Variant::BASELINE,
        Layers,
        "cores",
    ),
    (
        &["cores.fragment_instructions=2000"],
        Variant::BASELINE,
        Layers,
        "cores",
    ),
    (
        &["cores.warps_per_core=1", "cores.cores=4"],
        Variant::BASELINE,
        Layers,
        "cores",
    ),
    (
        &["cores.warps_out_per_cycle=1/64"],
        Variant::BASELINE,
        Layers,
        "cores",
    ),
    (
        &["vertex.instructions=10000"],
        Variant::BASELINE,
        Quads,
        "cores",
    ),
    (
        &["cores.l1_bytes_per_cycle=1"],
        Variant::BASELINE,
        Quads,
        "l1_fill",
    ),
    (
        &["crop.quads_per_cycle=1/2"],
        Variant::BASELINE,
        Layers,
        "crop",
    ),
    (
        &["crop.bytes_per_cycle=16"],
        Variant::BASELINE,
        Layers,
        "crop",
    ),
    (
        &["crop.wait_queue=1", "crop.cache_bytes=512"],
        Variant::BASELINE,
        Pictures,
        "crop",
    ),
    (
        &["crop.blend_cycles=512"],
        Variant::BASELINE,
        Layers,
        "crop",
    ),
    (
        &["crop.l2_bytes_per_cycle=4"],
        Variant::BASELINE,
        Pictures,
        "crop_write",
    ),
    (
        &["l2.slices=1", "l2.slice_bytes_per_cycle=8"],
        Variant::BASELINE,
        Pictures,
        "l2",
    ),
    (
        &["vertex.attribute_bytes=4096", "l2.slices=4"],
        Variant::BASELINE,
        Quads,
        "l2",
    ),
    (
        &["vertex.bytes_per_splat=4096"],
        Variant::BASELINE,
        Quads,
        "dram",
    ),
    (
        &["dram.gb_per_s=1", "l2.bytes=4096"],
        Variant::BASELINE,
        Pictures,
        "dram",
    ),
];

/// A resource that must limit a draw is named, whatever waits for it.
#[test]
fn the_resource_that_limits_is_named() {
    let mut wrong = Vec::new();
    for (assignments, variant, scene, name) in LIMITS {
        let result = run(&scene.draw(), assignments, variant);
        let limiting = result.limiting_unit().map(|unit| unit.name);
        if limiting != Some(name) {
            let critical = result.critical_unit().unwrap();
            let share = critical.limiting_share();
            wrong.push(format!(
                "{variant} {assignments:?}: {} {share:.3}, {limiting:?} instead of {name}",
                critical.name
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
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
        units.map(|name| {
            result
                .units
                .iter()
                .find(|unit| unit.name == name)
                .unwrap()
                .busy
        })
    };
    assert_eq!(busy(1), [40_000; 3]);
    let together = busy(2);
    let is_half = |busy: &u64| (20_000..21_000).contains(busy);
    assert!(together.iter().all(is_half), "{together:?}");
}
