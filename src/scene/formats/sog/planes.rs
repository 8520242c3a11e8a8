//! Decoded pictures of a SOG, which give the splats of any rows.

use std::f64::consts::FRAC_1_SQRT_2;

use super::archive::Archive;
use super::decode::{MAX_PALETTE, SogFile};
use super::meta::Part;
use super::textures::Pixels;
use super::{CENTROIDS_PER_ROW, FIRST_QUATERNION_ALPHA};
use crate::activation::logit;
use crate::quaternion::with_largest;
use crate::raw_columns::{RawColumns, Rows};
use crate::splats::rest_coefficients;
use quadrille_base::error::Result;
use quadrille_base::math::narrow;

/// Bytes of [`Planes`] per splat, without the palette.
pub(super) const PLANE_BYTES: u64 = 20;
/// Additional bytes per splat while pictures are decoded: one picture as the codec returns it and as RGBA, and the
/// compressed files, which are smaller than their pixels.
pub(super) const DECODING_BYTES: u64 = 24;

/// Largest number of splats per byte of the pictures. Real scenes have one per 10 bytes, pictures of one colour
/// thousands; the bound keeps a small file from requesting much memory.
const MAX_SPLATS_PER_BYTE: u64 = 64;

/// Decoded number for each value of a byte.
type Table = [f64; 256];

/// Pixels of a SOG, and the tables that map them to numbers.
pub(super) struct Planes {
    is_v1: bool,
    /// 16-bit positions within `ranges`.
    means: Vec<[u16; 3]>,
    quats: Vec<[u8; 4]>,
    scales: Vec<[u8; 4]>,
    colours: Vec<[u8; 4]>,
    /// Least and greatest position per axis, on the logarithmic scale.
    ranges: [[f64; 2]; 3],
    scale_tables: Vec<Table>,
    colour_tables: Vec<Table>,
    palette: Option<Palette>,
}

struct Palette {
    per_channel: usize,
    centroids: Vec<[u8; 4]>,
    labels: Vec<u16>,
    table: Table,
}

impl SogFile {
    pub(super) fn planes(&self, archive: &Archive<'_>) -> Result<Planes> {
        let meta = &self.meta;
        let (count, rows) = (self.rows as u64, self.rows);
        let names = [
            (&meta.means, 0),
            (&meta.means, 1),
            (&meta.quats, 0),
            (&meta.scales, 0),
            (&meta.sh0, 0),
        ];
        let files = names.map(|(part, at)| self.file(archive, part, at));
        let rest = meta.sh_rest.as_ref().map(|part| {
            let centroids = match &self.centroids {
                Some((name, bytes)) => (name.as_str(), bytes.clone()),
                None => self.file(archive, part, 0)?,
            };
            Ok((part, centroids, self.file(archive, part, 1)?))
        });
        let rest = rest.transpose()?;
        let [low, high, quats, scales, colours] = files;
        let files = [low?, high?, quats?, scales?, colours?];
        let stored = archive.bytes_read().saturating_mul(MAX_SPLATS_PER_BYTE);
        if count > stored {
            let expected = format!("at most {stored} splats in pictures of this size");
            return Err(self.wrong(archive, "count", &expected, count.to_string()));
        }
        let mut pictures = files.into_iter().map(|(name, bytes)| {
            let mut pixels = Pixels::decode(&bytes, name, count, archive)?.rgba;
            pixels.truncate(rows);
            Ok(pixels)
        });
        let mut next = || pictures.next().unwrap_or_else(|| Ok(Vec::new()));
        let (low, high) = (next()?, next()?);
        let joined = |(low, high): (&[u8; 4], &[u8; 4])| {
            [0, 1, 2].map(|axis| u16::from_le_bytes([low[axis], high[axis]]))
        };
        let means = low.iter().zip(&high).map(joined).collect();
        drop((low, high));
        let mut ranges = [[0.0; 2]; 3];
        for (axis, range) in ranges.iter_mut().enumerate() {
            let (Some(min), Some(max)) = (meta.means.mins.get(axis), meta.means.maxs.get(axis))
            else {
                return Err(self.wrong(
                    archive,
                    "means",
                    "mins and maxs of three axes",
                    "fewer axes",
                ));
            };
            *range = [min, max];
        }
        Ok(Planes {
            is_v1: self.is_v1,
            means,
            quats: next()?,
            scales: next()?,
            colours: next()?,
            ranges,
            scale_tables: self.numbers(archive, &meta.scales, 3, "scales")?,
            colour_tables: self.numbers(
                archive,
                &meta.sh0,
                if self.is_v1 { 4 } else { 3 },
                "sh0",
            )?,
            palette: rest
                .map(|(part, centroids, labels)| self.palette(archive, part, &centroids, &labels))
                .transpose()?,
        })
    }

