//! Long calls: run on a thread pool of this process, report progress, and stop at Ctrl-C.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use quadrille::{Error, Task};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::to_python;

/// Interval at which the calling thread checks for signals and reports progress.
const TICK: Duration = Duration::from_millis(50);
/// Environment variable with the default number of threads.
const THREADS_VARIABLE: &str = "QUADRILLE_THREADS";

/// Thread pools of one process, by number of threads.
struct Pools {
    process: u32,
    /// Default number of threads of calls; 0 means one per core.
    threads: usize,
    pools: HashMap<usize, Arc<ThreadPool>>,
}

/// Locked only by threads that are attached to the interpreter, so that a forked child never inherits it locked.
static POOLS: Mutex<Option<Pools>> = Mutex::new(None);

/// Calls `use_pools` with the pools of this process. A forked child lacks the threads of its parent's pools. It leaks
/// these pools, since a drop waits for the threads forever.
fn with_pools<T>(use_pools: impl FnOnce(&mut Pools) -> PyResult<T>) -> PyResult<T> {
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    let of_parent = pools.take_if(|pools| pools.process != process);
    let threads = of_parent.as_ref().map(|pools| pools.threads);
    std::mem::forget(of_parent);
    if pools.is_none() {
        *pools = Some(Pools {
            process,
            threads: threads.map_or_else(threads_of_environment, Ok)?,
            pools: HashMap::new(),
        });
    }
    match &mut *pools {
        Some(pools) => use_pools(pools),
        None => unreachable!("the pools have just been made"),
    }
}

fn threads_of_environment() -> PyResult<usize> {
    let Some(text) = std::env::var_os(THREADS_VARIABLE) else { return Ok(0) };
    let text = text.to_string_lossy();
    let number = text.parse().ok().filter(|threads| *threads > 0);
    number.ok_or_else(|| {
        to_python(Error::argument(THREADS_VARIABLE, "a whole number above 0", text.to_string()))
    })
}

/// Sets the default number of threads of calls; 0 means one per core.
pub(crate) fn set_threads(threads: usize) -> PyResult<()> {
    with_pools(|pools| {
        pools.threads = threads;
        Ok(())
    })
}

/// Returns the pool of `threads` threads, or of the default number for `None`.
fn pool(threads: Option<usize>) -> PyResult<Arc<ThreadPool>> {
    with_pools(|pools| {
        let threads = threads.unwrap_or(pools.threads);
        if let Some(pool) = pools.pools.get(&threads) {
            return Ok(Arc::clone(pool));
        }
        let pool = Arc::new(built(threads)?);
        pools.pools.insert(threads, Arc::clone(&pool));
        Ok(pool)
    })
}

/// Starts a pool of its own for a viewer, with `threads` threads, or the default number for `None`.
#[cfg(feature = "view")]
pub(crate) fn new_pool(threads: Option<usize>) -> PyResult<ThreadPool> {
    built(threads.map_or_else(|| with_pools(|pools| Ok(pools.threads)), Ok)?)
}

fn built(threads: usize) -> PyResult<ThreadPool> {
    ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
        let expected = "a number of threads that the system can start";
        to_python(Error::argument("threads", expected, format!("{threads}: {error}")))
    })
}

/// Progress function, current stage and number of threads of a call.
#[derive(Default)]
pub(crate) struct Call {
    /// Python function that takes the stage, the work done and the total work.
    progress: Option<Py<PyAny>>,
    stage: Arc<Stage>,
    /// Number of threads; `None` for the default.
    pub(crate) threads: Option<usize>,
}

/// Current stage of a call, with its progress.
#[derive(Default)]
pub(crate) struct Stage {
    name: Mutex<String>,
    /// Work done, and total work.
    amounts: [AtomicU64; 2],
}

impl Stage {
    /// Begins the stage called `name`, with no work done.
    pub(crate) fn begin(&self, name: &str) {
        name.clone_into(&mut self.name.lock().unwrap_or_else(PoisonError::into_inner));
        self.amounts.iter().for_each(|amount| amount.store(0, Ordering::Relaxed));
    }

    fn report(&self, done: u64, total: u64) {
        // Threads report out of order, but progress must never decrease.
        self.amounts[0].fetch_max(done, Ordering::Relaxed);
        self.amounts[1].store(total, Ordering::Relaxed);
    }

    fn state(&self) -> (String, [u64; 2]) {
        let amounts = [0, 1].map(|i| self.amounts[i].load(Ordering::Relaxed));
        (self.name.lock().unwrap_or_else(PoisonError::into_inner).clone(), amounts)
    }
}

impl Call {
    /// Creates a call in its first stage, called `stage`, that reports to `progress`.
    pub(crate) fn watched(stage: &str, progress: Option<Py<PyAny>>) -> Self {
        let call = Self { progress, ..Self::default() };
        call.stage.begin(stage);
        call
    }

    /// Returns the current stage, which workers update.
    pub(crate) fn stage(&self) -> Arc<Stage> {
        Arc::clone(&self.stage)
    }

    /// Runs `work` on the pool, detached from the interpreter, while this thread checks for signals and reports
    /// progress. If a signal handler or the progress function raises an exception, the work is cancelled, and the
    /// exception is raised after the work has ended.
    pub(crate) fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Task) -> quadrille::Result<T> + Send,
    ) -> PyResult<T> {
        // Work shorter than a tick never waits for one, and a call may run it once per camera.
        py.check_signals()?;
        let pool = pool(self.threads)?;
        let mut task = Task::new();
        if self.progress.is_some() {
            let stage = self.stage();
            task = task.on_progress(move |done, total| stage.report(done, total));
        }
        let mut reported = Default::default();
        let mut report = |py: Python<'_>| {
            let Some(progress) = &self.progress else { return Ok(()) };
            let now = self.stage.state();
            if now == reported || now.1[1] == 0 {
                return Ok(());
            }
            reported = now.clone();
            let (name, [done, total]) = now;
            progress.call1(py, (name, done, total)).map(drop)
        };
        let finished = Finished::default();
        let outcome = pool.in_place_scope(|scope| {
            let (finished, task) = (&finished, &task);
            scope.spawn(move |_| finished.set(catch_unwind(AssertUnwindSafe(|| work(task)))));
            let mut raised = None;
            loop {
                if let Some(result) = py.detach(|| finished.wait()) {
                    return (result, raised);
                }
                if raised.is_none() {
                    raised = py.check_signals().and_then(|()| report(py)).err();
                    if raised.is_some() {
                        task.cancel();
                    }
                }
            }
        });
        match outcome {
            (Err(panic), _) => resume_unwind(panic),
            (Ok(_), Some(raised)) => Err(raised),
            (Ok(result), None) => {
                let value = result.map_err(to_python)?;
                report(py)?;
                Ok(value)
            }
        }
    }
}

/// Runs `work` on the default pool without progress reports.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Task) -> quadrille::Result<T> + Send,
) -> PyResult<T> {
    Call::default().run(py, work)
}

/// Result for which another thread waits.
struct Finished<T> {
    result: Mutex<Option<T>>,
    changed: Condvar,
}

impl<T> Default for Finished<T> {
    fn default() -> Self {
        Self { result: Mutex::new(None), changed: Condvar::new() }
    }
}

impl<T> Finished<T> {
    fn set(&self, value: T) {
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
        self.changed.notify_one();
    }

    /// Waits up to [`TICK`] for the result; `None` if it is not ready.
    fn wait(&self) -> Option<T> {
        let result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(result, TICK, |result| result.is_none());
        waited.unwrap_or_else(PoisonError::into_inner).0.take()
    }
}
