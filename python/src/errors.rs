//! Conversion of errors of the library to Python exceptions.

use std::io;
use std::path::Path;

use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use quadrille::Error;

pyo3::create_exception!(
    quadrille,
    FormatError,
    PyValueError,
    "The content of a file does not follow its format."
);
pyo3::create_exception!(
    quadrille,
    LimitError,
    PyValueError,
    "An amount is beyond a limit of the program."
);

/// Converts an error of the library to the matching Python exception.
pub(crate) fn to_python(error: Error) -> PyErr {
    let text = error.to_string();
    match &error {
        Error::Malformed { .. } => FormatError::new_err(text),
        Error::Limit { .. } => LimitError::new_err(text),
        Error::Read { path, reason } | Error::Write { path, reason } => {
            os_error(path, reason, text)
        }
        // Reached only if the work was cancelled and no Python exception is pending.
        Error::Cancelled => PyRuntimeError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

/// Creates an `OSError`, or the subclass for the errno, such as `FileNotFoundError`.
fn os_error(path: &Path, reason: &io::Error, text: String) -> PyErr {
    match reason.raw_os_error() {
        Some(number) => {
            // `OSError` itself puts the number in front of the text.
            let suffix = format!(" (os error {number})");
            let reason = reason.to_string();
            let reason = reason.strip_suffix(&suffix).unwrap_or(&reason).to_owned();
            PyOSError::new_err((number, reason, path.as_os_str().to_owned()))
        }
        None if reason.kind() == io::ErrorKind::NotFound => PyFileNotFoundError::new_err(text),
        None => PyOSError::new_err(text),
    }
}
