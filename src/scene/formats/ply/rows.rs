//! Decodes the rows of a PLY body into lanes.

use std::path::Path;

use super::body::Body;
use super::header::{Encoding, Header, PropertyKind};
use super::layout::{Layout, NAME, profile_hint};
use super::number;
use super::table::read_table;
use super::unused_columns;
use crate::assemble::{FixedRows, RawBlock, RowLayout, assemble_fixed, assemble_in_order};
use crate::bytes::FileBytes;
use crate::encoding::SceneEncoding;
use crate::formats::format_reader::SceneSource;
use crate::scene_file::{Dropped, Scene};
use crate::splats::{BLOCK, Splats};
use quadrille_base::math::narrow;
use quadrille_base::scalar::Scalar;
use quadrille_base::{Error, Result, Task};

pub(super) const WORD_BYTES: usize = 4;

pub(crate) fn read(source: &SceneSource<'_>) -> Result<Scene> {
    let SceneSource { bytes, path, task, .. } = source;
    let header = Header::parse(bytes, path)?;
    let layout = Layout::of(&header, path)?;
    if needs_table(&layout) {
        return read_table(source)?.into_scene_with(task);
    }
    let mut body = Body::new(&header, bytes, path);
    for element in layout.before {
        body.skip(element)?;
    }
    body.check_room(layout.element)?;
    let stride = layout.element.stride_bytes();
    let splats = match stride.filter(|_| header.encoding != Encoding::Ascii) {
        Some(stride) => {
            let row_layout = layout.row_layout;
            let all = 0..row_layout.rows;
            let fixed = FixedRows::new([body.offset(), stride], &[all]);
            read_fixed(bytes, &fixed, row_layout, &fields(&layout), header.encoding, task)?
        }
        None => read_in_order(body, bytes, &layout, task)?,
    };
    let names = layout.element.properties.iter().map(|p| p.name.as_str());
    let profile_hint = profile_hint(names, &header.comments);
    let mut encoding = layout.encoding(&header);
    if !layout.row_layout.filtered && unused_columns::were_linear(&splats.0) {
        encoding.warnings.push(unused_columns::linear_warning());
    }
    Ok(Scene {
        profile_hint,
        comments: header.comments,
        ..Scene::new(NAME, bytes.len(), encoding, splats)
    })
}

/// True if splats are read through a table, for plain colours or positions in double precision.
fn needs_table(layout: &Layout<'_>) -> bool {
    let properties = &layout.element.properties;
    let is_fine = |name: &str| {
        let own = properties.iter().find(|property| property.name == name);
        own.is_some_and(
            |own| matches!(own.kind, PropertyKind::Scalar(scalar) if scalar.is_finer_than_f32()),
        )
    };
    let has_lists =
        properties.iter().any(|property| matches!(property.kind, PropertyKind::List { .. }));
    // Tables hold no lists.
    layout.has_plain_colours || !has_lists && ["x", "y", "z"].into_iter().any(is_fine)
}

/// Location and layout of binary rows of one size, which can be read in parts.
pub(super) struct BinaryRows {
    pub(super) start: usize,
    pub(super) stride: usize,
    pub(super) layout: RowLayout,
    pub(super) fields: Vec<FixedField>,
    pub(super) encoding: Encoding,
    pub(super) profile_hint: Option<&'static str>,
    /// Encoding of the file, with warnings about its header.
    pub(super) described: SceneEncoding,
}

impl BinaryRows {
    /// Finds the rows in `bytes`, the content of `path`. Refuses text, lists, plain colours and positions in doubles.
    pub(super) fn of(bytes: &[u8], path: &Path) -> Result<Self> {
        let header = Header::parse(bytes, path)?;
        let layout = Layout::of(&header, path)?;
        let mut body = Body::new(&header, bytes, path);
        for element in layout.before {
            body.skip(element)?;
        }
        body.check_room(layout.element)?;
        let stride = layout.element.stride_bytes();
        let is_fixed = header.encoding != Encoding::Ascii && !needs_table(&layout);
        let (start, Some(stride)) = (body.offset(), stride.filter(|_| is_fixed)) else {
            return Err(Error::malformed(
                path,
                "header",
                "a binary PLY of splats in single precision, as `quadrille convert` writes it",
                "another layout, which is not read in batches",
            ));
        };
        let names = layout.element.properties.iter().map(|p| p.name.as_str());
        Ok(Self {
            start,
            stride,
            layout: layout.row_layout,
            fields: fields(&layout),
            encoding: header.encoding,
            profile_hint: profile_hint(names, &header.comments),
            described: layout.encoding(&header),
        })
    }
}

#[derive(Clone, Copy)]
pub(super) struct FixedField {
    offset: usize,
    scalar: Scalar,
    slot: usize,
}

