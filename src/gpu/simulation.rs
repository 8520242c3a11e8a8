//! Simulation of a frame with several methods.

use crate::config::Config;
use crate::machine::Machine;
use crate::method::Method;
use crate::outcome::Outcome;
use crate::view::PreparedView;
use crate::wiring::Watch;
use quadrille_base::math::SimdLevel;
use quadrille_base::shading::Profile;
use quadrille_base::{Result, Task};
use quadrille_scene::{Camera, Splats};

/// Settings of [`simulate`]. The default runs the pipeline variants in the default configuration and profile.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Simulation {
    /// Configuration of the machine.
    pub config: Config,
    /// Methods to run, in parallel on rayon's current pool.
    pub methods: Vec<Method>,
    /// Constants of the renderer that the scene was trained for.
    pub profile: Profile,
    /// Optional results of methods on the graphics pipeline.
    pub watch: Watch,
    /// Task that cancels the simulation and receives its progress in splats, over all methods.
    pub task: Task,
}

impl Default for Simulation {
    fn default() -> Self {
        Self {
            config: Config::default(),
            methods: Method::defaults(),
            profile: Profile::default(),
            watch: Watch::default(),
            task: Task::NEVER,
        }
    }
}

impl Simulation {
    /// Creates the settings that run methods, or variants of the pipeline, on `config`.
    pub fn new(config: Config, methods: impl IntoIterator<Item = impl Into<Method>>) -> Self {
        Self { config, methods: methods.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Sets the profile, for example the scene's own, [`Scene::profile`](quadrille_scene::Scene::profile).
    #[must_use]
    pub fn with_profile(self, profile: Profile) -> Self {
        Self { profile, ..self }
    }

    /// Sets the task that cancels the simulation and receives its progress.
    #[must_use]
    pub fn with_task(self, task: &Task) -> Self {
        Self { task: task.clone(), ..self }
    }
}

/// Simulates a frame: projects and sorts the splats, and draws them with each method. Returns one outcome per method.
///
/// # Errors
/// [`Error::Argument`](quadrille_base::error::Error::Argument) if a field of the configuration does not fit,
/// and [`Error::Cancelled`](quadrille_base::error::Error::Cancelled).
///
/// # Examples
/// ```
/// use quadrille_gpu::config::Config;
/// use quadrille_gpu::method::Method;
/// use quadrille_gpu::simulation::{Simulation, simulate};
/// use quadrille_render::synth::{Recipe, Synthetic};
///
/// let island = Synthetic::new(Recipe::Object, 1, 1000, 0)?;
/// let camera = island.cameras()[0].resized(64, 48)?;
/// let config = Config::preset("vr-pipe")?.with("tc.bins=16")?;
/// let methods = [Method::parse("het+qm")?, Method::parse("compute")?];
/// let outcomes = simulate(&island.splats(), &camera, &Simulation::new(config, methods))?;
/// assert!(outcomes.iter().all(|o| o.cycles() > 0 && o.frame().width() == 64));
/// # Ok::<(), quadrille_base::Error>(())
/// ```
pub fn simulate(splats: &Splats, camera: &Camera, simulation: &Simulation) -> Result<Vec<Outcome>> {
    let Simulation { config, methods, profile, watch, task } = simulation;
    let machines = Machine::all(config, methods, *watch)?;
    let view = PreparedView::new(splats, camera, profile, SimdLevel::best(), task)?;
    Ok(Machine::run_all(&machines, &view, task)?.into_iter().map(|run| run.outcome).collect())
}
