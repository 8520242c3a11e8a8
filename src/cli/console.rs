//! What every command prints and returns: results on standard output, the rest on standard error.
#![allow(
    clippy::print_stderr,
    reason = "warnings and errors are the command line's to print"
)]

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::error::{Error, Result};

/// How much goes to stderr.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Verbosity {
    /// Print no warnings, remarks or progress bars; results and errors are printed
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(super) quiet: bool,
    /// Print remarks on stderr: what was read, chosen and done
    #[arg(short, long, global = true)]
    pub(super) verbose: bool,
}

/// What a command that ran to its end found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done; whatever was checked holds.
    Done,
    /// A comparison or check failed.
    CheckFailed,
}

/// Prints an error on stderr, quiet or not.
pub(crate) fn fail(text: &str) {
    eprintln!("quadrille: error: {text}");
}

impl Verbosity {
    /// Prints a warning on stderr unless quiet.
    pub(crate) fn warn(self, text: &str) {
        if !self.quiet {
            eprintln!("quadrille: warning: {text}");
        }
    }

    /// Prints a remark on stderr if verbose.
    pub(crate) fn remark(self, text: &str) {
        if self.verbose {
            eprintln!("quadrille: {text}");
        }
    }

    /// A progress bar of `count` steps called `what`, drawn only if there are several, stderr is a
    /// terminal, and nobody asked for quiet.
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

/// Writes `bytes` to standard output. A reader that has gone away (`| head`) has seen enough: that
/// is no error.
pub(crate) fn print(bytes: impl AsRef<[u8]>) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes.as_ref()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Error::write(Path::new("<stdout>"), error))
        }
        _ => Ok(()),
    }
}

/// A document with the build that wrote it.
#[derive(Serialize)]
struct Document<'a, T> {
    quadrille: Build,
    #[serde(flatten)]
    body: &'a T,
}

/// The program's version, and the commit it was built from: `unknown` outside of its repository.
#[derive(Serialize)]
struct Build {
    version: &'static str,
    commit: &'static str,
}

const BUILD: Build = Build {
    version: env!("CARGO_PKG_VERSION"),
    commit: env!("QUADRILLE_COMMIT"),
};

/// Writes `body`, an object, to standard output as a JSON document that also names the build.
pub(crate) fn print_json(body: &impl Serialize) -> Result<()> {
    // Cannot fail: string keys, and numbers only.
    let document = Document {
        quadrille: BUILD,
        body,
    };
    let value = serde_json::to_value(document).unwrap_or_default();
    print(format!("{value:#}\n"))
}
