//! PLY as a table of raw columns. Rows that were read are written back byte for byte.

use std::io::{self, Write};

use rayon::prelude::*;

use super::body::Body;
use super::header::{Element, Encoding, Header, PropertyKind, name_of};
use super::layout::{COLOURS, Layout, NAME, comments_of, profile_hint};
use super::number;
use super::unused_columns;
use crate::column_names::{FIRST_CONSTANT, PLAIN};
use crate::formats::format_reader::SceneSource;
use crate::table::{Column, ColumnValues, SplatTable};
use quadrille_base::math::{SH_C0, narrow, whole};
use quadrille_base::scalar::Scalar;
use quadrille_base::{Result, Task};

const ROWS_PER_CHUNK: usize = 4096;
/// Rows read at a time by one thread: 60 KB with SH degree 3, which fit a core's cache.
const ROWS_PER_BLOCK: usize = 256;

pub(super) fn read_table(source: &SceneSource<'_>) -> Result<SplatTable> {
    let SceneSource { bytes, path, .. } = source;
    let header = Header::parse(bytes, path)?;
    let layout = Layout::of(&header, path)?;
    let element = layout.element;
    if let Some(list) = element.properties.iter().find(|p| is_list(p.kind)) {
        let place = format!("element \"{}\", property \"{}\"", element.name, list.name);
        return Err(source.malformed(place, "one number per row", "a list"));
    }
    let mut body = Body::new(&header, bytes, path);
    for before in layout.before {
        body.skip(before)?;
    }
    body.check_room(element)?;
    let rows = layout.row_layout.rows;
    let mut columns = match element.stride_bytes() {
        Some(stride) if header.encoding != Encoding::Ascii => {
            let end = body.offset() + stride * rows;
            let rows = &bytes[body.offset()..end];
            packed_columns(rows, stride, element, header.encoding, source.task)?
        }
        _ => text_columns(&mut body, element, rows, source.task)?,
    };
    if layout.has_plain_colours {
        columns.iter_mut().for_each(take_plain_colour);
    }
    let mut encoding = layout.encoding(&header);
    for other in header.elements.iter().filter(|e| e.name != element.name) {
        encoding.warnings.push(format!("element \"{}\" is left out", other.name));
    }
    let mut table = SplatTable::of_columns(rows, columns, source.describe(NAME, encoding));
    let names = element.properties.iter().map(|p| p.name.as_str());
    table.profile_hint = profile_hint(names, &header.comments);
    table.comments = header.comments;
    let opacities = table.column("opacity").unwrap_or_default();
    if unused_columns::may_be_linear(&opacities) {
        table.encoding.warnings.push(unused_columns::linear_warning());
    }
    Ok(table)
}

/// Converts red, green or blue to constant SH coefficients. Whole numbers are scaled by the maximum of their type.
fn take_plain_colour(column: &mut Column) {
    let Some(channel) = COLOURS.iter().position(|name| *name == column.name) else { return };
    let most = match column.values {
        ColumnValues::Other(Scalar::U8, _) => f64::from(u8::MAX),
        ColumnValues::Other(Scalar::U16, _) => f64::from(u16::MAX),
        _ => 1.0,
    };
    let constant = |value: f64| narrow((value / most - 0.5) / SH_C0);
    column.values = ColumnValues::F32(match &column.values {
        ColumnValues::F32(values) => values.iter().map(|v| constant(f64::from(*v))).collect(),
        ColumnValues::Other(_, values) => values.iter().map(|v| constant(*v)).collect(),
    });
    PLAIN[FIRST_CONSTANT + channel].clone_into(&mut column.name);
}

fn is_list(kind: PropertyKind) -> bool {
    matches!(kind, PropertyKind::List { .. })
}

fn scalars(element: &Element) -> impl Iterator<Item = (&str, Scalar)> {
    element.properties.iter().filter_map(|p| match p.kind {
        PropertyKind::Scalar(scalar) => Some((p.name.as_str(), scalar)),
        PropertyKind::List { .. } => None,
    })
}

enum Part<'a> {
    F32(&'a mut [f32]),
    Other(Scalar, &'a mut [f64]),
}

impl Part<'_> {
    fn read(&mut self, rows: &[u8], stride: usize, at: usize, encoding: Encoding) {
        let fields = rows.chunks_exact(stride).map(|row| &row[at..]);
        match self {
            // Bit patterns are kept, including NaN payloads.
            Self::F32(values) => {
                for (value, field) in values.iter_mut().zip(fields) {
                    let word = field.first_chunk().copied().unwrap_or_default();
                    *value = match encoding {
                        Encoding::BigEndian => f32::from_be_bytes(word),
                        _ => f32::from_le_bytes(word),
                    };
                }
            }
            Self::Other(scalar, values) => {
                for (value, field) in values.iter_mut().zip(fields) {
                    *value = number::read(field, *scalar, encoding);
                }
            }
        }
    }
}

