//! Splats in glTF: points with the extension `KHR_gaussian_splatting`, plain or packed as SPZ.

use std::collections::BTreeSet;
use std::path::{Component, Path};

use crate::activation::{take_linear_opacities, take_linear_scales};
use crate::bytes::FileBytes;
use crate::encoding::{LoadOptions, SceneEncoding, SplatAxes};
use crate::formats::format_reader::{FormatReader, Reader, SceneSource};
use crate::formats::spz;
use crate::scene_file::SceneFormat;
use crate::splats::rest_coefficients;
use crate::table::{RawColumns, SplatTable};
use quadrille_base::shading::SplatOrder;
use quadrille_base::{Error, Result, Task};
use quadrille_gltf::{BufferStore, GltfDocument, GltfPrimitive, PlacedNodes, instances, split};

pub(super) const SPLATTING: &str = "KHR_gaussian_splatting";
/// Draft extension inside [`SPLATTING`] for splats packed as SPZ.
const SPZ_EXTENSION: &str = "KHR_gaussian_splatting_compression_spz_2";

const READ_EXTENSIONS: [&str; 7] = [
    SPLATTING,
    SPZ_EXTENSION,
    "EXT_mesh_gpu_instancing",
    "KHR_mesh_quantization",
    "KHR_node_visibility",
    "KHR_lights_punctual",
    "KHR_texture_transform",
];
/// Prefix of the extensions of materials, which do not affect splats.
const MATERIAL_EXTENSIONS: &str = "KHR_materials_";

/// Splats that any document may have. Larger documents may have one per byte, so that instances multiply no small file.
const MIN_SPLATS: usize = 1 << 16;

pub(super) const LOSSES: &str = "no antialiasing flag; opacities and scales are linear";

const DRAWN_SETTINGS: [(&str, &str); 3] =
    [("kernel", "ellipse"), ("colorSpace", "srgb_rec709_display"), ("projection", "perspective")];

const CUT_NOTE: &str =
    "the format cuts splats at 3 standard deviations; this program cuts them at an alpha of 1/255";

/// Values of `sortingMethod`; the first is the default.
pub(super) const SORTING_METHODS: [(&str, SplatOrder); 2] =
    [("cameraDistance", SplatOrder::Distance), ("zDepth", SplatOrder::Depth)];

pub(in crate::formats) const FORMAT: FormatReader = FormatReader {
    format: SceneFormat("glTF"),
    has_mark: |bytes| bytes.starts_with(b"glTF"),
    extensions: &["glb", "gltf"],
    reader: Some(Reader { table: read, scene: None, batches: None }),
};

