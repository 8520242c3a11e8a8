//! PLY, the polygon file format: its header for any file, its body for splats.

mod body;
mod header;
mod hint;
mod layout;
mod lines;
mod number;
mod rows;
mod values;
mod write;

use std::path::Path;

pub use header::Header;
pub(crate) use header::{Element, Kind};
pub(crate) use lines::quoted;
pub(crate) use values::{Row, Values};
pub use write::PlyWriter;

use crate::error::Result;
use crate::scene::bytes::Bytes;
use crate::scene::load::{Format, Scene};

/// Reads the splats of a PLY file.
pub(crate) fn read(bytes: &Bytes<'_>, path: &Path) -> Result<Scene> {
    let header = Header::parse(bytes, path)?;
    if is_compressed(&header) {
        return Err(Format::CompressedPly.not_read(path));
    }
    let layout = layout::Layout::of(&header, path)?;
    let (splats, dropped) = rows::read(bytes, &header, &layout, path)?;
    let profile_hint = hint::profile(layout.element, &header.comments);
    Ok(Scene {
        splats,
        dropped,
        profile_hint,
        format: Format::Ply,
        comments: header.comments,
        file_bytes: bytes.len() as u64,
    })
}

/// Whether the rows are packed as in the editor SuperSplat's compressed.ply.
fn is_compressed(header: &Header) -> bool {
    let packed = |element: &Element| {
        element
            .properties
            .iter()
            .any(|p| p.name == "packed_position")
    };
    header.element("vertex").is_some_and(packed)
}
