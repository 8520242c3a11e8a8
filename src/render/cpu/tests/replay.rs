//! Tests of the module `replay`.

use super::*;
use quadrille_base::math::SimdLevel;

#[test]
fn lane_sums_are_in_the_order_of_the_vectors() {
    for level in SimdLevel::all() {
        let sums = dispatch!(level.frame_level(), simd => {
            let vectors = std::array::from_fn(|i| {
                f32x16::from_fn(simd, |lane| (i * 100 + lane) as f32)
            });
            lane_sums(simd, &vectors).to_array()
        });
        let expected: [f32; LANES] = std::array::from_fn(|i| (i * 1600 + 120) as f32);
        assert_eq!(sums, expected, "{}", level.name());
    }
}
