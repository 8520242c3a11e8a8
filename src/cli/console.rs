//! Output of all commands: results on standard output, everything else on standard error.
#![allow(
    clippy::print_stderr,
    reason = "the command line prints warnings and errors"
)]

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use quadrille::PROGRAM;
use quadrille_base::error::{Error, Result};
use quadrille_suite::report::json::joined;

/// Flags about messages.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Verbosity {
    /// Print no warnings, remarks or progress bars; results and errors are printed
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(super) quiet: bool,
    /// Print remarks on stderr about input files, choices and progress
    #[arg(short, long, global = true)]
    pub(super) verbose: bool,
}

/// Result of a command without an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Done,
    /// A comparison or check failed.
    CheckFailed,
}

/// Prints an error on stderr, also with `--quiet`.
pub(crate) fn fail(text: &str) {
    eprintln!("quadrille: error: {text}");
}

impl Verbosity {
    /// Neither remarks nor warnings.
    pub(crate) const QUIET: Self = Self {
        quiet: true,
        verbose: false,
    };

    /// Prints a warning on stderr, unless quiet.
    pub(crate) fn warn(self, text: &str) {
        if !self.quiet {
            eprintln!("quadrille: warning: {text}");
        }
    }

    /// Prints a remark on stderr, if verbose.
    pub(crate) fn remark(self, text: &str) {
        if self.verbose {
            eprintln!("quadrille: {text}");
        }
    }

    /// Creates a progress bar of `count` steps called `what`. It is hidden for a single step, if stderr is
    /// no terminal, and if quiet.
    pub(crate) fn progress_bar(self, count: u64, what: &str) -> ProgressBar {
        if count < 2 || self.quiet || !io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let template =
            format!("{{bar:40}} {{human_pos}}/{{human_len}} {what}, {{eta}} left {{msg}}");
        let style = ProgressStyle::with_template(&template);
        ProgressBar::new(count).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
    }
}

/// Writes `bytes` to standard output. A closed pipe (`| head`) is no error.
pub(crate) fn print(bytes: impl AsRef<[u8]>) -> Result<()> {
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
    let build = json!({
        "version": PROGRAM.version,
        "commit": PROGRAM.commit,
    });
    let document = joined([json!({ "quadrille": build }), body]);
    print(format!("{document:#}\n"))
}
