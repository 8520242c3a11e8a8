//! The accelerator: its picture, its counts, and what its sizes change.
use quadrille::gpu::compute::assign::{TileLists, TileTest};
use quadrille::gpu::gscore::accelerator::GscoreResult;
use quadrille::gpu::gscore::cull::{Bitmaps, SUBTILE_PX};
use quadrille::gpu::machine::Machine;
use quadrille::gpu::method::Method;
use quadrille::gpu::outcome::Outcome;
use quadrille::gpu::view::PreparedView;
use quadrille::gpu::wiring::Watch;
use quadrille::raster::tiles::{TILE_PX, TileLayout};
use quadrille::{Camera, Profile, SimdLevel, Splats};

use crate::support::emulated::config;
use crate::support::scenes::{self, Random};

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

fn run(view: &PreparedView<'_>, assignments: &[&str]) -> GscoreResult {
    let machine = Machine::new(&config(assignments), Method::Gscore, Watch::default()).unwrap();
    let Outcome::Gscore(result) = machine.run(view, &quadrille::Task::NEVER).unwrap().outcome
    else {
        panic!("not the accelerator's result");
    };
    assert_eq!(result.discrepancies(), Vec::<String>::new());
    *result
}

/// The picture and the fragments of the software renderer, whose stop rule it shares; and no fragment lies in
/// a subtile whose bit is not set.
#[test]
fn the_picture_is_that_of_software() {
    for seed in 0..4 {
        let (splats, camera) = random_scene(seed, [150, 90], 400);
        let view = view(&splats, &camera);
        let found = run(&view, &[]);
        let software = Method::parse("compute").unwrap();
        let software = Machine::new(&config(&[]), software, Watch::default()).unwrap();
        let software = software.run(&view, &quadrille::Task::NEVER).unwrap().outcome;
        assert!(found.frame == software.frame(), "seed {seed}");
        assert_eq!(found.counts.fragments_blended, software.fragments_blended());
        let draw = view.draw();
        let layout = TileLayout::new(draw.width, draw.height);
        let lists = TileLists::new(draw, TileTest::OrientedBox);
        let bitmaps = Bitmaps::new(draw, &lists);
        let shader = view.shader();
        for pixel in 0..draw.width * draw.height {
            let (x, y) = (pixel % draw.width, pixel / draw.width);
            let tile = (y / TILE_PX * layout.tiles_across + x / TILE_PX) as usize;
            let subtile = y % TILE_PX / SUBTILE_PX * 2 + x % TILE_PX / SUBTILE_PX;
            for (splat, bitmap) in lists.tile(tile).iter().zip(bitmaps.tile(tile)) {
                let splat = &draw.splats[*splat as usize];
                let covered = shader.fragment(splat, x, y).is_some();
                let is_set = bitmap >> subtile & 1 == 1;
                assert!(!covered || is_set, "seed {seed}: {x}, {y}");
            }
        }
    }
}

/// More units of a kind never take more cycles, and more units of the slowest stage take fewer; memory limits when
/// it is slow; results are the same on every run and at any clock.
#[test]
fn sizes_change_time_and_not_the_picture() {
    let (splats, camera) = random_scene(7, [320, 180], 3000);
    let view = view(&splats, &camera);
    let plain = run(&view, &[]);
    let names: Vec<_> = plain.counts.stages.iter().map(|stage| stage.name.name()).collect();
    assert_eq!(names, ["cull", "sort", "render"]);
    let fast = "gscore.gb_per_s=100000.0";
    let of = |name: &str, set: &str| {
        let found = run(&view, &[fast, set]);
        assert!(
            found.frame == plain.frame && found.counts.subtiles == plain.counts.subtiles,
            "{set}"
        );
        let stage = found.counts.stages.iter().find(|stage| stage.name.name() == name);
        stage.unwrap().cycles
    };
    for (stage, fewer, more) in [
        ("cull", "gscore.culling_units=2", "gscore.culling_units=4"),
        ("sort", "gscore.bitonic_units=1", "gscore.bitonic_units=4"),
        ("sort", "gscore.bitonic_width=8", "gscore.bitonic_width=16"),
        ("render", "gscore.cores=2", "gscore.cores=4"),
        ("render", "gscore.units_per_core=8", "gscore.units_per_core=16"),
    ] {
        assert!(of(stage, more) < of(stage, fewer), "{more}");
    }
    let slow = run(&view, &["gscore.gb_per_s=0.1"]);
    let bytes: u64 = slow.counts.stages.iter().map(|stage| stage.bytes).sum();
    assert!(slow.counts.frame_cycles >= bytes * 10, "{slow:?}");
    assert!(slow.counts.frame_cycles > plain.counts.frame_cycles);
    let again = run(&view, &[]);
    assert_eq!(again.counts.frame_cycles, plain.counts.frame_cycles);
    let half = run(&view, &["gscore.clock_mhz=500.0", "gscore.gb_per_s=25.6"]);
    assert_eq!(half.counts.frame_cycles, plain.counts.frame_cycles);
    assert_eq!(half.gpu_cycles().div_ceil(2), plain.gpu_cycles());
}
