//! The palette of higher coefficients: k-means of whole rows, in a tree.
//!
//! All-pairs k-means of a million rows and 65,536 centroids takes 10^13 multiplications per iteration.
//! Here the rows are split at medians into groups of equal size, each group has its share of the
//! centroids, and the last passes compare a group's rows with the centroids of the nearest groups too, so
//! that the borders of groups do not show.

use std::collections::HashMap;

use fearless_simd::{Simd, dispatch, f32x16, prelude::*, u32x16};
use rayon::prelude::*;

use quadrille_base::error::Result;
use quadrille_base::math::{SimdLevel, whole};
use quadrille_base::task::{Steps, Task};

/// Centroids that are compared at a time.
const LANES: usize = 16;
/// Rows that are compared at a time: six sums of two vectors each fit into the 16 registers of AVX2 beside
/// the centroids.
const ROWS: usize = 6;
/// Number of groups at most.
const MAX_GROUPS: usize = 256;
/// Lloyd iterations within a group, and across groups.
const INNER_ITERATIONS: usize = 5;
const OUTER_ITERATIONS: usize = 2;
/// Groups whose centroids a row is compared with in the latter.
const NEAR_GROUPS: usize = 8;

/// A palette: its rows, and the row that stands for each row of the scene.
pub(super) struct Palette {
    /// Centroids, each of the width of the rows.
    pub(super) centroids: Vec<Vec<f32>>,
    pub(super) labels: Vec<u16>,
}

/// Number of rows of the palette of a scene of `rows` splats: a power of two times 1024, up to 65,536.
pub(super) fn palette_size(rows: usize) -> usize {
    let factor = (rows as f64 / 1024.0).log2().floor().min(6.0).exp2();
    let size = whole::<usize>(factor * 1024.0);
    size.max(1)
}

/// Rows of numbers, row by row, each padded with zeros to `width`.
struct Rows {
    width: usize,
    values: Vec<f32>,
}

impl Rows {
    fn row(&self, at: usize) -> &[f32] {
        &self.values[at * self.width..(at + 1) * self.width]
    }
}

/// A group of rows with its centroids.
struct Group {
    rows: Vec<u32>,
    mean: Vec<f32>,
    /// Centroids, padded to the width of the rows.
    centroids: Vec<Vec<f32>>,
}

/// Computes the palette of `columns`, which must have equal lengths.
///
/// # Errors
/// [`Error::Cancelled`](quadrille_base::Error::Cancelled).
pub(super) fn palette(columns: &[Vec<f32>], level: SimdLevel, task: &Task) -> Result<Palette> {
    let rows = columns.first().map_or(0, Vec::len);
    let size = palette_size(rows).min(rows.max(1));
    if let Some(exact) = exact_palette(columns, size) {
        return Ok(exact);
    }
    task.check()?;
    let width = columns.len();
    let mut values = vec![0.0; rows * width];
    values
        .par_chunks_mut(width)
        .enumerate()
        .for_each(|(row, out)| {
            for (value, column) in out.iter_mut().zip(columns) {
                *value = column[row];
            }
        });
    let points = Rows { width, values };
    let mut groups = split(&points, rows, size, task)?;
    let steps = task.steps(((INNER_ITERATIONS + OUTER_ITERATIONS) * rows) as u64);
    groups.par_iter_mut().try_for_each(|group| {
        for _ in 0..INNER_ITERATIONS {
            let nearest = nearest(&points, &group.rows, &[&group.centroids], (level, task));
            update(
                &points,
                &mut group.centroids,
                group.rows.iter().zip(&nearest),
            );
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
    Ok(Palette {
        centroids: centroids.collect(),
        labels: labels
            .into_iter()
            .map(|l| u16::try_from(l).unwrap_or(u16::MAX))
            .collect(),
    })
}

/// A palette of all distinct rows, unless they are more than `size`.
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

/// Splits the rows into groups at medians of the dimension of greatest variance, each with its share of
/// `size` centroids, which are rows of the group at even steps.
fn split(points: &Rows, rows: usize, size: usize, task: &Task) -> Result<Vec<Group>> {
    let groups = MAX_GROUPS.min(size.isqrt().next_power_of_two());
    let all: Vec<u32> = (0..u32::try_from(rows).unwrap_or(u32::MAX)).collect();
    let mut parts = vec![all];
    while parts.len() < groups {
        task.check()?;
        parts = parts
            .into_par_iter()
            .flat_map(|part| halves(points, part))
            .collect();
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
            centroids: seeds
                .map(|row| points.row(*row as usize).to_vec())
                .collect(),
            rows,
        })
    });
    grouped.collect()
}

