//! Tests of projections and their gradients.

use std::f64::consts::PI;

use quadrille_scene::{DistortedLens, DistortionModel, FisheyeLens, Projection};

/// Points around the camera, some of them near the axes.
fn points() -> impl Iterator<Item = [f64; 3]> {
    (0..400_u32).map(|i| {
        let turn = |step: f64| (f64::from(i) * step).sin() * 3.0;
        [turn(0.7), turn(1.3), turn(2.9)]
    })
}

fn hold_to_differences(projection: &Projection) {
    let mut compared = 0;
    for p in points() {
        let Some(point) = projection.point(p) else { continue };
        let distance = p.iter().map(|v| v * v).sum::<f64>().sqrt();
        if distance == 0.0 {
            continue;
        }
        let step = 1e-6 * distance;
        for column in 0..3 {
            let moved = |by: f64| {
                let mut q = p;
                q[column] += by;
                projection.point(q).map(|point| point.at)
            };
            let (Some(after), Some(before)) = (moved(step), moved(-step)) else { continue };
            for row in 0..2 {
                let change = after[row] - before[row];
                if change.abs() > PI {
                    continue;
                }
                let expected = change / (2.0 * step);
                let found = point.gradient[row][column];
                let scale = point.gradient.as_flattened().iter().map(|v| v.abs());
                let scale = scale.fold(1.0 / distance, f64::max);
                assert!(
                    (found - expected).abs() < 1e-4 * scale,
                    "{projection:?} at {p:?}, row {row}, column {column}: {found}, {expected}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 400, "{projection:?}: {compared}");
}

#[test]
fn gradients_are_those_of_the_points() {
    hold_to_differences(&Projection::Equirectangular);
    hold_to_differences(&Projection::Fisheye(FisheyeLens::EQUIDISTANT));
    let lens = FisheyeLens::new([0.03, -0.01, 0.002, -1e-4]).unwrap();
    hold_to_differences(&Projection::Fisheye(lens));
    hold_to_differences(&Projection::Orthographic);
    for lens in distorted() {
        hold_to_differences(&Projection::Distorted(lens));
    }
}

/// Lenses of every model.
fn distorted() -> Vec<DistortedLens> {
    let lens = |model, coefficients: &[f64]| DistortedLens::new(model, coefficients).unwrap();
    let opencv = [0.1, -0.02, 0.003, -0.002, 0.003, 0.05, -0.01, 0.002, 0.002, -5e-4, -0.001, 3e-4];
    let thin_prism = [-0.02, 0.004, 0.003, -0.002, -5e-4, 3e-5, 0.002, -0.001];
    let rad_tan =
        [-0.02, 0.004, -5e-4, 3e-5, -1e-6, 1e-7, 0.003, -0.002, 0.002, -5e-4, -0.001, 3e-4];
    vec![
        lens(DistortionModel::OpenCv, &opencv),
        lens(DistortionModel::FieldOfView, &[0.9]),
        lens(DistortionModel::FieldOfView, &[1e-3]),
        lens(DistortionModel::Division, &[-0.1]),
        lens(DistortionModel::Division, &[0.02]),
        lens(DistortionModel::Unified, &[0.6, 1.2]),
        lens(DistortionModel::ThinPrismFisheye, &thin_prism),
        lens(DistortionModel::RadTanThinPrismFisheye, &rad_tan),
    ]
}

/// The formulas of the models at the slopes (0.3, -0.2), written out.
#[test]
fn lenses_draw_points_where_their_models_state() {
    let at = |model, coefficients: &[f64]| {
        let lens = DistortedLens::new(model, coefficients).unwrap();
        Projection::Distorted(lens).point([0.6, -0.4, 2.0]).unwrap().at
    };
    let close = |found: [f64; 2], expected: [f64; 2]| {
        let off = (found[0] - expected[0]).abs() + (found[1] - expected[1]).abs();
        assert!(off < 1e-12, "{found:?}, {expected:?}");
    };
    let s: f64 = 0.13;
    let opencv = [-0.1, 0.05, -0.001, 0.002, 0.01, 0.02, -0.03, 0.004];
    let factor = (1.0 - 0.1 * s + 0.05 * s * s + 0.01 * s.powi(3))
        / (1.0 + 0.02 * s - 0.03 * s * s + 0.004 * s.powi(3));
    let expected = [
        0.3 * factor + 2.0 * -0.001 * -0.06 + 0.002 * (s + 0.18),
        -0.2 * factor + 2.0 * 0.002 * -0.06 + -0.001 * (s + 0.08),
    ];
    close(at(DistortionModel::OpenCv, &opencv), expected);
    let scaled = |factor: f64| [0.3 * factor, -0.2 * factor];
    let r = s.sqrt();
    let factor = (2.0 * r * 0.45_f64.tan()).atan() / (0.9 * r);
    close(at(DistortionModel::FieldOfView, &[0.9]), scaled(factor));
    let factor = 2.0 / (1.0 + (1.0 + 0.4 * s).sqrt());
    close(at(DistortionModel::Division, &[-0.1]), scaled(factor));
    let factor = 1.0 / (0.6 * (1.2 * s + 1.0).sqrt() + 0.4);
    close(at(DistortionModel::Unified, &[0.6, 1.2]), scaled(factor));
    // Fisheyes: the angle in place of the slope.
    let angle = r.atan();
    let t = angle * angle;
    let [x, y] = [0.3 * angle / r, -0.2 * angle / r];
    let factor = 1.0 - 0.1 * t + 0.05 * t * t;
    let expected = [
        x * factor + 2.0 * 0.01 * x * y + 0.02 * (t + 2.0 * x * x) + 0.03 * t,
        y * factor + 2.0 * 0.02 * x * y + 0.01 * (t + 2.0 * y * y) + 0.04 * t,
    ];
    let thin_prism = [-0.1, 0.05, 0.01, 0.02, 0.0, 0.0, 0.03, 0.04];
    close(at(DistortionModel::ThinPrismFisheye, &thin_prism), expected);
    let [u, v] = [x * factor, y * factor];
    let q = u * u + v * v;
    let expected = [
        u + 2.0 * 0.01 * u * v + 0.02 * (q + 2.0 * u * u) + 0.03 * q + 0.05 * q * q,
        v + 2.0 * 0.02 * u * v + 0.01 * (q + 2.0 * v * v) + 0.04 * q + 0.06 * q * q,
    ];
    let rad_tan = [-0.1, 0.05, 0.0, 0.0, 0.0, 0.0, 0.02, 0.01, 0.03, 0.05, 0.04, 0.06];
    close(at(DistortionModel::RadTanThinPrismFisheye, &rad_tan), expected);
}

#[test]
fn a_perspective_lens_ends_at_its_fold() {
    // r (1 - 0.5 r^2) grows up to r = sqrt(2 / 3).
    let lens = DistortedLens::new(DistortionModel::OpenCv, &[-0.5]).unwrap();
    let turning = (2.0_f64 / 3.0).sqrt();
    assert!((lens.max_angle().tan() - turning).abs() < 1e-9);
    let shows = |slope: f64| Projection::Distorted(lens).point([slope, 0.0, 1.0]).is_some();
    assert!(shows(turning - 1e-6) && !shows(turning + 1e-6) && !shows(3.0));
    assert_eq!(Projection::Distorted(lens).point([0.0, 0.0, -1.0]), None);
}

#[test]
fn a_fisheye_measures_angles_and_a_panorama_the_sphere() {
    let close = |found: [f64; 2], expected: [f64; 2]| {
        let off = (found[0] - expected[0]).abs() + (found[1] - expected[1]).abs();
        assert!(off < 1e-12, "{found:?}, {expected:?}");
    };
    let fisheye = Projection::Fisheye(FisheyeLens::EQUIDISTANT);
    close(fisheye.point([0.0, 0.0, 2.0]).unwrap().at, [0.0, 0.0]);
    close(fisheye.point([3.0, 0.0, 0.0]).unwrap().at, [PI / 2.0, 0.0]);
    close(fisheye.point([0.0, -1.0, -1.0]).unwrap().at, [0.0, -0.75 * PI]);
    assert_eq!(fisheye.point([0.01, 0.0, -1.0]), None);
    let panorama = Projection::Equirectangular;
    close(panorama.point([1.0, 0.0, 0.0]).unwrap().at, [PI / 2.0, 0.0]);
    close(panorama.point([0.0, 1.0, 1.0]).unwrap().at, [0.0, PI / 4.0]);
    close(panorama.point([-1e-9, 0.0, -1.0]).unwrap().at, [-PI + 1e-9, 0.0]);
    assert_eq!(panorama.point([0.0, 1.0, 0.0]), None);
}

/// With only a k1 of -0.1, the distance grows up to the angle sqrt(10 / 3).
#[test]
fn angles_beyond_the_turning_point_are_not_drawn() {
    let lens = FisheyeLens::new([-0.1, 0.0, 0.0, 0.0]).unwrap();
    let turning = (10.0_f64 / 3.0).sqrt();
    assert!((lens.max_angle() - turning).abs() < 1e-9);
    let projection = Projection::Fisheye(lens);
    let at = |angle: f64| projection.point([angle.sin(), 0.0, angle.cos()]);
    assert!(at(turning - 1e-6).is_some() && at(turning + 1e-6).is_none());
    // At that angle, the distance is two thirds of the angle.
    assert!((lens.reach() - turning * 2.0 / 3.0).abs() < 1e-9);
}

#[test]
fn hostile_coefficients_are_refused() {
    for bad in [f64::NAN, f64::INFINITY, -f64::INFINITY, 1e5, -1e300] {
        for at in 0..4 {
            let mut coefficients = [0.0; 4];
            coefficients[at] = bad;
            assert!(FisheyeLens::new(coefficients).is_err(), "{bad}");
        }
    }
    // The distance starts to fall at a very small angle.
    let turning = FisheyeLens::new([-1e4, 0.0, 0.0, 0.0]).unwrap();
    assert!(turning.max_angle() < 0.01 && turning.reach() > 0.0);
    for p in [[f64::NAN; 3], [0.0; 3], [f64::INFINITY; 3]] {
        assert_eq!(Projection::Equirectangular.point(p), None);
        assert_eq!(Projection::Fisheye(FisheyeLens::EQUIDISTANT).point(p), None);
    }
}
