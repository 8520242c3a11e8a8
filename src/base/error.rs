//! Errors, by what has to change: an argument, an input file, an output file.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use crate::words::did_you_mean;

/// An error of the library.
///
/// Its message states the position, the expected content and the actual content. The command line chooses the
/// exit code by [`Error::fault`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The content of a file does not follow its format.
    #[error(
        "{}: {}: expected {}, found {}",
        shown(path),
        plain(place),
        plain(expected),
        plain(found)
    )]
    Malformed {
        /// Path of the file.
        path: PathBuf,
        /// Place in the file: a header line, a row, a byte offset, a key.
        place: String,
        /// Content that the format requires at this position.
        expected: String,
        /// Content that the file has at this position.
        found: String,
    },
    /// A file could not be opened or read.
    #[error("{}: cannot read: {reason}", shown(path))]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// The operating system's reason.
        reason: std::io::Error,
    },
    /// A file could not be written.
    #[error("{}: cannot write: {reason}", shown(path))]
    Write {
        /// Path of the file.
        path: PathBuf,
        /// The operating system's reason.
        reason: std::io::Error,
    },
    /// An argument or a field has an invalid value.
    #[error("{}: expected {}, found {}", plain(what), plain(expected), plain(found))]
    Argument {
        /// The argument or field.
        what: String,
        /// Valid values of the argument.
        expected: String,
        /// The value given.
        found: String,
    },
    /// An amount exceeds a limit of this program.
    #[error("{}: at most {limit}, found {found}", plain(what))]
    Limit {
        /// The quantity, with its unit.
        what: String,
        /// Largest amount allowed.
        limit: u64,
        /// The requested amount.
        found: u64,
    },
    /// The call's [`Task`](crate::Task) was cancelled. No output was written.
    #[error("cancelled")]
    Cancelled,
}

/// Cause of an error, by the input that must change to avoid it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// An argument.
    Argument,
    /// An input file.
    Input,
    /// An output file.
    Output,
    /// Nothing: the caller cancelled the task.
    Cancelled,
}

impl Error {
    /// Cause of this error.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Malformed { .. } | Self::Read { .. } | Self::Limit { .. } => Fault::Input,
            Self::Write { .. } => Fault::Output,
            Self::Argument { .. } => Fault::Argument,
            Self::Cancelled => Fault::Cancelled,
        }
    }

    /// Creates an [`Error::Malformed`] at `place` of `path`.
    pub fn malformed(
        path: &Path,
        place: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self::Malformed {
            path: path.to_path_buf(),
            place: place.into(),
            expected: expected.into(),
            found: found.into(),
        }
    }

    /// Creates an [`Error::Read`] of `path`.
    pub fn read(path: &Path, reason: std::io::Error) -> Self {
        Self::Read { path: path.to_path_buf(), reason }
    }

    /// Creates an [`Error::Write`] of `path`.
    pub fn write(path: &Path, reason: std::io::Error) -> Self {
        Self::Write { path: path.to_path_buf(), reason }
    }

    /// Creates an [`Error::Argument`] about the argument or field `what`.
    pub fn argument(
        what: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self::Argument { what: what.into(), expected: expected.into(), found: found.into() }
    }

    /// Creates an [`Error::Argument`] about a `word` that is not among `names`. The error proposes the nearest name.
    pub fn unknown_name<'a>(
        what: impl Into<String>,
        expected: impl Into<String>,
        word: &str,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        Self::argument(what, expected, format!("{word}{}", did_you_mean(word, names)))
    }

    /// Checks that `found`, an amount of `what`, does not exceed `limit`.
    pub fn check_limit(what: impl Into<String>, limit: u64, found: u64) -> Result<()> {
        if found <= limit {
            return Ok(());
        }
        let what = what.into();
        Err(Self::Limit { what, limit, found })
    }

    /// Turns an [`Error::Argument`] into an [`Error::Malformed`] of the file `path`, at the place that
    /// `place` makes of the argument's name.
    pub fn in_file(self, path: &Path, place: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Argument { what, expected, found } => {
                Self::malformed(path, place(what), expected, found)
            }
            other => other,
        }
    }

    /// Renames the argument of an [`Error::Argument`], for example to the flag that sets it.
    pub fn about(self, argument: &str) -> Self {
        match self {
            Self::Argument { expected, found, .. } => Self::argument(argument, expected, found),
            other => other,
        }
    }
}

/// Formats a path for a message.
pub fn shown(path: &Path) -> String {
    plain(&path.to_string_lossy()).into_owned()
}

/// Escapes the control characters of a text, which may hold names of files and their content, so that it cannot
/// control the terminal. Line feeds stay, since pages and some messages have several lines.
pub fn plain(text: &str) -> Cow<'_, str> {
    let is_escaped = |c: char| c.is_control() && c != '\n';
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let escaped =
        |c: char| if is_escaped(c) { c.escape_default().to_string() } else { c.to_string() };
    Cow::Owned(text.chars().map(escaped).collect())
}

/// Expected and actual content at a position in a file.
pub type Mismatch = (String, String);

/// Result of the library's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let path = Path::new("a\u{1b}[31m.ply");
        let text = Error::malformed(path, "row\t1", "a\nb", "\u{7}\u{9b}é").to_string();
        assert_eq!(text, "a\\u{1b}[31m.ply: row\\t1: expected a\nb, found \\u{7}\\u{9b}é");
        assert!(Error::read(path, std::io::Error::other("x")).to_string().starts_with("a\\u{1b}"));
    }
}
