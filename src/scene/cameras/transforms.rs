//! `transforms.json` of nerfstudio, instant-ngp and Blender's exporters.
//!
//! Each frame has a camera-to-world `transform_matrix` (4x4 or 3x4) in OpenGL axes: x right, y up, z *back*. Intrinsics
//! are in the frame or at the top: `fl_x`, `fl_y`, `cx`, `cy`, `w`, `h`, or the calibration matrix `K`, or
//! `camera_angle_x` in radians or `x_fov` in degrees without a size, which is then the size of the picture beside the file.
//!
//! ScanNet++ has its test views in `test_frames`, and marks frames as `is_bad`, such as blurred ones.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::camera_file::{
    CameraFile, NamedCamera, ViewSplit, camera_at, distorted, distortion_remark, fisheye, located,
    panorama_intrinsics, shown_name, view_from_opengl, view_name,
};
use super::json::JsonNode;
use super::names;
use super::view_list::plain_path;
use crate::camera::Intrinsics;
use crate::formats::BYTES;
use quadrille_base::error::{Result, shown};
use quadrille_base::image::files;
use quadrille_base::lens::{DistortionModel, Projection};

/// Default size of files with only an angle of view, as in Blender's synthetic scenes (NeRF, section 6).
const BLENDER_SIZE_PX: [u32; 2] = [800, 800];

const DISTORTION_KEYS: [&str; 8] = ["k1", "k2", "p1", "p2", "k3", "k4", "sx1", "sy1"];

const PERSPECTIVE_MODELS: [&str; 6] =
    ["PINHOLE", "SIMPLE_PINHOLE", "SIMPLE_RADIAL", "RADIAL", "OPENCV", "PERSPECTIVE"];

/// Fisheyes, distorted by a polynomial of the angle and perhaps by tangential terms.
const FISHEYE_MODELS: [&str; 6] = [
    "OPENCV_FISHEYE",
    "FISHEYE",
    "SIMPLE_RADIAL_FISHEYE",
    "RADIAL_FISHEYE",
    "THIN_PRISM_FISHEYE",
    UNREAD_FISHEYE,
];

const PANORAMA_MODELS: [&str; 1] = ["EQUIRECTANGULAR"];

/// Fisheye whose distortion has keys of its own.
const UNREAD_FISHEYE: &str = "FISHEYE624";

/// Frames for tests of ScanNet++.
const TEST_FRAMES: &str = "test_frames";

/// Names of the files of a data set whose parts are files of their own, and the part of each.
pub(super) const PART_FILES: [(&str, PartOf); 3] = [
    ("transforms_train.json", |split| &mut split.train),
    ("transforms_val.json", |split| &mut split.val),
    ("transforms_test.json", |split| &mut split.test),
];

type PartOf = fn(&mut ViewSplit) -> &mut Vec<usize>;

pub(crate) fn read(root: &JsonNode, fallback_size_px: Option<[u32; 2]>) -> Result<CameraFile> {
    let frames = root
        .get("frames")
        .ok_or_else(|| root.error("an array of cameras, or an object with \"frames\""))?;
    let mut sizes_assumed = 0_u64;
    let mut unread = 0_u64;
    let mut read = |index: usize, frame: &JsonNode| {
        let scope = FrameScope { root, frame };
        if let Some(mark) = frame.get("is_bad").filter(JsonNode::is_true) {
            return Err(mark.error("a frame that the data set does not mark as bad"));
        }
        let lens = scope.lens()?;
        unread += u64::from(scope.is_unread_fisheye()?);
        let in_file = match frame.get("file_path") {
            Some(path) => path.text()?,
            None => view_name(index),
        };
        let size = match scope.size()? {
            Some(size) => size,
            None => match picture_size(root.path, &in_file) {
                Some(size) => size,
                None => {
                    sizes_assumed += u64::from(fallback_size_px.is_none());
                    scope.size_from(fallback_size_px.unwrap_or(BLENDER_SIZE_PX))?
                }
            },
        };
        let intrinsics = match lens {
            Projection::Equirectangular => panorama_intrinsics(size),
            _ => scope.intrinsics(size)?,
        };
        let pose = view_from_opengl(&frame.member("transform_matrix")?.rows(3..=4)?);
        let name = names::of_last_component(&in_file).to_owned();
        let camera = camera_at(frame.path, &frame.place, name, intrinsics, pose)?;
        Ok(NamedCamera { camera: camera.with_projection(lens), in_file })
    };
    let mut all: Vec<JsonNode> = frames.items()?.collect();
    let train = all.len();
    let test = root.get(TEST_FRAMES);
    if let Some(test) = &test {
        all.extend(test.items()?);
    }
    let cameras = all
        .iter()
        .enumerate()
        .map(|(index, frame)| (shown_name(frame, "file_path", index), read(index, frame)));
    let mut file = CameraFile::of(root.path, cameras)?;
    file.warnings.extend(warnings(root, sizes_assumed, unread));
    let projections = file.cameras.iter().map(|camera| camera.projection);
    file.remarks.extend(distortion_remark(root.path, projections));
    file.warnings.extend(unread_frames(root));
    let name = root.path.file_name().unwrap_or_default();
    let part = PART_FILES.iter().find(|(file, _)| name == *file);
    file.split = match (test, part) {
        (Some(_), _) => Some(ViewSplit {
            train: (0..train).collect(),
            test: (train..all.len()).collect(),
            ..ViewSplit::default()
        }),
        (None, Some((_, part))) => Some(ViewSplit::of_one(all.len(), *part)),
        (None, None) => listed_split(root, &mut file)?,
    };
    Ok(file)
}

