//! Tests of Hermite splines through keyframes.

use super::*;

fn keys(smoothness: f64) -> HermiteKeys {
    HermiteKeys {
        times: vec![0.0, 10.0, 30.0],
        points: vec![vec![1.0], vec![3.0], vec![-1.0]],
        smoothness,
    }
}

#[test]
fn keys_are_met_and_smoothness_0_stops_there() {
    for smoothness in [0.0, 1.0] {
        let spline = looped(&keys(smoothness), 40.0);
        for (time, value) in [(0.0, 1.0), (10.0, 3.0), (30.0, -1.0), (40.0, 1.0)] {
            assert!((spline.at(time)[0] - value).abs() < 1e-12, "{time}");
        }
    }
    let eased = looped(&keys(0.0), 40.0).at(2.5)[0];
    // The expected value is 1 + 2 (3 t^2 - 2 t^3) at t = 1/4.
    assert!((eased - (1.0 + 2.0 * (3.0 / 16.0 - 2.0 / 64.0))).abs() < 1e-12);
}

#[test]
fn a_straight_line_stays_straight() {
    let line = HermiteKeys {
        times: vec![0.0, 1.0, 4.0],
        points: vec![vec![0.0], vec![2.0], vec![8.0]],
        smoothness: 1.0,
    };
    for time in [0.25, 0.5, 2.0, 3.75] {
        assert!((line.at(time)[0] - 2.0 * time).abs() < 1e-12, "{time}");
    }
}
