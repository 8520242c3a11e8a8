//! The emulated pipeline's pictures: what they are, exactly, and what no configuration changes.
use quadrille::Camera;
use quadrille::ColourFormat;
use quadrille::RenderSettings;
use quadrille::SimdLevel;
use quadrille::Splats;
use quadrille::gpu::config::Config;
use quadrille::gpu::result::SimulationResult;
use quadrille::gpu::variant::Variant;
use quadrille::gpu::view::PreparedView;
use quadrille::gpu::wiring::{Simulator, Watch};
use quadrille::render_reference;

use crate::support::emulated::{
    ByHand, by_hand, config, prepared, profile, run, same_bits, within,
};
use crate::support::pictures::Differences;
use crate::support::scenes::{self, Random};
use crate::support::skipped;

/// Alpha at which the default configuration terminates a pixel.
const THRESHOLD: f64 = 0.996;
/// The same as the colour unit compares it.
const THRESHOLD_F32: f32 = 0.996;

/// A random scene from a random camera.
fn scene(seed: u64, [width, height]: [u32; 2], splats: usize) -> (Splats, Camera) {
    let mut random = Random::new(seed);
    let camera = scenes::camera(&mut random, width, height);
    let splats = scenes::splats(&mut random, &camera, splats, 1);
    (splats, camera)
}

/// As [`scene`], with many splats before each other, so that pixels terminate.
fn deep_scene(seed: u64, size: [u32; 2], splats: usize) -> (Splats, Camera) {
    let (splats, camera) = scene(seed, size, splats);
    let larger = splats.iter().map(|mut splat| {
        splat.scale = splat.scale.map(|s| s * 3.0);
        splat
    });
    let larger: Vec<_> = larger.collect();
    (Splats::from_splats(1, larger), camera)
}

/// In a colour buffer of f32, the baseline's picture is the reference renderer's.
#[test]
fn with_f32_colours_the_baseline_is_the_reference() {
    let sizes = [[1, 1], [17, 9], [64, 64], [130, 75], [320, 180]];
    let mut worst = 0.0_f64;
    for (size, seed) in sizes.into_iter().cycle().zip(0..15) {
        let (splats, camera) = scene(seed, size, 600);
        let settings = RenderSettings { profile: profile(), level: SimdLevel::best() };
        let (expected, counts) = render_reference(&splats, &camera, &settings);
        let view = prepared(&splats, &camera);
        let outcome = run(&view, &config(&["crop.format=rgba32f"]), Variant::BASELINE);
        assert_eq!(outcome.fragments.blended, counts.fragments_blended, "seed {seed}");
        let differences = Differences::between(&outcome.framebuffer.frame(), &expected);
        println!("seed {seed} {size:?}: max {:.1e}", differences.max());
        worst = worst.max(differences.max());
    }
    println!("worst {worst:.2e}");
    crate::support::tolerances::hold("emulated", worst, "random scenes");
}

/// In every format, baseline and tile-grid coalescing alone leave what blending by hand leaves.
#[test]
fn every_blend_rounds_as_by_hand() {
    for (size, seed) in [[96, 64], [33, 47], [16, 16], [200, 21]].into_iter().zip(20..) {
        for format in ColourFormat::ALL {
            for (splats, camera) in [scene(seed, size, 250), deep_scene(seed, size, 150)] {
                let expected = by_hand(&splats, &camera, format, THRESHOLD_F32);
                let view = prepared(&splats, &camera);
                let config = config(&[&format!("crop.format={}", format.name())]);
                for variant in [Variant::BASELINE, Variant::TGC] {
                    let outcome = run(&view, &config, variant);
                    let what = format!("seed {seed} {size:?} {} {variant}", format.name());
                    same_bits(&outcome.framebuffer.frame(), &expected, &what);
                    let blended = expected.iter().map(|p| u64::from(p.fragments)).sum::<u64>();
                    assert_eq!(outcome.fragments.blended, blended, "{what}");
                }
            }
        }
    }
}

/// Checks a picture against the one blended by hand, within the bounds of [`ByHand`].
fn hold(
    outcome: &SimulationResult,
    expected: &[ByHand],
    format: ColourFormat,
    threshold: f64,
) -> [f64; 2] {
    let what = format!("{} {}", outcome.variant, format.name());
    let frame = outcome.framebuffer.frame();
    let (largest, share) = match (outcome.variant.het(), outcome.variant.qru()) {
        (false, false) => {
            same_bits(&frame, expected, &what);
            (0.0, 0.0)
        }
        (false, true) => within(&frame, expected, |p| p.merging_bound(format), &what),
        (true, false) => {
            within(&frame, expected, |p| p.termination_bound(format, threshold), &what)
        }
        (true, true) => within(&frame, expected, |p| p.both_bound(format, threshold), &what),
    };
    [largest, share]
}

