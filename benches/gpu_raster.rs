//! Throughput of rasterization in quads per second: strips, 8x8 masks, and their division into quads.
#![allow(missing_docs, reason = "criterion's macros write undocumented functions")]
#![allow(clippy::cast_possible_truncation, reason = "of small numbers")]

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use quadrille::raster::geometry::PixelRect;
use quadrille::raster::geometry::Vertex;
use quadrille::raster::polygon::Polygon;
use quadrille::raster::strip::tile_quads;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

const PICTURE: PixelRect = PixelRect { x0: 0, y0: 0, x1: 1920, y1: 1080 };

/// Numbers of boxes, and the ranges of their semi-axes in pixels.
const BOXES: [(usize, [f64; 2]); 2] = [(2000, [4.0, 5.0]), (100, [90.0, 110.0])];

/// The two triangles of each of `len` boxes at random places and angles.
fn triangles(len: usize, [least, most]: [f64; 2]) -> Vec<Polygon> {
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let mut polygons = Vec::new();
    for _ in 0..len {
        let [x, y] = [1920.0, 1080.0].map(|side| random.random_range(0.0..side));
        let (sin, cos) = random.random_range(0.0..std::f64::consts::TAU).sin_cos();
        let [p, q] = [(); 2].map(|()| random.random_range(least..most));
        let corner = |s: f64, t: f64| Vertex {
            x: ((x + s * p * cos - t * q * sin) * 256.0).round() as i32,
            y: ((y + s * p * sin + t * q * cos) * 256.0).round() as i32,
        };
        let c = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(s, t)| corner(s, t));
        polygons.extend(Polygon::triangle([c[0], c[1], c[2]]));
        polygons.extend(Polygon::triangle([c[0], c[2], c[3]]));
    }
    polygons
}

/// Calls `on_mask` with the mask, which may be empty, of every 8x8 tile in the bounds of a triangle.
fn masks(polygon: &Polygon, mut on_mask: impl FnMut(u64)) {
    let bounds = polygon.pixel_bounds().intersect(PICTURE);
    for y0 in (bounds.y0 & !15..bounds.y1).step_by(16) {
        for x0 in (bounds.x0 & !15..bounds.x1).step_by(48) {
            let strip = polygon.strip([x0, y0], PICTURE);
            let columns = (bounds.x1 - x0).min(48).unsigned_abs();
            for column in (0..columns).step_by(8) {
                for row in [0, 8] {
                    on_mask(strip.tile_mask(column, row));
                }
            }
        }
    }
}

/// Sums over all quads, so that the compiler cannot leave any out.
fn all_quads(polygons: &[Polygon]) -> u64 {
    let mut sum = 0;
    for polygon in polygons {
        masks(polygon, |mask| {
            for quad in tile_quads(mask) {
                sum += u64::from(quad.mask) << quad.place;
            }
        });
    }
    sum
}

fn quads(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("gpu raster");
    group
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1));
    for (len, axes) in BOXES {
        let polygons = triangles(len, axes);
        let (mut quads, mut strips) = (0, 0);
        for polygon in &polygons {
            masks(polygon, |mask| quads += tile_quads(mask).len() as u64);
            let bounds = polygon.pixel_bounds().intersect(PICTURE);
            strips += (bounds.y0 & !15..bounds.y1).step_by(16).len() as u64;
        }
        let size = format!("semi-axes {} to {} px", axes[0], axes[1]);
        group.throughput(Throughput::Elements(strips));
        group.bench_function(BenchmarkId::new("strips", &size), |bencher| {
            bencher.iter(|| {
                for polygon in &polygons {
                    let bounds = polygon.pixel_bounds().intersect(PICTURE);
                    for y0 in (bounds.y0 & !15..bounds.y1).step_by(16) {
                        std::hint::black_box(polygon.strip([bounds.x0 & !15, y0], PICTURE));
                    }
                }
            });
        });
        group.throughput(Throughput::Elements(quads));
        group.bench_function(BenchmarkId::new("masks", &size), |bencher| {
            bencher.iter(|| {
                let mut sum = 0;
                for polygon in &polygons {
                    masks(polygon, |mask| sum ^= mask);
                }
                sum
            });
        });
        group.bench_function(BenchmarkId::new("quads", &size), |bencher| {
            bencher.iter(|| all_quads(&polygons));
        });
    }
    group.finish();
}

criterion_group!(benches, quads);
criterion_main!(benches);
