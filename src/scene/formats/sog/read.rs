use super::archive::Archive;
use super::decode::{SogFile, parse};
use super::rows::SogRows;
use super::{LOD_META, META, has_key, lod};
use crate::formats::column_rows::{read_raw, read_splats};
use crate::formats::format_reader::{
    BatchFacts, BatchNotes, BatchReader, BatchRows, EachBatch, Reader, SceneSource,
};
use crate::scene_file::Scene;
use crate::table::SplatTable;
use quadrille_base::error::Result;

pub(in crate::formats) const READER: Reader = Reader {
    table: read_table,
    scene: Some(read_scene),
    batches: Some(BatchReader { facts, read: read_batches }),
};

fn rows(archive: &Archive<'_>) -> Result<SogRows> {
    let bytes: &[u8] = archive.source().bytes;
    let is_streamed = match archive.is_zip() {
        true => archive.has(LOD_META) && !archive.has(META),
        false => has_key(bytes, "lodLevels"),
    };
    let name = if is_streamed { LOD_META } else { META };
    let meta: &[u8] = if archive.is_zip() { &archive.read(name)? } else { bytes };
    match is_streamed {
        true => lod::rows(archive, meta),
        false => Ok(SogRows::of_file(SogFile::new(archive, parse(archive, meta, META)?, "")?)),
    }
}

fn read_table(source: &SceneSource<'_>) -> Result<SplatTable> {
    let archive = Archive::open(source)?;
    let mut rows = rows(&archive)?;
    rows.decode_all(&archive)?;
    Ok(rows.described(&archive, read_raw(&rows, source.task)?))
}

fn read_scene(source: &SceneSource<'_>) -> Result<Scene> {
    let archive = Archive::open(source)?;
    let mut rows = rows(&archive)?;
    rows.decode_all(&archive)?;
    read_splats(&rows, source.task, |raw| rows.described(&archive, raw))
}

fn facts(source: &SceneSource<'_>) -> Result<BatchFacts> {
    Ok(rows(&Archive::open(source)?)?.facts())
}

fn read_batches(
    source: &SceneSource<'_>,
    batches: BatchRows<'_>,
    each: EachBatch<'_>,
) -> Result<BatchNotes> {
    let archive = Archive::open(source)?;
    rows(&archive)?.read(&archive, batches.most, each)
}
