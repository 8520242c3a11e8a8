//! Order of splats that makes chunks as small as possible in space, for formats that quantise within chunks.

use rayon::prelude::*;

use super::activation::sigmoid;
use super::table::RawColumns;
use quadrille_base::{Result, Task};

/// Rows per chunk; the last chunk may have fewer.
pub(crate) const CHUNK_ROWS: usize = 256;

const PARALLEL_ROWS: usize = 1 << 13;

/// Quantisation steps across a chunk that the error estimate assumes, for coordinates of 10 or 11 bits.
const STEPS: f64 = 1024.0;

/// Orders rows so that every [`CHUNK_ROWS`] of them are close together, by recursive halving along the axis of
/// greatest extent, at multiples of that number. On trained scenes, the root mean square of the extents of chunks
/// is a third less than in Morton order, whose chunks straddle the jumps of the curve. Far splats share chunks
/// with near ones, unless `position` has a logarithmic scale.
pub(crate) fn chunk_order(position: &[Vec<f64>; 3], task: &Task) -> Result<Vec<u32>> {
    let rows = u32::try_from(position[0].len()).unwrap_or(u32::MAX);
    let mut order: Vec<u32> = (0..rows).collect();
    divide(position, &mut order, task);
    task.check()?;
    Ok(order)
}

/// Estimates the visible quantisation error of an order, for comparison with other orders: the sum over all splats of
/// opacity times a share that grows from 0 to 1 with the step of the chunk relative to the width of the splat. A splat
/// that moves by several widths is lost.
pub(crate) fn visible_error(raw: &RawColumns, order: &[u32], task: &Task) -> Result<f64> {
    let of_chunk = |chunk: &[u32]| {
        task.check()?;
        let steps = raw
            .mean
            .each_ref()
            .map(|column| extent(chunk.iter().map(|row| column[*row as usize])) / STEPS);
        let step_squared: f64 = steps.iter().map(|step| step * step).sum();
        let errors = chunk.iter().map(|row| {
            let mut logs = raw.scale.each_ref().map(|column| column[*row as usize]);
            logs.sort_by(f32::total_cmp);
            // The middle scale: the shorter axis of the splat's ellipse as seen along its shortest axis.
            let width = f64::from(logs[1]).exp();
            let opacity = sigmoid(f64::from(raw.opacity[*row as usize]));
            opacity * step_squared / (step_squared + width * width).max(f64::MIN_POSITIVE)
        });
        Ok(errors.sum::<f64>())
    };
    let chunks: Vec<f64> = order.par_chunks(CHUNK_ROWS).map(of_chunk).collect::<Result<_>>()?;
    Ok(chunks.iter().sum())
}

/// Greatest minus least value; minus infinity without values.
fn extent(values: impl Iterator<Item = f64>) -> f64 {
    let (low, high) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    high - low
}

fn divide(position: &[Vec<f64>; 3], part: &mut [u32], task: &Task) {
    if part.len() <= CHUNK_ROWS || task.is_cancelled() {
        return;
    }
    let extents =
        position.each_ref().map(|column| extent(part.iter().map(|row| column[*row as usize])));
    let widest = (0..3).max_by(|a, b| extents[*a].total_cmp(&extents[*b]));
    let column = &position[widest.unwrap_or(0)];
    let middle = part.len().div_ceil(CHUNK_ROWS) / 2 * CHUNK_ROWS;
    part.select_nth_unstable_by(middle, |a, b| {
        column[*a as usize].total_cmp(&column[*b as usize]).then(a.cmp(b))
    });
    let is_large = part.len() > PARALLEL_ROWS;
    let (low, high) = part.split_at_mut(middle);
    let mut halves = [low, high];
    if is_large {
        halves.par_iter_mut().for_each(|half| divide(position, half, task));
    } else {
        halves.iter_mut().for_each(|half| divide(position, half, task));
    }
}

#[cfg(test)]
#[path = "tests/units/chunk_order.rs"]
mod tests;
