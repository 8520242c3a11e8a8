//! Films of a scene in memory: frames drawn at the same time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use rayon::ThreadPool;

use crate::cli::film::{FilmFrames, Prepared};
use crate::cli::frames::FrameTimer;
use crate::cli::session::thread_pool;
use quadrille_base::error::{Error, Result};
use quadrille_base::image::Frame;
use quadrille_scene::{Camera, Splats};

/// Memory limit in bytes for frames rendered at the same time: their pictures and working arrays.
const MEMORY: usize = 4 << 30;

pub(super) struct FilmJob<'a, T> {
    pub(super) film: &'a FilmFrames,
    pub(super) splats: &'a Splats,
    pub(super) cameras: &'a [Camera],
    /// Creates the timer of a worker.
    pub(super) timer: T,
    pub(super) background: Option<[f32; 3]>,
    pub(super) threads: usize,
}

/// A frame for the writer, and its number of splats in view.
type Shot = (Prepared, u64);

impl<T: Fn() -> FrameTimer + Sync> FilmJob<'_, T> {
    /// Renders all frames and appends them in order, and the number of splats in view of each to `in_view`; returns how
    /// many frames were rendered at once.
    ///
    /// A frame on one thread costs less work than on several, so each thread renders frames of its own as
    /// far as memory allows, which the first frame tells. Frame `i` is rendered by worker `i % workers`,
    /// whose channel holds one frame: writing in order never waits for a frame that nobody renders, and
    /// no worker runs far ahead. Pictures do not depend on the number of threads, so neither does the film.
    pub(super) fn shoot(&self, in_view: &mut Vec<u64>) -> Result<usize> {
        let threads = self.threads;
        let Some((first, rest)) = self.cameras.split_first() else { return Ok(1) };
        let mut worker = Worker::new(self, threads)?;
        let mut push = |(prepared, splats): Shot| {
            in_view.push(splats);
            self.film.push(prepared)
        };
        push(worker.frame(first)?)?;
        let bytes = worker.bytes();
        drop(worker);
        let workers = (MEMORY / bytes.max(1)).clamp(1, threads).min(rest.len().max(1));
        let has_ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let begin = |index: usize| {
                let (sender, receiver) = sync_channel(1);
                let mine = rest.iter().skip(index).step_by(workers);
                let has_ended = &has_ended;
                scope.spawn(move || self.work(mine, threads / workers, &sender, has_ended));
                receiver
            };
            let channels: Vec<Receiver<Result<Shot>>> = (0..workers).map(begin).collect();
            let taken = (0..rest.len()).try_for_each(|frame| {
                let shot = channels[frame % workers].recv();
                // A closed channel means that the worker has panicked.
                push(shot.map_err(|_| Error::Cancelled)??)
            });
            // On an error, the other workers stop at their next frame.
            has_ended.store(true, Ordering::Relaxed);
            taken
        })?;
        Ok(workers)
    }

    fn work<'c>(
        &self,
        cameras: impl Iterator<Item = &'c Camera>,
        threads: usize,
        sender: &SyncSender<Result<Shot>>,
        has_ended: &AtomicBool,
    ) {
        let mut worker = match Worker::new(self, threads) {
            Ok(worker) => worker,
            Err(error) => {
                let _ = sender.send(Err(error));
                return;
            }
        };
        for camera in cameras {
            if has_ended.load(Ordering::Relaxed) || sender.send(worker.frame(camera)).is_err() {
                return;
            }
        }
    }
}

struct Worker<'a, T> {
    job: &'a FilmJob<'a, T>,
    pool: ThreadPool,
    timer: FrameTimer,
    frame: Frame,
    used_bytes: usize,
}

impl<'a, T: Fn() -> FrameTimer + Sync> Worker<'a, T> {
    fn new(job: &'a FilmJob<'a, T>, threads: usize) -> Result<Self> {
        Ok(Self {
            job,
            pool: thread_pool(threads.max(1))?,
            timer: (job.timer)(),
            frame: Frame::new(0, 0),
            used_bytes: 0,
        })
    }

    fn frame(&mut self, camera: &Camera) -> Result<Shot> {
        let Self { job, timer, frame, .. } = self;
        let (times, prepared) = self.pool.install(|| {
            let times = timer.render(frame, job.splats, camera, 1)?;
            Ok::<_, Error>((times, job.film.format.prepare(frame, job.background)))
        })?;
        self.used_bytes = times.frame_bytes;
        Ok((prepared, times.counts.splats_in_frustum))
    }

    /// Memory of a frame in bytes: working arrays, and three pictures' worth for the frame, a copy and its encoding.
    fn bytes(&self) -> usize {
        self.used_bytes + 3 * size_of_val(self.frame.pixels())
    }
}
