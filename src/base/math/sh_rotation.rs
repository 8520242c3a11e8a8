//! Rotation of spherical harmonics.

use nalgebra::{DMatrix, Matrix3, Vector3};

use super::harmonics::sh_basis;

/// Number of sample directions, evenly spread: many more than a degree has functions, for a well-conditioned matrix.
const DIRECTIONS: u32 = 64;

/// Matrices by which the coefficients of degree 1 to `degree` (at most 4) change when a scene is rotated:
/// `turned = matrix * coefficients` has in direction `rotation * d` the value that `coefficients` have in direction d.
///
/// A rotation maps the functions of a degree to each other: their values give the matrix, by least squares in f64.
pub fn sh_rotations(degree: u8, rotation: &Matrix3<f64>) -> Vec<DMatrix<f64>> {
    let back = rotation.transpose();
    let directions: Vec<Vector3<f64>> = (0..DIRECTIONS).map(direction).collect();
    let basis = |d: &Vector3<f64>| -> [f64; 25] { sh_basis(4, [d.x, d.y, d.z]) };
    let here: Vec<[f64; 25]> = directions.iter().map(basis).collect();
    let turned_back: Vec<[f64; 25]> = directions.iter().map(|d| basis(&(back * d))).collect();
    (1..=usize::from(degree))
        .map(|l| {
            let (first, count) = (l * l, 2 * l + 1);
            let of = |values: &[[f64; 25]]| {
                DMatrix::from_fn(values.len(), count, |row, k| values[row][first + k])
            };
            let (here, back) = (of(&here), of(&turned_back));
            let gram = here.transpose() * &here;
            let right = here.transpose() * back;
            // The Gram matrix of evenly spread directions is nearly a multiple of the identity.
            let count = gram.nrows();
            gram.cholesky().map_or_else(|| DMatrix::identity(count, count), |c| c.solve(&right))
        })
        .collect()
}

fn direction(index: u32) -> Vector3<f64> {
    let golden = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
    let z = 1.0 - (2.0 * f64::from(index) + 1.0) / f64::from(DIRECTIONS);
    let radius = (1.0 - z * z).sqrt();
    let angle = golden * f64::from(index);
    Vector3::new(radius * angle.cos(), radius * angle.sin(), z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Rotation3;

    #[test]
    fn a_turned_function_has_its_value_in_the_turned_direction() {
        let rotation = Rotation3::from_euler_angles(0.3, -1.1, 2.0);
        let matrices = sh_rotations(4, rotation.matrix());
        for index in 0..16 {
            let d = direction(4 * index + 1);
            let before: [f64; 25] = sh_basis(4, d.into());
            let after: [f64; 25] = sh_basis(4, (rotation * d).into());
            for (l, matrix) in matrices.iter().enumerate() {
                let (first, count) = ((l + 1) * (l + 1), 2 * l + 3);
                for k in 0..count {
                    // A function by itself: its coefficients are a unit vector.
                    let turned: f64 = (0..count).map(|j| matrix[(j, k)] * after[first + j]).sum();
                    assert!((turned - before[first + k]).abs() < 1e-12, "{l} {k}");
                }
            }
        }
    }
}
