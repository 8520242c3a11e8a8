//! Tests of the module `between`.

use nalgebra::Vector3;
use quadrille_scene::Intrinsics;

use super::*;

/// A camera on the unit circle around the origin, which it looks at.
fn on_circle(degrees: f64) -> Camera {
    let (sin, cos) = degrees.to_radians().sin_cos();
    let lens = Intrinsics::from_vertical_fov(64, 48, 1.0);
    let (eye, up) = (Vector3::new(cos, 0.0, sin), Vector3::y());
    Camera::look_at(format!("{degrees}"), lens, eye, Vector3::zeros(), up).unwrap()
}

#[test]
fn a_view_halfway_looks_in_the_direction_between() {
    let cameras = [0.0, 60.0, 100.0, 250.0].map(on_circle);
    let between = views_between(&cameras);
    // The pair of 60 and 100 is found from both; 250 has no neighbour within 90 degrees.
    let names: Vec<&str> = between.iter().map(|camera| camera.name.as_str()).collect();
    assert_eq!(names, ["0 - 60", "60 - 100"]);
    let expected = on_circle(30.0);
    let turn = between[0].view_from_world - expected.view_from_world;
    assert!(turn.norm() < 1e-12, "{turn}");
    // The middle of a chord of 60 degrees.
    let eye = expected.eye() * 30.0_f64.to_radians().cos();
    assert!((between[0].eye() - eye).norm() < 1e-12);
    for alone in [&cameras[..1], &cameras[3..], &[on_circle(5.0), on_circle(5.0)]] {
        assert!(views_between(alone).is_empty());
    }
}
