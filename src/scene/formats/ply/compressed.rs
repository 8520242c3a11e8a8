//! Compressed PLY of SuperSplat and splat-transform: chunks of 256 splats with bounds, and four words per splat.
//!
//! Positions and scales have 11, 10 and 11 bits within the bounds. Rotations are the three smaller components of a unit
//! quaternion, 10 bits each. Colours, opacities and the higher coefficients (in an element `sh`) have 8 bits.

use super::body::Body;
use super::header::{Element, Encoding, Header, PropertyKind, name_of};
use super::layout::{model_in, profile_hint};
use super::number;
use crate::activation::logit;
use crate::chunk_order::CHUNK_ROWS;
use crate::encoding::SceneEncoding;
use crate::formats::batches::ColumnPass;
use crate::formats::column_rows::{ColumnRows, read_raw, read_splats};
use crate::formats::format_reader::{
    BatchFacts, BatchNotes, BatchReader, BatchRows, EachBatch, FormatReader, Reader, SceneSource,
};
use crate::quaternion::with_largest;
use crate::raw_columns::Rows;
use crate::scene_file::{Scene, SceneFormat};
use crate::splats::{MAX_SPLATS, rest_coefficients};
use crate::table::{RawColumns, SplatTable};
use quadrille_base::error::Result;
use quadrille_base::math::{SH_C0, narrow, whole};
use quadrille_base::scalar::Scalar;

pub(super) const CHUNK: usize = CHUNK_ROWS;

/// Width of the range of higher coefficients, -4 to 4.
pub(super) const SH_RANGE: f64 = 8.0;

/// Properties of a chunk; the last six may be missing.
pub(super) const CHUNK_PROPERTIES: [&str; 18] = [
    "min_x",
    "min_y",
    "min_z",
    "max_x",
    "max_y",
    "max_z",
    "min_scale_x",
    "min_scale_y",
    "min_scale_z",
    "max_scale_x",
    "max_scale_y",
    "max_scale_z",
    "min_r",
    "min_g",
    "min_b",
    "max_r",
    "max_g",
    "max_b",
];
const REQUIRED_OF_CHUNK: usize = 12;

pub(super) const PACKED_PROPERTIES: [&str; 4] =
    ["packed_position", "packed_rotation", "packed_scale", "packed_color"];

/// Bytes at the start of a file that are searched for packed properties.
const HEADER_BYTES: usize = 1 << 16;

pub(in crate::formats) const FORMAT: FormatReader = FormatReader {
    format: SceneFormat("compressed PLY"),
    has_mark: |bytes| {
        let header = &bytes[..bytes.len().min(HEADER_BYTES)];
        let mut lines = header.split(|b| matches!(b, b'\n' | b'\r'));
        header.starts_with(b"ply") && lines.any(|line| line == b"property uint packed_position")
    },
    extensions: &[],
    reader: Some(Reader {
        table: read_table,
        scene: Some(read_scene),
        batches: Some(BatchReader { facts, read: read_batches }),
    }),
};

pub(super) const LOSSES: &str = "11 bits per position and scale within chunks of 256 splats, 8 bits per colour, \
     opacity and coefficient (-4 to 4), 10 bits per quaternion component";

struct PackedElement<'a> {
    element: &'a Element,
    rows: &'a [u8],
    stride: usize,
    encoding: Encoding,
}

impl PackedElement<'_> {
    fn field(
        &self,
        name: &str,
        scalar: Scalar,
        source: &SceneSource<'_>,
    ) -> Result<impl Fn(usize) -> f64 + '_> {
        let mut offset = 0;
        for property in &self.element.properties {
            if property.name == name {
                if property.kind != PropertyKind::Scalar(scalar) {
                    let place = format!("element \"{}\", \"{name}\"", self.element.name);
                    return Err(source.malformed(place, name_of(scalar), "another type"));
                }
                let (rows, stride, encoding) = (self.rows, self.stride, self.encoding);
                return Ok(move |row: usize| {
                    let bytes = rows.get(row * stride + offset..).unwrap_or_default();
                    number::read(bytes, scalar, encoding)
                });
            }
            if let PropertyKind::Scalar(other) = property.kind {
                offset += other.size_bytes();
            }
        }
        let place = format!("element \"{}\"", self.element.name);
        Err(source.malformed(place, format!("a property \"{name}\""), "none"))
    }

    fn word(&self, name: &str, source: &SceneSource<'_>) -> Result<impl Fn(usize) -> u32 + '_> {
        let field = self.field(name, Scalar::U32, source)?;
        Ok(move |row| whole(field(row)))
    }
}