    fn palette(
        &self,
        archive: &Archive<'_>,
        part: &Part,
        (centroids_name, centroids): &(&str, Vec<u8>),
        (labels_name, labels): &(&str, Vec<u8>),
    ) -> Result<Palette> {
        let per_channel = rest_coefficients(self.sh_degree);
        let tables = self.numbers(archive, part, 1, "shN")?;
        let labels = Pixels::decode(labels, labels_name, self.rows as u64, archive)?;
        let label = |pixel: &[u8; 4]| u16::from_le_bytes([pixel[0], pixel[1]]);
        let labels: Vec<u16> = labels.rgba.iter().take(self.rows).map(label).collect();
        let used = labels.iter().max().map_or(0, |label| u64::from(*label) + 1);
        let count = part.count.unwrap_or(used);
        if used > count {
            let expected = format!("labels below {count}");
            return Err(self.wrong(archive, "shN", &expected, (used - 1).to_string()));
        }
        let lines = count.div_ceil(CENTROIDS_PER_ROW as u64);
        let needed = lines * (CENTROIDS_PER_ROW * per_channel) as u64;
        let needed_at_least = needed.min(MAX_PALETTE * per_channel as u64);
        let centroids = Pixels::decode(centroids, centroids_name, needed_at_least, archive)?;
        if centroids.width != CENTROIDS_PER_ROW * per_channel {
            let expected = format!("a width of {}", CENTROIDS_PER_ROW * per_channel);
            return Err(self.wrong(
                archive,
                centroids_name,
                &expected,
                centroids.width.to_string(),
            ));
        }
        Ok(Palette { per_channel, centroids: centroids.rgba, labels, table: tables[0] })
    }

    /// Table of each channel: entries of the codebook or, in version 1, equal steps of a range.
    fn numbers(
        &self,
        archive: &Archive<'_>,
        part: &Part,
        channels: usize,
        name: &str,
    ) -> Result<Vec<Table>> {
        if !self.is_v1 {
            let codebook: Option<Table> = part.codebook.as_slice().try_into().ok();
            let found = format!("{}", part.codebook.len());
            let codebook = codebook
                .ok_or_else(|| self.wrong(archive, name, "a codebook of 256 numbers", found))?;
            return Ok(vec![codebook; channels]);
        }
        let mut tables = Vec::new();
        for channel in 0..channels {
            let (Some(low), Some(high)) = (part.mins.get(channel), part.maxs.get(channel)) else {
                return Err(self.wrong(archive, name, "mins and maxs", "fewer numbers"));
            };
            let mut table = [0.0; 256];
            for (byte, value) in table.iter_mut().enumerate() {
                *value = low + (high - low) * (byte as f64 / 255.0);
            }
            tables.push(table);
        }
        Ok(tables)
    }
}

impl Planes {
    pub(super) fn columns(&self, rows: Rows) -> RawColumns {
        let degree = (0..=3).find(|degree| {
            let of_palette = self.palette.as_ref().map_or(0, |palette| palette.per_channel);
            rest_coefficients(*degree) == of_palette
        });
        let mut raw = RawColumns::zeroed(rows.len(), degree.unwrap_or(0));
        for (axis, column) in raw.mean.iter_mut().enumerate() {
            let [min, max] = self.ranges[axis];
            for (value, row) in column.iter_mut().zip(rows.iter()) {
                let v = min + (max - min) * f64::from(self.means[row][axis]) / 65_535.0;
                *value = v.abs().exp_m1().copysign(v);
            }
        }
        for (at, row) in rows.iter().enumerate() {
            for (column, value) in raw.rotation.iter_mut().zip(rotation(self.quats[row])) {
                column[at] = value;
            }
        }
        let number = |table: &Table, byte: u8| narrow(table[usize::from(byte)]);
        let plain = [
            (&mut raw.scale, &self.scales, &self.scale_tables),
            (&mut raw.sh_constant, &self.colours, &self.colour_tables),
        ];
        for (columns, pixels, tables) in plain {
            for (channel, column) in columns.iter_mut().enumerate() {
                for (value, row) in column.iter_mut().zip(rows.iter()) {
                    *value = number(&tables[channel], pixels[row][channel]);
                }
            }
        }
        for (value, row) in raw.opacity.iter_mut().zip(rows.iter()) {
            let alpha = self.colours[row][3];
            *value = match self.is_v1 {
                true => number(&self.colour_tables[3], alpha),
                false => logit(f64::from(alpha) / 255.0),
            };
        }
        if let Some(palette) = &self.palette {
            for (at, column) in raw.sh_rest.iter_mut().enumerate() {
                let (channel, k) = (at / palette.per_channel, at % palette.per_channel);
                for (value, row) in column.iter_mut().zip(rows.iter()) {
                    // Lines of 64 centroids follow each other without gaps, so a label is an index.
                    let label = usize::from(palette.labels[row]);
                    let pixel = palette.centroids[label * palette.per_channel + k];
                    *value = number(&palette.table, pixel[channel]);
                }
            }
        }
        raw
    }
}

/// Quaternion (w, x, y, z) of a pixel.
fn rotation([a, b, c, alpha]: [u8; 4]) -> [f32; 4] {
    let others = [a, b, c].map(|v| (f64::from(v) / 255.0 * 2.0 - 1.0) * FRAC_1_SQRT_2);
    match alpha.checked_sub(FIRST_QUATERNION_ALPHA) {
        Some(largest) => with_largest(others, usize::from(largest)),
        None => [1.0, 0.0, 0.0, 0.0],
    }
}
