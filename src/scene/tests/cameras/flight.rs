//! Tests of generated camera paths.

use nalgebra::Vector3;
use quadrille_scene::cameras::{Flight, fly, fly_keys, orbit};
use quadrille_scene::{Camera, Intrinsics};

/// Cameras on a circle of radius 4, one unit above their target, with y down.
fn ring(count: u32) -> Vec<Camera> {
    let lens = Intrinsics::from_vertical_fov(60, 40, 0.8);
    let (eye, target) = (Vector3::new(4.0, -1.0, 3.0), Vector3::new(0.0, 0.0, 3.0));
    orbit(count, lens, eye, target, -Vector3::y()).unwrap()
}

#[test]
fn an_ellipse_of_a_ring_is_the_ring() {
    let frames = fly(Flight::Ellipse, &ring(16), 24).unwrap();
    assert_eq!((frames.len(), frames[23].name.as_str()), (24, "frame_0023"));
    for frame in &frames {
        let from_middle = frame.eye() - Vector3::new(0.0, -1.0, 3.0);
        assert!(from_middle.y.abs() < 1e-9, "{from_middle}");
        // The quantile of the radii is a little below the largest coordinate.
        assert!((from_middle.norm() - 4.0).abs() < 0.4, "{from_middle}");
        let target =
            frame.view_from_world * Vector3::new(0.0, 0.0, 3.0) + frame.translation_in_view;
        assert!(target.xy().norm() < 1e-9 && target.z > 0.0, "{target}");
    }
    let step = (frames[1].eye() - frames[0].eye()).norm();
    let last = (frames[0].eye() - frames[23].eye()).norm();
    assert!((step - last).abs() < 0.1, "the loop is closed evenly");
}

#[test]
fn a_spiral_stays_near_its_cameras_and_looks_at_their_focus() {
    let keys = &ring(40)[..4];
    let frames = fly(Flight::Spiral, keys, 60).unwrap();
    let middle = keys.iter().map(Camera::eye).sum::<Vector3<f64>>() / 4.0;
    let reach = keys.iter().map(|k| (k.eye() - middle).norm()).fold(0.0, f64::max);
    for frame in &frames {
        assert!((frame.eye() - middle).norm() < 1.5 * reach);
        let target =
            frame.view_from_world * Vector3::new(0.0, 0.0, 3.0) + frame.translation_in_view;
        assert!(target.xy().norm() / target.z < 0.02, "{target}");
    }
    // Half of the frames are one turn, so the eye is at the same position again.
    let apart = (frames[0].eye() - frames[30].eye()).norm();
    assert!(apart < 1e-9 * reach.max(1.0), "{apart}");
}

#[test]
fn an_interpolation_meets_its_cameras() {
    let mut keys = ring(8)[..3].to_vec();
    keys[1].focal_px = [50.0, 60.0];
    // The keys have equal distances, so the middle key is in the middle of the path.
    let frames = fly(Flight::Interpolate, &keys, 9).unwrap();
    for (frame, key) in [(0, 0), (4, 1), (8, 2)] {
        let (frame, key) = (&frames[frame], &keys[key]);
        assert!((frame.eye() - key.eye()).norm() < 1e-9);
        assert!((frame.view_from_world - key.view_from_world).norm() < 1e-9);
        assert!((frame.focal_px[1] - key.focal_px[1]).abs() < 1e-9);
    }
    // Between the keys, the path stays near the circle that they lie on.
    for frame in &frames {
        let radius = (frame.eye() - Vector3::new(0.0, -1.0, 3.0)).norm();
        assert!((radius - 4.0).abs() < 0.25, "{radius}");
    }
    let two = fly(Flight::Interpolate, &keys[..2], 3).unwrap();
    let half = (keys[0].eye() + keys[1].eye()) / 2.0;
    assert!((two[1].eye() - half).norm() < 1e-9);
}

#[test]
fn cameras_without_a_path_are_refused() {
    let one = &ring(8)[..1];
    let same = vec![ring(8)[0].clone(); 3];
    let mut sizes = ring(3);
    sizes[1] = sizes[1].resized(30, 20).unwrap();
    for (flight, keys) in [
        (Flight::Ellipse, one),
        (Flight::Ellipse, &same),
        (Flight::Spiral, &same),
        (Flight::Interpolate, &same),
        (Flight::Interpolate, &sizes),
    ] {
        assert!(fly(flight, keys, 10).is_err(), "{flight:?}");
    }
    assert!(fly(Flight::Ellipse, &ring(8), 1).is_err());
    assert!("circle".parse::<Flight>().is_err());
}

