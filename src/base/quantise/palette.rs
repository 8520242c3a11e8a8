//! Palettes: k-means of whole rows, in a tree.
//!
//! All-pairs k-means of a million rows and 65,536 centroids takes 10^13 multiplications per iteration. Here the rows are
//! split at medians into groups of equal size, each group has its share of the centroids, and the last passes compare a
//! group's rows with the centroids of the nearest groups too, so that the borders of groups do not show. They compare
//! blocks of neighbouring centroids: the blocks nearest to the block of the row's own centroid.

use std::collections::HashMap;

use rayon::prelude::*;

use crate::error::Result;
use crate::math::{SimdLevel, fit, low, narrow, whole};
use crate::task::{Steps, Task};

use super::nearest::{LANES, LaneBlock, Rows, nearest};

const MAX_GROUPS: usize = 256;
/// Rows transposed at a time: 46 KB of rows of 45 numbers.
const TRANSPOSED_ROWS: usize = 256;
const VARIANCE_ROWS: usize = 4096;
const INNER_ITERATIONS: usize = 5;
const OUTER_ITERATIONS: usize = 2;
/// Groups whose centroids a row is compared with in the last passes, its own group included.
const NEAR_GROUPS: usize = 16;
/// Blocks of centroids of these groups that a row is compared with.
const NEAR_BLOCKS: usize = 48;

/// Centroids, and the centroid nearest to each row.
pub struct Palette {
    /// Centroids, each of the width of the rows.
    pub centroids: Vec<Vec<f32>>,
    /// Index of the centroid of each row.
    pub labels: Vec<u16>,
}

/// Number of centroids of `rows` rows: the largest power of two up to `rows`, at most 65,536.
fn palette_size(rows: usize) -> usize {
    whole::<usize>((rows as f64 / 1024.0).log2().floor().min(6.0).exp2() * 1024.0).max(1)
}

struct Group {
    rows: Vec<u32>,
    labels: Vec<u32>,
    mean: Vec<f32>,
    centroids: Vec<Vec<f32>>,
}

struct Block {
    first: u32,
    lanes: LaneBlock,
    centre: Vec<f32>,
}

impl Group {
    /// Orders centroids so that neighbours in space are neighbours in memory, and divides them into blocks.
    fn arrange(&mut self, width: usize) -> Vec<Block> {
        let centroids = Rows { width, values: self.centroids.concat() };
        let mut parts = vec![(0..fit(self.centroids.len())).collect::<Vec<u32>>()];
        while parts.iter().any(|part| part.len() > LANES) {
            parts = parts.into_iter().flat_map(|part| halves(&centroids, &part)).collect();
        }
        let order: Vec<u32> = parts.concat();
        let mut places = vec![0; order.len()];
        for (place, centroid) in (0..).zip(&order) {
            places[*centroid as usize] = place;
        }
        for label in &mut self.labels {
            *label = places[*label as usize];
        }
        let moved = |at: &u32| std::mem::take(&mut self.centroids[*at as usize]);
        self.centroids = order.iter().map(moved).collect();
        let mut first = 0;
        let blocks = parts.iter().filter(|part| !part.is_empty()).map(|part| {
            let range = first..first + part.len();
            first = range.end;
            Block {
                first: fit(range.start),
                lanes: LaneBlock::new(&self.centroids[range.clone()]),
                centre: mean(&centroids, part),
            }
        });
        blocks.collect()
    }

    /// Moves each centroid to the mean of its rows, if it has any.
    fn move_centroids(&mut self, points: &Rows, level: SimdLevel) {
        let width = points.width;
        let mut sums = vec![0.0_f64; self.centroids.len() * width];
        let mut counts = vec![0_u32; self.centroids.len()];
        for (row, label) in self.rows.iter().zip(&self.labels) {
            let label = *label as usize;
            counts[label] += 1;
            let sums = &mut sums[label * width..(label + 1) * width];
            level.run(|| {
                for (sum, value) in sums.iter_mut().zip(points.row(*row as usize)) {
                    *sum += f64::from(*value);
                }
            });
        }
        let sums = sums.chunks(width);
        for ((centroid, sums), count) in self.centroids.iter_mut().zip(sums).zip(counts) {
            if count > 0 {
                for (value, sum) in centroid.iter_mut().zip(sums) {
                    *value = narrow(sum / f64::from(count));
                }
            }
        }
    }
}

