//! Metrics of pictures against other people's programs and against closed forms.

use quadrille::{Frame, Protocol, compare, compare_with_map};
use quadrille_base::image::to_8_bit;

/// How far the numbers may lie from the independent ones.
///
/// | number | tolerance | why |
/// |---|---|---|
/// | psnr, mse, ssim, max, percentile | 1e-9 relative | double precision on both sides |
/// | the same, values as f32 | 1e-6 | the other side rounds the values at another place |
/// | flip | 2e-5 | single precision on both sides, other order of sums |
const DOUBLE: f64 = 1e-9;
const SINGLE: f64 = 1e-6;
const FLIP: f64 = 2e-5;

fn assert_near(name: &str, got: f64, expected: f64, tolerance: f64) {
    assert!(
        (got - expected).abs() <= tolerance * expected.abs().max(1.0),
        "{name}: {got}, {expected}"
    );
}

/// Compares `a` and `b` with what the other programs found for them: PSNR, SSIM, FLIP, the largest
/// difference, the percentile, the mean square.
fn check(a: &Frame, b: &Frame, protocol: Protocol, expected: [f64; 6], tolerance: f64) {
    let got = compare(a, b, protocol).unwrap();
    let [psnr_db, ssim, flip, max_abs, p99_9_abs, mse] = expected;
    assert_near("psnr", got.psnr_db.unwrap(), psnr_db, tolerance);
    assert_near("ssim", got.ssim, ssim, tolerance);
    assert_near("flip", got.flip, flip, FLIP);
    assert_near("max", got.max_abs, max_abs, tolerance);
    assert_near("p99.9", got.p99_9_abs, p99_9_abs, tolerance);
    assert_near("mse", got.mse, mse, tolerance);
    assert_eq!((got.alpha_max_abs, got.non_finite_pixels), (0.0, 0));
}

/// A picture from a formula for 8-bit values, mapped to f32 by `value`.
fn picture(
    width: u32,
    height: u32,
    formula: impl Fn(i64, i64, i64) -> i64,
    value: impl Fn(f32) -> f32,
) -> Frame {
    let pixels = (0..i64::from(height)).flat_map(|y| (0..i64::from(width)).map(move |x| (x, y)));
    let pixels = pixels.map(|(x, y)| {
        let [r, g, b] =
            [0, 1, 2].map(|c| value(f32::from(u8::try_from(formula(x, y, c)).unwrap())));
        [r, g, b, 1.0]
    });
    Frame::from_pixels(width, height, pixels.collect())
}

/// Smooth and wrapping, so with edges, different in each channel.
fn texture(x: i64, y: i64, c: i64) -> i64 {
    ((x * x * (c + 1) + y * y * 2 + x * y / (c + 1)) / (12 + 4 * c) + 40 * c) % 256
}

/// The texture and up to 11 of 255 more or less.
fn noisy(x: i64, y: i64, c: i64) -> i64 {
    (texture(x, y, c) + (x * 31 + y * 17 + x * y * 7 + c * 5) % 23 - 11).clamp(0, 255)
}

/// A chessboard of 8 x 8 pixels, moved to the left by `shift`.
fn squares(shift: i64) -> impl Fn(i64, i64, i64) -> i64 {
    move |x, y, c| ((x + shift) / 8 + y / 8) % 2 * (200 - 60 * c) + 20 + c * 10
}

fn unit(value: f32) -> f32 {
    value / 255.0
}

/// Out of range on both sides, and off the 8-bit grid.
fn stretched(value: f32) -> f32 {
    value * 0.004_93 - 0.098_1
}

fn flat([r, g, b]: [f32; 3]) -> Frame {
    Frame::from_pixels(30, 20, vec![[r, g, b, 1.0]; 600])
}

// The numbers of the next four tests: the formulas above in NumPy 2.4.6's integers; PSNR, MSE and
// percentile in NumPy; SSIM by scipy.signal.convolve2d (SciPy 1.17.1) with the 11 x 11 window, mode
// "same", zeros outside, one channel after the other; FLIP by flip-evaluator 1.7, its authors' own
// program, evaluate(a, b, "LDR") with its default viewing conditions, values clipped to [0, 1].

#[test]
fn inria_against_numpy_scipy_and_the_authors_of_flip() {
    let (a, b) = (picture(96, 64, texture, unit), picture(96, 64, noisy, unit));
    let expected = [
        31.723_080_820_300_25,
        0.966_376_266_485_222_1,
        0.072_185_818_130_113_45,
        11.0 / 255.0,
        11.0 / 255.0,
        0.000_672_499_425_968_644_5,
    ];
    check(&a, &b, Protocol::Inria, expected, DOUBLE);
    check(&b, &a, Protocol::Inria, expected, DOUBLE);
}

