//! Blending in the fragment shader: critical sections by hand, the picture of the baseline with order, and
//! the lost fragments without it.
use quadrille::ColourFormat;
use quadrille::gpu::config::Config;
use quadrille::gpu::draw::Draw;
use quadrille::gpu::in_shader::{InShader, InterlockOutcome, ShaderBlendOutcome};
use quadrille::gpu::machine::Machine;
use quadrille::gpu::method::Method;
use quadrille::gpu::outcome::Outcome;
use quadrille::gpu::result::SimulationResult;
use quadrille::gpu::variant::Variant;
use quadrille::gpu::view::PreparedView;
use quadrille::gpu::warp::shader_blend::ShaderOrder;
use quadrille::gpu::wiring::{Simulator, Watch};
use quadrille::gpu::zrop::framebuffer::Tests;
use quadrille::machine::maps::MapKind;
use quadrille::suite::rows::MethodCounts;

use crate::support::emulated::{config, prepared, run};
use crate::support::scenes::{self, Random};
use crate::support::shared;

/// What every draw that blends in its shader keeps.
fn check(result: &SimulationResult) {
    assert_eq!(result.discrepancies(), Vec::<String>::new());
    let crop = result.units.iter().find(|unit| unit.name == "crop").unwrap();
    assert_eq!((crop.busy, crop.moved), (0, 0));
    let cores = result.units.iter().find(|unit| unit.name == "cores").unwrap();
    assert!(cores.busy > 0 || result.warps == 0);
}

fn drawn(draw: &Draw, config: &Config, order: ShaderOrder) -> SimulationResult {
    let simulator = Simulator::blending_in_shader(config, order).unwrap();
    let result = simulator.run(draw, draw.shader(), &Tests::default());
    check(&result);
    result
}

fn of_view(view: &PreparedView<'_>, config: &Config, order: ShaderOrder) -> SimulationResult {
    let method = Method::InShader(order);
    let machine = Machine::new(config, method, Watch::default()).unwrap();
    let Outcome::Pipeline(named, result) =
        machine.run(view, &quadrille::Task::NEVER).unwrap().outcome
    else {
        panic!("not a result of blending in the shader");
    };
    assert_eq!(named, method);
    check(&result);
    *result
}

fn interlock(result: &SimulationResult) -> InterlockOutcome {
    match result.in_shader {
        Some(InShader::Interlocked(counts)) => counts,
        _ => panic!("no critical sections"),
    }
}

fn unordered(result: &SimulationResult) -> ShaderBlendOutcome {
    match result.in_shader {
        Some(InShader::Unordered(counts)) => counts,
        _ => panic!("not without order"),
    }
}

/// Rectangles of 2x2 pixels at these pixels, each a quad and, where they overlap, a flush.
fn squares(places: &[[u32; 2]], alpha: f32) -> Draw {
    let rectangles: Vec<_> = places.iter().map(|[x, y]| [*x, *y, 2, 2]).collect();
    Draw::rectangles(64, 64, &rectangles, [1.0, 0.5, 0.25], alpha)
}

/// Latency of the L2 in cycles.
const L2: u64 = 146;
/// Cycles from loaded colours to the store.
const BLEND: u64 = 24;
/// A critical section: read, six instructions, write, update of the counter.
const SECTION: u64 = L2 + BLEND + L2 + L2;

