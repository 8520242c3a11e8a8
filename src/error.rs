//! Errors, by who is at fault: the file, the caller, the machine.

use std::path::{Path, PathBuf};

/// What can go wrong in the library.
///
/// Every variant says where, what was expected and what was found; the command line adds the
/// context of the command and picks the exit code with [`Error::fault`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The content of a file is not what its format demands.
    #[error("{}: {place}: expected {expected}, found {found}", path.display())]
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
    #[error("{}: cannot read: {reason}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        reason: std::io::Error,
    },
    /// A file could not be written.
    #[error("{}: cannot write: {reason}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        reason: std::io::Error,
    },
    /// The caller asked for something impossible.
    #[error("{what}: expected {expected}, found {found}")]
    Caller {
        /// The argument.
        what: String,
        /// Its legal values.
        expected: String,
        /// The value given.
        found: String,
    },
    /// More than a stated limit of this program or machine.
    #[error("{what}: at most {limit}, found {found}")]
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
}

/// The library's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;
