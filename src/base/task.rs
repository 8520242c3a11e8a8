//! Cancellation and progress of long calls.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::{Error, Result};

/// Callback that receives the amount of work done and the total.
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
    /// `None` if the task cannot be cancelled.
    cancelled: Option<Arc<AtomicBool>>,
    progress: Option<Arc<Progress>>,
}

impl Task {
    /// A task that is never cancelled and reports no progress.
    pub const NEVER: Self = Self {
        cancelled: None,
        progress: None,
    };

    /// Creates a task that can be cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self {
            cancelled: Some(Arc::default()),
            progress: None,
        }
    }

    /// Sets the callback for progress. It receives the amount of work done and the total, in units of the
    /// call: frames, rows, jobs. Threads may call it at the same time and out of order.
    #[must_use]
    pub fn on_progress(self, progress: impl Fn(u64, u64) + Send + Sync + 'static) -> Self {
        let progress: Option<Arc<Progress>> = Some(Arc::new(progress));
        Self { progress, ..self }
    }

    /// The same task without its callback, for a call that is a part of a longer one.
    #[must_use]
    pub fn without_progress(&self) -> Self {
        Self {
            cancelled: self.cancelled.clone(),
            progress: None,
        }
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
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        let cancelled = self.cancelled.as_ref();
        cancelled.is_some_and(|cancelled| cancelled.load(Ordering::Relaxed))
    }

    /// Checks that the task has not been cancelled.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if it has.
    #[inline]
    pub fn check(&self) -> Result<()> {
        match self.is_cancelled() {
            true => Err(Error::Cancelled),
            false => Ok(()),
        }
    }

    /// Calls the callback for progress, if there is one.
    pub fn report(&self, done: u64, total: u64) {
        if let Some(progress) = &self.progress {
            progress(done, total);
        }
    }

    /// Starts to count `total` units of work, which threads report one by one.
    #[must_use]
    pub fn steps(&self, total: u64) -> Steps<'_> {
        Steps {
            task: self,
            done: AtomicU64::new(0),
            total,
        }
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task")
            .field("is_cancelled", &self.is_cancelled())
            .finish_non_exhaustive()
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
    /// Reports `units` more units as done, then checks the task as [`Task::check`].
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the task has been cancelled.
    pub fn advance(&self, units: u64) -> Result<()> {
        if self.task.progress.is_some() {
            let done = self.done.fetch_add(units, Ordering::Relaxed) + units;
            self.task.report(done, self.total);
        }
        self.task.check()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

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
        Task::NEVER.cancel();
        assert!(!Task::default().is_cancelled());
    }
}
