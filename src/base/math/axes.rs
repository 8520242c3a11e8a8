//! Axes of splats that are given by their covariances.

use nalgebra::{Matrix3, Rotation3, SymmetricEigen, UnitQuaternion};
use rayon::prelude::*;

use super::narrow;
use crate::{Result, Task};

/// Bound on the iterations of a decomposition of a 3x3 matrix (assumed); a few are needed.
const MAX_ITERATIONS: usize = 256;

/// Axes of a covariance that is no number.
const INVALID: ([f32; 3], [f32; 4]) = ([f32::NAN; 3], [1.0, 0.0, 0.0, 0.0]);

/// Standard deviations and quaternions, one row per splat.
type Axes = (Vec<[f32; 3]>, Vec<[f32; 4]>);

/// Standard deviations, and quaternions w, x, y, z, of the ellipsoids with these covariances (xx, xy, xz, yy, yz, zz).
/// Negative eigenvalues count as 0. The standard deviations of a covariance with a number that is not finite are NaN.
///
/// ```
/// use quadrille_base::Task;
/// use quadrille_base::math::axes_of_covariances;
///
/// let (scales, _) = axes_of_covariances(&[[4.0, 0.0, 0.0, 4.0, 0.0, 4.0]], &Task::NEVER)?;
/// assert_eq!(scales, [[2.0; 3]]);
/// # Ok::<(), quadrille_base::Error>(())
/// ```
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub fn axes_of_covariances(covariances: &[[f32; 6]], task: &Task) -> Result<Axes> {
    let of_one = |covariance: &[f32; 6]| {
        if task.is_cancelled() || covariance.iter().any(|entry| !entry.is_finite()) {
            return INVALID;
        }
        let [xx, xy, xz, yy, yz, zz] = covariance.map(f64::from);
        let matrix = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
        let eigen = SymmetricEigen::try_new(matrix, f64::EPSILON, MAX_ITERATIONS);
        let Some(eigen) = eigen else { return INVALID };
        let mut axes = eigen.eigenvectors;
        if axes.determinant() < 0.0 {
            axes.column_mut(0).neg_mut();
        }
        let turn = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(axes));
        let scales = eigen.eigenvalues.map(|variance| narrow(variance.max(0.0).sqrt()));
        (scales.into(), [turn.w, turn.i, turn.j, turn.k].map(narrow))
    };
    let axes = covariances.par_iter().map(of_one).unzip();
    task.check()?;
    Ok(axes)
}

#[cfg(test)]
#[path = "tests/axes.rs"]
mod tests;
