//! Loading a scene, compared with reading its bytes. The goal is at most three times the time of one
//! `read` of the file from the page cache into an existing buffer.
//!
//! Each round does both and times one of them, so that both find the same caches: a repeated `read`
//! alone finds file and buffer in a large third-level cache and takes half the time.
//!
//! The scene has 1.2 million splats of degree 0 (68 MB), the size of a large room.

#![allow(clippy::expect_used, reason = "a bench that cannot write its scene has nothing to say")]

use std::fs::File;
use std::hint::black_box;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use quadrille::PlyWriter;
use quadrille::Splat;
use quadrille::load;
use rand::{RngExt, SeedableRng};

const SPLATS: u64 = 1_214_806;

fn write_scene(path: &Path, sh_degree: u8) {
    let mut rng = rand_pcg::Pcg64::seed_from_u64(1);
    let file = File::create(path).expect("a writable folder");
    let mut writer = PlyWriter::new(file, SPLATS, sh_degree, &[]).expect("a header");
    for _ in 0..SPLATS {
        let mut unit = || rng.random::<f32>();
        let splat = Splat {
            mean: [unit(), unit(), unit()],
            scale: [unit() * 0.1, unit() * 0.1, unit() * 0.1],
            rotation: [unit() + 0.1, unit(), unit(), unit()],
            opacity: unit(),
            sh: [[unit(); 3]; 25],
        };
        writer.push(&splat).expect("a row");
    }
    writer.finish().expect("the last rows");
}

/// Time of `rounds` calls of `work`, each after an untimed call of `before`.
fn timed<T>(rounds: u64, mut before: impl FnMut(), mut work: impl FnMut() -> T) -> Duration {
    let mut sum = Duration::ZERO;
    for _ in 0..rounds {
        before();
        let start = Instant::now();
        let result = black_box(work());
        sum += start.elapsed();
        drop(result);
    }
    sum
}

fn load_against_read(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for sh_degree in [0, 3] {
        let path = folder.path().join(format!("degree{sh_degree}.ply"));
        write_scene(&path, sh_degree);
        let mut buffer = std::fs::read(&path).expect("the file just written");
        let mut group = criterion.benchmark_group(format!("degree{sh_degree}"));
        group.throughput(Throughput::Elements(SPLATS)).sample_size(20);
        let mut read = || {
            File::open(&path)
                .and_then(|mut file| file.read_exact(&mut buffer))
                .expect("the file just written");
        };
        group.bench_function("read", |b| {
            let before = || drop(black_box(load(&path).expect("a scene")));
            b.iter_custom(|rounds| timed(rounds, before, &mut read));
        });
        group.bench_function("load", |b| {
            b.iter_custom(|rounds| timed(rounds, &mut read, || load(&path).expect("a scene")));
        });
        group.finish();
    }
}

criterion_group!(benches, load_against_read);
criterion_main!(benches);
