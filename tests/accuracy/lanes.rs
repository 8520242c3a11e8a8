//! Bounds of the elementary functions of lanes, on every SIMD level.

use fearless_simd::{dispatch, f32x16, mask32x16, prelude::*};
use quadrille::SimdLevel;
use quadrille_base::math::lanes::{exp2, exp2_where, log2, rsqrt, sqrt_above};
use quadrille_base::math::unfused;

/// Largest error of the function of lanes `$f` over `$inputs`, as `$error` makes it of argument and
/// result, on every level of this machine.
macro_rules! worst {
    ($f:ident, $inputs:expr, $error:expr) => {{
        let (inputs, error): (Vec<f32>, fn(f64, f64) -> f64) = ($inputs.collect(), $error);
        let mut worst = 0.0_f64;
        for level in SimdLevel::all() {
            for x in inputs.as_chunks::<16>().0 {
                let y = dispatch!(level.level(), simd =>
                    $f(simd, f32x16::simd_from(simd, *x)).to_array());
                for (x, y) in x.iter().zip(y) {
                    worst = worst.max(error(f64::from(*x), f64::from(y)));
                }
            }
        }
        worst
    }};
}

/// Normal floats above 0, of all exponents.
fn normal_floats() -> impl Iterator<Item = f32> {
    let all = (1..1 << 18).map(|i| f32::from_bits(i << 13));
    all.filter(|x| x.is_normal())
}

#[test]
fn every_function_keeps_its_bound() {
    let domain = (0..1 << 18).map(|i| -126.0 + i as f32 * (253.0 / (1 << 18) as f32));
    let error = worst!(exp2, domain, |x, y| (y / x.exp2() - 1.0).abs());
    assert!(error < 3e-7, "relative error {error:e} of exp2");
    let below_overflow = normal_floats().filter(|x| *x < 1e37);
    let error = worst!(rsqrt, below_overflow, |x, y| (y * x.sqrt() - 1.0).abs());
    assert!(error < 3e-7, "relative error {error:e} of rsqrt");
    let relative = |x: f64, y: f64| (y - x.log2()).abs() / x.log2().abs().max(1.0);
    let error = worst!(log2, normal_floats(), relative);
    assert!(error < 3e-7, "error {error:e} of log2");
}

#[test]
fn cheap_roots_are_never_below() {
    let inputs = (0..1 << 16)
        .map(|i| 1e-30 * 1.003_f32.powi(i % 40_000) * (1.0 + i as f32 / 65_537.0))
        .filter(|x| x.is_finite());
    let above = worst!(sqrt_above, inputs.clone(), |x, y| y / x.sqrt() - 1.0);
    assert!(above < 1.0 / 2048.0, "{above:e} above");
    let below = worst!(sqrt_above, inputs, |x, y| 1.0 - y / x.sqrt());
    // Where the level has no cheaper root, this is the exact one, rounded.
    assert!(below < 6e-8, "{below:e} below");
}

#[test]
fn masked_exp2_keeps_its_bound_and_is_zero_elsewhere() {
    for level in SimdLevel::all() {
        for i in 0..1 << 14 {
            let x: [f32; 16] = std::array::from_fn(|lane| {
                if lane % 3 == 0 {
                    [f32::NAN, -1e30, f32::INFINITY][i % 3]
                } else {
                    (i * 16 + lane) as f32 / -4096.0
                }
            });
            let y = dispatch!(level.level(), simd => {
                let mask = mask32x16::from_bitmask(simd, 0b0110_1101_1011_0110);
                let x = f32x16::simd_from(simd, x);
                let y = exp2_where(simd, [mask; 4], [x; 4]).map(|y| y.to_array());
                assert!(y.iter().all(|other| *other == y[0]));
                y[0]
            });
            for (lane, (x, y)) in x.into_iter().zip(y).enumerate() {
                let expected = if lane % 3 == 0 { 0.0 } else { f64::from(x).exp2() };
                assert!(
                    (f64::from(y) - expected).abs() <= 3e-7 * expected,
                    "2^{x} = {y} on {}",
                    level.name()
                );
            }
        }
    }
}

#[test]
fn unfused_exp2_keeps_its_bound() {
    let mut worst = 0.0_f64;
    for i in 0..1 << 20 {
        let x = -126.0 + i as f32 * (252.0 / (1 << 20) as f32);
        let exact = f64::from(x).exp2();
        worst = worst.max((f64::from(unfused::exp2(x)) / exact - 1.0).abs());
    }
    assert!(worst < 3e-7, "relative error {worst:e}");
}

#[test]
fn unfused_exp2_clamps_to_its_domain() {
    assert_eq!(unfused::exp2(f32::NAN).to_bits(), unfused::exp2(-126.0).to_bits());
    assert_eq!(unfused::exp2(f32::NEG_INFINITY).to_bits(), unfused::exp2(-126.0).to_bits());
    assert_eq!(unfused::exp2(f32::INFINITY).to_bits(), unfused::exp2(126.0).to_bits());
}

#[test]
fn unfused_exp2_has_the_scalar_bits_on_every_level() {
    const ODD: [f32; 4] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e-40];
    for level in SimdLevel::all() {
        for i in 0..1_u32 << 14 {
            let x: [f32; 16] = std::array::from_fn(|lane| {
                if lane < 4 {
                    ODD[lane]
                } else {
                    let hash = (i * 16 + u32::try_from(lane).unwrap()).wrapping_mul(0x9e37_79b9);
                    hash as f32 / 16_777_216.0 - 130.0
                }
            });
            let y = dispatch!(level.level(), simd =>
                unfused::exp2_lanes(simd, f32x16::simd_from(simd, x)).to_array());
            assert_eq!(
                x.map(|x| unfused::exp2(x).to_bits()),
                y.map(f32::to_bits),
                "{}",
                level.name()
            );
        }
    }
}