/// Computes the palette of `columns`, which must have equal lengths.
pub fn palette(columns: &[Vec<f32>], level: SimdLevel, task: &Task) -> Result<Palette> {
    crate::span!("palette");
    let rows = columns.first().map_or(0, Vec::len);
    let size = palette_size(rows).min(rows.max(1));
    if let Some(exact) = exact_palette(columns, size) {
        return Ok(exact);
    }
    task.check()?;
    let width = columns.len();
    let mut values = vec![0.0; rows * width];
    values.par_chunks_mut(width * TRANSPOSED_ROWS).enumerate().for_each(|(part, out)| {
        for (at, column) in columns.iter().enumerate() {
            for (row, value) in out.chunks_exact_mut(width).zip(&column[part * TRANSPOSED_ROWS..]) {
                row[at] = *value;
            }
        }
    });
    let points = Rows { width, values };
    let mut groups = split(&points, rows, size, task)?;
    let (points, order) = regrouped(points, &mut groups);
    let steps = task.steps(((INNER_ITERATIONS + OUTER_ITERATIONS) * rows) as u64);
    groups.par_iter_mut().try_for_each(|group| {
        for _ in 0..INNER_ITERATIONS {
            let book: Vec<LaneBlock> = group.centroids.chunks(LANES).map(LaneBlock::new).collect();
            let book: Vec<&LaneBlock> = book.iter().collect();
            group.labels = nearest(&points, &group.rows, &book, level, task);
            group.move_centroids(&points, level);
            steps.advance(group.rows.len() as u64)?;
        }
        Ok(())
    })?;
    task.check()?;
    let mut labels = vec![0; rows];
    for _ in 0..OUTER_ITERATIONS {
        labels = across(&points, &mut groups, level, &steps)?;
        task.check()?;
    }
    let centroids = groups.into_iter().flat_map(|group| group.centroids);
    let mut of_rows = vec![0; rows];
    for (row, label) in order.into_iter().zip(labels) {
        of_rows[row as usize] = u16::try_from(label).unwrap_or(u16::MAX);
    }
    Ok(Palette { centroids: centroids.collect(), labels: of_rows })
}

/// Returns a palette of all distinct rows; `None` if there are more than `size`.
fn exact_palette(columns: &[Vec<f32>], size: usize) -> Option<Palette> {
    let rows = columns.first().map_or(0, Vec::len);
    let mut known: HashMap<Vec<u32>, u16> = HashMap::new();
    let (mut centroids, mut labels) = (Vec::new(), Vec::with_capacity(rows));
    for row in 0..rows {
        let values: Vec<f32> = columns.iter().map(|column| column[row]).collect();
        let bits = values.iter().map(|v| v.to_bits()).collect();
        let next = u16::try_from(centroids.len()).ok();
        let label = match known.get(&bits) {
            Some(label) => *label,
            None if centroids.len() >= size => return None,
            None => {
                let label = next?;
                known.insert(bits, label);
                centroids.push(values);
                label
            }
        };
        labels.push(label);
    }
    Some(Palette { centroids, labels })
}

/// Splits rows at medians of the widest dimension; a group seeds its share of `size` centroids at evenly spaced rows.
fn split(points: &Rows, rows: usize, size: usize, task: &Task) -> Result<Vec<Group>> {
    let groups = MAX_GROUPS.min(size.isqrt().next_power_of_two());
    let all: Vec<u32> = (0..u32::try_from(rows).unwrap_or(u32::MAX)).collect();
    let mut parts = vec![all];
    while parts.len() < groups {
        task.check()?;
        parts = parts.into_par_iter().flat_map(|part| halves(points, &part)).collect();
    }
    let count = parts.len();
    let share = |at: usize| (at + 1) * size / count - at * size / count;
    let grouped = parts.into_par_iter().enumerate().map(|(at, rows)| {
        task.check()?;
        let share = share(at).clamp(1, rows.len().max(1));
        let seed = |i: usize| rows.get((2 * i + 1) * rows.len() / (2 * share));
        let seeds = (0..share).filter_map(seed);
        Ok(Group {
            mean: mean(points, &rows),
            centroids: seeds.map(|row| points.row(*row as usize).to_vec()).collect(),
            labels: Vec::new(),
            rows,
        })
    });
    grouped.collect()
}

/// Copies rows group by group, so that threads read memory in order. Also returns the previous index of each row.
fn regrouped(points: Rows, groups: &mut [Group]) -> (Rows, Vec<u32>) {
    let mut order = Vec::new();
    for group in groups {
        let first = fit::<u32>(order.len());
        order.append(&mut group.rows);
        group.rows = (first..fit(order.len())).collect();
    }
    let mut values = vec![0.0; points.values.len()];
    values
        .par_chunks_mut(points.width)
        .zip(&order)
        .with_min_len(TRANSPOSED_ROWS)
        .for_each(|(to, row)| to.copy_from_slice(points.row(*row as usize)));
    let width = points.width;
    drop(points);
    (Rows { width, values }, order)
}

fn mean(points: &Rows, rows: &[u32]) -> Vec<f32> {
    let mut sums = vec![0.0_f64; points.width];
    for row in rows {
        for (sum, value) in sums.iter_mut().zip(points.row(*row as usize)) {
            *sum += f64::from(*value);
        }
    }
    let count = rows.len().max(1) as f64;
    sums.into_iter().map(|sum| narrow(sum / count)).collect()
}

