//! Writing of SOG, version 2, as a zip or as a folder.

use std::f64::consts::FRAC_1_SQRT_2;
use std::path::Path;

use serde_json::{Value, json};

use super::encode::{Picture, files, picture_width, zip};
use super::{CENTROIDS_PER_ROW, FIRST_QUATERNION_ALPHA, META};
use crate::activation::sigmoid;
use crate::encoding::SplatModel;
use crate::morton::improved_order;
use crate::quaternion::without_largest;
use crate::table::{RawColumns, SplatTable};
use quadrille_base::math::{SimdLevel, byte, whole};
use quadrille_base::quantise::{Palette, codebook, indices, palette};
use quadrille_base::{Error, Result, Task};

pub(in crate::formats) fn write(table: &SplatTable, path: &Path, task: &Task) -> Result<Vec<u8>> {
    zip(&write_files(table, path, task)?).map_err(|e| Error::write(path, e))
}

/// Files of a SOG. Rows are sorted so that neighbours are close in space, unless `table` is sorted already.
pub(in crate::formats) fn write_files(
    table: &SplatTable,
    path: &Path,
    task: &Task,
) -> Result<Vec<(&'static str, Vec<u8>)>> {
    let mut raw = table.raw(path, task)?;
    if let Some(order) = improved_order(&raw, task)? {
        raw.select(&order, task)?;
    }
    sog_files(&raw, table.model(), path, task)
}

/// Files of a SOG with rows in the order of `raw`.
pub(super) fn sog_files(
    raw: &RawColumns,
    model: Option<SplatModel>,
    path: &Path,
    task: &Task,
) -> Result<Vec<(&'static str, Vec<u8>)>> {
    let width = picture_width(raw.rows());
    let mut pictures = Vec::new();
    let mut add = |name: &'static str, width: usize, pixels: Vec<[u8; 4]>| {
        pictures.push(Picture { name, width, pixels });
    };
    let means = means(raw, task)?;
    let generator = concat!("quadrille ", env!("CARGO_PKG_VERSION"));
    let mut meta = json!({
        "version": 2,
        "asset": {"generator": generator},
        "count": raw.rows(),
    });
    if let Some(model) = model {
        meta["model"] = json!(model.name());
    }
    meta["means"] = json!({
        "mins": means.mins, "maxs": means.maxs, "files": ["means_l.webp", "means_u.webp"],
    });
    add("means_l.webp", width, means.low);
    add("means_u.webp", width, means.high);
    let scales = codebook(raw.scale.iter(), task)?;
    meta["scales"] = json!({"codebook": scales.to_vec(), "files": ["scales.webp"]});
    task.check()?;
    let [x, y, z] = raw.scale.each_ref().map(|column| indices(&scales, column));
    let pixel = |row: usize| [x[row], y[row], z[row], 255];
    add("scales.webp", width, (0..raw.rows()).map(pixel).collect());
    meta["quats"] = json!({"files": ["quats.webp"]});
    let rotation = |row: usize| pack_rotation(raw.unit_rotation(row));
    add("quats.webp", width, (0..raw.rows()).map(rotation).collect());
    let colours = codebook(raw.sh_constant.iter(), task)?;
    meta["sh0"] = json!({"codebook": colours.to_vec(), "files": ["sh0.webp"]});
    task.check()?;
    let [r, g, b] = raw.sh_constant.each_ref().map(|column| indices(&colours, column));
    let opacity = |row: usize| byte(sigmoid(f64::from(raw.opacity[row])) * 255.0);
    let pixel = |row: usize| [r[row], g[row], b[row], opacity(row)];
    add("sh0.webp", width, (0..raw.rows()).map(pixel).collect());
    if !raw.sh_rest.is_empty() && raw.rows() > 0 {
        let palette = palette(&raw.sh_rest, SimdLevel::best(), task)?;
        let (centroids, numbers) = centroids(&palette, raw.rest_per_channel(), task)?;
        meta["shN"] = json!({
            "count": palette.centroids.len(),
            "bands": raw.sh_degree(),
            "codebook": numbers,
            "files": ["shN_centroids.webp", "shN_labels.webp"],
        });
        add("shN_centroids.webp", CENTROIDS_PER_ROW * raw.rest_per_channel(), centroids);
        let label = |label: &u16| {
            let [low, high] = label.to_le_bytes();
            [low, high, 0, 255]
        };
        add("shN_labels.webp", width, palette.labels.iter().map(label).collect());
    }
    let files = files(pictures, META, Value::to_string(&meta).into_bytes(), task);
    files.or_else(|error| task.check().and(Err(Error::write(path, error))))
}

/// 16-bit positions in a logarithmic range, with low and high bytes in separate pictures.
struct PackedMeans {
    mins: [f64; 3],
    maxs: [f64; 3],
    low: Vec<[u8; 4]>,
    high: Vec<[u8; 4]>,
}

fn means(raw: &RawColumns, task: &Task) -> Result<PackedMeans> {
    let log = |v: f64| v.abs().ln_1p().copysign(v);
    let bound = |column: &Vec<f64>, pick: fn(f64, f64) -> f64| {
        let values = column.iter().take_while(|_| !task.is_cancelled());
        values.map(|v| log(*v)).reduce(pick).unwrap_or(0.0)
    };
    let mins = raw.mean.each_ref().map(|column| bound(column, f64::min));
    let maxs = raw.mean.each_ref().map(|column| bound(column, f64::max));
    let fixed = |axis: usize, row: usize| -> [u8; 2] {
        let range = maxs[axis] - mins[axis];
        let t = if range > 0.0 { (log(raw.mean[axis][row]) - mins[axis]) / range } else { 0.0 };
        whole::<u16>((t * 65_535.0).round()).to_le_bytes()
    };
    let pixels = |half: usize| {
        let pixel = |row: usize| {
            task.check()?;
            let [x, y, z] = [0, 1, 2].map(|axis| fixed(axis, row)[half]);
            Ok([x, y, z, 255])
        };
        (0..raw.rows()).map(pixel).collect::<Result<_>>()
    };
    Ok(PackedMeans { mins, maxs, low: pixels(0)?, high: pixels(1)? })
}

fn pack_rotation(q: [f64; 4]) -> [u8; 4] {
    let (largest, others) = without_largest(q);
    let [a, b, c] = others.map(|v| byte((v / FRAC_1_SQRT_2 + 1.0) / 2.0 * 255.0));
    [a, b, c, FIRST_QUATERNION_ALPHA + u8::try_from(largest).unwrap_or(0)]
}

fn centroids(
    palette: &Palette,
    per_channel: usize,
    task: &Task,
) -> Result<(Vec<[u8; 4]>, Vec<f32>)> {
    let entries = codebook(palette.centroids.iter(), task)?;
    let pixels = palette.centroids.iter().flat_map(|centroid| {
        let found = indices(&entries, centroid);
        let pixel = move |k: usize| {
            let [r, g, b] = [0, 1, 2].map(|channel| found[channel * per_channel + k]);
            [r, g, b, 255]
        };
        (0..per_channel).map(pixel)
    });
    Ok((pixels.collect(), entries.to_vec()))
}
