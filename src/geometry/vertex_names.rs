//! Numbers of the vertices of a mesh, as an index buffer would hold them.

use std::collections::HashMap;

use super::files::{Corner, Mesh, NONE};
use quadrille_base::math::fit;

/// Numbers a mesh's vertices: corners of equal positions, texture coordinates, normals and colours share a number.
///
/// The result is an index buffer without duplicates. A file's own indices are not used, since OBJ has an
/// index for each attribute and exporters repeat equal vertices.
pub(super) struct VertexNames {
    /// Per texture coordinate, the first one of the same value.
    uvs: Vec<u32>,
    normals: Vec<u32>,
    colours: Vec<u32>,
    numbers: HashMap<[u32; 4], u32>,
}

impl VertexNames {
    /// Numbers of a mesh. Corners may have indices of `computed` normals, after its own.
    pub(super) fn new(mesh: &Mesh, computed: &[[f32; 3]]) -> Self {
        Self {
            uvs: first_equal(mesh.uvs.iter()),
            normals: first_equal(mesh.normals.iter().chain(computed)),
            colours: first_equal(mesh.colours.iter()),
            numbers: HashMap::new(),
        }
    }

    pub(super) fn number(&mut self, corner: Corner) -> u32 {
        let first = |of: &[u32], at: u32| of.get(at as usize).copied().unwrap_or(NONE);
        let (uv, normal, colour) = (
            first(&self.uvs, corner.uv),
            first(&self.normals, corner.normal),
            first(&self.colours, corner.colour),
        );
        if self.uvs.is_empty() && self.normals.is_empty() && self.colours.is_empty() {
            return corner.position;
        }
        let next = fit::<u32>(self.numbers.len());
        *self.numbers.entry([corner.position, uv, normal, colour]).or_insert(next)
    }
}

/// Index of the first item of the same value, for each item.
fn first_equal<'a, const N: usize>(items: impl Iterator<Item = &'a [f32; N]>) -> Vec<u32> {
    let mut first = HashMap::with_capacity(items.size_hint().0);
    // Adding zero turns -0 into 0.
    let bits = |item: &[f32; N]| item.map(|x| (x + 0.0).to_bits());
    items.zip(0_u32..).map(|(item, at)| *first.entry(bits(item)).or_insert(at)).collect()
}
