//! Rows of a SOG, or of a level of a streamed one, in scene order.

use super::archive::Archive;
use super::decode::{SogFile, described};
use super::planes::{DECODING_BYTES, PLANE_BYTES, Planes};
use crate::formats::batches::ColumnPass;
use crate::formats::column_rows::ColumnRows;
use crate::formats::format_reader::{BatchFacts, BatchNotes, EachBatch};
use crate::raw_columns::{RawColumns, Rows};
use crate::table::{SplatTable, profile_of_model};
use quadrille_base::error::Result;

/// Consecutive rows of a scene that come from one file.
pub(super) struct Span {
    pub(super) file: usize,
    pub(super) offset: usize,
    pub(super) start: usize,
    pub(super) rows: usize,
}

/// Files of a scene, and the rows taken from each.
pub(super) struct SogRows {
    /// Files of the scene; its description comes from the first file.
    pub(super) files: Vec<SogFile>,
    pub(super) spans: Vec<Span>,
    level: Option<(u32, u32)>,
    planes: Vec<Option<Planes>>,
}

impl SogRows {
    pub(super) fn new(files: Vec<SogFile>, spans: Vec<Span>, level: Option<(u32, u32)>) -> Self {
        Self { planes: files.iter().map(|_| None).collect(), files, spans, level }
    }

    pub(super) fn of_file(file: SogFile) -> Self {
        let all = Span { file: 0, offset: 0, start: 0, rows: file.rows };
        Self::new(vec![file], vec![all], None)
    }

    fn decode(&mut self, archive: &Archive<'_>, file: usize) -> Result<()> {
        self.planes[file] = Some(self.files[file].planes(archive)?);
        Ok(())
    }

    pub(super) fn decode_all(&mut self, archive: &Archive<'_>) -> Result<()> {
        (0..self.files.len()).try_for_each(|file| self.decode(archive, file))
    }

    pub(super) fn described(&self, archive: &Archive<'_>, raw: RawColumns) -> SplatTable {
        let mut table = described(archive, &self.files[0].meta, raw);
        if let Some((level, levels)) = self.level {
            table.encoding.lod_levels = levels;
            table.encoding.level_bytes = archive.bytes_read();
            table.encoding.compression += &format!(", level of detail {level} of {levels}");
        }
        table.file_bytes = archive.bytes_read().max(table.file_bytes);
        table
    }

    /// Tells for each span whether it is the first and whether it is the last one of its file.
    fn ends(&self) -> Vec<[bool; 2]> {
        let mut ends = vec![[false; 2]; self.spans.len()];
        let mut last = vec![None; self.files.len()];
        for (at, span) in self.spans.iter().enumerate() {
            ends[at][0] = last[span.file].is_none();
            last[span.file] = Some(at);
        }
        last.into_iter().flatten().for_each(|at| ends[at][1] = true);
        ends
    }

    pub(super) fn facts(&self) -> BatchFacts {
        let (mut held, mut most) = (0, 0);
        for (span, [is_first, is_last]) in self.spans.iter().zip(self.ends()) {
            let rows = self.files[span.file].rows as u64;
            if is_first {
                held += rows * PLANE_BYTES;
                most = held.max(most).max(held + rows * DECODING_BYTES);
            }
            if is_last {
                held -= rows * PLANE_BYTES;
            }
        }
        let all = self.files.iter().map(|file| file.rows as u64);
        let largest = all.clone().max().unwrap_or(0);
        BatchFacts {
            rows: self.rows(),
            sh_degree: self.sh_degree(),
            profile_hint: profile_of_model(self.files[0].meta.model()),
            fixed: None,
            working_bytes: most,
            whole_bytes: all.sum::<u64>() * PLANE_BYTES + largest * DECODING_BYTES,
        }
    }

    /// Reads batches of at most `most` rows. The pictures of a file are decoded once, and kept up to its last row.
    pub(super) fn read(
        mut self,
        archive: &Archive<'_>,
        most: usize,
        each: EachBatch<'_>,
    ) -> Result<BatchNotes> {
        let task = archive.source().task;
        let mut pass = ColumnPass::new(&self);
        let (mut from, mut finished) = (0, Vec::new());
        for (at, [is_first, is_last]) in self.ends().into_iter().enumerate() {
            let Span { file, start, .. } = self.spans[at];
            if is_first {
                pass.read(&self, from..start, most, task, each)?;
                from = start;
                for file in finished.drain(..) {
                    self.planes[file] = None;
                }
                self.decode(archive, file)?;
            }
            if is_last {
                finished.push(file);
            }
        }
        pass.read(&self, from..self.rows(), most, task, each)?;
        pass.finish(archive.source(), |raw| self.described(archive, raw))
    }
}

impl ColumnRows for SogRows {
    fn rows(&self) -> usize {
        self.spans.last().map_or(0, |span| span.start + span.rows)
    }

    fn sh_degree(&self) -> u8 {
        self.files.iter().map(|file| file.sh_degree).max().unwrap_or(0)
    }

    fn columns(&self, rows: Rows) -> Result<RawColumns> {
        let mut joined = RawColumns::zeroed(0, self.sh_degree());
        let is_before = |span: &Span| span.start + span.rows <= rows.first();
        for span in &self.spans[self.spans.partition_point(is_before)..] {
            let of_span = rows.moved(&(span.start..span.start + span.rows), span.offset);
            if let Some(planes) = &self.planes[span.file]
                && of_span.len() > 0
            {
                let raw = planes.columns(of_span);
                joined.append(&raw, 0..raw.rows());
            }
            if joined.rows() == rows.len() {
                break;
            }
        }
        Ok(joined)
    }
}