fn mean(points: &Rows, rows: &[u32]) -> Vec<f32> {
    let mut sums = vec![0.0_f64; points.width];
    for row in rows {
        for (sum, value) in sums.iter_mut().zip(points.row(*row as usize)) {
            *sum += f64::from(*value);
        }
    }
    let count = rows.len().max(1) as f64;
    sums.into_iter()
        .map(|sum| quadrille_base::math::narrow(sum / count))
        .collect()
}

/// Splits rows into two halves at the median of the dimension of greatest variance.
fn halves(points: &Rows, mut rows: Vec<u32>) -> [Vec<u32>; 2] {
    let centre = mean(points, &rows);
    let mut variance = vec![0.0_f64; points.width];
    for row in &rows {
        let values = points.row(*row as usize).iter().zip(&centre);
        for (sum, (value, centre)) in variance.iter_mut().zip(values) {
            *sum += f64::from(value - centre).powi(2);
        }
    }
    let dimensions = variance.iter().enumerate();
    let widest = dimensions
        .max_by(|a, b| a.1.total_cmp(b.1))
        .map_or(0, |(at, _)| at);
    let middle = rows.len() / 2;
    if middle > 0 {
        let key = |row: &u32| points.row(*row as usize)[widest];
        rows.select_nth_unstable_by(middle, |a, b| key(a).total_cmp(&key(b)).then(a.cmp(b)));
    }
    let upper = rows.split_off(middle);
    [rows, upper]
}

/// Assigns the rows of all groups to the nearest centroids of the groups around them and moves the
/// centroids to the means. Returns the label of each row, counted through all groups.
fn across(
    points: &Rows,
    groups: &mut [Group],
    level: SimdLevel,
    steps: &Steps<'_>,
) -> Result<Vec<u32>> {
    let task = steps.task();
    let firsts: Vec<usize> = groups
        .iter()
        .scan(0, |first, group| {
            let own = *first;
            *first += group.centroids.len();
            Some(own)
        })
        .collect();
    let shared: &[Group] = groups;
    let found: Vec<Vec<u32>> = (0..shared.len())
        .into_par_iter()
        .map(|at| {
            task.check()?;
            let near = near_groups(shared, at);
            let books: Vec<&Vec<Vec<f32>>> = near.iter().map(|g| &shared[*g].centroids).collect();
            let index = |mut local: u32| {
                for group in &near {
                    let count = u32::try_from(shared[*group].centroids.len()).unwrap_or(u32::MAX);
                    if local < count {
                        return u32::try_from(firsts[*group]).unwrap_or(u32::MAX) + local;
                    }
                    local -= count;
                }
                0
            };
            let nearest = nearest(points, &shared[at].rows, &books, (level, task));
            steps.advance(shared[at].rows.len() as u64)?;
            Ok(nearest.into_iter().map(index).collect())
        })
        .collect::<Result<_>>()?;
    let mut labels = vec![0; points.values.len() / points.width];
    let mut members: Vec<Vec<(u32, u32)>> = vec![Vec::new(); groups.len()];
    for (group, found) in groups.iter().zip(&found) {
        for (row, label) in group.rows.iter().zip(found) {
            labels[*row as usize] = *label;
            let owner = firsts.partition_point(|first| *first <= *label as usize) - 1;
            let local = *label - u32::try_from(firsts[owner]).unwrap_or(u32::MAX);
            members[owner].push((*row, local));
        }
    }
    groups
        .par_iter_mut()
        .zip(&members)
        .for_each(|(group, members)| {
            update(
                points,
                &mut group.centroids,
                members.iter().map(|(row, local)| (row, local)),
            );
        });
    Ok(labels)
}

