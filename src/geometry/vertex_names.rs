//! Numbering of the vertices of a mesh, as in an index buffer.

use std::collections::HashMap;

use super::files::{Corner, Mesh, NONE};
use quadrille_base::math::fit;

/// Numbers the vertices of a mesh: corners with equal position, texture coordinate, normal and colour share a number.
///
/// The result is an index buffer without duplicates. The indices of the file are not used, since OBJ has one per
/// attribute and exporters repeat equal vertices.
pub(super) struct VertexNames {
    /// Index of the first equal texture coordinate, per texture coordinate.
    uvs: Vec<u32>,
    normals: Vec<u32>,
    colours: Vec<u32>,
    numbers: HashMap<[u32; 4], u32>,
}

impl VertexNames {
    /// Creates the numbering of a mesh. Indices of `computed` normals start after the normals of the mesh.
    pub(super) fn new(mesh: &Mesh, computed: &[[f32; 3]]) -> Self {
        Self {
            uvs: match mesh.second_uvs.is_empty() {
                true => first_equal(mesh.uvs.iter().copied()),
                false => {
                    let sets = mesh.uvs.iter().zip(&mesh.second_uvs);
                    first_equal(sets.map(|([u, v], [s, t])| [*u, *v, *s, *t]))
                }
            },
            normals: first_equal(mesh.normals.iter().chain(computed).copied()),
            colours: first_equal(mesh.colours.iter().copied()),
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

/// Index of the first equal item, for each item.
fn first_equal<const N: usize>(items: impl Iterator<Item = [f32; N]>) -> Vec<u32> {
    let mut first = HashMap::with_capacity(items.size_hint().0);
    // Adding zero turns -0 into 0.
    let bits = |item: [f32; N]| item.map(|x| (x + 0.0).to_bits());
    items.zip(0_u32..).map(|(item, at)| *first.entry(bits(item)).or_insert(at)).collect()
}
