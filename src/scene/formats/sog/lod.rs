//! Streamed SOG: a tree whose leaves name rows of SOGs, at several levels of detail.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::archive::Archive;
use super::decode::{decode, described, parse};
use super::meta::{LodMeta, LodNode, LodRange, Meta};
use super::{LOD_META, META};
use crate::splats::MAX_SPLATS;
use crate::table::{RawColumns, SplatTable};
use quadrille_base::error::{Error, Result};

/// Maximum depth of the tree, which bounds the recursion.
const MAX_DEPTH: usize = 64;

/// Reads one level of detail, with the environment. A leaf without that level gives the next finer one
/// or, if there is none, its finest.
pub(crate) fn read(archive: &Archive<'_>, meta: &[u8]) -> Result<SplatTable> {
    let meta: LodMeta = parse(archive, meta, LOD_META)?;
    let source = archive.source();
    let level = source.options.lod;
    if level >= meta.lod_levels {
        let expected = format!("a level below {}", meta.lod_levels);
        return Err(Error::argument(
            "level of detail",
            expected,
            level.to_string(),
        ));
    }
    let mut ranges = Vec::new();
    collect(&meta.tree, level, 0, archive, &mut ranges)?;
    let mut files: BTreeMap<usize, (Meta, RawColumns)> = BTreeMap::new();
    let mut rows = 0_usize;
    for range in &ranges {
        let available = match files.entry(range.file) {
            Entry::Occupied(part) => part.get().1.rows(),
            Entry::Vacant(place) => {
                let name = meta.filenames.get(range.file).ok_or_else(|| {
                    let expected = format!("a file below {}", meta.filenames.len());
                    source.malformed("tree", expected, range.file.to_string())
                })?;
                place.insert(read_part(archive, name)?).1.rows()
            }
        };
        let end = range.offset.checked_add(range.count);
        if end.is_none_or(|end| end > available) {
            let expected = format!("rows below {available}");
            let found = format!("{} from {}", range.count, range.offset);
            return Err(source.malformed("tree", expected, found));
        }
        rows = rows.saturating_add(range.count);
        Error::check_limit("splats in a scene", MAX_SPLATS as u64, rows as u64)?;
    }
    // Leaves that repeat rows would let a small file ask for any number of splats.
    let distinct: usize = files.values().map(|(_, raw)| raw.rows()).sum();
    if rows > distinct {
        let expected = format!("at most {distinct} rows, the number in the files");
        return Err(source.malformed("tree", expected, rows.to_string()));
    }
    let environment = meta
        .environment
        .as_deref()
        .map(|name| read_part(archive, name));
    let environment = environment.transpose()?;
    let parts = files.values().chain(&environment).map(|(_, raw)| raw);
    let degree = parts.map(RawColumns::sh_degree).max().unwrap_or(0);
    let mut joined = RawColumns::zeroed(0, degree);
    for range in &ranges {
        source.task.check()?;
        if let Some((_, raw)) = files.get(&range.file) {
            joined.append(raw, range.offset..range.offset + range.count);
        }
    }
    if let Some((_, raw)) = &environment {
        joined.append(raw, 0..raw.rows());
    }
    let first = files.into_values().next().or(environment);
    let Some((first, _)) = first else {
        return Err(source.malformed("tree", "splats", "none at this level"));
    };
    let mut table = described(archive, &first, joined);
    table.encoding.lod_levels = meta.lod_levels;
    table.encoding.compression += &format!(", level of detail {level} of {}", meta.lod_levels);
    table.file_bytes = archive.bytes_read().max(table.file_bytes);
    Ok(table)
}

/// Reads the SOG whose description is the file `name`.
fn read_part(archive: &Archive<'_>, name: &str) -> Result<(Meta, RawColumns)> {
    let folder = name.strip_suffix(META).ok_or_else(|| {
        let expected = format!("names that end in {META}");
        archive.source().malformed("filenames", expected, name)
    })?;
    let meta: Meta = parse(archive, &archive.read(name)?, name)?;
    let raw = decode(archive, &meta, folder)?;
    Ok((meta, raw))
}

/// Collects the rows of all leaves at `level`, in order.
fn collect(
    node: &LodNode,
    level: u32,
    depth: usize,
    archive: &Archive<'_>,
    ranges: &mut Vec<LodRange>,
) -> Result<()> {
    if depth > MAX_DEPTH {
        let expected = format!("a tree of at most {MAX_DEPTH} levels");
        return Err(archive.source().malformed("tree", expected, "a deeper one"));
    }
    for child in node.children.iter().flatten() {
        collect(child, level, depth + 1, archive, ranges)?;
    }
    let level_of = |(key, range): (&String, &LodRange)| Some((key.parse::<u32>().ok()?, *range));
    let levels: BTreeMap<u32, LodRange> = node.lods.iter().filter_map(level_of).collect();
    let coarsest_asked = levels.range(..=level).next_back();
    let chosen = coarsest_asked.or_else(|| levels.first_key_value());
    ranges.extend(chosen.map(|(_, range)| *range));
    Ok(())
}