#[test]
fn inria_of_a_picture_smaller_than_every_window() {
    let (a, b) = (picture(5, 3, texture, unit), picture(5, 3, noisy, unit));
    let expected = [
        33.470_369_853_653_175,
        0.967_802_113_556_684_9,
        0.098_370_337_486_267_08,
        11.0 / 255.0,
        0.043_082_352_941_176_49,
        0.000_449_741_552_394_378_26,
    ];
    check(&a, &b, Protocol::Inria, expected, DOUBLE);
}

#[test]
fn inria_of_moved_edges() {
    let [a, b] = [0, 2].map(|shift| picture(61, 47, squares(shift), unit));
    let expected = [
        11.098_594_793_782_33,
        0.447_134_888_465_707_8,
        0.414_856_561_980_322_95,
        200.0 / 255.0,
        200.0 / 255.0,
        0.077_649_832_031_816_27,
    ];
    check(&a, &b, Protocol::Inria, expected, DOUBLE);
}

#[test]
fn float_neither_rounds_nor_clamps_and_inria_does_both() {
    let a = picture(96, 64, texture, stretched);
    let b = picture(96, 64, noisy, stretched);
    let float = [
        29.735_338_822_595_164,
        0.962_485_225_836_216_3,
        0.075_496_382_843_539_32,
        0.054_230_153_560_638_43,
        0.054_230_145_037_174_22,
        0.001_062_835_661_019_088_7,
    ];
    check(&a, &b, Protocol::Float, float, SINGLE);
    let inria = [
        30.658_915_006_613_8,
        0.964_066_695_534_662_1,
        0.075_500_937_106_577_72,
        14.0 / 255.0,
        14.0 / 255.0,
        0.000_859_228_154_769_533_1,
    ];
    check(&a, &b, Protocol::Inria, inria, DOUBLE);
}

/// SSIM by torchmetrics 1.9.0, `structural_similarity_index_measure(a, b, data_range=1.0)`, on torch 2.15.0 in double
/// precision.
#[test]
fn gsplat_mirrors_the_picture_at_its_edge() {
    for (width, height, ssim) in [(96, 64, 0.958_003_600_023_084_9), (13, 7, 0.673_259_273_964_129)]
    {
        let [a, b] = [picture(width, height, texture, unit), picture(width, height, noisy, unit)];
        let got = compare(&a, &b, Protocol::Gsplat).unwrap();
        assert_near("ssim", got.ssim, ssim, SINGLE);
        let float = compare(&a, &b, Protocol::Float).unwrap();
        assert_eq!((got.psnr_db, got.flip), (float.psnr_db, float.flip));
    }
}

/// SSIM by the formula of pytorch_msssim 1.0.0 in torch 2.15.0, in double precision. Its own window is in single precision:
/// `ssim(a, b, data_range=1.0)` gives 0.964340221 and 0.669404223.
#[test]
fn nerfstudio_leaves_out_windows_that_reach_beyond_the_edge() {
    for (width, height, ssim) in
        [(96, 64, 0.964_340_068_388_652_7), (13, 12, 0.669_403_047_016_417_5)]
    {
        let [a, b] = [picture(width, height, texture, unit), picture(width, height, noisy, unit)];
        let got = compare(&a, &b, Protocol::Nerfstudio).unwrap();
        assert_near("ssim", got.ssim, ssim, SINGLE);
    }
    // Of a picture that holds no window, all pixels count.
    let [a, b] = [picture(5, 3, texture, unit), picture(5, 3, noisy, unit)];
    let all = compare(&a, &b, Protocol::Float).unwrap();
    assert_eq!(compare(&a, &b, Protocol::Nerfstudio).unwrap().ssim, all.ssim);
}

#[test]
fn flip_of_flat_colours() {
    // By flip-evaluator 1.7, 30 x 20 pixels of one colour each.
    for (a, b, expected) in [
        ([0.0, 0.0, 0.0], [1.0, 1.0, 1.0], 0.967_386_603_355_407_7),
        ([0.0, 1.0, 0.0], [0.0, 0.0, 1.0], 1.0),
        ([0.2, 0.4, 0.6], [0.25, 0.4, 0.6], 0.082_893_677_055_835_72),
    ] {
        let got = compare(&flat(a), &flat(b), Protocol::Float).unwrap();
        assert_near("flip", got.flip, expected, FLIP);
    }
}