struct PackedRows<'a> {
    chunks: PackedElement<'a>,
    packed: PackedElement<'a>,
    sh: Option<PackedElement<'a>>,
    rows: usize,
    sh_degree: u8,
    source: &'a SceneSource<'a>,
}

impl<'a> PackedRows<'a> {
    /// Finds the elements of `header` and checks that they fit in the file.
    fn of(header: &'a Header, source: &'a SceneSource<'a>) -> Result<Self> {
        let mut elements = elements(header, source)?;
        let mut named = |name: &str| {
            Some(elements.swap_remove(elements.iter().position(|e| e.element.name == name)?))
        };
        let missing =
            |name: &str| source.malformed("header", format!("an element \"{name}\""), "none");
        let chunks = named("chunk").ok_or_else(|| missing("chunk"))?;
        let packed = named("vertex").ok_or_else(|| missing("vertex"))?;
        let rows = row_count(&packed, source)?;
        let needed = rows.div_ceil(CHUNK) as u64;
        if chunks.element.count < needed {
            let found = chunks.element.count.to_string();
            let expected = format!("{needed} rows, one per 256 splats");
            return Err(source.malformed("element \"chunk\"", expected, found));
        }
        let sh = named("sh");
        let coefficients = sh.as_ref().map(|sh| sh_properties(sh, rows, source));
        let coefficients = coefficients.transpose()?.unwrap_or(0);
        let degree = (0..=3).find(|d| 3 * rest_coefficients(*d) == coefficients);
        let of_file = Self { chunks, packed, sh, rows, sh_degree: degree.unwrap_or(0), source };
        // Missing properties are found before any row is read.
        of_file.columns(Rows::multiples(0..0, 1)).map(|_| of_file)
    }

    fn described(&self, header: &Header, raw: RawColumns) -> SplatTable {
        let compression = if has_colour_bounds(self.chunks.element) {
            "chunks of 256 splats with bounds of positions, scales and colours"
        } else {
            "chunks of 256 splats with bounds of positions and scales"
        };
        let encoding = SceneEncoding::new(compression, LOSSES);
        let mut table = SplatTable::of_raw(raw, self.source.describe(FORMAT.format, encoding));
        table.profile_hint = profile_hint(std::iter::empty(), &header.comments);
        table.encoding.model = model_in(&header.comments);
        table.comments.clone_from(&header.comments);
        table
    }
}

impl ColumnRows for PackedRows<'_> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn sh_degree(&self) -> u8 {
        self.sh_degree
    }

    fn columns(&self, rows: Rows) -> Result<RawColumns> {
        let mut raw = RawColumns::zeroed(rows.len(), self.sh_degree);
        decode_packed(self, rows, &mut raw)?;
        if let Some(sh) = &self.sh {
            for (at, column) in raw.sh_rest.iter_mut().enumerate() {
                let byte = sh.field(&format!("f_rest_{at}"), Scalar::U8, self.source)?;
                for (value, row) in column.iter_mut().zip(rows.iter()) {
                    *value = coefficient(byte(row));
                }
            }
        }
        Ok(raw)
    }
}

fn read_table(source: &SceneSource<'_>) -> Result<SplatTable> {
    let header = Header::parse(source.bytes, source.path)?;
    let rows = PackedRows::of(&header, source)?;
    Ok(rows.described(&header, read_raw(&rows, source.task)?))
}

fn read_scene(source: &SceneSource<'_>) -> Result<Scene> {
    let header = Header::parse(source.bytes, source.path)?;
    let rows = PackedRows::of(&header, source)?;
    read_splats(&rows, source.task, |raw| rows.described(&header, raw))
}

fn facts(source: &SceneSource<'_>) -> Result<BatchFacts> {
    let header = Header::parse(source.bytes, source.path)?;
    let rows = PackedRows::of(&header, source)?;
    let profile_hint = profile_hint(std::iter::empty(), &header.comments);
    Ok(BatchFacts::mapped(rows.rows, rows.sh_degree, profile_hint))
}

fn read_batches(
    source: &SceneSource<'_>,
    batches: BatchRows<'_>,
    each: EachBatch<'_>,
) -> Result<BatchNotes> {
    let header = Header::parse(source.bytes, source.path)?;
    let rows = PackedRows::of(&header, source)?;
    let mut pass = ColumnPass::new(&rows);
    pass.read(&rows, 0..rows.rows, batches.most, source.task, each)?;
    pass.finish(source, |raw| rows.described(&header, raw))
}

