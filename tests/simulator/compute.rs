//! The software renderer on the shader cores: tile lists, blocks, time, by hand and by what must not change.

use nalgebra::Vector3;
use quadrille::gpu::compute::assign::{TileLists, TileTest, key_bits};
use quadrille::gpu::compute::block::{BlockDraw, BlockOutcome, WarpWork};
use quadrille::gpu::compute::outcome::{ComputeMethod, ComputeResult, SoftwareTermination};
use quadrille::gpu::compute::renderer::{ComputeRenderer, SceneCounts};
use quadrille::gpu::draw::Draw;
use quadrille::gpu::machine::Machine;
use quadrille::gpu::method::Method;
use quadrille::gpu::outcome::Outcome;
use quadrille::gpu::variant::Variant;
use quadrille::gpu::view::PreparedView;
use quadrille::gpu::wiring::Watch;
use quadrille::raster::tiles::{TILE_PX, TileLayout};
use quadrille::{
    Camera, Intrinsics, Profile, ProjectedSplat, RenderSettings, SimdLevel, Splats, StopRule,
    render_reference,
};

use crate::support::emulated::config;
use crate::support::pictures::Differences;
use crate::support::scenes::{self, Random};
use crate::support::shared;
use crate::support::skipped;
use crate::support::tolerances::{bound, hold};
use crate::trained_scenes::{Expected, expected};

/// Views of trained scenes, over all scenes.
const VIEWS: usize = 14;

/// Share by which fragments blended under a stop rule may differ from the independent renderer's.
const STOPPED: f64 = 1e-4;

const METHODS: [ComputeMethod; 3] =
    [ComputeMethod::ORIENTED, ComputeMethod::ORIENTED_UNSTOPPED, ComputeMethod::SQUARE];

/// A round splat at (`x`, `y`) of a picture of `size` pixels, of a standard deviation in pixels.
fn round(
    size: [u32; 2],
    [x, y]: [f32; 2],
    deviation: f32,
    opacity: f32,
    index: u32,
) -> ProjectedSplat {
    needle(size, [x, y], [deviation; 2], 0.0, opacity, index)
}

/// A splat with deviations along its own axes, turned by `angle`.
fn needle(
    size: [u32; 2],
    [x, y]: [f32; 2],
    [along, across]: [f32; 2],
    angle: f32,
    opacity: f32,
    index: u32,
) -> ProjectedSplat {
    let (sin, cos) = angle.sin_cos();
    let [a2, c2] = [along * along, across * across];
    let xy = cos * sin * (a2 - c2);
    let yy = sin * sin * a2 + cos * cos * c2;
    let (determinant, k) = (a2 * c2, (std::f32::consts::LOG2_E / 2.0).sqrt());
    let (p, q, slope) = (k * (yy / determinant).sqrt(), k / yy.sqrt(), xy / yy);
    let [mx, my] = [x - size[0] as f32 / 2.0, y - size[1] as f32 / 2.0];
    ProjectedSplat {
        u_at_centre: p * (slope * my - mx),
        v_at_centre: -q * my,
        u_per_x: p,
        u_per_y: p * slope,
        v_per_y: q,
        log2_opacity: opacity.log2(),
        colour: [1.0, 0.5, 0.25],
        x_per_u: 1.0 / p,
        leftmost_y: my,
        rightmost_y: my,
        mean_px: [mx, my],
        depth: 1.0 + index as f32,
        index,
    }
}

/// Draws a list of all splats in the first tile of a picture.
fn block(splats: &[ProjectedSplat], size: [u32; 2], stop: StopRule) -> BlockOutcome {
    let draw = Draw::projected(splats.to_vec(), size[0], size[1]);
    let list: Vec<_> = (0..splats.len() as u32).collect();
    let block_draw = BlockDraw { shader: draw.shader(), splats: &draw.splats, size, stop };
    block_draw.run([0, 0], &list, SimdLevel::best())
}

fn run(draw: &Draw, method: ComputeMethod, assignments: &[&str]) -> ComputeResult {
    let renderer = ComputeRenderer::new(&config(assignments), method).unwrap();
    let stop = StopRule::Before(1e-4);
    let result = renderer.run(draw, draw.shader(), &SceneCounts::of(draw), stop);
    assert_eq!(result.discrepancies(), Vec::<String>::new(), "{method}");
    result
}

