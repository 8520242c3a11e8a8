//! Emulated machines of the methods, and their runs of a view.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::compute::renderer::ComputeRenderer;
use super::config::Config;
use super::gscore::accelerator::Gscore;
use super::imitated_draw;
use super::method::Method;
use super::outcome::Outcome;
use super::variant::Variant;
use super::view::PreparedView;
use super::wiring::{Simulator, Watch};
use quadrille_base::{Result, Task};

/// Emulated machine of a method, with a checked configuration.
#[derive(Debug, Clone)]
pub enum Machine {
    /// The graphics pipeline, set up for a method that runs on it.
    Pipeline(Method, Box<Simulator>),
    /// The shader cores, for the software renderer.
    Compute(Box<ComputeRenderer>),
    /// The GSCore accelerator.
    Gscore(Box<Gscore>),
}

/// Result of a method, with the host time of its run.
#[derive(Debug)]
#[non_exhaustive]
pub struct MethodRun {
    /// Cycles, counts and picture of the run.
    pub outcome: Outcome,
    /// Host time of this run alone.
    pub host: Duration,
}

impl Machine {
    /// Creates the machine of a method. `watch` applies to the graphics pipeline only.
    pub fn new(config: &Config, method: Method, watch: Watch) -> Result<Self> {
        let simulator = match method {
            Method::Pipeline(variant) => Simulator::new(config, variant)?,
            Method::MultiPass(passes) => {
                Simulator::new(config, Variant::BASELINE)?.in_passes(passes)
            }
            Method::Imitated(_) => Simulator::new(config, Variant::BASELINE)?,
            Method::InShader(order) => Simulator::blending_in_shader(config, order)?,
            Method::Tiles(method) => Simulator::tile_based(config, method)?,
            Method::Own(method) => Simulator::of_method(config, method)?,
            Method::Compute(method) => {
                return Ok(Self::Compute(Box::new(ComputeRenderer::new(config, method)?)));
            }
            Method::Gscore => return Ok(Self::Gscore(Box::new(Gscore::new(config)?))),
        };
        Ok(Self::Pipeline(method, Box::new(simulator.watching(watch))))
    }

    /// Creates the machine of each of `methods`.
    pub fn all(config: &Config, methods: &[Method], watch: Watch) -> Result<Vec<Self>> {
        methods.iter().map(|m| Self::new(config, *m, watch)).collect()
    }

    /// Prepares the machine for the first frame of a sequence, or for the frame after `before`, like
    /// [`Simulator::in_sequence`]. The accelerator keeps the order of the frame before if its configuration says so. The
    /// software renderer starts every frame alike.
    #[must_use]
    pub fn in_sequence(self, before: Option<&Outcome>) -> Self {
        match self {
            Self::Pipeline(method, simulator) => {
                let before = before.and_then(Outcome::pipeline);
                Self::Pipeline(method, Box::new(simulator.in_sequence(before)))
            }
            Self::Gscore(accelerator) => {
                let before = before.and_then(Outcome::gscore);
                Self::Gscore(Box::new(accelerator.in_sequence(before)))
            }
            Self::Compute(renderer) => Self::Compute(renderer),
        }
    }

    /// Simulates a view. Caches start empty, except after [`Self::in_sequence`] with an earlier frame.
    ///
    /// # Errors
    /// [`Error::Cancelled`](quadrille_base::Error::Cancelled) if `task` is cancelled.
    pub fn run(&self, view: &PreparedView<'_>, task: &Task) -> Result<MethodRun> {
        let run = self.draw(view, &task.without_progress());
        task.check()?;
        Ok(run)
    }

    fn draw(&self, view: &PreparedView<'_>, task: &Task) -> MethodRun {
        quadrille_base::span!("simulate");
        let start = Instant::now();
        let outcome = match self {
            Self::Pipeline(method, simulator) => {
                let simulator = simulator.as_ref().clone().under(task);
                let result = match method {
                    Method::Imitated(imitation) => {
                        imitated_draw::run(&simulator, *imitation, view.draw(), view.shader())
                    }
                    _ if view.tests().are_filled() => {
                        view.run(&simulator.with_filled_tests(), view.tests()).outcome
                    }
                    _ => view.run(&simulator, view.tests()).outcome,
                };
                Outcome::Pipeline(*method, Box::new(result))
            }
            Self::Compute(renderer) => {
                let scene = view.scene_counts();
                let (draw, shader) = (view.draw(), view.shader());
                renderer.draw(draw, shader, &scene, view.stop(), task).into()
            }
            Self::Gscore(accelerator) => {
                accelerator.draw(view.draw(), view.shader(), &view.scene_counts(), task).into()
            }
        };
        MethodRun { outcome, host: start.elapsed() }
    }

    /// Simulates a view on several machines, in parallel on rayon's current pool. Progress counts splats over all machines.
    ///
    /// # Errors
    /// [`Error::Cancelled`](quadrille_base::Error::Cancelled) if `task` is cancelled.
    pub fn run_all(
        machines: &[Self],
        view: &PreparedView<'_>,
        task: &Task,
    ) -> Result<Vec<MethodRun>> {
        let splats = u64::from(view.draw().len());
        let drawn = Arc::new(AtomicU64::new(0));
        let total = splats * machines.len() as u64;
        let runs = machines.par_iter().map(|machine| {
            let own = Arc::new(AtomicU64::new(0));
            let (all, known, whole) = (Arc::clone(&drawn), Arc::clone(&own), task.clone());
            let counting = task.without_progress().on_progress(move |done, _| {
                let more = done.saturating_sub(known.fetch_max(done, Ordering::Relaxed));
                whole.report(all.fetch_add(more, Ordering::Relaxed) + more, total);
            });
            let run = machine.draw(view, &counting);
            // Completes the progress of machines that report none while they draw.
            counting.report(splats, splats);
            task.check()?;
            Ok(run)
        });
        runs.collect()
    }
}
