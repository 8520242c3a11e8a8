//! Similarity transforms of splats: rotation, uniform scale, translation.

use std::path::Path;

use nalgebra::{Matrix3, Matrix4, Quaternion, Rotation3, UnitQuaternion, Vector3};
use rayon::prelude::*;

use super::splats::rest_coefficients;
use super::table::RawColumns;
use quadrille_base::math::{narrow, sh_rotations};
use quadrille_base::{Error, Result, Task};

/// Largest deviation of an element of a matrix from a rotation by the rounding of f32 and of text.
const MAX_DEVIATION: f64 = 1e-4;

/// Bound on the iterations of a decomposition of a 3x3 matrix (assumed); a few are needed.
const MAX_ITERATIONS: usize = 256;

/// Similarity transform: a rotation, then a uniform scale, then a translation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Similarity {
    /// Rotation, which is applied first.
    pub rotation: UnitQuaternion<f64>,
    /// Uniform scale factor, greater than zero.
    pub scale: f64,
    /// Translation in world units, which is applied last.
    pub translation: Vector3<f64>,
}

impl Similarity {
    /// Returns the identity: no rotation, a scale of 1, no translation.
    pub fn identity() -> Self {
        Self { rotation: UnitQuaternion::identity(), scale: 1.0, translation: Vector3::zeros() }
    }

    /// Returns the transform of a matrix for column vectors.
    ///
    /// # Errors
    /// [`Error::Argument`] unless the matrix is a rotation, a uniform scale and a translation.
    pub fn of_matrix(matrix: &Matrix4<f64>) -> Result<Self> {
        let linear = matrix.fixed_view::<3, 3>(0, 0).into_owned();
        let scale = linear.determinant().cbrt();
        let rotation = linear / scale;
        let off = rotation * rotation.transpose() - Matrix3::identity();
        let last = matrix.row(3) - Matrix4::identity().row(3);
        let deviation = off.abs().max().max(last.abs().max());
        let translation: Vector3<f64> = matrix.fixed_view::<3, 1>(0, 3).into_owned();
        let is_similar = scale > 0.0 && deviation <= MAX_DEVIATION && translation.sum().is_finite();
        let expected = "a rotation, a uniform scale above 0 and a translation";
        Error::refuse_if(!is_similar, "matrix", expected, format_args!("{:?}", rows(matrix)))?;
        let rotation = Rotation3::from_matrix_unchecked(rotation);
        Ok(Self { rotation: UnitQuaternion::from_rotation_matrix(&rotation), scale, translation })
    }
}

fn rows(matrix: &Matrix4<f64>) -> [[f64; 4]; 4] {
    matrix.transpose().into()
}

impl RawColumns {
    /// Transforms all splats with their orientations, scales and spherical harmonics.
    ///
    /// # Errors
    /// [`Error::Cancelled`](quadrille_base::Error::Cancelled), after which the columns are inconsistent.
    pub fn transform(&mut self, by: &Similarity, task: &Task) -> Result<()> {
        if by.rotation != UnitQuaternion::identity() {
            self.rotate(&by.rotation, task)?;
        }
        let log_scale = by.scale.ln();
        for (axis, column) in self.mean.iter_mut().enumerate() {
            let offset = by.translation[axis];
            if by.scale != 1.0 || offset != 0.0 {
                let moved = |v: &mut f64| *v = *v * by.scale + offset;
                column.iter_mut().for_each(moved);
            }
        }
        if by.scale != 1.0 {
            let larger = |v: &mut f32| *v = narrow(f64::from(*v) + log_scale);
            self.scale.iter_mut().flatten().for_each(larger);
        }
        task.check()
    }

