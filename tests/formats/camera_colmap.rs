//! COLMAP's sparse models, binary and text: poses, lenses, and hostile files.

use std::path::Path;

use nalgebra::Vector3;
use proptest::prelude::*;
use quadrille::{
    Camera, CameraFile, DistortedLens, DistortionModel, Error, FisheyeLens, Projection, Result,
    load_cameras as load,
};

/// `cameras.bin` of a PINHOLE 7 and a SIMPLE_RADIAL 9 with the given distortion.
pub(crate) fn cameras_bin(distortion: f64) -> Vec<u8> {
    let mut bytes = 2_u64.to_le_bytes().to_vec();
    let mut camera = |id: u32, model: i32, parameters: &[f64]| {
        bytes.extend(id.to_le_bytes());
        bytes.extend(model.to_le_bytes());
        bytes.extend(64_u64.to_le_bytes());
        bytes.extend(48_u64.to_le_bytes());
        bytes.extend(parameters.iter().flat_map(|p| p.to_le_bytes()));
    };
    camera(7, 1, &[100.0, 101.0, 31.0, 25.0]);
    camera(9, 2, &[50.0, 32.0, 24.0, distortion]);
    bytes
}

/// `images.bin` of two images; the quaternion of the first is not normalised.
pub(crate) fn images_bin() -> Vec<u8> {
    let mut bytes = 2_u64.to_le_bytes().to_vec();
    let mut image = |name: &str, quaternion: [f64; 4], camera: u32, points: u64| {
        bytes.extend(1_u32.to_le_bytes());
        let translation = [1.0, 2.0, 3.0_f64];
        for value in quaternion.into_iter().chain(translation) {
            bytes.extend(value.to_le_bytes());
        }
        bytes.extend(camera.to_le_bytes());
        bytes.extend(name.as_bytes());
        bytes.push(0);
        bytes.extend(points.to_le_bytes());
        bytes.resize(bytes.len() + 24 * usize::try_from(points).unwrap(), 0xff);
    };
    image("sub/z.jpg", [2.0, 0.0, 0.0, 0.0], 7, 3);
    let half = std::f64::consts::FRAC_1_SQRT_2;
    image("a.jpg", [half, 0.0, half, 0.0], 9, 0);
    bytes
}

pub(crate) const CAMERAS_TXT: &str =
    "# comment\n7 PINHOLE 64 48 100 101 31 25\n9 SIMPLE_RADIAL 64 48 50 32 24 0\n";
pub(crate) const IMAGES_TXT: &str = "# comment\n1 2 0 0 0 1 2 3 7 sub/z.jpg\n1.5 2.5 -1 3 4 5\n\
    2 0.7071067811865476 0 0.7071067811865476 0 1 2 3 9 a.jpg\n\n";

fn write_model(folder: &Path, distortion: f64) {
    std::fs::write(folder.join("cameras.bin"), cameras_bin(distortion)).unwrap();
    std::fs::write(folder.join("images.bin"), images_bin()).unwrap();
}

/// Loads a model from the content of its two files, whose names end in `extension`.
fn load_model(extension: &str, cameras: &[u8], images: &[u8]) -> Result<CameraFile> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(format!("cameras.{extension}")), cameras).unwrap();
    std::fs::write(folder.path().join(format!("images.{extension}")), images).unwrap();
    load(folder.path())
}

/// Loads a model with this `cameras.bin` and good images.
fn with_cameras(bytes: &[u8]) -> Result<CameraFile> {
    load_model("bin", bytes, &images_bin())
}

/// Loads a model with this `images.bin` and good cameras.
fn with_images(bytes: &[u8]) -> Result<CameraFile> {
    load_model("bin", &cameras_bin(0.0), bytes)
}

