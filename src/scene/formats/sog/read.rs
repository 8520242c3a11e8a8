//! Reading of SOG in any container.

use super::archive::Archive;
use super::decode::{decode, described, parse};
use super::meta::Meta;
use super::{LOD_META, META, has_key, lod};
use crate::formats::format_reader::SceneSource;
use crate::table::SplatTable;
use quadrille_base::error::Result;

/// Reads a SOG or a level of a streamed one.
pub(in crate::formats) fn read(source: &SceneSource<'_>) -> Result<SplatTable> {
    let archive = Archive::open(source)?;
    if !archive.is_zip() {
        return match has_key(source.bytes, "lodLevels") {
            true => lod::read(&archive, source.bytes),
            false => read_whole(&archive, source.bytes),
        };
    }
    if archive.has(LOD_META) && !archive.has(META) {
        return lod::read(&archive, &archive.read(LOD_META)?);
    }
    read_whole(&archive, &archive.read(META)?)
}

fn read_whole(archive: &Archive<'_>, meta: &[u8]) -> Result<SplatTable> {
    let meta = parse::<Meta>(archive, meta, META)?;
    let raw = decode(archive, &meta, "")?;
    let mut table = described(archive, &meta, raw);
    table.file_bytes = archive.bytes_read().max(table.file_bytes);
    Ok(table)
}
