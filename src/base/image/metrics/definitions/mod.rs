//! The metrics as they are defined, pixel by pixel, and the tests that the vector code agrees with them.

mod flip;
mod loss;
mod separable;
mod ssim;

use self::loss::Stack;
use super::loss::{LossPadding, LossPictures, LossTerms};
use super::planes::{Pair, Protocol};
use super::separable::Border;
use crate::image::Frame;
use crate::math::{SimdLevel, narrow};

const FLIP_BOUND: f64 = 1e-6;

/// Bound of the difference of a pixel's FLIP error: roots magnify rounding where the pictures are alike.
const PIXEL_BOUND: f64 = 2e-5;

const SSIM_BOUND: f64 = 1e-12;

/// Bound of the error of a gradient relative to its norm.
const GRADIENT_BOUND: f64 = 1e-5;

/// Bound of the difference of a derivative from a central difference, relative to the largest derivative.
const DIFFERENCE_BOUND: f64 = 1e-6;

const LOSS_FACTORS: LossTerms = LossTerms { mean_absolute: 0.8, ssim: -0.2 };

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

/// Two pictures of `channels` channels. The second differs from the first by noise.
fn stack(
    size: [u32; 2],
    channels: usize,
    pictures: u32,
    noise: f32,
    padding: LossPadding,
) -> Stack {
    let [width, height] = size;
    let values = |noise: f32, seed: u32| -> Vec<f64> {
        let picture = picture(width, height * pictures, noise, seed);
        let of_pixel = |pixel: &[f32; 4]| (0..channels).map(|c| f64::from(pixel[c % 3])).collect();
        picture.pixels().iter().flat_map(|pixel| -> Vec<f64> { of_pixel(pixel) }).collect()
    };
    let [a, b] = [values(0.0, 1), values(noise, 2)];
    Stack { a, b, width: width as usize, height: height as usize, channels, padding }
}

/// Calls `check` with stacks of pictures whose rows end before, at and behind the end of a vector.
fn for_stacks(check: impl Fn(&Stack, &str)) {
    let sizes = [[1, 1], [3, 20], [16, 5], [11, 11], [12, 29], [33, 13]];
    for (size, noise) in sizes.into_iter().zip([0.1, 0.05, 0.5, 0.001, 0.2, 0.1]) {
        for (channels, pictures) in [(1, 1), (3, 1), (3, 2), (5, 1)] {
            for padding in [LossPadding::Same, LossPadding::Valid] {
                if padding == LossPadding::Same || size[0].min(size[1]) >= 11 {
                    let name = format!("{size:?}, {channels} channels, {pictures}, {padding}");
                    check(&stack(size, channels, pictures, noise, padding), &name);
                }
            }
        }
    }
}

fn with_pictures<R>(stack: &Stack, visit: impl FnOnce(&LossPictures<'_>) -> R) -> R {
    let [a, b] = [&stack.a, &stack.b].map(|v| Vec::from_iter(v.iter().copied().map(narrow)));
    let Stack { width, height, channels, padding, .. } = *stack;
    visit(&LossPictures { a: &a, b: &b, width, height, channels, padding })
}

fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}

#[test]
fn loss_gradients_are_central_differences() {
    const STEP: f64 = 1e-4;
    for_stacks(|stack, name| {
        let gradient = stack.gradient(&LOSS_FACTORS);
        let largest = gradient.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        let mut moved =
            Stack { a: stack.a.clone(), b: stack.b.clone(), padding: stack.padding, ..*stack };
        for at in (0..gradient.len()).step_by(1 + gradient.len() / 8) {
            let loss = |moved: &Stack| {
                let terms = moved.terms();
                LOSS_FACTORS.mean_absolute * terms.mean_absolute + LOSS_FACTORS.ssim * terms.ssim
            };
            // Four points: the error of a difference of two is above the bound for small pictures.
            let [far, near] = [2.0 * STEP, STEP].map(|step| {
                moved.a[at] = stack.a[at] + step;
                let above = loss(&moved);
                moved.a[at] = stack.a[at] - step;
                let below = loss(&moved);
                moved.a[at] = stack.a[at];
                (above - below) / (2.0 * step)
            });
            let expected = (4.0 * near - far) / 3.0;
            let error = (gradient[at] - expected).abs() / largest;
            let is_smooth = (stack.a[at] - stack.b[at]).abs() > 2.0 * STEP;
            assert!(!is_smooth || error < DIFFERENCE_BOUND, "{name}, value {at}: {error}");
        }
    });
}

