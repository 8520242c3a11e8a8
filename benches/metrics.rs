//! Throughput of comparing pictures, in pixels per second.
#![allow(missing_docs, reason = "criterion's macros write undocumented functions")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use quadrille::Frame;
use quadrille::Protocol;
use quadrille::compare;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Usual picture size of Tanks and Temples in work on 3D Gaussian splatting.
const WIDTH: u32 = 980;
const HEIGHT: u32 = 545;

/// A seeded noise picture.
fn noise(seed: u64) -> Frame {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let pixels = (0..WIDTH * HEIGHT).map(|_| {
        let [r, g, b] = [(); 3].map(|()| random.random());
        [r, g, b, 1.0]
    });
    Frame::from_pixels(WIDTH, HEIGHT, pixels.collect())
}

fn metrics(criterion: &mut Criterion) {
    let (a, b) = (noise(1), noise(2));
    let mut group = criterion.benchmark_group("metrics");
    group.throughput(Throughput::Elements(u64::from(WIDTH * HEIGHT)));
    group.sample_size(10);
    for protocol in [Protocol::Inria, Protocol::Float] {
        group.bench_function(protocol.name(), |bencher| {
            bencher.iter(|| compare(&a, &b, protocol));
        });
    }
    group.finish();
}

criterion_group!(benches, metrics);
criterion_main!(benches);
