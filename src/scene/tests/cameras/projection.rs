//! Tests of projections and their gradients.

use std::f64::consts::PI;

use quadrille_scene::{FisheyeLens, Projection};

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
    assert!(compared > 1000);
}

#[test]
fn gradients_are_those_of_the_points() {
    hold_to_differences(&Projection::Equirectangular);
    hold_to_differences(&Projection::Fisheye(FisheyeLens::EQUIDISTANT));
    let lens = FisheyeLens::new([0.03, -0.01, 0.002, -1e-4]).unwrap();
    hold_to_differences(&Projection::Fisheye(lens));
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
