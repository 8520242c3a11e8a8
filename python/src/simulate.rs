//! Simulation of views on the emulated GPU.

use std::time::Instant;

use pyo3::prelude::*;
use quadrille::gpu::config::PRESETS;
use quadrille::gpu::host_memory::HostMemory;
use quadrille::gpu::machine::Machine;
use quadrille::gpu::view::PreparedView;
use quadrille::gpu::wiring::Watch;
use quadrille::suite::{Configuration, unused_warning};
use quadrille::{
    Config, Method, Profile, SceneFacts, SimdLevel, Simulated, SimulationDocument, VariantRun,
    ViewFacts,
};
use quadrille_suite::report::maps::pixel_counts;

use crate::arrays::array;
use crate::camera::RawCamera;
use crate::errors::to_python;
use crate::render::{checked_near, order};
use crate::run::Call;
use crate::scene::RawScene;

/// Returns the names of the preset configurations; the first is the default.
#[pyfunction]
pub(crate) fn presets() -> Vec<&'static str> {
    PRESETS.iter().map(|preset| preset.name).collect()
}

/// Methods to simulate, and the configuration of the emulated GPU.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Machines {
    variants: Vec<String>,
    preset: String,
    /// Assignments `unit.field=value`.
    settings: Vec<String>,
    profile: Option<String>,
    near: Option<f64>,
    order: Option<String>,
    maps: bool,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
}

/// Maps of counts per pixel: name of the method, name of the map, counts [H, W].
type Maps<'py> = Vec<(String, &'static str, Bound<'py, PyAny>)>;

/// Simulates a view by several methods. Returns the document of `sim --json`, warnings about fields without effect and
/// counters that do not add up, and maps.
#[pyfunction]
pub(crate) fn simulate<'py>(
    py: Python<'py>,
    scene: &RawScene,
    camera: &RawCamera,
    machines: Machines,
) -> PyResult<(String, Vec<String>, Maps<'py>)> {
    let named = machines.profile.as_deref().map(Profile::named).transpose();
    let chosen = named.and_then(|named| Profile::for_ellipsoids(named, scene.profile_hint()));
    let (profile, of_discs) = chosen.map_err(to_python)?;
    let near = checked_near(machines.near)?;
    let mut profile = near.map_or(profile, |near| profile.with_near(near));
    profile.order = order(machines.order.as_deref())?;
    let methods = Method::parse_all(&machines.variants);
    let methods = methods.map_err(|error| to_python(error.about("variants")))?;
    let configuration = machines.configuration().map_err(to_python)?;
    let config = &configuration.config;
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = machines.threads.filter(|n| *n > 0).unwrap_or_else(cores);
    let memory = HostMemory { threads, maps: machines.maps, ..HostMemory::default() };
    let size = [camera.0.width, camera.0.height];
    memory.check(&methods, size, scene.splats().len()).map_err(to_python)?;
    let watch = Watch { maps: machines.maps, ..Watch::default() };
    let emulated = Machine::all(config, &methods, watch).map_err(to_python)?;
    let preset = Config::preset(&machines.preset).map_err(to_python)?;
    let unused = config.unused_by(&methods, &preset);
    let mut warnings: Vec<String> = unused.iter().map(unused_warning).collect();
    warnings.extend(of_discs.map(str::to_owned));
    let unmapped = methods.iter().filter(|method| machines.maps && !method.is_pipeline());
    warnings
        .extend(unmapped.map(|method| format!("maps leave out {method}, which has no pipeline")));
    let facts = SceneFacts {
        path: "memory".to_owned(),
        splats: scene.splats().len(),
        sh_degree: scene.splats().sh_degree(),
    };
    let mut call = Call::watched("simulate", machines.progress.as_ref().map(|f| f.clone_ref(py)));
    call.threads = machines.threads;
    let (splats, camera) = (scene.splats(), &camera.0);
    let simulated = call.run(py, |task| {
        let prepared = PreparedView::new(splats, camera, &profile, SimdLevel::best(), task)?;
        let start = Instant::now();
        let runs = Machine::run_all(&emulated, &prepared, task)?;
        Ok(Simulated {
            scene: &facts,
            view: ViewFacts {
                name: camera.name.clone(),
                width: camera.width,
                height: camera.height,
                splats_in_frustum: prepared.splats_in_view,
            },
            profile: profile.name,
            config,
            preset: &configuration.preset,
            host: [prepared.prepared_in, start.elapsed()],
            mesh_draw: None,
            runs: runs
                .into_iter()
                .map(|run| VariantRun {
                    outcome: run.outcome,
                    host: run.host,
                    output: None,
                    against_reference: None,
                    frame: None,
                    energy: None,
                })
                .collect(),
        })
    })?;
    for run in &simulated.runs {
        let texts = run.outcome.discrepancies().into_iter();
        warnings
            .extend(texts.map(|text| format!("{}: counters do not add up: {text}", run.name())));
    }
    let mut maps = Vec::new();
    let shape = [camera.height as usize, camera.width as usize];
    for (run, outcome) in simulated.pipelines() {
        for (name, counts) in pixel_counts(outcome) {
            maps.push((run.name(), name, array(py, counts, &shape)?));
        }
    }
    let document = serde_json::to_string(&SimulationDocument::of(&simulated));
    let document = document.map_err(|e| pyo3::exceptions::PyValueError::new_err(e.to_string()))?;
    Ok((document, warnings, maps))
}

impl Machines {
    fn configuration(&self) -> quadrille::Result<Configuration> {
        let config = Config::preset(&self.preset).map_err(|error| error.about("preset"))?;
        let base = Configuration::new(&self.preset, config)?;
        let mut settings = self.settings.iter();
        settings.try_fold(base, |config, assignment| config.with(assignment))
    }
}