/// A random scene of splats of all kinds, seen by its camera.
fn random_scene(seed: u64, size: [u32; 2], len: usize) -> (Splats, Camera) {
    let random = &mut Random::new(seed);
    let camera = scenes::camera(random, size[0], size[1]);
    (scenes::splats(random, &camera, len, 1), camera)
}

fn view<'a>(splats: &'a Splats, camera: &Camera) -> PreparedView<'a> {
    PreparedView::new(
        splats,
        camera,
        &Profile::default(),
        SimdLevel::best(),
        &quadrille::Task::NEVER,
    )
    .unwrap()
}

/// 257 entries that leave every pixel open are two rounds, of 256 entries and of one.
#[test]
fn a_round_holds_256_entries() {
    let size = [16, 16];
    let faint = |index| round(size, [8.0, 8.0], 100.0, 0.01, index);
    let splats: Vec<_> = (0..257).map(faint).collect();
    let found = block(&splats, size, StopRule::Before(1e-4));
    let all = |entries| WarpWork { entries, over_cut: entries, blending: entries, first: 0 };
    assert_eq!(found.rounds.len(), 2);
    for (round, entries) in found.rounds.iter().zip([256, 1]) {
        let first = WarpWork { first: entries, ..all(entries) };
        assert_eq!(round.warps[0], first);
        assert_eq!(round.warps[1..], [all(entries); 7]);
    }
    assert_eq!([256, 64].map(|n| found.rounds[0].blended[n / 256]), [u64::MAX; 2]);
    assert_eq!(found.rounds[1].blended, [1, 0, 0, 0]);
    let lanes = found.lanes;
    assert_eq!([lanes.live, lanes.over_cut, lanes.blended], [257 * 256; 3]);
}

/// Opaque splats leave a transmittance of 0.1, 0.01, 0.001, 0.0001 less rounding: the fourth would leave
/// less than 0.00011, so that the rule closes every pixel at entry 3, the fourth; the warp does not visit
/// entry 4. A second round is not begun.
#[test]
fn a_warp_stops_with_its_last_lane() {
    let size = [16, 16];
    let opaque = |index| round(size, [8.0, 8.0], 1e4, 0.9, index);
    let splats: Vec<_> = (0..300).map(opaque).collect();
    let found = block(&splats, size, StopRule::Before(1.1e-4));
    let work = WarpWork { entries: 4, over_cut: 4, blending: 3, first: 0 };
    assert_eq!(found.rounds.len(), 1);
    assert_eq!(found.rounds[0].warps[1..], [work; 7]);
    assert_eq!(found.rounds[0].warps[0], WarpWork { first: 3, ..work });
    assert_eq!(found.rounds[0].blended, [0b111, 0, 0, 0]);
    assert_eq!(found.lanes.blended, 3 * 256);
    // Behind the blend that reaches alpha 0.998: three of them too, and the warp visits no fourth.
    let after = block(&splats, size, StopRule::After(0.998));
    assert_eq!(
        after.rounds[0].warps[7],
        WarpWork { entries: 3, over_cut: 3, blending: 3, first: 0 }
    );
    assert_eq!(block(&splats, size, StopRule::Never).rounds.len(), 2);
}

/// A splat on one pixel of the first row: one lane of the first warp blends, the other warps visit the
/// entry in vain. Pixels outside a picture of 3 columns and 1 row have no live lane.
#[test]
fn lanes_are_counted_by_what_they_do() {
    let small = |size, index| round(size, [2.5, 0.5], 0.1, 0.5, index);
    let found = block(&[small([16, 16], 0)], [16, 16], StopRule::Never);
    let idle = WarpWork { entries: 1, ..WarpWork::default() };
    let one = WarpWork { entries: 1, over_cut: 1, blending: 1, first: 1 };
    assert_eq!(found.rounds[0].warps[0], one);
    assert_eq!(found.rounds[0].warps[1..], [idle; 7]);
    let lanes = found.lanes;
    assert_eq!([lanes.live, lanes.over_cut, lanes.blended], [256, 1, 1]);
    let off = found.pixels[2].iter().zip([0.5, 0.25, 0.125, 0.5]);
    assert!(off.into_iter().all(|(found, expected)| (found - expected).abs() < 1e-6));
    let cut_off = block(&[small([3, 1], 0)], [3, 1], StopRule::Never);
    assert_eq!(cut_off.rounds[0].warps[1..], [WarpWork::default(); 7]);
    assert_eq!([cut_off.lanes.live, cut_off.lanes.blended], [3, 1]);
}

