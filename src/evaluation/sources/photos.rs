//! Views of a scene, and the photos that it was trained on.

use std::path::{Path, PathBuf};

use super::{fitted, scene_hash, turned, with_files, with_text};
use crate::evaluator::{LoadedPair, PairSource};
use crate::pairing::PairName;
use crate::picture_folder::PictureFolder;
use quadrille_base::image::Frame;
use quadrille_base::image::exposure::exposed;
use quadrille_base::image::files;
use quadrille_base::image::orientation::check_proportions;
use quadrille_base::{Error, Result, Task};
use quadrille_render::Sight;
use quadrille_render::cpu::{RenderSettings, Renderer};
use quadrille_scene::cameras::{Exposures, Views};
use quadrille_scene::{Camera, Splats};

/// Treatment of a photo whose size differs from the picture of its view.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PhotoSizes {
    /// The pair is not compared.
    #[default]
    Equal,
    /// The photo is resized to the size of the picture.
    ResizePhotos,
    /// The view is drawn in the size of the photo.
    DrawAtPhotos,
}

/// Settings with which the views of a scene are drawn beside their photos.
#[derive(Debug, Clone, Default)]
pub struct PhotoSettings {
    /// Settings of the renderer.
    pub render: RenderSettings,
    /// Colour behind the scene, in sRGB.
    pub background: [f32; 3],
    /// Exposures that were learned for the photos.
    pub exposures: Option<Exposures>,
    /// Treatment of photos of other sizes than their views.
    pub sizes: PhotoSizes,
}

/// Pictures of a scene, and photos with the names of their views.
pub struct ScenePhotos<'a> {
    splats: &'a Splats,
    settings: PhotoSettings,
    cameras: Vec<Camera>,
    photos: Vec<PathBuf>,
    names: Vec<PairName>,
    renderer: Renderer,
    warnings: Vec<String>,
    /// Hash of the scene and the settings, if pairs have fingerprints.
    hash: Option<u64>,
}

impl<'a> ScenePhotos<'a> {
    /// Pairs the views of a scene, read from `scene`, with the photos in `folder`. Also returns the names of the views
    /// without a photo. `has_fingerprints` costs another pass over the files of the scene.
    ///
    /// # Errors
    /// Errors of reading, and [`Error::Malformed`] if no view has a photo.
    pub fn new(
        scene: &Path,
        splats: &'a Splats,
        views: &Views,
        folder: &Path,
        settings: PhotoSettings,
        has_fingerprints: bool,
    ) -> Result<(Self, Vec<String>)> {
        let all = PictureFolder::open(folder)?;
        let found = all.of_views(views)?;
        let (mut cameras, mut photos, mut names, mut missing) = (vec![], vec![], vec![], vec![]);
        for (camera, photo) in views.cameras.iter().zip(found) {
            let Some(photo) = photo else {
                missing.push(camera.name.clone());
                continue;
            };
            names.push(PairName {
                name: camera.name.clone(),
                a: scene.display().to_string(),
                b: photo.display().to_string(),
            });
            cameras.push(camera.clone());
            photos.push(photo);
        }
        if cameras.is_empty() {
            let expected = format!(
                "photos with the names of the views, such as {}",
                missing.first().map_or("none", String::as_str)
            );
            let found = match all.first_view() {
                Some(name) => format!(
                    "{} pictures with other names, such as {name} (photos are found by name, not by order)",
                    all.view_count()
                ),
                None => "no picture".to_owned(),
            };
            return Err(Error::malformed(folder, "folder", expected, found));
        }
        let hash = match has_fingerprints {
            true => Some(with_text(scene_hash(scene)?, &format!("{settings:?}"))),
            false => None,
        };
        let source = Self {
            splats,
            settings,
            cameras,
            photos,
            names,
            renderer: Renderer::default(),
            warnings: Vec::new(),
            hash,
        };
        Ok((source, missing))
    }

    fn photo_and_camera(&mut self, at: usize) -> Result<(Frame, Camera)> {
        let (path, camera) = (&self.photos[at], &self.cameras[at]);
        let size = [camera.width, camera.height];
        let (photo, values, warning) = turned(path, files::read_photo(path)?, size);
        self.warnings.extend(warning);
        let own = [photo.width(), photo.height()];
        match self.settings.sizes {
            _ if own == size => Ok((photo, camera.clone())),
            PhotoSizes::ResizePhotos => Ok((fitted(path, photo, size, values)?, camera.clone())),
            PhotoSizes::DrawAtPhotos => {
                check_proportions(path, own, size)?;
                Ok((photo, camera.resized(own[0], own[1])?))
            }
            PhotoSizes::Equal => {
                let expected = format!(
                    "{} x {} pixels as its camera has (--photo-size draws views in the sizes of their photos, \
                     --resize resizes the photos, --picture-scale the pictures)",
                    size[0], size[1]
                );
                let found = format!("{} x {}", own[0], own[1]);
                Err(Error::malformed(path, "picture size", expected, found))
            }
        }
    }
}

impl PairSource for ScenePhotos<'_> {
    fn pairs(&self) -> &[PairName] {
        &self.names
    }

    fn load(&mut self, at: usize, task: &Task) -> Result<LoadedPair> {
        let (photo, camera) = self.photo_and_camera(at)?;
        let mut frame = Frame::new(1, 1);
        let settings = &self.settings.render;
        let (counts, _) =
            self.renderer.render_into(&mut frame, self.splats, &camera, settings, task)?;
        match Sight::of(counts.splats_in_frustum, self.splats, &camera, &settings.profile) {
            Sight::Nothing(warning) => return Ok(LoadedPair::Blank(warning)),
            Sight::Little(warning) => self.warnings.push(warning),
            Sight::Enough => {}
        }
        if let Some(exposures) = &self.settings.exposures {
            match exposures.of(&camera.name) {
                Some(rows) => frame = exposed(&frame.over(self.settings.background), rows),
                None => self.warnings.push(format!(
                    "view \"{}\": {} has no exposure for it",
                    camera.name,
                    quadrille_base::error::shown(exposures.file())
                )),
            }
        }
        Ok(LoadedPair::Pictures([frame, photo]))
    }

    fn fingerprint(&self, at: usize) -> Result<Option<u64>> {
        let Some(hash) = self.hash else { return Ok(None) };
        let hash = with_text(hash, &format!("{:?}", self.cameras[at]));
        with_files(hash, [self.photos[at].as_path()]).map(Some)
    }

    fn has_independent_pairs(&self) -> bool {
        true
    }

    fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }
}
