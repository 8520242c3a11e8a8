//! Cancellation and progress of long calls.

use std::fmt;
use std::io::{self, BufRead, Read, Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use rayon::Yield;

use crate::error::{Error, Result};

/// Largest number of bytes between two checks; decompressing them takes about a millisecond.
const PIECE_BYTES: usize = 1 << 16;
/// Interval of the checks while a call waits for uninterruptible work.
const WAIT: Duration = Duration::from_millis(5);

type Progress = dyn Fn(u64, u64) + Send + Sync;

/// Handle of a long call: another thread cancels it, and a callback receives its progress.
///
/// Clones share the cancellation and the callback, so that one clone can go to the thread that cancels.
/// The default task cannot be cancelled, reports no progress and costs nothing.
///
/// ```
/// use quadrille_base::{Error, Task};
///
/// let task = Task::new().on_progress(|done, total| assert!(done <= total));
/// let canceller = task.clone();
/// std::thread::spawn(move || canceller.cancel()).join().unwrap();
/// assert!(matches!(task.check(), Err(Error::Cancelled)));
/// ```
#[derive(Clone, Default)]
pub struct Task {
    /// Flag of the cancellation; `None` if the task cannot be cancelled.
    cancelled: Option<Arc<AtomicBool>>,
    progress: Option<Arc<Progress>>,
}

impl Task {
    /// A task that is never cancelled and reports no progress.
    pub const NEVER: Self = Self { cancelled: None, progress: None };

    /// Creates a task that can be cancelled.
    pub fn new() -> Self {
        Self { cancelled: Some(Arc::default()), progress: None }
    }

    /// Sets the callback for progress. It receives the amount of work done and the total, in units of the
    /// call: frames, rows, jobs. Threads may call it at the same time and out of order.
    pub fn on_progress(self, progress: impl Fn(u64, u64) + Send + Sync + 'static) -> Self {
        Self { progress: Some(Arc::new(progress)), ..self }
    }

    /// The same task without its callback, for a call that is a part of a longer one.
    pub fn without_progress(&self) -> Self {
        Self { cancelled: self.cancelled.clone(), progress: None }
    }

    /// Cancels the calls that were given this task or a clone of it. Has no effect on a default task.
    pub fn cancel(&self) {
        if let Some(cancelled) = &self.cancelled {
            // The flag guards no other memory.
            cancelled.store(true, Ordering::Relaxed);
        }
    }

    /// Whether [`Self::cancel`] has been called.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        let cancelled = self.cancelled.as_ref();
        cancelled.is_some_and(|cancelled| cancelled.load(Ordering::Relaxed))
    }

    /// Checks that the task has not been cancelled.
    #[inline]
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// As [`Self::check`], as the result of a visitor.
    #[inline]
    pub fn flow(&self) -> ControlFlow<()> {
        if self.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Passes `done` of `total` units to the progress callback, if there is one.
    pub fn report(&self, done: u64, total: u64) {
        if let Some(progress) = &self.progress {
            progress(done, total);
        }
    }

    /// Wraps a reader so that it fails as soon as the task is cancelled.
    pub fn reader<T>(&self, inner: T) -> Checked<'_, T> {
        Checked { task: self, inner }
    }

    /// Wraps a writer so that it fails as soon as the task is cancelled.
    pub fn writer<T>(&self, inner: T) -> Checked<'_, T> {
        self.reader(inner)
    }

    /// Runs work that cannot be interrupted, such as a single call of a codec. If the task can be cancelled, the work runs
    /// on a thread of its own and a pool of as many threads as its caller's: the global pool may have other threads, and in
    /// a forked process has none. When the task is cancelled, the work ends by itself later, and its result is dropped.
    pub fn uninterrupted<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        self.check()?;
        if self.cancelled.is_none() {
            return Ok(work());
        }
        let (sender, receiver) = channel();
        let threads = rayon::current_thread_index().map(|_| rayon::current_num_threads());
        let worker = std::thread::spawn(move || {
            let pool = threads.map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build());
            let value = match pool {
                Some(Ok(pool)) => pool.install(work),
                _ => work(),
            };
            // Nobody waits for the result of a cancelled task.
            let _ = sender.send(value);
        });
        loop {
            // The work may wait for threads of the pool to which this thread belongs: a thread that slept here
            // would be missing there, and with all of them asleep the work would never end.
            let wait = match rayon::yield_now() {
                Some(Yield::Executed) => Duration::ZERO,
                Some(Yield::Idle) | None => WAIT,
            };
            match receiver.recv_timeout(wait) {
                Ok(value) => return Ok(value),
                Err(RecvTimeoutError::Timeout) => self.check()?,
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        match worker.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(()) => Err(Error::Cancelled),
        }
    }

    /// Creates a counter of `total` units of work, which threads advance.
    pub fn steps(&self, total: u64) -> Steps<'_> {
        Steps { task: self, done: AtomicU64::new(0), total }
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").field("is_cancelled", &self.is_cancelled()).finish_non_exhaustive()
    }
}