/// Split by lists of file names, as in data sets of nerfstudio. Names that no frame has give a warning.
fn listed_split(root: &JsonNode, file: &mut CameraFile) -> Result<Option<ViewSplit>> {
    let in_file: Vec<String> =
        file.all_names_in_file().iter().map(|name| plain_path(name)).collect();
    let known: HashSet<&String> = in_file.iter().collect();
    let mut split = ViewSplit::default();
    let mut is_stated = false;
    let lists: [(&str, PartOf); 3] = [
        ("train_filenames", |split| &mut split.train),
        ("val_filenames", |split| &mut split.val),
        ("test_filenames", |split| &mut split.test),
    ];
    for (key, part) in lists {
        let Some(list) = root.get(key) else { continue };
        is_stated = true;
        let names = list.items()?.map(|name| name.text().map(|name| plain_path(&name)));
        let names: HashSet<String> = names.collect::<Result<_>>()?;
        let is_listed = |index: &usize| names.contains(&in_file[*index]);
        *part(&mut split) = (0..in_file.len()).filter(is_listed).collect();
        let missing = names.iter().filter(|name| !known.contains(name));
        if let Some(first) = missing.clone().min() {
            file.warnings.push(format!(
                "{}: {} of the {} names in {key} are of no frame, such as {first:?}",
                shown(root.path),
                missing.count(),
                names.len(),
            ));
        }
    }
    Ok(is_stated.then_some(split))
}

/// Warnings about members that hold frames and are not read.
fn unread_frames(root: &JsonNode) -> Vec<String> {
    let others = root.members().filter(|(key, _)| *key != "frames" && *key != TEST_FRAMES);
    let held = others.filter_map(|(key, node)| {
        let mut items = node.items().ok()?;
        let count = items.len();
        items.next()?.get("transform_matrix")?;
        let path = shown(root.path);
        Some(format!("{path}: the {count} frames in \"{key}\" are not read, only \"frames\" and \"{TEST_FRAMES}\""))
    });
    held.collect()
}

/// Size of the picture of a frame, relative to the folder of the file. Frames of Blender have no extension.
fn picture_size(path: &Path, in_file: &str) -> Option<[u32; 2]> {
    if path == Path::new(BYTES) || path == Path::new("-") {
        return None;
    }
    let picture = path.parent()?.join(in_file);
    let extensions = ["", ".png", ".jpg", ".jpeg", ".JPG"];
    let mut candidates = extensions.iter().map(|extension| {
        let mut name = picture.clone().into_os_string();
        name.push(extension);
        PathBuf::from(name)
    });
    files::size_of(&candidates.find(|picture| picture.is_file())?).ok()
}

fn warnings(root: &JsonNode, sizes_assumed: u64, unread: u64) -> Vec<String> {
    let mut warnings = Vec::new();
    if sizes_assumed > 0 {
        let (path, [w, h]) = (shown(root.path), BLENDER_SIZE_PX);
        warnings.push(format!(
            "{path}: the picture size (w, h) is missing in {sizes_assumed} of the frames; {w} x {h} pixels are assumed (width and height set another size)"
        ));
    }
    if unread > 0 {
        warnings.push(format!(
            "{}: the distortion of {unread} {UNREAD_FISHEYE} frames is not read; they are drawn as equidistant fisheyes",
            shown(root.path)
        ));
    }
    warnings
}

/// Lookup of keys in a frame, and in the top level for keys that the frame lacks.
struct FrameScope<'a> {
    root: &'a JsonNode<'a>,
    frame: &'a JsonNode<'a>,
}