/// A needle of 40x1 pixels at 45 degrees in a picture of 8x8 tiles: its box lies along the diagonal, its
/// square covers the picture.
#[test]
fn a_slanted_needle_is_in_fewer_oriented_lists() {
    let size = [128, 128];
    let angle = std::f32::consts::FRAC_PI_4;
    let splat = needle(size, [64.0, 64.0], [20.0, 0.5], angle, 0.99, 0);
    let draw = Draw::projected(vec![splat], size[0], size[1]);
    let tiles = |test| {
        let lists = TileLists::new(&draw, test);
        let listed = (0..lists.tiles()).filter(|tile| !lists.tile(*tile).is_empty());
        listed.map(|tile| [tile % 8, tile / 8]).collect::<Vec<_>>()
    };
    let (oriented, square) = (tiles(TileTest::OrientedBox), tiles(TileTest::Square));
    // 3.33 deviations of 20 pixels at 45 degrees reach 47 pixels from the centre: tiles 1 to 6, and the
    // tiles beside the diagonal that the box's width of 3.3 pixels touches at their corners.
    for diagonal in 1..7 {
        assert!(oriented.contains(&[diagonal; 2]), "{oriented:?}");
    }
    assert!(oriented.iter().all(|[x, y]| x.abs_diff(*y) <= 1), "{oriented:?}");
    // The square of 61 pixels around the centre.
    assert_eq!(square.len(), 64);
    assert!(oriented.iter().all(|tile| square.contains(tile)));
}

/// The square ends at three deviations, the fragments of an opaque splat at 3.33 of them.
#[test]
fn squares_miss_fragments_beyond_three_deviations() {
    let size = [64, 64];
    // Ends at 16 + 30 - 1 = 45 pixels, fragments reach to 16 + 33.
    let splat = round(size, [16.5, 32.0], 10.0, 0.99, 0);
    let draw = Draw::projected(vec![splat], size[0], size[1]);
    let whole = run(&draw, ComputeMethod::ORIENTED, &[]);
    let cut = run(&draw, ComputeMethod::SQUARE, &[]);
    assert_eq!(whole.counts.fragments_missed, 0);
    assert!(cut.counts.fragments_missed > 0);
    assert_eq!(cut.counts.lanes.blended + cut.counts.fragments_missed, whole.counts.lanes.blended);
    assert!(cut.counts.pairs < whole.counts.pairs);
}

/// Appending splats in drawing order to the lists of their tiles is the stable sort of pairs by tile and
/// depth; and no list of oriented boxes lacks a fragment.
#[test]
fn lists_are_those_of_a_key_sort_and_lack_no_fragment() {
    for seed in 0..8 {
        let (splats, camera) = random_scene(seed, [150, 90], 300);
        let view = view(&splats, &camera);
        let draw = view.draw();
        let layout = TileLayout::new(draw.width, draw.height);
        for test in [TileTest::OrientedBox, TileTest::Square] {
            let lists = TileLists::new(draw, test);
            let mut keys = Vec::new();
            for tile in 0..lists.tiles() {
                for &splat in lists.tile(tile) {
                    let of = draw.splats[splat as usize];
                    keys.push(((tile as u64) << 32 | u64::from(of.depth.to_bits()), of.index));
                }
            }
            let in_lists = keys.clone();
            // As duplicated: in the scene's order.
            keys.sort_by_key(|(key, index)| (*index, *key));
            keys.sort_by_key(|(key, _)| *key);
            assert_eq!(keys, in_lists, "seed {seed}, {test:?}");
            let bits = key_bits(lists.tiles());
            assert!(keys.iter().all(|(key, _)| bits == 64 || key >> bits == 0));
        }
        let lists = TileLists::new(draw, TileTest::OrientedBox);
        let shader = view.shader();
        for (splat, number) in draw.splats.iter().zip(0..) {
            for pixel in 0..draw.width * draw.height {
                let (x, y) = (pixel % draw.width, pixel / draw.width);
                if shader.fragment(splat, x, y).is_some() {
                    let tile = y / TILE_PX * layout.tiles_across + x / TILE_PX;
                    let listed = lists.tile(tile as usize).binary_search(&number);
                    assert!(listed.is_ok(), "seed {seed}: splat {number} at {x}, {y}");
                }
            }
        }
    }
}