/// Merging changes rounding only; termination only what it may drop.
#[test]
fn merging_and_termination_stay_within_their_bounds() {
    for seed in 40..46 {
        let (splats, camera) = deep_scene(seed, [144, 96], 300);
        let view = prepared(&splats, &camera);
        for format in ColourFormat::ALL {
            let expected = by_hand(&splats, &camera, format, THRESHOLD_F32);
            let config = config(&[&format!("crop.format={}", format.name())]);
            for variant in [Variant::QM, Variant::HET, Variant::HET_QM] {
                let outcome = run(&view, &config, variant);
                let [largest, share] = hold(&outcome, &expected, format, THRESHOLD);
                println!(
                    "seed {seed} {:8} {:7}: largest difference {largest:.2e}, {:.0} % of its bound; \
                     {} pixels terminated, {} merged",
                    format.name(),
                    variant.to_string(),
                    share * 100.0,
                    outcome.terminations,
                    outcome.fragments.merged,
                );
                if variant.het() && format != ColourFormat::Rgba8 {
                    assert!(outcome.terminations > 0, "no pixel terminates");
                }
                if variant.qru() {
                    assert!(outcome.fragments.merged > 0, "nothing merges");
                }
            }
        }
    }
}

/// Sizes, rates, latencies and policies to draw from, extremes among them.
const CHOICES: [(&str, &[&str]); 55] = [
    ("gpu.gpcs", &["1", "2", "3", "4"]),
    ("gpu.tile_mapping", &["diagonal", "hashed"]),
    ("gpu.tile_block", &["1", "2", "4"]),
    ("crossbar.queue", &["1", "64"]),
    ("crossbar.latency_cycles", &["0", "20", "5000"]),
    ("distributor.warps_per_batch", &["1", "3"]),
    ("vertex.warps", &["1", "64"]),
    ("vertex.fetch_queue", &["1", "256"]),
    ("vertex.position_bytes", &["0", "64"]),
    ("vpo.queue", &["1", "64"]),
    ("tgc.queue", &["1", "64"]),
    ("tgc.fetch_queue", &["1", "256"]),
    ("tgc.bins", &["1", "2", "128"]),
    ("tgc.bin_size", &["1", "3", "16", "500"]),
    ("tgc.grid_tiles", &["1", "2", "4", "16"]),
    ("tgc.evict", &["first-in", "least-recently-used"]),
    ("setup.queue", &["1", "64"]),
    ("coarse.queue", &["1", "64"]),
    ("hi_z.queue", &["1", "64"]),
    ("fine.queue", &["1", "64"]),
    ("tc.queue", &["1", "64"]),
    ("tc.bins", &["1", "2", "32", "64"]),
    ("tc.bin_size", &["1", "3", "128", "512"]),
    ("tc.quads_in_per_cycle", &["1", "3", "16"]),
    ("tc.quads_out_per_cycle", &["1", "3", "8"]),
    ("tc.timeout_cycles", &["1", "50", "1024", "1000000000"]),
    ("tc.evict", &["first-in", "least-recently-used"]),
    ("prop.queue", &["1", "64"]),
    ("zrop.queue", &["1", "64"]),
    ("zrop.quads_per_cycle", &["1", "5", "8"]),
    ("zrop.wait_queue", &["1", "256"]),
    ("zrop.cache_bytes", &["128", "32768"]),
    ("zrop.cache_ways", &["1", "65536"]),
    ("zrop.fast_clear", &["false", "true"]),
    ("zrop.feedback_cycles", &["0", "8", "5000"]),
    ("zrop.update_cycles", &["0", "1", "50"]),
    ("zrop.feedback", &["timed", "ideal"]),
    ("qru.queue", &["1", "64"]),
    ("qru.window", &["1", "2", "7", "128", "256"]),
    ("qru.buffers", &["1", "2", "8"]),
    ("launch.queue", &["1", "64"]),
    ("cores.cores", &["1", "16"]),
    ("cores.l1_bytes", &["128", "49152"]),
    ("cores.fragment_latency_cycles", &["1", "150", "9000"]),
    ("crop.queue", &["1", "64"]),
    ("crop.cache_bytes", &["128", "1024", "16384"]),
    ("crop.cache_ways", &["1", "4", "65536"]),
    ("crop.fast_clear", &["false", "true"]),
    ("crop.write_buffer", &["1", "16"]),
    ("crop.wait_queue", &["1", "512"]),
    ("l2.bytes", &["4096", "4194304"]),
    ("l2.latency_ns", &["0", "240", "16000"]),
    ("l2.write_buffer", &["1", "4"]),
    ("dram.gb_per_s", &["0.612", "102.4"]),
    ("dram.latency_ns", &["0", "600", "16000"]),
];