fn read(source: &SceneSource<'_>) -> Result<SplatTable> {
    let (json, binary) = split(source.bytes, source.path)?;
    let document = GltfDocument::read(json, source.path)?;
    let is_read =
        |name: &str| READ_EXTENSIONS.contains(&name) || name.starts_with(MATERIAL_EXTENSIONS);
    document.check_required(is_read, source.path)?;
    let mut resolve = |name: &str| read_beside(source, name);
    let store = BufferStore::new(&document, binary, source.path, &mut resolve);
    let mut parts = Vec::new();
    let (mut rows, mut others) = (0_usize, 0_usize);
    let mut packed_axes = None;
    let mut warnings = unknown_settings(&document);
    let order = stated_order(&document, &mut warnings);
    let nodes = PlacedNodes::of(&document, &store)?;
    warnings.extend(nodes.warning.clone());
    for instance in instances(&document, &nodes, &store)? {
        let mesh = store.get(&document.meshes, instance.mesh, "meshes")?;
        for (nth, primitive) in mesh.primitives.iter().enumerate() {
            if !primitive.extensions.contains_key(SPLATTING) {
                others += 1;
                continue;
            }
            let place = format!("meshes[{}].primitives[{nth}]", instance.mesh);
            let packed = packed_view(primitive);
            let mut raw = match packed {
                Some(view) => {
                    let (raw, axes) = unpack(view, &store, source)?;
                    packed_axes = Some(axes);
                    raw
                }
                None => attributes(primitive, &place, &store, source.task)?,
            };
            if packed.is_none() {
                warnings.extend(take_linear_scales(&mut raw.scale));
                warnings.extend(take_linear_opacities(&mut raw.opacity));
            }
            rows += raw.rows();
            let most = source.bytes.len().max(MIN_SPLATS) as u64;
            Error::check_limit("splats in a document of this size", most, rows as u64)?;
            let (linear, translation) = instance.placement.parts();
            let node = format!("nodes[{}]", instance.node);
            let note = raw.place(&linear, &translation, source.path, &node, source.task)?;
            warnings.extend(note);
            parts.push(raw);
        }
    }
    if parts.is_empty() {
        let expected = format!("splats (points with {SPLATTING})");
        return Err(source.malformed("format", expected, "none; `quadrille mesh` draws meshes"));
    }
    let degree = parts.iter().map(RawColumns::sh_degree).max().unwrap_or(0);
    let mut joined = RawColumns::zeroed(0, degree);
    for part in &parts {
        source.task.check()?;
        joined.append(part, 0..part.rows());
    }
    joined.turn_from_gltf();
    let compression = if packed_axes.is_some() { "SPZ in glTF 2.0" } else { "none, glTF 2.0" };
    let mut encoding = SceneEncoding::new(compression, LOSSES);
    encoding.axes = SplatAxes::LUF;
    encoding.notes.push(CUT_NOTE.to_owned());
    encoding.order = order;
    if order == Some(SplatOrder::Distance) {
        encoding.notes.push(
            "its splats are blended in the order of their distance, as it states (--order z blends by depth, as trainers do)"
                .to_owned(),
        );
    }
    if let Some((axes, are_stated)) = packed_axes {
        (encoding.axes, encoding.axes_stated) = (axes, are_stated);
        let why = if are_stated { "it states" } else { "of SPZ" };
        encoding.notes.push(format!(
            "the SPZ inside has the axes {axes} {why}, and is turned to the {} of glTF (--axes sets other axes)",
            SplatAxes::LUF
        ));
    }
    if others > 0 {
        encoding.warnings.push(format!(
            "{others} of its primitives are triangles, lines or points without splats, which are not drawn \
             (`quadrille mesh` draws triangles)"
        ));
    }
    encoding.warnings.extend(warnings);
    Ok(SplatTable::of_raw(joined, source.describe(FORMAT.format, encoding)))
}

/// Warnings about unsupported settings of the extension, without repetitions.
fn unknown_settings(document: &GltfDocument) -> BTreeSet<String> {
    let primitives = document.meshes.iter().flat_map(|mesh| &mesh.primitives);
    let settings = primitives.filter_map(|p| p.extensions.get(SPLATTING)).flat_map(|extension| {
        DRAWN_SETTINGS.iter().filter_map(|(key, drawn)| {
            let value = extension.get(key)?;
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            (text != *drawn)
                .then(|| format!("its {key} \"{text}\" is not supported, and {drawn} is drawn"))
        })
    });
    settings.collect()
}

/// The order of splats that the document states, or else the extension's default.
fn stated_order(document: &GltfDocument, warnings: &mut BTreeSet<String>) -> Option<SplatOrder> {
    let primitives = document.meshes.iter().flat_map(|mesh| &mesh.primitives);
    let mut orders = primitives.filter_map(|p| p.extensions.get(SPLATTING)).map(|extension| {
        let [default, _] = SORTING_METHODS;
        let Some(value) = extension.get("sortingMethod") else { return default };
        let known = SORTING_METHODS.into_iter().find(|(name, _)| value.as_str() == Some(*name));
        known.unwrap_or_else(|| {
            let drawn = default.0;
            warnings.insert(format!(
                "its sortingMethod {value} is not supported, and {drawn} is drawn"
            ));
            default
        })
    });
    let first = orders.next();
    let others = orders.filter(|order| Some(*order) != first).count();
    if let (Some((name, _)), 1..) = (first, others) {
        warnings.insert(format!(
            "parts of it state another sortingMethod than the first, {name}, which all have in the picture"
        ));
    }
    first.map(|(_, order)| order)
}

fn read_beside(source: &SceneSource<'_>, name: &str) -> Result<Vec<u8>> {
    let is_plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    if !source.has_folder || !is_plain || name.contains("://") {
        let expected = "buffers inside the document or in files beside it";
        return Err(source.malformed("buffers", expected, name));
    }
    Ok(FileBytes::open(&source.path.parent().unwrap_or(Path::new("")).join(name))?.to_vec())
}

