use std::path::Path;

use serde_json::{Map, Value, json};

use super::splats::{SORTING_METHODS, SPLATTING};
use crate::activation::sigmoid;
use crate::splats::rest_coefficients;
use crate::table::{RawColumns, SplatTable};
use quadrille_base::math::{SH_C0, byte, narrow};
use quadrille_base::shading::SplatOrder;
use quadrille_base::{Error, Result, Task};

const U8: u32 = 5121;
const F32: u32 = 5126;

#[derive(Default)]
struct Attributes {
    buffer: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    names: Map<String, Value>,
}

impl Attributes {
    fn add(&mut self, name: String, shape: &str, kind: u32, rows: usize, bytes: Vec<u8>) {
        self.views.push(json!({
            "buffer": 0,
            "byteOffset": self.buffer.len(),
            "byteLength": bytes.len(),
            "target": 34962,
        }));
        let mut accessor = json!({
            "bufferView": self.views.len() - 1,
            "componentType": kind,
            "count": rows,
            "type": shape,
        });
        if kind == U8 {
            accessor["normalized"] = json!(true);
        }
        self.names.insert(name, json!(self.accessors.len()));
        self.accessors.push(accessor);
        self.buffer.extend(bytes);
    }

    fn floats<const N: usize>(
        &mut self,
        name: String,
        rows: usize,
        task: &Task,
        value: impl Fn(usize) -> [f32; N],
    ) {
        let shape = ["", "SCALAR", "VEC2", "VEC3", "VEC4"][N];
        let left = (0..rows).take_while(|_| !task.is_cancelled());
        let bytes = left.flat_map(&value).flat_map(f32::to_le_bytes);
        self.add(name, shape, F32, rows, bytes.collect());
    }
}

pub(in crate::formats) fn write(table: &SplatTable, path: &Path, task: &Task) -> Result<Vec<u8>> {
    let mut raw = table.raw(path, task)?;
    raw.turn_to_gltf();
    let mut attributes = attributes(&raw, task);
    task.check()?;
    let bounds = |pick: fn(f32, f32) -> f32, start: f32| {
        let axis = |values: &Vec<f64>| values.iter().copied().map(narrow).fold(start, pick);
        raw.mean.each_ref().map(axis)
    };
    if raw.rows() > 0 {
        attributes.accessors[0]["min"] = json!(bounds(f32::min, f32::INFINITY));
        attributes.accessors[0]["max"] = json!(bounds(f32::max, f32::NEG_INFINITY));
    }
    let order = table.encoding.order.unwrap_or(SplatOrder::Depth);
    let sorting = SORTING_METHODS.into_iter().find(|(_, known)| *known == order);
    let sorting = sorting.map(|(name, _)| name);
    let document = json!({
        "asset": {"version": "2.0", "generator": concat!("quadrille ", env!("CARGO_PKG_VERSION"))},
        "extensionsUsed": [SPLATTING],
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "buffers": [{"byteLength": attributes.buffer.len()}],
        "bufferViews": attributes.views,
        "accessors": attributes.accessors,
        "meshes": [{"primitives": [{
            "attributes": attributes.names,
            "mode": 0,
            "extensions": {SPLATTING: {
                "kernel": "ellipse",
                "colorSpace": "srgb_rec709_display",
                "sortingMethod": sorting,
                "projection": "perspective",
            }},
        }]}],
    });
    glb(document.to_string().into_bytes(), attributes.buffer, path)
}

fn attributes(raw: &RawColumns, task: &Task) -> Attributes {
    let mut attributes = Attributes::default();
    let rows = raw.rows();
    let named = |name: &str| format!("{SPLATTING}:{name}");
    let xyz = |columns: &[Vec<f32>; 3], row: usize| [0, 1, 2].map(|axis| columns[axis][row]);
    attributes.floats("POSITION".to_owned(), rows, task, |row| {
        [0, 1, 2].map(|axis| narrow(raw.mean[axis][row]))
    });
    // The colour is for viewers that draw points in place of splats.
    let colour = |row: usize| {
        let rgb = xyz(&raw.sh_constant, row).map(|c| f64::from(c) * SH_C0 + 0.5);
        let [r, g, b] = rgb.map(|v| byte(v * 255.0));
        [r, g, b, byte(sigmoid(f64::from(raw.opacity[row])) * 255.0)]
    };
    let left = || (0..rows).take_while(|_| !task.is_cancelled());
    attributes.add("COLOR_0".to_owned(), "VEC4", U8, rows, left().flat_map(colour).collect());
    attributes.floats(named("ROTATION"), rows, task, |row| {
        let [w, x, y, z] = raw.unit_rotation(row).map(narrow);
        [x, y, z, w]
    });
    attributes.floats(named("SCALE"), rows, task, |row| {
        xyz(&raw.scale, row).map(|log| narrow(f64::from(log).exp()))
    });
    attributes
        .floats(named("OPACITY"), rows, task, |row| [narrow(sigmoid(f64::from(raw.opacity[row])))]);
    attributes.floats(named("SH_DEGREE_0_COEF_0"), rows, task, |row| xyz(&raw.sh_constant, row));
    let per_channel = raw.rest_per_channel();
    for degree in 1..=raw.sh_degree() {
        for k in rest_coefficients(degree - 1)..rest_coefficients(degree) {
            let n = k - rest_coefficients(degree - 1);
            attributes.floats(named(&format!("SH_DEGREE_{degree}_COEF_{n}")), rows, task, |row| {
                [0, 1, 2].map(|channel| raw.sh_rest[channel * per_channel + k][row])
            });
        }
    }
    attributes
}

fn glb(mut json: Vec<u8>, mut binary: Vec<u8>, path: &Path) -> Result<Vec<u8>> {
    json.resize(json.len().next_multiple_of(4), b' ');
    binary.resize(binary.len().next_multiple_of(4), 0);
    let length = 12 + 8 + json.len() + 8 + binary.len();
    let length = u32::try_from(length).map_err(|_| {
        Error::malformed(path, "size", "at most 4 GiB, the limit of GLB", format!("{length} bytes"))
    })?;
    let mut file = Vec::new();
    file.extend(b"glTF");
    file.extend(2u32.to_le_bytes());
    file.extend(length.to_le_bytes());
    for (kind, chunk) in [(b"JSON", json), (b"BIN\0", binary)] {
        // The length of the whole file fits, so the lengths of its chunks fit as well.
        file.extend(u32::try_from(chunk.len()).unwrap_or(u32::MAX).to_le_bytes());
        file.extend(kind);
        file.extend(chunk);
    }
    Ok(file)
}
