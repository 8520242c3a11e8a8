//! LCC: a description in JSON, an index of cells, and the records of all levels of detail.

use serde::Deserialize;

use super::beside::{beside, check_level, find_beside, table};
use super::records::{RECORD_BYTES, REST_BYTES, Range, decode};
use crate::encoding::SceneEncoding;
use crate::formats::format_reader::{FormatReader, Reader, SceneSource};
use crate::formats::sog::has_key;
use crate::scene_file::SceneFormat;
use crate::splats::MAX_SPLATS;
use crate::table::{RawColumns, SplatTable};
use quadrille_base::byte_reader::ByteReader;
use quadrille_base::error::{Error, Result};

pub(in crate::formats) const FORMAT: FormatReader = FormatReader {
    format: SceneFormat("LCC"),
    has_mark: |bytes| has_key(bytes, "totalLevel") && has_key(bytes, "cellLengthX"),
    extensions: &["lcc"],
    reader: Some(Reader { table: read, scene: None, batches: None }),
};

/// Names of the files beside a description, in the spellings of programs and of the white paper.
pub(super) const FILES: [[&str; 2]; 4] = [INDEX, DATA, REST, ENVIRONMENT];
const INDEX: [&str; 2] = ["index.bin", "Index.bin"];
const DATA: [&str; 2] = ["data.bin", "Data.bin"];
const REST: [&str; 2] = ["shcoef.bin", "Shcoef.bin"];
const ENVIRONMENT: [&str; 2] = ["environment.bin", "Environment.bin"];

/// Largest number of levels (assumption: files have up to ten).
const MAX_LEVELS: u32 = 64;
/// Splats between two looks at the task.
const SPLATS_PER_CHECK: usize = 4096;

const LOSSES: &str = "8-bit colours and opacities, 16-bit scales, 10 bits per quaternion component, 10 or 11 bits per \
     higher coefficient; no antialiasing flag";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Description {
    total_level: u32,
    #[serde(default)]
    splats: Vec<u64>,
    file_type: Option<String>,
    encoding: Option<String>,
    attributes: Vec<Attribute>,
    #[serde(default)]
    offset: Vec<f64>,
    #[serde(default)]
    shift: Vec<f64>,
    scale: Option<Vec<f64>>,
}

#[derive(Deserialize)]
struct Attribute {
    name: String,
    #[serde(default)]
    min: Vec<f64>,
    #[serde(default)]
    max: Vec<f64>,
}

impl Description {
    fn parse(source: &SceneSource<'_>) -> Result<Self> {
        let bytes: &[u8] = source.bytes;
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let parsed: Self = serde_json::from_slice(bytes).map_err(|error| {
            let place = format!("line {}, column {}", error.line(), error.column());
            source.malformed(place, "a description of an LCC", error)
        })?;
        let levels = parsed.total_level;
        if !(1..=MAX_LEVELS).contains(&levels) {
            return Err(source.malformed("totalLevel", format!("1 to {MAX_LEVELS}"), levels));
        }
        match parsed.encoding.as_deref() {
            None | Some("COMPRESS") => Ok(parsed),
            Some(other) => Err(source.malformed("encoding", "COMPRESS", other)),
        }
    }

    fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }

    /// Range of the attribute with the first of `names` that the description has.
    fn range(&self, names: &[&str], source: &SceneSource<'_>) -> Result<Range> {
        let found = names.iter().find_map(|name| self.attribute(name));
        let three = |values: &[f64]| <[f64; 3]>::try_from(values).ok();
        let range = found.and_then(|found| Some([three(&found.min)?, three(&found.max)?]));
        let expected = || format!("three numbers in min and max of \"{}\"", names[0]);
        range.ok_or_else(|| source.malformed("attributes", expected(), "none"))
    }
}

/// Splats of one cell at one level.
struct Node {
    rows: usize,
    first_byte: usize,
}

/// The nodes of a level in the order of the index. Each lies in the data, and all together have no more splats than it.
fn nodes(
    source: &SceneSource<'_>,
    index: &[u8],
    data_bytes: usize,
    levels: u32,
) -> Result<Vec<Node>> {
    let mut reader = ByteReader::new(source.path, index);
    let mut found = Vec::new();
    let mut rows = 0;
    while !reader.is_at_end() {
        let cell = reader.u32(INDEX[0])?;
        for level in 0..levels {
            let splats = reader.u32(INDEX[0])? as usize;
            let offset = reader.u64(INDEX[0])?;
            let bytes = reader.u32(INDEX[0])? as usize;
            if level != source.options.lod || splats == 0 {
                continue;
            }
            let place = || format!("{}, cell {}, {}", INDEX[0], cell & 0xffff, cell >> 16);
            if bytes as u64 != splats as u64 * RECORD_BYTES as u64 {
                let expected = format!("{RECORD_BYTES} bytes for each of {splats} splats");
                return Err(source.malformed(place(), expected, bytes));
            }
            let end = offset.checked_add(bytes as u64).filter(|end| *end <= data_bytes as u64);
            if end.is_none() {
                let expected = format!("a part of {} of {data_bytes} bytes", DATA[0]);
                let found = format!("{bytes} bytes from byte {offset}");
                return Err(source.malformed(place(), expected, found));
            }
            rows += splats;
            // Cells that share records would let a small file request any number of splats.
            if rows > data_bytes / RECORD_BYTES {
                let expected = format!("at most {} splats", data_bytes / RECORD_BYTES);
                return Err(source.malformed(place(), expected, rows));
            }
            let first_byte = usize::try_from(offset).unwrap_or(usize::MAX);
            found.push(Node { rows: splats, first_byte });
        }
    }
    Ok(found)
}

