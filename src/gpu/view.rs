//! A scene seen from a camera, prepared for simulation.

use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::compute::kernels::KernelWorkload;
use super::compute::renderer::SceneCounts;
use super::draw::Draw;
use super::warp::fragment::FragmentShader;
use crate::result::SimulationResult;
use crate::warp::exact_alpha::{ExactAlpha, NearCut};
use crate::wiring::Simulator;
use crate::zrop::framebuffer::Tests;
use quadrille_base::math::SimdLevel;
use quadrille_base::shading::{CompareOp, DepthTest, Profile, StencilTest, StopRule};
use quadrille_base::{Error, Result, Task};
use quadrille_render::preprocess::{Preprocessed, ViewTransform};
use quadrille_scene::{BLOCK, Camera, Splats};

/// Projected and sorted splats of a view with their bounding boxes, ready to simulate.
pub struct PreparedView<'a> {
    draw: Draw,
    exact: ExactAlpha<'a>,
    stop: StopRule,
    level: SimdLevel,
    tests: Tests,
    /// Splats whose footprint may touch the picture; each has a quad in the draw.
    pub splats_in_view: u64,
    /// Host time of projection and sort.
    pub prepared_in: Duration,
    /// Host time of the sort, which is part of `prepared_in`.
    pub sorted_in: Duration,
}

/// Result of a simulation, with its host time.
#[derive(Debug)]
pub struct TimedRun {
    /// Cycles, statistics and picture of the simulation.
    pub outcome: SimulationResult,
    /// Host time of this simulation alone.
    pub host: Duration,
}

impl<'a> PreparedView<'a> {
    /// Projects and sorts the splats in f64 whatever the SIMD level, since one pixel more would change all cycle counts.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if `task` is cancelled.
    pub fn new(
        splats: &'a Splats,
        camera: &Camera,
        profile: &Profile,
        level: SimdLevel,
        task: &Task,
    ) -> Result<Self> {
        let start = Instant::now();
        let mut frame = Preprocessed::default();
        let times = frame.run(splats, camera, profile, task)?;
        let draw = Draw::splats(&frame, camera.width, camera.height);
        task.check()?;
        Ok(Self {
            draw,
            exact: ExactAlpha {
                splats,
                view: ViewTransform::new(splats, camera, profile),
                cap: profile.alpha_cap,
            },
            stop: profile.stop,
            level,
            tests: Tests::default(),
            splats_in_view: frame.splats_in_view() as u64,
            prepared_in: start.elapsed(),
            sorted_in: times.sort,
        })
    }

    /// Draws the splats before opaque surfaces that an earlier draw has left in the depth buffer: a depth per pixel, row by
    /// row, in the measure of the splats. Splats behind it fail the depth test of the graphics pipeline, and Hi-Z culls
    /// them by tiles. At equal depths the splat is in front.
    ///
    /// # Errors
    /// [`Error::Argument`] if the number of depths is not the number of pixels.
    pub fn before(self, depths: Vec<f32>) -> Result<Self> {
        let pixels = self.draw.width as usize * self.draw.height as usize;
        Error::refuse_if(depths.len() != pixels, "depths", pixels, depths.len())?;
        let test = DepthTest { compare: CompareOp::LessOrEqual, write: false };
        Ok(Self { tests: Tests { depth: Some((test, depths)), ..self.tests }, ..self })
    }

    /// Draws the splats with a stencil test, from the stencil values of the pixels, row by row. Early termination of a method
    /// has the top bit of each value.
    ///
    /// # Errors
    /// [`Error::Argument`] if the number of values is not the number of pixels.
    pub fn with_stencil(self, test: StencilTest, values: Vec<u8>) -> Result<Self> {
        let pixels = self.draw.width as usize * self.draw.height as usize;
        Error::refuse_if(values.len() != pixels, "stencil values", pixels, values.len())?;
        Ok(Self { tests: Tests { stencil: Some((test, values)), ..self.tests }, ..self })
    }

    /// Tests of the draw on the graphics pipeline: none, unless [`Self::before`] or [`Self::with_stencil`] has set one.
    pub fn tests(&self) -> &Tests {
        &self.tests
    }

    /// Draw call with the visible splats in drawing order.
    #[must_use]
    pub fn draw(&self) -> &Draw {
        &self.draw
    }

    /// Stop rule of the profile, for software renderers. The graphics pipeline has its own termination.
    #[must_use]
    pub fn stop(&self) -> StopRule {
        self.stop
    }

    /// Counts of the scene on which the cost of preprocessing depends.
    #[must_use]
    pub fn scene_counts(&self) -> SceneCounts {
        let (splats, view) = (self.exact.splats, &self.exact.view);
        let ([_, _, forward], offset) = (view.rotation, view.translation_in_view[2]);
        let blocks = splats.blocks().iter().zip((0..splats.len()).step_by(BLOCK));
        let near = blocks.map(|(block, first)| {
            let lanes = 0..BLOCK.min(splats.len() - first);
            let depth = |lane: usize| {
                let axes = 0..3;
                let sum: f64 = axes.map(|i| forward[i] * f64::from(block.mean[i][lane])).sum();
                sum + offset
            };
            lanes.filter(|lane| view.culls(depth(*lane))).count() as u64
        });
        SceneCounts { splats: splats.len() as u64, near: near.sum(), sh_degree: splats.sh_degree() }
    }

    /// Preprocessing work of the draw, without the tile lists of a software renderer.
    #[must_use]
    pub fn workload(&self) -> KernelWorkload {
        self.scene_counts().workload(&self.draw)
    }

    /// Fragment shader of the draw, which decides fragments near the alpha cut in f64.
    #[must_use]
    pub fn shader(&self) -> FragmentShader<'_> {
        let near_cut: &dyn NearCut = &self.exact;
        FragmentShader::new(
            &self.draw.splats,
            [self.draw.width, self.draw.height],
            self.exact.cap,
            self.level,
            Some(near_cut),
        )
    }

    /// Simulates the view on one simulator with the given stencil and depth tests.
    #[must_use]
    pub fn run(&self, simulator: &Simulator, tests: &Tests) -> TimedRun {
        let start = Instant::now();
        let outcome = simulator.run(&self.draw, self.shader(), tests);
        TimedRun { outcome, host: start.elapsed() }
    }

    /// Simulates the view without tests on several simulators, in parallel on rayon's current pool.
    #[must_use]
    pub fn run_all(&self, simulators: &[Simulator]) -> Vec<TimedRun> {
        let tests = Tests::default();
        simulators.par_iter().map(|simulator| self.run(simulator, &tests)).collect()
    }
}
