//! The drawing of views, and the writing of their files meanwhile.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};

use rayon::ThreadPool;

use super::rendered::Rendered;
use crate::cli::console::{Verbosity, print};
use crate::cli::exposures::ViewExposures;
use crate::cli::frames::{FrameTimer, FrameTimes};
use crate::cli::inputs::warn_if_few;
use crate::cli::interrupt;
use crate::cli::layers::LayerFlags;
use crate::cli::outputs::{Background, Output};
use crate::cli::resume::Resume;
use quadrille_base::error::Result;
use quadrille_base::image::{Frame, LayerPicture};
use quadrille_scene::{Camera, Scene};
use quadrille_suite::report::table::LineTable;

/// Assumed: a second frame of 256 MiB.
const AHEAD_PIXELS: u64 = 1 << 24;

pub(super) fn draws_ahead(camera: &Camera, views: usize) -> bool {
    let pixels = u64::from(camera.width) * u64::from(camera.height);
    views > 1 && pixels <= AHEAD_PIXELS
}

pub(super) struct Drawing<'a> {
    pub(super) scene: &'a Scene,
    pub(super) layers: &'a LayerFlags,
    pub(super) background: Option<Background>,
    pub(super) can_draw_bands: bool,
    pub(super) repeat: u32,
    pub(super) verbosity: Verbosity,
    pub(super) output: Option<&'a Output>,
    pub(super) exposures: Option<&'a ViewExposures>,
    pub(super) resume: Option<Resume>,
    pub(super) lines: Option<LineTable>,
    pub(super) near: f64,
    pub(super) pool: &'a ThreadPool,
}

struct Drawn<'a> {
    camera: Camera,
    frame: Frame,
    layers: Vec<LayerPicture>,
    output: Option<String>,
    /// `None` for a picture that is kept.
    timed: Option<FrameTimes>,
    noted: Option<(&'a Resume, Vec<PathBuf>)>,
}

impl Drawing<'_> {
    /// Draws all views. Another thread writes the files of a view while the next one is drawn.
    pub(super) fn draw_all(
        &self,
        cameras: Vec<Camera>,
        timer: &mut FrameTimer,
    ) -> Result<Vec<Rendered>> {
        let (drawn_in, drawn_out) = sync_channel(0);
        let (free_in, free_out) = channel();
        let ahead = cameras.iter().all(|camera| draws_ahead(camera, cameras.len()));
        for _ in 0..if ahead { 2 } else { 1 } {
            // The receiver is there.
            let _ = free_in.send(Frame::new(0, 0));
        }
        std::thread::scope(|scope| {
            let count = cameras.len() as u64;
            let finishing = scope.spawn(move || self.finish_all(count, &drawn_out, &free_in));
            for camera in cameras {
                // A channel is closed when writing has failed.
                let Ok(frame) = free_out.recv() else {
                    break;
                };
                let drawn = self.kept_or_drawn(camera, timer, frame);
                let is_drawn = drawn.is_ok();
                if drawn_in.send(drawn).is_err() || !is_drawn {
                    break;
                }
            }
            drop(drawn_in);
            let finished = finishing.join();
            finished.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    fn finish_all(
        &self,
        count: u64,
        drawn: &Receiver<Result<Drawn<'_>>>,
        free: &Sender<Frame>,
    ) -> Result<Vec<Rendered>> {
        let progress = self.verbosity.progress("views");
        let steps = progress.task.steps(count);
        let rendered = drawn.iter().map(|drawn| {
            let (rendered, frame) = self.finish(drawn?)?;
            // Nobody takes the last one.
            let _ = free.send(frame);
            if let Some(lines) = &self.lines {
                let line = lines.line(rendered.cells());
                progress.bar.suspend(|| print(line))?;
            }
            steps.advance(1)?;
            Ok(rendered)
        });
        rendered.collect()
    }

    fn finish(&self, drawn: Drawn<'_>) -> Result<(Rendered, Frame)> {
        let Drawn { camera, frame, layers, mut output, timed, noted } = drawn;
        if let Some(timed) = &timed {
            let in_view = timed.counts.splats_in_frustum;
            warn_if_few(self.scene, &camera, self.near, in_view, self.verbosity);
            if let Some(to) = self.output.filter(|_| output.is_none()) {
                output = Some(self.pool.install(|| self.save(to, &camera, &frame, &layers))?);
            }
        }
        if let Some((resume, files)) = &noted {
            resume.record(&format!("{camera:?}"), files)?;
        }
        let rendered = Rendered { camera, output, timed };
        Ok((rendered, frame))
    }

    fn save(
        &self,
        output: &Output,
        camera: &Camera,
        frame: &Frame,
        layers: &[LayerPicture],
    ) -> Result<String> {
        let (exposures, view) = (self.exposures, &camera.name);
        let exposed = exposures.and_then(|e| e.apply(frame, view, self.verbosity));
        let frame = exposed.as_ref().unwrap_or(frame);
        self.layers.save(output, frame, layers, view, self.background)
    }

    fn kept_or_drawn(
        &self,
        camera: Camera,
        timer: &mut FrameTimer,
        mut frame: Frame,
    ) -> Result<Drawn<'_>> {
        let noted = self.resume.as_ref().zip(self.output);
        let noted = noted.map(|(resume, output)| (resume, self.layers.files(output, &camera.name)));
        let kept =
            noted.as_ref().filter(|(resume, files)| resume.is_made(&format!("{camera:?}"), files));
        if let Some((_, files)) = kept {
            return Ok(Drawn {
                output: files.first().map(|picture| picture.display().to_string()),
                camera,
                frame,
                layers: Vec::new(),
                timed: None,
                noted: None,
            });
        }
        let (output, timed) = self.pool.install(|| self.draw(&camera, timer, &mut frame))?;
        Ok(Drawn {
            camera,
            frame,
            layers: std::mem::take(&mut timer.pictures),
            output,
            timed: Some(timed),
            noted,
        })
    }

    /// Draws a view. A picture in bands is written at once; its path is returned.
    fn draw(
        &self,
        camera: &Camera,
        timer: &mut FrameTimer,
        frame: &mut Frame,
    ) -> Result<(Option<String>, FrameTimes)> {
        let (splats, background) = (&self.scene.splats, self.background);
        let is_in_bands = |o: &&Output| self.can_draw_bands && o.is_in_bands(camera, background);
        let Some(output) = self.output.filter(is_in_bands) else {
            return Ok((None, timer.render(frame, splats, camera, self.repeat)?));
        };
        let (path, timed) = output.write_bands(camera, interrupt::task(), |write| {
            timer.render_bands(splats, camera, |band| {
                write(&self.layers.picture(output, band, background))
            })
        })?;
        Ok((Some(path), timed))
    }
}
