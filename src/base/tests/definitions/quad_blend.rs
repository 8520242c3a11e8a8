//! Blends of whole quads.

use fearless_simd::dispatch;
use fearless_simd::{f32x16, prelude::*};
use quadrille_base::math::SimdLevel;
use quadrille_base::shading::*;

const NONE: QuadColour = [[0.0; 4]; 4];

/// Halves and quarters, which are exact.
#[test]
fn worked_by_hand() {
    let front = [[0.5; 4], [0.0; 4], [0.25; 4], [0.5; 4]];
    let back = [[0.0; 4], [0.75; 4], [0.5; 4], [0.75; 4]];
    let expected = [[0.5; 4], [0.375; 4], [0.5; 4], [0.875; 4]];
    assert_eq!(under(&front, &back), expected);
}

#[test]
fn fragments_keep_their_places() {
    let front = std::array::from_fn(|c| std::array::from_fn(|i| (c * 4 + i) as f32 / 16.0));
    let back = std::array::from_fn(|c| std::array::from_fn(|i| (c + 4 * i) as f32 / 16.0));
    let both = under(&front, &back);
    for c in 0..4 {
        for i in 0..4 {
            let left = 1.0 - front[3][i];
            let product = left * back[c][i];
            assert_eq!(both[c][i], front[c][i] + product);
        }
    }
}

#[test]
fn nothing_leaves_the_other_side_unchanged() {
    let large = [f32::MAX, f32::INFINITY, 1e-40, 0.1];
    for alpha in [0.0, 1e-40, 0.004, 0.5, 0.99, 1.0_f32.next_down(), 1.0] {
        let some = [large, large, large, [alpha; 4]];
        assert_eq!(under(&NONE, &some), some);
        assert_eq!(under(&some, &NONE), some);
    }
}

#[test]
fn an_opaque_front_hides_anything() {
    let front = [[0.25; 4], [0.5; 4], [0.75; 4], [1.0; 4]];
    let back = [[f32::INFINITY; 4], [f32::NAN; 4], [f32::MAX; 4], [0.5; 4]];
    assert_eq!(under(&front, &back), front);
}

/// Zeros, denormals, infinities and NaN among random numbers, on every level.
#[test]
fn lanes_give_the_same_bits() {
    let special = [0.0, -0.0, 1.0, 1e-40, f32::INFINITY, f32::NAN, f32::MAX, 0.5];
    let mut random = 1_u32;
    let mut value = || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        match random >> 29 {
            0 => special[(random >> 8 & 7) as usize],
            _ => (random >> 8) as f32 / 16_777_216.0,
        }
    };
    for _ in 0..2000 {
        let [front, back]: [QuadColour; 2] =
            std::array::from_fn(|_| std::array::from_fn(|_| std::array::from_fn(|_| value())));
        let expected = under(&front, &back);
        for level in SimdLevel::all() {
            let mut found = NONE;
            dispatch!(level.level(), simd => {
                let lanes = |q: &QuadColour| f32x16::from_slice(simd, q.as_flattened());
                let sum = under_lanes(simd, lanes(&front), lanes(&back));
                sum.store_slice(found.as_flattened_mut());
            });
            for (a, b) in found.as_flattened().iter().zip(expected.as_flattened()) {
                let same = a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
                assert!(same, "{}: {found:?}, not {expected:?}", level.name());
            }
        }
    }
}
