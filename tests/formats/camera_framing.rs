//! Cameras chosen for a scene, and orbits.

use nalgebra::Vector3;
use quadrille::{Camera, Intrinsics, Splat, Splats, orbit_cameras};
use quadrille_scene::cameras::FramingTarget;

/// The up direction of the default camera.
const UP: [f64; 3] = [0.0, -1.0, 0.0];

fn splat(mean: [f32; 3], scale: f32, opacity: f32) -> Splat {
    Splat { mean, scale: [scale; 3], rotation: [1.0, 0.0, 0.0, 0.0], opacity, sh: [[0.0; 3]; 25] }
}

/// Splats spread evenly on a sphere.
fn ball(centre: [f32; 3], radius: f32, scale: f32, count: usize) -> Vec<Splat> {
    (0..count)
        .map(|i| {
            let z = 1.0 - 2.0 * (i as f32 + 0.5) / count as f32;
            let (sin, cos) = (i as f32 * 2.399_963).sin_cos();
            let r = (1.0 - z * z).sqrt();
            let unit = [r * cos, r * sin, z];
            let mean = std::array::from_fn(|k| centre[k] + radius * unit[k]);
            splat(mean, scale, 0.9)
        })
        .collect()
}

#[test]
fn an_object_is_framed_whole() {
    let splats = Splats::from_splats(0, ball([1.0, 2.0, 3.0], 2.0, 0.01, 4000));
    let subject = FramingTarget::of(&splats);
    assert!((subject.centre - Vector3::new(1.0, 2.0, 3.0)).norm() < 0.1);
    assert!((subject.radius - 2.0).abs() < 0.1, "{}", subject.radius);
    let lens = Intrinsics::from_vertical_fov(1280, 720, 50_f64.to_radians());
    let up = Vector3::from(UP);
    let eye = subject.default_eye(&lens, up);
    assert!((eye - subject.centre).dot(&up) > 0.0, "the eye is above");
    let camera = Camera::look_at("a", lens, eye, subject.centre, up).unwrap();
    for s in splats.iter() {
        let p = camera.view_from_world * Vector3::from(s.mean.map(f64::from))
            + camera.translation_in_view;
        assert!(p.z > 0.0);
        assert!((lens.focal_px[1] * p.y / p.z).abs() < 360.0);
    }
}

#[test]
fn background_and_floaters_are_ignored() {
    let mut splats = ball([0.0; 3], 1.0, 0.01, 3000);
    splats.extend(ball([0.0; 3], 100.0, 2.0, 6000));
    splats.push(splat([1e9, 0.0, 0.0], 1.0, 1.0));
    let subject = FramingTarget::of(&Splats::from_splats(0, splats));
    assert!((subject.radius - 1.0).abs() < 0.2, "{}", subject.radius);
    assert!(subject.centre.norm() < 0.2);
}

#[test]
fn scenes_without_extent_are_framed() {
    let lens = Intrinsics::from_vertical_fov(100, 100, 1.0);
    for splats in [
        vec![],
        vec![splat([5.0, 5.0, 5.0], 0.5, 0.9)],
        vec![splat([5.0, 5.0, 5.0], 0.0, 0.9); 40],
        vec![splat([5.0, 5.0, 5.0], 0.5, 0.0)],
        vec![splat([5.0, 5.0, 5.0], 1e-26, 0.9)],
        vec![splat([0.0; 3], 1e-30, 0.9), splat([0.0; 3], 0.1, 0.9)],
        vec![splat([3e38, 3e38, -3e38], 3e38, 1.0)],
    ] {
        let scene = Splats::from_splats(0, splats);
        let subject = FramingTarget::of(&scene);
        assert!(subject.radius > 0.0 && subject.radius.is_finite());
        let up = Vector3::from(UP);
        let eye = subject.default_eye(&lens, up);
        Camera::look_at("a", lens, eye, subject.centre, up).unwrap();
    }
}

#[test]
fn every_up_has_a_viewpoint() {
    let subject = FramingTarget { centre: Vector3::zeros(), radius: 1.0 };
    let lens = Intrinsics::from_vertical_fov(100, 100, 1.0);
    for up in [[0.0, 0.0, 1.0], [1.0, 1.0, 1.0], [-3.0, 0.0, 0.0], [0.0; 3]] {
        let eye = subject.default_eye(&lens, Vector3::from(up));
        assert!((eye.norm() - subject.distance(&lens)).abs() < 1e-9);
    }
}

#[test]
fn an_orbit_is_a_level_circle() {
    let lens = Intrinsics::from_vertical_fov(100, 100, 1.0);
    let up = Vector3::from(UP);
    let (eye, target) = (Vector3::new(3.0, -1.0, 0.0), Vector3::new(1.0, 0.0, 0.0));
    let ring = orbit_cameras(8, lens, eye, target, up).unwrap();
    assert_eq!(ring[0].name, "orbit_00");
    assert_eq!(ring[7].name, "orbit_07");
    assert!((ring[0].eye() - eye).norm() < 1e-9);
    for camera in &ring {
        assert!(((camera.eye() - target).norm() - (eye - target).norm()).abs() < 1e-9);
        assert!((camera.eye().y - eye.y).abs() < 1e-9);
    }
    assert!(orbit_cameras(0, lens, eye, target, up).is_err());
    assert!(orbit_cameras(4, lens, target + up, target, up).is_err());
    let ring = orbit_cameras(101, lens, eye, target, up).unwrap();
    assert_eq!(ring[100].name, "orbit_100");
}
