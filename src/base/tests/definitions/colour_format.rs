//! Rounding to the formats of colours.

use fearless_simd::{dispatch, f32x16, prelude::*};
use half::f16;
use quadrille_base::math::SimdLevel;
use quadrille_base::shading::{ColourFormat, QuadColour};

/// Every exponent and sign, with fractions that round up, down and to even.
#[test]
fn lanes_store_the_same_bits() {
    let numbers: Vec<f32> = (0..=u32::MAX).step_by(9973).map(f32::from_bits).collect();
    for format in ColourFormat::ALL {
        for sixteen in numbers.chunks_exact(16) {
            let quad: QuadColour =
                std::array::from_fn(|c| std::array::from_fn(|i| sixteen[4 * c + i]));
            let expected = format.store(quad);
            for level in SimdLevel::all() {
                let mut found = QuadColour::default();
                dispatch!(level.level(), simd => {
                    let lanes = f32x16::from_slice(simd, sixteen);
                    format.store_lanes(simd, lanes).store_slice(found.as_flattened_mut());
                });
                for (a, b) in found.as_flattened().iter().zip(expected.as_flattened()) {
                    let same = a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
                    assert!(same, "{}: {found:?}, not {expected:?}", level.name());
                }
            }
        }
    }
}

/// The value of a channel that the format stores.
fn rounded(x: f32) -> f32 {
    ColourFormat::Rgba16F.store([[x; 4]; 4])[0][0]
}

fn assert_like_half(x: f32) {
    let (found, expected) = (rounded(x), f16::from_f32(x).to_f32());
    assert!(
        found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan()),
        "{x:e} ({:#x}): {found:e}, not {expected:e}",
        x.to_bits()
    );
}

/// Every binary16, the middle between it and the next, and the f32s around both.
#[test]
fn rounds_as_half_does_around_every_f16() {
    for bits in 0..=u16::MAX {
        let at = f16::from_bits(bits).to_f32();
        for x in [at, f32::midpoint(at, f16::from_bits(bits.wrapping_add(1)).to_f32())] {
            for step in -2_i32..=2 {
                assert_like_half(f32::from_bits(x.to_bits().wrapping_add_signed(step)));
            }
        }
    }
}

#[test]
fn rounds_as_half_does_all_over() {
    // A prime stride over all bit patterns, each exponent and sign some 100,000 times.
    for bits in (0..=u32::MAX).step_by(83) {
        assert_like_half(f32::from_bits(bits));
    }
    for x in [65503.9, 65504.0, 65519.996, 65520.0, 65536.0, f32::MAX, 2e-8, 3e-8] {
        assert_like_half(x);
        assert_like_half(-x);
    }
}

#[test]
fn eight_bits_clamp_and_round() {
    let stored = |x: f32| ColourFormat::Rgba8.store([[x; 4]; 4])[2][1];
    for k in 0..=255_u8 {
        let level = f32::from(k) / 255.0;
        assert_eq!(stored(level), level);
        for off in [-0.49, 0.49] {
            let near = (f32::from(k) + off) / 255.0;
            assert_eq!(stored(near), level, "{near}");
        }
    }
    for (x, expected) in
        [(-1.0, 0.0), (f32::NEG_INFINITY, 0.0), (f32::NAN, 0.0), (1.5, 1.0), (f32::INFINITY, 1.0)]
    {
        assert_eq!(stored(x), expected, "{x}");
    }
}

#[test]
fn stores_each_place_and_names_itself() {
    let value = std::array::from_fn(|c| std::array::from_fn(|i| 0.1 + (c * 4 + i) as f32));
    assert_eq!(ColourFormat::Rgba32F.store(value), value);
    let halves = value.map(|c| c.map(|x| f16::from_f32(x).to_f32()));
    assert_eq!(ColourFormat::Rgba16F.store(value), halves);
    for format in ColourFormat::ALL {
        assert_eq!(format.name().parse::<ColourFormat>().unwrap(), format);
        assert_eq!(serde_json::to_string(&format).unwrap(), format!("\"{}\"", format.name()));
    }
    assert!("rgba4".parse::<ColourFormat>().is_err());
    assert_eq!(ColourFormat::ALL.map(ColourFormat::bytes_per_pixel), [4, 8, 16]);
}
