//! Speed of the emulation in rasterized quads per second: every unit alone, fed with the packets of a real
//! frame, and the whole pipeline.
#![allow(missing_docs, reason = "criterion's macros write undocumented functions")]
#![allow(clippy::unwrap_used, reason = "benches")]

use std::path::Path;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use quadrille::Profile;
use quadrille::Recipe;
use quadrille::SimdLevel;
use quadrille::Synthetic;
use quadrille::gpu::coalesce::quad_reorder::QuadReorder;
use quadrille::gpu::coalesce::tile_coalescing::TileCoalescing;
use quadrille::gpu::coalesce::tile_grid_coalescing::TileGridCoalescing;
use quadrille::gpu::coalesce::warp_packing::WarpPacking;
use quadrille::gpu::config::Config;
use quadrille::gpu::crop::unit::Crop;
use quadrille::gpu::draw::Draw;
use quadrille::gpu::draw_state::DrawState;
use quadrille::gpu::geometry::assembly::Assembly;
use quadrille::gpu::geometry::vertex::VertexShading;
use quadrille::gpu::raster::coarse::Coarse;
use quadrille::gpu::raster::fine::Fine;
use quadrille::gpu::raster::hi_z::HiZ;
use quadrille::gpu::raster::setup::Setup;
use quadrille::gpu::tile_owner::TileOwner;
use quadrille::gpu::variant::Variant;
use quadrille::gpu::view::PreparedView;
use quadrille::gpu::warp::cores::Cores;
use quadrille::gpu::warp::fragment::FragmentShader;
use quadrille::gpu::warp::launch::Launch;
use quadrille::gpu::wiring::Simulator;
use quadrille::gpu::wiring::draw_state;
use quadrille::gpu::zrop::framebuffer::Tests;
use quadrille::gpu::zrop::prop::Prop;
use quadrille::gpu::zrop::unit::Zrop;
use quadrille::load;
use quadrille::machine::stage::Sink;
use quadrille::machine::stage::Stage;
use quadrille::machine::timing::Cycle;
use quadrille::raster::tiles::TileLayout;

/// Width and height of the picture in pixels.
const SIZE: [u32; 2] = [480, 270];

/// Packets with the cycles at which they were offered.
struct Recorded<P>(Vec<(P, Cycle)>);

impl<P, M> Sink<P, M> for Recorded<P> {
    fn offer(&mut self, item: P, at: Cycle, _machine: &mut M) -> Cycle {
        self.0.push((item, at));
        at
    }

    fn end(&mut self, _at: Cycle, _machine: &mut M) {}
}

/// Accepts and drops every packet without delay.
struct Nowhere;

impl<P, M> Sink<P, M> for Nowhere {
    fn offer(&mut self, _item: P, at: Cycle, _machine: &mut M) -> Cycle {
        at
    }

    fn end(&mut self, _at: Cycle, _machine: &mut M) {}
}

/// Sends packets through a unit, each once the one before is accepted, and drains the unit.
fn feed<'a, S: Stage<DrawState<'a>>>(
    mut stage: S,
    packets: &[(S::In, Cycle)],
    machine: &mut DrawState<'a>,
    next: &mut impl Sink<S::Out, DrawState<'a>>,
) where
    S::In: Clone,
{
    let mut last = 0;
    for (packet, at) in packets {
        last = stage.accept(packet.clone(), (*at).max(last), machine, next);
    }
    stage.drain(last, machine, next);
}

/// Frame that provides packets and a machine for single units.
struct Frame<'a> {
    draw: &'a Draw,
    config: Config,
    quads: u64,
}

impl<'a> Frame<'a> {
    fn machine(&self) -> DrawState<'a> {
        let level = SimdLevel::best();
        let shader = FragmentShader::new(&self.draw.splats, SIZE, 0.99, level, None);
        let tests = Tests::default();
        draw_state(self.draw, shader, &tests, &self.config, true)
    }

    /// Measures a unit on `packets` and returns the packets that it emits.
    fn bench<S: Stage<DrawState<'a>>>(
        &self,
        criterion: &mut Criterion,
        name: &str,
        packets: &[(S::In, Cycle)],
        unit: impl Fn() -> S,
    ) -> Vec<(S::Out, Cycle)>
    where
        S::In: Clone,
    {
        let mut group = criterion.benchmark_group("unit");
        group.sample_size(10);
        group.throughput(Throughput::Elements(self.quads));
        group.bench_function(name, |bencher| {
            bencher.iter_batched(
                || (unit(), self.machine()),
                |(unit, mut machine)| feed(unit, packets, &mut machine, &mut Nowhere),
                BatchSize::PerIteration,
            );
        });
        group.finish();
        let mut out = Recorded(Vec::new());
        feed(unit(), packets, &mut self.machine(), &mut out);
        out.0
    }
}