fn elements<'a>(header: &'a Header, source: &SceneSource<'a>) -> Result<Vec<PackedElement<'a>>> {
    if header.encoding == Encoding::Ascii {
        return Err(source.malformed("header", "a binary format", "ascii"));
    }
    let bytes: &[u8] = source.bytes;
    let mut body = Body::new(header, bytes, source.path);
    let mut elements = Vec::new();
    for element in &header.elements {
        let start = body.offset();
        body.skip(element)?;
        if let Some(stride) = element.stride_bytes() {
            elements.push(PackedElement {
                element,
                rows: bytes.get(start..body.offset()).unwrap_or_default(),
                stride,
                encoding: header.encoding,
            });
        }
    }
    Ok(elements)
}

fn row_count(packed: &PackedElement<'_>, source: &SceneSource<'_>) -> Result<usize> {
    // Rows of four words bound the count by the size of the file, which has been checked. Smaller rows are
    // refused before memory is allocated for their count.
    let rows = usize::try_from(packed.element.count).unwrap_or(usize::MAX);
    if packed.stride < 16 {
        let found = format!("rows of {} bytes", packed.stride);
        return Err(source.malformed("element \"vertex\"", "four packed words", found));
    }
    quadrille_base::error::Error::check_limit("splats in a scene", MAX_SPLATS as u64, rows as u64)?;
    Ok(rows)
}

fn sh_properties(sh: &PackedElement<'_>, rows: usize, source: &SceneSource<'_>) -> Result<usize> {
    let count = sh.element.properties.len();
    if sh.element.count != rows as u64 {
        let (expected, found) = (format!("{rows} rows"), sh.element.count.to_string());
        return Err(source.malformed("element \"sh\"", expected, found));
    }
    if ![0, 9, 24, 45].contains(&count) {
        let expected = "0, 9, 24 or 45 properties f_rest_*";
        return Err(source.malformed("element \"sh\"", expected, count.to_string()));
    }
    Ok(count)
}

fn has_colour_bounds(chunk: &Element) -> bool {
    chunk.properties.iter().any(|p| p.name == "min_r")
}

fn unorm(word: u32, shift: u32, bits: u32) -> f64 {
    let most = (1u32 << bits) - 1;
    f64::from((word >> shift) & most) / f64::from(most)
}

fn unorm_11_10_11(word: u32) -> [f64; 3] {
    [unorm(word, 21, 11), unorm(word, 11, 10), unorm(word, 0, 11)]
}

/// Higher coefficient of a byte: the centre of its interval, or the end of the range for 0 and 255.
fn coefficient(byte: f64) -> f32 {
    let t = match byte {
        0.0 => 0.0,
        255.0 => 1.0,
        inner => (inner + 0.5) / 256.0,
    };
    narrow(SH_RANGE * (t - 0.5))
}

fn decode_packed(of_file: &PackedRows<'_>, rows: Rows, raw: &mut RawColumns) -> Result<()> {
    let PackedRows { chunks, packed, source, .. } = of_file;
    let known =
        if has_colour_bounds(chunks.element) { CHUNK_PROPERTIES.len() } else { REQUIRED_OF_CHUNK };
    let bounds = CHUNK_PROPERTIES[..known].iter();
    let bounds = bounds.map(|name| chunks.field(name, Scalar::F32, source));
    let bounds: Vec<_> = bounds.collect::<Result<_>>()?;
    let lerp = |first: usize, row: usize, t: [f64; 3]| -> [f64; 3] {
        let bound = |at: usize| bounds.get(at).map_or(0.0, |bound| bound(row / CHUNK));
        std::array::from_fn(|i| bound(first + i) * (1.0 - t[i]) + bound(first + 3 + i) * t[i])
    };
    let [position, rotation, scale, colour] = PACKED_PROPERTIES;
    let (position, rotation) = (packed.word(position, source)?, packed.word(rotation, source)?);
    let (scale, colour) = (packed.word(scale, source)?, packed.word(colour, source)?);
    for (at, row) in rows.iter().enumerate() {
        let mean = lerp(0, row, unorm_11_10_11(position(row)));
        let scale = lerp(6, row, unorm_11_10_11(scale(row)));
        let word = colour(row);
        let mut rgb = [24, 16, 8].map(|shift| unorm(word, shift, 8));
        if known > REQUIRED_OF_CHUNK {
            rgb = lerp(12, row, rgb);
        }
        for axis in 0..3 {
            raw.mean[axis][at] = mean[axis];
            raw.scale[axis][at] = narrow(scale[axis]);
            raw.sh_constant[axis][at] = narrow((rgb[axis] - 0.5) / SH_C0);
        }
        raw.opacity[at] = logit(unorm(word, 0, 8));
        let word = rotation(row);
        let others =
            [20, 10, 0].map(|shift| (unorm(word, shift, 10) - 0.5) * std::f64::consts::SQRT_2);
        let q = with_largest(others, (word >> 30) as usize);
        for (column, value) in raw.rotation.iter_mut().zip(q) {
            column[at] = value;
        }
    }
    Ok(())
}
