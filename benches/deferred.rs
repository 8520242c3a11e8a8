//! Throughput of each step of deferred shading on all cores, for a blurred and a sharp view of `arcade`: samples
//! tested, samples hit, identifiers sorted and quads shaded per second.
#![allow(missing_docs, reason = "criterion's macros write undocumented functions")]
#![allow(clippy::unwrap_used, reason = "benches")]

use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use quadrille::deferred::backend::attributes::VertexCacheSpec;
use quadrille::deferred::backend::radix::{SortEntry, TileSort, value_bits};
use quadrille::deferred::backend::resolve::Background;
use quadrille::deferred::backend::tiles::TiledPass;
use quadrille::deferred::camera::lens::Lens;
use quadrille::deferred::camera::motion::{CameraMotion, SceneMotion};
use quadrille::deferred::camera::shutter::ShutterView;
use quadrille::deferred::frame::StochasticFrame;
use quadrille::deferred::settings::DeferredSettings;
use quadrille::geometry::grid::GridSource;
use quadrille::geometry::surface::ProceduralScene;
use quadrille::geometry::tessellate::{TessellateSettings, Tessellated};
use quadrille::mesh::shade::{ShadeSettings, Shader, Textures};

const SIZE: [u32; 2] = [640, 360];
/// Pixels along the side of a tile of the second pass.
const TILE_PX: u32 = 128;
/// Radius of the blurred view's lens and the distance that it shows sharp, in world units.
const APERTURE: [f64; 2] = [0.05, 10.0];
/// Turn of the camera during the blurred view, in degrees: yaw, pitch, roll.
const TURN: [f64; 3] = [1.0, 0.0, 0.0];

fn steps(criterion: &mut Criterion) {
    let scene = ProceduralScene::Arcade;
    let camera = scene.viewpoint().camera("bench", SIZE[0], SIZE[1]).unwrap();
    let tessellation =
        TessellateSettings { triangle_area_px: 200.0, ..TessellateSettings::default() };
    let source = Tessellated::new(scene.surface(1), tessellation).unwrap();
    let [radius, focus] = APERTURE;
    let blurred =
        SceneMotion { camera: CameraMotion::in_view(&camera, [0.0; 3], TURN), draws: Vec::new() };
    let lens = Lens::new(radius, focus).unwrap();
    for (name, lens, motion) in
        [("sharp", Lens::PINHOLE, SceneMotion::NONE), ("blurred", lens, blurred)]
    {
        let view = ShutterView::new(&camera, 0.05, lens, motion).unwrap();
        let settings = DeferredSettings::default();
        let frame = StochasticFrame::new(&source, view.clone(), &settings, &quadrille::Task::NEVER)
            .unwrap();
        let mut group = criterion.benchmark_group(format!("deferred {name}"));
        group
            .sample_size(10)
            .warm_up_time(Duration::from_millis(300))
            .measurement_time(Duration::from_secs(2));
        let raster = || {
            StochasticFrame::new(&source, view.clone(), &settings, &quadrille::Task::NEVER).unwrap()
        };
        for (unit, count) in
            [("samples tested", frame.counters.sample_tests), ("samples hit", frame.counters.hits)]
        {
            group.throughput(Throughput::Elements(count));
            group.bench_function(format!("tessellate and raster, {unit}"), |b| b.iter(raster));
        }

        let spids = frame.visible.spids.iter().zip(0..);
        let entries: Vec<SortEntry> =
            spids.map(|(&spid, value)| SortEntry { spid, value }).collect();
        group.throughput(Throughput::Elements(entries.len() as u64));
        group.bench_function("sort, identifiers, one thread", |b| {
            let mut sort = TileSort::new(false);
            b.iter(|| sort.sort(&mut entries.clone(), value_bits(entries.len() as u64)));
        });

        let textures = Textures::new(source.textures(), source.materials());
        let shader = Shader::new(
            source.materials(),
            &textures,
            frame.view.middle(),
            ShadeSettings::default(),
        );
        let cache = VertexCacheSpec::default();
        let pass = TiledPass {
            tile_px: Some(TILE_PX),
            picture: Some((&shader, Background::new(None))),
            heat: false,
            measures_packed: false,
            memo_quads: None,
            vertex_cache: &cache,
        };
        let quads = frame.tiled(&pass).counters.quads;
        group.throughput(Throughput::Elements(quads));
        group.bench_function("second pass, quads shaded", |b| {
            b.iter(|| frame.tiled(&pass));
        });
        group.finish();
    }
}

criterion_group!(benches, steps);
criterion_main!(benches);
