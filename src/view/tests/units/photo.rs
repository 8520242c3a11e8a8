//! Crops of photos, against cameras of other proportions.

use super::*;
use quadrille_scene::Intrinsics;
use quadrille_scene::cameras::PictureSize;

fn row(values: &[f32]) -> Frame {
    let pixels = values.iter().map(|v| [*v, 0.0, 0.0, 1.0]).collect();
    Frame::from_pixels(quadrille_base::math::fit(values.len()), 1, pixels)
}

/// A picture of the reds of a photo in another size of all of it.
fn resized(photo: &Frame, [width, height]: [u32; 2]) -> Vec<f32> {
    let from = [photo.width(), photo.height()];
    let step = [f64::from(from[0]) / f64::from(width), f64::from(from[1]) / f64::from(height)];
    let crop = Crop { begin: [0.0; 2], step, photo: from, picture: [width, height] };
    assert_eq!(crop.covered(), None);
    let new = crop.of(photo);
    assert!(new.pixels().iter().all(|p| (p[3] - 1.0).abs() < 1e-6));
    new.pixels().iter().map(|p| p[0]).collect()
}

#[test]
fn pixels_are_means_of_the_area_that_they_cover() {
    assert_eq!(resized(&row(&[1.0, 3.0, 5.0, 7.0]), [2, 1]), [2.0, 6.0]);
    // Two thirds: the middle old pixel belongs to both new ones.
    let some = resized(&row(&[3.0, 6.0, 9.0]), [2, 1]);
    let expected = [(3.0 + 6.0 / 2.0) / 1.5, (6.0 / 2.0 + 9.0) / 1.5];
    assert!(some.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5));
    let larger = resized(&row(&[2.0, 4.0]), [4, 2]);
    assert_eq!(larger, [2.0, 2.0, 4.0, 4.0, 2.0, 2.0, 4.0, 4.0]);
}

fn camera(principal_px: [f64; 2]) -> Camera {
    let lens = Intrinsics { width: 640, height: 360, focal_px: [400.0, 400.0], principal_px };
    let axis = nalgebra::Vector3::y();
    Camera::look_at("eye", lens, nalgebra::Vector3::z(), nalgebra::Vector3::zeros(), -axis).unwrap()
}

fn crop_of(camera: &Camera, [width, height]: [u32; 2], photo: &Frame) -> Crop {
    let size = PictureSize { width: Some(width), height: Some(height), scale: None };
    Crop::new(camera, &size.apply(camera).unwrap(), photo)
}

/// A photo whose pixels hold their positions, relative to its size.
fn positions(width: u32, height: u32) -> Frame {
    let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let pixels = pixels.map(|(x, y)| {
        let [x, y] = [(x, width), (y, height)].map(|(at, side)| (at as f32 + 0.5) / side as f32);
        [x, y, 0.0, 1.0]
    });
    Frame::from_pixels(width, height, pixels.collect())
}

