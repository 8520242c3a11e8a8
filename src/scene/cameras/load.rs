use std::collections::HashSet;
use std::path::Path;

use super::camera_file::CameraFile;
use super::camera_options::CameraOptions;
use super::json::JsonNode;
use super::world_transform::{self, CameraTransform, WorldTransform};
use super::{
    camera_path, colmap, exported_poses, foreign_json, inria_json, json, names, playcanvas,
    transforms,
};
use crate::formats::BYTES;
use quadrille_base::error::{Error, Result, shown};

/// Loads the cameras of `path`: a `cameras.json`, a `transforms.json`, a `camera_path.json`, poses of `ns-export cameras`,
/// a camera track of the `PlayCanvas` tools, a COLMAP sparse model (its folder, one of its files, or a data set that
/// contains `sparse/0`), or a folder with one of the JSON files, or with `transforms_train.json`, `_val` and `_test`, which
/// are read together. `-` is JSON on standard input.
///
/// ```no_run
/// let file = quadrille_scene::cameras::load("cameras.json")?;
/// file.warnings.iter().for_each(|warning| eprintln!("{warning}"));
/// println!("{} views, the first is {}", file.cameras.len(), file.cameras[0].name);
/// # Ok::<(), quadrille_base::Error>(())
/// ```
///
/// # Errors
/// [`Error::Read`] when the file cannot be read, [`Error::Malformed`] when its content does not follow
/// the format or it contains no camera, [`Error::Limit`] when a JSON file is larger than 256 MiB.
pub fn load(path: impl AsRef<Path>) -> Result<CameraFile> {
    load_with(path, &CameraOptions::default())
}

/// Loads cameras like [`load`], with `options` for values that the file lacks.
pub fn load_with(path: impl AsRef<Path>, options: &CameraOptions) -> Result<CameraFile> {
    let path = path.as_ref();
    with_unique_names(path, load_raw(path, options)?)
}

/// Loads cameras from the bytes of any JSON file that [`load`] reads. Errors call the source `<bytes>`.
pub fn load_bytes(bytes: &[u8], options: &CameraOptions) -> Result<CameraFile> {
    let path = Path::new(BYTES);
    with_unique_names(path, read_json_bytes(path, bytes, options)?)
}

/// Refuses a file without cameras, and makes names unique.
fn with_unique_names(path: &Path, mut file: CameraFile) -> Result<CameraFile> {
    Error::malformed_if(file.cameras.is_empty(), path, "cameras", "at least one camera", "none")?;
    names::make_unique(&mut file.cameras);
    Ok(file)
}