impl<'a> FrameScope<'a> {
    fn find(&self, key: &str) -> Option<JsonNode<'a>> {
        self.frame.get(key).or_else(|| self.root.get(key))
    }

    fn number(&self, key: &str) -> Result<Option<f64>> {
        self.find(key).map(|node| node.number()).transpose()
    }

    fn model(&self) -> Result<Option<String>> {
        let name = self.find("camera_model").map(|model| model.text()).transpose()?;
        Ok(name.map(|name| name.to_uppercase()))
    }

    fn is_unread_fisheye(&self) -> Result<bool> {
        Ok(self.model()?.is_some_and(|name| name == UNREAD_FISHEYE))
    }

    fn lens(&self) -> Result<Projection> {
        let model = self.model()?;
        let is_in = |models: &[&str]| model.as_deref().is_some_and(|name| models.contains(&name));
        let is_fisheye = self.find("is_fisheye").is_some_and(|flag| flag.is_true());
        let lens = if is_fisheye || is_in(&FISHEYE_MODELS) {
            let [k1, k2, p1, p2, k3, k4, sx1, sy1] = match self.is_unread_fisheye()? {
                true => Default::default(),
                false => self.distortion()?,
            };
            match [p1, p2, sx1, sy1] == [0.0; 4] {
                true => fisheye([k1, k2, k3, k4]),
                false => distorted(
                    DistortionModel::ThinPrismFisheye,
                    &[k1, k2, p1, p2, k3, k4, sx1, sy1],
                ),
            }
        } else if is_in(&PANORAMA_MODELS) {
            Ok(Projection::Equirectangular)
        } else if model.is_none() || is_in(&PERSPECTIVE_MODELS) {
            self.perspective()
        } else {
            let expected = "a perspective, fisheye or equirectangular camera model (undistort the photographs of others)";
            let model = self.find("camera_model");
            return Err(model.as_ref().unwrap_or(self.frame).error(expected));
        };
        lens.map_err(|error| located(self.frame.path, &self.frame.place, error))
    }

    fn perspective(&self) -> Result<Projection> {
        let [k1, k2, p1, p2, k3, k4, ..] = self.distortion()?;
        if k4 != 0.0 {
            let node = self.find("k4");
            return Err(node
                .as_ref()
                .unwrap_or(self.frame)
                .error("a k4 of 0, as nerfstudio asks of perspective cameras"));
        }
        match [k1, k2, p1, p2, k3] {
            [0.0, 0.0, 0.0, 0.0, 0.0] => Ok(Projection::Pinhole),
            all => distorted(DistortionModel::OpenCv, &all),
        }
    }

    /// Coefficients by [`DISTORTION_KEYS`].
    fn distortion(&self) -> Result<[f64; DISTORTION_KEYS.len()]> {
        let mut values = [0.0; DISTORTION_KEYS.len()];
        for (value, key) in values.iter_mut().zip(DISTORTION_KEYS) {
            *value = self.number(key)?.unwrap_or(0.0);
        }
        Ok(values)
    }

    fn size(&self) -> Result<Option<[u32; 2]>> {
        match (self.find("w"), self.find("h")) {
            (Some(w), Some(h)) => Ok(Some([w.pixels()?, h.pixels()?])),
            (None, None) => Ok(None),
            (Some(_), None) => Err(self.frame.error("a height \"h\" beside the width \"w\"")),
            (None, Some(_)) => Err(self.frame.error("a width \"w\" beside the height \"h\"")),
        }
    }

    /// Returns `fallback`, unless the file has intrinsics in pixels, which require a size.
    fn size_from(&self, fallback: [u32; 2]) -> Result<[u32; 2]> {
        match ["fl_x", "fl_y", "cx", "cy", "K"].iter().find(|key| self.find(key).is_some()) {
            Some(key) => Err(self
                .frame
                .error(&format!("a picture size \"w\" and \"h\", since \"{key}\" is in pixels"))),
            None => Ok(fallback),
        }
    }

    fn intrinsics(&self, [width, height]: [u32; 2]) -> Result<Intrinsics> {
        let sides = [f64::from(width), f64::from(height)];
        let focal = |[in_px, as_angle, in_degrees]: [&str; 3], side: f64| {
            let angle = self.number(as_angle)?;
            let degrees = self.number(in_degrees)?.map(f64::to_radians);
            Ok(self
                .number(in_px)?
                .or(angle.or(degrees).map(|angle| side / (2.0 * (angle / 2.0).tan()))))
        };
        if let Some(matrix) = self.find("K") {
            let [[x, skew, cx], [_, y, cy], _]: [[f64; 3]; 3] = matrix.rows(3..=3)?;
            if skew != 0.0 {
                return Err(matrix.error("a calibration matrix without skew"));
            }
            return Ok(Intrinsics { width, height, focal_px: [x, y], principal_px: [cx, cy] });
        }
        let x = focal(["fl_x", "camera_angle_x", "x_fov"], sides[0])?;
        let y = focal(["fl_y", "camera_angle_y", "y_fov"], sides[1])?;
        // One focal length serves both axes: pixels are square.
        let (Some(x), Some(y)) = (x.or(y), y.or(x)) else {
            return Err(self.frame.error(
                "a focal length \"fl_x\" in pixels, \"camera_angle_x\" in radians or a calibration matrix \"K\", here or at the top level",
            ));
        };
        Ok(Intrinsics {
            width,
            height,
            focal_px: [x, y],
            principal_px: [
                self.number("cx")?.unwrap_or(sides[0] / 2.0),
                self.number("cy")?.unwrap_or(sides[1] / 2.0),
            ],
        })
    }
}
