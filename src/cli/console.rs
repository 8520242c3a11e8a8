//! Output of all commands: results on standard output, everything else on standard error.
#![allow(clippy::print_stderr, reason = "the command line prints warnings and errors")]

use std::ffi::OsString;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};

use super::interrupt;
use quadrille::PROGRAM;
use quadrille_base::error::{Error, Result, plain};
use quadrille_base::task::Task;
use quadrille_suite::report::cameras::shell_quoted;
use quadrille_suite::{Event, Messages};

const LISTED: usize = 12;

/// Flags about messages.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Verbosity {
    /// Print no warnings, remarks or progress bars; results and errors are printed
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(super) quiet: bool,
    /// Print remarks on stderr about input files, choices and progress; twice, also the time of each part of the work, in
    /// builds with the feature `trace`
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(super) verbose: u8,
}

/// Without the name of the program.
static COMMAND: Mutex<Vec<String>> = Mutex::new(Vec::new());

pub(crate) fn set_command(args: &[OsString]) {
    let words = args.iter().skip(1);
    let words = words.map(|word| shell_quoted(&word.to_string_lossy()));
    *COMMAND.lock().unwrap_or_else(PoisonError::into_inner) = words.collect();
}

pub(crate) fn command_line() -> String {
    let words = COMMAND.lock().unwrap_or_else(PoisonError::into_inner);
    format!("quadrille {}", words.join(" "))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Done,
    CheckFailed,
}

pub(super) fn listed(names: &[String]) -> String {
    let shown = names.iter().take(LISTED);
    let mut lines: String = shown.map(|name| format!("\n  {name}")).collect();
    if names.len() > LISTED {
        lines += &format!("\n  and {} more", names.len() - LISTED);
    }
    lines
}

/// Prints an error on stderr, also with `--quiet`.
pub(crate) fn fail(text: &str) {
    eprintln!("quadrille: error: {}", plain(text));
}

impl Verbosity {
    pub(crate) fn warn(self, text: &str) {
        if !self.quiet {
            eprintln!("quadrille: warning: {}", plain(text));
        }
    }

    pub(crate) fn note(self, text: &str) {
        if !self.quiet {
            eprintln!("quadrille: {}", plain(text));
        }
    }

    pub(crate) fn remark(self, text: &str) {
        if self.verbose > 0 {
            eprintln!("quadrille: {}", plain(text));
        }
    }

    /// Prints the times of the parts of the command from here on, if verbose twice.
    pub(super) fn print_spans(self) {
        #[cfg(feature = "trace")]
        if self.verbose > 1 {
            super::trace::print_spans();
        }
        #[cfg(not(feature = "trace"))]
        if self.verbose > 1 {
            self.remark("-vv prints times in builds with the feature `trace` only; -v is used");
        }
    }

    /// Creates the task of a call whose progress counts `what`. Its bar is hidden for a single step, if stderr
    /// is not a terminal, if quiet, and beside times.
    pub(crate) fn progress(self, what: &str) -> Progress {
        let template =
            format!("{{bar:40}} {{human_pos}}/{{human_len}} {what}, {{eta}} left {{msg}}");
        let style = ProgressStyle::with_template(&template);
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        let bar = bar.with_style(style);
        let (shown, is_shown) =
            (bar.clone(), !self.quiet && self.verbose < 2 && io::stderr().is_terminal());
        let task = interrupt::task().clone().on_progress(move |done, total| {
            if is_shown && total > 1 && shown.is_hidden() {
                shown.set_draw_target(ProgressDrawTarget::stderr());
            }
            shown.set_length(total);
            // Threads report out of order.
            if done > shown.position() {
                shown.set_position(done);
            }
        });
        Progress { task, bar }
    }
}

pub(crate) struct Progress {
    pub(crate) task: Task,
    pub(crate) bar: ProgressBar,
}

impl Progress {
    /// Shows an event of a suite. `Done` is not shown.
    pub(crate) fn show(&self, event: &Event<'_>, verbosity: Verbosity) {
        match event {
            Event::Resumed { jobs, done: done @ 1.. } => {
                verbosity.remark(&format!("{done} of {jobs} runs are in the results files"));
            }
            Event::Begun(key) => self.bar.set_message(key.to_string()),
            Event::Warning(text) => self.bar.suspend(|| verbosity.warn(text)),
            _ => {}
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Messages for Verbosity {
    fn warn(&self, text: &str) {
        (*self).warn(text);
    }

    fn remark(&self, text: &str) {
        (*self).remark(text);
    }

    fn idle(&self, setting: &str, needed: &str) {
        let flag = setting.replace('_', "-");
        self.warn(&format!("--{flag} has no effect: it is for {needed}"));
    }
}

/// Writes a page to standard output with control characters escaped. A closed pipe (`| head`) is not an error.
pub(crate) fn print(page: impl AsRef<str>) -> Result<()> {
    print_bytes(plain(page.as_ref()).as_bytes())
}

pub(crate) fn print_bytes(bytes: impl AsRef<[u8]>) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes.as_ref()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Error::write(Path::new("<stdout>"), error))
        }
        _ => Ok(()),
    }
}

/// Writes the object `body` to standard output as a JSON document, after the version and the commit of
/// the build (`unknown` outside its repository).
pub(crate) fn print_json(body: Value) -> Result<()> {
    let document = document(body);
    print_bytes(format!("{document:#}\n"))
}

pub(crate) fn document(body: Value) -> Value {
    let build = json!({
        "version": PROGRAM.version,
        "commit": PROGRAM.commit,
    });
    joined([json!({ "quadrille": build }), body])
}

/// Joins the keys of objects; null adds none.
pub(super) fn joined<const N: usize>(parts: [Value; N]) -> Value {
    let objects = parts.into_iter().filter_map(|part| match part {
        Value::Object(object) => Some(object),
        _ => None,
    });
    Value::Object(objects.flatten().collect())
}