/// Squares over one pixel make a flush each, and each waits for the one before: one more adds a section of
/// 146 + 24 + 146 + 146 = 462 cycles. A square is shaded one cycle after the square before it, so each waits
/// 461 cycles more than the one before; the second also waits for the first one's miss in the L2.
#[test]
fn tickets_of_one_region_by_hand() {
    let config = config(&["interlock.regions=1"]);
    let of = |count: usize| {
        drawn(&squares(&vec![[8, 8]; count], 0.5), &config, ShaderOrder::Interlocked)
    };
    let runs: Vec<_> = (1..=4).map(of).collect();
    for (count, result) in (1..).zip(&runs) {
        let counts = interlock(result);
        assert_eq!((counts.conflict_flushes, counts.tickets), (count - 1, count));
        assert_eq!((counts.handoffs, counts.warps_waited), (count - 1, count - 1));
        assert_eq!((counts.sectors_read, counts.sectors_written), (count, count));
        assert_eq!(result.warps, count);
    }
    for pair in runs.windows(2) {
        assert_eq!(pair[1].cycles - pair[0].cycles, SECTION);
    }
    let waits: Vec<_> = runs.iter().map(|run| interlock(run).wait_cycles).collect();
    let [first, second, third] = [1, 2, 3].map(|n| waits[n] - waits[n - 1]);
    assert_eq!(waits[0], 0);
    assert_eq!([second - first, third - second], [SECTION - 1; 2]);
    // Behind the first square, which misses: the latency of DRAM.
    assert_eq!(first, SECTION + 367 - 1);
}

/// Three squares in each of two screen tiles: one after the other with one counter, side by side with one
/// each. Neighbouring tiles share a counter only if there is just one.
#[test]
fn tiles_with_one_counter_wait_for_each_other() {
    let [near, far] = [[8, 8], [24, 8]];
    let places = [near, far, near, far, near, far];
    let with = |regions: u64| {
        let config = config(&[&format!("interlock.regions={regions}")]);
        drawn(&squares(&places, 0.5), &config, ShaderOrder::Interlocked)
    };
    let (one, two, all) = (with(1), with(2), with(16_777_216));
    assert_eq!(interlock(&one).handoffs, 5);
    assert_eq!(interlock(&two).handoffs, 4);
    assert_eq!(two.cycles, all.cycles);
    // Six sections in a row, of which the first two of a tile miss; or three.
    let saved = one.cycles - two.cycles;
    assert!((3 * SECTION..3 * SECTION + 400).contains(&saved), "{saved}");
    assert!(one.framebuffer.colours() == all.framebuffer.colours());
}

/// A warp without a surviving fragment enters no section, but its flush hands the counter on.
#[test]
fn pruned_fragments_enter_no_section() {
    let config = config(&[]);
    let faint = drawn(&squares(&[[8, 8]; 5], 0.001), &config, ShaderOrder::Interlocked);
    let counts = interlock(&faint);
    assert_eq!((counts.tickets, counts.handoffs, counts.wait_cycles), (5, 0, 0));
    assert_eq!((counts.sectors_read, faint.fragments.blended), (0, 0));
    assert_eq!(faint.fragments.pruned, 20);
}

/// Two squares over one pixel are two quads of a warp: both load at once, and the second overwrites the first.
/// With 10,000 cycles between them, the second reads what the first left.
#[test]
fn updates_of_one_warp_overwrite_each_other() {
    let config = config(&[]);
    let mut draw = squares(&[[8, 8]; 2], 0.5);
    let together = drawn(&draw, &config, ShaderOrder::Unordered);
    assert_eq!(together.warps, 1);
    let counts = unordered(&together);
    assert_eq!((counts.lost_updates, counts.out_of_order_updates), (4, 0));
    // A fragment adds 0.5 where two make 0.75: 0.25 in red, half and a quarter of it in green and blue, in
    // 4 of 64x64 pixels.
    let mse = 4.0 * (0.25_f64.powi(2) + 0.125_f64.powi(2) + 0.0625_f64.powi(2)) / (3.0 * 4096.0);
    let psnr_db = counts.psnr_vs_baseline_db.unwrap();
    assert!((psnr_db + 10.0 * mse.log10()).abs() < 1e-9, "{psnr_db}");
    assert!((counts.max_abs_vs_baseline - 0.25).abs() < 1e-12);
    draw.bubble = Some((1, 10_000));
    let apart = drawn(&draw, &config, ShaderOrder::Unordered);
    assert_eq!(apart.warps, 2);
    let counts = unordered(&apart);
    assert_eq!((counts.lost_updates, counts.psnr_vs_baseline_db), (0, None));
    assert_eq!((counts.sectors_read, counts.sectors_written), (2, 2));
}

