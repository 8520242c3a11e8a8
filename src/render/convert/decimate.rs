//! Decimation: merges neighbouring splats, cheapest pairs first.

use std::path::Path;

use nalgebra::{Matrix3, Quaternion, Rotation3, SymmetricEigen, UnitQuaternion, Vector3};
use rayon::prelude::*;

use quadrille_base::math::neighbours::{Neighbour, Neighbours};
use quadrille_base::math::{SH_C0, narrow, whole};
use quadrille_base::{Result, Task};
use quadrille_scene::SplatTable;
use quadrille_scene::activation::{log_scale, logit, sigmoid};
use quadrille_scene::table::RawColumns;

/// Number of splats that a decimation leaves.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Amount {
    /// At most this number of splats.
    Splats(usize),
    /// This share of all splats, 0 to 1.
    Share(f64),
}

impl Amount {
    /// Number of splats to keep of `rows`; it may exceed `rows`.
    pub(super) fn of(self, rows: usize) -> usize {
        match self {
            Self::Splats(count) => count,
            Self::Share(share) => whole((rows as f64 * share.clamp(0.0, 1.0)).round()),
        }
    }
}

/// Neighbours per splat that are considered for merging.
const NEIGHBOURS: usize = 8;
/// At most one in this number of splats merges per pass, before neighbours and costs are recomputed.
const PER_PASS: usize = 8;
const MAX_OPACITY: f64 = 0.99;
/// Colour difference, on a display range of 0 to 1, that costs as much as a distance of one standard deviation.
const COLOUR_DEVIATION: f64 = 0.1;
/// Share of the mean variance added to covariances in costs, since flat splats have almost none along their normals.
const FLOOR: f64 = 0.01;
/// Exponent of Thomsen's formula for the area of an ellipsoid; relative error below 1.1 percent.
const AREA_EXPONENT: f64 = 1.6075;

#[derive(Clone)]
struct Body {
    mean: Vector3<f64>,
    covariance: Matrix3<f64>,
    /// Opacity times surface area: proportional to the mean coverage over all directions.
    mass: f64,
    colour: Vector3<f64>,
    /// Input row of the splat; of a merged one, the row of the heavier part.
    origin: u32,
    is_merged: bool,
}

#[derive(Clone, Copy, Default)]
struct Pair {
    cost: f64,
    rows: [u32; 2],
}

/// Merges splats until `amount` is left. A merged splat has the mean and the covariance of the mixture of both,
/// weighted by opacity times area, and the sum of both weights; columns that only PLY has are copied from the
/// heavier splat. Neighbours merge in the order of an upper bound on the Kullback-Leibler divergence that the
/// merge adds (Runnalls: "Kullback-Leibler approach to Gaussian mixture reduction", IEEE Transactions on
/// Aerospace and Electronic Systems 43, 2007), with colours as coordinates.
pub(super) fn decimate(
    table: &mut SplatTable,
    amount: Amount,
    path: &Path,
    task: &Task,
) -> Result<()> {
    let rows = table.rows();
    let target = amount.of(rows);
    if rows <= target.max(1) {
        return Ok(());
    }
    let raw = table.raw(path, task)?;
    let steps = task.steps((rows - target.max(1)) as u64);
    let task = &task.without_progress();
    let mut merging = Merging::of(&raw, task)?;
    while merging.bodies.len() > target.max(1) {
        let surplus = merging.bodies.len() - target.max(1);
        let pairs = merging.cheapest(surplus.min(merging.bodies.len().div_ceil(PER_PASS)), task)?;
        merging.merge(&pairs, task)?;
        steps.advance(pairs.len() as u64)?;
    }
    let origins: Vec<u32> = merging.bodies.iter().map(|body| body.origin).collect();
    table.select(&origins, task)?;
    table.set_raw(merging.columns(&raw, task)?);
    Ok(())
}

/// Makes `count` coarser levels of detail, finest first, each with `share` (0 to 1) of the splats of the level before.
///
/// # Errors
/// [`Error::Malformed`](quadrille_base::error::Error::Malformed) for rows that are not finite (`path` names the
/// input), and [`Error::Cancelled`](quadrille_base::error::Error::Cancelled).
pub fn coarser_levels(
    table: &SplatTable,
    count: usize,
    share: f64,
    path: &Path,
    task: &Task,
) -> Result<Vec<SplatTable>> {
    let mut levels: Vec<SplatTable> = Vec::new();
    for _ in 0..count {
        let mut coarser = levels.last().unwrap_or(table).clone();
        decimate(&mut coarser, Amount::Share(share), path, task)?;
        levels.push(coarser);
    }
    Ok(levels)
}