#[test]
fn identical_pictures() {
    for protocol in [Protocol::Inria, Protocol::Float] {
        let frame = picture(40, 30, texture, stretched);
        let got = compare(&frame, &frame, protocol).unwrap();
        assert_eq!(got.psnr_db, None);
        assert_eq!((got.flip, got.max_abs, got.p99_9_abs, got.mse), (0.0, 0.0, 0.0, 0.0));
        assert_near("ssim", got.ssim, 1.0, 1e-12);
    }
}

#[test]
fn a_constant_offset_has_a_known_psnr() {
    let (a, b) = (flat([0.5; 3]), flat([0.625; 3]));
    let got = compare(&a, &b, Protocol::Float).unwrap();
    let decibels = |difference: f64| -20.0 * difference.log10();
    assert_near("psnr", got.psnr_db.unwrap(), decibels(0.125), DOUBLE);
    let differences = (got.max_abs, got.p99_9_abs, got.mse);
    assert_eq!(differences, (0.125, 0.125, 0.125 * 0.125));
    // 127.5 rounds to 128, 159.375 to 159.
    let got = compare(&a, &b, Protocol::Inria).unwrap();
    assert_near("psnr", got.psnr_db.unwrap(), decibels(31.0 / 255.0), DOUBLE);
}

#[test]
fn ssim_of_a_single_pixel_has_a_closed_form() {
    // Only the window's centre, of weight w, is inside: means w p, squares w p^2.
    let (p, q) = (0.25_f64, 0.75_f64);
    let line: f64 = (-5..=5).map(|i| (-f64::from(i * i) / 4.5).exp()).sum();
    let w = 1.0 / (line * line);
    let (mp, mq) = (w * p, w * q);
    let expected = (2.0 * mp * mq + 1e-4) * (2.0 * (w * p * q - mp * mq) + 9e-4)
        / ((mp * mp + mq * mq + 1e-4) * (w * (p * p + q * q) - mp * mp - mq * mq + 9e-4));
    let pixel = |v: f32| Frame::from_pixels(1, 1, vec![[v, v, v, 1.0]]);
    let got = compare(&pixel(0.25), &pixel(0.75), Protocol::Float).unwrap();
    assert_near("ssim", got.ssim, expected, 1e-12);
}

#[test]
fn alpha_is_reported_by_itself() {
    let opaque = flat([0.5, 0.25, 0.0]);
    let mut transparent = opaque.clone();
    transparent.pixels_mut()[7][3] = 0.5;
    let got = compare(&opaque, &transparent, Protocol::Float).unwrap();
    assert_eq!((got.psnr_db, got.alpha_max_abs), (None, 0.5));
    let got = compare(&opaque, &transparent, Protocol::Inria).unwrap();
    assert_eq!(got.alpha_max_abs, f64::from(255 - to_8_bit(0.5)) / 255.0);
}

#[test]
fn poison_gives_numbers_and_a_count() {
    let clean = flat([0.25, 0.5, 0.75]);
    let infinite = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
    for value in infinite.into_iter().chain([f32::MAX, f32::MIN, 1e-42]) {
        for protocol in [Protocol::Inria, Protocol::Float] {
            let mut poisoned = clean.clone();
            poisoned.pixels_mut()[31] = [value; 4];
            let (got, map) = compare_with_map(&clean, &poisoned, protocol).unwrap();
            assert_eq!(got.non_finite_pixels, u64::from(!value.is_finite()));
            assert!(got.psnr_db.unwrap().is_finite(), "{value} {got:?}");
            assert!(got.ssim.is_finite() && (0.0..=1.0).contains(&got.flip), "{value} {got:?}");
            assert!(map.iter().all(|error| (0.0..=1.0).contains(error)));
            let same = compare(&poisoned, &poisoned, protocol).unwrap();
            // NaN equals nothing, also not itself.
            assert_eq!(same.psnr_db.is_some(), value.is_nan(), "{value}");
        }
    }
}

#[test]
fn sizes_must_agree() {
    let error = compare(&flat([0.0; 3]), &Frame::new(20, 30), Protocol::Inria).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("30 x 20") && text.contains("20 x 30"), "{text}");
    let empty = Frame::new(0, 0);
    assert!(compare(&empty, &empty, Protocol::Inria).is_err());
}
