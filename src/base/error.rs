//! Errors, classified by the input that must change: an argument, an input file or an output file.

use std::borrow::Cow;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use crate::words::did_you_mean;

/// An error of the library.
///
/// Its message states the position, the expected and the actual content. [`Error::fault`] gives the exit code.
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
    #[error("{}: cannot read: {}", shown(path), reason_of(reason))]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// The operating system's reason.
        reason: std::io::Error,
    },
    /// A file could not be written.
    #[error("{}: cannot write: {}", shown(path), reason_of(reason))]
    Write {
        /// Path of the file.
        path: PathBuf,
        /// The operating system's reason.
        reason: std::io::Error,
    },
    /// An argument or a field has an invalid value.
    #[error("{}: expected {}, found {}", plain(what), plain(expected), plain(found))]
    Argument {
        /// Name of the argument or field.
        what: String,
        /// Valid values of the argument.
        expected: String,
        /// Value that was given.
        found: String,
    },
    /// Arguments or fields do not go together: one lacks a companion, or two exclude each other.
    #[error("{}{} {relation} {}", in_path(path.as_deref()), plain(what), plain(other))]
    Combination {
        /// File that has the fields; `None` for arguments.
        path: Option<PathBuf>,
        /// Name of the argument or field.
        what: String,
        /// Relation to the other one, as a verb: "needs", "cannot be used with".
        relation: &'static str,
        /// The other one, and a remedy where there is one.
        other: String,
    },
    /// An amount exceeds a limit of this program.
    #[error("{}: expected at most {limit}, found {found}", plain(what))]
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
    /// An argument must change.
    Argument,
    /// An input file must change.
    Input,
    /// An output file must change.
    Output,
    /// Nothing must change: the caller cancelled the task.
    Cancelled,
}

impl Error {
    /// Returns the cause of this error.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Malformed { .. }
            | Self::Read { .. }
            | Self::Limit { .. }
            | Self::Combination { path: Some(_), .. } => Fault::Input,
            Self::Write { .. } => Fault::Output,
            Self::Argument { .. } | Self::Combination { path: None, .. } => Fault::Argument,
            Self::Cancelled => Fault::Cancelled,
        }
    }

    /// Creates an [`Error::Malformed`] at `place` of `path`.
    #[cold]
    pub fn malformed(
        path: &Path,
        place: impl Display,
        expected: impl Display,
        found: impl Display,
    ) -> Self {
        let [place, expected, found] = [place.to_string(), expected.to_string(), found.to_string()];
        Self::Malformed { path: path.to_path_buf(), place, expected, found }
    }

    /// Returns [`Error::Malformed`] if `is_wrong`. The arguments are formatted only then.
    #[inline]
    pub fn malformed_if(
        is_wrong: bool,
        path: &Path,
        place: impl Display,
        expected: impl Display,
        found: impl Display,
    ) -> Result<()> {
        if is_wrong { Err(Self::malformed(path, place, expected, found)) } else { Ok(()) }
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
    #[cold]
    pub fn argument(what: impl Display, expected: impl Display, found: impl Display) -> Self {
        let [what, expected, found] = [what.to_string(), expected.to_string(), found.to_string()];
        Self::Argument { what, expected, found }
    }

    /// Returns [`Error::Argument`] if `is_wrong`. The arguments are formatted only then.
    #[inline]
    pub fn refuse_if(
        is_wrong: bool,
        what: impl Display,
        expected: impl Display,
        found: impl Display,
    ) -> Result<()> {
        if is_wrong { Err(Self::argument(what, expected, found)) } else { Ok(()) }
    }

    /// Creates an [`Error::Combination`] for `what` without `needed`, as in "--fps needs -o FILM".
    pub fn needs(what: impl Display, needed: impl Display) -> Self {
        Self::combination(what, "needs", needed)
    }

    /// Creates an [`Error::Combination`] for `what` and `other`, which exclude each other.
    pub fn conflict(what: impl Display, other: impl Display) -> Self {
        Self::combination(what, "cannot be used with", other)
    }

    fn combination(what: impl Display, relation: &'static str, other: impl Display) -> Self {
        let (what, other) = (what.to_string(), other.to_string());
        Self::Combination { path: None, what, relation, other }
    }

    /// Creates an [`Error::Argument`] about a `word` that is not among `names`. The error proposes the nearest name.
    pub fn unknown_name<'a>(
        what: impl Display,
        expected: impl Display,
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
        Err(Self::Limit { what: what.into(), limit, found })
    }

    /// Turns an error about an argument into an error about the file `path`; `place` maps its name to a place there.
    pub fn in_file(self, path: &Path, place: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Argument { what, expected, found } => {
                Self::malformed(path, place(what), expected, found)
            }
            Self::Combination { what, relation, other, .. } => Self::Combination {
                path: Some(path.to_owned()),
                what: place(what),
                relation,
                other,
            },
            other => other,
        }
    }

    /// Renames the argument of the error, and the one that it needs or excludes, for example to the flags that set them.
    pub fn renamed(self, name: impl Fn(String) -> String) -> Self {
        match self {
            Self::Argument { what, expected, found } => {
                Self::Argument { what: name(what), expected, found }
            }
            Self::Combination { path, what, relation, other } => {
                Self::Combination { path, what: name(what), relation, other: name(other) }
            }
            other => other,
        }
    }

    /// Replaces the name of the argument, for example by its flag.
    pub fn about(self, argument: &str) -> Self {
        match self {
            Self::Argument { expected, found, .. } => Self::argument(argument, expected, found),
            Self::Combination { path, relation, other, .. } => {
                Self::Combination { path, what: argument.to_owned(), relation, other }
            }
            other => other,
        }
    }
}

/// Returns the prefix `PATH: ` of a message about a file; empty without a path.
fn in_path(path: Option<&Path>) -> String {
    path.map_or(String::new(), |path| format!("{}: ", shown(path)))
}

/// Formats the operating system's reason as all other reasons: without its number, in lower case.
fn reason_of(reason: &std::io::Error) -> String {
    let text = reason.to_string();
    let Some(number) = reason.raw_os_error() else { return text };
    let text = text.strip_suffix(&format!(" (os error {number})")).unwrap_or(&text);
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
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

/// Result with the library's [`Error`] by default.
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

    #[test]
    fn combinations_name_both_arguments() {
        let error = Error::needs("displace", "displace_by");
        assert_eq!(error.to_string(), "displace needs displace_by");
        assert_eq!(error.fault(), Fault::Argument);
        let error = error.renamed(|name| format!("--{}", name.replace('_', "-")));
        assert_eq!(error.to_string(), "--displace needs --displace-by");
        let error = Error::conflict("spin", "motion").about("--spin");
        assert_eq!(error.to_string(), "--spin cannot be used with motion");
        let error = error.in_file(Path::new("a.toml"), |what| format!("mesh \"a\", {what}"));
        assert_eq!(error.to_string(), "a.toml: mesh \"a\", --spin cannot be used with motion");
        assert_eq!(error.fault(), Fault::Input);
    }

    #[test]
    fn values_are_refused_by_a_condition() {
        assert!(Error::refuse_if(false, "a", "b", "c").is_ok());
        let error = Error::refuse_if(true, "fov", "up to 180", 200).unwrap_err();
        assert_eq!(error.to_string(), "fov: expected up to 180, found 200");
        let error = Error::malformed_if(true, Path::new("a"), "row 1", 2, format_args!("{}", 3));
        assert_eq!(error.unwrap_err().to_string(), "a: row 1: expected 2, found 3");
    }
}