#[test]
fn binary_and_text_models_are_equal() {
    let data_set = tempfile::tempdir().unwrap();
    let model = data_set.path().join("sparse/0");
    std::fs::create_dir_all(&model).unwrap();
    write_model(&model, 0.0);
    let text = tempfile::tempdir().unwrap();
    std::fs::write(text.path().join("cameras.txt"), CAMERAS_TXT).unwrap();
    std::fs::write(text.path().join("images.txt"), IMAGES_TXT).unwrap();

    let file = load(data_set.path()).unwrap();
    assert!(file.warnings.is_empty());
    let [a, z] = &file.cameras[..] else {
        panic!("{file:?}");
    };
    assert_eq!((a.name.as_str(), z.name.as_str()), ("a", "sub_z"));
    assert_eq!((a.focal_px, a.principal_px), ([50.0; 2], [32.0, 24.0]));
    assert_eq!((z.focal_px, z.principal_px), ([100.0, 101.0], [31.0, 25.0]));
    assert!((z.eye() + Vector3::new(1.0, 2.0, 3.0)).norm() < 1e-12);
    // A quarter turn about y takes the world's x to the view's -z.
    let x = a.view_from_world * Vector3::x();
    assert!((x + Vector3::z()).norm() < 1e-12, "{x}");

    let other = load(text.path().join("images.txt")).unwrap();
    for (one, two) in file.cameras.iter().zip(&other.cameras) {
        assert_eq!(one.name, two.name);
        assert!((one.view_from_world - two.view_from_world).norm() < 1e-12);
    }
}

/// Some programs leave out the lines of points. No image is lost, and a count in the header is compared.
#[test]
fn images_without_lines_of_points_are_read() {
    let pose = "1 0 0 0 0 0 4 7";
    let lines =
        format!("1 {pose} a  b.jpg\n2 {pose} c.jpg\n3 {pose} d.jpg\n\n4 {pose} e.jpg\n1 2 -1\n");
    let names = |header: &str| {
        let images = format!("{header}{lines}");
        let file = load_model("txt", CAMERAS_TXT.as_bytes(), images.as_bytes()).unwrap();
        (file.names_in_file.join(", "), file.warnings)
    };
    let expected = "a  b.jpg, c.jpg, d.jpg, e.jpg".to_owned();
    let header =
        |count| format!("# Image list\n# Number of images: {count}, mean observations: 3\n");
    assert_eq!(names(""), (expected.clone(), vec![]));
    assert_eq!(names(&header(4)), (expected.clone(), vec![]));
    let (found, warnings) = names(&header(5));
    assert_eq!(found, expected);
    assert!(warnings[0].contains("its comment counts 5 images, but it holds 4"), "{warnings:?}");
    let broken = format!("1 {pose} a.jpg\n1.5 2.5\n");
    assert!(load_model("txt", CAMERAS_TXT.as_bytes(), broken.as_bytes()).is_err());
}

/// nerfstudio takes every eighth image by its identifier, the other trainers by its name.
#[test]
fn test_views_are_chosen_by_name_or_by_identifier() {
    for (list, expected) in [("test", "a"), ("test:inria", "a"), ("test:nerfstudio", "sub_z")] {
        let mut file = load_model("txt", CAMERAS_TXT.as_bytes(), IMAGES_TXT.as_bytes()).unwrap();
        file.select(list).unwrap();
        assert_eq!((file.cameras.len(), file.cameras[0].name.as_str()), (1, expected), "{list}");
    }
}

/// nerfstudio follows lists in the folder of the data set, which the other trainers do not read.
#[test]
fn lists_of_a_data_set_are_those_of_nerfstudio() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("colmap/sparse/0");
    std::fs::create_dir_all(&model).unwrap();
    std::fs::write(model.join("cameras.txt"), CAMERAS_TXT).unwrap();
    std::fs::write(model.join("images.txt"), IMAGES_TXT).unwrap();
    std::fs::write(folder.path().join("test_list.txt"), "a.jpg\r\nlost.jpg\n\n").unwrap();
    let select = |list: &str| {
        let mut file = load(folder.path()).unwrap();
        let selected = file.select(list).map(|()| file.cameras[0].name.clone());
        (selected.map_err(|error| error.to_string()), file.warnings)
    };
    let (selected, warnings) = select("test:nerfstudio");
    assert_eq!(selected.as_deref(), Ok("a"));
    let words = "test_list.txt names 1 pictures that are no image of the model, such as lost.jpg";
    assert!(warnings.iter().any(|warning| warning.contains(words)), "{warnings:?}");
    // nerfstudio refuses a part without a list beside other lists.
    assert!(select("train:nerfstudio").0.unwrap_err().contains("which selects none"));
    assert_eq!(select("train").0.as_deref(), Ok("sub_z"));
    std::fs::write(folder.path().join("train_list.txt"), "sub/z.jpg\n").unwrap();
    assert_eq!(select("train:nerfstudio").0.as_deref(), Ok("sub_z"));
}

