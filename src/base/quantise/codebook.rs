//! Codebooks: 256 numbers that approximate all values of a column.

use rayon::prelude::*;

use crate::error::Result;
use crate::task::Task;

/// Number of entries of a codebook.
pub const ENTRIES: usize = 256;

const BLOCKS: usize = 4096;

/// Number of Lloyd iterations; later ones change the error by less than a thousandth.
const ITERATIONS: usize = 24;

/// 256 ascending numbers with a locally minimal mean squared error; up to 256 distinct values are kept exactly.
pub fn codebook<'v>(
    columns: impl Iterator<Item = &'v Vec<f32>>,
    task: &Task,
) -> Result<[f32; ENTRIES]> {
    let mut sorted: Vec<f32> = columns.flatten().copied().collect();
    let sorted = task.uninterrupted(move || {
        sorted.par_sort_unstable_by(f32::total_cmp);
        sorted
    })?;
    let mut distinct = Vec::with_capacity(ENTRIES + 1);
    for value in &sorted {
        if distinct.last() != Some(value) {
            distinct.push(*value);
        }
        if distinct.len() > ENTRIES {
            return Ok(lloyd(&sorted));
        }
    }
    distinct.resize(ENTRIES, distinct.last().copied().unwrap_or(0.0));
    Ok(std::array::from_fn(|at| distinct[at]))
}

/// One-dimensional Lloyd iteration: clusters of sorted values are intervals, with means from prefix sums.
fn lloyd(sorted: &[f32]) -> [f32; ENTRIES] {
    let mut sums = Vec::with_capacity(sorted.len() + 1);
    let mut sum = 0.0;
    sums.push(sum);
    for value in sorted {
        sum += f64::from(*value);
        sums.push(sum);
    }
    let mut entries = companded(sorted);
    for _ in 0..ITERATIONS {
        let between = boundaries(&entries);
        let cut = |at: usize| match at {
            0 => 0,
            ENTRIES => sorted.len(),
            _ => sorted.partition_point(|value| *value < between[at - 1]),
        };
        let cuts: Vec<usize> = (0..=ENTRIES).map(cut).collect();
        for (entry, ends) in entries.iter_mut().zip(cuts.windows(2)) {
            let count = ends[1].saturating_sub(ends[0]);
            if count > 0 {
                *entry = crate::math::narrow((sums[ends[1]] - sums[ends[0]]) / count as f64);
            }
        }
        entries.sort_unstable_by(f32::total_cmp);
    }
    entries
}

/// Initial entries, as dense as the cube root of the values' density, optimal for many entries (Panter and Dite 1951).
/// Blocks hold equal numbers of values, so a block gets entries by its width to the power of two thirds.
fn companded(sorted: &[f32]) -> [f32; ENTRIES] {
    let edge = |block: usize| f64::from(sorted[block * (sorted.len() - 1) / BLOCKS]);
    let share = |block: usize| (edge(block + 1) - edge(block)).powf(2.0 / 3.0);
    let total: f64 = (0..BLOCKS).map(share).sum();
    let (mut block, mut before) = (0, 0.0);
    std::array::from_fn(|at| {
        let wanted = (at as f64 + 0.5) / ENTRIES as f64 * total;
        while block + 1 < BLOCKS && before + share(block) < wanted {
            before += share(block);
            block += 1;
        }
        let t = ((wanted - before) / share(block).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
        crate::math::narrow(edge(block) + (edge(block + 1) - edge(block)) * t)
    })
}

fn boundaries(entries: &[f32; ENTRIES]) -> [f32; ENTRIES - 1] {
    std::array::from_fn(|at| entries[at] / 2.0 + entries[at + 1] / 2.0)
}

/// The index of the nearest entry for each of `values`.
pub fn indices(entries: &[f32; ENTRIES], values: &[f32]) -> Vec<u8> {
    let between = boundaries(entries);
    let nearest = |value: &f32| {
        u8::try_from(between.partition_point(|boundary| boundary < value)).unwrap_or(u8::MAX)
    };
    values.par_iter().with_min_len(4096).map(nearest).collect()
}

#[cfg(test)]
#[path = "tests/codebook.rs"]
mod tests;