pub(super) fn read_fixed(
    bytes: &FileBytes<'_>,
    fixed: &FixedRows,
    row_layout: RowLayout,
    fields: &[FixedField],
    encoding: Encoding,
    task: &Task,
) -> Result<(Splats, Dropped)> {
    let stride = fixed.stride;
    match word_slots(fields, stride, encoding) {
        Some(words) => assemble_fixed(bytes, fixed, row_layout, task, |rows, raw| {
            decode_words(rows.as_chunks().0, stride / WORD_BYTES, &words, raw);
        }),
        None => assemble_fixed(bytes, fixed, row_layout, task, |rows, raw| {
            decode_fields(rows, stride, fields, encoding, raw);
        }),
    }
}

fn fields(layout: &Layout<'_>) -> Vec<FixedField> {
    let (mut offset, mut fields) = (0, Vec::new());
    for (property, slot) in layout.element.properties.iter().zip(&layout.slots) {
        if let PropertyKind::Scalar(scalar) = property.kind {
            if let Some(slot) = *slot {
                fields.push(FixedField { offset, scalar, slot });
            }
            offset += scalar.size_bytes();
        }
    }
    fields
}

/// Slot and word in a row of each field, if all are little-endian floats on word boundaries, as in most splat files.
pub(super) fn word_slots(
    fields: &[FixedField],
    stride: usize,
    encoding: Encoding,
) -> Option<Vec<(usize, usize)>> {
    let fits =
        |field: &FixedField| field.scalar == Scalar::F32 && field.offset.is_multiple_of(WORD_BYTES);
    let fast = encoding == Encoding::LittleEndian
        && stride.is_multiple_of(WORD_BYTES)
        && fields.iter().all(fits);
    fast.then(|| {
        let word = |field: &FixedField| (field.slot, field.offset / WORD_BYTES);
        fields.iter().map(word).collect()
    })
}

type Word = [u8; WORD_BYTES];

type WordSlots = [(usize, usize)];

pub(super) fn decode_words(body: &[Word], stride: usize, slots: &WordSlots, mut raw: RawBlock<'_>) {
    // Rows of the trainer of degree 0 and 3, with and without normals, have code of their own, since a constant
    // stride halves the time.
    match stride {
        14 => decode_known::<14>(body, slots, &mut raw),
        17 => decode_known::<17>(body, slots, &mut raw),
        59 => decode_known::<59>(body, slots, &mut raw),
        62 => decode_known::<62>(body, slots, &mut raw),
        _ => decode_strided(body, stride, slots, &mut raw),
    }
}

/// [`decode_words`] for rows of `STRIDE` words.
fn decode_known<const STRIDE: usize>(body: &[Word], slots: &WordSlots, raw: &mut RawBlock<'_>) {
    let (rows, _) = body.as_chunks::<STRIDE>();
    let Some(rows) = rows.first_chunk::<BLOCK>() else {
        return decode_strided(body, STRIDE, slots, raw);
    };
    for &(slot, word) in slots {
        if word < STRIDE {
            let lanes = raw.slot(slot);
            for lane in 0..BLOCK {
                lanes[lane] = f32::from_le_bytes(rows[lane][word]);
            }
        }
    }
}

/// [`decode_words`] for rows of any size.
fn decode_strided(body: &[Word], stride: usize, slots: &WordSlots, raw: &mut RawBlock<'_>) {
    for &(slot, word) in slots {
        let column = body[word.min(body.len())..].iter().step_by(stride);
        for (value, bytes) in raw.slot(slot).iter_mut().zip(column) {
            *value = f32::from_le_bytes(*bytes);
        }
    }
}

/// Decodes fixed-size rows with any types and byte order, for files that [`decode_words`] does not cover.
fn decode_fields(
    body: &[u8],
    stride: usize,
    fields: &[FixedField],
    encoding: Encoding,
    mut raw: RawBlock<'_>,
) {
    for field in fields {
        for (value, row) in raw.slot(field.slot).iter_mut().zip(body.chunks_exact(stride)) {
            *value = narrow(number::read(&row[field.offset..], field.scalar, encoding));
        }
    }
}

/// Reads rows of text or with lists in order, since the offset of a row follows from the previous one.
fn read_in_order(
    mut body: Body<'_>,
    bytes: &FileBytes<'_>,
    layout: &Layout<'_>,
    task: &Task,
) -> Result<(Splats, Dropped)> {
    assemble_in_order(layout.row_layout, task, |batch| {
        let from = body.offset();
        let dropped = batch.fill(|rows, mut raw| {
            for (lane, row) in rows.enumerate() {
                body.row(layout.element, row as u64, |property, number| {
                    if let Some(slot) = layout.slots[property] {
                        raw.slot(slot)[lane] = number.rounded()?;
                    }
                    Ok(())
                })?;
            }
            Ok(())
        });
        bytes.release(from..body.offset());
        dropped
    })
}