#[test]
fn a_crop_shows_the_directions_of_the_resized_camera() {
    for principal in [[320.0, 180.0], [300.0, 190.0]] {
        let camera = camera(principal);
        for size in [[960, 725], [640, 360], [1280, 720], [200, 360], [1400, 300]] {
            let photo = positions(320, 180);
            let crop = crop_of(&camera, size, &photo);
            let resized = PictureSize { width: Some(size[0]), height: Some(size[1]), scale: None }
                .apply(&camera)
                .unwrap();
            let picture = crop.of(&photo);
            for (x, y) in [(size[0] / 2, size[1] / 2), (size[0] * 3 / 5, size[1] / 3)] {
                let [r, g, ..] = picture.pixels()[(y * size[0] + x) as usize];
                let expected = [x, y].into_iter().enumerate().map(|(axis, at)| {
                    let slope =
                        (f64::from(at) + 0.5 - resized.principal_px[axis]) / resized.focal_px[axis];
                    let px = slope * camera.focal_px[axis] + camera.principal_px[axis];
                    px / f64::from([640, 360][axis])
                });
                for (found, expected) in [r, g].into_iter().zip(expected) {
                    assert!(
                        (f64::from(found) - expected).abs() < 0.004,
                        "{size:?} {found} {expected}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_picture_beyond_a_photo_is_transparent_and_not_covered() {
    let (camera, photo) = (camera([320.0, 180.0]), positions(640, 360));
    let crop = crop_of(&camera, [1000, 360], &photo);
    assert_eq!(crop.covered(), Some([[180, 0], [820, 360]]));
    let picture = crop.of(&photo);
    let alpha = |x: usize| picture.pixels()[5 * 1000 + x][3];
    assert_eq!(
        [alpha(0), alpha(179), alpha(180), alpha(819), alpha(820)],
        [0.0, 0.0, 1.0, 1.0, 0.0]
    );
    assert_eq!(crop_of(&camera, [300, 360], &photo).covered(), None);
    let same = crop_of(&camera, [640, 360], &photo);
    assert_eq!(same.of(&photo).pixels(), photo.pixels(), "a photo of the picture's size stays");
    let rgb: Vec<u8> = (0..60).collect();
    assert_eq!(
        part_of(&rgb, [5, 4], [[1, 1], [3, 3]]),
        (vec![18, 19, 20, 21, 22, 23, 33, 34, 35, 36, 37, 38], [2, 2])
    );
}

/// Writes a JPEG of one brightness per quarter, stored in `size`, which states that it is turned by 90 degrees.
fn write_turned(path: &std::path::Path, [width, height]: [u16; 2]) {
    let rows = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let level = |(x, y)| match (x < width / 2, y < height / 2) {
        (true, true) => 30,
        (false, true) => 90,
        (true, false) => 150,
        (false, false) => 220,
    };
    let rgb: Vec<u8> = rows.map(level).flat_map(|level: u8| [level; 3]).collect();
    let mut bytes = Vec::new();
    let mut encoder = jpeg_encoder::Encoder::new(&mut bytes, 100);
    // One entry, orientation 6, in a little-endian TIFF.
    let exif = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
    encoder.add_app_segment(1, exif.to_vec()).unwrap();
    encoder.encode(&rgb, width, height, jpeg_encoder::ColorType::Rgb).unwrap();
    std::fs::write(path, bytes).unwrap();
}

fn view(path: &std::path::Path, width: u32, height: u32) -> ListedView {
    let camera = camera([320.0, 180.0]).resized(width, height).unwrap();
    ListedView { camera, name_in_file: None, selector: None, photo: Some(path.to_owned()) }
}

#[test]
fn a_photo_is_turned_for_its_camera_and_refused_by_other_proportions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("turned.jpg");
    write_turned(&path, [36, 64]);
    let level = |photo: &Frame, x: usize, y: usize| {
        (photo.pixels()[y * photo.width() as usize + x][0] * 255.0).round()
    };
    // A camera of the stored proportions sees the stored pixels, whatever the window.
    let stored = photo_of(&view(&path, 360, 640)).unwrap();
    assert_eq!([stored.width(), stored.height()], [36, 64]);
    assert!((level(&stored, 5, 5) - 30.0).abs() < 4.0);
    let upright = photo_of(&view(&path, 640, 360)).unwrap();
    assert_eq!([upright.width(), upright.height()], [64, 36]);
    assert!((level(&upright, 5, 5) - 150.0).abs() < 4.0, "the lower left corner comes first");
    let error = photo_of(&view(&path, 640, 480)).unwrap_err().to_string();
    for part in ["turned.jpg", "the proportions of 640 x 480 pixels", "64 x 36"] {
        assert!(error.contains(part), "{error}");
    }
    assert!(photo_of(&ListedView { photo: None, ..view(&path, 64, 36) }).is_err());
}
