//! Streamed SOG: a tree whose leaves name rows of SOGs, at several levels of detail.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::archive::Archive;
use super::decode::{SogFile, parse};
use super::meta::{LodMeta, LodNode, LodRange};
use super::rows::{SogRows, Span};
use super::{LOD_META, META};
use crate::splats::MAX_SPLATS;
use quadrille_base::error::{Error, Result};

/// Maximum depth of a tree, which bounds the recursion.
const MAX_DEPTH: usize = 64;

/// Rows of one level of detail and of the environment. A leaf without the level gives the next finer one, or its finest.
pub(super) fn rows(archive: &Archive<'_>, meta: &[u8]) -> Result<SogRows> {
    let meta: LodMeta = parse(archive, meta, LOD_META)?;
    let source = archive.source();
    let level = source.options.lod;
    let expected = format_args!("a level below {}", meta.lod_levels);
    Error::refuse_if(level >= meta.lod_levels, "level of detail", expected, level)?;
    let mut ranges = Vec::new();
    collect(&meta.tree, level, 0, archive, &mut ranges)?;
    let mut named: BTreeMap<usize, SogFile> = BTreeMap::new();
    let mut rows = 0_usize;
    for range in &ranges {
        let available = match named.entry(range.file) {
            Entry::Occupied(file) => file.get().rows,
            Entry::Vacant(place) => {
                let name = meta.filenames.get(range.file).ok_or_else(|| {
                    let expected = format!("a file index below {}", meta.filenames.len());
                    source.malformed("tree", expected, range.file.to_string())
                })?;
                place.insert(file(archive, name)?).rows
            }
        };
        let end = range.offset.checked_add(range.count);
        if end.is_none_or(|end| end > available) {
            let expected = format!("rows below {available}");
            let found = format!("{} rows from row {}", range.count, range.offset);
            return Err(source.malformed("tree", expected, found));
        }
        rows = rows.saturating_add(range.count);
        Error::check_limit("splats in a scene", MAX_SPLATS as u64, rows as u64)?;
    }
    // Leaves that repeat rows would let a small file request any number of splats.
    let distinct: usize = named.values().map(|file| file.rows).sum();
    if rows > distinct {
        let expected = format!("at most {distinct} rows, the number in the files");
        return Err(source.malformed("tree", expected, rows.to_string()));
    }
    let (numbers, mut files): (Vec<usize>, Vec<SogFile>) = named.into_iter().unzip();
    let mut places = Vec::new();
    for LodRange { file, offset, count } in ranges {
        places.push((numbers.partition_point(|number| *number < file), offset, count));
    }
    if let Some(name) = &meta.environment {
        let environment = file(archive, name)?;
        places.push((files.len(), 0, environment.rows));
        files.push(environment);
    }
    if files.is_empty() {
        return Err(source.malformed("tree", "splats", "none at this level"));
    }
    let mut start = 0;
    let spans = places.into_iter().map(|(file, offset, rows)| {
        let span = Span { file, offset, start, rows };
        start += rows;
        span
    });
    Ok(SogRows::new(files, spans.collect(), Some((level, meta.lod_levels))))
}

fn file(archive: &Archive<'_>, name: &str) -> Result<SogFile> {
    let folder = name.strip_suffix(META).ok_or_else(|| {
        archive.source().malformed("filenames", format!("names that end in {META}"), name)
    })?;
    SogFile::new(archive, parse(archive, &archive.read(name)?, name)?, folder)
}

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
    let chosen = levels.range(..=level).next_back().or_else(|| levels.first_key_value());
    ranges.extend(chosen.map(|(_, range)| *range));
    Ok(())
}
