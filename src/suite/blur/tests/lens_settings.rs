//! Tests of the module `lens_settings`.

use super::*;

fn camera() -> Camera {
    let [eye, target, up] = [[0.0, 0.0, -4.0], [0.0; 3], [0.0, -1.0, 0.0]].map(Vector3::from);
    let intrinsics = quadrille_scene::Intrinsics::from_vertical_fov(640, 480, 0.8);
    Camera::look_at("a", intrinsics, eye, target, up).unwrap()
}

#[test]
fn the_f_number_divides_the_focal_length() {
    // A lens of 50 mm before a sensor of 24 mm at f/2 has an aperture of 25 mm.
    let mut camera = camera();
    camera.focal_px = [480.0 * 50.0 / 24.0; 2];
    let settings = LensSettings { f_stop: Some(2.0), focus: Some(3.0), ..LensSettings::default() };
    settings.check().unwrap();
    let lens = settings.of(&camera, || unreachable!()).unwrap();
    assert!((lens.radius() - 0.0125).abs() < 1e-12, "{}", lens.radius());
    let tenth = LensSettings { sensor_height: Some(0.0024), ..settings };
    let lens = tenth.of(&camera, || unreachable!()).unwrap();
    assert!((lens.radius() - 0.001_25).abs() < 1e-12, "{}", lens.radius());
}

#[test]
fn one_aperture_and_one_focus_are_asked_for() {
    let stop = LensSettings { f_stop: Some(2.0), ..LensSettings::default() };
    let bad = [
        LensSettings { aperture: Some(0.1), ..stop.clone() },
        LensSettings { coc_px: Some(1.0), ..stop.clone() },
        LensSettings { focus: Some(1.0), focus_at: Some([0.0; 3]), ..stop.clone() },
        LensSettings { f_stop: Some(0.0), ..stop.clone() },
        LensSettings { sensor_height: Some(0.02), ..LensSettings::default() },
    ];
    assert!(bad.iter().all(|settings| settings.check().is_err()));
    let behind = LensSettings { focus_at: Some([0.0, 0.0, -9.0]), ..stop.clone() };
    assert!(behind.of(&camera(), || unreachable!()).is_err());
    let lens = stop.of(&camera(), || Ok(7.0)).unwrap();
    assert_eq!(lens.focus(), 7.0);
    assert_eq!(LensSettings::default().of(&camera(), || unreachable!()).unwrap(), Lens::PINHOLE);
}