/// The groups nearest to group `at` by their means, itself first.
fn near_groups(groups: &[Group], at: usize) -> Vec<usize> {
    let distance = |other: &Group| -> f32 {
        let pairs = other.mean.iter().zip(&groups[at].mean);
        pairs.map(|(a, b)| (a - b) * (a - b)).sum()
    };
    let mut order: Vec<(f32, usize)> = groups.iter().map(distance).zip(0..).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1 != at).cmp(&(b.1 != at))));
    order
        .into_iter()
        .take(NEAR_GROUPS)
        .map(|(_, group)| group)
        .collect()
}

/// Moves each centroid to the mean of its rows; one without rows stays.
fn update<'p>(
    points: &Rows,
    centroids: &mut [Vec<f32>],
    members: impl Iterator<Item = (&'p u32, &'p u32)>,
) {
    let mut sums = vec![0.0_f64; centroids.len() * points.width];
    let mut counts = vec![0_u32; centroids.len()];
    for (row, label) in members {
        let label = *label as usize;
        counts[label] += 1;
        let sums = &mut sums[label * points.width..(label + 1) * points.width];
        for (sum, value) in sums.iter_mut().zip(points.row(*row as usize)) {
            *sum += f64::from(*value);
        }
    }
    let sums = sums.chunks(points.width);
    for ((centroid, sums), count) in centroids.iter_mut().zip(sums).zip(counts) {
        if count > 0 {
            for (value, sum) in centroid.iter_mut().zip(sums) {
                *value = quadrille_base::math::narrow(sum / f64::from(count));
            }
        }
    }
}

/// [`LANES`] centroids, dimension by dimension.
struct LaneBlock {
    dimensions: Vec<[f32; LANES]>,
    /// Half the squared norms; infinite where there is no centroid.
    half_norms: [f32; LANES],
}

/// The index of the nearest centroid of all `books` for each of `rows`.
/// It has no meaning once the task is cancelled.
fn nearest(
    points: &Rows,
    rows: &[u32],
    books: &[&Vec<Vec<f32>>],
    (level, task): (SimdLevel, &Task),
) -> Vec<u32> {
    let all: Vec<&Vec<f32>> = books.iter().flat_map(|book| book.iter()).collect();
    let block = |part: &[&Vec<f32>]| {
        let mut block = LaneBlock {
            dimensions: vec![[0.0; LANES]; points.width],
            half_norms: [f32::INFINITY; LANES],
        };
        for (lane, centroid) in part.iter().enumerate() {
            for (lanes, value) in block.dimensions.iter_mut().zip(centroid.iter()) {
                lanes[lane] = *value;
            }
            block.half_norms[lane] = centroid.iter().map(|v| v * v).sum::<f32>() / 2.0;
        }
        block
    };
    let blocks: Vec<LaneBlock> = all.chunks(LANES).map(block).collect();
    let mut found = vec![0; rows.len()];
    dispatch!(level.level(), simd => nearest_of(simd, points, rows, &blocks, &mut found, task));
    found
}

/// Writes the index of the nearest centroid of each row to `found`: that with the least half norm less
/// product.
#[inline(always)]
fn nearest_of<S: Simd>(
    simd: S,
    points: &Rows,
    rows: &[u32],
    blocks: &[LaneBlock],
    found: &mut [u32],
    task: &Task,
) {
    // Rows of a part, dimension by dimension.
    let mut values = vec![[0.0_f32; ROWS]; points.width];
    for (part, found) in rows.chunks(ROWS).zip(found.chunks_mut(ROWS)) {
        if task.is_cancelled() {
            return;
        }
        for (at, row) in part.iter().enumerate() {
            for (lanes, value) in values.iter_mut().zip(points.row(*row as usize)) {
                lanes[at] = *value;
            }
        }
        let nearest = nearest_to_part(simd, blocks, &values);
        found.copy_from_slice(&nearest[..found.len()]);
    }
}