struct Merging {
    bodies: Vec<Body>,
    origin: [f64; 3],
    per_row: usize,
    coefficients: Vec<f32>,
}

impl Merging {
    fn of(raw: &RawColumns, task: &Task) -> Result<Self> {
        let rows = u32::try_from(raw.rows()).unwrap_or(u32::MAX);
        let bodies = (0..rows).into_par_iter().map(|row| {
            task.check()?;
            Ok(body(raw, row))
        });
        let bodies = bodies.collect::<Result<_>>()?;
        let columns: Vec<&Vec<f32>> = raw.sh_constant.iter().chain(&raw.sh_rest).collect();
        let rows = (0..raw.rows()).take_while(|_| !task.is_cancelled());
        let values = rows.flat_map(|row| columns.iter().map(move |c| c[row]));
        Ok(Self {
            bodies,
            origin: raw.origin(),
            per_row: columns.len(),
            coefficients: values.collect(),
        })
    }

    /// Returns up to `most` disjoint pairs, cheapest first.
    fn cheapest(&self, most: usize, task: &Task) -> Result<Vec<Pair>> {
        let cheapest = |row: u32, nearest: &[Neighbour]| {
            let own = &self.bodies[row as usize];
            let pair = |other: &Neighbour| Pair {
                cost: cost(own, &self.bodies[other.row as usize]),
                rows: [row.min(other.row), row.max(other.row)],
            };
            nearest.iter().map(pair).min_by(in_order)
        };
        let positions = self.bodies.iter().map(|body| body.mean.into());
        let found =
            Neighbours::new(positions, self.origin, task).of_all(NEIGHBOURS, task, cheapest)?;
        let mut pairs: Vec<Pair> = found.into_iter().flatten().collect();
        let pairs = task.uninterrupted(move || {
            pairs.par_sort_unstable_by(in_order);
            pairs
        })?;
        let mut taken = vec![false; self.bodies.len()];
        let is_free = |pair: &Pair| {
            let [a, b] = pair.rows.map(|row| row as usize);
            let is_free = !taken[a] && !taken[b];
            if is_free {
                (taken[a], taken[b]) = (true, true);
            }
            is_free
        };
        Ok(pairs.into_iter().filter(is_free).take(most).collect())
    }

    /// Merges disjoint pairs: the merged splat replaces the first, and the second is removed.
    fn merge(&mut self, pairs: &[Pair], task: &Task) -> Result<()> {
        let mut gone = vec![false; self.bodies.len()];
        for pair in pairs {
            task.check()?;
            let [a, b] = pair.rows.map(|row| row as usize);
            let [first, second] = [&self.bodies[a], &self.bodies[b]];
            let share = share(first, second);
            let colour = first.colour.lerp(&second.colour, share);
            let (mean, covariance) = mixture(first, second);
            let merged = Body {
                mean,
                covariance,
                mass: first.mass + second.mass,
                colour,
                origin: if share > 0.5 { second.origin } else { first.origin },
                is_merged: true,
            };
            self.bodies[a] = merged;
            for k in 0..self.per_row {
                let [from, to] = [b, a].map(|row| row * self.per_row + k);
                let [own, other] = [to, from].map(|at| f64::from(self.coefficients[at]));
                self.coefficients[to] = narrow(own + (other - own) * share);
            }
            gone[b] = true;
        }
        let mut row = 0;
        let per_row = self.per_row;
        for from in (0..gone.len()).filter(|row| !gone[*row]) {
            task.check()?;
            self.bodies.swap(row, from);
            self.coefficients.copy_within(from * per_row..(from + 1) * per_row, row * per_row);
            row += 1;
        }
        self.bodies.truncate(row);
        self.coefficients.truncate(row * per_row);
        Ok(())
    }

