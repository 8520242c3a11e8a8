//! LCC2: a tree whose nodes are rows of SOG or SPZ files. Each level of the tree is a level of detail of the whole scene.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::Value;

use super::beside::{check_level, path_beside, table};
use crate::bytes::FileBytes;
use crate::encoding::{LoadOptions, SceneEncoding, SplatAxes};
use crate::formats::format_reader::{FormatReader, Reader, SceneSource};
use crate::formats::{sog, spz};
use crate::scene_file::SceneFormat;
use crate::splats::MAX_SPLATS;
use crate::table::{RawColumns, SplatTable};
use quadrille_base::error::{Error, Result};

pub(in crate::formats) const FORMAT: FormatReader = FormatReader {
    format: SceneFormat("LCC2"),
    has_mark: |bytes| sog::has_key(bytes, "splatFiles") || sog::has_key(bytes, "lod_3dgs_info"),
    extensions: &["lcc2"],
    reader: Some(Reader { table: read, scene: None, batches: None }),
};

const LOSSES: &str = "those of SOG or SPZ";
const SOG: &str = ".sog";
const SPZ: &str = ".spz";

/// Removes commas before closing brackets, which some programs write.
fn without_trailing_commas(text: &[u8]) -> Vec<u8> {
    let mut kept: Vec<u8> = Vec::with_capacity(text.len());
    let (mut is_string, mut is_escaped) = (false, false);
    // Place of the last comma, if only spaces follow.
    let mut comma = None;
    for &byte in text {
        if is_string {
            (is_string, is_escaped) = (is_escaped || byte != b'"', !is_escaped && byte == b'\\');
        } else {
            match byte {
                b'"' => is_string = true,
                b'}' | b']' => {
                    if let Some(at) = comma {
                        kept[at] = b' ';
                    }
                }
                _ => {}
            }
            if !byte.is_ascii_whitespace() {
                comma = (byte == b',').then_some(kept.len());
            }
        }
        kept.push(byte);
    }
    kept
}

/// Parses a document, as JSON or as what is JSON without these commas.
pub(super) fn parsed(bytes: &[u8]) -> serde_json::Result<Value> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let strict = serde_json::from_slice(bytes);
    strict.or_else(|_| serde_json::from_slice(&without_trailing_commas(bytes)))
}

fn parse(source: &SceneSource<'_>) -> Result<Value> {
    parsed(source.bytes).map_err(|error| {
        let place = format!("line {}, column {}", error.line(), error.column());
        source.malformed(place, "a description of an LCC2", error)
    })
}

/// Whether the description has the names of the first version of the format.
fn is_old(document: &Value) -> bool {
    ["total_splats", "lod_3dgs_info", "lod_level"].iter().all(|key| document.get(key).is_some())
}

/// Names of the files with splats, relative to the description.
pub(super) fn file_names(document: &Value) -> Vec<String> {
    let (is_old, root) = (is_old(document), &document["root"]);
    let names = root[if is_old { "files" } else { "splatFiles" }].as_array();
    let name = |name: &Value| {
        let name = name.as_str().unwrap_or_default();
        match is_old {
            false => name.to_owned(),
            true => format!("{}{SOG}", name.trim_start_matches('/').trim_end_matches(SOG)),
        }
    };
    names.into_iter().flatten().map(name).collect()
}

fn children(node: &Value) -> Vec<&Value> {
    match &node["child"] {
        Value::Array(children) => children.iter().collect(),
        Value::Object(children) => children.values().collect(),
        _ => Vec::new(),
    }
}

/// Rows of a file: all of them without a count.
struct Rows {
    start: usize,
    count: Option<usize>,
}

struct Tree<'a> {
    source: &'a SceneSource<'a>,
    files: Vec<String>,
    levels: u32,
    chosen: BTreeMap<usize, Vec<Rows>>,
}

