//! Decoding of SOG, versions 1 and 2.

use std::f64::consts::FRAC_1_SQRT_2;

use super::archive::Archive;
use super::meta::{Meta, Part};
use super::textures::Pixels;
use super::{CENTROIDS_PER_ROW, FIRST_QUATERNION_ALPHA, LOSSES, META, NAME};
use crate::activation::logit;
use crate::encoding::SceneEncoding;
use crate::quaternion::with_largest;
use crate::splats::{MAX_SPLATS, rest_coefficients};
use crate::table::{RawColumns, SplatTable};
use quadrille_base::error::{Error, Result};
use quadrille_base::math::narrow;

/// Largest number of splats per byte of the pictures. Real scenes have one per 10 bytes, pictures of
/// one colour thousands; the bound keeps a small file from asking for much memory.
const MAX_SPLATS_PER_BYTE: u64 = 64;

/// Largest number of palette rows, by its 16-bit labels.
const MAX_PALETTE: u64 = 65_536;

/// A table with the metadata of the description.
pub(super) fn described(archive: &Archive<'_>, meta: &Meta, raw: RawColumns) -> SplatTable {
    let version = meta.version.unwrap_or(1);
    let container = if archive.is_zip() { "zip" } else { "folder" };
    let compression = format!("lossless WebP in a {container}, version {version}");
    let mut encoding = SceneEncoding::new(compression, LOSSES);
    encoding.antialiased = meta.antialiased();
    if meta.model.as_deref() == Some("2dgs") {
        let note = "trained as 2D Gaussians, which are drawn as flat 3D ones";
        encoding.notes.push(note.to_owned());
    }
    let described = archive.source().describe(NAME, encoding);
    SplatTable::of_raw(raw, described)
}

/// Parses a description.
pub(super) fn parse<T: serde::de::DeserializeOwned>(
    archive: &Archive<'_>,
    bytes: &[u8],
    name: &str,
) -> Result<T> {
    serde_json::from_slice(bytes).map_err(|error| {
        let place = format!("{name}, line {}, column {}", error.line(), error.column());
        let expected = "a description of a SOG";
        archive
            .source()
            .malformed(place, expected, error.to_string())
    })
}

/// Decodes the splats of a description whose files have names below `folder`.
pub(super) fn decode(archive: &Archive<'_>, meta: &Meta, folder: &str) -> Result<RawColumns> {
    let wrong = |place: &str, expected: &str, found: String| {
        archive
            .source()
            .malformed(format!("{folder}{META}, {place}"), expected, found)
    };
    let version = meta.version.unwrap_or(1);
    if !(1..=2).contains(&version) {
        return Err(wrong("\"version\"", "1 or 2", version.to_string()));
    }
    let is_v1 = version == 1 && meta.count.is_none();
    let count = match is_v1 {
        true => meta.means.shape.first().copied(),
        false => meta.count,
    };
    let count = count.ok_or_else(|| wrong("\"count\"", "the number of splats", "none".into()))?;
    Error::check_limit("splats in a scene", MAX_SPLATS as u64, count)?;
    let decoder = Decoder {
        archive,
        folder,
        is_v1,
        rows: quadrille_base::math::index(count),
    };
    let names = [
        &meta.means,
        &meta.means,
        &meta.quats,
        &meta.scales,
        &meta.sh0,
    ];
    let files = names.iter().zip([0, 1, 0, 0, 0]);
    let files: Vec<(&str, Vec<u8>)> = files
        .map(|(part, at)| decoder.file(part, at))
        .collect::<Result<_>>()?;
    let rest = meta
        .sh_rest
        .as_ref()
        .map(|part| decoder.palette_files(part));
    let rest = rest.transpose()?;
    let stored = archive.bytes_read().saturating_mul(MAX_SPLATS_PER_BYTE);
    if count > stored {
        let expected = format!("at most {stored} splats, by the size of the pictures");
        return Err(wrong("\"count\"", &expected, count.to_string()));
    }
    let pixels = files
        .iter()
        .map(|(name, bytes)| Pixels::decode(bytes, name, count, archive));
    let pixels: Vec<Pixels> = pixels.collect::<Result<_>>()?;
    let [low, high, quats, scales, colours] = &pixels[..] else {
        return Err(wrong("files", "five pictures", pixels.len().to_string()));
    };
    let degree = rest.as_ref().map_or(0, |palette| palette.degree);
    let mut raw = RawColumns::zeroed(decoder.rows, degree);
    decoder.means(&meta.means, low, high, &mut raw)?;
    decoder.rotations(quats, &mut raw)?;
    decoder.scales(&meta.scales, scales, &mut raw)?;
    decoder.colours(&meta.sh0, colours, &mut raw)?;
    if let (Some(part), Some(palette)) = (&meta.sh_rest, rest) {
        decoder.rest(part, &palette, &mut raw)?;
    }
    Ok(raw)
}

