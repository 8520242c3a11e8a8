//! The colour spaces of FLIP: sRGB, linear RGB, XYZ, `YCxCz` and Hunt-adjusted L*a*b*, in double precision.

/// Linear RGB to XYZ, from the chromaticities of the sRGB primaries (IEC 61966-2-1) and of D65 white to
/// five digits (x = 0.31271, y = 0.32902), as in the authors' program.
pub(super) const XYZ_FROM_RGB: [[f64; 3]; 3] = [
    [0.412_386_57, 0.357_591_5, 0.180_450_5],
    [0.212_636_82, 0.715_183, 0.072_180_2],
    [0.019_330_62, 0.119_197_17, 0.950_372_6],
];

pub(super) const RGB_FROM_XYZ: [[f64; 3]; 3] = [
    [3.241_003_3, -1.537_399, -0.498_615_86],
    [-0.969_224_33, 1.875_930_1, 0.041_554_224],
    [0.055_639_423, -0.204_011_2, 1.057_149],
];

/// White (D65): the row sums of [`XYZ_FROM_RGB`].
pub(super) const WHITE_XYZ: [f64; 3] = [0.950_428_54, 1.0, 1.088_900_4];

/// Factor of the relative luminance Y in `YCxCz` and in L*.
pub(super) const LUMINANCE_SCALE: f64 = 116.0;

/// Constant of CIE L*; its cube is the luminance at which the curve becomes linear.
pub(super) const LAB_DELTA: f64 = 6.0 / 29.0;

/// Hunt's adjustment: a* and b* are multiplied by this and by L* (Andersson et al. 2020, section 4.1.2).
pub(super) const HUNT_SCALE: f64 = 0.01;

/// Linear RGB to `YCxCz`, which is linear in luminance (Andersson et al. 2020, section 4.1.1).
#[cfg(test)]
pub(super) fn ycxcz_from_rgb(rgb: [f64; 3]) -> [f64; 3] {
    let [x, y, z] = relative_xyz(rgb);
    [LUMINANCE_SCALE * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// `YCxCz` to linear RGB, clamped to `[0, 1]`.
#[cfg(test)]
pub(super) fn rgb_from_ycxcz([luminance, cx, cz]: [f64; 3]) -> [f64; 3] {
    let y = (luminance + 16.0) / LUMINANCE_SCALE;
    let relative = [y + cx / 500.0, y, y - cz / 200.0];
    let xyz = [0, 1, 2].map(|i| relative[i] * WHITE_XYZ[i]);
    product(&RGB_FROM_XYZ, xyz).map(|c| c.clamp(0.0, 1.0))
}

/// Linear RGB to L*a*b* with a* and b* scaled by Hunt's effect.
pub(super) fn hunt_lab_from_rgb(rgb: [f64; 3]) -> [f64; 3] {
    let [x, y, z] = relative_xyz(rgb).map(|t| {
        if t > LAB_DELTA * LAB_DELTA * LAB_DELTA {
            t.cbrt()
        } else {
            t / (3.0 * LAB_DELTA * LAB_DELTA) + 4.0 / 29.0
        }
    });
    let lightness = LUMINANCE_SCALE * y - 16.0;
    let hunt = HUNT_SCALE * lightness;
    [lightness, hunt * 500.0 * (x - y), hunt * 200.0 * (y - z)]
}

/// The `HyAB` distance: city block in lightness, Euclidean in chroma (Abasi et al. 2020).
pub(super) fn hyab(p: [f64; 3], q: [f64; 3]) -> f64 {
    let [l, a, b] = [0, 1, 2].map(|i| p[i] - q[i]);
    l.abs() + a.hypot(b)
}

fn relative_xyz(rgb: [f64; 3]) -> [f64; 3] {
    let xyz = product(&XYZ_FROM_RGB, rgb);
    [0, 1, 2].map(|i| xyz[i] / WHITE_XYZ[i])
}

fn product(matrix: &[[f64; 3]; 3], v: [f64; 3]) -> [f64; 3] {
    matrix.map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Error of the rounded matrices.
    const TOLERANCE: f64 = 2e-6;

    #[test]
    fn the_matrices_are_inverse_and_white_is_their_white() {
        for i in 0..3 {
            let mut unit = [0.0; 3];
            unit[i] = 1.0;
            let back = product(&RGB_FROM_XYZ, product(&XYZ_FROM_RGB, unit));
            for j in 0..3 {
                assert!((back[j] - unit[j]).abs() < TOLERANCE, "{back:?}");
            }
            let sum: f64 = XYZ_FROM_RGB[i].iter().sum();
            assert!((sum - WHITE_XYZ[i]).abs() < TOLERANCE);
        }
    }

    #[test]
    fn white_and_grey_have_no_chroma() {
        let [lightness, a, b] = hunt_lab_from_rgb([1.0; 3]);
        assert!((lightness - 100.0).abs() < 1e-4 && a.abs() < 1e-3 && b.abs() < 1e-3);
        let [y, cx, cz] = ycxcz_from_rgb([0.214_041_1; 3]);
        assert!((y - (116.0 * 0.214_041_1 - 16.0)).abs() < 1e-3);
        assert!(cx.abs() < 1e-3 && cz.abs() < 1e-3);
        let back = rgb_from_ycxcz([y, cx, cz]);
        assert!((back[0] - 0.214_041_1).abs() < TOLERANCE, "{back:?}");
    }
}
