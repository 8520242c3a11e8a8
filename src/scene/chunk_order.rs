//! Order of splats whose chunks have the least visible error, for formats that quantise within chunks.

use rayon::prelude::*;

use super::activation::sigmoid;
use super::table::RawColumns;
use quadrille_base::math::narrow;
use quadrille_base::math::order::quantile;
use quadrille_base::{Result, Task};

/// Rows per chunk; the last chunk may have fewer.
pub(crate) const CHUNK_ROWS: usize = 256;

const PARALLEL_ROWS: usize = 1 << 13;

/// Parts of more rows are divided by what a sample shows; four times as many rows take a third more time.
const EXACT_ROWS: usize = 32 * CHUNK_ROWS;
/// Rows of a sample.
const SAMPLE_ROWS: usize = 1024;

/// Width of a pixel relative to its distance: about 1,000 pixels over a field of view of 60 degrees. Splats that are
/// narrower are drawn as wide as a pixel.
const PIXEL: f64 = 1e-3;

/// Least share of the range of an axis that a chunk at its end spans if it holds outliers.
const OUTLIER_SHARE: f32 = 0.25;

/// Coordinates along which parts are divided: x, y, z, and the distance from the middle of the scene, which gathers outliers
/// of all directions in chunks of their own.
const AXES: usize = 4;

/// Error of the order of the file, relative to the new order, up to which it counts as equally good.
const GOOD_RATIO: f64 = 1.01;

/// Largest numbers of compressed PLY for x, y and z within the bounds of a chunk.
const GRID: [f32; 3] = [2047.0, 1023.0, 2047.0];
/// Largest distance of a coordinate from a number of the grid, in steps, that counts as rounding.
const GRID_SLACK: f32 = 0.1;

#[derive(Debug, Clone, Copy)]
struct Item {
    at: [f32; AXES],
    /// Square of the width as seen: the middle standard deviation, the shorter axis of the ellipse as seen along the shortest
    /// axis, and the width of a pixel.
    width_squared: f32,
    opacity: f32,
    row: u32,
}

/// Order of parts that are divided where this leaves the least visible error in formats that quantise within chunks. Rows
/// of a chunk keep their order, in which splats at one place are blended. `None` if the order of all rows is as good, so that
/// an ordered file keeps its order, or if the positions have been quantised within these chunks, which then loses nothing
/// again.
pub(crate) fn improved_chunk_order(raw: &RawColumns, task: &Task) -> Result<Option<Vec<u32>>> {
    let stored = items(raw, task)?;
    if stored.par_chunks(CHUNK_ROWS).all(is_quantised) {
        return Ok(None);
    }
    let mut divided = stored.clone();
    divide(&mut divided, task);
    task.check()?;
    let is_good = visible_error(&stored, task)? <= GOOD_RATIO * visible_error(&divided, task)?;
    Ok((!is_good).then(|| divided.into_iter().map(|item| item.row).collect()))
}

fn items(raw: &RawColumns, task: &Task) -> Result<Vec<Item>> {
    let origin = raw.origin();
    let rows = u32::try_from(raw.rows()).unwrap_or(u32::MAX);
    let median = |value: &dyn Fn(u32) -> f64| {
        let mut values: Vec<f64> = (0..rows).map(value).collect();
        if values.is_empty() { 0.0 } else { quantile(&mut values, 0.5) }
    };
    let middle = raw.mean.each_ref().map(|column| median(&|row| column[row as usize]));
    let distance_squared = |row: u32| -> f64 {
        (0..3).map(|axis| (raw.mean[axis][row as usize] - middle[axis]).powi(2)).sum()
    };
    let usual = median(&distance_squared);
    let item = |row: u32| {
        task.check()?;
        let at = row as usize;
        let from_middle = distance_squared(row);
        let [x, y, z] = [0, 1, 2].map(|axis| narrow(raw.mean[axis][at] - origin[axis]));
        let mut logs = raw.scale.each_ref().map(|column| column[at]);
        logs.sort_by(f32::total_cmp);
        // Cameras are near the middle of a scene, or as far from it as most of its splats.
        let pixel_squared = PIXEL * PIXEL * (from_middle + usual);
        let width_squared = (2.0 * f64::from(logs[1])).exp() + pixel_squared;
        Ok(Item {
            at: [x, y, z, narrow(from_middle.sqrt())],
            width_squared: narrow(width_squared),
            opacity: narrow(sigmoid(f64::from(raw.opacity[at]))),
            row,
        })
    };
    (0..rows).into_par_iter().map(item).collect()
}

/// Whether the positions of a chunk are numbers of the grid within its bounds.
fn is_quantised(chunk: &[Item]) -> bool {
    (0..GRID.len()).all(|axis| {
        let of_axis = |item: &Item| item.at[axis];
        let low = chunk.iter().map(of_axis).fold(f32::INFINITY, f32::min);
        let steps = GRID[axis] / extent(chunk, axis).max(f32::MIN_POSITIVE);
        chunk.iter().all(|item| {
            let number = (item.at[axis] - low) * steps;
            (number - number.round()).abs() <= GRID_SLACK
        })
    })
}

