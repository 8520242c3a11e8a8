//! Encoding of the pictures and of the zip of a SOG.

use std::io::{self, Cursor, Write};

use rayon::prelude::*;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use quadrille_base::image::files::encode_webp;
use quadrille_base::task::Task;

const SIDE_STEP: usize = 4;

/// Width in pixels of the nearly square pictures of `rows` splats, a multiple of 4.
pub(super) fn picture_width(rows: usize) -> usize {
    let side = rows.isqrt() + usize::from(rows.isqrt().pow(2) < rows);
    side.next_multiple_of(SIDE_STEP).max(SIDE_STEP)
}

/// Picture to encode as lossless WebP. Its last line may be incomplete.
pub(super) struct Picture {
    pub(super) name: &'static str,
    pub(super) width: usize,
    pub(super) pixels: Vec<[u8; 4]>,
}

impl Picture {
    fn encode(mut self) -> io::Result<Vec<u8>> {
        let lines = self.pixels.len().div_ceil(self.width).next_multiple_of(SIDE_STEP);
        let lines = lines.max(SIDE_STEP);
        let pixels = &mut self.pixels;
        pixels.resize(self.width * lines, [0, 0, 0, 255]);
        let is_opaque = pixels.iter().all(|[_, _, _, a]| *a == 255);
        let side = |length: usize| u32::try_from(length).map_err(io::Error::other);
        let size = [side(self.width)?, side(lines)?];
        if is_opaque {
            let rgb = pixels.iter().flat_map(|[r, g, b, _]| [*r, *g, *b]);
            return encode_webp(&rgb.collect::<Vec<_>>(), false, size);
        }
        encode_webp(pixels.as_flattened(), true, size)
    }
}

/// Names and contents of the files of a SOG: pictures, then the description.
pub(super) fn files(
    pictures: Vec<Picture>,
    meta_name: &'static str,
    meta: Vec<u8>,
    task: &Task,
) -> io::Result<Vec<(&'static str, Vec<u8>)>> {
    let encoded = pictures.into_par_iter().map(|picture| {
        let name = picture.name;
        Ok((name, task.uninterrupted(move || picture.encode()).map_err(io::Error::other)??))
    });
    let mut files: Vec<(&str, Vec<u8>)> = encoded.collect::<io::Result<_>>()?;
    files.push((meta_name, meta));
    Ok(files)
}

pub(in crate::formats) fn zip(files: &[(impl AsRef<str>, Vec<u8>)]) -> io::Result<Vec<u8>> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, bytes) in files {
        zip.start_file(name.as_ref(), stored)?;
        zip.write_all(bytes)?;
    }
    Ok(zip.finish()?.into_inner())
}