/// A configuration with some fields changed at random.
fn random_config(random: &mut Random, format: ColourFormat) -> (Config, String) {
    let one_in = random.one_of(&[1, 2, 6]);
    let mut config = config(&[&format!("crop.format={}", format.name())]);
    let mut said = String::new();
    for (field, values) in CHOICES {
        if random.one_in(one_in) {
            let assignment = format!("{field}={}", random.one_of(values));
            config = config.with(&assignment).unwrap();
            said += &format!(" --set {assignment}");
        }
    }
    (config, said)
}

/// Queues, caches, latencies, timeouts, bins and GPCs change when things happen, never what.
#[test]
fn no_configuration_changes_what_is_drawn() {
    let (splats, camera) = deep_scene(60, [112, 80], 260);
    let view = prepared(&splats, &camera);
    let plain = run(&view, &Config::default(), Variant::BASELINE);
    let mut random = Random::new(61);
    let configurations = skipped::part_of(25);
    for format in ColourFormat::ALL {
        let expected = by_hand(&splats, &camera, format, THRESHOLD_F32);
        for _ in 0..configurations {
            let (config, said) = random_config(&mut random, format);
            for variant in Variant::ALL {
                let outcome = run(&view, &config, variant);
                let f = outcome.fragments;
                assert_eq!(f.rasterized, plain.fragments.rasterized, "{variant}{said}");
                assert_eq!(outcome.quads.rasterized, plain.quads.rasterized, "{variant}{said}");
                if !variant.het() {
                    assert_eq!(f.shaded, plain.fragments.shaded, "{variant}{said}");
                    assert_eq!(f.pruned, plain.fragments.pruned, "{variant}{said}");
                    assert_eq!(f.blended + f.merged, plain.fragments.blended, "{variant}{said}");
                    let q = outcome.quads;
                    assert_eq!(q.blended + q.merged_pairs, plain.quads.blended, "{variant}{said}");
                }
                hold(&outcome, &expected, format, THRESHOLD);
            }
        }
    }
}

/// Each field at its extremes, alone.
#[test]
fn no_single_field_changes_what_is_drawn() {
    let (splats, camera) = deep_scene(62, [80, 56], 200);
    let view = prepared(&splats, &camera);
    let format = ColourFormat::Rgba16F;
    let expected = by_hand(&splats, &camera, format, THRESHOLD_F32);
    for (field, values) in CHOICES {
        for value in values {
            let config = config(&[&format!("{field}={value}")]);
            for variant in Variant::ALL {
                hold(&run(&view, &config, variant), &expected, format, THRESHOLD);
            }
        }
    }
}

/// Cycles, counts and pictures of the variants on a host of some threads and a SIMD level.
fn facts(threads: usize, level: SimdLevel) -> Vec<impl PartialEq + use<>> {
    let (splats, camera) = deep_scene(63, [160, 96], 400);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build().unwrap().install(|| {
        let view = PreparedView::new(&splats, &camera, &profile(), level, &quadrille::Task::NEVER)
            .unwrap();
        let simulators = Simulator::all(&Config::default(), &Variant::ALL, Watch::default());
        let runs = view.run_all(&simulators.unwrap());
        let facts = runs.into_iter().map(|r| {
            let o = r.outcome;
            (o.cycles, o.fragments, o.quads, o.warps, o.framebuffer.frame())
        });
        facts.collect()
    })
}

#[test]
fn host_threads_and_vector_instructions_change_nothing() {
    let expected = facts(1, SimdLevel::best());
    for threads in [3, 4] {
        assert!(facts(threads, SimdLevel::best()) == expected, "{threads}");
    }
    for level in SimdLevel::all() {
        assert!(facts(1, level) == expected, "{}", level.name());
    }
}
