//! Conversion of the attributes and indices of glTF primitives to faces.

use std::cell::LazyCell;
use std::collections::BTreeMap;

use super::super::build::{LARGEST_UNIT_COLOUR, MeshBuilder, finite, left_out};
use super::super::mesh::{Corner, NONE};
use super::json::Material;
use super::morph::displaced;
use super::skin::SkinnedVertices;
use super::texture_mapping::{MaterialMappings, TextureMapping};
use quadrille_base::error::Result;
use quadrille_base::math::narrow;
use quadrille_scene::formats::gltf::{
    BufferStore, GltfDocument, GltfPrimitive, MeshInstance, NodePlacement, WHITE,
};

/// Component type of accessors of floats, by the number of OpenGL.
const FLOAT: u32 = 5126;

/// Sets of four joints and weights that are read per vertex.
const INFLUENCE_SETS: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TriangleMode {
    List,
    Strip,
    Fan,
}

impl TriangleMode {
    /// Corners of triangle `at`, as places in the primitive's list of indices.
    fn triangle(self, at: usize) -> [usize; 3] {
        match self {
            Self::List => [3 * at, 3 * at + 1, 3 * at + 2],
            Self::Strip if at % 2 == 1 => [at, at + 2, at + 1],
            Self::Strip => [at, at + 1, at + 2],
            Self::Fan => [at + 1, at + 2, 0],
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Pose<'a> {
    pub(super) weights: &'a [f32],
    /// Maps of the joints from mesh to world, if the instance has a skin.
    pub(super) joints: Option<&'a [NodePlacement]>,
}

/// Primitive with consistent attributes, whose values are not yet read.
pub(crate) struct CheckedPrimitive<'a> {
    place: String,
    topology: TriangleMode,
    position: usize,
    normal: Option<usize>,
    /// Accessors and mappings of two sets of texture coordinates.
    uvs: [Option<(usize, TextureMapping)>; 2],
    colour: Option<usize>,
    /// True if texture coordinates may be whole numbers that are not normalised.
    is_quantised: bool,
    influences: Vec<[usize; 2]>,
    pub(crate) json: &'a GltfPrimitive,
    pub(crate) vertices: usize,
    indices: usize,
}

impl<'a> CheckedPrimitive<'a> {
    /// Checks the primitive at `place`; `None` with a warning if it has no triangles.
    pub(super) fn of(
        json: &'a GltfPrimitive,
        place: String,
        document: &GltfDocument,
        materials: &[Material],
        store: &BufferStore<'_>,
        builder: &mut MeshBuilder,
    ) -> Result<Option<Self>> {
        let topology = match json.mode.unwrap_or(4) {
            0..=3 => {
                builder.warn("points and lines are left out");
                return Ok(None);
            }
            4 => TriangleMode::List,
            5 => TriangleMode::Strip,
            6 => TriangleMode::Fan,
            mode => return Err(store.malformed(place, "a mode of 0 to 6", mode.to_string())),
        };
        let Some(&position) = json.attributes.get("POSITION") else {
            builder.warn("primitives without positions are left out");
            return Ok(None);
        };
        if json.attributes.contains_key("COLOR_1") {
            builder.warn("sets of vertex colours after the first are left out");
        }
        let vertices = store.accessor(position)?.count;
        let mut extensions = document.extensions_used.iter();
        let quantised = extensions.any(|e| e == "KHR_mesh_quantization");
        let checked = |place: &str, attributes: &BTreeMap<_, _>, name: &str, plain: &[u32]| {
            let Some(&at) = attributes.get(name) else { return Ok(None) };
            let accessor = store.accessor(at)?;
            if accessor.count != vertices {
                let expected = format!("{vertices} elements of {name}, as many as positions");
                return Err(store.malformed(place, expected, accessor.count.to_string()));
            }
            let kind = accessor.component_type;
            if !(plain.contains(&kind) || quantised && kind != 5125) {
                let expected = format!("component types {plain:?} or KHR_mesh_quantization");
                return Err(store.malformed(place, expected, kind.to_string()));
            }
            Ok(Some(at))
        };
        let attribute = |name: &str, plain: &[u32]| checked(&place, &json.attributes, name, plain);
        let normal = attribute("NORMAL", &[5126])?;
        for (at, target) in json.targets.iter().enumerate() {
            let place = format!("{place}.targets[{at}]");
            checked(&place, target, "POSITION", &[5126])?;
            checked(&place, target, "NORMAL", &[5126])?;
        }
        let material = json.material.and_then(|at| materials.get(at));
        let mappings = material.map(MaterialMappings::of).unwrap_or_default();
        let mut uvs = [None; 2];
        for (set, mapping) in uvs.iter_mut().zip(mappings.sets()) {
            let accessor = attribute(&mapping.attribute(), &[5126, 5121, 5123])?;
            *set = accessor.map(|at| (at, mapping));
        }
        // Faces without any set are counted when the mesh is complete.
        if uvs != [None; 2] {
            let lacking = uvs.iter().zip(mappings.sets()).filter(|(set, _)| set.is_none());
            for (_, mapping) in lacking {
                builder.warn(format!(
                    "{place} lacks {}, and textures with these coordinates show the colour of their corner",
                    mapping.attribute()
                ));
            }
        }
        let colour = attribute("COLOR_0", &[5126, 5121, 5123])?;
        attribute("POSITION", &[5126])?;
        let mut influences = Vec::new();
        for set in 0..INFLUENCE_SETS {
            let joints = attribute(&format!("JOINTS_{set}"), &[5121, 5123])?;
            let weights = attribute(&format!("WEIGHTS_{set}"), &[5126, 5121, 5123])?;
            influences.extend(joints.zip(weights).map(<[usize; 2]>::from));
        }
        if json.attributes.contains_key(&format!("JOINTS_{INFLUENCE_SETS}")) {
            builder.warn("joints of vertices beyond the first eight are left out");
        }
        let indices = match json.indices {
            Some(at) => store.accessor(at)?.count,
            None => vertices,
        };
        if topology == TriangleMode::List && !indices.is_multiple_of(3) {
            builder.warn(format!(
                "{place}: {indices} corners are not a multiple of 3, and the last ones are left out"
            ));
        }
        Ok(Some(Self {
            place,
            topology,
            position,
            normal,
            uvs,
            colour,
            is_quantised: quantised,
            influences,
            json,
            vertices,
            indices,
        }))
    }