/// The files of the higher coefficients, not yet decoded.
struct PaletteFiles<'m> {
    degree: u8,
    /// Rows of the palette; `None` if the description does not say.
    count: Option<u64>,
    centroids: (&'m str, Vec<u8>),
    labels: (&'m str, Vec<u8>),
}

struct Decoder<'a, 's> {
    archive: &'a Archive<'s>,
    folder: &'a str,
    /// Version 1 has ranges in place of codebooks.
    is_v1: bool,
    rows: usize,
}

impl Decoder<'_, '_> {
    fn wrong(&self, place: &str, expected: &str, found: impl Into<String>) -> Error {
        let place = format!("{}{META}, \"{place}\"", self.folder);
        self.archive.source().malformed(place, expected, found)
    }

    /// Reads file `at` of a part.
    fn file<'m>(&self, part: &'m Part, at: usize) -> Result<(&'m str, Vec<u8>)> {
        let name = part.files.get(at);
        let name = name.ok_or_else(|| self.wrong("files", "a picture of each kind", "none"))?;
        let bytes = self.archive.read(&format!("{}{name}", self.folder))?;
        Ok((name, bytes))
    }

    fn palette_files<'m>(&self, part: &'m Part) -> Result<PaletteFiles<'m>> {
        let degree = match (self.is_v1, part.bands) {
            (false, Some(bands @ 1..=3)) => Some(bands),
            (false, _) => return Err(self.wrong("shN.bands", "1, 2 or 3", "another number")),
            (true, _) => None,
        };
        let centroids = self.file(part, 0)?;
        let labels = self.file(part, 1)?;
        let degree = match degree {
            Some(degree) => degree,
            None => self.degree_of_centroids(&centroids)?,
        };
        if part.count.is_some_and(|count| count > MAX_PALETTE) {
            return Err(self.wrong("shN.count", "at most 65536 rows", "more"));
        }
        Ok(PaletteFiles {
            degree,
            count: part.count,
            centroids,
            labels,
        })
    }

    /// The degree by the width of the picture of version 1.
    fn degree_of_centroids(&self, (name, bytes): &(&str, Vec<u8>)) -> Result<u8> {
        let expected = "64 rows of 3, 8 or 15 coefficients in a line";
        let decoder = image_webp::WebPDecoder::new(std::io::Cursor::new(bytes.as_slice()));
        let decoder = decoder.map_err(|e| self.wrong(name, "a WebP", e.to_string()))?;
        let width = decoder.dimensions().0 as usize;
        (1..=3u8)
            .find(|degree| rest_coefficients(*degree) * CENTROIDS_PER_ROW == width)
            .ok_or_else(|| self.wrong(name, expected, format!("{width} pixels")))
    }

    /// A function from a byte of channel `channel` to its number: an entry of the codebook or, in
    /// version 1, a point in the range.
    fn numbers(&self, part: &Part, channels: usize, name: &str) -> Result<Vec<[f64; 256]>> {
        if !self.is_v1 {
            let codebook: Option<[f64; 256]> = part.codebook.as_slice().try_into().ok();
            let found = format!("{}", part.codebook.len());
            let codebook = codebook.ok_or_else(|| self.wrong(name, "a codebook of 256", found))?;
            return Ok(vec![codebook; channels]);
        }
        let mut tables = Vec::new();
        for channel in 0..channels {
            let (Some(low), Some(high)) = (part.mins.get(channel), part.maxs.get(channel)) else {
                return Err(self.wrong(name, "mins and maxs", "fewer numbers"));
            };
            let mut table = [0.0; 256];
            for (byte, value) in table.iter_mut().enumerate() {
                *value = low + (high - low) * (byte as f64 / 255.0);
            }
            tables.push(table);
        }
        Ok(tables)
    }

    fn means(&self, part: &Part, low: &Pixels, high: &Pixels, raw: &mut RawColumns) -> Result<()> {
        for (axis, column) in raw.mean.iter_mut().enumerate() {
            let (Some(min), Some(max)) = (part.mins.get(axis), part.maxs.get(axis)) else {
                return Err(self.wrong("means", "mins and maxs of three axes", "fewer"));
            };
            let pixels = low.rgba.iter().zip(&high.rgba);
            for (value, (low, high)) in column.iter_mut().zip(pixels) {
                self.archive.source().task.check()?;
                let fixed = f64::from(u16::from_le_bytes([low[axis], high[axis]]));
                let v = min + (max - min) * fixed / 65_535.0;
                *value = v.abs().exp_m1().copysign(v);
            }
        }
        Ok(())
    }

    fn rotations(&self, quats: &Pixels, raw: &mut RawColumns) -> Result<()> {
        for (row, [a, b, c, alpha]) in quats.rgba.iter().take(self.rows).enumerate() {
            self.archive.source().task.check()?;
            let others = [a, b, c].map(|v| (f64::from(*v) / 255.0 * 2.0 - 1.0) * FRAC_1_SQRT_2);
            let q = match alpha.checked_sub(FIRST_QUATERNION_ALPHA) {
                Some(largest) => with_largest(others, usize::from(largest)),
                None => [1.0, 0.0, 0.0, 0.0],
            };
            for (column, value) in raw.rotation.iter_mut().zip(q) {
                column[row] = value;
            }
        }
        Ok(())
    }

    fn scales(&self, part: &Part, pixels: &Pixels, raw: &mut RawColumns) -> Result<()> {
        let tables = self.numbers(part, 3, "scales")?;
        for (channel, column) in raw.scale.iter_mut().enumerate() {
            for (value, pixel) in column.iter_mut().zip(&pixels.rgba) {
                *value = narrow(tables[channel][usize::from(pixel[channel])]);
            }
        }
        Ok(())
    }

    fn colours(&self, part: &Part, pixels: &Pixels, raw: &mut RawColumns) -> Result<()> {
        let tables = self.numbers(part, if self.is_v1 { 4 } else { 3 }, "sh0")?;
        for (channel, column) in raw.sh_constant.iter_mut().enumerate() {
            for (value, pixel) in column.iter_mut().zip(&pixels.rgba) {
                *value = narrow(tables[channel][usize::from(pixel[channel])]);
            }
        }
        for (value, pixel) in raw.opacity.iter_mut().zip(&pixels.rgba) {
            self.archive.source().task.check()?;
            *value = match tables.get(3) {
                Some(logits) => narrow(logits[usize::from(pixel[3])]),
                None => logit(f64::from(pixel[3]) / 255.0),
            };
        }
        Ok(())
    }

    fn rest(&self, part: &Part, files: &PaletteFiles<'_>, raw: &mut RawColumns) -> Result<()> {
        let per_channel = rest_coefficients(files.degree);
        let tables = self.numbers(part, 1, "shN")?;
        let (name, bytes) = &files.labels;
        let labels = Pixels::decode(bytes, name, self.rows as u64, self.archive)?;
        let label = |pixel: &[u8; 4]| usize::from(u16::from_le_bytes([pixel[0], pixel[1]]));
        let labels: Vec<usize> = labels.rgba.iter().take(self.rows).map(label).collect();
        let used = labels.iter().max().map_or(0, |label| label + 1);
        let count = files.count.unwrap_or(used as u64);
        if used as u64 > count {
            let expected = format!("labels below {count}");
            return Err(self.wrong("shN", &expected, (used - 1).to_string()));
        }
        let lines = count.div_ceil(CENTROIDS_PER_ROW as u64);
        let needed = lines * (CENTROIDS_PER_ROW * per_channel) as u64;
        let (name, bytes) = &files.centroids;
        let needed_at_least = needed.min(MAX_PALETTE * per_channel as u64);
        let centroids = Pixels::decode(bytes, name, needed_at_least, self.archive)?;
        if centroids.width != CENTROIDS_PER_ROW * per_channel {
            let expected = format!("a width of {}", CENTROIDS_PER_ROW * per_channel);
            return Err(self.wrong(name, &expected, centroids.width.to_string()));
        }
        for (at, column) in raw.sh_rest.iter_mut().enumerate() {
            self.archive.source().task.check()?;
            let (channel, k) = (at / per_channel, at % per_channel);
            for (value, label) in column.iter_mut().zip(&labels) {
                // Rows of 64 centroids follow each other without gaps.
                let pixel = centroids.rgba[label * per_channel + k];
                *value = narrow(tables[0][usize::from(pixel[channel])]);
            }
        }
        Ok(())
    }
}
