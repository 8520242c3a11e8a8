use std::io::{self, Write};
use std::path::Path;

use super::compressed::{CHUNK, CHUNK_PROPERTIES, PACKED_PROPERTIES, SH_RANGE};
use super::layout::comments_of;
use crate::activation::sigmoid;
use crate::chunk_order::improved_chunk_order;
use crate::column_names::rest_name;
use crate::quaternion::without_largest;
use crate::table::{RawColumns, SplatTable};
use quadrille_base::math::{SH_C0, fit, narrow, whole};
use quadrille_base::{Error, Result, Task};

/// Limit on the magnitude of logarithms of scales: without it, one flat splat of scale 0 would make the steps of its chunk
/// coarse. Splats of 2e-9 world units are invisible in a scene of a few micrometres, if a unit is a metre.
const LOG_SCALE_LIMIT: f32 = 20.0;

/// Writes `table` as compressed PLY, in an order that keeps the bounds of chunks small. Errors name `path`.
pub(crate) fn write_compressed(
    table: &SplatTable,
    path: &Path,
    out: &mut dyn Write,
    task: &Task,
) -> Result<()> {
    let mut raw = table.raw(path, task)?;
    if let Some(order) = improved_chunk_order(&raw, task)? {
        raw.select(&order, task)?;
    }
    let written = write(&raw, &comments_of(table, std::iter::empty()), out, task);
    written.or_else(|error| task.check().and(Err(Error::write(path, error))))
}

fn write(
    raw: &RawColumns,
    comments: &[String],
    out: &mut dyn Write,
    task: &Task,
) -> io::Result<()> {
    let rows = raw.rows();
    writeln!(out, "ply\nformat binary_little_endian 1.0")?;
    for line in comments {
        writeln!(out, "comment {line}")?;
    }
    writeln!(out, "element chunk {}", rows.div_ceil(CHUNK))?;
    for name in CHUNK_PROPERTIES {
        writeln!(out, "property float {name}")?;
    }
    writeln!(out, "element vertex {rows}")?;
    for name in PACKED_PROPERTIES {
        writeln!(out, "property uint {name}")?;
    }
    if !raw.sh_rest.is_empty() {
        writeln!(out, "element sh {rows}")?;
        for at in 0..raw.sh_rest.len() {
            writeln!(out, "property uchar {}", rest_name(at))?;
        }
    }
    writeln!(out, "end_header")?;
    let (mut chunks, mut packed) = (Vec::new(), Vec::new());
    for first in (0..rows).step_by(CHUNK) {
        task.check().map_err(io::Error::other)?;
        let chunk = Chunk::of(raw, first..rows.min(first + CHUNK));
        for bound in chunk.bounds() {
            chunks.extend(bound.to_le_bytes());
        }
        for row in first..rows.min(first + CHUNK) {
            for word in chunk.pack(raw, row) {
                packed.extend(word.to_le_bytes());
            }
        }
    }
    out.write_all(&chunks)?;
    out.write_all(&packed)?;
    let mut line = Vec::new();
    for row in 0..rows {
        task.check().map_err(io::Error::other)?;
        line.clear();
        line.extend(raw.sh_rest.iter().map(|column| pack_coefficient(column[row])));
        out.write_all(&line)?;
    }
    Ok(())
}

struct Chunk {
    least: [[f32; 3]; 3],
    greatest: [[f32; 3]; 3],
}

fn values(raw: &RawColumns, row: usize) -> [[f32; 3]; 3] {
    let log = |axis: usize| raw.scale[axis][row].clamp(-LOG_SCALE_LIMIT, LOG_SCALE_LIMIT);
    let shown = |channel: usize| f64::from(raw.sh_constant[channel][row]) * SH_C0 + 0.5;
    [
        std::array::from_fn(|axis| narrow(raw.mean[axis][row])),
        std::array::from_fn(log),
        std::array::from_fn(|channel| narrow(shown(channel))),
    ]
}

impl Chunk {
    fn of(raw: &RawColumns, rows: std::ops::Range<usize>) -> Self {
        let mut chunk =
            Self { least: [[f32::INFINITY; 3]; 3], greatest: [[f32::NEG_INFINITY; 3]; 3] };
        for row in rows {
            for (group, values) in values(raw, row).into_iter().enumerate() {
                for (axis, value) in values.into_iter().enumerate() {
                    let (least, greatest) = (&mut chunk.least, &mut chunk.greatest);
                    least[group][axis] = least[group][axis].min(value);
                    greatest[group][axis] = greatest[group][axis].max(value);
                }
            }
        }
        chunk
    }

    fn bounds(&self) -> impl Iterator<Item = f32> {
        let groups = self.least.iter().zip(&self.greatest);
        groups.flat_map(|(least, greatest)| least.iter().chain(greatest).copied())
    }

    /// Packs a row into four words: position, rotation, scale, colour with opacity.
    fn pack(&self, raw: &RawColumns, row: usize) -> [u32; 4] {
        let values = values(raw, row);
        let t = |group: usize| -> [f64; 3] {
            std::array::from_fn(|axis| {
                let [low, high] = [self.least, self.greatest].map(|b| f64::from(b[group][axis]));
                match high - low {
                    0.0 => 0.0,
                    range => (f64::from(values[group][axis]) - low) / range,
                }
            })
        };
        let [r, g, b] = t(2).map(|c| unorm(c, 8));
        let opacity = unorm(sigmoid(f64::from(raw.opacity[row])), 8);
        [
            pack_11_10_11(t(0)),
            pack_rotation(raw.unit_rotation(row)),
            pack_11_10_11(t(1)),
            r << 24 | g << 16 | b << 8 | opacity,
        ]
    }
}

/// Rounds a number from 0 to 1 to `bits` bits.
fn unorm(value: f64, bits: u32) -> u32 {
    let most = f64::from((1u32 << bits) - 1);
    whole((value * most + 0.5).floor().clamp(0.0, most))
}

fn pack_11_10_11([x, y, z]: [f64; 3]) -> u32 {
    unorm(x, 11) << 21 | unorm(y, 10) << 11 | unorm(z, 11)
}

fn pack_rotation(q: [f64; 4]) -> u32 {
    let (largest, others) = without_largest(q);
    let component = |v: f64| unorm(v / std::f64::consts::SQRT_2 + 0.5, 10);
    let [a, b, c] = others.map(component);
    fit::<u32>(largest) << 30 | a << 20 | b << 10 | c
}

fn pack_coefficient(value: f32) -> u8 {
    let t = f64::from(value) / SH_RANGE + 0.5;
    whole((t * 256.0).floor())
}
