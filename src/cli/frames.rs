//! Rendering with times.

use quadrille_base::math::order::median;
use quadrille_base::units::milliseconds;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use quadrille_base::choice;
use quadrille_base::image::{Frame, LayerPicture};
use quadrille_base::math::fit;
use quadrille_base::{Result, Task};
use quadrille_gpu::view::PreparedView;
use quadrille_gpu::wiring::Simulator;
use quadrille_gpu::zrop::framebuffer::Tests;
use quadrille_render::cpu::surfaces::SurfaceScene;
use quadrille_render::cpu::{
    Counts, LayerSettings, RenderSettings, RenderTimes, Renderer, reference,
};
use quadrille_scene::{Camera, Splats};
use quadrille_suite::blur::{Blurs, draw_blurred};
use quadrille_suite::mesh_input::PlacedMeshes;

choice! {
    /// Implementation that draws the picture.
    pub(super) enum Backend {
        /// Fast renderer with vector instructions
        Cpu = "cpu",
        /// Scalar renderer that defines the result
        Reference = "reference",
        /// Baseline of the emulated graphics pipeline (see `quadrille sim`)
        Gpu = "gpu",
    }
}

pub(super) struct FrameTimer {
    pub(super) backend: Backend,
    pub(super) settings: RenderSettings,
    pub(super) task: &'static Task,
    pub(super) renderer: Renderer,
    pub(super) layers: LayerSettings,
    pub(super) pictures: Vec<LayerPicture>,
    /// Meshes among the splats, for the backends `cpu` and `reference`.
    pub(super) meshes: Option<Arc<PlacedMeshes>>,
    /// Blur of the views, for the backends `cpu` and `reference` without layers.
    pub(super) blurs: Option<Arc<Blurs>>,
}

/// What a view is drawn with.
struct Drawing<'a> {
    backend: Backend,
    settings: &'a RenderSettings,
    layers: &'a LayerSettings,
    meshes: Option<&'a PlacedMeshes>,
    task: &'static Task,
}

/// Layers, counts and times of a drawn view.
type Drawn = (Vec<LayerPicture>, Counts, StageMs);

/// Times in milliseconds of [`STAGES`] and of the whole frame; `None` for stages that a backend does not time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct StageMs {
    pub(super) stages: [Option<f64>; 4],
    pub(super) total: f64,
}

/// Pixels of a band (assumed): 256 MiB of f32 RGBA, and enough tiles for many threads.
const BAND_PIXELS: usize = 1 << 24;

pub(super) fn band_rows(width: u32) -> u32 {
    fit(BAND_PIXELS / width as usize)
}

pub(super) const STAGES: [&str; 4] = ["preproc", "sort", "bin", "raster"];

#[derive(Debug, Clone, Copy)]
pub(super) struct FrameTimes {
    pub(super) counts: Counts,
    /// Bytes of the renderer's working arrays, without the scene and the picture.
    pub(super) frame_bytes: usize,
    pub(super) median_ms: StageMs,
    pub(super) least_ms: StageMs,
}

impl FrameTimes {
    pub(super) fn once(counts: Counts, times: &RenderTimes, frame_bytes: usize) -> Self {
        let times = StageMs::of(times);
        Self { counts, frame_bytes, median_ms: times, least_ms: times }
    }
}

impl FrameTimer {
    pub(super) fn render(
        &mut self,
        frame: &mut Frame,
        splats: &Splats,
        camera: &Camera,
        repeat: u32,
    ) -> Result<FrameTimes> {
        let Self { backend, settings, task, renderer, layers, pictures, meshes, blurs } = self;
        let (settings, meshes) = (&*settings, meshes.as_deref());
        let drawing = Drawing { backend: *backend, settings, layers, meshes, task };
        let blur = blurs.as_ref().and_then(|blurs| blurs.of(camera));
        let mut counts = Counts::default();
        let mut times = Vec::new();
        for _ in 0..repeat {
            task.check()?;
            let start = Instant::now();
            let mut stages = StageMs::default();
            match blur {
                None => {
                    (*pictures, counts, stages) = drawing.draw(frame, renderer, splats, camera)?;
                }
                Some(blur) => {
                    counts = draw_blurred(frame, camera, blur, &|frame, renderer, camera| {
                        drawing.draw(frame, renderer, splats, camera).map(|drawn| drawn.1)
                    })?;
                }
            }
            if *backend != Backend::Cpu || blur.is_some() {
                stages.total = milliseconds(start.elapsed());
            }
            times.push(stages);
        }
        let frame_bytes = match self.backend {
            Backend::Cpu => self.renderer.used_bytes(),
            Backend::Reference | Backend::Gpu => 0,
        };
        Ok(FrameTimes {
            counts,
            frame_bytes,
            median_ms: StageMs::each(&times, median),
            least_ms: StageMs::each(&times, |v| v.iter().copied().reduce(f64::min)),
        })
    }

