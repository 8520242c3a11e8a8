//! Tests of the packed values of SPZ.

use super::*;

#[test]
fn every_packed_value_survives() {
    for v in 0..=255 {
        assert_eq!(pack_colour(colour(v)), v);
        assert_eq!(pack_scale(scale(v)), v);
    }
    for v in [-8_388_608, -1, 0, 1, 4096, 8_388_607i32] {
        let [a, b, c, _] = v.to_le_bytes();
        assert_eq!(pack_position(position([a, b, c], 12).into(), 12), [a, b, c]);
    }
    assert!(holds_position(-2048.0, 12) && holds_position(2047.999, 12));
    assert!(!holds_position(2048.0, 12) && !holds_position(f64::NAN, 12));
}

#[test]
fn coefficients_are_rounded_to_buckets() {
    // Values halfway between two buckets, and slightly to each side.
    for (value, packed) in [(3.9, 128), (4.0, 136), (4.1, 136), (-3.9, 128), (-4.0, 120)] {
        assert_eq!(pack_coefficient(value / 128.0, 8), packed);
        assert_eq!(pack_coefficient(value / 64.0, 16), 2 * packed - 128);
    }
    for bucket in [1u8, 2, 4, 8, 16] {
        for v in 0..=255 {
            let once = pack_coefficient(coefficient(v), bucket);
            assert_eq!(pack_coefficient(coefficient(once), bucket), once);
            assert!(once.is_multiple_of(bucket) || once == 255);
            assert!(once.abs_diff(v) <= bucket / 2);
        }
    }
}

#[test]
fn rotations_survive_to_a_step() {
    for seed in 0..200u32 {
        let packed = seed.wrapping_mul(0x9e37_79b9) & !(3 << 30);
        let q = rotation(packed).map(f64::from);
        let again = rotation(pack_rotation(q)).map(f64::from);
        let dot: f64 = q.iter().zip(again).map(|(a, b)| a * b).sum();
        assert!(dot.abs() > 1.0 - 1e-5, "{packed:x}: {q:?} {again:?}");
    }
}