/// Whether the files have higher coefficients.
fn has_rest(description: &Description, source: &SceneSource<'_>) -> Result<bool> {
    match description.file_type.as_deref() {
        Some("Portable") => Ok(false),
        Some("Quality") => Ok(true),
        // Files before version 4 do not say.
        None => {
            Ok(description.attribute("shcoef").is_some() && find_beside(source, REST)?.is_some())
        }
        Some(other) => Err(source.malformed("fileType", "Portable or Quality", other)),
    }
}

fn read(source: &SceneSource<'_>) -> Result<SplatTable> {
    let description = Description::parse(source)?;
    let levels = description.total_level;
    check_level(source, levels)?;
    let has_rest = has_rest(&description, source)?;
    let scale = description.range(&["scale"], source)?;
    let environment_scale = description.range(&["envscale", "scale"], source)?;
    let none = [[0.0; 3]; 2];
    let [coefficient, environment_coefficient] = match has_rest {
        true => [
            description.range(&["shcoef"], source)?,
            description.range(&["envshcoef", "shcoef"], source)?,
        ],
        false => [none; 2],
    };
    let [index, data] = [beside(source, INDEX)?, beside(source, DATA)?];
    let rest = has_rest.then(|| beside(source, REST)).transpose()?;
    let nodes = nodes(source, &index, data.len(), levels)?;
    let environment = find_beside(source, ENVIRONMENT)?;
    let environment = environment.as_deref().unwrap_or_default();
    let stride = RECORD_BYTES + if has_rest { REST_BYTES } else { 0 };
    if environment.len() % stride != 0 {
        let expected = format!("a multiple of {stride} bytes");
        return Err(source.malformed(ENVIRONMENT[0], expected, environment.len()));
    }
    let of_cells: usize = nodes.iter().map(|node| node.rows).sum();
    let of_environment = environment.len() / stride;
    Error::check_limit("splats in a scene", MAX_SPLATS as u64, (of_cells + of_environment) as u64)?;

    let mut raw = RawColumns::zeroed(of_cells + of_environment, if has_rest { 3 } else { 0 });
    let mut row = 0;
    for Node { rows, first_byte } in nodes {
        let records = &data[first_byte..][..rows * RECORD_BYTES];
        let rest = rest.as_deref().map(|rest| {
            // The coefficients of a record begin at twice its byte.
            let wanted = first_byte.checked_mul(2).and_then(|first| rest.get(first..));
            let found = wanted.and_then(|part| part.get(..rows * REST_BYTES));
            found.ok_or_else(|| {
                let expected = format!("{} bytes, two for each of {}", 2 * data.len(), DATA[0]);
                source.malformed(REST[0], expected, rest.len())
            })
        });
        let rest = rest.transpose()?.map(|rest| rest.as_chunks().0);
        for (at, record) in records.as_chunks().0.iter().enumerate() {
            if at % SPLATS_PER_CHECK == 0 {
                source.task.check()?;
            }
            decode(&mut raw, row, record, rest.map(|rest| &rest[at]), [&scale, &coefficient]);
            row += 1;
        }
    }
    let ranges = [&environment_scale, &environment_coefficient];
    for record in environment.chunks_exact(stride) {
        if let Some((record, rest)) = record.split_first_chunk() {
            decode(&mut raw, row, record, rest.first_chunk(), ranges);
            row += 1;
        }
    }

    let mut encoding = SceneEncoding::new("32 bytes per splat, 96 with harmonics", LOSSES);
    encoding.lod_levels = levels;
    encoding.level_bytes = (row * stride + index.len() + source.bytes.len()) as u64;
    if of_environment > 0 {
        encoding.notes.push(format!("{of_environment} of its splats are the environment"));
    }
    let stated = description.splats.get(source.options.lod as usize);
    if let Some(stated) = stated.filter(|stated| **stated != of_cells as u64) {
        encoding.warnings.push(format!(
            "it states {stated} splats at this level of detail, and its cells have {of_cells}"
        ));
    }
    let is_moved = description.offset.iter().chain(&description.shift).any(|v| *v != 0.0);
    let is_scaled = description.scale.iter().flatten().any(|v| *v != 1.0);
    if is_moved || is_scaled {
        encoding.notes.push(
            "its offset, shift or scale leads to map coordinates; positions are read as stored"
                .to_owned(),
        );
    }
    table(source, raw, FORMAT.format, encoding)
}