/// The same picture and counts at any SIMD level, and whatever the cores have.
#[test]
fn the_picture_does_not_depend_on_the_cores() {
    let (splats, camera) = random_scene(3, [200, 120], 800);
    let view = view(&splats, &camera);
    let draw = view.draw();
    for method in METHODS {
        let plain = run(draw, method, &[]);
        for assignments in [
            &["cores.cores=1"][..],
            &["cores.cores=3", "cores.schedulers=5"],
            &["compute.registers_per_thread=255"],
            &["gpu.gpcs=2", "cores.warps_per_core=8"],
            &["l2.bytes=4096", "dram.gb_per_s=1.0"],
        ] {
            let other = run(draw, method, assignments);
            assert!(other.frame == plain.frame, "{method}, {assignments:?}");
            assert_eq!(other.counts.lanes, plain.counts.lanes);
            assert_eq!(other.counts.instructions, plain.counts.instructions);
            assert_ne!(other.cycles, plain.cycles, "{method}, {assignments:?}");
        }
        for level in SimdLevel::all() {
            let view = PreparedView::new(
                &splats,
                &camera,
                &Profile::default(),
                level,
                &quadrille::Task::NEVER,
            )
            .unwrap();
            let (draw, shader) = (view.draw(), view.shader());
            let renderer = ComputeRenderer::new(&config(&[]), method).unwrap();
            let scene = view.scene_counts();
            let found = renderer.run(draw, shader, &scene, view.stop());
            let best =
                renderer.run(draw, self::view(&splats, &camera).shader(), &scene, view.stop());
            assert!(found.frame == best.frame && found.counts.lanes == best.counts.lanes);
            assert_eq!(found.cycles, best.cycles);
        }
    }
}

/// The near-cut rule, the stop rules and any number of threads: lanes against one fragment at a time.
#[test]
fn blocks_blend_what_one_fragment_at_a_time_does() {
    for (seed, stop) in [
        (1, StopRule::Never),
        (2, StopRule::Before(1e-4)),
        (3, StopRule::BeforeOrAt(1e-2)),
        (4, StopRule::After(0.996)),
    ] {
        let (splats, camera) = random_scene(seed, [90, 70], 500);
        let profile = Profile { stop, ..Profile::default() };
        let view = PreparedView::new(
            &splats,
            &camera,
            &profile,
            SimdLevel::best(),
            &quadrille::Task::NEVER,
        )
        .unwrap();
        let (draw, shader) = (view.draw(), view.shader());
        let renderer = ComputeRenderer::new(&config(&[]), ComputeMethod::ORIENTED).unwrap();
        let found = renderer.run(draw, shader, &view.scene_counts(), view.stop());
        let mut blended = 0;
        for (pixel, number) in found.frame.pixels().iter().zip(0..) {
            let (x, y) = (number % draw.width, number / draw.width);
            let (mut colour, mut left) = ([0.0_f32; 3], 1.0_f32);
            for splat in &draw.splats {
                let Some(alpha) = shader.fragment(splat, x, y) else {
                    continue;
                };
                let next = left * (1.0 - alpha);
                if matches!(stop, StopRule::Before(t) if next < t as f32)
                    || matches!(stop, StopRule::BeforeOrAt(t) if next <= t as f32)
                {
                    break;
                }
                for (sum, c) in colour.iter_mut().zip(splat.colour) {
                    *sum += left * (alpha * c);
                }
                left = next.max(1e-30);
                blended += 1;
                if matches!(stop, StopRule::After(alpha) if left <= (1.0 - alpha) as f32) {
                    break;
                }
            }
            let [r, g, b] = colour;
            assert_eq!(*pixel, [r, g, b, 1.0 - left], "seed {seed}: {x}, {y}");
        }
        assert_eq!(found.counts.lanes.blended, blended, "seed {seed}");
    }
}

