//! COLMAP's sparse models, binary (`cameras.bin`, `images.bin`) and text (`cameras.txt`, `images.txt`).
//!
//! A camera is a lens; an image has a pose: a world-to-camera quaternion (w, x, y, z) and translation,
//! in right-down-forward axes. See COLMAP's documentation, "Output Format" and "Camera Models". The
//! points of an image are skipped.

mod binary;
mod model;
mod text;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use nalgebra::{Quaternion, UnitQuaternion, Vector3};

use super::camera_file::{
    CameraFile, NamedCamera, ViewSplit, camera_at, distortion_remark, located,
};
use super::names;
use crate::bytes::FileBytes;
use crate::camera::Camera;
use model::{Lenses, PosedImage};
use quadrille_base::error::{Error, Result, shown};

/// Candidate folders of a model in a data set, in the order of search.
const MODEL_FOLDERS: [&str; 5] = ["", "0", "sparse/0", "sparse", "colmap/sparse/0"];

/// Names of the files of a model, without their extensions.
const MODEL_FILES: [&str; 5] = ["cameras", "images", "points3D", "rigs", "frames"];

/// Names of test views beside a model, which the 3DGS trainer reads with `llffhold = 0`.
const TEST_LIST: &str = "test.txt";

/// Names of the views for training, validation and tests in the folder of a data set, which nerfstudio reads.
const NERFSTUDIO_LISTS: [&str; 3] = ["train_list.txt", "val_list.txt", "test_list.txt"];
/// Greatest depth of a model in its data set, as in `colmap/sparse/0`.
const MODEL_DEPTH: usize = 3;

const MIN_QUATERNION_NORM: f64 = 1e-12;

pub(super) fn find_model(folder: &Path) -> Option<PathBuf> {
    MODEL_FOLDERS.iter().map(|sub| folder.join(sub)).find(|folder| is_model(folder))
}

/// True for the folder of a model.
pub(super) fn is_model(folder: &Path) -> bool {
    ["images.bin", "images.txt"].iter().any(|name| folder.join(name).is_file())
}

pub(super) fn is_name_of_model(path: &Path) -> bool {
    let stem = path.file_stem().unwrap_or_default();
    MODEL_FILES.iter().any(|name| stem == *name)
}

/// Reads the model in `folder`, preferring the binary one. Cameras are sorted by image name, as in the 3DGS
/// trainer, and are called by that name without its extension.
pub(crate) fn read(folder: &Path) -> Result<CameraFile> {
    let binary = folder.join("images.bin").is_file();
    let extension = if binary { "bin" } else { "txt" };
    let cameras_path = folder.join(format!("cameras.{extension}"));
    let images_path = folder.join(format!("images.{extension}"));
    let (cameras, images) = (FileBytes::open(&cameras_path)?, FileBytes::open(&images_path)?);
    let (lenses, mut poses) = if binary {
        let lenses = binary::read_cameras(&cameras, &cameras_path)?;
        (lenses, binary::read_images(&images, &images_path)?)
    } else {
        (text::read_cameras(&cameras, &cameras_path)?, text::read_images(&images, &images_path)?)
    };
    let mut warnings = Vec::new();
    if !binary {
        warnings.extend(text::wrong_count(&cameras, &cameras_path, "cameras", lenses.len()));
        warnings.extend(text::wrong_count(&images, &images_path, "images", poses.len()));
    }
    warnings.extend(other_model(folder));
    poses.sort_by(|a, b| a.name.cmp(&b.name));
    let ids = poses.iter().map(|image| image.id).collect();
    let cameras = poses.into_iter().map(|image| {
        let camera = camera(&images_path, &image, &lenses)
            .map(|camera| NamedCamera { camera, in_file: image.name.clone() });
        (image.name, camera)
    });
    let mut file = CameraFile::of(&images_path, cameras)?;
    file.warnings.extend(warnings);
    file.image_ids = ids;
    let names = file.all_names_in_file();
    file.split = test_list(folder, &names);
    let (split, unknown) = nerfstudio_lists(folder, &names);
    file.nerfstudio_split = split;
    file.warnings.extend(unknown);
    let projections = file.cameras.iter().map(|camera| camera.projection);
    file.remarks.extend(distortion_remark(&cameras_path, projections));
    Ok(file)
}