impl Tree<'_> {
    fn wrong(&self, place: &str, expected: &str, found: &Value) -> Error {
        self.source.malformed(place, expected, found)
    }

    fn number(&self, node: &Value, key: &str) -> Result<Option<usize>> {
        match &node[key] {
            Value::Null => Ok(None),
            value => {
                let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
                let wrong = || self.wrong(key, "a whole number", value);
                number.map(Some).ok_or_else(wrong)
            }
        }
    }

    fn choose(&mut self, data: &Value) -> Result<()> {
        let file = self.number(data, "name")?.filter(|file| *file < self.files.len());
        let Some(file) = file else {
            let expected = format!("a file number below {}", self.files.len());
            return Err(self.wrong("root", &expected, &data["name"]));
        };
        let start = self.number(data, "start")?.unwrap_or(0);
        let count = self.number(data, "count")?;
        self.chosen.entry(file).or_default().push(Rows { start, count });
        Ok(())
    }

    /// Chooses the nodes below `node` of the wanted level. Where the tree ends before, its coarser leaf stands for the level,
    /// and where a node has no splats, its finer children do. `depth` is at most the nesting that JSON is parsed to.
    fn collect(&mut self, node: &Value, depth: u32) -> Result<()> {
        for child in children(node) {
            let data = &child["data"]["3dgs"];
            let is_fine = self.levels.saturating_sub(depth) <= self.source.options.lod;
            if data.is_object() && (is_fine || children(child).is_empty()) {
                self.choose(data)?;
            } else {
                self.collect(child, depth + 1)?;
            }
        }
        Ok(())
    }
}

fn read(source: &SceneSource<'_>) -> Result<SplatTable> {
    let document = parse(source)?;
    let key = if is_old(&document) { "lod_level" } else { "totalLevels" };
    let levels = document[key].as_u64().and_then(|levels| u32::try_from(levels).ok());
    let wrong = || source.malformed(key, "a number of levels from 1", &document[key]);
    let levels = levels.filter(|levels| *levels > 0).ok_or_else(wrong)?;
    check_level(source, levels)?;
    let reader = match document["splatType"].as_str().unwrap_or(SOG) {
        SOG => sog::FORMAT.reader,
        SPZ => spz::FORMAT.reader,
        other => return Err(source.malformed("splatType", "\".sog\" or \".spz\"", other)),
    };
    let files = file_names(&document);
    let mut tree = Tree { source, files, levels, chosen: BTreeMap::new() };
    tree.collect(&document["root"], 1)?;
    let environment = &document["root"]["data"]["env"];
    if environment.is_object() {
        tree.choose(environment)?;
    }

    let mut joined = RawColumns::zeroed(0, 0);
    let mut encoding = SceneEncoding::new("", LOSSES);
    let mut models = Vec::new();
    for (file, rows) in &tree.chosen {
        source.task.check()?;
        let path = path_beside(source, &tree.files[*file])?;
        let bytes = FileBytes::open(&path)?;
        encoding.level_bytes += bytes.len() as u64;
        // Positions have the axes of the scene, whatever the format of the file says.
        let options = LoadOptions::new(Some(SplatAxes::RDF), 0);
        let part =
            SceneSource { bytes: &bytes, path: &path, has_folder: false, options, ..*source };
        let read = reader.map(|reader| (reader.table)(&part)).transpose()?;
        let Some(part) = read else { continue };
        let mut raw = part.raw(&path, source.task)?;
        raw.flip_axes(part.encoding.axes, source.task)?;
        if raw.sh_degree() > joined.sh_degree() {
            joined.set_sh_degree(raw.sh_degree());
        }
        let mut left = raw.rows();
        for Rows { start, count } in rows {
            let end = match count {
                Some(count) => start.checked_add(*count),
                None => Some(raw.rows()),
            };
            let chosen: Option<Range<usize>> = end
                .filter(|end| *end <= raw.rows() && *start <= *end && end - start <= left)
                .map(|end| *start..end);
            let Some(chosen) = chosen else {
                let name = &tree.files[*file];
                let expected = format!("each of the {} rows of {name} at most once", raw.rows());
                let found = format!("{} rows from row {start}", count.unwrap_or(raw.rows()));
                return Err(source.malformed("root", expected, found));
            };
            left -= chosen.len();
            let all = (joined.rows() + chosen.len()) as u64;
            Error::check_limit("splats in a scene", MAX_SPLATS as u64, all)?;
            joined.append(&raw, chosen);
        }
        models.push(part.encoding.model);
        encoding.compression = format!("{} files of {}", tree.chosen.len(), part.format.name());
        for warning in part.encoding.warnings {
            encoding.warnings.push(format!("{}: {warning}", tree.files[*file]));
        }
    }
    encoding.level_bytes += source.bytes.len() as u64;
    encoding.lod_levels = levels;
    encoding.model = models.first().copied().flatten();
    if models.iter().any(|model| *model != encoding.model) {
        encoding.warnings.push("its files state different kinds of Gaussians".to_owned());
    }
    table(source, joined, FORMAT.format, encoding)
}
