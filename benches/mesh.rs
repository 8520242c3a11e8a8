//! Throughput of each step of a mesh frame on all cores: triangles rasterized, samples tested, quads
//! merged and quads shaded per second.
#![allow(missing_docs, reason = "criterion's macros write undocumented functions")]
#![allow(clippy::unwrap_used, reason = "benches")]

use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use quadrille::SimdLevel;
use quadrille::Task;
use quadrille::geometry::camera::MeshCamera;
use quadrille::geometry::grid::{DrawRun, GridSource};
use quadrille::geometry::surface::ProceduralScene;
use quadrille::geometry::tessellate::TessellateSettings;
use quadrille::geometry::tessellate::Tessellated;
use quadrille::mesh::frame::Cull;
use quadrille::mesh::frame::Faces;
use quadrille::mesh::frame::FrameSettings;
use quadrille::mesh::frame::VisibleFrame;
use quadrille::mesh::frame::chunk::{Chunk, MemoryBudget};
use quadrille::mesh::frame::visibility;
use quadrille::mesh::merge::MergeUnitKind;
use quadrille::mesh::merge::PmuSettings;
use quadrille::mesh::merge::QfmSettings;
use quadrille::mesh::shade::Albedo;
use quadrille::mesh::shade::AlphaTests;
use quadrille::mesh::shade::Sampling;
use quadrille::mesh::shade::ShadeSettings;
use quadrille::mesh::shade::Shader;
use quadrille::mesh::shade::Textures;
use quadrille::raster::samples::SamplePattern;

const SIZE: [u32; 2] = [864, 540];

/// Target areas of triangles in pixels, and samples per pixel.
const CASES: [(f64, u32); 3] = [(0.5, 16), (10.0, 16), (10.0, 4)];

fn steps(criterion: &mut Criterion) {
    let scene = ProceduralScene::SineWave;
    let camera = scene.viewpoint().camera("bench", SIZE[0], SIZE[1]).unwrap();
    let view = MeshCamera::new(camera, 0.01);
    for (area, samples) in CASES {
        let tessellation =
            TessellateSettings { triangle_area_px: area, ..TessellateSettings::default() };
        let source = Tessellated::new(scene.surface(1), tessellation).unwrap();
        let settings = FrameSettings {
            size: SIZE,
            pattern: SamplePattern::standard(samples).unwrap().shared(),
            faces: Faces::Material,
            cull: Cull::Quads,
            memory_bytes: quadrille::mesh::frame::MEMORY_BYTES,
            level: SimdLevel::best(),
        };
        let mut group = criterion.benchmark_group(format!("mesh {area} px, {samples}x"));
        group
            .sample_size(10)
            .warm_up_time(Duration::from_millis(300))
            .measurement_time(Duration::from_secs(2));
        let visible =
            VisibleFrame::new(&source, [&view, &view], &settings, &quadrille::Task::NEVER).unwrap();
        let plain = visible.merged(&source, MergeUnitKind::None);
        let quads = plain.counters.rasterized;

        group.throughput(Throughput::Elements(visible.triangles));
        group.bench_function("tessellate and raster, triangles, one thread", |b| {
            let budget = MemoryBudget::new(u64::MAX, &Task::NEVER);
            let run = DrawRun { batches: 0..source.batches(), is_blended: false };
            b.iter(|| {
                Chunk::new(
                    &source,
                    run.clone(),
                    [&view, &view],
                    &settings,
                    &AlphaTests::default(),
                    &budget,
                )
            });
        });
        group.throughput(Throughput::Elements(quads * 4 * u64::from(samples)));
        group.bench_function("depth test, samples", |b| {
            b.iter(|| visibility::test(&visible.chunks, &settings, &Task::NEVER));
        });
        group.throughput(Throughput::Elements(plain.counters.tested()));
        let units = [
            ("qfm 32, quads", MergeUnitKind::Qfm(QfmSettings::default())),
            ("pmu 512, quads", MergeUnitKind::Pmu(PmuSettings::default())),
        ];
        for (name, unit) in units {
            group.bench_function(name, |b| b.iter(|| visible.merged(&source, unit)));
        }
        let textures = Textures::new(source.textures(), source.materials());
        let shade =
            ShadeSettings { albedo: Albedo::Checker { scale: 32.0 }, ..ShadeSettings::default() };
        let shader = Shader::new(source.materials(), &textures, &view, shade);
        let merged = visible.merged(&source, MergeUnitKind::Qfm(QfmSettings::default()));
        group.throughput(Throughput::Elements(merged.quads.len() as u64));
        group.bench_function("shade and resolve, merged quads", |b| {
            b.iter(|| visible.picture(&shader, &merged, Sampling::Centre, Some([0.0; 3])));
        });
        group.throughput(Throughput::Elements(quads));
        group.bench_function("whole frame with qfm, quads", |b| {
            b.iter(|| {
                let visible =
                    VisibleFrame::new(&source, [&view, &view], &settings, &quadrille::Task::NEVER)
                        .unwrap();
                let merged = visible.merged(&source, MergeUnitKind::Qfm(QfmSettings::default()));
                visible.picture(&shader, &merged, Sampling::Centre, Some([0.0; 3]))
            });
        });
        group.finish();
    }
}

criterion_group!(benches, steps);
criterion_main!(benches);
