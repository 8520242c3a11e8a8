//! Tests of the module `transpose`.

use fearless_simd::dispatch;

use super::*;
use crate::math::SimdLevel;

fn rows<const N: usize>() -> [[f32; N]; BLOCK] {
    std::array::from_fn(|row| std::array::from_fn(|column| (row * N + column) as f32))
}

fn check<S: Simd, const N: usize>(columns: [f32x16<S>; N], rows: [[f32; N]; BLOCK]) {
    for (column, values) in columns.into_iter().enumerate() {
        assert_eq!(values.to_array(), rows.map(|row| row[column]));
    }
}

#[test]
fn columns_are_those_of_the_rows() {
    for level in SimdLevel::all() {
        dispatch!(level.frame_level(), simd => {
            check(columns_of_3(simd, &rows()), rows());
            check(columns_of_4(simd, &rows()), rows());
            let whole = rows::<BLOCK>().map(|row| f32x16::simd_from(simd, row));
            check(transpose(simd, whole), rows());
        });
    }
}
