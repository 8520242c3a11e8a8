//! Errors, by who is at fault: the file, the caller, the machine.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// What can go wrong in the library.
///
/// Every variant says where, what was expected and what was found; the command line adds the
/// context of the command and picks the exit code with [`Error::fault`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The content of a file is not what its format demands.
    #[error(
        "{}: {}: expected {}, found {}",
        shown(path),
        plain(place),
        plain(expected),
        plain(found)
    )]
    File {
        /// The file.
        path: PathBuf,
        /// Where in the file: a header line, a row, a byte offset, a key.
        place: String,
        /// What the format demands there.
        expected: String,
        /// What stands there instead.
        found: String,
    },
    /// A file could not be opened or read.
    #[error("{}: cannot read: {reason}", shown(path))]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        reason: std::io::Error,
    },
    /// A file could not be written.
    #[error("{}: cannot write: {reason}", shown(path))]
    Write {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        reason: std::io::Error,
    },
    /// The caller asked for something impossible.
    #[error(
        "{}: expected {}, found {}",
        plain(what),
        plain(expected),
        plain(found)
    )]
    Caller {
        /// The argument.
        what: String,
        /// Its legal values.
        expected: String,
        /// The value given.
        found: String,
    },
    /// More than a stated limit of this program or machine.
    #[error("{}: at most {limit}, found {found}", plain(what))]
    Limit {
        /// The limited quantity, with its unit.
        what: String,
        /// The limit.
        limit: u64,
        /// The amount asked for.
        found: u64,
    },
}

/// Who has to act on an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The caller: wrong usage.
    Caller,
    /// An input file.
    Input,
    /// An output file.
    Output,
}

impl Error {
    /// Who has to act on this error.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match self {
            Self::File { .. } | Self::Read { .. } | Self::Limit { .. } => Fault::Input,
            Self::Write { .. } => Fault::Output,
            Self::Caller { .. } => Fault::Caller,
        }
    }

    /// An [`Error::File`] at `place` of `path`.
    pub fn file(
        path: &Path,
        place: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self::File {
            path: path.to_path_buf(),
            place: place.into(),
            expected: expected.into(),
            found: found.into(),
        }
    }

    /// An [`Error::Read`] of `path`.
    #[must_use]
    pub fn read(path: &Path, reason: std::io::Error) -> Self {
        Self::Read {
            path: path.to_path_buf(),
            reason,
        }
    }

    /// An [`Error::Write`] of `path`.
    #[must_use]
    pub fn write(path: &Path, reason: std::io::Error) -> Self {
        Self::Write {
            path: path.to_path_buf(),
            reason,
        }
    }

    /// An [`Error::Caller`] about the argument `what`.
    pub fn caller(
        what: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self::Caller {
            what: what.into(),
            expected: expected.into(),
            found: found.into(),
        }
    }

    /// The same error, its argument called `argument`: the command line knows it by its flag.
    #[must_use]
    pub fn about(self, argument: &str) -> Self {
        match self {
            Self::Caller {
                expected, found, ..
            } => Self::caller(argument, expected, found),
            other => other,
        }
    }
}

/// A path for a message.
pub(crate) fn shown(path: &Path) -> String {
    plain(&path.to_string_lossy()).into_owned()
}

/// A text from a file or a name, for a message: control characters, with which it could steer the
/// terminal, are escaped. Line feeds stay: some messages have several lines.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    let steers = |c: char| c.is_control() && c != '\n';
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let escaped = |c: char| match steers(c) {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    Cow::Owned(text.chars().map(escaped).collect())
}

/// What was expected at a place of a file, and what was found there.
pub(crate) type Mismatch = (String, String);

/// The library's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let path = Path::new("a\u{1b}[31m.ply");
        let error = Error::file(path, "row\t1", "a\nb", "\u{7}\u{9b}é");
        let text = error.to_string();
        assert_eq!(
            text,
            "a\\u{1b}[31m.ply: row\\t1: expected a\nb, found \\u{7}\\u{9b}é"
        );
        assert!(
            Error::read(path, std::io::Error::other("x"))
                .to_string()
                .starts_with("a\\u{1b}")
        );
    }
}
