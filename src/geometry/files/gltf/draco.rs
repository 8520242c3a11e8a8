//! Decompression of the accessors of primitives with `KHR_draco_mesh_compression`.

use std::collections::BTreeMap;

use draco_core::{DecodeLimits, DecoderBuffer, Mesh, MeshDecoder};
use serde::Deserialize;

use super::super::build::MAX_VERTICES;
use quadrille_base::error::{Error, Result};
use quadrille_base::math::{narrow, whole};
use quadrille_scene::formats::gltf::{BufferStore, GltfDocument, GltfPrimitive};

/// Maximum decoded bytes per vertex: 16 attributes of four 32-bit numbers.
const MAX_VERTEX_BYTES: u64 = 256;

pub(super) const DRACO: &str = "KHR_draco_mesh_compression";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Compressed {
    buffer_view: usize,
    attributes: BTreeMap<String, u32>,
}

/// Decodes the primitives whose accessors have no uncompressed elements, and supplies the decoded elements.
pub(super) fn supply(document: &GltfDocument, store: &mut BufferStore<'_>) -> Result<()> {
    // A stream of a few bytes may describe millions of equal vertices, so their number bounds all streams together.
    let mut vertices = 0_u64;
    for (at, mesh) in document.meshes.iter().enumerate() {
        for (nth, primitive) in mesh.primitives.iter().enumerate() {
            let Some(extension) = primitive.extensions.get(DRACO) else { continue };
            let place = format!("meshes[{at}].primitives[{nth}].extensions.{DRACO}");
            let compressed = Compressed::deserialize(extension).map_err(|error| {
                let expected = "a buffer view and attribute identifiers";
                store.malformed(&*place, expected, error.to_string())
            })?;
            let of_stream = compressed.attributes.keys();
            let of_stream = of_stream.filter_map(|name| primitive.attributes.get(name));
            let (mut is_needed, mut most) = (false, [0_u64; 2]);
            for &at in of_stream.chain(&primitive.indices) {
                is_needed |= !store.has_elements(at)?;
                let count = store.accessor(at)?.count as u64;
                let is_index = usize::from(primitive.indices == Some(at));
                most[is_index] = most[is_index].max(count);
            }
            if is_needed {
                vertices = vertices.saturating_add(most[0]).saturating_add(most[1]);
                Error::check_limit("vertices and indices in Draco", 4 * MAX_VERTICES, vertices)?;
                let decoded = decode(&compressed, most, &place, store)?;
                supply_primitive(primitive, &compressed, &decoded, &place, store)?;
            }
        }
    }
    Ok(())
}

fn decode(
    compressed: &Compressed,
    [points, indices]: [u64; 2],
    place: &str,
    store: &BufferStore<'_>,
) -> Result<Mesh> {
    let wrong = |found: String| store.malformed(place, "a Draco mesh", found);
    let bytes = store.view(compressed.buffer_view);
    let (bytes, _) = bytes.map_err(|error| wrong(error.to_string()))?;
    let limits = DecodeLimits::default()
        .with_max_points(points)
        .with_max_faces(indices / 3)
        .with_max_decoded_bytes(points.saturating_mul(MAX_VERTEX_BYTES));
    let mut buffer = DecoderBuffer::new(bytes).with_limits(limits);
    let mut mesh = Mesh::new();
    MeshDecoder::new().decode(&mut buffer, &mut mesh).map_err(|error| wrong(error.to_string()))?;
    Ok(mesh)
}

fn supply_primitive(
    primitive: &GltfPrimitive,
    compressed: &Compressed,
    mesh: &Mesh,
    place: &str,
    store: &mut BufferStore<'_>,
) -> Result<()> {
    let points = mesh.num_points();
    for (name, &number) in &compressed.attributes {
        let Some(&at) = primitive.attributes.get(name) else { continue };
        let attribute = mesh.attribute_by_unique_id(number).ok_or_else(|| {
            store.malformed(
                place,
                format!("an attribute with identifier {number} for {name}"),
                "none",
            )
        })?;
        let accessor = store.accessor(at)?;
        let components = match accessor.shape.as_str() {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            _ => 4,
        };
        let found = (points, usize::from(attribute.num_components()));
        if found != (accessor.count, components) {
            let expected = format!("{} elements of {} for {name}", accessor.count, accessor.shape);
            let found = format!("{} elements of {} numbers", found.0, found.1);
            return Err(store.malformed(place, expected, found));
        }
        let numbers = attribute.read_f32s(points, components).into_iter().map(f64::from);
        store.supply(at, encoded(numbers, accessor.component_type));
    }
    let Some(at) = primitive.indices else { return Ok(()) };
    let accessor = store.accessor(at)?;
    let corners = mesh.faces().as_flattened();
    if corners.len() != accessor.count {
        let expected = format!("{} indices", accessor.count);
        return Err(store.malformed(place, expected, corners.len().to_string()));
    }
    let indices = corners.iter().map(|point| f64::from(point.0));
    store.supply(at, encoded(indices, accessor.component_type));
    Ok(())
}

/// Encodes numbers in a component type, clamped to its range. Bytes of an unknown type are refused when they are read.
fn encoded(numbers: impl Iterator<Item = f64>, component_type: u32) -> Vec<u8> {
    match component_type {
        5120 => numbers.flat_map(|n| whole::<i8>(n).to_le_bytes()).collect(),
        5121 => numbers.flat_map(|n| whole::<u8>(n).to_le_bytes()).collect(),
        5122 => numbers.flat_map(|n| whole::<i16>(n).to_le_bytes()).collect(),
        5123 => numbers.flat_map(|n| whole::<u16>(n).to_le_bytes()).collect(),
        5125 => numbers.flat_map(|n| whole::<u32>(n).to_le_bytes()).collect(),
        _ => numbers.flat_map(|n| narrow(n).to_le_bytes()).collect(),
    }
}
