//! Scenes that are read batch by batch, since they are larger than memory.

use std::ops::Range;
use std::path::PathBuf;

use super::column_rows::{ColumnRows, sample};
use super::format_reader::{
    BatchFacts, BatchNotes, BatchReader, BatchRows, EachBatch, SceneSource,
};
use crate::assemble::{PLAIN_SLOTS, assemble_columns};
use crate::bytes::FileBytes;
use crate::encoding::LoadOptions;
use crate::raw_columns::RawColumns;
use crate::scene_file::Dropped;
use crate::splats::{BLOCK, Lanes, SplatBlock, Splats, rest_coefficients};
use crate::table::SplatTable;
use quadrille_base::{Result, Task};

/// A scene file that is read batch by batch: the same splats, in the same order, as [`load`](crate::load) reads at once.
pub struct SplatBatches {
    bytes: FileBytes<'static>,
    path: PathBuf,
    options: LoadOptions,
    reader: BatchReader,
    facts: BatchFacts,
    spans: Vec<Range<usize>>,
}

impl SplatBatches {
    pub(super) fn new(
        bytes: FileBytes<'static>,
        path: PathBuf,
        options: LoadOptions,
        reader: BatchReader,
    ) -> Result<Self> {
        let source =
            SceneSource { options, has_folder: true, ..SceneSource::of_bytes(&bytes, &path) };
        let facts = (reader.facts)(&source)?;
        let all = 0..facts.rows;
        Ok(Self { spans: vec![all], bytes, path, options, reader, facts })
    }

    /// Name of the profile that the scene was trained for, if the file says so.
    pub fn profile_hint(&self) -> Option<&'static str> {
        self.facts.profile_hint
    }

    /// Number of rows of the file, valid or not.
    pub fn rows(&self) -> usize {
        self.facts.rows
    }

    /// Degree of the spherical harmonics, 0 to 4.
    pub fn sh_degree(&self) -> u8 {
        self.facts.sh_degree
    }

    /// Size in bytes of the arrays of `rows` splats, equal to [`Splats::size_bytes`](crate::Splats::size_bytes).
    pub fn size_bytes(&self, rows: usize) -> u64 {
        const { assert!(size_of::<SplatBlock>() == PLAIN_SLOTS * size_of::<Lanes>()) };
        let slots = PLAIN_SLOTS + 3 * rest_coefficients(self.sh_degree());
        rows.div_ceil(BLOCK) as u64 * (slots * size_of::<Lanes>()) as u64
    }

    /// Header of a PLY: the bytes before its first row; `None` for other formats.
    pub fn header(&self) -> Option<&[u8]> {
        let [start, _] = self.facts.fixed?;
        self.bytes.get(..start)
    }

    /// Bytes of a range of rows of a PLY; empty for other formats.
    pub fn row_bytes(&self, rows: Range<usize>) -> &[u8] {
        let [start, stride] = self.facts.fixed.unwrap_or_default();
        self.bytes.get(start + rows.start * stride..start + rows.end * stride).unwrap_or_default()
    }

    /// Memory for decoded parts of the file while batches are read, besides the batch, in bytes.
    pub fn working_bytes(&self) -> u64 {
        self.facts.working_bytes
    }

    /// Memory for the whole scene while it is read at once, in bytes.
    pub fn scene_bytes(&self) -> u64 {
        self.facts.whole_bytes.saturating_add(self.size_bytes(self.rows()))
    }

    /// Restricts reading of fixed-size rows to `spans`: ascending ranges of multiples of [`BLOCK`] rows, except the last.
    pub fn only(&mut self, spans: Vec<Range<usize>>) {
        self.spans = spans;
    }

    /// Reads the scene in batches of about `rows` rows, and calls `each` with every batch. Pages are released once read.
    ///
    /// # Errors
    /// [`Error::Malformed`](quadrille_base::Error::Malformed) for a broken file or positions that single precision does
    /// not resolve, [`Error::Cancelled`](quadrille_base::Error::Cancelled), or the first error of `each`.
    pub fn for_each(&self, rows: usize, task: &Task, each: EachBatch<'_>) -> Result<BatchNotes> {
        let task = &task.without_progress();
        let source = SceneSource {
            options: self.options,
            has_folder: true,
            task,
            ..SceneSource::of_bytes(&self.bytes, &self.path)
        };
        let rows = BatchRows { most: (rows / BLOCK).max(1) * BLOCK, spans: &self.spans };
        (self.reader.read)(&source, rows, each).or_else(|error| task.check().and(Err(error)))
    }
}

/// Reads fixed-size rows in batches. `read` takes the row ranges of a batch.
pub(super) fn each_fixed(
    rows: BatchRows<'_>,
    each: EachBatch<'_>,
    read: impl Fn(&[Range<usize>]) -> Result<(Splats, Dropped)>,
) -> Result<Dropped> {
    let mut dropped = Dropped::default();
    for spans in rows.batches() {
        let (splats, of_batch) = read(&spans)?;
        dropped = dropped.plus(of_batch);
        each(&splats)?;
    }
    Ok(dropped)
}

pub(super) struct ColumnPass {
    rows: usize,
    sampled: RawColumns,
    dropped: Dropped,
}

impl ColumnPass {
    pub(super) fn new(rows: &impl ColumnRows) -> Self {
        Self {
            rows: rows.rows(),
            sampled: RawColumns::zeroed(0, rows.sh_degree()),
            dropped: Dropped::default(),
        }
    }

    /// Reads a range of rows, in batches of at most `most` rows.
    pub(super) fn read(
        &mut self,
        rows: &impl ColumnRows,
        range: Range<usize>,
        most: usize,
        task: &Task,
        each: EachBatch<'_>,
    ) -> Result<()> {
        for first in range.clone().step_by(most) {
            let batch = first..range.end.min(first.saturating_add(most));
            let sampled = rows.columns(sample(self.rows, batch.clone()))?;
            self.sampled.append(&sampled, 0..sampled.rows());
            let columns = |rows_of_part| rows.columns(rows_of_part);
            let (splats, dropped) =
                assemble_columns(batch, rows.sh_degree(), [0.0; 3], task, columns)?;
            self.dropped = self.dropped.plus(dropped);
            each(&splats)?;
        }
        Ok(())
    }

    /// Ends the pass after all rows are read. `describe` makes a table of the sampled rows.
    pub(super) fn finish(
        self,
        source: &SceneSource<'_>,
        describe: impl FnOnce(RawColumns) -> SplatTable,
    ) -> Result<BatchNotes> {
        let mut table = describe(self.sampled);
        if table.origin() != [0.0; 3] {
            let expected =
                "positions that single precision resolves, since the scene is read in batches";
            let found =
                "positions too far from the origin (`quadrille convert --translate` moves them)";
            return Err(source.malformed("positions", expected, found));
        }
        table.warn_of_rounding();
        table.encoding.warn(source.options);
        Ok(BatchNotes { dropped: self.dropped, warnings: table.encoding.warnings })
    }
}
