//! Pictures of a call: reuse of pictures from `--resume`, and writing of files while the next view is drawn.

use std::path::PathBuf;
use std::sync::mpsc::{channel, sync_channel};

use super::args::Job;
use super::rendered::Rendered;
use crate::cli::console::print;
use crate::cli::exposures::ViewExposures;
use crate::cli::frames::FrameTimer;
use crate::cli::inputs::warn_if_few;
use crate::cli::outputs::Output;
use crate::cli::resume::Resume;
use crate::cli::session::Progress;
use quadrille_base::error::Result;
use quadrille_base::image::{Frame, LayerPicture};
use quadrille_base::shading::Profile;
use quadrille_base::task::Steps;
use quadrille_scene::{Camera, Scene};
use quadrille_suite::report::table::LineTable;

/// Largest picture in pixels for which a second frame is allocated (assumed): 256 MiB of f32 RGBA.
const AHEAD_PIXELS: u64 = 1 << 24;

pub(super) fn draws_ahead(camera: &Camera, views: usize) -> bool {
    let pixels = u64::from(camera.width) * u64::from(camera.height);
    views > 1 && pixels <= AHEAD_PIXELS
}

/// Writes the files of drawn views and prints their table.
pub(super) struct Pictures<'a> {
    pub(super) job: &'a Job<'a>,
    pub(super) exposures: Option<&'a ViewExposures>,
    pub(super) resume: Option<Resume>,
    /// Table whose lines are printed as views finish; `None` if no line is printed before the last view.
    pub(super) lines: Option<LineTable>,
    pub(super) profile: Profile,
    pub(super) progress: &'a Progress,
    pub(super) steps: Steps<'a>,
}

struct Drawn {
    view: Rendered,
    frame: Frame,
    layers: Vec<LayerPicture>,
}

impl Pictures<'_> {
    /// Draws all views of a scene. Another thread writes the files of a view while the next one is drawn.
    pub(super) fn draw_all(
        &self,
        scene: &Scene,
        cameras: Vec<Camera>,
        timer: &mut FrameTimer,
    ) -> Result<Vec<Rendered>> {
        let (drawn_in, drawn_out) = sync_channel(0);
        let (free_in, free_out) = channel();
        let ahead = cameras.iter().all(|camera| draws_ahead(camera, cameras.len()));
        for _ in 0..if ahead { 2 } else { 1 } {
            // Cannot fail: the receiver is still alive.
            let _ = free_in.send(Frame::new(0, 0));
        }
        std::thread::scope(|scope| {
            let taking = scope.spawn(move || {
                let rendered = drawn_out.iter().map(|drawn: Result<Drawn>| {
                    let Drawn { view, frame, layers } = drawn?;
                    let view = self.take(view, &frame, &layers, Some(scene))?;
                    // After the last view, the receiver may be gone.
                    let _ = free_in.send(frame);
                    Ok(view)
                });
                rendered.collect()
            });
            for camera in cameras {
                // A channel is closed when writing has failed.
                let Ok(frame) = free_out.recv() else { break };
                let drawn = self.kept_or_drawn(scene, camera, timer, frame);
                let is_drawn = drawn.is_ok();
                if drawn_in.send(drawn).is_err() || !is_drawn {
                    break;
                }
            }
            drop(drawn_in);
            taking.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Finishes a view that was drawn or kept: warns if little of `scene` is in view, writes the missing files, and
    /// prints its table line.
    pub(super) fn take(
        &self,
        mut view: Rendered,
        frame: &Frame,
        layers: &[LayerPicture],
        scene: Option<&Scene>,
    ) -> Result<Rendered> {
        if let Some(timed) = &view.timed {
            let in_view = timed.counts.splats_in_frustum;
            warn_if_few(scene, &view.camera, &self.profile, in_view, self.job.session);
            if let Some(output) = self.job.output.as_ref().filter(|_| view.output.is_none()) {
                let save = || self.save(output, &view.camera.name, frame, layers);
                view.output = Some(self.job.session.install(save)?);
            }
            if let Some((resume, files)) = self.noted(&view.camera) {
                resume.record(&self.key(&view.camera), &files)?;
            }
        }
        if let Some(lines) = &self.lines {
            let line = lines.line(view.cells());
            self.progress.bar.suspend(|| print(line))?;
        }
        self.steps.advance(1)?;
        Ok(view)
    }

    fn save(
        &self,
        output: &Output,
        view: &str,
        frame: &Frame,
        layers: &[LayerPicture],
    ) -> Result<String> {
        let exposed = self.exposures.and_then(|e| e.apply(frame, view, self.job.session));
        let (frame, flags) = (exposed.as_ref().unwrap_or(frame), &self.job.args.flags);
        let (background, session) = (flags.draw.background, self.job.session);
        flags.layers.save(output, frame, layers, view, background, &|text| session.note(text))
    }

    /// Output files of a view, for the note that `--resume` keeps beside the first one.
    fn noted(&self, camera: &Camera) -> Option<(&Resume, Vec<PathBuf>)> {
        let (resume, output) = self.resume.as_ref().zip(self.job.output.as_ref())?;
        Some((resume, self.job.args.flags.layers.files(output, &camera.name)))
    }

    /// Camera and blur of a view.
    fn key(&self, camera: &Camera) -> String {
        let blur = self.job.blurs.as_ref().and_then(|blurs| blurs.of(camera));
        blur.map_or_else(|| format!("{camera:?}"), |blur| format!("{camera:?} {blur:?}"))
    }

    fn kept_or_drawn(
        &self,
        scene: &Scene,
        camera: Camera,
        timer: &mut FrameTimer,
        mut frame: Frame,
    ) -> Result<Drawn> {
        if let Some((resume, files)) = self.noted(&camera)
            && resume.is_made(&self.key(&camera), &files)
        {
            let output = files.first().map(|picture| picture.display().to_string());
            let view = Rendered { camera, output, timed: None };
            return Ok(Drawn { view, frame, layers: Vec::new() });
        }
        let view = self.job.session.install(|| self.draw(scene, camera, timer, &mut frame))?;
        Ok(Drawn { view, frame, layers: std::mem::take(&mut timer.pictures) })
    }

    /// Draws a view. A picture in bands is written to its file while it is drawn.
    fn draw(
        &self,
        scene: &Scene,
        camera: Camera,
        timer: &mut FrameTimer,
        frame: &mut Frame,
    ) -> Result<Rendered> {
        let (splats, flags) = (&scene.splats, &self.job.args.flags);
        let output = self.job.output.as_ref().filter(|_| self.job.draws_bands(&camera));
        let Some(output) = output else {
            let times = timer.render(frame, splats, &camera, self.job.args.repeat.unwrap_or(1))?;
            return Ok(Rendered::new(camera, times));
        };
        let (path, times) = output.write_bands(&camera, self.job.session.task, |write| {
            timer.render_bands(splats, &camera, |band| {
                write(&flags.layers.picture(output, band, flags.draw.background))
            })
        })?;
        Ok(Rendered { output: Some(path), ..Rendered::new(camera, times) })
    }
}