    pub(super) fn render_bands(
        &mut self,
        splats: &Splats,
        camera: &Camera,
        each: impl FnMut(&Frame) -> Result<()>,
    ) -> Result<FrameTimes> {
        let (settings, task) = (&self.settings, self.task);
        let renderer = &mut self.renderer;
        let (counts, t) =
            renderer.render_bands(BAND_PIXELS, splats, camera, settings, task, each)?;
        Ok(FrameTimes::once(counts, &t, renderer.used_bytes()))
    }
}

impl Drawing<'_> {
    fn draw(
        &self,
        frame: &mut Frame,
        renderer: &mut Renderer,
        splats: &Splats,
        camera: &Camera,
    ) -> Result<Drawn> {
        let Self { backend, settings, layers, meshes, task } = *self;
        let start = Instant::now();
        let surfaces = |meshes: &PlacedMeshes| meshes.surfaces(camera, settings.level, task);
        let surfaces = meshes.map(surfaces).transpose()?;
        let meshes_in = start.elapsed();
        match backend {
            Backend::Cpu => {
                let (pictures, counts, drawn) = if let Some(surfaces) = &surfaces {
                    let scene = SurfaceScene { splats, surfaces };
                    renderer.render_surfaces(frame, scene, camera, settings, layers, task)?
                } else if layers.layers.is_empty() {
                    let (counts, drawn) =
                        renderer.render_into(frame, splats, camera, settings, task)?;
                    (Vec::new(), counts, drawn)
                } else {
                    renderer.render_layers(frame, splats, camera, settings, layers, task)?
                };
                let mut stages = StageMs::of(&drawn);
                if surfaces.is_some() {
                    stages.total += milliseconds(meshes_in);
                }
                Ok((pictures, counts, stages))
            }
            Backend::Reference => {
                let (drawn, pictures, counts) = match &surfaces {
                    Some(surfaces) => {
                        let scene = SurfaceScene { splats, surfaces };
                        reference::render_surfaces(scene, camera, settings, layers)?
                    }
                    None => reference::render_layers(splats, camera, settings, layers),
                };
                *frame = drawn;
                Ok((pictures, counts, StageMs::default()))
            }
            Backend::Gpu => {
                let (drawn, counts, stages) = self.emulate(splats, camera)?;
                *frame = drawn;
                Ok((Vec::new(), counts, stages))
            }
        }
    }

    /// Renders with the baseline of the emulated pipeline. Times are host times; the pipeline counts as raster.
    fn emulate(&self, splats: &Splats, camera: &Camera) -> Result<(Frame, Counts, StageMs)> {
        let (RenderSettings { profile, level }, task) = (self.settings, self.task);
        let view = PreparedView::new(splats, camera, profile, *level, task)?;
        let run =
            view.run(&Simulator::default().under(&task.without_progress()), &Tests::default());
        task.check()?;
        let counts = Counts {
            splats_in_frustum: view.splats_in_view,
            fragments_blended: run.outcome.fragments.blended,
        };
        let prepared = view.prepared_in.saturating_sub(view.sorted_in);
        let stages = [prepared, view.sorted_in, Duration::ZERO, run.host];
        Ok((run.outcome.framebuffer.frame(), counts, StageMs::timed(stages, Duration::ZERO)))
    }
}

impl StageMs {
    fn of(times: &RenderTimes) -> Self {
        let RenderTimes { preprocess, sort, bin, raster, total, .. } = *times;
        Self::timed([preprocess, sort, bin, raster], total)
    }

    fn timed(stages: [Duration; 4], total: Duration) -> Self {
        Self { stages: stages.map(|time| Some(milliseconds(time))), total: milliseconds(total) }
    }

    pub(super) fn json(&self) -> Value {
        let [preprocess, sort, bin, raster] = self.stages;
        json!({
            "preprocess": preprocess,
            "sort": sort,
            "bin": bin,
            "raster": raster,
            "total": self.total,
        })
    }

    fn each(times: &[Self], statistic: fn(&mut [f64]) -> Option<f64>) -> Self {
        let of = |stage: &dyn Fn(&Self) -> Option<f64>| {
            let mut values = times.iter().map(stage).collect::<Option<Vec<f64>>>()?;
            statistic(&mut values)
        };
        Self {
            stages: [0, 1, 2, 3].map(|i| of(&|t| t.stages[i])),
            total: of(&|t| Some(t.total)).unwrap_or(0.0),
        }
    }
}

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
            .map(|[first, total]| StageMs { stages: [Some(first), None, None, None], total });
        let median = StageMs::each(&times, median);
        assert_eq!((median.stages[0], median.total), (Some(2.0), 2.0));
        let least = StageMs::each(&times, |v| v.iter().copied().reduce(f64::min));
        assert_eq!((least.stages[0], least.total), (Some(1.0), 1.0));
        assert_eq!(least.stages[1], None);
    }
}