    pub(super) fn triangles(&self) -> u64 {
        let indices = self.indices as u64;
        match self.topology {
            TriangleMode::List => indices / 3,
            TriangleMode::Strip | TriangleMode::Fan => indices.saturating_sub(2),
        }
    }

    /// At most `count` evenly spaced positions, in the space of the mesh.
    pub(super) fn sampled(&self, count: usize, store: &BufferStore<'_>) -> Result<Vec<[f32; 3]>> {
        let positions = store.vectors::<3>(self.position)?;
        let step = positions.len().div_ceil(count).max(1);
        Ok(positions.into_iter().step_by(step).collect())
    }

    pub(super) fn add(
        &self,
        instance: &MeshInstance,
        pose: Pose<'_>,
        material: u32,
        store: &BufferStore<'_>,
        builder: &mut MeshBuilder,
    ) -> Result<()> {
        let indices = self.json.indices.map(|at| store.indices(at, self.vertices)).transpose()?;
        let joints = pose.joints.filter(|_| !self.influences.is_empty());
        let skinned = joints
            .map(|joints| SkinnedVertices::of(joints, &self.influences, &self.place, store))
            .transpose()?;
        let skinned = |vertex| skinned.as_ref().and_then(|skin| skin.placement(vertex));
        let triangles = usize::try_from(self.triangles()).unwrap_or(usize::MAX);
        let corners_of = |triangle| {
            self.topology.triangle(triangle).map(|at| match &indices {
                Some(indices) => indices[at] as usize,
                None => at,
            })
        };
        let used = LazyCell::new(|| {
            let mut used = vec![false; self.vertices];
            (0..triangles).flat_map(corners_of).for_each(|vertex| used[vertex] = true);
            used
        });
        let is_used = |vertex: usize| used[vertex];
        let vertices = self.corners(instance, pose.weights, skinned, is_used, store, builder)?;
        let mirrors = instance.placement.mirrors();
        for triangle in 0..triangles {
            let at = corners_of(triangle);
            let [a, b, c] = at.map(|at| vertices[at]);
            let mirrors = skinned(at[0]).map_or(mirrors, |own| own.mirrors());
            let mut corners = if mirrors { [a, c, b] } else { [a, b, c] };
            if self.normal.is_none() {
                // The specification requires flat normals for a primitive without normals.
                let normal = builder.flat_normal(corners)?;
                corners.iter_mut().for_each(|corner| corner.normal = normal);
            }
            builder.face(&corners, material)?;
        }
        builder.end_draw();
        Ok(())
    }

