//! Views of the scenes of two sequences.

use std::cell::Cell;
use std::path::PathBuf;

use super::scenes::PairDrawing;
use super::{scene_hash, with_text};
use crate::evaluator::{LoadedPair, PairSource};
use crate::pairing::PairName;
use quadrille_base::{Result, Task};
use quadrille_render::cpu::RenderSettings;
use quadrille_scene::{Camera, Scene};

/// Scenes of two sequences at one place, with the settings that each is drawn by.
pub type ScenePair = [(Scene, RenderSettings); 2];

/// Pictures of the scenes of two sequences from the same views, scene by scene.
pub struct SceneSequences<'a, L> {
    paths: [&'a [PathBuf]; 2],
    load: L,
    /// Scenes in memory, and their place in the sequences.
    loaded: Option<(usize, ScenePair)>,
    cameras: &'a [Camera],
    names: Vec<PairName>,
    drawing: PairDrawing,
    has_fingerprints: bool,
    /// Hash of the files of both scenes at a place.
    hash: Cell<Option<(usize, u64)>>,
}

impl<'a, L: FnMut(usize) -> Result<ScenePair>> SceneSequences<'a, L> {
    /// Creates the source of pictures of the scenes of `paths`, two sequences of one length. `first` are the scenes at the
    /// first place, and `load` reads those at another one.
    pub fn new(
        paths: [&'a [PathBuf]; 2],
        first: ScenePair,
        load: L,
        cameras: &'a [Camera],
        has_fingerprints: bool,
    ) -> Self {
        let count = paths[0].len();
        let digits = count.saturating_sub(1).to_string().len().max(4);
        let names = (0..count).flat_map(|at| {
            cameras.iter().map(move |camera| PairName {
                name: match cameras.len() {
                    1 => format!("frame_{at:0digits$}"),
                    _ => format!("frame_{at:0digits$}_{}", camera.name),
                },
                a: paths[0][at].display().to_string(),
                b: paths[1][at].display().to_string(),
            })
        });
        Self {
            names: names.collect(),
            paths,
            load,
            loaded: Some((0, first)),
            cameras,
            drawing: PairDrawing::default(),
            has_fingerprints,
            hash: Cell::new(None),
        }
    }
}

impl<L: FnMut(usize) -> Result<ScenePair>> PairSource for SceneSequences<'_, L> {
    fn pairs(&self) -> &[PairName] {
        &self.names
    }

    fn load(&mut self, at: usize, task: &Task) -> Result<LoadedPair> {
        let (place, view) = (at / self.cameras.len(), at % self.cameras.len());
        // The old scenes are dropped before others are read.
        let pair = match self.loaded.take().filter(|(loaded, _)| *loaded == place) {
            Some((_, pair)) => pair,
            None => (self.load)(place)?,
        };
        let (_, [(a, first), (b, second)]) = self.loaded.insert((place, pair));
        let scenes = [&a.splats, &b.splats];
        self.drawing.draw(scenes, [*first, *second], &self.cameras[view], task)
    }

    fn fingerprint(&self, at: usize) -> Result<Option<u64>> {
        if !self.has_fingerprints {
            return Ok(None);
        }
        let (place, view) = (at / self.cameras.len(), at % self.cameras.len());
        let hash = match self.hash.get().filter(|(known, _)| *known == place) {
            Some((_, hash)) => hash,
            None => {
                let [a, b] = self.paths.map(|paths| scene_hash(&paths[place]));
                with_text(a?, &b?.to_string())
            }
        };
        self.hash.set(Some((place, hash)));
        Ok(Some(with_text(hash, &format!("{:?}", self.cameras[view]))))
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
