//! Runs of suites. The row of a view is in the results file before the next view begins, so that a
//! stopped run continues where it was.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use super::results_file::ResultsFile;
use super::row::{Row, RowKey, RowSettings, VariantRow, ViewKey};
use super::suite_file::{Fnv1a, Suite, SuiteScene};
use crate::error::Result;
use crate::gpu::config::Config;
use crate::gpu::view::PreparedView;
use crate::gpu::wiring::{Simulator, Watch};
use crate::math::SimdLevel;
use crate::scene::{Camera, Scene, load};
use crate::shading::Profile;

/// An event of a run.
#[derive(Debug)]
pub(crate) enum Event<'a> {
    /// The run begins with `done` of all `views` in the results file.
    Resumed {
        views: usize,
        done: usize,
    },
    /// A view begins.
    Begun(&'a RowKey),
    /// The row of a view is in the results file.
    Done(&'a Row),
    Warning(String),
}

/// A view to run.
struct Job {
    /// Index of its scene in the suite.
    scene: usize,
    camera: Camera,
    key: RowKey,
}

/// A suite with its views and simulators.
pub(crate) struct Runner<'a> {
    suite: &'a Suite,
    config: &'a Config,
    settings: RowSettings,
    simulators: Vec<Simulator>,
    level: SimdLevel,
    jobs: Vec<Job>,
}

impl<'a> Runner<'a> {
    /// Reads the cameras of all scenes, and checks that all files of the suite exist. `config` is `preset`
    /// with changes.
    pub(crate) fn new(
        suite: &'a Suite,
        config: &'a Config,
        preset: &str,
        level: SimdLevel,
        watch: &mut impl FnMut(Event<'_>),
    ) -> Result<Self> {
        let config_text = toml::to_string(config).unwrap_or_default();
        // Another build may compute other results.
        let sources = env!("QUADRILLE_SOURCES");
        let mut jobs = Vec::new();
        for (index, scene) in suite.scenes.iter().enumerate() {
            let content = suite.scene_hash(scene)?;
            let profile = scene.profile.as_deref().unwrap_or("as the scene says");
            let (cameras, warnings) = suite.cameras(scene)?;
            warnings.into_iter().for_each(|w| watch(Event::Warning(w)));
            for camera in cameras {
                let mut hash = Fnv1a::default();
                // Writing to a hash cannot fail.
                let _ = write!(
                    hash,
                    "{sources}\n{config_text}\n{profile}\n{content:x}\n{camera:?}"
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
            settings: RowSettings {
                preset: preset.to_owned(),
                changed: config.changes_from(preset)?,
            },
            simulators: Simulator::all(config, &suite.variants, Watch::default())?,
            level,
            jobs,
        })
    }

    /// Runs the views without a row in the results file, and returns the rows of all views in the order
    /// of the suite.
    pub(crate) fn run(
        &self,
        results: Option<&Path>,
        watch: &mut impl FnMut(Event<'_>),
    ) -> Result<Vec<Row>> {
        let mut file = results.map(ResultsFile::open).transpose()?;
        let mut done: HashMap<usize, Row> = HashMap::new();
        for row in file.iter_mut().flat_map(ResultsFile::take_rows) {
            let variants = &self.suite.variants;
            let mut jobs = self.jobs.iter();
            if let Some(index) = jobs.position(|job| row.is_of(&job.key, variants)) {
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
            // The previous scene is dropped first, since both might not fit into memory.
            let current = match loaded.take().filter(|(scene, ..)| *scene == job.scene) {
                Some(current) => current,
                None => load_scene(job.scene, &self.suite.scenes[job.scene])?,
            };
            let (_, scene, profile) = loaded.insert(current);
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
            let text = format!("{scene} {view}: no splat is in view; ratios exclude this view");
            watch(Event::Warning(text));
        }
        let variants = variants.collect();
        Row::new(&job.key, &self.settings, splats, variants, start.elapsed())
    }
}

/// Loads the scene at `index` of the suite, with the profile that the suite or its file names.
fn load_scene(index: usize, entry: &SuiteScene) -> Result<(usize, Scene, Profile)> {
    let scene = load(&entry.path)?;
    let name = entry.profile.as_deref().or(scene.profile_hint);
    let profile = name.and_then(|name| Profile::named(name).ok());
    Ok((index, scene, profile.unwrap_or_default()))
}
