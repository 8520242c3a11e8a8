//! A view of a scene, ready to be run through any number of variants.

use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::config::Config;
use super::draw::Draw;
use super::variant::Variant;
use super::warp::fragment::FragmentShader;
use crate::gpu::result::SimulationResult;
use crate::gpu::warp::exact_alpha::{ExactAlpha, NearCut};
use crate::gpu::wiring;
use crate::gpu::wiring::Watch;
use crate::gpu::zrop::framebuffer::Tests;
use crate::math::SimdLevel;
use crate::preprocess::{Preprocessed, ViewTransform};
use crate::scene::{Camera, Splats};
use crate::shading::Profile;

/// A scene seen from a camera: sorted splats with their boxes.
pub struct PreparedView<'a> {
    draw: Draw,
    exact: ExactAlpha<'a>,
    level: SimdLevel,
    /// How long preparing took.
    pub prepared_in: Duration,
    /// Of that, how long sorting took.
    pub sorted_in: Duration,
}

/// A run, and how long the host took for it.
#[derive(Debug)]
pub struct Run {
    /// What came out.
    pub outcome: SimulationResult,
    /// Time of this variant alone.
    pub host: Duration,
}

impl<'a> PreparedView<'a> {
    /// Projects and sorts the splats; `level` is the host's, and changes no result.
    #[must_use]
    pub fn new(splats: &'a Splats, camera: &Camera, profile: &Profile, level: SimdLevel) -> Self {
        let start = Instant::now();
        let mut frame = Preprocessed::default();
        let times = frame.run(splats, camera, profile, level);
        Self {
            draw: Draw::splats(&frame, camera.width, camera.height),
            exact: ExactAlpha {
                splats,
                view: ViewTransform::new(camera, profile),
                cap: profile.alpha_cap,
            },
            level,
            prepared_in: start.elapsed(),
            sorted_in: times.sort,
        }
    }

    /// The draw.
    #[must_use]
    pub fn draw(&self) -> &Draw {
        &self.draw
    }

    /// The fragment shader of the draw.
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

    /// Runs one variant.
    #[must_use]
    pub fn run(&self, config: &Config, variant: Variant, tests: &Tests, watch: Watch) -> Run {
        let start = Instant::now();
        let outcome = wiring::run(&self.draw, self.shader(), tests, config, variant, watch);
        Run {
            outcome,
            host: start.elapsed(),
        }
    }

    /// Runs several variants, side by side as rayon's current pool allows.
    #[must_use]
    pub fn run_all(&self, config: &Config, variants: &[Variant], watch: Watch) -> Vec<Run> {
        let tests = Tests::default();
        let runs = variants.par_iter();
        runs.map(|&variant| self.run(config, variant, &tests, watch))
            .collect()
    }
}
