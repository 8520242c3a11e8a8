//! The `.splat` format: 32 bytes per splat, without a header.
//!
//! Little-endian f32 position x, y, z; f32 scale x, y, z, linear; u8 red, green, blue, opacity; u8 rotation w, x, y, z as
//! (v - 128) / 128. The only description is its first reader, the web viewer antimatter15/splat.

use std::ops::{Range, RangeInclusive};
use std::path::Path;

use bytemuck::Zeroable;

use super::batches::each_fixed;
use super::column_rows::sample;
use super::format_reader::{
    BatchFacts, BatchNotes, BatchReader, BatchRows, EachBatch, FormatReader, Reader, SceneSource,
};
use crate::activate::ValueEncoding;
use crate::activation::{logit, sigmoid, take_linear_scales};
use crate::assemble::{FixedRows, PLAIN_SLOTS, RowLayout, assemble_fixed};
use crate::encoding::{SceneEncoding, SplatAxes};
use crate::scene_file::{Dropped, Scene, SceneFormat, rounding_warning};
use crate::splats::{Lanes, Splat, SplatBlock, Splats};
use crate::table::{RawColumns, SplatTable};
use quadrille_base::math::{SH_C0, byte, narrow};
use quadrille_base::{Result, Task};

const RECORD_BYTES: usize = 32;

pub(super) const FORMAT: FormatReader = FormatReader {
    format: SceneFormat(".splat"),
    has_mark: |_| false,
    extensions: &["splat"],
    reader: Some(Reader {
        table: read_table,
        scene: Some(read),
        batches: Some(BatchReader { facts, read: read_batches }),
    }),
};

/// Maximum number of records whose scales are examined for negative signs.
const SAMPLED_RECORDS: usize = 4096;

const LOSSES: &str = "no spherical harmonics; 8-bit colours, opacities and rotations";

/// Range of the squared norm of quaternions rounded to 8 bits.
const LIKELY_NORMS_SQUARED: RangeInclusive<f32> = 0.9..=1.1;

/// True if 99 % of the records have finite positions, finite scales that are not negative, and unit quaternions.
pub(super) fn is_likely(bytes: &[u8]) -> bool {
    let (records, []) = bytes.as_chunks::<RECORD_BYTES>() else { return false };
    let is_likely = |record: &[u8; RECORD_BYTES]| {
        let words = record.as_chunks().0;
        let value = |k: usize| f32::from_le_bytes(words[k]);
        let norm_squared: f32 = words[7].map(component).iter().map(|q| q * q).sum();
        (0..3).all(|k| value(k).is_finite())
            && (3..6).all(|k| value(k).is_finite() && value(k) >= 0.0)
            && LIKELY_NORMS_SQUARED.contains(&norm_squared)
    };
    let unlikely = records.iter().filter(|record| !is_likely(record)).count();
    !records.is_empty() && unlikely <= records.len() / 100
}

fn component(byte: u8) -> f32 {
    (f32::from(byte) - 128.0) / 128.0
}

fn check_size(source: &SceneSource<'_>) -> Result<()> {
    let bytes = source.bytes.len();
    let extra = bytes % RECORD_BYTES;
    if extra == 0 {
        return Ok(());
    }
    let found = format!("{bytes} bytes, {extra} too many");
    Err(source.malformed("size", "a multiple of 32 bytes (.splat)", found))
}

fn encoding() -> SceneEncoding {
    SceneEncoding::new("8 bits per colour, opacity and quaternion component", LOSSES)
}

fn read_table(source: &SceneSource<'_>) -> Result<SplatTable> {
    check_size(source)?;
    let records = source.bytes.as_chunks::<RECORD_BYTES>().0;
    let mut raw = RawColumns::zeroed(records.len(), 0);
    for (row, record) in records.iter().enumerate() {
        source.task.check()?;
        let mut lanes = [[0.0; 16]; PLAIN_SLOTS];
        decode(&[*record], &mut lanes);
        let value = |slot: usize| lanes[slot][0];
        for axis in 0..3 {
            raw.mean[axis][row] = f64::from(value(axis));
            raw.scale[axis][row] = value(3 + axis);
            raw.sh_constant[axis][row] = value(11 + axis);
        }
        for (i, column) in raw.rotation.iter_mut().enumerate() {
            column[row] = value(6 + i);
        }
        raw.opacity[row] = logit(f64::from(record[27]) / 255.0);
    }
    let mut encoding = encoding();
    encoding.warnings.extend(take_linear_scales(&mut raw.scale));
    Ok(SplatTable::of_raw(raw, source.describe(FORMAT.format, encoding)))
}

