//! A format of scene files: its identification and its reader.

use std::path::Path;

use crate::bytes::Bytes;
use crate::encoding::{LoadOptions, SceneEncoding};
use crate::scene_file::{Scene, SceneFormat};
use crate::table::SplatTable;
use crate::table::TableSource;
use quadrille_base::error::{Error, Result};
use quadrille_base::task::Task;

/// A format of scene files, with its identification and its reader.
pub(super) struct FormatReader {
    pub(super) format: SceneFormat,
    /// Whether the first bytes of a file identify the format.
    pub(super) has_mark: fn(&[u8]) -> bool,
    /// Extensions in lower case, for files without such bytes.
    pub(super) extensions: &'static [&'static str],
    /// Functions that read the format; `None` if it is known but not supported.
    pub(super) reader: Option<Reader>,
}

/// Functions that read a format.
#[derive(Clone, Copy)]
pub(super) struct Reader {
    /// Reads raw columns.
    pub(super) table: fn(&SceneSource<'_>) -> Result<SplatTable>,
    /// Reads splats, if that is faster than activating the columns.
    pub(super) scene: Option<fn(&SceneSource<'_>) -> Result<Scene>>,
}

/// A file to read a scene from.
pub(super) struct SceneSource<'a> {
    pub(super) bytes: &'a Bytes<'a>,
    /// For errors, and for files beside this one.
    pub(super) path: &'a Path,
    /// Whether files beside `path` may be read: whether it is a file.
    pub(super) has_folder: bool,
    pub(super) options: LoadOptions,
    pub(super) task: &'a Task,
}

impl<'a> SceneSource<'a> {
    /// Bytes called `path`, with nothing beside them.
    pub(super) fn of_bytes(bytes: &'a Bytes<'a>, path: &'a Path) -> Self {
        Self {
            bytes,
            path,
            has_folder: false,
            options: LoadOptions::default(),
            task: &Task::NEVER,
        }
    }
}

impl SceneSource<'_> {
    /// The error about `place` of the file.
    pub(super) fn malformed(
        &self,
        place: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Error {
        Error::malformed(self.path, place, expected, found)
    }

    /// Origin of a table that is read from this file.
    pub(super) fn describe(&self, format: SceneFormat, encoding: SceneEncoding) -> TableSource {
        TableSource {
            format,
            file_bytes: self.bytes.len() as u64,
            encoding,
        }
    }
}
