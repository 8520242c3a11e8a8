//! `.ksplat`, of the viewer GaussianSplats3D: sections of buckets, at one of three levels of compression.
//!
//! Level 0 has floats, level 1 half floats and 16-bit positions within buckets, level 2 also 8-bit coefficients.

use half::f16;

use super::format_reader::{FormatReader, Reader, SceneSource};
use crate::activation::{logit, take_linear_scales};
use crate::encoding::SceneEncoding;
use crate::scene_file::SceneFormat;
use crate::splats::{MAX_SPLATS, rest_coefficients};
use crate::table::{RawColumns, SplatTable};
use quadrille_base::byte_reader::ByteReader;
use quadrille_base::error::{Error, Result};
use quadrille_base::math::{SH_C0, narrow};

const HEADER_BYTES: usize = 4096;
const SECTION_HEADER_BYTES: usize = 1024;

/// Largest magnitude of 8-bit coefficients if the header states no range.
const DEFAULT_SH_RANGE: f32 = 1.5;
/// 16-bit value of the centre of a bucket if a section states none.
const DEFAULT_POSITION_RANGE: u32 = 32_767;

const LOSSES: &str = "8-bit colours and opacities; from level 1 on half floats and 16-bit positions within \
     buckets, at level 2 8-bit coefficients";

pub(super) const FORMAT: FormatReader = FormatReader {
    format: SceneFormat(".ksplat"),
    has_mark: |_| false,
    extensions: &["ksplat"],
    reader: Some(Reader { table: read, scene: None, batches: None }),
};

/// True if version, level and number of sections are plausible for a file of this size.
pub(super) fn is_likely(bytes: &[u8]) -> bool {
    let Some(room) = bytes.len().checked_sub(HEADER_BYTES) else { return false };
    let most = room / SECTION_HEADER_BYTES;
    let is_version = bytes[0] == 0 && bytes[1] > 0;
    is_version && u16_at(bytes, 20) <= 2 && (1..=most).contains(&(u32_at(bytes, 4) as usize))
}

struct FileHeader {
    sections: usize,
    level: u16,
    sh_range: [f32; 2],
}

struct Section {
    splats: usize,
    capacity: usize,
    bucket_splats: usize,
    buckets: usize,
    block_size: f32,
    position_range: u32,
    full_buckets: usize,
    partial_buckets: usize,
    sh_degree: u8,
}

fn read(source: &SceneSource<'_>) -> Result<SplatTable> {
    let mut reader = ByteReader::new(source.path, source.bytes);
    let header = file_header(reader.take(HEADER_BYTES, "header")?, source)?;
    let mut sections = Vec::new();
    for at in 0..header.sections {
        let bytes = reader.take(SECTION_HEADER_BYTES, "section header")?;
        sections.push(Section::parse(bytes, at, source)?);
    }
    let mut bodies = Vec::new();
    for section in &sections {
        let room = section.body_bytes(header.level).ok_or_else(|| {
            source.malformed("section", "a size that fits in the file", "a larger size")
        })?;
        bodies.push(reader.take(room, "section")?);
    }
    // Every splat has a record in the file, so its size bounds the counts.
    let rows = sections.iter().map(|section| section.splats).sum::<usize>();
    Error::check_limit("splats in a scene", MAX_SPLATS as u64, rows as u64)?;
    let mut raw = RawColumns::zeroed(rows, sections.iter().map(|s| s.sh_degree).max().unwrap_or(0));
    let mut first = 0;
    for (section, body) in sections.iter().zip(bodies) {
        section.decode(&header, body, first, &mut raw, source)?;
        first += section.splats;
    }
    let compression = format!("level {}, {} sections", header.level, header.sections);
    let mut encoding = SceneEncoding::new(compression, LOSSES);
    encoding.warnings.extend(take_linear_scales(&mut raw.scale));
    Ok(SplatTable::of_raw(raw, source.describe(FORMAT.format, encoding)))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let word = bytes.get(at..).and_then(|rest| rest.first_chunk());
    u32::from_le_bytes(word.copied().unwrap_or_default())
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    let word = bytes.get(at..).and_then(|rest| rest.first_chunk());
    u16::from_le_bytes(word.copied().unwrap_or_default())
}

