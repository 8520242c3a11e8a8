//! The `.splat` format: 32 bytes per splat, without a header.
//!
//! Little-endian f32 position x, y, z; f32 scale x, y, z, linear; u8 red, green, blue, opacity; u8
//! rotation w, x, y, z as (v - 128) / 128. The only description is its first reader, the web viewer
//! antimatter15/splat.

use std::path::Path;

use crate::error::{Error, Result};
use crate::math::narrow;
use crate::scene::activate::ValueEncoding;
use crate::scene::assemble::{PLAIN_SLOTS, RowLayout, assemble_fixed};
use crate::scene::bytes::Bytes;
use crate::scene::scene_file::{FormatReader, Scene, SceneFormat};
use crate::scene::splats::Lanes;

const RECORD_BYTES: usize = 32;

/// The constant spherical harmonic, in the format's precision.
const SH_C0: f32 = narrow(crate::math::SH_C0);

/// The format, which only the extension identifies.
pub(super) const FORMAT: FormatReader = FormatReader {
    format: SceneFormat(".splat"),
    has_mark: |_| false,
    extensions: &["splat"],
    read: Some(read),
};

fn read(bytes: &Bytes<'_>, path: &Path) -> Result<Scene> {
    let extra = bytes.len() % RECORD_BYTES;
    if extra != 0 {
        return Err(Error::malformed(
            path,
            "size",
            "a multiple of 32 bytes (.splat)",
            format!("{} bytes, {extra} too many", bytes.len()),
        ));
    }
    let layout = RowLayout {
        rows: bytes.len() / RECORD_BYTES,
        sh_degree: 0,
        encoding: ValueEncoding::Linear,
        scales: 3,
        filtered: false,
    };
    let splats = assemble_fixed(bytes, 0, RECORD_BYTES, layout, |rows, raw| {
        decode(rows.as_chunks().0, raw.plain);
    })?;
    Ok(Scene::new(FORMAT.format, bytes.len(), splats))
}

fn decode(records: &[[u8; RECORD_BYTES]], plain: &mut [Lanes; PLAIN_SLOTS]) {
    for (lane, record) in records.iter().enumerate() {
        let (words, _) = record.as_chunks();
        for (lanes, word) in plain.iter_mut().zip(&words[..6]) {
            lanes[lane] = f32::from_le_bytes(*word);
        }
        let [red, green, blue, opacity] = words[6];
        for (lanes, v) in plain[6..10].iter_mut().zip(words[7]) {
            lanes[lane] = (f32::from(v) - 128.0) / 128.0;
        }
        plain[10][lane] = f32::from(opacity) / 255.0;
        for (lanes, colour) in plain[11..].iter_mut().zip([red, green, blue]) {
            lanes[lane] = (f32::from(colour) / 255.0 - 0.5) / SH_C0;
        }
    }
}
