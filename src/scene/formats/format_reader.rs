//! Entries of the table of scene formats.

use std::path::Path;

use crate::error::Result;
use crate::scene::bytes::Bytes;
use crate::scene::scene_file::{Scene, SceneFormat};

/// A format of scene files, with its identification and its reader.
pub(crate) struct FormatReader {
    pub(crate) format: SceneFormat,
    /// Whether the first bytes of a file identify the format.
    pub(crate) has_mark: fn(&[u8]) -> bool,
    /// Extensions in lower case, for files without such bytes.
    pub(crate) extensions: &'static [&'static str],
    /// Reads a whole file; `None` if the format is known but not supported.
    pub(crate) read: Option<fn(&Bytes<'_>, &Path) -> Result<Scene>>,
}