fn f32_at(bytes: &[u8], at: usize) -> f32 {
    f32::from_bits(u32_at(bytes, at))
}

fn f16_at(bytes: &[u8], at: usize) -> f32 {
    f16::from_bits(u16_at(bytes, at)).to_f32()
}

fn file_header(bytes: &[u8], source: &SceneSource<'_>) -> Result<FileHeader> {
    let (major, minor) = (bytes[0], bytes[1]);
    if major != 0 || minor == 0 {
        return Err(source.malformed("version", "0.1 or a later 0.x", format!("{major}.{minor}")));
    }
    let level = u16_at(bytes, 20);
    if level > 2 {
        let expected = "a compression level of 0, 1 or 2";
        return Err(source.malformed("header", expected, level.to_string()));
    }
    let or = |value: f32, default: f32| if value == 0.0 { default } else { value };
    let sh_range =
        [or(f32_at(bytes, 36), -DEFAULT_SH_RANGE), or(f32_at(bytes, 40), DEFAULT_SH_RANGE)];
    let most = (source.bytes.len() - HEADER_BYTES) / SECTION_HEADER_BYTES;
    let sections = u32_at(bytes, 4) as usize;
    if sections > most {
        let expected = format!("at most {most} sections in a file of this size");
        return Err(source.malformed("header", expected, sections.to_string()));
    }
    Ok(FileHeader { sections, level, sh_range })
}

impl Section {
    fn parse(bytes: &[u8], at: usize, source: &SceneSource<'_>) -> Result<Self> {
        let count = |at| u32_at(bytes, at) as usize;
        let range = match u32_at(bytes, 24) {
            0 => DEFAULT_POSITION_RANGE,
            range => range,
        };
        let sh_degree = u16_at(bytes, 40);
        let section = Self {
            splats: count(0),
            capacity: count(4),
            bucket_splats: count(8),
            buckets: count(12),
            block_size: f32_at(bytes, 16),
            position_range: range,
            full_buckets: count(32),
            partial_buckets: count(36),
            sh_degree: u8::try_from(sh_degree).unwrap_or(u8::MAX),
        };
        let wrong = |expected: String, found: usize| {
            Err(source.malformed(format!("section {at}"), expected, found.to_string()))
        };
        if section.sh_degree > 3 {
            return wrong("an SH degree of 0 to 3".into(), sh_degree.into());
        }
        if section.splats > section.capacity {
            let most = format!("at most {} splats, the number of its records", section.capacity);
            return wrong(most, section.splats);
        }
        if section.full_buckets.saturating_add(section.partial_buckets) > section.buckets {
            let most = format!("at most {} full and partial buckets", section.buckets);
            return wrong(most, section.full_buckets + section.partial_buckets);
        }
        Ok(section)
    }

    fn record_bytes(&self, level: u16) -> usize {
        let coefficients = 3 * rest_coefficients(self.sh_degree);
        match level {
            0 => 44 + 4 * coefficients,
            1 => 24 + 2 * coefficients,
            _ => 24 + coefficients,
        }
    }

    /// Size in bytes of the section without its header; `None` if it overflows.
    fn body_bytes(&self, level: u16) -> Option<usize> {
        let buckets = self.buckets.checked_mul(12)?;
        let lengths = self.partial_buckets.checked_mul(4)?;
        let records = self.capacity.checked_mul(self.record_bytes(level))?;
        buckets.checked_add(lengths)?.checked_add(records)
    }

