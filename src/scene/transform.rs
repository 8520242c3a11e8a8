//! Similarity transforms of splats: rotation, uniform scale, translation.

use nalgebra::{UnitQuaternion, Vector3};
use rayon::prelude::*;

use super::splats::rest_coefficients;
use super::table::RawColumns;
use quadrille_base::math::{narrow, sh_rotations};
use quadrille_base::{Result, Task};

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

    fn rotate(&mut self, rotation: &UnitQuaternion<f64>, task: &Task) -> Result<()> {
        let matrix = rotation.to_rotation_matrix();
        for row in 0..self.rows() {
            task.check()?;
            let turned = matrix * Vector3::from([0, 1, 2].map(|axis| self.mean[axis][row]));
            // Quaternions of files need not be normalised, so the product keeps their length.
            let q = [0, 1, 2, 3].map(|i| f64::from(self.rotation[i][row]));
            let product = rotation.quaternion() * nalgebra::Quaternion::new(q[0], q[1], q[2], q[3]);
            for axis in 0..3 {
                self.mean[axis][row] = turned[axis];
            }
            let components = [product.w, product.i, product.j, product.k];
            for (column, value) in self.rotation.iter_mut().zip(components) {
                column[row] = narrow(value);
            }
        }
        let per_channel = self.rest_per_channel();
        let matrices = sh_rotations(self.sh_degree(), matrix.matrix());
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