/// Without early termination, the fragments of the baseline; with more of anything, no more cycles.
#[test]
fn methods_agree_on_fragments_and_gain_from_resources() {
    let (splats, camera) = random_scene(7, [320, 180], 3000);
    let view = view(&splats, &camera);
    let methods = ["baseline", "compute:none", "compute", "compute:hw"];
    let methods = methods.map(|name| Method::parse(name).unwrap());
    let machines = Machine::all(&config(&[]), &methods, Watch::default()).unwrap();
    let runs = Machine::run_all(&machines, &view, &quadrille::Task::NEVER).unwrap();
    let blended: Vec<_> = runs.iter().map(|run| run.outcome.fragments_blended()).collect();
    assert_eq!(blended[0], blended[1]);
    assert!(blended[2] < blended[1] && blended[3] < blended[2], "{blended:?}");
    assert!(runs[2].outcome.cycles() < runs[1].outcome.cycles());
    for (run, method) in runs.iter().zip(methods) {
        assert_eq!(run.outcome.method(), method);
        assert_eq!(run.outcome.discrepancies(), Vec::<String>::new());
    }
    let cycles = |assignments: &[&str]| run_cycles(view.draw(), assignments);
    for (fewer, more) in [
        ("cores.schedulers=1", "cores.schedulers=2"),
        ("cores.schedulers=2", "cores.schedulers=4"),
        ("cores.schedulers=4", "cores.schedulers=8"),
        ("cores.cores=4", "cores.cores=8"),
        ("compute.entry_instructions=40", "compute.entry_instructions=36"),
        ("l2.latency_ns=2400", "l2.latency_ns=240"),
    ] {
        assert!(cycles(&[more]) <= cycles(&[fewer]), "{more}");
    }
}

fn run_cycles(draw: &Draw, assignments: &[&str]) -> u64 {
    run(draw, ComputeMethod::ORIENTED, assignments).cycles
}

/// One block whose warps each visit `n` entries, on one core with a scheduler per warp: setup and fetch,
/// the loads, then the longer of issue and chain, and the end.
#[test]
fn a_block_alone_waits_for_its_chain() {
    let size = [16, 16];
    let faint = |index| round(size, [8.0, 8.0], 100.0, 0.01, index);
    let draw = Draw::projected((0..10).map(faint).collect(), size[0], size[1]);
    let set = [
        "cores.cores=1",
        "cores.schedulers=8",
        "l2.latency_ns=0",
        "dram.latency_ns=0",
        "l2.slice_bytes_per_cycle=1024",
        "dram.gb_per_s=1000000.0",
    ];
    let found = run(&draw, ComputeMethod::ORIENTED, &set);
    // 39 and 24 instructions of two cycles, ten entries of 138 + 20 + 73 cycles, 31 instructions.
    assert_eq!(found.cycles, 126 + 2310 + 62 + 1);
    // Per warp 39 + 24 + 15 + 10 * (36 + 5 + 16) + 31 instructions.
    assert_eq!(found.counts.instructions, 8 * (109 + 570));
    let reasons = found.counts.cycles_by_reason;
    assert_eq!(reasons.issue, 2 * found.counts.instructions);
    // From the last issue of the loop to the end of the chain.
    assert_eq!(reasons.chain, 8 * (2310 - 2 * 585));
    let rest = [reasons.barrier, reasons.memory, reasons.tail];
    assert_eq!(rest, [0, 0, 8]);
    // With one scheduler, the warps' instructions limit: the sum of all.
    let one = run(
        &draw,
        ComputeMethod::ORIENTED,
        &["cores.schedulers=1", set[0], set[2], set[3], set[4], set[5]],
    );
    assert!(one.cycles >= 2 * one.counts.instructions);
}

fn compute(view: &PreparedView<'_>, name: &str) -> ComputeResult {
    let method = Method::parse(name).unwrap();
    let machine = Machine::new(&config(&[]), method, Watch::default()).unwrap();
    let Outcome::Compute(result) = machine.run(view, &quadrille::Task::NEVER).unwrap().outcome
    else {
        panic!("{name} is no software renderer");
    };
    assert_eq!(result.discrepancies(), Vec::<String>::new());
    *result
}

/// Pictures against the reference renderer with the same stop rule, fragments against the independent
/// renderer, and the statements of the paper about lanes, lists and early termination.
#[test]
fn trained_scenes_by_software() {
    if skipped::is_slow() {
        return;
    }
    let Some(scenes) = expected() else { return };
    println!(
        "view        max of ref. | blended: none, inria, hw | lanes blend, where any | fragments, entries, cycles by stop | pairs"
    );
    let mut seen = 0;
    for (scene, views) in &scenes {
        let Some(splats) = shared::scene(scene) else {
            continue;
        };
        for expected in views {
            seen += 1;
            software_view(&splats, expected);
        }
    }
    assert_eq!(seen, VIEWS, "views drawn");
}

