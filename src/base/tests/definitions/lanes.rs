//! Elementary functions of lanes.

use fearless_simd::dispatch;
use fearless_simd::{f32x16, mask32x16, prelude::*};
use quadrille_base::math::SimdLevel;
use quadrille_base::math::lanes::*;

#[test]
fn lanes_are_moved_to_the_front() {
    let x: [f32; 16] = std::array::from_fn(|i| i as f32);
    for level in SimdLevel::all() {
        for lanes in [0_u16, 1, 0x8000, 0xa5c3, 0xffff] {
            let mut front = [0.0; 16];
            dispatch!(level.level(), simd => {
                compress(simd, f32x16::simd_from(simd, x), lanes).store_slice(&mut front);
            });
            let set = x.iter().zip(0..).filter(|(_, lane)| lanes >> lane & 1 == 1);
            let set: Vec<f32> = set.map(|(x, _)| *x).collect();
            assert_eq!(front[..set.len()], set, "{}", level.name());
        }
    }
}

#[test]
fn reciprocal_is_good_to_double_precision() {
    let inputs: Vec<f32> =
        (1..4096).map(|i| 1.3_f32.powi(i % 200 - 100) * (1.0 + i as f32 / 5000.0)).collect();
    for level in SimdLevel::all() {
        for chunk in inputs.chunks_exact(16) {
            let x: [f32; 16] = chunk.try_into().unwrap();
            let product = dispatch!(level.level(), simd => {
                let x = F64Lanes::widen(f32x16::simd_from(simd, x));
                let one = x.recip(simd).times(x);
                (one.0.to_array(), one.1.to_array())
            });
            for one in product.0.into_iter().chain(product.1) {
                assert!((one - 1.0).abs() < 1e-13, "{one}");
            }
        }
    }
}

/// Masks with no, some and all lanes set.
const MASKS: [u16; 6] = [0, 1, 0x8000, 0xa5c3, 0xff00, 0xffff];

#[test]
fn masks_count_keep_and_sum_up_their_lanes() {
    let x: [f32; 16] = std::array::from_fn(|lane| lane as f32 - 7.5);
    for level in SimdLevel::all() {
        let mut expected = 0;
        let mut counted = 0;
        for mask in MASKS {
            expected += u64::from(mask.count_ones()) * 3;
            dispatch!(level.level(), simd => {
                let lanes = mask32x16::from_bitmask(simd, u64::from(mask));
                let mut counts = LaneCounts::new(simd);
                for _ in 0..3 {
                    counts.add(simd, lanes);
                }
                counted += counts.sum(simd);
                let kept = keep(simd, lanes, f32x16::simd_from(simd, x)).to_array();
                for (lane, kept) in kept.into_iter().enumerate() {
                    let expected = if mask >> lane & 1 == 1 { x[lane] } else { 0.0 };
                    assert_eq!(kept.to_bits(), expected.to_bits(), "{}", level.name());
                }
            });
        }
        assert_eq!(counted, expected, "{}", level.name());
    }
}
