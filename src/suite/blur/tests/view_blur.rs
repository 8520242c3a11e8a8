//! Tests of the module `view_blur`.

use super::*;
use nalgebra::Vector3;

fn camera() -> Camera {
    let [eye, target, up] = [[1.0, 0.5, -4.0], [0.0; 3], [0.0, -1.0, 0.0]].map(Vector3::from);
    let intrinsics = quadrille_scene::Intrinsics::from_vertical_fov(640, 480, 0.8);
    Camera::look_at("a", intrinsics, eye, target, up).unwrap()
}

fn project(camera: &Camera, point: Vector3<f64>) -> [f64; 2] {
    let p = camera.view_from_world * point + camera.translation_in_view;
    [0, 1].map(|k| camera.focal_px[k] * p[k] / p.z + camera.principal_px[k])
}

#[test]
fn points_in_focus_stay_and_others_fill_their_circle() {
    let (camera, lens) = (camera(), Lens::new(0.2, 3.0).unwrap());
    let blur = ViewBlur::new(&camera, CameraMotion::NONE, lens, 64).unwrap();
    let at = |depth: f64| {
        let view = Vector3::new(0.3, -0.2, depth) - camera.translation_in_view;
        let point = camera.view_from_world.transpose() * view;
        let middle = project(&camera, point);
        let offsets = blur.cameras(&camera).into_iter().map(move |sample| {
            let [x, y] = project(&sample, point);
            [x - middle[0], y - middle[1]]
        });
        offsets.collect::<Vec<_>>()
    };
    assert!(at(3.0).iter().flatten().all(|offset| offset.abs() < 1e-9));
    let radius = lens.shear(camera.focal_px).coc_px(6.0) / 2.0;
    let offsets = at(6.0);
    let farthest = offsets.iter().map(|[x, y]| x.hypot(*y)).fold(0.0, f64::max);
    assert!(farthest < radius + 1e-3 && farthest > 0.98 * radius, "{farthest} of {radius}");
    let mean = [0, 1].map(|k| offsets.iter().map(|o| o[k]).sum::<f64>() / 64.0);
    assert!(mean[0].hypot(mean[1]) < 0.03 * radius, "{mean:?} of {radius}");
    // A quarter of the samples lies within half of the radius.
    let inner = offsets.iter().filter(|[x, y]| x.hypot(*y) < radius / 2.0).count();
    assert_eq!(inner, 16);
}

#[test]
fn samples_cover_the_time_and_time_and_radius_together() {
    let camera = camera();
    let motion = CameraMotion::in_view(&camera, [1.0, 0.0, 0.0], [0.0; 3]);
    let lens = Lens::new(0.1, f64::INFINITY).unwrap();
    for samples in [1_u32, 2, 7, 16, 64, 100] {
        let still = ViewBlur::new(&camera, motion, Lens::PINHOLE, samples).unwrap();
        for (at, sample) in still.cameras(&camera).iter().enumerate() {
            let moved = (sample.eye() - camera.eye()).norm();
            let expected = (at as f64 + 0.5) / f64::from(samples);
            assert!((moved - expected).abs() < 1e-9, "{samples}, {at}: {moved}");
        }
    }
    let blur = ViewBlur::new(&camera, CameraMotion::NONE, lens, 64).unwrap();
    let radii =
        blur.cameras(&camera).into_iter().map(|sample| (sample.eye() - camera.eye()).norm());
    let early = radii.take(32).filter(|radius| *radius < 0.1 * 0.5_f64.sqrt()).count();
    assert!((14..=18).contains(&early), "{early} of the first 32 samples are in the inner half");
    for bad in [0, 4097] {
        assert!(ViewBlur::new(&camera, motion, lens, bad).is_err());
    }
    let fisheye = camera.clone().through_fisheye(2.0);
    assert!(ViewBlur::new(&fisheye, motion, lens, 4).is_err());
    assert!(ViewBlur::new(&fisheye, motion, Lens::PINHOLE, 4).is_ok());
}