fn software_view(splats: &Splats, expected: &Expected) {
    let name = &expected.name;
    let view = view(splats, &expected.camera);
    let stopped = compute(&view, "compute");
    let settings = RenderSettings { profile: Profile::default(), level: SimdLevel::best() };
    let (reference, _) = render_reference(splats, &expected.camera, &settings);
    let differences = Differences::between(&stopped.frame, &reference);
    let max = differences.max();
    let strays = differences.strays(bound("emulated")) as f64 / differences.len() as f64;
    assert!(
        max <= bound("emulated max") && strays <= bound("emulated strays"),
        "{name}: differs by {max:e}; beyond 1e-5: {strays:e} of the pixels"
    );
    let unstopped = compute(&view, "compute:none");
    let hardware = compute(&view, "compute:hw");
    let of = |found: &ComputeResult, rule: &str| {
        found.counts.lanes.blended as f64 / expected.blended[rule] as f64 - 1.0
    };
    let off = [of(&unstopped, "none"), of(&stopped, "inria"), of(&hardware, "hw:0.996")];
    let difference = unstopped.counts.lanes.blended.abs_diff(expected.blended["none"]);
    hold("reference oracle fragments", difference as f64, name);
    assert!(off.iter().all(|off| off.abs() <= STOPPED), "{name}: {off:?}");
    let square = compute(&view, "compute-aabb");
    assert!(stopped.counts.pairs < square.counts.pairs, "{name}");
    let sort = |found: &ComputeResult| found.counts.kernels[3].cycles;
    assert!(sort(&stopped) <= sort(&square) && stopped.cycles <= square.cycles, "{name}");
    let share = stopped.counts.blending_share().unwrap();
    // VR-Pipe, Fig. 9.
    assert!(share < 0.4, "{name}: {share}");
    let ratio = |a: u64, b: u64| a as f64 / b as f64;
    let fragments = ratio(unstopped.counts.lanes.blended, stopped.counts.lanes.blended);
    let speedup = ratio(unstopped.cycles, stopped.cycles);
    // VR-Pipe, Fig. 8: termination saves fewer instructions than fragments or, where most entries have no
    // fragment in their warp, than entries. Cycles of so small a picture also depend on its longest lists.
    let entries = ratio(unstopped.counts.warp_entries, stopped.counts.warp_entries);
    let instructions = ratio(unstopped.counts.instructions, stopped.counts.instructions);
    assert!(
        instructions < fragments.max(entries) || fragments < 1.1,
        "{name}: {instructions} of {fragments}, {entries}"
    );
    println!(
        "{name:11} {max:.1e} | {:+.1e} {:+.1e} {:+.1e} | {share:.3} {:.3} | {fragments:.2} {entries:.2} {speedup:.2} | {} {}",
        off[0],
        off[1],
        off[2],
        stopped.counts.blending_share_of_blending().unwrap(),
        stopped.counts.pairs,
        square.counts.pairs,
    );
}

/// Names of the methods of the public interface; other names are refused.
#[test]
fn methods_are_named() {
    let method =
        ComputeMethod { tiles: TileTest::Square, termination: SoftwareTermination::Hardware };
    assert_eq!(Method::parse("compute-aabb:hw").unwrap(), Method::Compute(method));
    assert_eq!(Method::parse("het").unwrap(), Method::Pipeline(Variant::HET));
    let error = Method::parse("compute:fast").unwrap_err().to_string();
    assert!(error.contains("compute:none"), "{error}");
}

/// An empty view has no work but the stores of its pixels.
#[test]
fn an_empty_view_is_drawn() {
    let lens = Intrinsics::from_vertical_fov(40, 30, 1.0);
    let eye = Vector3::new(0.0, 0.0, -3.0);
    let up = Vector3::new(0.0, -1.0, 0.0);
    let camera = Camera::look_at("empty", lens, eye, Vector3::zeros(), up).unwrap();
    let splats = Splats::from_splats(0, []);
    let found = compute(&view(&splats, &camera), "compute");
    assert_eq!((found.counts.pairs, found.counts.rounds, found.counts.warp_entries), (0, 0, 0));
    assert!(found.frame.pixels().iter().all(|pixel| *pixel == [0.0; 4]));
    assert_eq!(found.counts.instructions, 6 * 8 * (39 + 31));
    assert_eq!(found.counts.blending_share(), None);
}