/// Camera at `x` on the x axis that looks along z.
fn on_line(x: f64) -> Camera {
    let lens = Intrinsics::from_vertical_fov(60, 40, 0.8);
    let eye = Vector3::new(x, 0.0, 0.0);
    Camera::look_at("key", lens, eye, eye + Vector3::z(), -Vector3::y()).unwrap()
}

/// Positions in x of the frames of a flight through keys.
fn positions(keys: &[(f64, f64)], fps: f64) -> Vec<f64> {
    let keys: Vec<_> = keys.iter().map(|(x, seconds)| (on_line(*x), *seconds)).collect();
    fly_keys(&keys, fps).unwrap().iter().map(|frame| frame.eye().x).collect()
}

#[test]
fn keys_are_met_at_their_times() {
    // All parts have a speed of 2, so the spline has this speed everywhere.
    let even = positions(&[(0.0, 0.0), (2.0, 1.0), (6.0, 2.0), (8.0, 1.0)], 8.0);
    assert_eq!(even.len(), 4 * 8 + 1);
    for (frame, x) in even.iter().enumerate() {
        assert!((x - frame as f64 / 4.0).abs() < 1e-12, "{frame}");
    }
    // Calculated by hand: the second derivative in the middle is -3, so f(1/2) = 1/2 + 3/16.
    let hump = positions(&[(0.0, 9.0), (1.0, 1.0), (0.0, 1.0)], 2.0);
    for (x, expected) in hump.iter().zip([0.0, 0.6875, 1.0, 0.6875, 0.0]) {
        assert!((x - expected).abs() < 1e-12, "{hump:?}");
    }
    // Rounding in the sum of times loses no frame. A path that ends between two frames has the earlier one.
    let tenths = [(0.0, 0.0)].into_iter().chain((1..=10).map(|x| (f64::from(x), 0.1)));
    let tenths = positions(&tenths.collect::<Vec<_>>(), 30.0);
    assert_eq!((tenths.len(), tenths[30]), (31, 10.0));
    assert_eq!(positions(&[(0.0, 0.0), (1.0, 0.99)], 10.0).len(), 10);
    assert_eq!(positions(&[(0.0, 0.0), (1.0, 0.01)], 10.0), [0.0]);
}

#[test]
fn slopes_are_continuous_at_keys() {
    let keys = [(1.0, 0.0), (-2.0, 0.7), (0.5, 1.3), (3.0, 0.5), (1.0, 1.5)];
    let fps = 10_000.0;
    let x = positions(&keys, fps);
    for key in [7_000, 20_000, 25_000] {
        let [left, right] = [x[key] - x[key - 1], x[key + 1] - x[key]];
        // The slopes are equal; the difference comes from curvature and is of the order of the squared step.
        assert!((right - left).abs() < 100.0 / (fps * fps), "{key}");
    }
}

#[test]
fn keys_without_a_flight_are_refused() {
    let keys = |seconds: f64| [(on_line(0.0), 0.0), (on_line(1.0), 1.0), (on_line(2.0), seconds)];
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = fly_keys(&keys(bad), 30.0).unwrap_err().to_string();
        assert!(error.starts_with("seconds of key 2: expected a finite number above 0"), "{error}");
        let error = fly_keys(&keys(1.0), bad).unwrap_err().to_string();
        assert!(error.starts_with("fps: expected a finite number above 0"), "{error}");
    }
    for (seconds, fps) in [(1e300, 1e300), (3333.3, 30.0), (1e9, 30.0)] {
        let error = fly_keys(&keys(seconds), fps).unwrap_err().to_string();
        assert!(error.contains("at most 100000 frames"), "{error}");
    }
    assert_eq!(fly_keys(&keys(99_998.0), 1.0).unwrap().len(), 100_000);
    assert!(fly_keys(&keys(1.0)[..1], 30.0).is_err());
    let small = (on_line(1.0).resized(30, 20).unwrap(), 1.0);
    assert!(fly_keys(&[keys(1.0)[0].clone(), small], 30.0).is_err());
    // A camera that does not move is a valid flight.
    let waiting = [(on_line(0.0), 0.0), (on_line(0.0), 1.0)];
    assert_eq!(fly_keys(&waiting, 2.0).unwrap().len(), 3);
}
