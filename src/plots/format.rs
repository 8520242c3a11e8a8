//! Formats of the files of plots.

use std::ffi::OsStr;
use std::path::Path;

use quadrille_base::error::{Error, Result};
use quadrille_charts::Drawing;

/// Format of the file of a plot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlotFormat {
    /// Scalable vector graphics.
    Svg,
    /// Portable document format.
    Pdf,
}

impl PlotFormat {
    /// Returns the format of the extension of `path`.
    ///
    /// # Errors
    /// [`Error::Argument`] for another extension.
    pub fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        match extension.to_ascii_lowercase().as_str() {
            "svg" => Ok(Self::Svg),
            "pdf" => Ok(Self::Pdf),
            _ => Err(Error::argument("-o", "a name that ends in .svg or .pdf", path.display())),
        }
    }

    /// Returns the content of the file `path` with a drawing.
    ///
    /// # Errors
    /// [`Error::Write`] for a drawing that the format cannot hold.
    pub fn bytes(self, drawing: &Drawing, path: &Path) -> Result<Vec<u8>> {
        match self {
            Self::Svg => Ok(drawing.svg().into_bytes()),
            Self::Pdf => drawing.pdf().map_err(|error| Error::write(path, error)),
        }
    }
}