/// Counter of the units of work of a call, shared by its threads.
#[derive(Debug)]
pub struct Steps<'a> {
    task: &'a Task,
    done: AtomicU64,
    total: u64,
}

impl Steps<'_> {
    /// The task whose work is counted.
    pub fn task(&self) -> &Task {
        self.task
    }

    /// Reports `units` more units as done, then checks the task as [`Task::check`].
    pub fn advance(&self, units: u64) -> Result<()> {
        if self.task.progress.is_some() {
            let done = self.done.fetch_add(units, Ordering::Relaxed) + units;
            self.task.report(done, self.total);
        }
        self.task.check()
    }
}

/// A reader or writer that fails once a task is cancelled. It handles 64 KiB at a time.
#[derive(Debug)]
pub struct Checked<'a, T> {
    task: &'a Task,
    inner: T,
}

impl<T> Checked<'_, T> {
    /// Returns the wrapped reader or writer, without the checks.
    pub fn into_inner(self) -> T {
        self.inner
    }

    fn check(&self) -> io::Result<()> {
        self.task.check().map_err(io::Error::other)
    }
}

impl<T: Read> Read for Checked<'_, T> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.check()?;
        let count = bytes.len().min(PIECE_BYTES);
        self.inner.read(&mut bytes[..count])
    }
}

impl<T: BufRead> BufRead for Checked<'_, T> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.check()?;
        let bytes = self.inner.fill_buf()?;
        Ok(&bytes[..bytes.len().min(PIECE_BYTES)])
    }

    fn consume(&mut self, count: usize) {
        self.inner.consume(count);
    }
}

impl<T: Seek> Seek for Checked<'_, T> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

impl<T: Write> Write for Checked<'_, T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.check()?;
        self.inner.write(&bytes[..bytes.len().min(PIECE_BYTES)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use rayon::prelude::*;

    use super::*;

    #[test]
    fn clones_share_cancellation_and_progress() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&seen);
        let task = Task::new().on_progress(move |done, total| {
            into.lock().unwrap().push((done, total));
        });
        let steps = task.steps(3);
        steps.advance(1).unwrap();
        task.without_progress().report(9, 9);
        task.without_progress().cancel();
        assert!(matches!(steps.advance(2), Err(Error::Cancelled)));
        assert_eq!(*seen.lock().unwrap(), [(1, 3), (3, 3)]);
        assert!(
            task.uninterrupted(|| ()).is_err() && task.reader(&[1_u8][..]).read(&mut [0]).is_err()
        );
        assert_eq!(Task::new().uninterrupted(|| 7).unwrap(), 7);
        Task::NEVER.cancel();
        assert!(!Task::default().is_cancelled());
    }

    #[test]
    fn uninterrupted_work_has_as_many_threads_as_its_caller() {
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let seen = pool.install(|| Task::new().uninterrupted(rayon::current_num_threads));
            assert_eq!(seen.unwrap(), threads);
        }
    }

    /// All threads of the pool wait for work that needs the pool.
    #[test]
    fn uninterrupted_work_may_use_the_pool_that_waits_for_it() {
        let task = &Task::new();
        let sums = (0..64_u32).into_par_iter().map(|n| {
            task.uninterrupted(move || rayon::join(|| n, || n + 1)).map(|(a, b)| a + b).unwrap()
        });
        assert_eq!(sums.sum::<u32>(), (0..64).map(|n| 2 * n + 1).sum::<u32>());
    }
}