/// Fragments that share no pixel cannot overwrite each other: the picture is the baseline's.
#[test]
fn without_overlap_nothing_is_lost() {
    let places: Vec<_> = (0..32).flat_map(|y| (0..32).map(move |x| [2 * x, 2 * y])).collect();
    let draw = squares(&places, 0.7);
    for format in ColourFormat::ALL {
        let config = config(&[&format!("crop.format={}", format.name())]);
        let baseline = Simulator::new(&config, Variant::BASELINE).unwrap();
        let baseline = baseline.run(&draw, draw.shader(), &Tests::default());
        for order in ShaderOrder::ALL {
            let result = drawn(&draw, &config, order);
            assert!(result.framebuffer.colours() == baseline.framebuffer.colours());
            match result.in_shader.unwrap() {
                InShader::Unordered(counts) => {
                    assert_eq!((counts.lost_updates, counts.psnr_vs_baseline_db), (0, None));
                }
                InShader::Interlocked(counts) => assert_eq!(counts.conflict_flushes, 0),
            }
        }
    }
}

/// With critical sections the picture is the baseline's, bit for bit, in every format, with any number of
/// regions, GPCs and warp slots. All methods shade and blend the same fragments, and the maps agree.
#[test]
fn interlocked_pictures_are_the_baselines() {
    let settings: [&[&str]; 6] = [
        &["interlock.regions=1"],
        &["interlock.regions=8", "crop.format=rgba8"],
        &["interlock.regions=64", "crop.format=rgba32f"],
        &["interlock.regions=16777216"],
        &["gpu.gpcs=3"],
        &["cores.warps_per_core=1", "cores.cores=2", "tc.bins=2", "tc.bin_size=8"],
    ];
    let random = &mut Random::new(11);
    let camera = scenes::camera(random, 90, 70);
    let splats = scenes::splats(random, &camera, 500, 1);
    let view = prepared(&splats, &camera);
    for assignments in settings {
        let config = config(assignments);
        let baseline = run(&view, &config, Variant::BASELINE);
        let locked = of_view(&view, &config, ShaderOrder::Interlocked);
        assert!(locked.framebuffer.colours() == baseline.framebuffer.colours(), "{assignments:?}");
        let raced = of_view(&view, &config, ShaderOrder::Unordered);
        for result in [&locked, &raced] {
            assert_eq!(result.fragments, baseline.fragments);
            assert_eq!(result.quads, baseline.quads);
        }
        let counts = unordered(&raced);
        assert!(counts.lost_updates > 0 && counts.psnr_vs_baseline_db.is_some());
        assert!(counts.lost_updates < raced.fragments.blended);
        assert!(locked.cycles > raced.cycles);
    }
}

/// More regions never hold a warp up longer: fewer tickets have a predecessor.
#[test]
fn more_regions_wait_less() {
    let random = &mut Random::new(12);
    let camera = scenes::camera(random, 160, 120);
    let splats = scenes::splats(random, &camera, 800, 1);
    let view = prepared(&splats, &camera);
    let mut last = None;
    for regions in [1, 8, 80] {
        let config = config(&[&format!("interlock.regions={regions}")]);
        let result = of_view(&view, &config, ShaderOrder::Interlocked);
        let found = (result.cycles, interlock(&result).handoffs);
        assert!(last.is_none_or(|last: (u64, u64)| found.0 < last.0 && found.1 <= last.1));
        last = Some(found);
    }
}

