//! Lower bounds of this machine (reading memory, sorting keys, blending fragments in the first-level
//! cache), compared with the stages of a frame.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "benches"
)]

mod support;

use std::hint::black_box;
use std::time::{Duration, Instant};

use fearless_simd::{dispatch, f32x16, prelude::*};
use quadrille::Frame;
use quadrille::RenderSettings;
use quadrille::RenderTimes;
use quadrille::Renderer;
use quadrille::SimdLevel;
use quadrille_base::math::lanes::exp2;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use support::Cloud;

/// Number of runs, of which the fastest counts.
const REPEATS: usize = 7;
/// Size of the memory that is read, larger than every cache.
const READ_BYTES: usize = 1 << 28;
/// Number of keys to sort.
const KEYS: usize = 1 << 20;
/// Blocks of 16 pixels per tile, and splats per block.
const BLOCKS: usize = 64;
const SPLATS: usize = 256;

/// Seconds that the fastest of [`REPEATS`] runs takes.
fn fastest(mut run: impl FnMut() -> Duration) -> f64 {
    let times = (0..REPEATS).map(|_| run());
    times.min().unwrap_or_default().as_secs_f64()
}

fn timed(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

/// Gigabytes per second that `threads` threads read sequentially.
fn read_gb_per_s(threads: usize) -> f64 {
    let words = vec![1_u64; READ_BYTES / 8];
    let sum = |part: &[u64]| part.iter().fold(0, |a: u64, b| a.wrapping_add(*b));
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let share = words.len().div_ceil(threads);
    let read = || words.par_chunks(share).map(sum).reduce(|| 0, u64::wrapping_add);
    let seconds = fastest(|| {
        timed(|| {
            black_box(pool.install(read));
        })
    });
    READ_BYTES as f64 / seconds / 1e9
}

/// Nanoseconds per key on one thread, in four passes of 8 bits over 32-bit keys with 32-bit values.
fn sort_ns_per_key() -> f64 {
    let mut random = Pcg64Mcg::seed_from_u64(2);
    let unsorted: Vec<u64> = (0..KEYS).map(|_| random.random()).collect();
    let mut spare = vec![0; KEYS];
    let seconds = fastest(|| {
        let mut keys = unsorted.clone();
        timed(|| {
            for pass in 0..4 {
                radix_pass(&keys, &mut spare, 32 + 8 * pass);
                std::mem::swap(&mut keys, &mut spare);
            }
            black_box(&mut keys);
        })
    });
    seconds * 1e9 / KEYS as f64
}

fn radix_pass(from: &[u64], to: &mut [u64], shift: u32) {
    let digit = |key: u64| (key >> shift) as usize & 255;
    let mut places = [0_usize; 256];
    for key in from {
        places[digit(*key)] += 1;
    }
    let mut sum = 0;
    for place in &mut places {
        sum += std::mem::replace(place, sum);
    }
    for key in from {
        let place = &mut places[digit(*key)];
        to[*place] = *key;
        *place += 1;
    }
}

/// Accumulators of a block: transmittance, red, green, blue.
type Block = [[f32; 16]; 4];

/// Nanoseconds per fragment on one thread with all data in the first-level cache: quadratic form,
/// exponential, cut, transmittance, three colours. Every lane holds a fragment above the cut.
fn blend_ns_per_fragment(level: SimdLevel) -> f64 {
    let mut blocks = vec![[[0.0_f32; 16]; 4]; BLOCKS];
    let splats: Vec<[f32; 8]> = (0..SPLATS)
        .map(|i| [0.01 + i as f32 * 1e-6, 0.02, 0.03, 0.1, -3.0, 0.2, 0.4, 0.6])
        .collect();
    let seconds = fastest(|| {
        blocks.fill([[1.0; 16], [0.0; 16], [0.0; 16], [0.0; 16]]);
        let blocks = black_box(&mut blocks);
        timed(|| {
            dispatch!(level.level(), simd => blend_all(simd, &splats, blocks));
            black_box(&blocks);
        })
    });
    seconds * 1e9 / (BLOCKS * SPLATS * 16) as f64
}

/// Blends one block at a time. Several blocks at once were slower on levels below AVX-512, which have too few
/// registers.
#[inline(always)]
fn blend_all<S: Simd>(simd: S, splats: &[[f32; 8]], blocks: &mut [Block]) {
    let lane = |v: f32| f32x16::splat(simd, v);
    let x = f32x16::from_fn(simd, |i| (i % 4) as f32);
    let y = f32x16::from_fn(simd, |i| (i / 4) as f32);
    for &[ux, uy, u0, vy, opacity, red, green, blue] in splats {
        for block in &mut *blocks {
            let u = x.mul_add(lane(ux), (-y).mul_add(lane(uy), lane(u0)));
            let v = y.mul_add(lane(vy), lane(u0));
            let exponent = (-u).mul_add(u, (-v).mul_add(v, lane(opacity)));
            let over_cut = exponent.simd_ge(lane(-8.0));
            let alpha = over_cut.select(exp2(simd, exponent), lane(0.0));
            let alpha = alpha.min(lane(0.99));
            let before = f32x16::load_array_ref(simd, &block[0]);
            let left = (-before).mul_add(alpha, before).max(lane(1e-30));
            left.store_array(&mut block[0]);
            let weight = before * alpha;
            for (sum, colour) in block[1..].iter_mut().zip([red, green, blue]) {
                let old = f32x16::load_array_ref(simd, sum);
                weight.mul_add(lane(colour), old).store_array(sum);
            }
        }
    }
}

/// Times of the fastest frame on one thread, with the splats in view and the fragments blended.
fn frame(level: SimdLevel) -> (RenderTimes, u64, u64) {
    let cloud = Cloud { splats: 300_000, width: 1280, height: 800, sigma_px: 3.8, sh_degree: 0 };
    let (splats, camera) = (cloud.build(), cloud.camera());
    let settings = RenderSettings { level, ..RenderSettings::default() };
    let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        let (mut renderer, mut frame) = (Renderer::default(), Frame::new(0, 0));
        let mut render = || {
            renderer
                .render_into(&mut frame, &splats, &camera, &settings, &quadrille::Task::NEVER)
                .unwrap()
        };
        let runs: Vec<_> = (0..REPEATS).map(|_| render()).collect();
        let (counts, times) = runs.into_iter().min_by_key(|(_, times)| times.total).unwrap();
        (times, counts.splats_in_frustum, counts.fragments_blended)
    })
}

fn main() {
    for threads in [1, 2] {
        println!("memory read, {threads} threads: {:7.2} GB/s", read_gb_per_s(threads));
    }
    let sort_floor = sort_ns_per_key();
    println!("radix sort, 4 passes:   {sort_floor:7.2} ns/key");
    println!("one thread, 300,000 splats, 1280 x 800:");
    for level in SimdLevel::all() {
        let blend_floor = blend_ns_per_fragment(level);
        let (times, splats, fragments) = frame(level);
        let each = |time: Duration, count: u64| time.as_secs_f64() * 1e9 / count as f64;
        let (sort, raster) = (each(times.sort, splats), each(times.raster, fragments));
        println!(
            "{:8} blend floor {blend_floor:6.3} ns/fragment, raster {raster:6.3} ({:4.1} times); sort {sort:6.2} ns/splat ({:4.1} times); preprocess {:6.2} ns/splat; bin {:6.2} ns/splat",
            level.name(),
            raster / blend_floor,
            sort / sort_floor,
            each(times.preprocess, splats),
            each(times.bin, splats),
        );
    }
}
