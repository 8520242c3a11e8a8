//! Grids: groups of connected triangles, what the tessellator hands on and what quad-fragment
//! merging works within ("Reducing Shading on GPUs using Quad-Fragment Merging", section 3).

use std::sync::Arc;

use super::view::View;
use crate::mesh::files::{Material, Texture};

/// Most triangles of a grid: the bits of a triangle mask (QFM, section 3).
pub const MAX_GRID_TRIANGLES: usize = 512;
/// In [`Topology::neighbours`]: no triangle of the grid lies across the edge.
pub const NO_NEIGHBOUR: u16 = u16::MAX;

/// A vertex of a grid.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct GridVertex {
    /// In world units.
    pub position: [f32; 3],
    /// Of length 1, or zero where the surface has none.
    pub normal: [f32; 3],
    /// Texture coordinates, v down.
    pub uv: [f32; 2],
    /// Names the vertex across grids: equal where two grids meet.
    pub id: u32,
}

/// Which vertices make triangles, and which triangles share edges.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Topology {
    /// Vertices of each triangle, counter-clockwise seen from the front; at most
    /// [`MAX_GRID_TRIANGLES`] triangles.
    pub triangles: Vec<[u16; 3]>,
    /// For each triangle: the one across the edge from corner 0 to 1, from 1 to 2, from 2 to 0, or
    /// [`NO_NEIGHBOUR`]. Symmetric: a neighbour has this one as a neighbour.
    pub neighbours: Vec<[u16; 3]>,
}

/// A group of connected triangles of one material.
#[derive(Debug, Clone)]
pub struct Grid {
    /// Index into [`Source::materials`].
    pub material: u32,
    /// The vertices.
    pub vertices: Vec<GridVertex>,
    /// The triangles.
    pub topology: Arc<Topology>,
}

/// What is drawn: batches of grids in submission order.
///
/// A batch is what is made at once: a patch, a group of triangles of a mesh. Batches can be made on
/// any thread and always come out the same.
pub trait Source: Sync {
    /// Batches.
    fn batches(&self) -> usize;

    /// The draw that a batch belongs to; does not decrease from batch to batch.
    fn draw(&self, batch: usize) -> u32;

    /// Appends the grids of a batch, as tessellated for `view`. Grids wholly outside the view may
    /// be left out.
    fn grids(&self, batch: usize, view: &View, out: &mut Vec<Grid>);

    /// Materials of all grids, at least one.
    fn materials(&self) -> &[Material];

    /// Textures of the materials.
    fn textures(&self) -> &[Texture];

    /// A box around everything: least and greatest corner.
    fn bounds(&self) -> [[f32; 3]; 2];
}
