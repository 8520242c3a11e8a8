//! Views of two scenes.

use std::path::Path;

use super::{scene_hash, with_text};
use crate::evaluator::PairSource;
use crate::pairing::PairName;
use quadrille_base::image::Frame;
use quadrille_base::{Result, Task};
use quadrille_render::cpu::{RenderSettings, Renderer};
use quadrille_scene::{Camera, Splats};

/// Pictures of two scenes from the same views.
pub struct Scenes<'a> {
    scenes: [&'a Splats; 2],
    settings: [RenderSettings; 2],
    cameras: &'a [Camera],
    names: Vec<PairName>,
    renderers: [Renderer; 2],
    /// Hash of both scenes and their settings, if pairs have fingerprints.
    hash: Option<u64>,
}

impl<'a> Scenes<'a> {
    /// Creates the source of pictures of `scenes`, read from `paths`, each with its own settings. `has_fingerprints` costs
    /// another pass over the files of both scenes.
    pub fn new(
        paths: [&Path; 2],
        scenes: [&'a Splats; 2],
        settings: [RenderSettings; 2],
        cameras: &'a [Camera],
        has_fingerprints: bool,
    ) -> Result<Self> {
        let names = cameras.iter().map(|camera| PairName {
            name: camera.name.clone(),
            a: paths[0].display().to_string(),
            b: paths[1].display().to_string(),
        });
        let hash = match has_fingerprints {
            true => {
                let [a, b] = [scene_hash(paths[0])?, scene_hash(paths[1])?];
                Some(with_text(a, &format!("{b} {:?}", settings.map(|s| s.profile))))
            }
            false => None,
        };
        Ok(Self {
            names: names.collect(),
            scenes,
            settings,
            cameras,
            renderers: Default::default(),
            hash,
        })
    }
}

impl PairSource for Scenes<'_> {
    fn pairs(&self) -> &[PairName] {
        &self.names
    }

    fn load(&mut self, at: usize, task: &Task) -> Result<[Frame; 2]> {
        let mut frames = [Frame::new(1, 1), Frame::new(1, 1)];
        let scenes = self.renderers.iter_mut().zip(self.scenes).zip(&self.settings);
        for (frame, ((renderer, splats), settings)) in frames.iter_mut().zip(scenes) {
            renderer.render_into(frame, splats, &self.cameras[at], settings, task)?;
        }
        Ok(frames)
    }

    fn fingerprint(&self, at: usize) -> Result<Option<u64>> {
        let camera = format!("{:?}", self.cameras[at]);
        Ok(self.hash.map(|hash| with_text(hash, &camera)))
    }

    fn has_independent_pairs(&self) -> bool {
        false
    }
}
