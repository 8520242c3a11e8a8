//! Reading of formats whose raw columns can be decoded for any rows.

use std::ops::Range;

use crate::assemble::assemble_columns;
use crate::origin::SAMPLES;
use crate::raw_columns::{RawColumns, Rows};
use crate::scene_file::Scene;
use crate::table::SplatTable;
use quadrille_base::{Result, Task};

/// Rows decoded between checks of a task.
const PART_ROWS: usize = 1 << 14;

/// Encoded scene whose raw columns can be decoded for any rows.
pub(super) trait ColumnRows: Sync {
    fn rows(&self) -> usize;
    fn sh_degree(&self) -> u8;
    fn columns(&self, rows: Rows) -> Result<RawColumns>;
}

/// Evenly spaced rows in `range` of a scene of `rows` rows, which show whether its positions need an origin.
pub(super) fn sample(rows: usize, range: Range<usize>) -> Rows {
    Rows::multiples(range, rows.div_ceil(SAMPLES).max(1))
}

pub(super) fn read_raw(rows: &impl ColumnRows, task: &Task) -> Result<RawColumns> {
    let mut raw = RawColumns::zeroed(0, rows.sh_degree());
    for first in (0..rows.rows()).step_by(PART_ROWS) {
        task.check()?;
        let part = rows.columns(Rows::multiples(first..rows.rows().min(first + PART_ROWS), 1))?;
        raw.append(&part, 0..part.rows());
    }
    Ok(raw)
}

/// Reads all splats of `rows` on all threads. `describe` makes a table of sampled rows, whose description the scene takes.
pub(super) fn read_splats(
    rows: &impl ColumnRows,
    task: &Task,
    describe: impl FnOnce(RawColumns) -> SplatTable,
) -> Result<Scene> {
    let all = 0..rows.rows();
    let described = describe(rows.columns(sample(rows.rows(), all.clone()))?);
    let (degree, origin) = (rows.sh_degree(), described.origin());
    let read =
        assemble_columns(all, degree, origin, task, |rows_of_part| rows.columns(rows_of_part))?;
    Ok(described.with_splats(read))
}
