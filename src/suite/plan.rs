//! The jobs of a suite, in order.

use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;

use super::configuration::Configuration;
use super::key::{Fnv1a, JobKey, ViewKey};
use super::program::Program;
use super::scene_entry::{SceneEntry, Source};
use super::shard::Shard;
use super::suite_file::Suite;
use quadrille_base::error::{Error, Result};
use quadrille_base::task::Task;
use quadrille_gpu::method::Method;
use quadrille_scene::Camera;
use quadrille_scene::cameras::PictureSize;

const MAX_JOBS: u64 = 1_000_000;

pub(super) struct PlannedScene {
    pub(super) entry: SceneEntry,
    pub(super) cameras: Vec<Camera>,
}

pub(super) struct ViewJob {
    pub(super) scene: usize,
    pub(super) camera: usize,
    pub(super) configuration: usize,
    pub(super) key: JobKey,
}

/// The jobs of a suite: scenes, their seeds, their views and the configurations, the last changing
/// fastest.
pub struct Plan {
    /// For messages.
    pub(super) suite: PathBuf,
    pub(super) program: Program,
    pub(super) methods: Vec<Method>,
    pub(super) scenes: Vec<PlannedScene>,
    pub(super) configurations: Vec<Configuration>,
    pub(super) jobs: Vec<ViewJob>,
}

impl Suite {
    /// Lists the jobs of the suite in configurations that are based on `bases`, for example on
    /// `[Configuration::default()]`. Reads the cameras of all scenes and checks that all files exist;
    /// `warn` takes the warnings of camera files. Jobs of another `program` have other keys.
    ///
    /// # Errors
    /// [`Error::Malformed`] naming the scene and key, [`Error::Argument`] about configurations,
    /// [`Error::Limit`] for more than a million jobs, errors of reading the files, and [`Error::Cancelled`].
    pub fn plan(
        &self,
        bases: &[Configuration],
        program: Program,
        task: &Task,
        warn: &mut dyn FnMut(String),
    ) -> Result<Plan> {
        let configurations = self.matrix.configurations(bases)?;
        let mut plan = Plan {
            suite: self.path.clone(),
            program,
            methods: self.methods.clone(),
            scenes: Vec::new(),
            configurations,
            jobs: Vec::new(),
        };
        let texts = plan.configurations.iter();
        let texts: Vec<_> = texts.map(|c| toml::to_string(&c.config).unwrap_or_default()).collect();
        let mut hashes: HashMap<PathBuf, u64> = HashMap::new();
        for scene in self.seeded_scenes() {
            task.check()?;
            let content = match &scene.source {
                Source::File(path) => match hashes.get(path) {
                    Some(hash) => *hash,
                    None => {
                        let hash = scene.content_hash(&self.path)?;
                        hashes.insert(path.clone(), hash);
                        hash
                    }
                },
                Source::Recipe(..) => scene.content_hash(&self.path)?,
            };
            let (cameras, warnings) = scene.cameras(&self.path, &self.sizes(&scene), task)?;
            warnings.into_iter().for_each(&mut *warn);
            plan.add_jobs(PlannedScene { entry: scene, cameras }, content, &texts)?;
        }
        Ok(plan)
    }

    fn seeded_scenes(&self) -> Vec<SceneEntry> {
        let seeds = &self.matrix.seeds;
        let scenes = self.scenes.iter().flat_map(|scene| {
            if scene.seed().is_none() || seeds.is_empty() {
                return vec![scene.clone()];
            }
            seeds.iter().map(|seed| scene.with_seed(*seed)).collect()
        });
        scenes.collect()
    }

    fn sizes(&self, scene: &SceneEntry) -> Vec<PictureSize> {
        if self.matrix.widths.is_empty() {
            return vec![scene.size()];
        }
        let widths = self.matrix.widths.iter();
        let sizes =
            widths.map(|width| PictureSize { width: Some(*width), height: None, scale: None });
        sizes.collect()
    }
}

impl Plan {
    fn add_jobs(&mut self, scene: PlannedScene, content: u64, texts: &[String]) -> Result<()> {
        let more = (scene.cameras.len() * texts.len()) as u64;
        let jobs = self.jobs.len() as u64 + more;
        Error::check_limit("jobs of the suite", MAX_JOBS, jobs)?;
        let sources = self.program.sources;
        let profile = scene.entry.profile.as_deref().unwrap_or("as the scene says");
        for (index, camera) in scene.cameras.iter().enumerate() {
            for (at, (configuration, text)) in self.configurations.iter().zip(texts).enumerate() {
                let mut hash = Fnv1a::default();
                // Writing to a hash cannot fail.
                let _ = write!(hash, "{sources}\n{text}\n{profile}\n{content:x}\n{camera:?}");
                self.jobs.push(ViewJob {
                    scene: self.scenes.len(),
                    camera: index,
                    configuration: at,
                    key: JobKey {
                        scene: scene.entry.name.clone(),
                        seed: scene.entry.seed(),
                        view: ViewKey {
                            name: camera.name.clone(),
                            width: camera.width,
                            height: camera.height,
                        },
                        configuration: configuration.name.clone(),
                        preset: configuration.preset.clone(),
                        changed: configuration.changed.clone(),
                        fingerprint: format!("{:016x}", hash.0),
                    },
                });
            }
        }
        self.scenes.push(scene);
        Ok(())
    }

    /// Keeps the jobs of a shard. Call it once, on the plan of the whole suite.
    #[must_use]
    pub fn shard(mut self, shard: Shard) -> Self {
        let jobs = std::mem::take(&mut self.jobs).into_iter().enumerate();
        let own = jobs.filter(|(index, _)| shard.contains(*index));
        self.jobs = own.map(|(_, job)| job).collect();
        self
    }

    /// Keys of the jobs, in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &JobKey> {
        self.jobs.iter().map(|job| &job.key)
    }

    /// Configurations of the jobs.
    pub fn configurations(&self) -> &[Configuration] {
        &self.configurations
    }
}
