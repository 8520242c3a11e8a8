//! Nearest neighbours of points, found with a k-d tree.

use rayon::prelude::*;

use super::narrow;
use crate::error::Result;
use crate::task::Task;

/// Parts of at most this number of points are searched linearly.
const LEAF: usize = 8;
/// Parts of more than this number of points build their halves in parallel.
const PARALLEL: usize = 1 << 13;

/// Number of rows between reports of progress, about 5 ms of work.
const REPORTED_ROWS: u32 = 1 << 10;

/// A point near another one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbour {
    /// Index of the point.
    pub row: u32,
    /// Square of the distance between the points, in f32.
    pub distance_squared: f32,
}

#[derive(Debug, Clone, Copy)]
struct Point {
    position: [f32; 3],
    row: u32,
}

/// Balanced k-d tree: the median of each part is its root, the two sides are its subtrees.
pub struct Neighbours {
    points: Vec<Point>,
    axes: Vec<u8>,
}

impl Neighbours {
    /// Builds a tree of finite points. Coordinates are stored in f32 relative to `origin`. A tree whose task was cancelled is of
    /// no use.
    pub fn new(positions: impl Iterator<Item = [f64; 3]>, origin: [f64; 3], task: &Task) -> Self {
        let point = |(row, position): (u32, [f64; 3])| Point {
            position: [0, 1, 2].map(|axis| narrow(position[axis] - origin[axis])),
            row,
        };
        let mut points: Vec<Point> = (0u32..).zip(positions).map(point).collect();
        let mut axes = vec![0; points.len()];
        build(&mut points, &mut axes, task);
        Self { points, axes }
    }

    /// For each row, calls `of` with its `count` nearest other points, by distance and then by row. If several points are
    /// as far as the last one, the shape of the tree decides which of them are included: including all would visit every
    /// one of many coincident points, and give them all the same neighbours. The task's progress is in points.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn of_all<T: Send + Default + Clone>(
        &self,
        count: usize,
        task: &Task,
        of: impl Fn(u32, &[Neighbour]) -> T + Sync,
    ) -> Result<Vec<T>> {
        let steps = task.steps(self.points.len() as u64);
        // Searches run in the order of the tree, so that consecutive searches visit the same points.
        let found = self.points.par_iter().map_init(Vec::new, |nearest, point| {
            let is_reported = (point.row + 1).is_multiple_of(REPORTED_ROWS);
            if task.is_cancelled() || is_reported && steps.advance(REPORTED_ROWS.into()).is_err() {
                return (point.row, T::default());
            }
            nearest.clear();
            self.search(0..self.points.len(), point, count, nearest);
            (point.row, of(point.row, nearest))
        });
        let found: Vec<(u32, T)> = found.collect();
        task.report(found.len() as u64, found.len() as u64);
        task.check()?;
        let mut by_row = vec![T::default(); found.len()];
        for (row, value) in found {
            by_row[row as usize] = value;
        }
        Ok(by_row)
    }

    fn search(
        &self,
        part: std::ops::Range<usize>,
        from: &Point,
        count: usize,
        nearest: &mut Vec<Neighbour>,
    ) {
        if part.len() <= LEAF {
            for point in &self.points[part] {
                offer(nearest, count, from, point);
            }
            return;
        }
        let middle = part.start + part.len() / 2;
        let root = &self.points[middle];
        let axis = usize::from(self.axes[middle]);
        let beyond = from.position[axis] - root.position[axis];
        let (low, high) = (part.start..middle, middle + 1..part.end);
        // Searches the side that contains `from` first.
        let is_low = beyond < 0.0 || beyond == 0.0 && from.row < root.row;
        let (near, far) = if is_low { (low, high) } else { (high, low) };
        self.search(near, from, count, nearest);
        offer(nearest, count, from, root);
        let is_full = nearest.len() == count;
        let farthest = nearest.last().map_or(0.0, |last| last.distance_squared);
        if !is_full || beyond * beyond < farthest {
            self.search(far, from, count, nearest);
        }
    }
}

fn build(points: &mut [Point], axes: &mut [u8], task: &Task) {
    if points.len() <= LEAF || task.is_cancelled() {
        return;
    }
    let mut bounds = [(f32::INFINITY, f32::NEG_INFINITY); 3];
    for point in &*points {
        for (bound, v) in bounds.iter_mut().zip(point.position) {
            *bound = (bound.0.min(v), bound.1.max(v));
        }
    }
    let extent = |axis: u8| {
        let (low, high) = bounds[usize::from(axis)];
        high - low
    };
    let axis = [0, 1, 2].into_iter().max_by(|a, b| extent(*a).total_cmp(&extent(*b))).unwrap_or(0);
    let at = usize::from(axis);
    let middle = points.len() / 2;
    points.select_nth_unstable_by(middle, |a, b| {
        a.position[at].total_cmp(&b.position[at]).then(a.row.cmp(&b.row))
    });
    axes[middle] = axis;
    let is_large = points.len() > PARALLEL;
    let (low, high) = points.split_at_mut(middle);
    let (low_axes, high_axes) = axes.split_at_mut(middle);
    let mut halves = [(low, low_axes), (&mut high[1..], &mut high_axes[1..])];
    if is_large {
        halves.par_iter_mut().for_each(|(points, axes)| build(points, axes, task));
    } else {
        halves.iter_mut().for_each(|(points, axes)| build(points, axes, task));
    }
}

/// Inserts `point` into the sorted list of the `count` nearest if it is near enough.
fn offer(nearest: &mut Vec<Neighbour>, count: usize, from: &Point, point: &Point) {
    if point.row == from.row {
        return;
    }
    let offset = [0, 1, 2].map(|axis| from.position[axis] - point.position[axis]);
    let found = Neighbour { row: point.row, distance_squared: offset.iter().map(|v| v * v).sum() };
    if nearest.len() == count {
        match nearest.last() {
            Some(last) if found.distance_squared < last.distance_squared => nearest.pop(),
            _ => return,
        };
    }
    let key = |n: &Neighbour| (n.distance_squared, n.row);
    nearest.insert(nearest.partition_point(|other| key(other) < key(&found)), found);
}

#[cfg(test)]
#[path = "tests/neighbours.rs"]
mod tests;
