//! Frames of the scenes with `warm`, which are drawn in their order.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::configuration::Configuration;
use super::plan::ViewWork;
use quadrille_base::{Result, Task};
use quadrille_gpu::config::Config;
use quadrille_gpu::frame_sequence::FrameSequence;
use quadrille_gpu::machine::Machine;
use quadrille_gpu::method::Method;
use quadrille_gpu::outcome::Outcome;
use quadrille_gpu::view::PreparedView;
use quadrille_gpu::wiring::Watch;

/// Sequence of a configuration, with the methods that each of its views runs.
#[derive(Default)]
struct ConfiguredFrames {
    /// Views without results, in order, with their methods without results.
    missing: Vec<(usize, Vec<Method>)>,
    drawn: Mutex<FrameSequence>,
}

impl ConfiguredFrames {
    /// Methods that run in a later view, but have their results in the view `at`.
    fn again(&self, at: usize) -> Vec<Method> {
        let of = |is_it: &dyn Fn(usize) -> bool| {
            let views = self.missing.iter().filter(|(view, _)| is_it(*view));
            views.flat_map(|(_, methods)| methods.iter().copied()).collect::<Vec<_>>()
        };
        let here = of(&|view| view == at);
        super::unique(of(&|view| view > at).into_iter().filter(|method| !here.contains(method)))
    }
}

/// Frames of a scene in each configuration. Only one view is drawn at a time, by several methods in parallel.
pub(super) struct WarmFrames(BTreeMap<usize, ConfiguredFrames>);

impl WarmFrames {
    /// Begins the sequences of views without results. `open` has their methods without results.
    pub(super) fn new<'a>(open: impl Iterator<Item = (&'a ViewWork, Vec<Method>)>) -> Self {
        let mut frames: BTreeMap<usize, ConfiguredFrames> = BTreeMap::new();
        for (work, methods) in open {
            frames.entry(work.configuration).or_default().missing.push((work.view, methods));
        }
        Self(frames)
    }

    /// Draws the view `at` by the methods that have its results, and need the frame for a later view: a run that continues
    /// draws the frames again that it has.
    pub(super) fn draw_again(
        &self,
        at: usize,
        view: &PreparedView<'_>,
        configurations: &[Configuration],
        task: &Task,
    ) -> Result<()> {
        self.0.par_iter().try_for_each(|(configuration, frames)| {
            let config = &configurations[*configuration].config;
            let machine = |method| self.machine(*configuration, config, method, Watch::default());
            let machines = frames.again(at).into_iter().map(machine);
            let machines: Vec<Machine> = machines.collect::<Result<_>>()?;
            let runs = Machine::run_all(&machines, view, task)?;
            runs.into_iter().for_each(|run| self.keep(*configuration, run.outcome));
            Ok(())
        })
    }

    /// Creates the machine that draws the next frame of a method.
    pub(super) fn machine(
        &self,
        configuration: usize,
        config: &Config,
        method: Method,
        watch: Watch,
    ) -> Result<Machine> {
        let drawn = &self.0[&configuration].drawn;
        drawn.lock().unwrap_or_else(PoisonError::into_inner).machine(config, method, watch)
    }

    pub(super) fn keep(&self, configuration: usize, outcome: Outcome) {
        let drawn = &self.0[&configuration].drawn;
        drawn.lock().unwrap_or_else(PoisonError::into_inner).keep(outcome);
    }
}
