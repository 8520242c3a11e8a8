//! The columns that every splat format has, as arrays.

use std::ops::Range;

use rayon::prelude::*;

use super::origin::{Resolution, SAMPLES};
use super::splats::{MAX_SH_DEGREE, rest_coefficients};
use quadrille_base::{Result, Task};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows {
    first: usize,
    len: usize,
    step: usize,
}

impl Rows {
    /// Rows in `range` that are multiples of `step`; all rows for a step of 1.
    pub(crate) fn multiples(range: Range<usize>, step: usize) -> Self {
        let first = range.start.next_multiple_of(step);
        Self { first, len: range.end.saturating_sub(first).div_ceil(step), step }
    }

    pub(crate) fn first(self) -> usize {
        self.first
    }

    pub(crate) fn len(self) -> usize {
        self.len
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = usize> {
        (0..self.len).map(move |at| self.first + at * self.step)
    }

    /// The part of these rows in `range`, shifted so that row `range.start` becomes row `start`.
    pub(crate) fn moved(self, range: &Range<usize>, start: usize) -> Self {
        let end = (self.first + self.len * self.step).min(range.end);
        let before = range.start.saturating_sub(self.first);
        let first = self.first + before.next_multiple_of(self.step);
        Self {
            first: first - range.start + start,
            len: end.saturating_sub(first).div_ceil(self.step),
            step: self.step,
        }
    }
}

/// The columns that every splat format has, as arrays, in the encoding of [`SplatTable`](super::table::SplatTable).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RawColumns {
    /// Centre x, y, z in world units, in f64 to keep positions of files in double precision.
    pub mean: [Vec<f64>; 3],
    /// Natural logarithms of the scales along the axes of the splat.
    pub scale: [Vec<f32>; 3],
    /// Quaternion w, x, y, z, of any length but zero.
    pub rotation: [Vec<f32>; 4],
    /// Logits of the opacities.
    pub opacity: Vec<f32>,
    /// Constant coefficient of red, green and blue.
    pub sh_constant: [Vec<f32>; 3],
    /// Higher SH coefficients, channel-major: all of red, then green, then blue.
    pub sh_rest: Vec<Vec<f32>>,
}

impl RawColumns {
    /// Columns of zeros for `rows` splats of degree `sh_degree`.
    pub fn zeroed(rows: usize, sh_degree: u8) -> Self {
        let zeros = || vec![0.0; rows];
        Self {
            mean: std::array::from_fn(|_| vec![0.0; rows]),
            scale: std::array::from_fn(|_| zeros()),
            rotation: std::array::from_fn(|_| zeros()),
            opacity: zeros(),
            sh_constant: std::array::from_fn(|_| zeros()),
            // Each column is allocated zeroed, since cloning one would write all of its pages.
            sh_rest: (0..3 * rest_coefficients(sh_degree)).map(|_| zeros()).collect(),
        }
    }

    /// Number of splats.
    pub fn rows(&self) -> usize {
        self.opacity.len()
    }

    /// Centres of all splats in world space, in order.
    pub fn positions(&self) -> impl Iterator<Item = [f64; 3]> {
        (0..self.rows()).map(|row| self.mean.each_ref().map(|column| column[row]))
    }

    /// Centre of the splats if f32 is too coarse for their positions, else zero.
    pub fn origin(&self) -> [f64; 3] {
        let rows = (0..self.rows()).step_by(self.rows().div_ceil(SAMPLES).max(1));
        let found = Resolution::of(rows.map(|row| {
            let logs = self.scale.each_ref().map(|column| f64::from(column[row]));
            let mean = self.mean.each_ref().map(|column| column[row]);
            (mean, logs.into_iter().fold(f64::NEG_INFINITY, f64::max).exp())
        }));
        found.map_or([0.0; 3], |found| found.origin())
    }

    pub(crate) fn rest_per_channel(&self) -> usize {
        self.sh_rest.len() / 3
    }

    /// Degree of the spherical harmonics, 0 to 4.
    pub fn sh_degree(&self) -> u8 {
        let per_channel = self.rest_per_channel();
        (0..=MAX_SH_DEGREE)
            .find(|degree| rest_coefficients(*degree) >= per_channel)
            .unwrap_or(MAX_SH_DEGREE)
    }

    /// Changes the SH degree. Coefficients above it are dropped, and missing coefficients become zero.
    pub fn set_sh_degree(&mut self, degree: u8) {
        let (old, new) = (self.rest_per_channel(), rest_coefficients(degree));
        let rows = self.rows();
        let mut before = std::mem::take(&mut self.sh_rest);
        for channel in 0..3 {
            for k in 0..new {
                self.sh_rest.push(match k < old {
                    true => std::mem::take(&mut before[channel * old + k]),
                    false => vec![0.0; rows],
                });
            }
        }
    }

    /// All columns except the centre, in slot order: scale, rotation, opacity, SH constants, higher coefficients.
    pub(crate) fn all_floats(&self) -> impl Iterator<Item = &Vec<f32>> {
        let plain = self.scale.iter().chain(&self.rotation);
        let colours = self.sh_constant.iter().chain(&self.sh_rest);
        plain.chain(std::iter::once(&self.opacity)).chain(colours)
    }

    /// Keeps the rows with the indices `rows`, in that order.
    ///
    /// # Errors
    /// [`Error::Cancelled`](quadrille_base::Error::Cancelled), after which the columns are inconsistent.
    pub fn select(&mut self, rows: &[u32], task: &Task) -> Result<()> {
        fn pick<T: Copy>(column: &mut Vec<T>, rows: &[u32], task: &Task) -> Result<()> {
            task.check()?;
            *column = rows.iter().map(|row| column[*row as usize]).collect();
            Ok(())
        }
        self.mean.par_iter_mut().try_for_each(|column| pick(column, rows, task))?;
        let plain = self.scale.iter_mut().chain(&mut self.rotation);
        let plain = plain.chain(&mut self.sh_constant).chain(&mut self.sh_rest);
        let columns: Vec<&mut Vec<f32>> = plain.chain([&mut self.opacity]).collect();
        columns.into_par_iter().try_for_each(|column| pick(column, rows, task))
    }

    /// Appends rows of `other`, whose SH degree must not be higher.
    pub(crate) fn append(&mut self, other: &Self, rows: Range<usize>) {
        let len = self.rows() + rows.len();
        let (own, theirs) = (self.rest_per_channel(), other.rest_per_channel());
        for (to, from) in self.mean.iter_mut().zip(&other.mean) {
            to.extend_from_slice(&from[rows.clone()]);
        }
        let pairs = self.scale.iter_mut().zip(&other.scale);
        let pairs = pairs.chain(self.rotation.iter_mut().zip(&other.rotation));
        let pairs = pairs.chain(self.sh_constant.iter_mut().zip(&other.sh_constant));
        for (to, from) in pairs.chain([(&mut self.opacity, &other.opacity)]) {
            to.extend_from_slice(&from[rows.clone()]);
        }
        for (at, to) in self.sh_rest.iter_mut().enumerate() {
            let (channel, k) = (at / own, at % own);
            if k < theirs {
                to.extend_from_slice(&other.sh_rest[channel * theirs + k][rows.clone()]);
            }
            to.resize(len, 0.0);
        }
    }

    /// Normalised quaternion w, x, y, z of row `row`.
    pub fn unit_rotation(&self, row: usize) -> [f64; 4] {
        let q = [0, 1, 2, 3].map(|i| f64::from(self.rotation[i][row]));
        let norm = q.iter().map(|v| v * v).sum::<f64>().sqrt();
        q.map(|v| v / norm)
    }
}
