//! The runs of a suite, in order.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::path::PathBuf;

use super::configuration::{Configuration, runnable};
use super::key::{Fnv1a, JobKey, MeshRunKey, RunKey, ViewKey};
use super::mesh_suite::{MeshJob, SuitePaths};
use super::program::Program;
use super::scene_entry::SceneEntry;
use super::shard::Shard;
use super::suite_file::Suite;
use quadrille_base::error::{Error, Result};
use quadrille_base::task::Task;
use quadrille_gpu::method::Method;
use quadrille_scene::Camera;
use quadrille_scene::cameras::PictureSize;

const MAX_JOBS: u64 = 1_000_000;

#[derive(Clone)]
pub(super) struct PlannedScene {
    pub(super) entry: SceneEntry,
    pub(super) cameras: Vec<Camera>,
}

/// A view of a scene in one configuration by some methods.
#[derive(Debug, Clone)]
pub struct ViewWork {
    /// Index of the scene in the plan.
    pub scene: usize,
    /// Index of the view in its scene.
    pub view: usize,
    /// Whether figures show the scene separately, as a large scene.
    pub is_large: bool,
    /// Methods, each once.
    pub methods: Vec<Method>,
    pub(super) configuration: usize,
    /// Whether reports have the details of figures.
    pub(super) has_details: bool,
    /// Whether the run is repeated with every part of the machine relieved.
    pub(super) has_relief: bool,
    /// Hash of everything that the results depend on, except the methods.
    pub(super) fingerprint: String,
    /// Hashes of the scene and, with the profile, of the view, by their names.
    pub(super) inputs: BTreeMap<String, String>,
}

/// Methods to run in a view, each as a run of its own.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MethodChoice {
    /// Methods, each once.
    pub methods: Vec<Method>,
    /// Whether reports have the details of figures.
    pub has_details: bool,
}

#[derive(Debug, Clone)]
pub(super) enum Work {
    View(ViewWork),
    Mesh(Box<MeshJob>),
}

/// A run of a suite, which has a row of its own.
#[derive(Debug, Clone)]
pub struct Run {
    /// Identification of the run. Runs of one view by several methods share it.
    pub key: RunKey,
    pub(super) work: Work,
}

impl Run {
    /// The view that is run; `None` for a mesh.
    pub fn view(&self) -> Option<(&JobKey, &ViewWork)> {
        match (&self.key, &self.work) {
            (RunKey::View(key), Work::View(work)) => Some((key, work)),
            _ => None,
        }
    }

    pub(super) fn scene(&self) -> Option<usize> {
        self.view().map(|(_, work)| work.scene)
    }

    /// Scene, configuration and methods of the sequence whose frame is run; `None` if the run starts with empty caches.
    fn sequence(&self) -> Option<(usize, usize, &[Method])> {
        let (key, work) = self.view()?;
        key.frame.map(|_| (work.scene, work.configuration, &*work.methods))
    }

    /// The mesh that is run, and whether it is the first run of its study; `None` for a view.
    pub fn mesh(&self) -> Option<(&MeshRunKey, bool)> {
        match (&self.key, &self.work) {
            (RunKey::Mesh(key), Work::Mesh(job)) => Some((key, job.is_first)),
            _ => None,
        }
    }
}

/// The runs of a suite: scenes, their seeds, their views and the configurations, the last changing
/// fastest; then studies of meshes.
#[derive(Clone)]
pub struct Plan {
    /// Path of the suite file, for error messages.
    pub(super) suite: PathBuf,
    pub(super) program: Program,
    pub(super) paths: SuitePaths,
    pub(super) scenes: Vec<PlannedScene>,
    pub(super) configurations: Vec<Configuration>,
    pub(super) runs: Vec<Run>,
}

impl Suite {
    /// Lists the runs of the suite in configurations that are based on `bases`, for example on
    /// `[Configuration::default()]`. Reads the cameras of all scenes and checks that all files exist;
    /// `warn` takes the warnings of camera files and of configurations that cannot run the methods. Jobs of another
    /// `program` have other keys.
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
        let mut configurations = self.matrix.configurations(bases)?;
        let is_runnable = |one: &Configuration| one.check_methods(self.methods()).is_ok();
        // Without any such configuration, the caller may run other methods than those of the suite; the runner checks each run.
        if self.has_scenes() && configurations.iter().any(is_runnable) {
            configurations = runnable(configurations, self.methods(), warn)?;
        }
        let mut plan = Plan {
            suite: self.path.clone(),
            program,
            paths: self.meshes.paths.clone(),
            scenes: Vec::new(),
            configurations,
            runs: Vec::new(),
        };
        let texts = plan.configurations.iter();
        let texts: Vec<_> = texts.map(|c| toml::to_string(&c.config).unwrap_or_default()).collect();
        let mut hashes: HashMap<PathBuf, u64> = HashMap::new();
        for scene in self.seeded_scenes() {
            task.check()?;
            let known = scene.file().and_then(|path| hashes.get(path).copied());
            let source = known.map_or_else(|| scene.source_hash(&self.path), Ok)?;
            hashes.extend(scene.file().map(|path| (path.to_owned(), source)));
            let content = scene.content_hash(source)?;
            let (cameras, warnings) = scene.cameras(&self.path, &self.sizes(&scene), task)?;
            warnings.into_iter().for_each(&mut *warn);
            plan.add_views(PlannedScene { entry: scene, cameras }, content, &texts, self)?;
        }
        plan.runs.extend(self.meshes.jobs.iter().map(|job| Run {
            key: RunKey::Mesh(job.key.clone()),
            work: Work::Mesh(Box::new(job.clone())),
        }));
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
        let sized = |width: &u32| PictureSize { width: Some(*width), height: None, scale: None };
        match self.matrix.widths.as_slice() {
            [] => vec![scene.size()],
            widths => widths.iter().map(sized).collect(),
        }
    }
}