    /// Moves splats of `node` in the file `path` to the world. Returns a warning if their colours are only approximate.
    ///
    /// # Errors
    /// [`Error::Malformed`] about `node` for a map that cannot be inverted; [`Error::Cancelled`].
    pub(crate) fn place(
        &mut self,
        linear: &Matrix3<f64>,
        translation: &Vector3<f64>,
        path: &Path,
        node: &str,
        task: &Task,
    ) -> Result<Option<String>> {
        let lengths: [f64; 3] = [0, 1, 2].map(|i| linear.column(i).norm());
        let scale = lengths.iter().sum::<f64>() / 3.0;
        let unit = linear / scale;
        let is_regular = unit.iter().all(|value| value.is_finite()) && unit.determinant() != 0.0;
        let expected = "a map of splats that can be inverted";
        let found = "a scale that is zero or not a number";
        Error::malformed_if(!(scale > 0.0 && is_regular), path, node, expected, found)?;
        let is_similar = (unit.transpose() * unit - Matrix3::identity()).amax() <= MAX_DEVIATION;
        if !is_similar || unit.determinant() < 0.0 {
            self.transform_linear(linear, translation, task)?;
            return Ok((!is_similar && self.sh_degree() > 0).then(|| {
                format!(
                    "{node} scales splats by different factors per axis: their shapes follow exactly, their harmonics by the \
                     nearest rotation"
                )
            }));
        }
        let rotation = match unit == Matrix3::identity() {
            true => UnitQuaternion::identity(),
            false => UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix(&unit)),
        };
        self.transform(&Similarity { rotation, scale, translation: *translation }, task)?;
        Ok(None)
    }

    /// Transforms all splats by an invertible linear map and a translation. Means and covariances follow exactly.
    /// Harmonics are turned by the rotation or rotary reflection nearest to the map, which is exact unless the map scales
    /// axes differently.
    ///
    /// # Errors
    /// [`Error::Cancelled`](quadrille_base::Error::Cancelled), after which the columns are inconsistent.
    pub(crate) fn transform_linear(
        &mut self,
        linear: &Matrix3<f64>,
        translation: &Vector3<f64>,
        task: &Task,
    ) -> Result<()> {
        for row in 0..self.rows() {
            task.check()?;
            let mean = linear * Vector3::from([0, 1, 2].map(|axis| self.mean[axis][row]));
            for (column, value) in self.mean.iter_mut().zip(&(mean + translation)) {
                column[row] = *value;
            }
            let [w, x, y, z] = self.unit_rotation(row);
            let rotation = UnitQuaternion::new_unchecked(Quaternion::new(w, x, y, z));
            let scale = [0, 1, 2].map(|axis| f64::from(self.scale[axis][row]).exp());
            let axes = linear
                * rotation.to_rotation_matrix().matrix()
                * Matrix3::from_diagonal(&scale.into());
            // Rows with a number that is not finite stay, and are dropped later.
            let is_finite = axes.iter().all(|value| value.is_finite());
            let Some(svd) = is_finite
                .then(|| axes.try_svd(true, false, f64::EPSILON, MAX_ITERATIONS))
                .flatten()
            else {
                continue;
            };
            let Some(mut turned) = svd.u else { continue };
            if turned.determinant() < 0.0 {
                turned.column_mut(2).neg_mut();
            }
            let turned =
                UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(turned));
            let components = [turned.w, turned.i, turned.j, turned.k];
            for (column, value) in self.rotation.iter_mut().zip(components) {
                column[row] = narrow(value);
            }
            for (column, value) in self.scale.iter_mut().zip(&svd.singular_values) {
                column[row] = narrow(value.ln());
            }
        }
        let Some((u, v)) = linear
            .try_svd(true, true, f64::EPSILON, MAX_ITERATIONS)
            .and_then(|svd| svd.u.zip(svd.v_t))
        else {
            return Ok(());
        };
        let nearest = u * v;
        let sign = nearest.determinant().signum();
        self.rotate_harmonics(&(nearest * sign), task)?;
        if sign < 0.0 {
            // A point reflection negates the harmonics of odd degree.
            let per_channel = self.rest_per_channel();
            let degree = |at| (1u8..).find(|d| at % per_channel < rest_coefficients(*d));
            let is_odd = |at: usize| degree(at).is_some_and(|degree| degree % 2 == 1);
            let columns = self.sh_rest.iter_mut().enumerate().filter(|(at, _)| is_odd(*at));
            columns.flat_map(|(_, column)| column).for_each(|value| *value = -*value);
        }
        Ok(())
    }

    fn rotate(&mut self, rotation: &UnitQuaternion<f64>, task: &Task) -> Result<()> {
        let matrix = rotation.to_rotation_matrix();
        for row in 0..self.rows() {
            task.check()?;
            let turned = matrix * Vector3::from([0, 1, 2].map(|axis| self.mean[axis][row]));
            // Quaternions of files need not be normalised, so the product keeps their length.
            let q = [0, 1, 2, 3].map(|i| f64::from(self.rotation[i][row]));
            let product = rotation.quaternion() * Quaternion::new(q[0], q[1], q[2], q[3]);
            for axis in 0..3 {
                self.mean[axis][row] = turned[axis];
            }
            let components = [product.w, product.i, product.j, product.k];
            for (column, value) in self.rotation.iter_mut().zip(components) {
                column[row] = narrow(value);
            }
        }
        self.rotate_harmonics(matrix.matrix(), task)
    }

    fn rotate_harmonics(&mut self, matrix: &Matrix3<f64>, task: &Task) -> Result<()> {
        let per_channel = self.rest_per_channel();
        let matrices = sh_rotations(self.sh_degree(), matrix);
        let turned = |at: usize| -> Result<Vec<f32>> {
            let (channel, k) = (at / per_channel, at % per_channel);
            let degree = (1u8..).find(|d| k < rest_coefficients(*d)).unwrap_or(1);
            let first = rest_coefficients(degree - 1);
            let matrix = &matrices[usize::from(degree) - 1];
            let mut sums = vec![0.0_f64; self.rows()];
            for from in 0..matrix.ncols() {
                task.check()?;
                let factor = matrix[(k - first, from)];
                let column = &self.sh_rest[channel * per_channel + first + from];
                for (sum, value) in sums.iter_mut().zip(column) {
                    *sum += factor * f64::from(*value);
                }
            }
            Ok(sums.into_iter().map(narrow).collect())
        };
        self.sh_rest =
            (0..self.sh_rest.len()).into_par_iter().map(turned).collect::<Result<_>>()?;
        Ok(())
    }
}

#[cfg(test)]
#[path = "tests/units/transform.rs"]
mod tests;
