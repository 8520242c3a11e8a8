//! Runs the views of a suite.
//!
//! A view's row is in the results file before the next view begins, so that a run that was stopped,
//! however hard, goes on where it was.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use super::results_file::ResultsFile;
use super::row::{Row, RowKey, VariantRow, ViewKey};
use super::suite_file::{Fnv1a, Suite, SuiteScene};
use crate::error::Result;
use crate::gpu::config::Config;
use crate::gpu::view::PreparedView;
use crate::gpu::wiring::{Simulator, Watch};
use crate::math::SimdLevel;
use crate::scene::{Camera, Scene, load};
use crate::shading::Profile;

/// What happens in a run, for whoever watches it.
#[derive(Debug)]
pub(crate) enum Event<'a> {
    /// The run begins: so many views in all, and so many that the results file holds already.
    Resumed { views: usize, done: usize },
    /// A view begins.
    Begun(&'a RowKey),
    /// A view has its row, which is in the results file.
    Done(&'a Row),
    /// Something is odd.
    Warning(String),
}

/// A view to be run.
struct Job {
    /// Index of its scene in the suite.
    scene: usize,
    camera: Camera,
    key: RowKey,
}

/// A suite, its views, and how they are run.
pub(crate) struct Runner<'a> {
    suite: &'a Suite,
    config: &'a Config,
    simulators: Vec<Simulator>,
    level: SimdLevel,
    jobs: Vec<Job>,
}

impl<'a> Runner<'a> {
    /// Reads the cameras of every scene, and makes sure that every file the suite needs is there.
    pub(crate) fn new(
        suite: &'a Suite,
        config: &'a Config,
        level: SimdLevel,
        watch: &mut impl FnMut(Event<'_>),
    ) -> Result<Self> {
        let config_text = toml::to_string(config).unwrap_or_default();
        let version = env!("CARGO_PKG_VERSION");
        let mut jobs = Vec::new();
        for (index, scene) in suite.scenes.iter().enumerate() {
            let content = suite.scene_hash(scene)?;
            let profile = scene.profile.as_deref().unwrap_or("as the scene says");
            let (cameras, warnings) = suite.cameras(scene)?;
            warnings.into_iter().for_each(|w| watch(Event::Warning(w)));
            for camera in cameras {
                let mut hash = Fnv1a::default();
                // A hash takes any bytes.
                let _ = write!(
                    hash,
                    "{version}\n{config_text}\n{profile}\n{content:x}\n{camera:?}"
                );
                let key = RowKey {
                    scene: scene.name.clone(),
                    view: ViewKey {
                        name: camera.name.clone(),
                        width: camera.width,
                        height: camera.height,
                    },
                    fingerprint: format!("{:016x}", hash.0),
                };
                jobs.push(Job {
                    scene: index,
                    camera,
                    key,
                });
            }
        }
        Ok(Self {
            suite,
            config,
            simulators: Simulator::all(config, &suite.variants, Watch::default())?,
            level,
            jobs,
        })
    }

    /// Runs every view that has no row in the results file, and gives the rows of all views in the
    /// suite's order.
    pub(crate) fn run(
        &self,
        results: Option<&Path>,
        watch: &mut impl FnMut(Event<'_>),
    ) -> Result<Vec<Row>> {
        let mut file = results.map(ResultsFile::open).transpose()?;
        let mut done: HashMap<usize, Row> = HashMap::new();
        for row in file.iter_mut().flat_map(ResultsFile::take_rows) {
            let variants = &self.suite.variants;
            if let Some(index) = self
                .jobs
                .iter()
                .position(|job| row.is_of(&job.key, variants))
            {
                done.insert(index, row);
            }
        }
        watch(Event::Resumed {
            views: self.jobs.len(),
            done: done.len(),
        });
        let mut loaded: Option<(usize, Scene, Profile)> = None;
        for (index, job) in self.jobs.iter().enumerate() {
            if done.contains_key(&index) {
                continue;
            }
            watch(Event::Begun(&job.key));
            if loaded
                .as_ref()
                .is_none_or(|(scene, ..)| *scene != job.scene)
            {
                // The one before goes first: both might not fit.
                drop(loaded.take());
                let (scene, profile) = load_scene(&self.suite.scenes[job.scene])?;
                loaded = Some((job.scene, scene, profile));
            }
            let Some((_, scene, profile)) = &loaded else {
                continue;
            };
            let row = self.run_view(job, scene, profile, watch);
            if let Some(file) = &mut file {
                file.append(&row)?;
            }
            watch(Event::Done(&row));
            done.insert(index, row);
        }
        let all = (0..self.jobs.len()).filter_map(|index| done.remove(&index));
        Ok(all.collect())
    }

    fn run_view(
        &self,
        job: &Job,
        scene: &Scene,
        profile: &Profile,
        watch: &mut impl FnMut(Event<'_>),
    ) -> Row {
        let start = Instant::now();
        let view = PreparedView::new(&scene.splats, &job.camera, profile, self.level);
        let runs = view.run_all(&self.simulators);
        for outcome in runs.iter().map(|run| &run.outcome) {
            for sentence in outcome.discrepancies() {
                let (scene, view) = (&job.key.scene, &job.key.view.name);
                let text = format!("{scene} {view}, {}: {sentence}", outcome.variant);
                watch(Event::Warning(text));
            }
        }
        let clock_mhz = self.config.gpu.clock_mhz;
        let variants = runs
            .iter()
            .map(|run| VariantRow::of(&run.outcome, clock_mhz));
        let splats = u64::from(view.draw().len());
        if splats == 0 {
            let (scene, view) = (&job.key.scene, &job.key.view.name);
            let text = format!("{scene} {view}: no splat is in view; ratios leave the view out");
            watch(Event::Warning(text));
        }
        Row::new(&job.key, splats, variants.collect(), start.elapsed())
    }
}

/// A scene, and the profile that its suite or its file names.
fn load_scene(entry: &SuiteScene) -> Result<(Scene, Profile)> {
    let scene = load(&entry.path)?;
    let name = entry.profile.as_deref().or(scene.profile_hint);
    let profile = name.and_then(|name| Profile::named(name).ok());
    Ok((scene, profile.unwrap_or_default()))
}
