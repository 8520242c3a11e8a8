//! A format of scene files: its identification and its reader.

use std::fmt::Display;
use std::ops::Range;
use std::path::Path;

use crate::bytes::FileBytes;
use crate::encoding::{LoadOptions, SceneEncoding};
use crate::scene_file::{Dropped, Scene, SceneFormat};
use crate::splats::Splats;
use crate::table::SplatTable;
use crate::table::TableSource;
use quadrille_base::{Error, Result, Task};

pub(super) struct FormatReader {
    pub(super) format: SceneFormat,
    /// Whether the first bytes of a file identify the format.
    pub(super) has_mark: fn(&[u8]) -> bool,
    /// In lower case, for files without such bytes.
    pub(super) extensions: &'static [&'static str],
    /// `None` if the format is known but not supported.
    pub(super) reader: Option<Reader>,
}

#[derive(Clone, Copy)]
pub(super) struct Reader {
    pub(super) table: fn(&SceneSource<'_>) -> Result<SplatTable>,
    /// Reads splats, if faster than activating the columns.
    pub(super) scene: Option<fn(&SceneSource<'_>) -> Result<Scene>>,
    /// `None` if the format is read as a whole.
    pub(super) batches: Option<BatchReader>,
}

/// Receiver of the splats of a batch.
pub type EachBatch<'a> = &'a mut dyn FnMut(&Splats) -> Result<()>;

#[derive(Clone, Copy)]
pub(super) struct BatchReader {
    pub(super) facts: fn(&SceneSource<'_>) -> Result<BatchFacts>,
    pub(super) read: fn(&SceneSource<'_>, BatchRows<'_>, EachBatch<'_>) -> Result<BatchNotes>,
}

pub(super) struct BatchFacts {
    pub(super) rows: usize,
    pub(super) sh_degree: u8,
    pub(super) profile_hint: Option<&'static str>,
    /// Offset of the first row, and bytes per row, for fixed-size rows.
    pub(super) fixed: Option<[usize; 2]>,
    /// Bytes of decoded parts of the file while batches are read.
    pub(super) working_bytes: u64,
    /// Bytes of decoded parts of the file while it is read at once.
    pub(super) whole_bytes: u64,
}

impl BatchFacts {
    /// Scene whose mapped file is decoded in place.
    pub(super) fn mapped(rows: usize, sh_degree: u8, profile_hint: Option<&'static str>) -> Self {
        Self { rows, sh_degree, profile_hint, fixed: None, working_bytes: 0, whole_bytes: 0 }
    }
}

#[derive(Clone, Copy)]
pub(super) struct BatchRows<'a> {
    /// Rows per batch, a multiple of a block's rows.
    pub(super) most: usize,
    /// Ranges of rows, multiples of a block's rows but at the end. Formats without fixed-size rows read all.
    pub(super) spans: &'a [Range<usize>],
}

impl BatchRows<'_> {
    pub(super) fn batches(self) -> impl Iterator<Item = Vec<Range<usize>>> {
        let mut left: Vec<Range<usize>> = self.spans.iter().rev().cloned().collect();
        std::iter::from_fn(move || {
            let (mut batch, mut room) = (Vec::new(), self.most);
            while let Some(span) = left.pop_if(|_| room > 0) {
                let end = span.end.min(span.start.saturating_add(room));
                room -= end - span.start;
                if end < span.end {
                    left.push(end..span.end);
                }
                batch.push(span.start..end);
            }
            (!batch.is_empty()).then_some(batch)
        })
    }
}

/// Findings of a pass over a scene in batches.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BatchNotes {
    /// Numbers of invalid rows.
    pub dropped: Dropped,
    /// Warnings as of a [`SceneEncoding`], one sentence each.
    pub warnings: Vec<String>,
}

pub(super) struct SceneSource<'a> {
    pub(super) bytes: &'a FileBytes<'a>,
    pub(super) path: &'a Path,
    /// Whether `path` is a file, beside which others may be read.
    pub(super) has_folder: bool,
    pub(super) options: LoadOptions,
    pub(super) task: &'a Task,
}

impl<'a> SceneSource<'a> {
    /// Bytes called `path`, with nothing beside them.
    pub(super) fn of_bytes(bytes: &'a FileBytes<'a>, path: &'a Path) -> Self {
        Self { bytes, path, has_folder: false, options: LoadOptions::default(), task: &Task::NEVER }
    }
}

impl SceneSource<'_> {
    pub(super) fn malformed(
        &self,
        place: impl Display,
        expected: impl Display,
        found: impl Display,
    ) -> Error {
        Error::malformed(self.path, place, expected, found)
    }

    pub(super) fn describe(&self, format: SceneFormat, encoding: SceneEncoding) -> TableSource {
        TableSource { format, file_bytes: self.bytes.len() as u64, encoding }
    }
}
