//! Throughput of the emulated pipeline's shader and blend arithmetic, in quads per second on one core.
#![allow(missing_docs, reason = "criterion's macros write undocumented functions")]
#![allow(clippy::unwrap_used, reason = "a benchmark ends at the first error")]

mod support;

use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{
    BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main,
};
use quadrille::ColourFormat;
use quadrille::PixelBounds;
use quadrille::Preprocessed;
use quadrille::Profile;
use quadrille::ProjectedSplat;
use quadrille::SimdLevel;
use quadrille::gpu::warp::exact_alpha::ExactAlpha;
use quadrille::gpu::warp::fragment::FragmentShader;
use quadrille::machine::packets::ColourQuad;
use quadrille::machine::packets::Quad;
use quadrille::machine::packets::WARP_QUADS;
use quadrille::raster::tiles::TILE_PX;
use quadrille::raster::tiles::TILE_QUADS;
use quadrille_base::shading::QuadColour;
use quadrille_base::shading::under;
use quadrille_render::preprocess::ViewTransform;

use support::Cloud;

const CLOUD: Cloud = Cloud { splats: 20_000, width: 640, height: 400, sigma_px: 3.8, sh_degree: 0 };

/// A warp of one tile.
struct Warp {
    tile: [u32; 2],
    quads: Vec<Quad>,
}

/// Warps as a rasterizer fills them: tile by tile, the quads of each splat's box in drawing order.
fn warps(splats: &[ProjectedSplat], bounds: &[PixelBounds]) -> Vec<Warp> {
    let mut warps = Vec::new();
    for tile_y in 0..CLOUD.height / TILE_PX {
        for tile_x in 0..CLOUD.width / TILE_PX {
            let mut quads = Vec::new();
            for (splat, b) in (0..).zip(&bounds[..splats.len()]) {
                // Columns or rows of the box's quads within the tile; empty if they do not overlap.
                let within = |first: u16, last: u16, tile: u32| {
                    let (first, last) = (u32::from(first) / 2, u32::from(last) / 2);
                    let origin = tile * TILE_QUADS;
                    first.max(origin)..(last + 1).min(origin + TILE_QUADS)
                };
                for row in within(b.y0, b.y1, tile_y) {
                    for column in within(b.x0, b.x1, tile_x) {
                        let position = row % TILE_QUADS * TILE_QUADS + column % TILE_QUADS;
                        quads.push(Quad {
                            primitive: splat,
                            position: u8::try_from(position).unwrap_or_default(),
                            mask: 15,
                        });
                    }
                }
            }
            warps.extend(
                quads
                    .chunks(WARP_QUADS)
                    .map(|quads| Warp { tile: [tile_x, tile_y], quads: quads.to_vec() }),
            );
        }
    }
    warps
}

fn quick<'a>(criterion: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(1500));
    group
}

fn shade(criterion: &mut Criterion) {
    let (profile, camera, scene) = (Profile::default(), CLOUD.camera(), CLOUD.build());
    let mut preprocessed = Preprocessed::default();
    preprocessed.run(&scene, &camera, &profile, &quadrille::Task::NEVER).unwrap();
    let (splats, bounds): (Vec<ProjectedSplat>, Vec<PixelBounds>) =
        preprocessed.in_order().map(|(s, b)| (*s, b)).unzip();
    let warps = warps(&splats, &bounds);
    let exact = ExactAlpha {
        splats: &scene,
        view: ViewTransform::new(&scene, &camera, &profile),
        cap: profile.alpha_cap,
    };
    let size = [CLOUD.width, CLOUD.height];
    let mut group = quick(criterion, "shade");
    group.throughput(Throughput::Elements(warps.iter().map(|w| w.quads.len() as u64).sum()));
    for level in SimdLevel::all() {
        let shader = FragmentShader::new(&splats, size, profile.alpha_cap, level, Some(&exact));
        group.bench_function(BenchmarkId::from_parameter(level.name()), |bencher| {
            let mut out = [ColourQuad::default(); WARP_QUADS];
            bencher.iter(|| {
                for warp in &warps {
                    shader.shade(warp.tile[0], warp.tile[1], &warp.quads, &mut out);
                    black_box(&mut out);
                }
            });
        });
    }
    group.finish();
}

fn blend(criterion: &mut Criterion) {
    const QUADS: usize = 64;
    let quad = |i: usize| -> QuadColour {
        std::array::from_fn(|c| std::array::from_fn(|f| ((i + 4 * c + f) % 97) as f32 / 400.0))
    };
    let shaded: Vec<QuadColour> = (0..QUADS).map(quad).collect();
    let mut group = quick(criterion, "store and under");
    group.throughput(Throughput::Elements(QUADS as u64));
    for format in ColourFormat::ALL {
        group.bench_function(BenchmarkId::from_parameter(format.name()), |bencher| {
            let mut buffer = [[[0.0; 4]; 4]; QUADS];
            bencher.iter(|| {
                for (stored, back) in buffer.iter_mut().zip(&shaded) {
                    *stored = black_box(format).store(under(stored, back));
                }
                black_box(&mut buffer);
            });
        });
    }
    group.finish();
}

criterion_group!(benches, shade, blend);
criterion_main!(benches);