/// The folder of several models is read as its first model, with a warning. Other texts beside a model are not the model.
#[test]
fn the_folder_above_a_model_is_read() {
    let folder = tempfile::tempdir().unwrap();
    for model in ["0", "1"] {
        let model = folder.path().join(model);
        std::fs::create_dir(&model).unwrap();
        write_model(&model, 0.0);
    }
    let file = load(folder.path()).unwrap();
    assert_eq!(file.cameras.len(), 2);
    assert!(file.warnings[0].contains("holds other images"), "{:?}", file.warnings);
    let other = folder.path().join("poses.txt");
    std::fs::write(&other, "1 0 0 0 0 1 0 0 0 0 1 4\n").unwrap();
    let error = load(&other).unwrap_err().to_string();
    assert!(error.contains("poses of KITTI"), "{error}");
}

#[test]
fn a_dot_in_a_folder_is_no_extension() {
    let images = IMAGES_TXT.replace("sub/z.jpg", "cam.0/x");
    let file = load_model("txt", CAMERAS_TXT.as_bytes(), images.as_bytes()).unwrap();
    assert_eq!(file.cameras[1].name, "cam.0_x");
}

#[test]
fn distortion_is_drawn() {
    let file = with_cameras(&cameras_bin(0.01)).unwrap();
    assert!(file.warnings.is_empty() && file.remarks[0].contains("cameras is drawn"), "{file:?}");
    let lens = DistortedLens::new(DistortionModel::OpenCv, &[0.01]).unwrap();
    assert!(file.cameras.iter().any(|camera| camera.projection == Projection::Distorted(lens)));
}

/// Every model has its coefficients in the order of COLMAP.
#[test]
fn lenses_keep_their_distortion() {
    let pinholes = load_model("txt", CAMERAS_TXT.as_bytes(), IMAGES_TXT.as_bytes()).unwrap();
    let (first, rest) = CAMERAS_TXT.split_at(CAMERAS_TXT.find(" PINHOLE ").unwrap());
    let line = rest.lines().next().unwrap();
    let with_model = |model: &str, distortion: &str| {
        let fisheye = format!("{} {distortion}", line.replace("PINHOLE", model));
        let text = format!("{first}{}", rest.replacen(line, &fisheye, 1));
        load_model("txt", text.as_bytes(), IMAGES_TXT.as_bytes()).unwrap()
    };
    let file = with_model("OPENCV_FISHEYE", "0.1 -0.02 0 0");
    let lens = FisheyeLens::new([0.1, -0.02, 0.0, 0.0]).unwrap();
    let projections = file.cameras.iter().map(|camera| camera.projection);
    let fisheyes = projections.filter(|projection| *projection == Projection::Fisheye(lens));
    assert!(fisheyes.count() > 0 && file.warnings.is_empty());
    let as_pinholes = file.cameras.iter().map(Camera::as_pinhole);
    assert_eq!(as_pinholes.collect::<Vec<_>>(), pinholes.cameras);
    for (model, coefficients, expected) in [
        ("OPENCV", "-0.1 0.05 0.001 -0.002", DistortionModel::OpenCv),
        ("FULL_OPENCV", "-0.1 0.05 0.001 -0.002 0.003 0.02 -0.03 0.004", DistortionModel::OpenCv),
        ("FOV", "0.9", DistortionModel::FieldOfView),
        ("DIVISION", "-0.1", DistortionModel::Division),
        ("EUCM", "0.6 1.2", DistortionModel::Unified),
        ("THIN_PRISM_FISHEYE", "0.1 0 0.01 0 0 0 0.02 -0.01", DistortionModel::ThinPrismFisheye),
        (
            "RAD_TAN_THIN_PRISM_FISHEYE",
            "0.1 0 0 0 0 0 0.01 0.02 0.001 0.002 0.003 0.004",
            DistortionModel::RadTanThinPrismFisheye,
        ),
    ] {
        let file = with_model(model, coefficients);
        let numbers = coefficients.split(' ').map(|number| number.parse().unwrap());
        let lens = DistortedLens::new(expected, &numbers.collect::<Vec<_>>()).unwrap();
        let lens = Projection::Distorted(lens);
        assert!(file.cameras.iter().any(|camera| camera.projection == lens), "{model}");
    }
    for (model, coefficients) in [("FOV", "0"), ("EUCM", "0 1"), ("OPENCV", "0 0 0 0")] {
        assert_eq!(with_model(model, coefficients).cameras, pinholes.cameras, "{model}");
    }
}

