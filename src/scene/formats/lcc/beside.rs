//! What both formats share: files beside a description, the wanted level, and the table of its splats.

use std::path::{Component, Path, PathBuf};

use crate::bytes::FileBytes;
use crate::encoding::{SceneEncoding, SplatAxes};
use crate::formats::format_reader::SceneSource;
use crate::scene_file::SceneFormat;
use crate::table::{RawColumns, SplatTable};
use quadrille_base::error::{Error, Result};

pub(super) fn path_beside(source: &SceneSource<'_>, name: &str) -> Result<PathBuf> {
    let mut parts = Path::new(name).components();
    let is_inside = !name.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)));
    if !source.has_folder || !is_inside {
        return Err(source.malformed("files", "files in the folder of the description", name));
    }
    Ok(source.path.parent().unwrap_or(Path::new("")).join(name))
}

/// Opens the first of `names` that is a file beside the description; `None` if there is none.
pub(super) fn find_beside(
    source: &SceneSource<'_>,
    names: [&str; 2],
) -> Result<Option<FileBytes<'static>>> {
    for name in names {
        let path = path_beside(source, name)?;
        if path.is_file() {
            return FileBytes::open(&path).map(Some);
        }
    }
    Ok(None)
}

pub(super) fn beside(source: &SceneSource<'_>, names: [&str; 2]) -> Result<FileBytes<'static>> {
    let found = find_beside(source, names)?;
    found.ok_or_else(|| source.malformed("files", format!("{} beside it", names[0]), "none"))
}

pub(super) fn check_level(source: &SceneSource<'_>, levels: u32) -> Result<()> {
    let level = source.options.lod;
    let expected = format_args!("a level below {levels}");
    Error::refuse_if(level >= levels, "level of detail", expected, level)
}

/// Table of splats in the axes of the format, or in those of the options.
pub(super) fn table(
    source: &SceneSource<'_>,
    mut raw: RawColumns,
    format: SceneFormat,
    mut encoding: SceneEncoding,
) -> Result<SplatTable> {
    if raw.rows() == 0 {
        return Err(source.malformed("splats", "splats at this level of detail", "none"));
    }
    encoding.axes = source.options.axes.unwrap_or(SplatAxes::RFU);
    raw.flip_axes(encoding.axes, source.task)?;
    Ok(SplatTable::of_raw(raw, source.describe(format, encoding)))
}
