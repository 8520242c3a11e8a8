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
    /// Tells from the first bytes of a file whether it has the format.
    pub(super) has_mark: fn(&[u8]) -> bool,
    /// Extensions in lower case, for files that their first bytes do not identify.
    pub(super) extensions: &'static [&'static str],
    /// Reader of the format; `None` if the format is known but not supported.
    pub(super) reader: Option<Reader>,
}

#[derive(Clone, Copy)]
pub(super) struct Reader {
    pub(super) table: fn(&SceneSource<'_>) -> Result<SplatTable>,
    /// Reads splats directly, for formats in which that is faster than activating the columns of a table.
    pub(super) scene: Option<fn(&SceneSource<'_>) -> Result<Scene>>,
    /// Batch reader; `None` if the format can only be read as a whole.
    pub(super) batches: Option<BatchReader>,
}

/// Callback that receives the splats of each batch. Its first error ends the pass.
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
    /// Byte offset of the first row, and bytes per row, of a PLY with fixed-size rows.
    pub(super) fixed: Option<[usize; 2]>,
    /// Bytes of decoded parts of the file while batches are read.
    pub(super) working_bytes: u64,
    /// Bytes of decoded parts of the file while it is read at once.
    pub(super) whole_bytes: u64,
}

impl BatchFacts {
    /// Facts of a scene that is decoded from the mapped file, without working memory.
    pub(super) fn mapped(rows: usize, sh_degree: u8, profile_hint: Option<&'static str>) -> Self {
        Self { rows, sh_degree, profile_hint, fixed: None, working_bytes: 0, whole_bytes: 0 }
    }
}

#[derive(Clone, Copy)]
pub(super) struct BatchRows<'a> {
    /// Maximum rows per batch, a multiple of a block's rows.
    pub(super) most: usize,
    /// Ranges of rows to read, multiples of a block's rows except at the end. Formats without fixed-size rows read all.
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

/// Invalid rows and warnings of a pass over a scene in batches.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BatchNotes {
    /// Counts of invalid rows by reason.
    pub dropped: Dropped,
    /// Warnings like [`SceneEncoding::warnings`], one sentence each.
    pub warnings: Vec<String>,
}

pub(super) struct SceneSource<'a> {
    pub(super) bytes: &'a FileBytes<'a>,
    pub(super) path: &'a Path,
    /// True if `path` is a file on disk, so that files beside it may be read.
    pub(super) has_folder: bool,
    pub(super) options: LoadOptions,
    pub(super) task: &'a Task,
}

impl<'a> SceneSource<'a> {
    /// Source without a folder, default options and no cancellation; `path` names the bytes in errors.
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