    /// Returns the columns of all splats; unmerged splats keep their values from `raw`.
    fn columns(&self, raw: &RawColumns, task: &Task) -> Result<RawColumns> {
        let mut columns = RawColumns::zeroed(self.bodies.len(), raw.sh_degree());
        for (row, body) in self.bodies.iter().enumerate() {
            task.check()?;
            let from = body.origin as usize;
            let (mut mean, mut scale) = ([0.0; 3], [0.0; 3]);
            let mut rotation = raw.rotation.each_ref().map(|column| column[from]);
            let mut opacity = raw.opacity[from];
            for axis in 0..3 {
                mean[axis] = raw.mean[axis][from];
                scale[axis] = raw.scale[axis][from];
            }
            if body.is_merged {
                let (deviations, turn) = principal_axes(&body.covariance);
                mean = body.mean.into();
                scale = deviations.map(|v| log_scale(narrow(v)));
                rotation = turn.map(narrow);
                opacity = logit((body.mass / area(deviations)).min(MAX_OPACITY));
            }
            for axis in 0..3 {
                columns.mean[axis][row] = mean[axis];
                columns.scale[axis][row] = scale[axis];
            }
            for (column, value) in columns.rotation.iter_mut().zip(rotation) {
                column[row] = value;
            }
            columns.opacity[row] = opacity;
            let values = &self.coefficients[row * self.per_row..(row + 1) * self.per_row];
            let to = columns.sh_constant.iter_mut().chain(&mut columns.sh_rest);
            for (column, value) in to.zip(values) {
                column[row] = *value;
            }
        }
        Ok(columns)
    }
}

fn in_order(a: &Pair, b: &Pair) -> std::cmp::Ordering {
    a.cost.total_cmp(&b.cost).then(a.rows.cmp(&b.rows))
}

fn body(raw: &RawColumns, row: u32) -> Body {
    let at = row as usize;
    let deviations = [0, 1, 2].map(|axis| f64::from(raw.scale[axis][at]).exp());
    let [w, x, y, z] = raw.unit_rotation(at);
    let turn = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z)).to_rotation_matrix();
    let variances = Vector3::from(deviations.map(|v| v * v));
    let turn = turn.matrix();
    Body {
        mean: Vector3::from([0, 1, 2].map(|axis| raw.mean[axis][at])),
        covariance: turn * Matrix3::from_diagonal(&variances) * turn.transpose(),
        mass: sigmoid(f64::from(raw.opacity[at])) * area(deviations),
        colour: Vector3::from([0, 1, 2].map(|c| f64::from(raw.sh_constant[c][at]) * SH_C0)),
        origin: row,
        is_merged: false,
    }
}

/// Area of an ellipsoid with these semi-axes, relative to the unit sphere; never 0.
fn area([a, b, c]: [f64; 3]) -> f64 {
    let power = |x: f64, y: f64| (x * y).powf(AREA_EXPONENT);
    let mean = (power(a, b) + power(a, c) + power(b, c)) / 3.0;
    mean.powf(1.0 / AREA_EXPONENT).max(f64::MIN_POSITIVE)
}

/// Share of the second splat in the total mass.
fn share(first: &Body, second: &Body) -> f64 {
    let total = first.mass + second.mass;
    if total > 0.0 { second.mass / total } else { 0.5 }
}

fn mixture(first: &Body, second: &Body) -> (Vector3<f64>, Matrix3<f64>) {
    let share = share(first, second);
    let apart = second.mean - first.mean;
    let between = apart * apart.transpose() * (share * (1.0 - share));
    let within = first.covariance * (1.0 - share) + second.covariance * share;
    (first.mean + apart * share, within + between)
}

/// Upper bound on the divergence that the merge adds, times the total mass.
fn cost(first: &Body, second: &Body) -> f64 {
    let (_, merged) = mixture(first, second);
    let floor = Matrix3::identity() * (FLOOR * merged.trace() / 3.0);
    let log_volume = |covariance: &Matrix3<f64>| {
        (covariance + floor).determinant().max(f64::MIN_POSITIVE).ln() / 2.0
    };
    let share = share(first, second);
    let before =
        log_volume(&first.covariance) * (1.0 - share) + log_volume(&second.covariance) * share;
    let apart = (second.colour - first.colour).norm() / COLOUR_DEVIATION;
    let colours = (1.0 + share * (1.0 - share) * apart * apart).ln() / 2.0;
    (first.mass + second.mass) * (log_volume(&merged) - before + colours)
}

/// Standard deviations along the principal axes of a covariance, and their rotation (w, x, y, z).
fn principal_axes(covariance: &Matrix3<f64>) -> ([f64; 3], [f64; 4]) {
    let eigen = SymmetricEigen::new(*covariance);
    let deviations = [0, 1, 2].map(|axis| eigen.eigenvalues[axis].max(0.0).sqrt());
    let mut axes = eigen.eigenvectors;
    if axes.determinant() < 0.0 {
        axes.column_mut(2).neg_mut();
    }
    let turn = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(axes));
    (deviations, [turn.w, turn.i, turn.j, turn.k])
}

#[cfg(test)]
#[path = "tests/decimate.rs"]
mod tests;
