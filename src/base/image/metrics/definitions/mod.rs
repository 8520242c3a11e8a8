//! The metrics as they are defined, pixel by pixel, and the tests that the vector code agrees with them.

mod flip;
mod separable;
mod ssim;

use super::planes::{Pair, Protocol};
use super::separable::Border;
use crate::image::Frame;
use crate::math::SimdLevel;

const FLIP_BOUND: f64 = 1e-6;

/// Bound of the difference of a pixel's FLIP error: roots magnify rounding where the pictures are alike.
const PIXEL_BOUND: f64 = 2e-5;

const SSIM_BOUND: f64 = 1e-12;

fn picture(width: u32, height: u32, noise: f32, seed: u32) -> Frame {
    let hash = |v: u32| {
        let v = (v ^ seed.wrapping_mul(0x9e37_79b9)).wrapping_mul(0x85eb_ca6b);
        let v = (v ^ (v >> 13)).wrapping_mul(0xc2b2_ae35);
        ((v ^ (v >> 16)) >> 8) as f32 / 16_777_216.0 - 0.5
    };
    let pixel = |at: u32| {
        let (x, y) = ((at % width) as f32, (at / width) as f32);
        let wave = |scale: f32| 0.5 + 0.4 * (x * scale).sin() * (y * scale * 0.7).cos();
        let step = if x > 0.6 * width as f32 { 0.15 } else { 0.0 };
        let value = |c: u32, wave: f32| wave - step + noise * hash(4 * at + c);
        [value(0, wave(0.11)), value(1, wave(0.07)), value(2, wave(0.23)), 1.0]
    };
    Frame::from_pixels(width, height, (0..width * height).map(pixel).collect())
}

/// Calls `check` with pairs of sizes around the length of a vector, under every protocol, with and without a mask.
fn for_pairs(check: impl Fn(&Pair, &str)) {
    for (width, height) in [(1, 1), (3, 20), (16, 5), (33, 29), (150, 91)] {
        let [a, b] = [(0.05, 1), (0.1, 2)].map(|(noise, seed)| picture(width, height, noise, seed));
        let mask: Vec<bool> = (0..width * height).map(|at| at % 7 != 3 || at == 3).collect();
        for protocol in Protocol::ALL {
            for mask in [None, Some(mask.as_slice())] {
                let pair = Pair::new(&a, &b, protocol, mask);
                let masked = if mask.is_some() { ", masked" } else { "" };
                check(&pair, &format!("{width} x {height}, {protocol}{masked}"));
            }
        }
    }
}

#[test]
fn similarity_is_that_of_single_pixels() {
    let borders = [Some(Border::Zero), Some(Border::Mirrored), None];
    for_pairs(|pair, name| {
        for border in borders {
            let expected = ssim::ssim(pair, border);
            for level in SimdLevel::all() {
                let found = super::ssim::ssim(pair, border, level);
                let level = level.name();
                let difference = (found - expected).abs();
                assert!(difference < SSIM_BOUND, "{name}, {level}: {found} {expected}");
            }
        }
    });
}

#[test]
fn flip_errors_are_those_of_single_pixels() {
    for_pairs(|pair, name| {
        let expected = flip::error_map(pair);
        for level in SimdLevel::all() {
            let found = super::flip::error_map(pair, level);
            let differences = found.iter().zip(&expected);
            let differences = differences.map(|(found, expected)| f64::from(*found) - expected);
            let differences: Vec<f64> = differences.collect();
            let mean = differences.iter().sum::<f64>() / differences.len() as f64;
            let most = differences.iter().fold(0.0, |most, d| d.abs().max(most));
            let level = level.name();
            assert!(mean.abs() < FLIP_BOUND, "{name}, {level}: mean {mean}");
            assert!(most < PIXEL_BOUND, "{name}, {level}: {most}");
        }
    });
}
