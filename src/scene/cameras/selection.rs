use std::collections::HashSet;
use std::path::Path;

use super::camera_file::{CameraFile, ViewSplit};
use super::camera_options::CameraOptions;
use super::load::load_with;
use super::names;
use super::picture_size::PictureSize;
use super::view_list::{SplitSource, ViewNames};
use crate::camera::Camera;
use quadrille_base::error::Result;

/// Loads the cameras of `path` that `views` selects (see [`select`]), with pictures of `size`. Returns warnings too.
pub fn load_views(
    path: &Path,
    views: &str,
    size: PictureSize,
) -> Result<(Vec<Camera>, Vec<String>)> {
    let (mut file, reshaped) = load_selected(path, views, size, CameraOptions::default())?;
    file.warnings.extend(reshaped);
    Ok((file.cameras, file.warnings))
}

/// Loads the cameras of `path` that `views` selects, with pictures of `size`, which is also the fallback for
/// files without a picture size unless `options` has one. A view can also be selected by its exact name in the
/// file. The returned text says how `size` changes the field of view, if it does.
pub(super) fn load_selected(
    path: &Path,
    views: &str,
    size: PictureSize,
    mut options: CameraOptions,
) -> Result<(CameraFile, Option<String>)> {
    let both = size.width.zip(size.height).map(|(w, h)| [w, h]);
    options.fallback_size_px = options.fallback_size_px.or(both);
    let mut file = load_with(path, &options)?;
    file.select(views)?;
    let reshaped = file.cameras.first().and_then(|camera| size.reshaping(camera));
    file.cameras = file.cameras.iter().map(|camera| size.apply(camera)).collect::<Result<_>>()?;
    Ok((file, reshaped))
}

impl CameraFile {
    /// Keeps the cameras that `views` selects, in the syntax of [`select`]. A view can also be selected by its exact name
    /// in the file. `test`, `train` and `val` follow the split that the file states; else every eighth view by name is for
    /// tests, as in the 3DGS trainer and gsplat. `test:RULE` names another rule: `inria`, `gsplat`, `nerfstudio`, a step
    /// such as `10`, the share of the views for training such as `0.9`, or `list` for the `test.txt` of a COLMAP model.
    ///
    /// # Errors
    /// Errors of [`select`], an error if no view is selected, and the error of a camera that is left out if no other one is
    /// selected.
    pub fn select(&mut self, views: &str) -> Result<()> {
        let chosen = chosen_views(self, views)?;
        let in_file = &self.names_in_file;
        self.names_in_file = chosen.iter().map(|&[at, _]| in_file[at].clone()).collect();
        let cameras = &self.cameras;
        self.cameras = chosen.iter().map(|&[at, _]| cameras[at].clone()).collect();
        self.indices = chosen.iter().map(|&[_, index]| index).collect();
        Ok(())
    }
}

/// Place in the list of cameras and index in the file of each camera that `views` selects. Refused cameras have an index
/// too, but are skipped if others are selected.
fn chosen_views(file: &mut CameraFile, views: &str) -> Result<Vec<[usize; 2]>> {
    let mut names: Vec<&str> = file.cameras.iter().map(|c| c.name.as_str()).collect();
    let in_file = file.all_names_in_file();
    let mut numbers: Vec<Option<usize>> = (0..names.len()).map(Some).collect();
    for refused in &file.refused {
        names.insert(refused.index, names::of_picture(&refused.name_in_file));
        numbers.insert(refused.index, None);
    }
    let split = SplitSource::File {
        stated: file.split.as_ref(),
        nerfstudio: file.nerfstudio_split.as_ref(),
        image_ids: &file.image_ids,
    };
    let all = ViewNames { names: &names, in_file: &in_file, split };
    let listed = all.selected(views)?;
    if all.is_split_by_name(views) {
        let optional = file.split.as_ref().filter(|split| split.is_optional);
        let warnings = split_warnings(&in_file, optional);
        file.warnings.extend(warnings);
    }
    let drawn: Vec<_> = listed.iter().filter_map(|&index| Some([numbers[index]?, index])).collect();
    match listed.first().filter(|_| drawn.is_empty()) {
        None => Ok(drawn),
        Some(&first) => {
            let refused = file.refused.iter().position(|refused| refused.index == first);
            Err(file.refused.swap_remove(refused.unwrap_or(0)).error)
        }
    }
}

/// Warnings about a split by the names of the views.
fn split_warnings(in_file: &[String], split: Option<&ViewSplit>) -> Vec<String> {
    let mut names = HashSet::new();
    let repeated = in_file.iter().find(|name| !names.insert(name.as_str()));
    let repeated = repeated.map(|name| {
        format!(
            "the name \"{name}\" occurs twice, so that the split by names differs from the trainer's: the original trainer \
             writes the test views of a Blender data set before the training views of the same names (--cameras with \
             the folder of the data set reads its own split)"
        )
    });
    let listed = split.map(|split| {
        format!(
            "test.txt beside the model lists {} test views, which the original trainer reads only with llffhold = 0; \
             every Nth view by name is taken (--view test:list takes the list)",
            split.test.len()
        )
    });
    repeated.into_iter().chain(listed).collect()
}

/// Selects cameras by `view`, a list separated by commas. Its items are an index from 0, a name, a range `A..B` (B
/// excluded, either may be omitted), a range with a step `A..B:N`, and `all`, unless a view has that name. A plain whole
/// number is always an index. Cameras come in the order of the list, each once.
///
/// # Errors
/// [`Error::Argument`](quadrille_base::Error::Argument) for other items, and for parts of a split, which only camera files
/// have ([`CameraFile::select`]).
pub fn select(cameras: Vec<Camera>, view: &str) -> Result<Vec<Camera>> {
    let names: Vec<&str> = cameras.iter().map(|c| c.name.as_str()).collect();
    let chosen =
        ViewNames { names: &names, in_file: &[], split: SplitSource::None }.selected(view)?;
    let mut cameras: Vec<_> = cameras.into_iter().map(Some).collect();
    Ok(chosen.iter().filter_map(|&i| cameras[i].take()).collect())
}
