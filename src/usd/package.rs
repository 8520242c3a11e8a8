//! Packages (`.usdz`): zips without compression, whose first file is the root layer.

use std::collections::HashMap;
use std::io::{Cursor, Write};
use std::ops::Range;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::layer::Fault;

/// Alignment of the files in a package, in bytes (specification of USDZ).
const ALIGNMENT: u16 = 64;

/// True for a zip whose first file is a layer.
pub fn is_package(bytes: &[u8]) -> bool {
    let (Some(b"PK\x03\x04"), Some([low, high])) = (bytes.get(..4), bytes.get(26..28)) else {
        return false;
    };
    let name = bytes.get(30..30 + usize::from(u16::from_le_bytes([*low, *high])));
    let name = name.unwrap_or_default();
    [&b".usda"[..], b".usdc", b".usd"].iter().any(|extension| name.ends_with(extension))
}

/// Ranges of the files of a package by their names, and the name of the first.
pub(crate) fn files(bytes: &[u8]) -> Result<(String, HashMap<String, Range<usize>>), Fault> {
    let wrong = |error: zip::result::ZipError| Fault::new("zip", "a package", error);
    let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(wrong)?;
    let (mut files, mut first) = (HashMap::new(), (u64::MAX, String::new()));
    for at in 0..zip.len() {
        let file = zip.by_index_raw(at).map_err(wrong)?;
        let name = file.name().map_err(wrong)?.into_owned();
        if file.is_dir() {
            continue;
        }
        if file.compression() != CompressionMethod::Stored {
            return Err(Fault::new(
                "zip",
                "files without compression (USDZ)",
                format!("{name}, compressed"),
            ));
        }
        let start = file.data_start().and_then(|start| usize::try_from(start).ok());
        let range = start.zip(usize::try_from(file.size()).ok());
        let range = range.and_then(|(start, size)| Some(start..start.checked_add(size)?));
        let range = range.filter(|range| range.end <= bytes.len());
        let range = range.ok_or_else(|| {
            Fault::new("zip", format!("the bytes of {name}"), "the end of the file")
        })?;
        first = first.min((file.header_start(), name.clone()));
        files.insert(name, range);
    }
    Ok((first.1, files))
}

/// Package with one layer.
pub(crate) fn pack(name: &str, layer: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    zip.start_file(name, options.with_alignment(ALIGNMENT))?;
    zip.write_all(layer)?;
    Ok(zip.finish()?.into_inner())
}