impl Plan {
    /// Adds a scene and its runs by the methods of `suite`. `content` is the hash of the scene, `texts` are the
    /// configurations.
    fn add_views(
        &mut self,
        scene: PlannedScene,
        content: u64,
        texts: &[String],
        suite: &Suite,
    ) -> Result<()> {
        let more = (scene.cameras.len() * texts.len()) as u64;
        Error::check_limit("jobs of the suite", MAX_JOBS, self.runs.len() as u64 + more)?;
        let sources = self.program.sources;
        let profile = scene.entry.profile.as_deref().unwrap_or("as the scene says");
        let name = match scene.entry.seed() {
            None => scene.entry.name.clone(),
            Some(seed) => format!("{} seed {seed}", scene.entry.name),
        };
        let mut before = Fnv1a::default();
        for (view, camera) in scene.cameras.iter().enumerate() {
            let frame = scene.entry.is_warm.then_some(view);
            // A frame depends on all frames before it.
            let sequence = frame.map_or_else(String::new, |_| format!("\nwarm {}", before.text()));
            let _ = write!(before, "{camera:?}");
            let ViewKey { name: of_view, width, height } = ViewKey::of(camera);
            let view_name = format!("view {of_view} {width}x{height} of {name}");
            let inputs = BTreeMap::from([
                (format!("scene {name}"), Fnv1a::of(format_args!("{content:x}"))),
                (view_name, Fnv1a::of(format_args!("{profile}\n{camera:?}{sequence}"))),
            ]);
            for (at, (configuration, text)) in self.configurations.iter().zip(texts).enumerate() {
                let mut hash = Fnv1a::default();
                // Writing to a hash cannot fail.
                let _ =
                    write!(hash, "{sources}\n{text}\n{profile}\n{content:x}\n{camera:?}{sequence}");
                if suite.has_relief {
                    let _ = write!(hash, " with relief");
                }
                let key = RunKey::View(JobKey {
                    scene: scene.entry.name.clone(),
                    seed: scene.entry.seed(),
                    view: ViewKey::of(camera),
                    frame,
                    configuration: configuration.name.clone(),
                    preset: configuration.preset.clone(),
                    changed: configuration.changed.clone(),
                });
                let work = Work::View(ViewWork {
                    scene: self.scenes.len(),
                    view,
                    is_large: scene.entry.is_large,
                    methods: suite.methods.clone(),
                    configuration: at,
                    has_details: false,
                    has_relief: suite.has_relief,
                    fingerprint: hash.text(),
                    inputs: inputs.clone(),
                });
                self.runs.push(Run { key, work });
            }
        }
        self.scenes.push(scene);
        Ok(())
    }

    /// Keeps the runs of a shard. Call it once, on the plan of the whole suite. The frames of a sequence by the same
    /// methods in one configuration count as one run, since each of them needs the frames before it.
    #[must_use]
    pub fn shard(mut self, shard: Shard) -> Self {
        let mut jobs = Vec::new();
        let is_kept = self.runs.iter().map(|run| {
            let sequence = run.sequence();
            let known = sequence.and_then(|_| jobs.iter().position(|job| *job == sequence));
            let job = known.unwrap_or(jobs.len());
            jobs.extend(known.is_none().then_some(sequence));
            shard.contains(job)
        });
        let is_kept: Vec<bool> = is_kept.collect();
        let mut is_kept = is_kept.into_iter();
        self.runs.retain(|_| is_kept.next().unwrap_or(false));
        self
    }

    /// Keeps the runs for which `is_wanted` returns true.
    #[must_use]
    pub fn only(mut self, is_wanted: impl Fn(&Run) -> bool) -> Self {
        self.runs.retain(is_wanted);
        self
    }

    /// Chooses methods for every view in every configuration, each of which is a run of its own.
    #[must_use]
    pub fn by_method(mut self, choose: impl Fn(&JobKey, &ViewWork) -> MethodChoice) -> Self {
        let runs = std::mem::take(&mut self.runs).into_iter();
        let split = runs.flat_map(|run| {
            let Some((key, work)) = run.view() else { return vec![run] };
            let MethodChoice { methods, has_details } = choose(key, work);
            let mut work = ViewWork { has_details, ..work.clone() };
            if has_details {
                // Rows with details are kept apart: `bench` does not reuse them, and its rows lack the details.
                work.fingerprint = Fnv1a::of(format_args!("{} with details", work.fingerprint));
            }
            let alone = methods.into_iter().map(|method| {
                let work = ViewWork { methods: vec![method], ..work.clone() };
                Run { key: run.key.clone(), work: Work::View(work) }
            });
            alone.collect()
        });
        self.runs = split.collect();
        self
    }

    /// The runs, in order.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Configurations of the views.
    pub fn configurations(&self) -> &[Configuration] {
        &self.configurations
    }
}
