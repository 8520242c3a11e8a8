//! State that all parts of a call share: messages, cancellation, thread pool and SIMD level.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::console::{Verbosity, print_message};
use super::interrupt;
use quadrille_base::math::SimdLevel;
use quadrille_base::parse::whole_number;
use quadrille_base::{Error, Result, Task};
use quadrille_gpu::config::Config;
use quadrille_suite::{Event, Messages};

const MAX_THREADS: usize = 4096;

/// Flags for threads and vector instructions of the host.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Host")]
pub(super) struct HostFlags {
    /// Number of threads; 0 uses one per core
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = parse_threads)]
    threads: usize,
    /// Vector instructions to use: auto, avx512, avx2, sse4.2, sse2 or neon. Pictures of the
    /// fast splat renderer differ between levels by rounding; no other result does
    #[arg(long = "simd", value_name = "LEVEL", default_value = "auto", value_parser = SimdLevel::named)]
    level: SimdLevel,
}

fn parse_threads(text: &str) -> std::result::Result<usize, String> {
    let threads = whole_number(text).ok().filter(|threads| *threads <= MAX_THREADS);
    threads.ok_or_else(|| format!("expected a whole number from 0 to {MAX_THREADS}"))
}

/// A call of the program. Clones share its thread pool.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    verbosity: Verbosity,
    /// Cancelled by an interrupt.
    pub(crate) task: &'static Task,
    pub(crate) level: SimdLevel,
    threads: usize,
    pool: Arc<OnceLock<ThreadPool>>,
    /// Default configuration with the units and methods of the calling program.
    base: Arc<Config>,
}

impl Session {
    pub(super) fn new(verbosity: Verbosity, host: Option<&HostFlags>, base: Config) -> Self {
        Self {
            verbosity,
            task: interrupt::task(),
            level: host.map_or_else(SimdLevel::default, |host| host.level),
            threads: host.map_or(0, |host| host.threads),
            pool: Arc::default(),
            base: Arc::new(base),
        }
    }

    pub(crate) fn base(&self) -> &Config {
        &self.base
    }

    pub(crate) fn threads(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        }
    }

    #[cfg(feature = "view")]
    pub(crate) fn new_pool(&self) -> Result<ThreadPool> {
        thread_pool(self.threads)
    }

    /// The pool that does all work of the call: starting a second one costs a small scene a millisecond.
    pub(crate) fn pool(&self) -> Result<&ThreadPool> {
        match self.pool.get() {
            Some(pool) => Ok(pool),
            None => {
                let pool = thread_pool(self.threads)?;
                Ok(self.pool.get_or_init(|| pool))
            }
        }
    }

    /// Runs `work` in the pool.
    pub(crate) fn install<R: Send>(&self, work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
        self.pool()?.install(work)
    }

    pub(crate) fn warn(&self, text: &str) {
        if !self.verbosity.quiet {
            print_message(&format!("warning: {text}"));
        }
    }

    pub(crate) fn note(&self, text: &str) {
        if !self.verbosity.quiet {
            print_message(text);
        }
    }

    pub(crate) fn remark(&self, text: &str) {
        if self.verbosity.verbose > 0 {
            print_message(text);
        }
    }

    /// With `-vv`, prints the time of each part of the command from now on.
    pub(super) fn print_spans(&self) {
        #[cfg(feature = "trace")]
        if self.verbosity.verbose > 1 {
            super::trace::print_spans();
        }
        #[cfg(not(feature = "trace"))]
        if self.verbosity.verbose > 1 {
            self.remark(
                "-vv prints times only in builds with the feature `trace`; -v is used instead",
            );
        }
    }

    /// Creates a task whose progress bar counts `what`. The bar is hidden for a single step, with `--quiet`, while
    /// span times are printed, and if stderr is not a terminal.
    pub(crate) fn progress(&self, what: &str) -> Progress {
        self.progress_of(what, false)
    }

    /// Like [`Self::progress`], for commands that draw many views: if stderr is not a terminal, a line is printed for each
    /// tenth of the steps instead.
    pub(crate) fn progress_in_lines(&self, what: &str) -> Progress {
        self.progress_of(what, true)
    }

    fn progress_of(&self, what: &str, has_lines: bool) -> Progress {
        // Narrow terminals cut off the end of the line.
        let template =
            format!("{{human_pos}}/{{human_len}} {what}, {{eta}} left {{bar:40}} {{msg}}");
        let style = ProgressStyle::with_template(&template);
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        let bar = bar.with_style(style);
        let Verbosity { quiet, verbose } = self.verbosity;
        let (is_told, is_terminal) = (!quiet && verbose < 2, io::stderr().is_terminal());
        let (shown, is_shown) = (bar.clone(), is_told && is_terminal);
        let lines = (has_lines && is_told && !is_terminal).then(|| Lines::begin(what));
        let task = self.task.clone().on_progress(move |done, total| {
            if let Some(lines) = &lines {
                lines.report(done, total);
            }
            if is_shown && total > 1 && shown.is_hidden() {
                shown.set_draw_target(ProgressDrawTarget::stderr());
            }
            shown.set_length(total);
            // Threads report out of order; the bar must not go back.
            if done > shown.position() {
                shown.set_position(done);
            }
        });
        Progress { task, bar, rows: AtomicU64::new(0), runs: AtomicU64::new(0) }
    }
}

