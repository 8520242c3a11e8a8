//! Sequences: scenes over time, of which all pages see one.

use std::path::PathBuf;
use std::sync::Arc;

use super::hub::Hub;
use super::reload::check_memory;
use super::stage::{LoadedScene, ShownScene, Stage};
use quadrille_base::Result;
use quadrille_base::image::film::scene_of_frame;

/// Reads a scene by its place in a sequence, from 0 on.
pub type ReadScene = dyn Fn(usize) -> Result<ShownScene> + Send + Sync;

/// Scenes over time in place of the first scene, which is the first of them.
#[derive(Clone)]
pub struct Sequence {
    /// Name of each scene; there is at least one.
    pub names: Vec<String>,
    /// Folder or pattern of the scenes, from which the copied command of a film reads all of them.
    pub path: PathBuf,
    /// Function that reads a scene.
    pub reader: Arc<ReadScene>,
}

impl std::fmt::Debug for Sequence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sequence").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Sequence {
    fn read(&self, number: usize) -> Result<Arc<LoadedScene>> {
        Ok(Arc::new(LoadedScene::new((self.reader)(number)?)))
    }
}

/// Shows the scenes that pages choose, until the server ends. While one is read, pages see the old one, so that two are in
/// memory.
pub(crate) fn run(hub: &Hub, sequence: &Sequence) {
    while let Some(number) = hub.next_number() {
        let old = Arc::clone(&hub.stage().scenes[0]);
        let read = check_memory(&old).and_then(|()| sequence.read(number));
        drop(old);
        match read {
            Ok(scene) => hub.show_number(number, scene),
            Err(error) => hub.warn(&error.to_string()),
        }
    }
}

/// The scenes of the frames of a film.
pub(crate) struct FilmScenes<'a> {
    sequence: Option<&'a Sequence>,
    frames: usize,
    stage: Arc<Stage>,
}

impl<'a> FilmScenes<'a> {
    /// Scenes of `frames` frames of the scene with an index: those of the sequence, or the shown one.
    pub(crate) fn new(
        sequence: Option<&'a Sequence>,
        scene: usize,
        frames: usize,
        stage: Arc<Stage>,
    ) -> Self {
        Self { sequence: sequence.filter(|_| scene == 0), frames, stage }
    }

    /// The scenes of a frame. Frames must be taken in order.
    pub(crate) fn of_frame(&mut self, frame: usize) -> Result<&Stage> {
        if let Some(sequence) = self.sequence {
            let number = scene_of_frame(frame, self.frames, sequence.names.len());
            if number != self.stage.number {
                let (generation, others) = (self.stage.generation, self.stage.scenes[1..].to_vec());
                // The scene of the frames before is freed first.
                self.stage = Arc::new(Stage { generation, number, scenes: Vec::new() });
                let scenes = [vec![sequence.read(number)?], others].concat();
                self.stage = Arc::new(Stage { generation, number, scenes });
            }
        }
        Ok(&self.stage)
    }
}