fn read(source: &SceneSource<'_>) -> Result<Scene> {
    check_size(source)?;
    let bytes = source.bytes;
    if has_logarithms(bytes.as_chunks::<RECORD_BYTES>().0) {
        return read_table(source)?.into_scene_with(source.task);
    }
    let rows = 0..bytes.len() / RECORD_BYTES;
    Ok(Scene::new(FORMAT.format, bytes.len(), encoding(), read_spans(source, &[rows])?))
}

fn read_spans(source: &SceneSource<'_>, spans: &[Range<usize>]) -> Result<(Splats, Dropped)> {
    let fixed = FixedRows::new([0, RECORD_BYTES], spans);
    let layout = RowLayout {
        rows: fixed.len,
        sh_degree: 0,
        encoding: ValueEncoding::Linear,
        scales: 3,
        filtered: false,
    };
    assemble_fixed(source.bytes, &fixed, layout, source.task, |rows, raw| {
        decode(rows.as_chunks().0, raw.plain);
    })
}

fn facts(source: &SceneSource<'_>) -> Result<BatchFacts> {
    check_size(source)?;
    if has_logarithms(source.bytes.as_chunks::<RECORD_BYTES>().0) {
        let expected = "linear scales, as `quadrille convert` writes them";
        return Err(source.malformed(
            "records",
            expected,
            "logarithms, which are not read in batches",
        ));
    }
    Ok(BatchFacts::mapped(source.bytes.len() / RECORD_BYTES, 0, None))
}

fn read_batches(
    source: &SceneSource<'_>,
    rows: BatchRows<'_>,
    each: EachBatch<'_>,
) -> Result<BatchNotes> {
    let dropped = each_fixed(rows, each, |spans| read_spans(source, spans))?;
    let records = source.bytes.as_chunks::<RECORD_BYTES>().0;
    let sampled = sample(records.len(), 0..records.len()).iter().map(|row| {
        let mut block = SplatBlock::zeroed();
        decode(&records[row..=row], bytemuck::cast_mut(&mut block));
        Splat::load(&block, &[], 0)
    });
    let unused = source.options.unused(SplatAxes::RDF, 1);
    let warnings = rounding_warning(sampled).into_iter().chain(unused).collect();
    Ok(BatchNotes { dropped, warnings })
}

/// True if most scales in evenly spaced records are negative, as logarithms are. A pass over all records would read
/// the whole file on one thread before decoding starts.
fn has_logarithms(records: &[[u8; RECORD_BYTES]]) -> bool {
    let sample = records.iter().step_by(records.len().div_ceil(SAMPLED_RECORDS).max(1));
    let count = sample.len();
    // The sign is the highest bit of the last byte of each scale.
    let signs =
        sample.flat_map(|record| [15, 19, 23].map(|at: usize| usize::from(record[at] >> 7)));
    2 * signs.sum::<usize>() > 3 * count
}

fn decode(records: &[[u8; RECORD_BYTES]], plain: &mut [Lanes; PLAIN_SLOTS]) {
    for (lane, record) in records.iter().enumerate() {
        let (words, _) = record.as_chunks();
        for (lanes, word) in plain.iter_mut().zip(&words[..6]) {
            lanes[lane] = f32::from_le_bytes(*word);
        }
        let [red, green, blue, opacity] = words[6];
        for (lanes, v) in plain[6..10].iter_mut().zip(words[7]) {
            lanes[lane] = component(v);
        }
        plain[10][lane] = f32::from(opacity) / 255.0;
        for (lanes, colour) in plain[11..].iter_mut().zip([red, green, blue]) {
            lanes[lane] = narrow((f64::from(colour) / 255.0 - 0.5) / SH_C0);
        }
    }
}

pub(super) fn write(table: &SplatTable, path: &Path, task: &Task) -> Result<Vec<u8>> {
    let raw = table.raw(path, task)?;
    let mut bytes = Vec::with_capacity(raw.rows() * RECORD_BYTES);
    for row in 0..raw.rows() {
        task.check()?;
        for column in &raw.mean {
            bytes.extend(narrow(column[row]).to_le_bytes());
        }
        for column in &raw.scale {
            bytes.extend(narrow(f64::from(column[row]).exp()).to_le_bytes());
        }
        for column in &raw.sh_constant {
            bytes.push(byte((f64::from(column[row]) * SH_C0 + 0.5) * 255.0));
        }
        bytes.push(byte(sigmoid(f64::from(raw.opacity[row])) * 255.0));
        bytes.extend(raw.unit_rotation(row).map(|v| byte(v * 128.0 + 128.0)));
    }
    Ok(bytes)
}
