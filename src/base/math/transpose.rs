//! Transposition of rows of numbers to lanes and back, with zips of vectors.

use fearless_simd::{f32x8, f32x16, prelude::*};

use super::lanes::has_mask_registers;

/// Rows of a block.
const BLOCK: usize = 16;

/// Transposes a 16x16 matrix with perfect shuffles of rows: four of the whole matrix, or three of each 8x8 quarter.
#[inline(always)]
pub fn transpose<S: Simd>(simd: S, mut m: [f32x16<S>; 16]) -> [f32x16<S>; 16] {
    if has_mask_registers(simd) {
        for _ in 0..4 {
            let rows = m;
            for i in 0..8 {
                m[2 * i] = rows[i].zip_low(rows[i + 8]);
                m[2 * i + 1] = rows[i].zip_high(rows[i + 8]);
            }
        }
        return m;
    }
    let mut quarters = [[[f32x8::splat(simd, 0.0); 8]; 2]; 2];
    for (row, lanes) in m.into_iter().enumerate() {
        let (low, high) = lanes.split();
        quarters[row / 8][0][row % 8] = low;
        quarters[row / 8][1][row % 8] = high;
    }
    for quarter in quarters.as_flattened_mut() {
        for _ in 0..3 {
            let rows = *quarter;
            for i in 0..4 {
                quarter[2 * i] = rows[i].zip_low(rows[i + 4]);
                quarter[2 * i + 1] = rows[i].zip_high(rows[i + 4]);
            }
        }
    }
    for (row, lanes) in m.iter_mut().enumerate() {
        let [low, high] = &quarters;
        *lanes = low[row / 8][row % 8].combine(high[row / 8][row % 8]);
    }
    m
}

/// Columns of 16 rows of three numbers.
#[inline(always)]
pub fn columns_of_3<S: Simd>(simd: S, rows: &[[f32; 3]; BLOCK]) -> [f32x16<S>; 3] {
    // A perfect shuffle of 48 numbers moves number i to 2 i mod 47. Four of them move it from 3 row + column to
    // 16 column + row.
    let mut parts = [f32x8::splat(simd, 0.0); 6];
    for (part, numbers) in parts.iter_mut().zip(rows.as_flattened().chunks_exact(8)) {
        *part = f32x8::from_slice(simd, numbers);
    }
    for _ in 0..4 {
        let before = parts;
        for i in 0..3 {
            parts[2 * i] = before[i].zip_low(before[i + 3]);
            parts[2 * i + 1] = before[i].zip_high(before[i + 3]);
        }
    }
    [parts[0].combine(parts[1]), parts[2].combine(parts[3]), parts[4].combine(parts[5])]
}

/// Columns of 16 rows of four numbers.
#[inline(always)]
pub fn columns_of_4<S: Simd>(simd: S, rows: &[[f32; 4]; BLOCK]) -> [f32x16<S>; 4] {
    let mut columns = [f32x16::splat(simd, 0.0); 4];
    for (part, numbers) in columns.iter_mut().zip(rows.as_flattened().chunks_exact(16)) {
        *part = f32x16::from_slice(simd, numbers);
    }
    // Each pass moves numbers at even positions before the others; the second pass completes the columns.
    for _ in 0..2 {
        let [a, b, c, d] = columns;
        columns = [a.unzip_low(b), c.unzip_low(d), a.unzip_high(b), c.unzip_high(d)];
    }
    columns
}

#[cfg(test)]
#[path = "tests/transpose.rs"]
mod tests;
