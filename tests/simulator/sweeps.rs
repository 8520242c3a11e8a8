//! Sweeps of the emulated GPU's sizes, rates and latencies: each must bend the way its mechanism
//! says. The tables are printed (`cargo test --test simulator sweeps -- --nocapture`).
use std::path::Path;

use quadrille::Camera;
use quadrille::Profile;
use quadrille::Recipe;
use quadrille::Scene;
use quadrille::SimdLevel;
use quadrille::Synthetic;
use quadrille::gpu::config::Config;
use quadrille::gpu::result::SimulationResult;
use quadrille::gpu::variant::Variant;
use quadrille::gpu::view::PreparedView;
use quadrille::gpu::wiring::Simulator;
use quadrille::gpu::zrop::framebuffer::Tests;
use quadrille::load;
use quadrille::machine::UnitCycles;

use crate::support::{emulated, shared, skipped};

/// The repository's own scene.
fn island() -> Scene {
    load(Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes/island.ply")).unwrap()
}

/// The first of the views that belong to it.
fn camera() -> Camera {
    let world = Synthetic::new(Recipe::World, 0, 140_000, 0).unwrap();
    world.cameras()[0].resized(480, 270).unwrap()
}

/// Runs one variant at each value of a field and prints a line a value.
fn sweep(field: &str, values: &[&str], variant: Variant) -> Vec<SimulationResult> {
    sweep_from(&Config::default(), field, values, variant)
}

/// The same on another configuration than the default.
fn sweep_from(
    base: &Config,
    field: &str,
    values: &[&str],
    variant: Variant,
) -> Vec<SimulationResult> {
    let scene = island();
    let level = SimdLevel::best();
    let view = PreparedView::new(
        &scene.splats,
        &camera(),
        &Profile::default(),
        level,
        &quadrille::Task::NEVER,
    )
    .unwrap();
    println!("{variant}, {field}:");
    let run = |value: &&str| {
        let config = base.with(&format!("{field}={value}")).unwrap();
        let run = view.run(&Simulator::new(&config, variant).unwrap(), &Tests::default());
        let o = run.outcome;
        assert_eq!(o.discrepancies(), Vec::<String>::new(), "{field}={value}");
        let limit = o.critical_units();
        println!(
            "  {value:>8}: {:>9} cycles, limited by {} ({:.0} %); {:.2} quads a warp, {:.1} a flush, \
             {:>8} blended, {:>7} sectors fetched",
            o.cycles,
            UnitCycles::names(&limit).unwrap_or_default(),
            100.0 * limit[0].demand(),
            o.quads.shaded as f64 / o.warps as f64,
            o.tc.items as f64 / o.tc.total() as f64,
            o.quads.blended,
            o.crop_cache.fetched,
        );
        o
    };
    values.iter().map(run).collect()
}

/// Asserts that a figure never rises (or falls) by more than `slack` from one value to the next,
/// and falls (rises) from the first to the last by at least `least`, both as fractions.
fn assert_falls(what: &str, figures: &[u64], slack: f64, least: f64) {
    for pair in figures.windows(2) {
        let grown = pair[1] as f64 / pair[0] as f64 - 1.0;
        assert!(grown <= slack, "{what} rises by {grown:.3}: {figures:?}");
    }
    let fallen = 1.0 - *figures.last().unwrap() as f64 / figures[0] as f64;
    assert!(fallen >= least, "{what} falls by {fallen:.3} only: {figures:?}");
}

/// Asserts that the cycles of a draw that blending limits stay within two hundredths: fuller flushes
/// bring blends of one pixel together, which wait for each other.
fn assert_limited_by_blending(runs: &[SimulationResult]) {
    for run in runs {
        assert_eq!(run.limit().as_deref(), Some("crop"));
        let change = run.cycles.abs_diff(runs[0].cycles);
        assert!(change <= runs[0].cycles / 50, "{change} cycles");
    }
}

fn of(outcomes: &[SimulationResult], figure: impl Fn(&SimulationResult) -> u64) -> Vec<u64> {
    outcomes.iter().map(figure).collect()
}

fn reversed(mut figures: Vec<u64>) -> Vec<u64> {
    figures.reverse();
    figures
}

/// More bins keep a tile's quads together for longer: fuller flushes, fewer warps, fewer sectors
/// fetched.
#[test]
fn more_tile_bins_make_fuller_flushes() {
    let runs = sweep("tc.bins", &["4", "8", "16", "32", "64"], Variant::BASELINE);
    assert_falls("flushes", &of(&runs, |o| o.tc.total()), 0.0, 0.3);
    assert_falls("warps", &of(&runs, |o| o.warps), 0.0, 0.05);
    assert_falls("sectors fetched", &of(&runs, |o| o.crop_cache.fetched), 0.01, 0.05);
    assert_limited_by_blending(&runs);
    // With early termination too, the ports into the bins and out of them being wide enough.
    let runs = sweep("tc.bins", &["4", "8", "16", "32", "64"], Variant::HET);
    for run in &runs {
        assert_eq!(run.limit().as_deref(), Some("crop"));
        assert!(run.cycles.abs_diff(runs[0].cycles) <= runs[0].cycles * 3 / 100);
    }
}

/// Small bins flush early; beyond what comes for a tile before its bin is needed elsewhere, size
/// changes little.
#[test]
fn larger_tile_bins_make_fuller_flushes() {
    let runs = sweep("tc.bin_size", &["8", "16", "32", "64", "128", "256"], Variant::BASELINE);
    assert_falls("flushes", &of(&runs, |o| o.tc.total()), 0.0, 0.3);
    assert_limited_by_blending(&runs);
    let runs = sweep("tc.bin_size", &["8", "16", "32", "64", "128", "256"], Variant::QM);
    assert_falls("quads blended", &of(&runs, |o| o.quads.blended), 0.005, 0.1);
    let [.., before, last] = runs.as_slice() else { unreachable!() };
    let changed = before.quads.blended.abs_diff(last.quads.blended);
    assert!(changed <= before.quads.blended / 50);
}

/// Grid bins bring more primitives of one grid together: more pairs, fewer quads to blend. Few bins
/// are flushed half empty.
#[test]
fn more_grid_bins_make_more_pairs() {
    let runs = sweep("tgc.bins", &["1", "4", "16", "64", "128"], Variant::QM);
    assert_falls("quads blended", &of(&runs, |o| o.quads.blended), 0.005, 0.02);
    assert_falls("cycles", &of(&runs, |o| o.cycles), 0.01, 0.02);
    let without = sweep("tgc.bins", &["128"], Variant::parse("qru").unwrap());
    assert!(without[0].quads.merged_pairs < runs[4].quads.merged_pairs);
}

/// Tile-grid coalescing brings the quads of a screen tile together that would otherwise come while other tiles have all
/// bins. In a picture of fewer tiles than bins it has nothing to do, and any number of grid bins is enough; in one of
/// many tiles, merging gains from it.
#[test]
fn grid_coalescing_pays_where_tiles_outnumber_their_bins() {
    let [qru, het_qru] = [Variant::QRU, Variant::HET_QRU];
    let island = island().splats;
    let runs = |size: [u32; 2], assignment: &str, variants: [Variant; 2]| {
        let camera = camera().resized(size[0], size[1]).unwrap();
        let view = emulated::prepared(&island, &camera);
        variants.map(|variant| emulated::run(&view, &emulated::config(&[assignment]), variant))
    };
    let default = "tgc.bins=128";
    for [without, with] in [[qru, Variant::QM], [het_qru, Variant::HET_QM]] {
        assert_eq!([without.tgc(), with.tgc()], [false, true]);
        // 28 screen tiles in two grids.
        let [alone, both] = runs([112, 64], default, [without, with]);
        assert_eq!([alone.tc.evicted, both.tc.evicted], [0, 0], "{with}");
        assert_eq!([alone.tgc.items > 0, both.tgc.items > 0], [false, true]);
        for bins in ["tgc.bins=64", "tgc.bins=256"] {
            let [_, other] = runs([112, 64], bins, [without, with]);
            assert_eq!(other.cycles, both.cycles, "{with}: {bins}");
        }
        // 1,012 screen tiles in 66 grids.
        let [alone, both] = runs([704, 368], default, [without, with]);
        let per_flush = |o: &SimulationResult| o.tc.items as f64 / o.tc.total() as f64;
        assert!(alone.tc.evicted > 0 && per_flush(&both) > per_flush(&alone));
        let pairs = |o: &SimulationResult| o.qru.pairs as f64 / o.quads.shaded as f64;
        assert!(pairs(&both) > pairs(&alone), "{with}");
        assert!(both.cycles < alone.cycles, "{with}");
    }
}

/// The same on a trained scene, at the width of small tables and at its full size.
#[test]
fn grid_coalescing_pays_in_trained_scenes_at_full_size() {
    if skipped::is_slow() {
        return;
    }
    let (Some(splats), Some(cameras)) =
        (shared::scene("truck"), shared::cameras("scenes/truck.cameras.json"))
    else {
        return;
    };
    let cycles = |width: u32, variant: Variant, assignment: &str| {
        let full = &cameras[0];
        let height = full.height * width / full.width;
        let camera = full.resized(width, height).unwrap();
        let view = emulated::prepared(&splats, &camera);
        emulated::run(&view, &emulated::config(&[assignment]), variant).cycles
    };
    let default = "tgc.bins=128";
    for [without, with] in [[Variant::QRU, Variant::QM], [Variant::HET_QRU, Variant::HET_QM]] {
        let small = cycles(245, with, default);
        for bins in ["tgc.bins=64", "tgc.bins=256"] {
            assert_eq!(cycles(245, with, bins), small, "{with}: {bins}");
        }
        let gain =
            |width| cycles(width, without, default) as f64 / cycles(width, with, default) as f64;
        let [small, full] = [245, cameras[0].width].map(gain);
        assert!(full > 1.0 && full > small, "{with}: {small} {full}");
    }
}

/// Blending is the baseline's limit until the port is so wide that the raster units are.
#[test]
fn a_wider_colour_port_is_faster_until_another_unit_limits() {
    let values = ["16", "32", "64", "128", "256"];
    let runs = sweep("crop.bytes_per_cycle", &values, Variant::BASELINE);
    let cycles = of(&runs, |o| o.cycles);
    assert_falls("cycles", &cycles, 0.0, 0.5);
    assert_eq!(runs[0].limit().as_deref(), Some("crop"));
    // At a quarter of a quad a cycle and at half of one, time is inverse to the rate.
    let ratio = cycles[0] as f64 / cycles[1] as f64;
    assert!((ratio - 2.0).abs() < 0.05, "{ratio}");
    assert_ne!(runs[4].limit().as_deref(), Some("crop"));
}

/// A larger cache fetches less; once the whole picture fits, nothing.
#[test]
fn a_larger_colour_cache_fetches_less() {
    let values = ["1024", "4096", "16384", "65536", "2097152"];
    let runs = sweep("crop.cache_bytes", &values, Variant::BASELINE);
    assert_falls("sectors fetched", &of(&runs, |o| o.crop_cache.fetched), 0.0, 0.9);
    assert_eq!(runs[4].crop_cache.fetched, 0);
    assert_falls("cycles", &of(&runs, |o| o.cycles), 0.01, 0.0);
}

/// Narrow, the way to the L2 limits blending; wide, it costs nothing.
#[test]
fn l2_bandwidth_limits_until_it_exceeds_the_misses() {
    let values = ["4", "16", "64", "128", "512"];
    let runs = sweep("crop.l2_bytes_per_cycle", &values, Variant::BASELINE);
    let cycles = of(&runs, |o| o.cycles);
    assert_falls("cycles", &cycles, 0.005, 0.5);
    assert!(cycles[3].abs_diff(cycles[4]) as f64 <= 0.02 * cycles[3] as f64);
}

/// A higher threshold lets more fragments through.
#[test]
fn a_higher_threshold_terminates_later() {
    let values = ["0.9", "0.99", "0.996", "0.999", "0.9999"];
    let runs = sweep("zrop.threshold", &values, Variant::HET);
    let blended = of(&runs, |o| o.fragments.blended);
    assert_falls("fragments blended, backwards", &reversed(blended), 0.0, 0.05);
    let cycles = of(&runs, |o| o.cycles);
    assert_falls("cycles, backwards", &reversed(cycles), 0.01, 0.0);
}

/// A longer shader costs nothing while blending limits; then time follows its length.
#[test]
fn a_longer_shader_costs_once_the_cores_limit() {
    let values = ["5", "20", "80", "320", "640"];
    let runs = sweep("cores.fragment_instructions", &values, Variant::BASELINE);
    let cycles = of(&runs, |o| o.cycles);
    assert_falls("cycles, backwards", &reversed(cycles.clone()), 0.005, 0.5);
    assert!(cycles[0].abs_diff(cycles[1]) as f64 <= 0.02 * cycles[0] as f64);
    assert_eq!(runs[4].limit().as_deref(), Some("cores"));
    let ratio = cycles[4] as f64 / cycles[3] as f64;
    assert!((ratio - 2.0).abs() < 0.1, "{ratio}");
}

/// A bit that lands later lets more fragments through that change nothing, as long as CROP does not wait
/// for a place for its updates.
#[test]
fn later_feedback_makes_more_late_fragments() {
    let values = ["0", "100", "1000", "10000", "100000"];
    let unbounded = Config::default().with("zrop.update_queue=65536").unwrap();
    let runs = sweep_from(&unbounded, "zrop.feedback_cycles", &values, Variant::HET);
    let late = of(&runs, |o| o.fragments.late);
    assert_falls("late fragments, backwards", &reversed(late), 0.0, 0.5);
}

/// The port that is named limits: it is at work, waits for its own data, is held or is full nearly
/// all the time, whatever it does in that time.
#[test]
fn the_limiting_unit_is_the_one_that_was_made_slow() {
    for (assignments, variant, limit) in [
        (&["zrop.update_cycles=1024"][..], Variant::HET, "zrop"),
        (&["zrop.quads_per_cycle=1"], Variant::HET, "zrop"),
        (&["crop.wait_queue=16"], Variant::HET, "crop"),
        (&["crop.bytes_per_cycle=16"], Variant::BASELINE, "crop"),
        (&["coarse.tiles_per_cycle=1/16"], Variant::BASELINE, "coarse"),
        (&["l2.slices=1", "l2.slice_bytes_per_cycle=8"], Variant::BASELINE, "l2"),
        (
            &["l2.bytes=4096", "dram.gb_per_s=5", "vertex.buffer_is_bounded=false"],
            Variant::BASELINE,
            "dram",
        ),
    ] {
        let scene = island();
        let level = SimdLevel::best();
        let view = PreparedView::new(
            &scene.splats,
            &camera(),
            &Profile::default(),
            level,
            &quadrille::Task::NEVER,
        )
        .unwrap();
        let config =
            assignments.iter().fold(Config::default(), |config, a| config.with(a).unwrap());
        let simulator = Simulator::new(&config, variant).unwrap();
        let outcome = view.run(&simulator, &Tests::default()).outcome;
        let occupancies: Vec<_> =
            (outcome.units.iter()).map(|unit| (unit.name, unit.occupancy())).collect();
        assert_eq!(outcome.limit().as_deref(), Some(limit), "{assignments:?}: {occupancies:.2?}");
    }
}
