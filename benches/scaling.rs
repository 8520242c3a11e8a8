//! Time of a frame as a function of the number of splats and pixels together, so that splats keep their size in
//! pixels, and of the number of pixels alone.
#![allow(missing_docs, reason = "criterion's macros write undocumented functions")]
#![allow(clippy::unwrap_used, reason = "a benchmark ends at the first error")]

mod support;

use std::time::Duration;

use criterion::{
    BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};
use quadrille::Frame;
use quadrille::RenderSettings;
use quadrille::Renderer;

use support::Cloud;

/// Numbers of splats and widths of pictures; the height is 5/8 of the width, so there are 0.64 pixels per
/// splat. The size of splats in world units is proportional to the square root of 1 / number. The
/// largest scene takes about 2 GB.
const GROWING: [(usize, u32); 4] =
    [(10_000, 101), (100_000, 320), (1_000_000, 1012), (10_000_000, 3200)];

/// Widths of pictures of 0.25, 0.5, 1, 2, 4 and 8 Mpixel of one scene.
const WIDTHS: [u32; 6] = [632, 894, 1265, 1789, 2530, 3578];

const fn cloud(splats: usize, width: u32, sigma_px: f64) -> Cloud {
    Cloud { splats, width, height: width * 5 / 8, sigma_px, sh_degree: 0 }
}

fn scaling(criterion: &mut Criterion) {
    let settings = RenderSettings::default();
    let (mut renderer, mut frame) = (Renderer::default(), Frame::new(0, 0));
    let mut group = criterion.benchmark_group("scaling");
    group
        .sampling_mode(SamplingMode::Flat)
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2));
    for (count, width) in GROWING {
        let cloud = cloud(count, width, 1.5);
        let (splats, camera) = (cloud.build(), cloud.camera());
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(BenchmarkId::new("splats and pixels", count), |bencher| {
            bencher.iter(|| {
                renderer
                    .render_into(&mut frame, &splats, &camera, &settings, &quadrille::Task::NEVER)
                    .unwrap()
            });
        });
    }
    let cloud = cloud(500_000, WIDTHS[2], 3.0);
    let splats = cloud.build();
    for width in WIDTHS {
        let camera = Cloud { width, height: width * 5 / 8, ..cloud }.camera();
        let pixels = u64::from(camera.width) * u64::from(camera.height);
        group.throughput(Throughput::Elements(pixels));
        group.bench_function(BenchmarkId::new("pixels", pixels), |bencher| {
            bencher.iter(|| {
                renderer
                    .render_into(&mut frame, &splats, &camera, &settings, &quadrille::Task::NEVER)
                    .unwrap()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, scaling);
criterion_main!(benches);
