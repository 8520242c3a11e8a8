//! Views of two scenes.

use std::path::Path;

use super::{scene_hash, with_text};
use crate::evaluator::{LoadedPair, PairSource};
use crate::pairing::PairName;
use quadrille_base::image::Frame;
use quadrille_base::{Result, Task};
use quadrille_render::Sight;
use quadrille_render::cpu::{RenderSettings, Renderer};
use quadrille_scene::{Camera, Splats};

/// Pictures of two scenes from the same views.
pub struct Scenes<'a> {
    scenes: [&'a Splats; 2],
    settings: [RenderSettings; 2],
    cameras: &'a [Camera],
    names: Vec<PairName>,
    drawing: PairDrawing,
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
            drawing: PairDrawing::default(),
            hash,
        })
    }
}

/// Renderers of two scenes, and warnings about the views that they drew.
#[derive(Default)]
pub(super) struct PairDrawing {
    renderers: [Renderer; 2],
    pub(super) warnings: Vec<String>,
}

impl PairDrawing {
    /// Draws a view of two scenes, unless the first one shows nothing.
    pub(super) fn draw(
        &mut self,
        scenes: [&Splats; 2],
        settings: [RenderSettings; 2],
        camera: &Camera,
        task: &Task,
    ) -> Result<LoadedPair> {
        let mut draw = |side: usize| {
            let (splats, settings) = (scenes[side], &settings[side]);
            let mut frame = Frame::new(1, 1);
            let renderer = &mut self.renderers[side];
            let (counts, _) = renderer.render_into(&mut frame, splats, camera, settings, task)?;
            Ok((frame, counts.splats_in_frustum))
        };
        let (first, in_view) = draw(0)?;
        match Sight::of(in_view, scenes[0], camera, &settings[0].profile) {
            Sight::Nothing(warning) => return Ok(LoadedPair::Blank(warning)),
            Sight::Little(warning) => self.warnings.push(warning),
            Sight::Enough => {}
        }
        Ok(LoadedPair::Pictures([first, draw(1)?.0]))
    }
}

impl PairSource for Scenes<'_> {
    fn pairs(&self) -> &[PairName] {
        &self.names
    }

    fn load(&mut self, at: usize, task: &Task) -> Result<LoadedPair> {
        self.drawing.draw(self.scenes, self.settings, &self.cameras[at], task)
    }

    fn fingerprint(&self, at: usize) -> Result<Option<u64>> {
        let camera = format!("{:?}", self.cameras[at]);
        Ok(self.hash.map(|hash| with_text(hash, &camera)))
    }

    fn has_independent_pairs(&self) -> bool {
        false
    }

    fn original(&self) -> usize {
        0
    }

    fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.drawing.warnings)
    }
}
