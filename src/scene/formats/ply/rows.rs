//! Decoding the rows of a PLY body into lanes.

use std::ops::Range;
use std::path::Path;

use super::body::{check_room, row_place, skip_binary, skip_text, skip_value, text_row};
use super::header::{Encoding, Header, Kind, Scalar};
use super::layout::Layout;
use super::lines::Lines;
use super::number;
use crate::error::{Error, Result};
use crate::scene::assemble::{RawBlock, assemble, assemble_in_order};
use crate::scene::bytes::Bytes;
use crate::scene::dropped::Dropped;
use crate::scene::splats::{BLOCK, Splats};

/// Bytes of the words that the fast path reads.
const WORD_BYTES: usize = 4;

/// Reads the splats that `layout` describes.
pub(crate) fn read(
    bytes: &Bytes<'_>,
    header: &Header,
    layout: &Layout<'_>,
    path: &Path,
) -> Result<(Splats, Dropped)> {
    if header.encoding == Encoding::Ascii {
        return read_text(bytes, header, layout, path);
    }
    let mut start = header.body_offset;
    for element in layout.before {
        start = skip_binary(element, header.encoding, bytes, start, path)?;
    }
    let left = bytes.len().saturating_sub(start);
    check_room(layout.element, header.encoding, left, path)?;
    match layout.element.stride_bytes() {
        Some(stride) => read_fixed(bytes, start, stride, header.encoding, layout),
        None => read_varying(bytes, start, header.encoding, layout, path),
    }
}

/// A property of a row of fixed size.
#[derive(Clone, Copy)]
struct Field {
    offset: usize,
    scalar: Scalar,
    slot: usize,
}

/// Rows that all have the same size, on all threads.
fn read_fixed(
    bytes: &Bytes<'_>,
    start: usize,
    stride: usize,
    encoding: Encoding,
    layout: &Layout<'_>,
) -> Result<(Splats, Dropped)> {
    let fields = fields(layout);
    let words = word_slots(&fields, stride, encoding);
    assemble(layout.shape, |batch| {
        let rows = batch.rows();
        let span = |rows: &Range<usize>| start + rows.start * stride..start + rows.end * stride;
        let dropped = match &words {
            Some(words) => batch.fill(|rows, raw| {
                let (body, _) = bytes[span(&rows)].as_chunks();
                decode_words(body, stride / WORD_BYTES, words, raw);
                Ok(())
            }),
            None => batch.fill(|rows, raw| {
                decode_fields(&bytes[span(&rows)], stride, &fields, encoding, raw);
                Ok(())
            }),
        };
        bytes.release(span(&rows));
        dropped
    })
}

/// The used properties of rows of fixed size.
fn fields(layout: &Layout<'_>) -> Vec<Field> {
    let (mut offset, mut fields) = (0, Vec::new());
    for (property, slot) in layout.element.properties.iter().zip(&layout.slots) {
        if let Kind::Scalar(scalar) = property.kind {
            if let Some(slot) = *slot {
                fields.push(Field {
                    offset,
                    scalar,
                    slot,
                });
            }
            offset += scalar.size_bytes();
        }
    }
    fields
}

/// Where the slots are in a row of words, if all are little-endian floats on word boundaries: the
/// layout of nearly every splat file.
fn word_slots(fields: &[Field], stride: usize, encoding: Encoding) -> Option<Vec<(usize, usize)>> {
    let fits =
        |field: &Field| field.scalar == Scalar::F32 && field.offset.is_multiple_of(WORD_BYTES);
    let fast = encoding == Encoding::LittleEndian
        && stride.is_multiple_of(WORD_BYTES)
        && fields.iter().all(fits);
    fast.then(|| {
        let word = |field: &Field| (field.slot, field.offset / WORD_BYTES);
        fields.iter().map(word).collect()
    })
}

/// A number in the file.
type Word = [u8; WORD_BYTES];

/// Where slots are in a row: pairs of slot and word.
type WordSlots = [(usize, usize)];

/// Rows of little-endian floats.
fn decode_words(body: &[Word], stride: usize, slots: &WordSlots, mut raw: RawBlock<'_>) {
    // The trainer's rows of degree 0 and 3, with and without normals, get code of their own: with
    // the stride known a column costs half as much.
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

/// Rows of fixed size of any types and byte order.
fn decode_fields(
    body: &[u8],
    stride: usize,
    fields: &[Field],
    encoding: Encoding,
    mut raw: RawBlock<'_>,
) {
    for field in fields {
        let lanes = raw.slot(field.slot);
        for (value, row) in lanes.iter_mut().zip(body.chunks_exact(stride)) {
            let exact = number::read(&row[field.offset..], field.scalar, encoding);
            *value = number::narrow(exact);
        }
    }
}

/// Rows that hold lists, one after the other.
fn read_varying(
    bytes: &Bytes<'_>,
    start: usize,
    encoding: Encoding,
    layout: &Layout<'_>,
    path: &Path,
) -> Result<(Splats, Dropped)> {
    let element = layout.element;
    let mut at = start;
    assemble_in_order(layout.shape, |batch| {
        let from = at;
        let dropped = batch.fill(|rows, mut raw| {
            for (lane, row) in rows.enumerate() {
                for (property, slot) in element.properties.iter().zip(&layout.slots) {
                    let next = skip_value(property.kind, encoding, bytes, at);
                    let next = next.map_err(|(expected, found)| {
                        let place = row_place(element, row as u64);
                        let place = format!("{place}, \"{}\"", property.name);
                        Error::file(path, place, expected, found)
                    })?;
                    if let (Some(slot), Kind::Scalar(scalar)) = (*slot, property.kind) {
                        let exact = number::read(&bytes[at..], scalar, encoding);
                        raw.slot(slot)[lane] = number::narrow(exact);
                    }
                    at = next;
                }
            }
            Ok(())
        });
        bytes.release(from..at);
        dropped
    })
}

/// Rows of text, a line each.
fn read_text(
    bytes: &Bytes<'_>,
    header: &Header,
    layout: &Layout<'_>,
    path: &Path,
) -> Result<(Splats, Dropped)> {
    let element = layout.element;
    let mut lines = Lines::body(bytes, header.body_offset);
    for before in layout.before {
        skip_text(before, &mut lines, path)?;
    }
    let left = bytes.len().saturating_sub(lines.offset());
    check_room(element, header.encoding, left, path)?;
    assemble_in_order(layout.shape, |batch| {
        let from = lines.offset();
        let dropped = batch.fill(|rows, mut raw| {
            for (lane, row) in rows.enumerate() {
                text_row(element, row as u64, &mut lines, path, |index, word| {
                    let kind = element.properties[index].kind;
                    if let (Some(slot), Kind::Scalar(scalar)) = (layout.slots[index], kind) {
                        raw.slot(slot)[lane] = number::parse(word, scalar)?;
                    }
                    Ok(())
                })?;
            }
            Ok(())
        });
        bytes.release(from..lines.offset());
        dropped
    })
}