fn packed_view(primitive: &GltfPrimitive) -> Option<usize> {
    let packed = primitive.extensions.get(SPLATTING)?.get("extensions")?.get(SPZ_EXTENSION)?;
    usize::try_from(packed.get("bufferView")?.as_u64()?).ok()
}

/// Reads an SPZ in a buffer view, and turns it to the axes of glTF. Returns its axes, and whether it states them.
fn unpack(
    view: usize,
    store: &BufferStore<'_>,
    source: &SceneSource<'_>,
) -> Result<(RawColumns, (SplatAxes, bool))> {
    let (bytes, _) = store.view(view)?;
    let inner = SceneSource {
        bytes: &FileBytes::Borrowed(bytes),
        path: source.path,
        has_folder: false,
        options: LoadOptions::new(source.options.axes, 0),
        task: source.task,
    };
    let table = spz::read(&inner)?;
    let axes = (table.encoding.axes, table.encoding.axes_stated);
    let mut raw = table.raw(source.path, source.task)?;
    raw.turn_to_gltf();
    Ok((raw, axes))
}

/// Reads the attributes of a primitive. Opacities stay linear, and scales linear or logarithmic, as in the file.
fn attributes(
    primitive: &GltfPrimitive,
    place: &str,
    store: &BufferStore<'_>,
    task: &Task,
) -> Result<RawColumns> {
    let wrong = |expected: String, found: &str| Err(store.malformed(place, expected, found));
    if primitive.mode != Some(0) {
        return wrong("points (mode 0)".into(), "another mode");
    }
    let find = |name: &str| primitive.attributes.get(name).copied();
    let named = |name: &str| format!("{SPLATTING}:{name}");
    let found = match find("_ROTATION").is_some() || find("_SCALE").is_some() {
        true => {
            "attributes of a draft of 2025 (write the file by a newer version of its exporter, or export PLY)"
        }
        false => "none",
    };
    let required = |name: &str| {
        find(name).ok_or_else(|| store.malformed(place, format!("an attribute {name}"), found))
    };
    let means = store.vectors::<3>(required("POSITION")?)?;
    let rows = means.len();
    let coefficient = |l: u8, n: usize| find(&named(&format!("SH_DEGREE_{l}_COEF_{n}")));
    let degree = (1..=3u8).take_while(|l| coefficient(*l, 0).is_some()).last().unwrap_or(0);
    let rotations = store.vectors::<4>(required(&named("ROTATION"))?)?;
    let scales = store.vectors::<3>(required(&named("SCALE"))?)?;
    let opacities = store.vectors::<1>(required(&named("OPACITY"))?)?;
    let constants = store.vectors::<3>(required(&named("SH_DEGREE_0_COEF_0"))?)?;
    let mut rest = Vec::new();
    for l in 1..=degree {
        for n in 0..=2 * usize::from(l) {
            task.check()?;
            let name = named(&format!("SH_DEGREE_{l}_COEF_{n}"));
            rest.push(store.vectors::<3>(required(&name)?)?);
        }
    }
    let counts = [rotations.len(), scales.len(), opacities.len(), constants.len()];
    let counts = counts.into_iter().chain(rest.iter().map(Vec::len));
    if { counts }.any(|count| count != rows) {
        return wrong(format!("{rows} elements of each attribute"), "another number");
    }
    let column = |values: &[[f32; 3]], axis: usize| values.iter().map(|v| v[axis]).collect();
    // The file stores quaternions as x, y, z, w.
    let component = |i: usize| rotations.iter().map(|q| q[(i + 3) % 4]).collect();
    let per_channel = rest_coefficients(degree);
    task.check()?;
    Ok(RawColumns {
        mean: [0, 1, 2].map(|axis| means.iter().map(|v| f64::from(v[axis])).collect()),
        scale: std::array::from_fn(|axis| column(&scales, axis)),
        rotation: std::array::from_fn(component),
        opacity: opacities.into_iter().map(|[opacity]| opacity).collect(),
        sh_constant: std::array::from_fn(|channel| column(&constants, channel)),
        sh_rest: (0..3 * per_channel)
            .map(|at| {
                task.check()?;
                Ok(column(&rest[at % per_channel], at / per_channel))
            })
            .collect::<Result<_>>()?,
    })
}
