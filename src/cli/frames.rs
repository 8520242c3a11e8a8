//! Frames with the time they took.

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::cpu::{Counts, RenderSettings, RenderTimes, Renderer, reference};
use crate::gpu::view::PreparedView;
use crate::gpu::wiring::Simulator;
use crate::gpu::zrop::framebuffer::Tests;
use crate::image::Frame;
use crate::math::SimdLevel;
use crate::scene::{Camera, Splats};
use crate::shading::Profile;

/// Which renderer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(super) enum Backend {
    /// The fast renderer
    Cpu,
    /// The scalar renderer that defines the result
    Reference,
    /// The baseline of the emulated graphics pipeline (see `quadrille sim`)
    Gpu,
}

/// Renders frames, again and again where asked, and times them.
pub(super) struct FrameTimer {
    backend: Backend,
    settings: RenderSettings,
    renderer: Renderer,
}

/// Milliseconds by stage; stages that a backend does not tell apart are absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(super) struct StageMs {
    preprocess: Option<f64>,
    sort: Option<f64>,
    bin: Option<f64>,
    raster: Option<f64>,
    pub(super) total: f64,
}

/// Headings of the stages in tables.
pub(super) const STAGES: [&str; 4] = ["preproc", "sort", "bin", "raster"];

/// A view's counts and times.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timed {
    pub(super) counts: Counts,
    /// Bytes of working arrays beside scene and picture.
    pub(super) frame_bytes: usize,
    /// Each stage's median over the repetitions.
    pub(super) median_ms: StageMs,
    /// Each stage's minimum over the repetitions.
    pub(super) least_ms: StageMs,
}

impl FrameTimer {
    pub(super) fn new(backend: Backend, profile: Profile, level: SimdLevel) -> Self {
        Self {
            backend,
            settings: RenderSettings { profile, level },
            renderer: Renderer::default(),
        }
    }

    pub(super) fn profile(&self) -> &Profile {
        &self.settings.profile
    }

    /// Renders a view `repeat` times into `frame`.
    pub(super) fn render(
        &mut self,
        frame: &mut Frame,
        splats: &Splats,
        camera: &Camera,
        repeat: u32,
    ) -> Timed {
        let mut counts = Counts::default();
        let mut times = Vec::new();
        for _ in 0..repeat {
            let start = Instant::now();
            let mut stages = StageMs::default();
            match self.backend {
                Backend::Cpu => {
                    let settings = &self.settings;
                    let (c, t) = self.renderer.render_into(frame, splats, camera, settings);
                    counts = c;
                    stages = StageMs::of(&t);
                }
                Backend::Reference => {
                    (*frame, counts) = reference::render(splats, camera, &self.settings);
                    stages.total = ms(start.elapsed());
                }
                Backend::Gpu => {
                    (*frame, counts, stages) = self.emulate(splats, camera);
                    stages.total = ms(start.elapsed());
                }
            }
            times.push(stages);
        }
        let frame_bytes = match self.backend {
            Backend::Cpu => self.renderer.used_bytes(),
            Backend::Reference | Backend::Gpu => 0,
        };
        Timed {
            counts,
            frame_bytes,
            median_ms: StageMs::each(&times, median),
            least_ms: StageMs::each(&times, |v| v[0]),
        }
    }

    /// A frame of the emulated pipeline's baseline, with the time on this machine: what prepares
    /// the draw, its sort, and the pipeline as raster; it has no bins of its own.
    fn emulate(&self, splats: &Splats, camera: &Camera) -> (Frame, Counts, StageMs) {
        let RenderSettings { profile, level } = &self.settings;
        let view = PreparedView::new(splats, camera, profile, *level);
        let run = view.run(&Simulator::default(), &Tests::default());
        let counts = Counts {
            splats_in_frustum: u64::from(view.draw().len()),
            fragments_blended: run.outcome.fragments.blended,
        };
        let prepared = view.prepared_in.saturating_sub(view.sorted_in);
        let stages = [prepared, view.sorted_in, Duration::ZERO, run.host];
        let stages = StageMs::from_stages(stages.map(|time| Some(ms(time))), 0.0);
        (run.outcome.framebuffer.frame(), counts, stages)
    }
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// The middle of sorted values; of an even number, the mean of the two in the middle.
fn median(sorted: &[f64]) -> f64 {
    f64::midpoint(sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2])
}

impl StageMs {
    fn of(times: &RenderTimes) -> Self {
        let stages = [times.preprocess, times.sort, times.bin, times.raster];
        Self::from_stages(stages.map(|time| Some(ms(time))), ms(times.total))
    }

    fn from_stages([preprocess, sort, bin, raster]: [Option<f64>; 4], total: f64) -> Self {
        Self {
            preprocess,
            sort,
            bin,
            raster,
            total,
        }
    }

    /// The stages in their order, without the total.
    pub(super) fn stages(self) -> [Option<f64>; 4] {
        [self.preprocess, self.sort, self.bin, self.raster]
    }

    /// A statistic of each stage by itself; `of_sorted` gets at least one value, ascending.
    fn each(times: &[Self], of_sorted: fn(&[f64]) -> f64) -> Self {
        let statistic = |stage: &dyn Fn(&Self) -> Option<f64>| {
            let mut values = times.iter().map(stage).collect::<Option<Vec<f64>>>()?;
            values.sort_by(f64::total_cmp);
            Some(of_sorted(&values))
        };
        let stages = [0, 1, 2, 3].map(|i| statistic(&|t| t.stages()[i]));
        Self::from_stages(stages, statistic(&|t| Some(t.total)).unwrap_or(0.0))
    }
}

/// The most memory this process ever held, where the system tells.
pub(super) fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_minima_are_taken_stage_by_stage() {
        let times = [[3.0, 1.0], [1.0, 2.0], [2.0, 9.0]]
            .map(|[a, total]| StageMs::from_stages([Some(a), None, None, None], total));
        let median = StageMs::each(&times, median);
        assert_eq!((median.preprocess, median.total), (Some(2.0), 2.0));
        let least = StageMs::each(&times, |v| v[0]);
        assert_eq!((least.preprocess, least.total), (Some(1.0), 1.0));
        assert_eq!(least.sort, None);
        assert_eq!(super::median(&[1.0, 2.0, 4.0, 8.0]), 3.0);
    }
}
