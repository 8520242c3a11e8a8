//! Symmetry and orthonormality of the spherical harmonics.

use quadrille_base::math::*;

#[test]
fn functions_are_odd_in_their_sign_axes() {
    let dir = [0.36, 0.48, 0.8];
    let before: [f64; 25] = sh_basis(4, dir);
    for axis in 0..3 {
        let mut flipped = dir;
        flipped[axis] = -flipped[axis];
        let after: [f64; 25] = sh_basis(4, flipped);
        for (k, odd) in SH_SIGN_AXES.iter().enumerate() {
            let sign = if odd[axis] { -1.0 } else { 1.0 };
            assert!((after[k + 1] - sign * before[k + 1]).abs() < 1e-12, "{k} {axis}");
        }
    }
}

/// The basis functions are orthonormal on the sphere: an independent check of every constant.
/// Midpoint rule in z and the azimuth, exact for these polynomials up to the z rule's error.
#[test]
fn basis_is_orthonormal() {
    let (n_z, n_phi) = (2000, 24);
    let mut gram = [[0.0; 25]; 25];
    for i in 0..n_z {
        let z = (f64::from(i) + 0.5) / f64::from(n_z) * 2.0 - 1.0;
        for j in 0..n_phi {
            let phi = f64::from(j) / f64::from(n_phi) * std::f64::consts::TAU;
            let r = (1.0 - z * z).sqrt();
            let b: [f64; 25] = sh_basis(4, [r * phi.cos(), r * phi.sin(), z]);
            let weight = 4.0 * std::f64::consts::PI / f64::from(n_z * n_phi);
            for (row, &bi) in gram.iter_mut().zip(&b) {
                for (sum, &bj) in row.iter_mut().zip(&b) {
                    *sum += weight * bi * bj;
                }
            }
        }
    }
    for (i, row) in gram.iter().enumerate() {
        for (j, &value) in row.iter().enumerate() {
            let expected = f64::from(u8::from(i == j));
            assert!((value - expected).abs() < 1e-5, "<{i}, {j}> = {value}");
        }
    }
}