    fn corners(
        &self,
        instance: &MeshInstance,
        weights: &[f32],
        skinned: impl Fn(usize) -> Option<NodePlacement>,
        is_used: impl Fn(usize) -> bool,
        store: &BufferStore<'_>,
        builder: &mut MeshBuilder,
    ) -> Result<Vec<Corner>> {
        let wrong = |what: &'static str| {
            move |(expected, found)| {
                let place = format!("{}, {what}, nodes[{}]", self.place, instance.node);
                store.malformed(place, expected, found)
            }
        };
        let displaced = |at, name| displaced(at, name, &self.json.targets, weights, store);
        let mut corners = Vec::new();
        for (vertex, position) in displaced(self.position, "POSITION")?.into_iter().enumerate() {
            let placed = skinned(vertex).unwrap_or(instance.placement).point(position);
            let position = match finite(placed.map(narrow)) {
                Ok(_) => builder.position(placed)?,
                Err(mismatch) if is_used(vertex) => return Err(wrong("POSITION")(mismatch)),
                Err(_) => builder.leave_out(left_out::POSITIONS),
            };
            corners.push(Corner { position, uv: NONE, normal: NONE, colour: NONE });
        }
        if let Some(at) = self.normal {
            let rigid = instance.placement.normals();
            let turned = |vertex, normal| match skinned(vertex) {
                Some(placement) => placement.normals()(normal),
                None => rigid(normal),
            };
            let normals = displaced(at, "NORMAL")?.into_iter().enumerate();
            for (corner, (vertex, normal)) in corners.iter_mut().zip(normals) {
                corner.normal = builder.normal(turned(vertex, normal))?;
            }
        }
        let mut places = |(at, mapping): (usize, TextureMapping)| -> Result<_> {
            let uvs = match self.is_quantised {
                true => store.vectors::<2>(at)?,
                false => {
                    warn_unless_normalised(at, "texture coordinates", store, builder)?;
                    store.shares(at)?
                }
            };
            Ok(uvs.into_iter().map(move |uv| mapping.place(uv)))
        };
        let [first, second] = self.uvs.map(|set| set.map(&mut places).transpose());
        let (mut first, second) = (first?.into_iter().flatten(), second?);
        match second {
            None => {
                for (corner, uv) in corners.iter_mut().zip(first) {
                    corner.uv = builder.uv(uv)?;
                }
            }
            Some(second) => {
                for (corner, second) in corners.iter_mut().zip(second) {
                    corner.uv = builder.uv_sets(first.next().unwrap_or_default(), second)?;
                }
            }
        }
        if let Some(at) = self.colour {
            let colours = colours(at, store, builder)?;
            for (corner, colour) in corners.iter_mut().zip(colours) {
                corner.colour = builder.colour(tinted(colour, instance))?;
            }
        } else if instance.colour != WHITE {
            let colour = builder.colour(tinted(WHITE, instance))?;
            corners.iter_mut().for_each(|corner| corner.colour = colour);
        }
        Ok(corners)
    }
}

/// Warns of whole numbers in accessor `at` that are read from 0 to 1, although the file does not state them as normalised.
fn warn_unless_normalised(
    at: usize,
    what: &str,
    store: &BufferStore<'_>,
    builder: &mut MeshBuilder,
) -> Result<()> {
    let accessor = store.accessor(at)?;
    if accessor.component_type != FLOAT && !accessor.normalized {
        builder.warn(format!(
            "{what} are whole numbers that the file does not state as normalized: they are read from 0 to 1"
        ));
    }
    Ok(())
}

fn tinted(colour: [f32; 4], instance: &MeshInstance) -> [f32; 4] {
    std::array::from_fn(|channel| colour[channel] * instance.colour[channel])
}

fn colours(at: usize, store: &BufferStore<'_>, builder: &mut MeshBuilder) -> Result<Vec<[f32; 4]>> {
    let what = "colours of vertices";
    warn_unless_normalised(at, what, store, builder)?;
    let colours = store.colours(at)?;
    let largest = colours.iter().flat_map(|[r, g, b, _]| [*r, *g, *b]).fold(0.0, f32::max);
    if largest > LARGEST_UNIT_COLOUR {
        builder.warn(format!(
            "{what} reach {largest}, where glTF has 0 to 1: they are drawn as they are"
        ));
    }
    Ok(colours)
}