/// Estimates the visible quantisation error of an order: the sum over all splats of opacity times a share that grows
/// from 0 to 1 with the step of the chunk relative to the width of the splat. A splat that moves by several
/// widths is lost.
fn visible_error(items: &[Item], task: &Task) -> Result<f64> {
    let of_chunk = |chunk: &[Item]| task.check().map(|()| f64::from(chunk_error(chunk)));
    let chunks: Vec<f64> = items.par_chunks(CHUNK_ROWS).map(of_chunk).collect::<Result<_>>()?;
    Ok(chunks.iter().sum())
}

/// [`visible_error`] of splats in one chunk.
fn chunk_error(chunk: &[Item]) -> f32 {
    let mut bounds = [(f32::INFINITY, f32::NEG_INFINITY); 3];
    for item in chunk {
        for (bound, v) in bounds.iter_mut().zip(item.at) {
            *bound = (bound.0.min(v), bound.1.max(v));
        }
    }
    let steps = bounds.iter().zip(GRID).map(|((low, high), steps)| (high - low) / steps);
    let step_squared = steps.map(|step| step * step).sum::<f32>();
    let share =
        |item: &Item| step_squared / (step_squared + item.width_squared).max(f32::MIN_POSITIVE);
    chunk.iter().map(|item| item.opacity * share(item)).sum()
}

/// Divides a part into chunks, recursively: along the axis and at the row, a multiple of [`CHUNK_ROWS`], that leave the
/// least error. Candidates are the middle and, since a few outliers would spoil a half, single chunks of them at the ends.
fn divide(part: &mut [Item], task: &Task) {
    if part.len() <= CHUNK_ROWS || task.is_cancelled() {
        part.sort_unstable_by_key(|item| item.row);
        return;
    }
    let middle = part.len().div_ceil(CHUNK_ROWS) / 2 * CHUNK_ROWS;
    let (axis, at) = if part.len() > EXACT_ROWS {
        let step = part.len() / SAMPLE_ROWS;
        let mut sample: Vec<Item> = part.iter().step_by(step).copied().collect();
        let half = sample.len() / 2;
        (best_split(&mut sample, half, false).0, middle)
    } else {
        best_split(part, middle, true)
    };
    select(part, axis, at);
    let is_large = part.len() > PARALLEL_ROWS;
    let (low, high) = part.split_at_mut(at);
    let mut halves = [low, high];
    if is_large {
        halves.par_iter_mut().for_each(|half| divide(half, task));
    } else {
        halves.iter_mut().for_each(|half| divide(half, task));
    }
}

/// Axis and row that leave the least error, of the middle and, if asked for, of the ends of single chunks with outliers.
/// Changes the order of the part.
fn best_split(part: &mut [Item], middle: usize, has_ends: bool) -> (usize, usize) {
    let last = (part.len() - 1) / CHUNK_ROWS * CHUNK_ROWS;
    let mut best = (f32::INFINITY, (0, middle));
    for axis in 0..AXES {
        let mut compare = |part: &[Item], at: usize| {
            let error = chunk_error(&part[..at]) + chunk_error(&part[at..]);
            if error < best.0 {
                best = (error, (axis, at));
            }
        };
        select(part, axis, middle);
        compare(part, middle);
        if !has_ends {
            continue;
        }
        // The ends of the halves are those of the part.
        let least = OUTLIER_SHARE * extent(part, axis);
        if CHUNK_ROWS < middle {
            select(&mut part[..middle], axis, CHUNK_ROWS);
            if extent(&part[..CHUNK_ROWS], axis) >= least {
                compare(part, CHUNK_ROWS);
            }
        }
        if last > middle {
            select(&mut part[middle..], axis, last - middle);
            if extent(&part[last..], axis) >= least {
                compare(part, last);
            }
        }
    }
    best.1
}

/// Range of the coordinates along an axis.
fn extent(part: &[Item], axis: usize) -> f32 {
    let start = (f32::INFINITY, f32::NEG_INFINITY);
    let fold =
        |(low, high): (f32, f32), item: &Item| (low.min(item.at[axis]), high.max(item.at[axis]));
    let (low, high) = part.iter().fold(start, fold);
    high - low
}

/// Moves the `at` items with the least coordinates along an axis to the front.
fn select(part: &mut [Item], axis: usize, at: usize) {
    part.select_nth_unstable_by(at, |a, b| {
        a.at[axis].total_cmp(&b.at[axis]).then(a.row.cmp(&b.row))
    });
}

#[cfg(test)]
#[path = "tests/units/chunk_order.rs"]
mod tests;