fn prepared<'a>(scene: &'a quadrille::Scene, level: SimdLevel) -> PreparedView<'a> {
    let world = Synthetic::new(Recipe::World, 0, 140_000, 0).unwrap();
    let camera = world.cameras()[0].resized(SIZE[0], SIZE[1]).unwrap();
    PreparedView::new(&scene.splats, &camera, &Profile::default(), level, &quadrille::Task::NEVER)
        .unwrap()
}

fn scene() -> quadrille::Scene {
    load(Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes/island.ply")).unwrap()
}

fn units(criterion: &mut Criterion) {
    let scene = scene();
    let view = prepared(&scene, SimdLevel::best());
    let config = Config::default();
    let whole = view.run(&Simulator::default(), &Tests::default());
    let frame =
        Frame { draw: view.draw(), quads: whole.outcome.quads.rasterized, config: config.clone() };
    let tiles = frame.machine().framebuffer.layout.tiles();
    let splats: Vec<_> = (0..view.draw().len()).map(|splat| (splat, 0)).collect();
    let c = criterion;
    let primitives = frame.bench(c, "vertex", &splats, || VertexShading::new(&config.vertex));
    let visible = frame.bench(c, "vpo", &primitives, || Assembly::new(&config.vpo));
    frame.bench(c, "tgc", &visible, || {
        TileGridCoalescing::new(
            &config.tgc,
            true,
            TileLayout::new(SIZE[0], SIZE[1]),
            TileOwner::only(),
        )
    });
    let edges = frame.bench(c, "setup", &visible, || Setup::new(&config.setup));
    let owner = TileOwner::only();
    let coarse = frame.bench(c, "coarse", &edges, || Coarse::new(&config.coarse, owner));
    let near = frame.bench(c, "hi_z", &coarse, || HiZ::new(&config.hi_z));
    let fine = frame.bench(c, "fine", &near, || Fine::new(&config.fine));
    let beats =
        frame.bench(c, "tc", &fine, || TileCoalescing::new(&config.tc, config.tc.policy(), tiles));
    let ordered = frame.bench(c, "prop", &beats, || Prop::new(&config.prop));
    frame.bench(c, "zrop, nothing tested", &ordered, || zrop(&config, false, tiles));
    let tested = frame.bench(c, "zrop", &ordered, || zrop(&config, true, tiles));
    frame.bench(c, "qru", &tested, || QuadReorder::new(&config.qru, true));
    let packed = frame.bench(c, "pack", &tested, || {
        WarpPacking::new(&config.pack, config.prop.quads_out_per_cycle)
    });
    let launched = frame.bench(c, "launch", &packed, || Launch::new(&config.launch));
    let shaded = frame.bench(c, "cores", &launched, || Cores::new(&config.cores, false));
    frame.bench(c, "crop", &shaded, || {
        Crop::new(&config.crop, None, 0, 0..u32::try_from(tiles).unwrap() * 16)
    });
}

fn zrop(config: &Config, terminating: bool, tiles: usize) -> Zrop {
    Zrop::new(&config.zrop, terminating, 0, 0..u32::try_from(tiles).unwrap() * 2)
}

fn whole(criterion: &mut Criterion) {
    let scene = scene();
    let view = prepared(&scene, SimdLevel::best());
    let config = Config::default();
    let mut group = criterion.benchmark_group("pipeline");
    group.sample_size(10);
    for variant in Variant::ALL {
        let simulator = Simulator::new(&config, variant).unwrap();
        let run = || view.run(&simulator, &Tests::default());
        group.throughput(Throughput::Elements(run().outcome.quads.rasterized));
        group.bench_function(variant.to_string(), |bencher| bencher.iter(run));
    }
    group.finish();
}

criterion_group!(benches, units, whole);
criterion_main!(benches);