/// Warning about a second model: COLMAP writes several if it cannot connect all images.
fn other_model(folder: &Path) -> Option<String> {
    let other =
        folder.file_name().filter(|name| *name == "0").map(|_| folder.with_file_name("1"))?;
    is_model(&other).then_some(())?;
    let (read, other) = (shown(folder), shown(&other));
    Some(format!("{read} is read, and not {other}, which holds other images of the data set"))
}

/// The test views that a list beside the model names.
fn test_list(folder: &Path, names: &[String]) -> Option<ViewSplit> {
    let (test, _) = listed(&folder.join(TEST_LIST), names)?;
    let train = (0..names.len()).filter(|index| test.binary_search(index).is_err()).collect();
    Some(ViewSplit { train, test, is_optional: true, ..ViewSplit::default() })
}

/// The views that the lists of nerfstudio in the folder of the data set name, and warnings about lists with other names.
/// If there is one list, the parts without a list are empty, since nerfstudio then refuses them.
fn nerfstudio_lists(folder: &Path, names: &[String]) -> (Option<ViewSplit>, Vec<String>) {
    let of_data = |data: &Path| {
        let lists = NERFSTUDIO_LISTS.map(|list| data.join(list));
        let read = lists.each_ref().map(|list| listed(list, names));
        read.iter().any(Option::is_some).then_some((lists, read))
    };
    let Some((lists, read)) = folder.ancestors().take(MODEL_DEPTH + 1).find_map(of_data) else {
        return (None, Vec::new());
    };
    let unknown = lists.iter().zip(&read).filter_map(|(list, read)| {
        let (_, unknown) = read.as_ref()?;
        let first = unknown.first()?;
        Some(format!(
            "{} names {} pictures that are no image of the model, such as {first}",
            shown(list),
            unknown.len()
        ))
    });
    let unknown = unknown.collect();
    let [train, val, test] = read.map(|read| read.map(|(found, _)| found).unwrap_or_default());
    (Some(ViewSplit { train, val, test, is_optional: true }), unknown)
}

/// Indices of the names in the list at `path`, one per line, and lines with other names; `None` without such a file.
fn listed(path: &Path, names: &[String]) -> Option<(Vec<usize>, Vec<String>)> {
    let bytes = path.is_file().then(|| FileBytes::open(path).ok()).flatten()?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: HashSet<&str> =
        text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let found = (0..names.len()).filter(|index| lines.contains(names[*index].as_str())).collect();
    let known: HashSet<&str> = names.iter().map(String::as_str).collect();
    let mut unknown: Vec<String> =
        lines.difference(&known).map(|name| (*name).to_owned()).collect();
    unknown.sort();
    Some((found, unknown))
}

fn camera(path: &Path, image: &PosedImage, lenses: &Lenses) -> Result<Camera> {
    let wrong = |what: &str, expected: &str, found: String| {
        Error::malformed(path, format!("{}: {what}", image.place), expected, found)
    };
    let lens = lenses.get(&image.camera_id).ok_or_else(|| {
        let expected = "the identifier of a camera in the cameras file";
        wrong("camera", expected, image.camera_id.to_string())
    })?;
    let [w, x, y, z] = image.quaternion;
    let rotation = UnitQuaternion::try_new(Quaternion::new(w, x, y, z), MIN_QUATERNION_NORM);
    let rotation = rotation.ok_or_else(|| {
        wrong("rotation", "a nonzero quaternion", format!("{:?}", image.quaternion))
    })?;
    let pose = (rotation.to_rotation_matrix().into_inner(), Vector3::from(image.translation));
    let view = names::of_picture(&image.name).to_owned();
    let camera = camera_at(path, &image.place, view, lens.intrinsics(), pose)?;
    let projection = lens.projection().map_err(|error| located(path, &image.place, error))?;
    Ok(camera.with_projection(projection))
}
