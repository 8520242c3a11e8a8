//! Order of splats in chunks that are as small as possible, for formats that quantise within chunks.

use rayon::prelude::*;

use super::table::RawColumns;
use quadrille_base::error::Result;
use quadrille_base::task::Task;

/// Rows per chunk. The last chunk may have fewer.
pub(crate) const CHUNK_ROWS: usize = 256;

/// Rows of a part whose halves are divided in parallel.
const PARALLEL_ROWS: usize = 1 << 13;

/// The rows in an order in which every [`CHUNK_ROWS`] are close together: all are halved, at a multiple of
/// that number, along the axis of their greatest extent, and so on. On trained scenes, the root mean square
/// of the extents of chunks is a third less than in Morton order, whose chunks straddle the jumps of the
/// curve.
pub(crate) fn chunk_order(raw: &RawColumns, task: &Task) -> Result<Vec<u32>> {
    let rows = u32::try_from(raw.rows()).unwrap_or(u32::MAX);
    let mut order: Vec<u32> = (0..rows).collect();
    divide(raw, &mut order, task);
    task.check()?;
    Ok(order)
}

/// Divides a part, unless the task is cancelled.
fn divide(raw: &RawColumns, part: &mut [u32], task: &Task) {
    if part.len() <= CHUNK_ROWS || task.is_cancelled() {
        return;
    }
    let extent = |column: &Vec<f64>| {
        let values = part.iter().map(|row| column[*row as usize]);
        let bounds = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
            (low.min(v), high.max(v))
        });
        bounds.1 - bounds.0
    };
    let extents = raw.mean.each_ref().map(extent);
    let widest = (0..3).max_by(|a, b| extents[*a].total_cmp(&extents[*b]));
    let column = &raw.mean[widest.unwrap_or(0)];
    let middle = part.len().div_ceil(CHUNK_ROWS) / 2 * CHUNK_ROWS;
    part.select_nth_unstable_by(middle, |a, b| {
        column[*a as usize]
            .total_cmp(&column[*b as usize])
            .then(a.cmp(b))
    });
    let is_large = part.len() > PARALLEL_ROWS;
    let (low, high) = part.split_at_mut(middle);
    let mut halves = [low, high];
    if is_large {
        halves
            .par_iter_mut()
            .for_each(|half| divide(raw, half, task));
    } else {
        halves.iter_mut().for_each(|half| divide(raw, half, task));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_compact() {
        // Cubes of 8 by 4 by 8 fill a box, and a few rows are left.
        let mut raw = RawColumns::zeroed(16 * 16 * 16 + 50, 0);
        for row in 0..raw.rows() {
            let cell = row * 1541 % 4096;
            for (axis, column) in raw.mean.iter_mut().enumerate() {
                column[row] = (cell >> (4 * axis) & 15) as f64;
            }
        }
        let order = chunk_order(&raw, &Task::NEVER).unwrap();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..4146).collect::<Vec<u32>>());
        for chunk in order.chunks(CHUNK_ROWS) {
            let extents = raw.mean.each_ref().map(|column| {
                let values = || chunk.iter().map(|row| column[*row as usize]);
                values().fold(f64::MIN, f64::max) - values().fold(f64::MAX, f64::min)
            });
            assert!(extents.iter().all(|extent| *extent <= 9.0), "{extents:?}");
        }
    }
}
