//! Output of all commands: results on standard output, everything else on standard error.
#![allow(clippy::print_stderr, reason = "the command line prints warnings and errors")]

use std::ffi::OsString;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use quadrille::PROGRAM;
use quadrille_base::error::{Error, Result, plain};
use quadrille_suite::report::cameras::shell_quoted;

const LISTED: usize = 12;

/// Flags for the number of messages.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Verbosity {
    /// Print no warnings, remarks or progress; results and errors are still printed
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(super) quiet: bool,
    /// Print remarks on stderr about input files, automatic choices and progress; given twice, also the time of each
    /// stage, in builds with the feature `trace`
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(super) verbose: u8,
}

/// Flags that replace the page on standard output by another format.
pub(crate) const OWN_FORMATS: [&str; 2] = ["--json", "--csv"];

/// Flag whose content is on standard output in place of the page: `--csv -` and others, or one of [`OWN_FORMATS`].
static STDOUT_OWNER: Mutex<Option<String>> = Mutex::new(None);

/// Gives standard output to `flag`, such as `--csv -`, so that [`print`] writes no page there.
pub(crate) fn take_stdout(flag: &str) -> Result<()> {
    let mut owner = STDOUT_OWNER.lock().unwrap_or_else(PoisonError::into_inner);
    match owner.as_deref() {
        None => *owner = Some(flag.to_owned()),
        Some(other) if other != flag => {
            let other = format!("{other}, which also writes to standard output (name a file)");
            return Err(Error::conflict(flag, other));
        }
        Some(_) => {}
    }
    Ok(())
}

/// Arguments of the running command, quoted for a shell, without the name of the program.
static COMMAND: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Begins a command: keeps its arguments, and resets the state of an earlier one in this process.
pub(crate) fn set_command(args: &[OsString]) {
    *STDOUT_OWNER.lock().unwrap_or_else(PoisonError::into_inner) = None;
    HAS_JSON.store(false, Ordering::Relaxed);
    let words = args.iter().skip(1).map(|word| shell_quoted(&word.to_string_lossy()));
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
    /// Ended by the interrupt that the command awaits.
    #[cfg(feature = "view")]
    Interrupted,
}

impl Exit {
    pub(super) fn of(is_done: bool) -> Self {
        if is_done { Self::Done } else { Self::CheckFailed }
    }
}

pub(super) fn listed(names: &[String]) -> String {
    let mut lines: String = names.iter().take(LISTED).map(|name| format!("\n  {name}")).collect();
    if names.len() > LISTED {
        lines += &format!("\n  and {} more", names.len() - LISTED);
    }
    lines
}

/// Prints an error on stderr, also with `--quiet`.
pub(crate) fn fail(text: &str) {
    print_message(&format!("error: {text}"));
}

/// Prints a line on stderr. An error has nowhere to go and does not end the command, whose outputs do not depend on it.
pub(super) fn print_message(text: &str) {
    let _ = writeln!(io::stderr(), "quadrille: {}", plain(text));
}

/// Writes a page to standard output with control characters escaped, unless a file is written there. A closed pipe (`| head`)
/// is not an error.
pub(crate) fn print(page: impl AsRef<str>) -> Result<()> {
    let owner = STDOUT_OWNER.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if owner.is_some_and(|flag| !OWN_FORMATS.contains(&flag.as_str())) {
        return Ok(());
    }
    print_bytes(plain(page.as_ref()).as_bytes())
}

/// Prints the help or version that clap gives as an error. A closed pipe (`| head`) is not an error.
pub(crate) fn print_help(help: &clap::Error) -> Result<()> {
    written(help.print().and_then(|()| io::stdout().flush()))
}

pub(crate) fn print_bytes(bytes: impl AsRef<[u8]>) -> Result<()> {
    let mut out = io::stdout().lock();
    written(out.write_all(bytes.as_ref()).and_then(|()| out.flush()))
}

fn written(result: io::Result<()>) -> Result<()> {
    match result {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Error::write(Path::new("<stdout>"), error))
        }
        _ => Ok(()),
    }
}

/// Whether a JSON document was printed.
static HAS_JSON: AtomicBool = AtomicBool::new(false);

pub(crate) fn has_printed_json() -> bool {
    HAS_JSON.load(Ordering::Relaxed)
}

/// Writes a JSON document to standard output: the version and commit of the build (`unknown` outside its
/// repository), then the fields of the object `body`.
pub(crate) fn print_json(body: Value) -> Result<()> {
    print_value(&document(body))
}

/// Writes a whole JSON document to standard output.
pub(crate) fn print_value(document: &Value) -> Result<()> {
    HAS_JSON.store(true, Ordering::Relaxed);
    print_bytes(format!("{document:#}\n"))
}

pub(crate) fn document(body: Value) -> Value {
    let build = json!({
        "version": PROGRAM.version,
        "commit": PROGRAM.commit,
    });
    joined([json!({ "quadrille": build }), body])
}

/// Merges JSON objects into one; null parts are skipped.
pub(super) fn joined<const N: usize>(parts: [Value; N]) -> Value {
    let objects = parts.into_iter().filter_map(|part| match part {
        Value::Object(object) => Some(object),
        _ => None,
    });
    Value::Object(objects.flatten().collect())
}
