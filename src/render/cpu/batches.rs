//! Pictures of scenes that are larger than memory: the scene is read in batches, of which only the splats in view are kept.

use std::time::{Duration, Instant};

use super::bin::TileGrid;
use super::clock::{Clock, RenderTimes};
use super::renderer::Renderer;
use super::{Counts, RenderSettings};
use crate::preprocess::KeptSplats;
use quadrille_base::image::Frame;
use quadrille_base::math::fit;
use quadrille_base::{Error, Result, Task};
use quadrille_scene::formats::EachBatch;
use quadrille_scene::{Camera, Splats};

/// Bytes kept per splat in view until its picture is drawn.
pub const KEPT_BYTES: usize = 76;

/// Counts and times of a view, and the size of its working arrays in bytes.
pub type DrawnView = (Counts, RenderTimes, usize);

impl Renderer {
    /// Renders a frame for each of `cameras`, identical to the frame of the whole scene, and calls `each` with the index of
    /// the camera, the frame, and its counts and times. `pass` reads the scene and calls its argument with each batch of
    /// splats, in the scene's order.
    ///
    /// At most `kept_bytes` of projected splats are kept. Views that do not fit are drawn in further passes over the scene.
    ///
    /// # Errors
    /// [`Error::Limit`] if one view needs more than `kept_bytes`, [`Error::Cancelled`], and errors of `pass` and `each`.
    pub fn render_batches(
        &mut self,
        mut pass: impl FnMut(EachBatch<'_>) -> Result<()>,
        cameras: &[Camera],
        settings: &RenderSettings,
        kept_bytes: u64,
        task: &Task,
        mut each: impl FnMut(usize, &Frame, DrawnView) -> Result<()>,
    ) -> Result<()> {
        cameras.iter().try_for_each(|camera| settings.check(camera))?;
        let mut frame = Frame::new(0, 0);
        let (mut first_view, mut at_once) = (0, cameras.len());
        while first_view < cameras.len() {
            let cameras = &cameras[first_view..cameras.len().min(first_view + at_once)];
            let mut views: Vec<View> = cameras.iter().map(|_| View::default()).collect();
            let mut first = 0;
            pass(&mut |batch| {
                for (camera, view) in cameras.iter().zip(&mut views) {
                    self.project_batch(view, batch, first, camera, settings, task);
                    task.check()?;
                }
                first += fit::<u32>(batch.len());
                shed(&mut views, kept_bytes)
            })?;
            at_once = views.len();
            let first = first_view;
            first_view += at_once;
            for (index, (camera, view)) in (first..).zip(cameras.iter().zip(views)) {
                let drawn = self.draw_view(&mut frame, view, camera, settings, task);
                task.check()?;
                each(index, &frame, drawn)?;
            }
        }
        Ok(())
    }

    fn project_batch(
        &mut self,
        view: &mut View,
        batch: &Splats,
        first: u32,
        camera: &Camera,
        settings: &RenderSettings,
        task: &Task,
    ) {
        let start = Instant::now();
        let (profile, level) = (&settings.profile, Some(settings.level));
        self.projected.run(batch, camera, profile, level, task);
        view.kept.append(&self.projected, first);
        view.preprocess += start.elapsed();
    }

    fn draw_view(
        &mut self,
        frame: &mut Frame,
        view: View,
        camera: &Camera,
        settings: &RenderSettings,
        task: &Task,
    ) -> DrawnView {
        let mut clock = Clock::start();
        let splats_in_view = view.kept.splats_in_view();
        self.projected = view.kept.into_projected();
        frame.resize(camera.width, camera.height);
        let grid = TileGrid::new(camera.width, camera.height);
        let drawn =
            self.raster(frame.pixels_mut(), grid, camera, settings.into(), &mut clock, task);
        let counts = Counts { splats_in_frustum: splats_in_view as u64, ..self.counts(drawn) };
        let mut times = clock.stop();
        times.preprocess = view.preprocess;
        times.total += view.preprocess;
        let used_bytes = self.used_bytes();
        // Frees the memory of projections and lists for the next pass.
        (self.projected, self.bins) = Default::default();
        (counts, times, used_bytes)
    }
}

#[derive(Default)]
struct View {
    kept: KeptSplats,
    preprocess: Duration,
}

/// Drops the last views until the others hold at most `most` bytes.
fn shed(views: &mut Vec<View>, most: u64) -> Result<()> {
    loop {
        let kept: usize = views.iter().map(|view| view.kept.bytes()).sum();
        match views.len() {
            _ if kept as u64 <= most => return Ok(()),
            0 | 1 => {
                let what = "bytes for the splats in view (half of the memory)";
                return Error::check_limit(what, most, kept as u64);
            }
            _ => views.truncate(views.len() - 1),
        }
    }
}
