use super::in_place::SplatsInPlace;
use super::rows::{BinaryRows, read_fixed};
use crate::assemble::{FixedRows, RowLayout};
use crate::encoding::SplatAxes;
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
    let dropped = each_fixed(rows, each, |spans| {
        let fixed = FixedRows::new([of_file.start, of_file.stride], spans);
        let layout = RowLayout { rows: fixed.len, ..of_file.layout };
        let BinaryRows { fields, encoding, .. } = &of_file;
        read_fixed(source.bytes, &fixed, layout, fields, *encoding, source.task)
    })?;
    let sampled = SplatsInPlace::open(source.path)?;
    let warning = sampled.and_then(|sampled| sampled.rounding_warning());
    let unused = source.options.unused(SplatAxes::RDF, 1);
    Ok(BatchNotes { dropped, warnings: warning.into_iter().chain(unused).collect() })
}
