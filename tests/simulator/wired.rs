//! The units wired together, over random draws and random sizes of everything: whatever the sizes,
//! nothing is lost, every cycle is accounted for, and the picture is the same.
use quadrille::DepthTest;
use quadrille::StencilTest;
use quadrille::gpu::config::Config;
use quadrille::gpu::draw::Draw;
use quadrille::gpu::result::SimulationResult;
use quadrille::gpu::variant::Variant;
use quadrille::gpu::wiring::Simulator;
use quadrille::gpu::wiring::Watch;
use quadrille::gpu::zrop::framebuffer::Tests;
use quadrille_base::shading::CompareOp;
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg32;

/// Draws tried.
const SEEDS: u64 = 60;

/// Sizes, rates and latencies to choose from: small ones, where units get in each other's way.
const CHOICES: [(&str, &[&str]); 28] = [
    ("gpu.gpcs", &["1", "1", "2", "3"]),
    ("gpu.tile_block", &["1", "2", "4"]),
    ("crossbar.queue", &["1", "64"]),
    ("crossbar.primitives_per_cycle", &["1", "1/3", "2"]),
    ("distributor.warps_per_batch", &["1", "3"]),
    ("vertex.warps", &["1", "64"]),
    ("vpo.queue", &["1", "2"]),
    ("vpo.primitives_per_cycle", &["1", "1/7"]),
    ("tgc.bins", &["1", "2", "128"]),
    ("tgc.bin_size", &["1", "3", "16"]),
    ("tgc.grid_tiles", &["1", "2", "4"]),
    ("setup.queue", &["1", "32"]),
    ("hi_z.tiles_per_cycle", &["2", "1/3", "3/2"]),
    ("tc.bins", &["1", "2", "5", "32"]),
    ("tc.bin_size", &["1", "7", "8", "128"]),
    ("tc.quads_out_per_cycle", &["1", "3", "8", "16"]),
    ("tc.timeout_cycles", &["1", "20", "1024"]),
    ("prop.quads_in_per_cycle", &["1", "8"]),
    ("zrop.wait_queue", &["1", "256"]),
    ("zrop.cache_bytes", &["128", "256", "32768"]),
    ("zrop.feedback_cycles", &["0", "8", "100"]),
    ("zrop.update_cycles", &["0", "1", "5"]),
    ("qru.window", &["1", "2", "128"]),
    ("qru.buffers", &["1", "2"]),
    ("launch.latency_cycles", &["0", "20"]),
    ("cores.warps_per_core", &["1", "48"]),
    ("crop.cache_bytes", &["128", "1024", "16384"]),
    ("crop.wait_queue", &["1", "640"]),
];

fn config(random: &mut impl Rng) -> Config {
    CHOICES.into_iter().fold(Config::default(), |config, (field, values)| {
        let value = values[random.random_range(0..values.len())];
        config.with(&format!("{field}={value}")).unwrap()
    })
}

/// Rectangles of all sizes, some of them partly or wholly off the picture, and not of one depth.
fn draw(random: &mut impl Rng) -> Draw {
    let [width, height] = [0; 2].map(|_| random.random_range(1..100));
    let rectangles: Vec<_> = (0..random.random_range(1..80))
        .map(|_| {
            let [x, y] = [width, height].map(|side| random.random_range(0..side + 10));
            let [w, h] = [0; 2].map(|_| random.random_range(0..40));
            [x, y, w, h]
        })
        .collect();
    let mut draw = Draw::rectangles(width, height, &rectangles, [1.0; 3], 0.7);
    for splat in &mut draw.splats {
        splat.colour = random.random();
        splat.depth = random.random();
        if random.random_range(0..8) == 0 {
            // Below the cut: pruned in the shader.
            splat.log2_opacity = -9.0;
        }
    }
    draw
}

fn tests(random: &mut impl Rng, draw: &Draw) -> Tests {
    let pixels = draw.width * draw.height;
    let stencil = StencilTest { compare: CompareOp::Equal, reference: 1, ..StencilTest::default() };
    let depth = DepthTest { compare: CompareOp::Less, write: false };
    let on = |random: &mut dyn Rng| random.random_range(0..3) == 0;
    Tests {
        stencil: on(random).then(|| {
            let values = (0..pixels).map(|_| random.random_range(0..2));
            (stencil, values.collect())
        }),
        depth: on(random).then(|| {
            let values = (0..pixels).map(|_| random.random());
            (depth, values.collect())
        }),
    }
}

fn run(draw: &Draw, tests: &Tests, config: &Config, variant: Variant) -> SimulationResult {
    let watch = Watch { maps: true, timelines: true, ..Watch::default() };
    let simulator = Simulator::new(config, variant).unwrap();
    simulator.watching(watch).run(draw, draw.shader(), tests)
}

#[test]
fn nothing_is_lost_whatever_the_sizes() {
    for seed in 0..SEEDS {
        let random = &mut Pcg32::seed_from_u64(seed);
        let draw = draw(random);
        let tests = tests(random, &draw);
        let plain = run(&draw, &tests, &Config::default(), Variant::BASELINE);
        assert_eq!(plain.discrepancies(), Vec::<String>::new(), "seed {seed}");
        for variant in Variant::ALL {
            let config = config(random);
            let outcome = run(&draw, &tests, &config, variant);
            let wrong = outcome.discrepancies();
            assert_eq!(wrong, Vec::<String>::new(), "seed {seed}, {variant}: {config:?}");
            assert_eq!(outcome.fragments.rasterized, plain.fragments.rasterized);
            if !variant.het() {
                assert_eq!(outcome.fragments.shaded, plain.fragments.shaded);
            }
            if !variant.het() && !variant.qru() {
                let same = outcome.framebuffer.frame() == plain.framebuffer.frame();
                assert!(same, "seed {seed}, {variant}");
            }
            let again = run(&draw, &tests, &config, variant);
            assert_eq!(again.cycles, outcome.cycles);
            assert!(again.framebuffer.frame() == outcome.framebuffer.frame());
        }
    }
}
