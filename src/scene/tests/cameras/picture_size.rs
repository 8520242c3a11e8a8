//! Tests of requested picture sizes.

use nalgebra::{Matrix3, Vector3};
use quadrille_scene::cameras::{PictureScale, PictureSize};
use quadrille_scene::{Camera, FisheyeLens, Intrinsics, Projection};

fn camera() -> Camera {
    let lens = Intrinsics {
        width: 980,
        height: 545,
        focal_px: [640.0, 650.0],
        principal_px: [500.0, 272.5],
    };
    Camera::new("a", lens, Matrix3::identity(), Vector3::zeros()).unwrap()
}

/// Expected values are by `round` of Python, for 136.25, 272.5, 61.25 and 34.0625.
#[test]
fn scales_round_as_the_trainer() {
    for (scale, expected) in [
        ("1/4", [245, 136]),
        ("1/2", [490, 272]),
        ("0.5", [490, 272]),
        ("1/16", [61, 34]),
        ("3/2", [1470, 818]),
        ("2", [1960, 1090]),
    ] {
        let size = PictureSize { scale: Some(scale.parse().unwrap()), ..PictureSize::default() };
        let scaled = size.apply(&camera()).unwrap();
        assert_eq!([scaled.width, scaled.height], expected, "{scale}");
        // Both fields of view stay.
        let close = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).abs() + (a[1] - b[1]).abs() < 1e-12;
        assert!(close(scaled.half_fov_tangents(), camera().half_fov_tangents()));
    }
    for bad in ["", "0", "1/0", "0/4", "-1", "1/4/2", "nan", "1e3", "1.2.3", "0.1234567", "."] {
        assert!(bad.parse::<PictureScale>().is_err(), "{bad}");
    }
}

#[test]
fn both_sides_keep_pixels_square() {
    let size =
        |width, height| PictureSize { width: Some(width), height: Some(height), scale: None };
    // The rounding of the trainer does not count as a change of proportions.
    let half = size(490, 272).apply(&camera()).unwrap();
    assert_eq!(half, camera().resized(490, 272).unwrap());
    assert_eq!(size(490, 272).reshaping(&camera()), None);
    let tall = size(109, 109).apply(&camera()).unwrap();
    assert_eq!(tall.focal_px, [128.0, 130.0]);
    assert_eq!(tall.principal_px, [54.5 + 10.0 * 0.2, 54.5]);
    let said = size(109, 109).reshaping(&camera()).unwrap();
    assert!(said.contains("cropped from 74.9 to 46.1 degrees"), "{said}");
    let fisheye = Projection::Fisheye(FisheyeLens::EQUIDISTANT);
    let fisheye = camera().with_projection(fisheye);
    let said = size(109, 109).reshaping(&fisheye).unwrap();
    assert!(said.ends_with("the horizontal one is cropped"), "{said}");
    let said = size(1960, 545).reshaping(&camera()).unwrap();
    assert!(said.contains("extended"), "{said}");
}
