//! Estimates behind a run: events that take energy, power, and times of whole frames.
use quadrille::gpu::energy::{EnergyEstimate, EnergyEvents};
use quadrille::gpu::estimates::{energy, frame_times};
use quadrille::gpu::machine::Machine;
use quadrille::gpu::method::Method;
use quadrille::gpu::outcome::Outcome;
use quadrille::gpu::view::PreparedView;
use quadrille::gpu::warp::cores::CoresCounters;
use quadrille::gpu::wiring::Watch;
use quadrille::{Camera, Config, Profile, Recipe, SimdLevel, Splats, Synthetic};

use crate::support::emulated::config;
use crate::support::shared;

fn prepared<'a>(splats: &'a Splats, camera: &Camera) -> PreparedView<'a> {
    PreparedView::new(
        splats,
        camera,
        &Profile::default(),
        SimdLevel::best(),
        &quadrille::Task::NEVER,
    )
    .unwrap()
}

fn run(view: &PreparedView<'_>, config: &Config, name: &str) -> Outcome {
    let method = Method::parse(name).unwrap();
    let machine = Machine::new(config, method, Watch::default()).unwrap();
    machine.run(view, &quadrille::Task::NEVER).unwrap().outcome
}

/// A procedural scene and a small camera.
fn vase() -> (Splats, Camera) {
    let vase = Synthetic::new(Recipe::Object, 1, 2000, 0).unwrap();
    let camera = vase.cameras()[0].resized(96, 64).unwrap();
    (vase.splats(), camera)
}

/// Instructions follow from the warps, sectors of the L2 from its bytes, blends from the quads of CROP; a
/// blend reads and writes its sectors.
#[test]
fn events_follow_from_counters() {
    let (splats, camera) = vase();
    let view = prepared(&splats, &camera);
    let config = config(&[]);
    for (name, instructions) in [("baseline", 20), ("het+qm", 26)] {
        let outcome = run(&view, &config, name);
        let events = energy(&outcome, &config).unwrap().events;
        let result = outcome.pipeline().unwrap();
        let cores: CoresCounters = result.statistics.of();
        assert_eq!(cores.warps, result.warps);
        let crop = &result.crop_cache;
        let z = &result.z_cache;
        // Entries of 96 bytes are three sectors; a miss writes and reads them.
        let sectors = 3 * result.l1.hits
            + 6 * result.l1.misses
            + 2 * (crop.hits + crop.misses)
            + (crop.fetched + crop.written_back)
            + (z.hits + z.misses + z.fetched + z.written_back);
        let wires = (result.l2.read_bytes + result.l2.written_bytes) / 32;
        let bins = result.quads.rasterized
            + if name == "baseline" { 0 } else { result.raster.set_up + result.quads.shaded };
        assert!(result.quads.blended > 0 && wires > 0);
        let expected = EnergyEvents {
            instructions: instructions * result.warps + 16 * result.vertex_warps,
            special: result.warps,
            unit_sectors: sectors,
            l2_sectors: wires + result.l2.cache.fetched + result.l2.cache.written_back,
            wire_sectors: wires,
            quads_blended: result.quads.blended,
            raster_tiles: result.raster.tiles,
            bin_entries: bins,
            dram_bytes: result.dram_bytes,
        };
        assert_eq!(events, expected, "{name}");
    }
}

/// Frame times add up the kernels and the draw; the accelerator, whose stages overlap, has no sum.
#[test]
fn frames_add_up() {
    let (splats, camera) = vase();
    let view = prepared(&splats, &camera);
    let config = config(&[]);
    let work = view.workload();
    assert_eq!(work.splats, splats.len() as u64);
    assert_eq!(work.visible, u64::from(view.draw().len()));
    let times = |outcome: &Outcome| frame_times(outcome, &work, &config);
    let ms = |cycles: u64| cycles as f64 / 612e3;
    let software = run(&view, &config, "compute");
    let Outcome::Compute(result) = &software else {
        panic!("no software renderer");
    };
    let frame = times(&software).unwrap();
    let cycles: u64 = result.counts.kernels.iter().map(|kernel| kernel.cycles).sum();
    assert!((frame.total_ms - ms(cycles)).abs() < 1e-12);
    assert!((frame.raster_ms - ms(result.cycles)).abs() < 1e-12);
    let draw = run(&view, &config, "baseline");
    let hardware = times(&draw).unwrap();
    assert!((hardware.raster_ms - ms(draw.cycles())).abs() < 1e-12);
    assert_eq!(hardware.preprocess_ms.to_bits(), frame.preprocess_ms.to_bits());
    // Few splats: each kernel takes its gap of 1.5 us, and their work.
    let sort = 68.0 * work.visible as f64 / (102.4e6 * 0.7);
    assert!((hardware.sort_ms - sort - 7.5e-3).abs() < 2.0 / 612e3);
    assert!(hardware.sort_ms < frame.sort_ms);
    let accelerator = run(&view, &config, "gscore");
    assert_eq!(times(&accelerator), None);
    assert_eq!(energy(&accelerator, &config), None);
}

/// A check of the model rather than of the code: the power that the events of a draw sum up to stays below that
/// of the rail which static power is a share of, and VR-Pipe's additions save energy.
#[test]
fn a_draw_takes_no_more_than_the_rail() {
    let config = config(&[]);
    for scene in ["truck", "statue"] {
        let (Some(splats), Some(cameras)) =
            (shared::scene(scene), shared::cameras(&format!("scenes/{scene}.cameras.json")))
        else {
            return;
        };
        let camera = cameras[0].resized(245, 245 * cameras[0].height / cameras[0].width);
        let view = prepared(&splats, &camera.unwrap());
        let of = |name| -> EnergyEstimate { energy(&run(&view, &config, name), &config).unwrap() };
        let (baseline, both) = (of("baseline"), of("het+qm"));
        let [ratio, low, high] = both.ratio_of(&baseline).unwrap();
        println!(
            "{scene}: baseline {:.2} W without DRAM, het+qm {:.2} W; energy {ratio:.2} ({low:.2} to {high:.2})",
            baseline.watts_without_dram, both.watts_without_dram
        );
        assert!(baseline.watts_without_dram <= config.energy.rail_w);
        assert!(baseline.watts_without_dram > config.energy.rail_w * config.energy.static_share);
        assert!(low > 1.0 && low <= ratio && ratio <= high);
    }
}