/// The index of the nearest centroid for each of [`ROWS`] rows.
#[inline(always)]
fn nearest_to_part<S: Simd>(simd: S, blocks: &[LaneBlock], values: &[[f32; ROWS]]) -> [u32; ROWS] {
    let mut best = [f32x16::splat(simd, f32::INFINITY); ROWS];
    let mut at = [u32x16::splat(simd, 0); ROWS];
    for (number, block) in (0_u32..).zip(blocks) {
        let mut sums = [f32x16::simd_from(simd, block.half_norms); ROWS];
        for (lanes, values) in block.dimensions.iter().zip(values) {
            let lanes = f32x16::simd_from(simd, *lanes);
            for row in 0..ROWS {
                // Not fused, so that every level gives the same palette.
                sums[row] -= lanes * f32x16::splat(simd, values[row]);
            }
        }
        let number = u32x16::splat(simd, number);
        for row in 0..ROWS {
            let is_less = sums[row].simd_lt(best[row]);
            best[row] = is_less.select(sums[row], best[row]);
            at[row] = is_less.select(number, at[row]);
        }
    }
    std::array::from_fn(|row| {
        let (best, at): ([f32; LANES], [u32; LANES]) = (best[row].into(), at[row].into());
        let mut lane = 0;
        for other in 1..LANES {
            // If centroids are equally near, the first one is chosen.
            let is_less = best[other] < best[lane];
            let is_before = best[other] == best[lane] && at[other] < at[lane];
            if is_less || is_before {
                lane = other;
            }
        }
        let of = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        at[lane] * of(LANES) + of(lane)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_two_of_1024() {
        for (rows, size) in [
            (1_500_000, 65_536),
            (38_347, 32_768),
            (2000, 1024),
            (600, 512),
            (1, 1),
        ] {
            assert_eq!(palette_size(rows), size, "{rows}");
        }
    }

    /// Rows of `count` clusters with a little noise around each centre.
    fn clustered(rows: u32, count: u32, noise: f32) -> Vec<Vec<f32>> {
        let hash = |v: u32| (v.wrapping_mul(0x9e37_79b9) >> 8) as f32 / 16_777_216.0 - 0.5;
        let value = |row: u32, dimension: u32| {
            hash(row % count * 64 + dimension) + noise * hash(row * 64 + dimension + 7)
        };
        (0..9)
            .map(|d| (0..rows).map(|row| value(row, d)).collect())
            .collect()
    }

    #[test]
    fn few_distinct_rows_are_kept_exactly() {
        let columns = clustered(3000, 700, 0.0);
        let palette = palette(&columns, SimdLevel::best(), &Task::NEVER).unwrap();
        assert_eq!(palette.centroids.len(), 700);
        for (row, label) in palette.labels.iter().enumerate() {
            let centroid = &palette.centroids[usize::from(*label)];
            assert!(
                columns
                    .iter()
                    .zip(centroid)
                    .all(|(column, v)| column[row] == *v)
            );
        }
    }

    #[test]
    fn clusters_are_found_on_every_level() {
        // More rows than the palette has, so that they are clustered.
        let rows = 9001;
        let columns = clustered(rows, 500, 0.02);
        let mut first = None;
        for level in SimdLevel::all() {
            let palette = palette(&columns, level, &Task::NEVER).unwrap();
            assert_eq!(palette.centroids.len(), 8192);
            let error = |(row, label): (usize, &u16)| -> f32 {
                let centroid = &palette.centroids[usize::from(*label)];
                columns
                    .iter()
                    .zip(centroid)
                    .map(|(c, v)| (c[row] - v).powi(2))
                    .sum()
            };
            let sum: f32 = palette.labels.iter().enumerate().map(error).sum();
            // Noise of uniform +-0.01 in nine dimensions around the centres.
            let bound = rows as f32 * 9.0 * 0.02f32.powi(2) / 12.0;
            assert!(sum < bound, "{sum} {bound}");
            let labels = first.get_or_insert(palette.labels.clone());
            assert_eq!(*labels, palette.labels, "levels differ");
        }
    }
}