fn halves(points: &Rows, rows: &[u32]) -> [Vec<u32>; 2] {
    let widest = widest(points, rows);
    let middle = rows.len() / 2;
    // The key in the high half and the row in the low half make one integer, so that rows order equal keys.
    let key = |row: &u32| {
        u64::from(total_order(points.row(*row as usize)[widest])) << 32 | u64::from(*row)
    };
    let mut keys: Vec<u64> = rows.iter().map(key).collect();
    if middle > 0 {
        keys.select_nth_unstable(middle);
    }
    let [lower, upper] = [&keys[..middle], &keys[middle..]];
    [lower, upper].map(|keys| keys.iter().map(|key| low::<u32>(*key)).collect())
}

fn widest(points: &Rows, rows: &[u32]) -> usize {
    let mut sums = vec![[0.0_f64; 2]; points.width];
    let step = rows.len().div_ceil(VARIANCE_ROWS).max(1);
    for row in rows.iter().step_by(step) {
        for ([sum, squares], value) in sums.iter_mut().zip(points.row(*row as usize)) {
            let value = f64::from(*value);
            *sum += value;
            *squares += value * value;
        }
    }
    let count = rows.len().div_ceil(step) as f64;
    let variances = sums.iter().map(|[sum, squares]| squares - sum * sum / count);
    variances.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(at, _)| at)
}

/// Moves rows to the nearest centroids of nearby groups, then centroids to their rows' means; returns the rows' labels.
fn across(
    points: &Rows,
    groups: &mut [Group],
    level: SimdLevel,
    steps: &Steps<'_>,
) -> Result<Vec<u32>> {
    let task = steps.task();
    let firsts: Vec<u32> = groups
        .iter()
        .scan(0, |first, group| {
            let own = *first;
            *first += fit::<u32>(group.centroids.len());
            Some(own)
        })
        .collect();
    let arranged = groups.par_iter_mut();
    let blocks: Vec<Vec<Block>> = arranged.map(|group| group.arrange(points.width)).collect();
    let shared: &[Group] = groups;
    let found: Vec<Vec<u32>> = (0..shared.len())
        .into_par_iter()
        .map(|at| {
            task.check()?;
            let near = near_groups(shared, at).into_iter().flat_map(|group| {
                let first = firsts[group];
                blocks[group].iter().map(move |block| (block, first + block.first))
            });
            let group = &shared[at];
            let found = across_group(points, group, &blocks[at], near.collect(), level, task);
            steps.advance(group.rows.len() as u64)?;
            Ok(found)
        })
        .collect::<Result<_>>()?;
    let mut labels = vec![0; points.values.len() / points.width];
    let mut members: Vec<(Vec<u32>, Vec<u32>)> = vec![Default::default(); groups.len()];
    for (group, found) in groups.iter().zip(&found) {
        for (row, label) in group.rows.iter().zip(found) {
            labels[*row as usize] = *label;
            let owner = firsts.partition_point(|first| *first <= *label) - 1;
            members[owner].0.push(*row);
            members[owner].1.push(*label - firsts[owner]);
        }
    }
    groups.par_iter_mut().zip(members).for_each(|(group, (rows, labels))| {
        (group.rows, group.labels) = (rows, labels);
        group.move_centroids(points, level);
    });
    Ok(labels)
}

/// Label of the nearest centroid for each row of a group, out of its `own` blocks and the blocks in `near`,
/// each with its first label. Meaningless once the task is cancelled.
fn across_group(
    points: &Rows,
    group: &Group,
    own: &[Block],
    mut near: Vec<(&Block, u32)>,
    level: SimdLevel,
    task: &Task,
) -> Vec<u32> {
    let mut members: Vec<Vec<usize>> = own.iter().map(|_| Vec::new()).collect();
    for (at, label) in group.labels.iter().enumerate() {
        members[own.partition_point(|block| block.first <= *label) - 1].push(at);
    }
    let mut found = vec![0; group.rows.len()];
    for (block, members) in own.iter().zip(members) {
        near.sort_by_cached_key(|(other, label)| {
            (total_order(squared_distance(&other.centre, &block.centre)), *label)
        });
        let candidates = &near[..near.len().min(NEAR_BLOCKS)];
        let lanes: Vec<&LaneBlock> = candidates.iter().map(|(block, _)| &block.lanes).collect();
        let rows: Vec<u32> = members.iter().map(|at| group.rows[*at]).collect();
        let nearest = nearest(points, &rows, &lanes, level, task);
        for (at, nearest) in members.into_iter().zip(nearest) {
            let (block, lane) = (nearest as usize / LANES, nearest % fit::<u32>(LANES));
            found[at] = candidates[block].1 + lane;
        }
    }
    found
}

fn squared_distance(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Maps a float to an integer of the same order.
fn total_order(value: f32) -> u32 {
    let bits = value.to_bits();
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}

fn near_groups(groups: &[Group], at: usize) -> Vec<usize> {
    let distance = |other: &Group| squared_distance(&other.mean, &groups[at].mean);
    let mut order: Vec<(f32, usize)> = groups.iter().map(distance).zip(0..).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1 != at).cmp(&(b.1 != at))));
    order.into_iter().take(NEAR_GROUPS).map(|(_, group)| group).collect()
}

#[cfg(test)]
#[path = "tests/palette.rs"]
mod tests;
