//! Films of splats: frames rendered at the same time.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use indicatif::ProgressBar;

use super::console::Verbosity;
use super::film::{Film, FinishedFilm};
use super::frames::{Backend, FrameTimer};
use super::outputs::{Background, colour_behind};
use quadrille_base::error::{Error, Result};
use quadrille_base::image::Frame;
use quadrille_base::image::film::{FilmFormat, FilmWriter};
use quadrille_base::task::Steps;
use quadrille_render::cpu::{LayerSettings, RenderSettings, Renderer};
use quadrille_scene::cameras::Views;
use quadrille_scene::{Camera, Splats};

/// Bytes for frames rendered at the same time: pictures and working arrays.
const MEMORY: usize = 4 << 30;

#[derive(Debug, Clone, Copy)]
pub(super) struct FilmSettings {
    pub(super) backend: Backend,
    pub(super) render: RenderSettings,
    pub(super) background: Option<Background>,
    pub(super) threads: usize,
}

pub(super) fn write_film(
    film: &Film<'_>,
    splats: &Splats,
    views: &Views,
    settings: &FilmSettings,
    verbosity: Verbosity,
) -> Result<FinishedFilm> {
    let progress = verbosity.progress("frames");
    let task = &progress.task;
    let job = FilmJob {
        format: film.format,
        splats,
        cameras: &views.cameras,
        settings,
        bar: &progress.bar,
        steps: task.steps(views.cameras.len() as u64),
    };
    film.record(views, settings.background, task, |writer| job.shoot(writer))
}

struct FilmJob<'a> {
    format: FilmFormat,
    splats: &'a Splats,
    cameras: &'a [Camera],
    settings: &'a FilmSettings,
    bar: &'a ProgressBar,
    steps: Steps<'a>,
}

type Prepared = std::io::Result<Vec<u8>>;

impl FilmJob<'_> {
    /// Renders all frames and appends them in order; returns how many were rendered at once.
    ///
    /// A frame on one thread costs less work than on several, so each thread renders frames of its own as
    /// far as memory allows, which the first frame tells. Frame `i` is rendered by worker `i % workers`,
    /// whose channel holds one frame: writing in order never waits for a frame that nobody renders, and
    /// no worker runs far ahead. Pictures do not depend on the number of threads, so neither does the film.
    fn shoot<W: Write>(&self, writer: &mut FilmWriter<W>) -> std::io::Result<usize> {
        let threads = self.settings.threads;
        let Some((first, rest)) = self.cameras.split_first() else {
            return Ok(1);
        };
        let mut worker = Worker::new(self, threads)?;
        writer.push(&worker.frame(first)?)?;
        self.step()?;
        let bytes = worker.bytes();
        drop(worker);
        let workers = (MEMORY / bytes.max(1)).clamp(1, threads).min(rest.len().max(1));
        let failed = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let channels: Vec<Receiver<Prepared>> = (0..workers)
                .map(|index| {
                    let (sender, receiver) = sync_channel(1);
                    let failed = &failed;
                    scope.spawn(move || {
                        let mine = rest.iter().skip(index).step_by(workers);
                        self.work(mine, threads / workers, &sender, failed);
                    });
                    receiver
                })
                .collect();
            let written: std::io::Result<()> = (0..rest.len()).try_for_each(|frame| {
                let prepared = channels[frame % workers].recv();
                writer.push(&prepared.map_err(std::io::Error::other)??)?;
                self.step()
            });
            // Workers that still render end at their next frame.
            failed.store(1, Ordering::Relaxed);
            drop(channels);
            written
        })?;
        Ok(workers)
    }

    fn work<'c>(
        &self,
        cameras: impl Iterator<Item = &'c Camera>,
        threads: usize,
        sender: &SyncSender<Prepared>,
        failed: &AtomicUsize,
    ) {
        let mut worker = match Worker::new(self, threads) {
            Ok(worker) => worker,
            Err(error) => {
                let _ = sender.send(Err(error));
                return;
            }
        };
        for camera in cameras {
            let is_over = failed.load(Ordering::Relaxed) != 0;
            if is_over || sender.send(worker.frame(camera)).is_err() {
                return;
            }
        }
    }

    fn step(&self) -> std::io::Result<()> {
        self.steps.advance(1).map_err(std::io::Error::other)?;
        let elapsed = self.bar.elapsed().as_secs_f64();
        let rate = self.bar.position() as f64 / elapsed.max(1e-9);
        self.bar.set_message(format!("{rate:.1} frames/s"));
        Ok(())
    }
}

struct Worker<'a> {
    job: &'a FilmJob<'a>,
    pool: rayon::ThreadPool,
    timer: FrameTimer,
    frame: Frame,
    used_bytes: usize,
}

impl<'a> Worker<'a> {
    fn new(job: &'a FilmJob<'a>, threads: usize) -> std::io::Result<Self> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.max(1));
        Ok(Self {
            job,
            pool: pool.build().map_err(std::io::Error::other)?,
            timer: FrameTimer {
                backend: job.settings.backend,
                settings: job.settings.render,
                renderer: Renderer::default(),
                layers: LayerSettings::default(),
                pictures: Vec::new(),
            },
            frame: Frame::new(0, 0),
            used_bytes: 0,
        })
    }

    fn frame(&mut self, camera: &Camera) -> Prepared {
        let Self { job, timer, frame, .. } = self;
        let background = colour_behind(job.settings.background, None);
        let drawn = self.pool.install(|| {
            let times = timer.render(frame, job.splats, camera, 1)?;
            Ok((times.frame_bytes, job.format.prepare(frame, background)))
        });
        let (used_bytes, prepared) = drawn.map_err(|e: Error| std::io::Error::other(e))?;
        self.used_bytes = used_bytes;
        prepared
    }

    /// Working arrays, the picture twice, and its bytes as RGB integers.
    fn bytes(&self) -> usize {
        self.used_bytes + 3 * size_of_val(self.frame.pixels())
    }
}