/// Creates a pool of `threads` threads; 0 means one per core.
pub(super) fn thread_pool(threads: usize) -> Result<ThreadPool> {
    ThreadPoolBuilder::new().num_threads(threads).build().map_err(|e| {
        let expected = "a number of threads that the system can start";
        Error::argument("--threads", expected, format!("{threads} ({e})"))
    })
}

impl Messages for Session {
    fn warn(&self, text: &str) {
        self.warn(text);
    }

    fn remark(&self, text: &str) {
        self.remark(text);
    }

    fn idle(&self, setting: &str, needed: &str) {
        let flag = setting.replace('_', "-");
        self.warn(&format!("--{flag} has no effect: it is for {needed}"));
    }
}

/// Progress as lines on stderr.
struct Lines {
    what: String,
    start: Instant,
    /// Tenths of the steps that were told.
    tenths: AtomicU64,
}

impl Lines {
    fn begin(what: &str) -> Self {
        Self { what: what.to_owned(), start: Instant::now(), tenths: AtomicU64::new(0) }
    }

    fn report(&self, done: u64, total: u64) {
        let tenths = 10 * done / total.max(1);
        if total < 2 || self.tenths.fetch_max(tenths, Ordering::Relaxed) >= tenths {
            return;
        }
        let what = &self.what;
        let left = self.start.elapsed().mul_f64(total.saturating_sub(done) as f64 / done as f64);
        let left = match done < total {
            true => format!(", about {} left", HumanDuration(left)),
            false => String::new(),
        };
        print_message(&format!("{done} of {total} {what}{left}"));
    }
}

pub(crate) struct Progress {
    pub(crate) task: Task,
    pub(crate) bar: ProgressBar,
    /// Rows that a suite has, and runs of the suite.
    rows: AtomicU64,
    runs: AtomicU64,
}

impl Progress {
    /// Prints an event of a suite run; counts rows.
    pub(crate) fn show(&self, event: &Event<'_>, session: &Session) {
        if let Event::Resumed { jobs, done } = event {
            self.runs.store(*jobs as u64, Ordering::Relaxed);
            self.rows.store(*done as u64, Ordering::Relaxed);
        }
        match event {
            Event::Resumed { jobs, done: done @ 1.. } => {
                session
                    .remark(&format!("runs that the results files already hold: {done} of {jobs}"));
            }
            Event::Begun(key) => self.bar.set_message(key.to_string()),
            Event::Warning(text) => self.bar.suspend(|| session.warn(text)),
            Event::Done(_) => {
                self.rows.fetch_add(1, Ordering::Relaxed);
            }
            _ => {}
        }
    }

    /// Tells how many rows of a cancelled run the file `results` keeps.
    pub(crate) fn tell_kept<T>(
        &self,
        run: Result<T>,
        results: &Path,
        session: &Session,
    ) -> Result<T> {
        if let Err(Error::Cancelled) = run {
            let [rows, runs] = [&self.rows, &self.runs].map(|count| count.load(Ordering::Relaxed));
            session.note(&format!(
                "{rows} of {runs} rows are kept in {}; the same command continues",
                results.display()
            ));
        }
        run
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