    fn decode(
        &self,
        header: &FileHeader,
        body: &[u8],
        first: usize,
        raw: &mut RawColumns,
        source: &SceneSource<'_>,
    ) -> Result<()> {
        let (lengths, rest) = body.split_at(4 * self.partial_buckets);
        let (centres, records) = rest.split_at(12 * self.buckets);
        let mut bucket = BucketCursor::new(self, lengths);
        let records = records.chunks_exact(self.record_bytes(header.level));
        for (record, row) in records.take(self.splats).zip(first..) {
            source.task.check()?;
            let position = if header.level == 0 {
                [0, 4, 8].map(|at| f64::from(f32_at(record, at)))
            } else {
                let Some(at) = bucket.next() else {
                    let place = format!("row {row}");
                    return Err(source.malformed(place, "a bucket for each splat", "none"));
                };
                let factor = f64::from(self.block_size) / 2.0 / f64::from(self.position_range);
                [0, 1, 2].map(|axis| {
                    let q = f64::from(u16_at(record, 2 * axis)) - f64::from(self.position_range);
                    q * factor + f64::from(f32_at(centres, 12 * at + 4 * axis))
                })
            };
            self.decode_record(header, record, row, position, raw);
        }
        Ok(())
    }

    fn decode_record(
        &self,
        header: &FileHeader,
        record: &[u8],
        row: usize,
        position: [f64; 3],
        raw: &mut RawColumns,
    ) {
        type At = fn(&[u8], usize) -> f32;
        let (size, number): (usize, At) = match header.level {
            0 => (4, f32_at),
            _ => (2, f16_at),
        };
        let scale = if header.level == 0 { 12 } else { 6 };
        let rotation = scale + 3 * size;
        let colour = rotation + 4 * size;
        for axis in 0..3 {
            raw.mean[axis][row] = position[axis];
            raw.scale[axis][row] = number(record, scale + size * axis);
            let shown = f64::from(record[colour + axis]) / 255.0;
            raw.sh_constant[axis][row] = narrow((shown - 0.5) / SH_C0);
        }
        for (i, column) in raw.rotation.iter_mut().enumerate() {
            column[row] = number(record, rotation + size * i);
        }
        raw.opacity[row] = logit(f64::from(record[colour + 3]) / 255.0);
        let per_channel = raw.rest_per_channel();
        let [low, high] = header.sh_range.map(f64::from);
        let mut at = 0;
        for degree in 1..=self.sh_degree {
            let before = rest_coefficients(degree - 1);
            for channel in 0..3 {
                for k in before..rest_coefficients(degree) {
                    let start = colour + 4;
                    let value = match header.level {
                        0 | 1 => number(record, start + size * at),
                        _ => {
                            let t = f64::from(record[start + at]) / 255.0;
                            narrow(low + (high - low) * t)
                        }
                    };
                    raw.sh_rest[channel * per_channel + k][row] = value;
                    at += 1;
                }
            }
        }
    }
}

/// Cursor over the buckets of consecutive splats: first full buckets, then partial ones of stated lengths.
struct BucketCursor<'a> {
    full: usize,
    per_full: usize,
    lengths: &'a [u8],
    bucket: usize,
    left: usize,
    buckets: usize,
}

impl<'a> BucketCursor<'a> {
    fn new(section: &Section, lengths: &'a [u8]) -> Self {
        let mut cursor = Self {
            full: section.full_buckets,
            per_full: section.bucket_splats,
            lengths,
            bucket: 0,
            left: 0,
            buckets: section.full_buckets + section.partial_buckets,
        };
        cursor.left = cursor.length();
        cursor
    }

    fn length(&self) -> usize {
        match self.bucket.checked_sub(self.full) {
            None => self.per_full,
            Some(partial) => u32_at(self.lengths, 4 * partial) as usize,
        }
    }

    fn next(&mut self) -> Option<usize> {
        while self.left == 0 {
            self.bucket += 1;
            if self.bucket >= self.buckets {
                return None;
            }
            self.left = self.length();
        }
        self.left -= 1;
        (self.bucket < self.buckets).then_some(self.bucket)
    }
}