#[test]
fn loss_gradients_are_those_of_single_windows() {
    for_stacks(|stack, name| {
        let Stack { a, b, padding, .. } = stack;
        let exchanged = Stack { a: b.clone(), b: a.clone(), padding: *padding, ..*stack };
        let terms = stack.terms();
        let expected = [stack, &exchanged].map(|stack| stack.gradient(&LOSS_FACTORS));
        with_pictures(stack, |pictures| {
            for level in SimdLevel::all() {
                let found = pictures.gradients_at(&LOSS_FACTORS, [true; 2], level);
                let (found, gradients) = found.unwrap();
                let level = level.name();
                for (gradient, expected) in gradients.iter().zip(&expected) {
                    let differences = gradient.iter().zip(expected);
                    let error = norm(differences.map(|(found, of)| f64::from(*found) - of));
                    let error = error / norm(expected.iter().copied());
                    assert!(error < GRADIENT_BOUND, "{name}, {level}: {error}");
                }
                for (found, expected) in
                    [(found.ssim, terms.ssim), (found.mean_absolute, terms.mean_absolute)]
                {
                    assert!((found - expected).abs() < SSIM_BOUND, "{name}, {level}: {found}");
                }
            }
        });
    });
}

#[test]
fn losses_measure_as_comparisons() {
    let [a, b] = [(0.05, 1), (0.1, 2)].map(|(noise, seed)| picture(33, 29, noise, seed));
    let colours = |picture: &Frame| -> Vec<f32> {
        picture.pixels().iter().flat_map(|[r, g, b, _]| [*r, *g, *b]).collect()
    };
    let [red, blue] = [&a, &b].map(colours);
    for (padding, border) in [(LossPadding::Same, Some(Border::Zero)), (LossPadding::Valid, None)] {
        let pictures =
            LossPictures { a: &red, b: &blue, width: 33, height: 29, channels: 3, padding };
        let expected = ssim::ssim(&Pair::new(&a, &b, Protocol::Float, None), border);
        let terms = pictures.terms().unwrap();
        assert!((terms.ssim - expected).abs() < SSIM_BOUND, "{padding}: {}", terms.ssim);
        assert_eq!(terms, pictures.gradients(&LOSS_FACTORS, [true, false]).unwrap().0);
        // Without the rounding of the sum, to which a trainer's difference from 1 would be noise.
        let equal = LossPictures { b: &red, ..pictures };
        assert_eq!(equal.terms().unwrap(), LossTerms { mean_absolute: 0.0, ssim: 1.0 });
    }
}

#[test]
fn loss_gradients_are_the_same_on_any_number_of_threads() {
    with_pictures(&stack([45, 31], 3, 2, 0.1, LossPadding::Same), |pictures| {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| pictures.gradients(&LOSS_FACTORS, [true; 2]).unwrap())
        };
        let (terms, gradient) = on(1);
        for threads in [2, 7] {
            let (other, values) = on(threads);
            assert_eq!((other.ssim.to_bits(), &values), (terms.ssim.to_bits(), &gradient));
        }
    });
}

#[test]
fn wrong_pictures_of_a_loss_are_refused() {
    let (a, mut b) = ([0.5; 36], [0.25; 36]);
    let error = |a: &[f32], b: &[f32], side: usize, padding: LossPadding| {
        let pictures = LossPictures { a, b, width: side, height: side, channels: 1, padding };
        let error = pictures.terms().unwrap_err().to_string();
        let by_b = pictures.gradients(&LOSS_FACTORS, [false, true]);
        assert_eq!(by_b.unwrap_err().to_string(), error);
        error
    };
    let valid = error(&a, &b, 6, LossPadding::Valid);
    assert_eq!(valid, "padding: expected same below 11 x 11 pixels, found valid for 6 x 6 pixels");
    assert!(error(&a, &b, 5, LossPadding::Same).starts_with("a: expected pictures of 5 x 5"));
    assert!(error(&a, &b[..30], 6, LossPadding::Same).starts_with("b: expected 36 values"));
    assert!(error(&a, &b, 0, LossPadding::Same).starts_with("a: "));
    b[35] = f32::NAN;
    assert_eq!(error(&a, &b, 6, LossPadding::Same), "b: expected finite numbers, found NaN");
}