/// Reads rows of `stride` bytes block by block, so that a block stays cached for all of its columns.
fn packed_columns(
    body: &[u8],
    stride: usize,
    element: &Element,
    encoding: Encoding,
    task: &Task,
) -> Result<Vec<Column>> {
    let rows = body.len() / stride;
    let mut columns: Vec<Column> = scalars(element)
        .map(|(name, scalar)| Column {
            name: name.to_owned(),
            values: match scalar {
                Scalar::F32 => ColumnValues::F32(vec![0.0; rows]),
                _ => ColumnValues::Other(scalar, vec![0.0; rows]),
            },
        })
        .collect();
    let mut blocks: Vec<Vec<(usize, Part<'_>)>> = Vec::new();
    blocks.resize_with(rows.div_ceil(ROWS_PER_BLOCK), Vec::new);
    let mut at = 0;
    for column in &mut columns {
        let (size, parts): (usize, Vec<Part<'_>>) = match &mut column.values {
            ColumnValues::F32(values) => {
                (size_of::<f32>(), values.chunks_mut(ROWS_PER_BLOCK).map(Part::F32).collect())
            }
            ColumnValues::Other(scalar, values) => {
                let parts = values.chunks_mut(ROWS_PER_BLOCK);
                let part = |values| Part::Other(*scalar, values);
                (scalar.size_bytes(), parts.map(part).collect())
            }
        };
        for (block, part) in blocks.iter_mut().zip(parts) {
            block.push((at, part));
        }
        at += size;
    }
    body.par_chunks(ROWS_PER_BLOCK * stride).zip(blocks).try_for_each(|(rows, parts)| {
        task.check()?;
        for (at, mut part) in parts {
            part.read(rows, stride, at, encoding);
        }
        Ok(())
    })?;
    Ok(columns)
}

fn text_columns(
    body: &mut Body<'_>,
    element: &Element,
    rows: usize,
    task: &Task,
) -> Result<Vec<Column>> {
    let empty = |(name, scalar): (&str, Scalar)| Column {
        name: name.to_owned(),
        values: match scalar {
            Scalar::F32 => ColumnValues::F32(Vec::with_capacity(rows)),
            _ => ColumnValues::Other(scalar, Vec::with_capacity(rows)),
        },
    };
    let mut columns: Vec<Column> = scalars(element).map(empty).collect();
    for row in 0..element.count {
        task.check()?;
        body.row(element, row, |property, number| {
            match &mut columns[property].values {
                ColumnValues::F32(values) => values.push(number.rounded()?),
                ColumnValues::Other(_, values) => values.push(number.exact()?),
            }
            Ok(())
        })?;
    }
    Ok(columns)
}

/// Writes `table` as little-endian PLY. Rows read from such a file are written unchanged.
pub(crate) fn write_table(table: &SplatTable, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "ply\nformat binary_little_endian 1.0")?;
    for line in comments_of(table, table.names()) {
        writeln!(out, "comment {line}")?;
    }
    writeln!(out, "element vertex {}", table.rows())?;
    for column in &table.columns {
        let kind = match column.values {
            ColumnValues::F32(_) => Scalar::F32,
            ColumnValues::Other(scalar, _) => scalar,
        };
        writeln!(out, "property {} {}", name_of(kind), column.name)?;
    }
    writeln!(out, "end_header")?;
    // Rows are packed in batches, so that memory does not hold the whole file.
    let batch = ROWS_PER_CHUNK * rayon::current_num_threads();
    for first in (0..table.rows()).step_by(batch) {
        let end = table.rows().min(first + batch);
        let chunks: Vec<Vec<u8>> = (first..end)
            .into_par_iter()
            .step_by(ROWS_PER_CHUNK)
            .map(|start| packed_rows(table, start..end.min(start + ROWS_PER_CHUNK)))
            .collect();
        chunks.iter().try_for_each(|chunk| out.write_all(chunk))?;
    }
    Ok(())
}

fn packed_rows(table: &SplatTable, rows: std::ops::Range<usize>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for row in rows {
        for column in &table.columns {
            match &column.values {
                ColumnValues::F32(values) => bytes.extend(values[row].to_bits().to_le_bytes()),
                ColumnValues::Other(scalar, values) => pack(values[row], *scalar, &mut bytes),
            }
        }
    }
    bytes
}

fn pack(value: f64, scalar: Scalar, bytes: &mut Vec<u8>) {
    match scalar {
        Scalar::I8 => bytes.extend(whole::<i8>(value).to_le_bytes()),
        Scalar::U8 => bytes.push(whole(value)),
        Scalar::I16 => bytes.extend(whole::<i16>(value).to_le_bytes()),
        Scalar::U16 => bytes.extend(whole::<u16>(value).to_le_bytes()),
        Scalar::I32 => bytes.extend(whole::<i32>(value).to_le_bytes()),
        Scalar::U32 => bytes.extend(whole::<u32>(value).to_le_bytes()),
        Scalar::F32 => bytes.extend(narrow(value).to_le_bytes()),
        Scalar::F64 => bytes.extend(value.to_le_bytes()),
    }
}
