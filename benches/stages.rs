//! Throughput of each stage of a frame: preprocessing in splats per second, binning and sorting in
//! splats in view per second, raster in pixels per second.
#![allow(missing_docs, reason = "criterion's macros write undocumented functions")]
#![allow(clippy::unwrap_used, reason = "a benchmark ends at the first error")]

mod support;

use std::time::Duration;

use criterion::{
    BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};
use quadrille::Frame;
use quadrille::RenderSettings;
use quadrille::RenderTimes;
use quadrille::Renderer;

use support::Cloud;

/// A stage: its name and its time.
type Stage = (&'static str, fn(&RenderTimes) -> Duration);

const STAGES: [Stage; 5] = [
    ("preprocess", |t| t.preprocess),
    ("sort", |t| t.sort),
    ("bin", |t| t.bin),
    ("raster", |t| t.raster),
    ("total", |t| t.total),
];

/// Scenes for pictures of 1 Mpixel, with about the same number of fragments per pixel.
const CLOUDS: [Cloud; 3] = [cloud(30_000, 12.0, 3), cloud(300_000, 3.8, 0), cloud(300_000, 3.8, 3)];

const fn cloud(splats: usize, sigma_px: f64, sh_degree: u8) -> Cloud {
    Cloud { splats, width: 1280, height: 800, sigma_px, sh_degree }
}

fn stages(criterion: &mut Criterion) {
    let settings = RenderSettings::default();
    for cloud in CLOUDS {
        let (splats, camera) = (cloud.build(), cloud.camera());
        let (mut renderer, mut frame) = (Renderer::default(), Frame::new(0, 0));
        let (counts, _) = renderer
            .render_into(&mut frame, &splats, &camera, &settings, &quadrille::Task::NEVER)
            .unwrap();
        let mut group = criterion.benchmark_group("stages");
        // The stages are timed inside whole frames, which take much longer than one stage.
        group
            .sampling_mode(SamplingMode::Flat)
            .sample_size(10)
            .warm_up_time(Duration::from_millis(100))
            .measurement_time(Duration::from_millis(200));
        for (name, stage) in STAGES {
            group.throughput(Throughput::Elements(match name {
                "preprocess" => splats.len() as u64,
                "raster" | "total" => u64::from(camera.width) * u64::from(camera.height),
                _ => counts.splats_in_frustum,
            }));
            let parameter = format!("{} splats, degree {}", cloud.splats, cloud.sh_degree);
            group.bench_function(BenchmarkId::new(name, parameter), |bencher| {
                bencher.iter_custom(|frames| {
                    let mut time = || {
                        stage(
                            &renderer
                                .render_into(
                                    &mut frame,
                                    &splats,
                                    &camera,
                                    &settings,
                                    &quadrille::Task::NEVER,
                                )
                                .unwrap()
                                .1,
                        )
                    };
                    (0..frames).map(|_| time()).sum()
                });
            });
        }
        group.finish();
    }
}

criterion_group!(benches, stages);
criterion_main!(benches);