fn load_raw(path: &Path, options: &CameraOptions) -> Result<CameraFile> {
    if path.is_dir() {
        if let Some(model) = colmap::find_model(path) {
            return with_file(colmap::read(&model)?, options);
        }
        let json = ["cameras.json", "transforms.json"].map(|name| path.join(name));
        return match json.into_iter().find(|file| file.is_file()) {
            Some(file) => read_json(&file, options),
            None => read_parts(path, options),
        };
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    let is_model = extension.eq_ignore_ascii_case("bin") || extension.eq_ignore_ascii_case("txt");
    if is_model && (colmap::is_name_of_model(path) || colmap::is_model(folder)) {
        return with_file(colmap::read(folder)?, options);
    }
    read_json(path, options)
}

/// Reads the data set in `folder` whose parts are files of their own, as of Blender. Names that several parts have begin
/// with the part.
fn read_parts(folder: &Path, options: &CameraOptions) -> Result<CameraFile> {
    let mut all = CameraFile::default();
    let mut parts = Vec::new();
    for (name, _) in transforms::PART_FILES {
        let path = folder.join(name);
        if path.is_file() {
            let file = read_json(&path, options)?;
            let part = name.trim_start_matches("transforms_").trim_end_matches(".json");
            parts.extend(std::iter::repeat_n(part, file.cameras.len()));
            all.append(file);
        }
    }
    if parts.is_empty() {
        return Err(Error::malformed(
            folder,
            "folder",
            "a COLMAP model (cameras and images, .bin or .txt; also in sparse/0), cameras.json, transforms.json or \
             transforms_train.json",
            "none of them",
        ));
    }
    let names: HashSet<&str> = all.cameras.iter().map(|camera| camera.name.as_str()).collect();
    if names.len() < all.cameras.len() {
        for (camera, part) in all.cameras.iter_mut().zip(parts) {
            camera.name = format!("{part}_{}", camera.name);
        }
    }
    Ok(all)
}

fn read_json(path: &Path, options: &CameraOptions) -> Result<CameraFile> {
    read_json_bytes(path, &json::read_bounded(path)?, options)
}

fn read_json_bytes(path: &Path, bytes: &[u8], options: &CameraOptions) -> Result<CameraFile> {
    let value = json::parse(path, bytes)?;
    let root = JsonNode::root(path, &value);
    if let Some(error) = foreign_json::of_json(&root) {
        return Err(error);
    }
    if value.is_array() {
        return match exported_poses::is_export(&root)? {
            true => {
                refuse_transform(path, options)?;
                exported_poses::read(&root, options)
            }
            false => with_transform(inria_json::read(&root)?, &root, options),
        };
    }
    if root.get(camera_path::FRAMES_KEY).is_some() {
        refuse_transform(path, options)?;
        return camera_path::read(&root);
    }
    if playcanvas::is_track(&root) {
        refuse_transform(path, options)?;
        return playcanvas::read(&root, options);
    }
    with_transform(transforms::read(&root, options.fallback_size_px)?, &root, options)
}

/// Refuses a transform for files whose cameras are already in the scene's world.
fn refuse_transform(path: &Path, options: &CameraOptions) -> Result<()> {
    match options.transform {
        CameraTransform::Found | CameraTransform::Identity => Ok(()),
        CameraTransform::Undo | CameraTransform::File(_) => {
            let expected = "none for cameras that are in the world of the trained scene already";
            Err(Error::argument("transform", expected, shown(path)))
        }
    }
}

/// Moves the cameras of a COLMAP model by a [`CameraTransform::File`]; other transforms do not apply to it.
fn with_file(file: CameraFile, options: &CameraOptions) -> Result<CameraFile> {
    match &options.transform {
        CameraTransform::File(path) => Ok(moved(file, &WorldTransform::of_file(path)?)),
        _ => Ok(file),
    }
}

/// Moves the cameras of a JSON file to the world of the scene.
///
/// By default only a `transforms.json` is moved: trainers write the other formats in COLMAP's or the trained world.
fn with_transform(
    mut file: CameraFile,
    root: &JsonNode,
    options: &CameraOptions,
) -> Result<CameraFile> {
    let applied = WorldTransform::applied(root)?;
    let is_transforms = root.get("frames").is_some();
    let beside = || {
        let files = [Some(root.path), options.scene.as_deref()];
        world_transform::find_beside(files.into_iter().flatten())
    };
    let found = match &options.transform {
        CameraTransform::Identity => return Ok(file),
        CameraTransform::Undo => {
            let applied = applied.ok_or_else(|| world_transform::nothing_to_undo(root.path))?;
            return Ok(moved(file, &applied.inverse()));
        }
        CameraTransform::File(path) => Some(path.clone()),
        CameraTransform::Found if is_transforms => beside(),
        CameraTransform::Found => None,
    };
    let Some(path) = found else {
        if applied.is_some() {
            file.warnings.push(format!(
                "{}: the cameras keep the file's applied_transform, since no dataparser_transforms.json lies beside \
                 it: they fit neither a scene trained on the COLMAP model (transform: undo) nor a scene that \
                 nerfstudio exported (transform: the path of its dataparser_transforms.json)",
                shown(root.path)
            ));
        }
        return Ok(file);
    };
    let stored = WorldTransform::of_file(&path)?;
    file.remarks.push(format!(
        "{}: the cameras are moved to the world in which nerfstudio trained, by {}{}",
        shown(root.path),
        shown(&path),
        match applied {
            Some(_) => " without the file's applied_transform, which it contains",
            None => "",
        }
    ));
    let world = match &applied {
        Some(applied) => stored.after_applied(applied),
        None => stored,
    };
    Ok(moved(file, &world))
}

fn moved(mut file: CameraFile, world: &WorldTransform) -> CameraFile {
    for camera in &mut file.cameras {
        *camera = world.moved(camera);
    }
    file
}
