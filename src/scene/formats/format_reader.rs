//! What the table of formats knows about each of them.

use std::path::Path;

use crate::error::Result;
use crate::scene::bytes::Bytes;
use crate::scene::scene_file::{Scene, SceneFormat};

/// A format of scene files: how its files are told, and how they are read.
pub(crate) struct FormatReader {
    pub(crate) format: SceneFormat,
    /// Whether a file's first bytes can be of no other format.
    pub(crate) has_mark: fn(&[u8]) -> bool,
    /// Extensions of its files in lower case, for files without a mark.
    pub(crate) extensions: &'static [&'static str],
    /// Reads a whole file; none where the format is known but not read.
    pub(crate) read: Option<fn(&Bytes<'_>, &Path) -> Result<Scene>>,
}