/// The reports and the maps of a run are the same on any number of threads, and on a second run.
#[test]
fn runs_are_the_same_every_time() {
    let random = &mut Random::new(13);
    let camera = scenes::camera(random, 120, 80);
    let splats = scenes::splats(random, &camera, 400, 1);
    let view = prepared(&splats, &camera);
    let watch = Watch { maps: true, timelines: true, ..Watch::default() };
    let methods: Vec<_> = ShaderOrder::ALL.map(Method::InShader).to_vec();
    let config = config(&["gpu.gpcs=2"]);
    let results = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let machines = Machine::all(&config, &methods, watch).unwrap();
        let runs =
            pool.install(|| Machine::run_all(&machines, &view, &quadrille::Task::NEVER).unwrap());
        let of = |run: quadrille::gpu::machine::MethodRun| {
            let result = run.outcome.pipeline().unwrap();
            let maps = result.maps.as_ref().unwrap();
            let blended = maps.pixels(MapKind::Blended, result.framebuffer.layout);
            let total: u64 = blended.iter().map(|n| u64::from(*n)).sum();
            assert_eq!(total, result.fragments.blended);
            let report = MethodCounts::of(&run.outcome, &config);
            (report, format!("{:?}", result.in_shader), result.framebuffer.colours().to_vec())
        };
        runs.into_iter().map(of).collect::<Vec<_>>()
    };
    let first = results(1);
    assert!(results(3) == first);
}

/// With a single region, the draw waits for its lock nearly all the time, while the cores issue little.
#[test]
fn the_lock_limits_under_its_own_name() {
    let places: Vec<_> = (0..2_000_u32).map(|n| [n % 16 * 16, n / 16 % 16 * 16, 16, 16]).collect();
    let draw = Draw::rectangles(256, 256, &places, [1.0; 3], 0.1);
    let result = drawn(&draw, &config(&["interlock.regions=1"]), ShaderOrder::Interlocked);
    assert_eq!(result.limit().as_deref(), Some("interlock"));
}

/// A picture of one pixel, and one without splats.
#[test]
fn small_and_empty_pictures() {
    let config = config(&[]);
    let one = Draw::rectangles(1, 1, &[[0, 0, 1, 1]; 3], [1.0; 3], 0.5);
    let empty = Draw::rectangles(5, 3, &[], [1.0; 3], 0.5);
    for order in ShaderOrder::ALL {
        let result = drawn(&one, &config, order);
        assert_eq!((result.fragments.blended, result.frame().pixels().len()), (3, 1));
        let result = drawn(&empty, &config, order);
        assert_eq!((result.warps, result.fragments.blended), (0, 0));
        assert_eq!(result.framebuffer.colours()[0], [[0.0; 4]; 4]);
    }
    let lost = drawn(&one, &config, ShaderOrder::Unordered);
    assert_eq!(unordered(&lost).lost_updates, 2);
    let error = config.with("interlock.regions=0").unwrap_err();
    assert!(error.to_string().contains("interlock.regions"), "{error}");
}

/// The order of VR-Pipe's Fig. 10 in small views of two scenes: without a lock about as fast as CROP or
/// faster, with one far slower.
#[test]
fn locks_cost_far_more_than_blending() {
    for name in ["truck", "statue"] {
        let Some(splats) = shared::scene(name) else {
            continue;
        };
        let Some(cameras) = shared::cameras(&format!("scenes/{name}.cameras.json")) else {
            continue;
        };
        let camera = cameras[0].resized(123, 69).unwrap();
        let view = prepared(&splats, &camera);
        let config = config(&[]);
        let baseline = run(&view, &config, Variant::BASELINE);
        let raced = of_view(&view, &config, ShaderOrder::Unordered);
        assert!(raced.cycles < baseline.cycles, "{name}");
        let locked = of_view(&view, &config, ShaderOrder::Interlocked);
        assert!(locked.cycles > 2 * baseline.cycles, "{name}");
        assert!(locked.framebuffer.colours() == baseline.framebuffer.colours(), "{name}");
    }
}
