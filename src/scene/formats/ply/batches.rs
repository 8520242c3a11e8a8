use std::cell::Cell;

use super::in_place::SplatsInPlace;
use super::rows::{BinaryRows, read_fixed};
use super::unused_columns::{LEAST_ROWS, all_were_linear, linear_warning};
use crate::assemble::{FixedRows, RowLayout};
use crate::formats::batches::each_fixed;
use crate::formats::format_reader::{
    BatchFacts, BatchNotes, BatchReader, BatchRows, EachBatch, SceneSource,
};
use quadrille_base::error::Result;

/// Batch reader of binary fixed-size rows. It refuses other layouts.
pub(super) const BATCHES: BatchReader = BatchReader { facts, read };

fn facts(source: &SceneSource<'_>) -> Result<BatchFacts> {
    let BinaryRows { start, stride, layout, profile_hint, .. } =
        BinaryRows::of(source.bytes, source.path)?;
    Ok(BatchFacts {
        fixed: Some([start, stride]),
        ..BatchFacts::mapped(layout.rows, layout.sh_degree, profile_hint)
    })
}

fn read(source: &SceneSource<'_>, rows: BatchRows<'_>, each: EachBatch<'_>) -> Result<BatchNotes> {
    let of_file = BinaryRows::of(source.bytes, source.path)?;
    let are_linear = Cell::new(of_file.layout.rows >= LEAST_ROWS && !of_file.layout.filtered);
    let dropped = each_fixed(rows, each, |spans| {
        let fixed = FixedRows::new([of_file.start, of_file.stride], spans);
        let layout = RowLayout { rows: fixed.len, ..of_file.layout };
        let BinaryRows { fields, encoding, .. } = &of_file;
        let read = read_fixed(source.bytes, &fixed, layout, fields, *encoding, source.task)?;
        are_linear.set(are_linear.get() && all_were_linear(&read.0));
        Ok(read)
    })?;
    let mut described = of_file.described;
    if are_linear.get() {
        described.warnings.push(linear_warning());
    }
    let sampled = SplatsInPlace::of_layout(source.path)?;
    described.warnings.extend(sampled.and_then(|sampled| sampled.rounding_warning()));
    described.warn(source.options);
    Ok(BatchNotes { dropped, warnings: described.warnings })
}