#[test]
fn unknown_models_and_lost_cameras_are_errors() {
    let says = |error: Error, words: &str| assert!(error.to_string().contains(words), "{error}");
    let mut bytes = cameras_bin(0.0);
    bytes[12] = 99;
    let expected = "camera 0: camera model: expected a known model";
    says(with_cameras(&bytes).unwrap_err(), expected);
    let text = b"1 ORTHOPHOTO 64 48 1 1 1 1 0 0 0 0";
    let error = load_model("txt", text, IMAGES_TXT.as_bytes()).unwrap_err();
    says(error, "found ORTHOPHOTO");

    let mut images = images_bin();
    images[8 + 60] = 8;
    let mut refused = with_images(&images).unwrap().refused;
    assert_eq!(refused[0].name_in_file, "sub/z.jpg");
    says(refused.remove(0).error, "image 0: camera: expected the identifier");
}

#[test]
fn a_count_beyond_the_file_allocates_nothing() {
    for at in [0, 8 + 64 + "sub/z.jpg".len() + 1] {
        let mut bytes = images_bin();
        bytes[at..at + 8].copy_from_slice(&u64::MAX.to_le_bytes());
        let message = with_images(&bytes).unwrap_err().to_string();
        assert!(message.contains("expected at most"), "{message}");
    }
    let mut bytes = cameras_bin(0.0);
    bytes[..8].copy_from_slice(&(1_u64 << 40).to_le_bytes());
    assert!(with_cameras(&bytes).is_err());
}

#[test]
fn every_truncation_is_an_error() {
    let (cameras, images) = (cameras_bin(0.0), images_bin());
    assert_eq!(with_cameras(&cameras).unwrap().cameras.len(), 2);
    assert!((0..cameras.len()).all(|end| with_cameras(&cameras[..end]).is_err()));
    assert!((0..images.len()).all(|end| with_images(&images[..end]).is_err()));
}

#[test]
fn text_errors_name_the_line() {
    let bad_translation = "line 2: expected a translation x y z, found x";
    let short = "line 1: expected a quaternion w x y z, found the end of the line";
    for (text, expected) in [
        ("# c\n1 1 0 0 0 0 0 x 1 n", bad_translation),
        ("1 1 0 0 0 0 0 0 1", "line 1: expected an image name"),
        ("1 1 0", short),
    ] {
        let error = load_model("txt", CAMERAS_TXT.as_bytes(), text.as_bytes()).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    let long = "1 PINHOLE 64 48 1 1 1 1 1";
    let error = load_model("txt", long.as_bytes(), IMAGES_TXT.as_bytes()).unwrap_err();
    assert!(error.to_string().contains("no further parameter"), "{error}");
}

proptest! {
    #[test]
    fn damaged_files_never_panic(at in 0_usize..400, bit in 0_u8..8, run in 0_usize..16) {
        let flip = |mut bytes: Vec<u8>| {
            let len = bytes.len();
            for i in 0..=run {
                bytes[(at + i) % len] ^= 1 << bit;
            }
            bytes
        };
        let _ = with_cameras(&flip(cameras_bin(0.0)));
        let _ = with_images(&flip(images_bin()));
        let (cameras, images) = (CAMERAS_TXT.as_bytes(), IMAGES_TXT.as_bytes());
        let _ = load_model("txt", &flip(cameras.to_vec()), images);
        let _ = load_model("txt", cameras, &flip(images.to_vec()));
    }

    #[test]
    fn any_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = with_cameras(&bytes);
        let _ = with_images(&bytes);
        let _ = load_model("txt", CAMERAS_TXT.as_bytes(), &bytes);
    }
}
