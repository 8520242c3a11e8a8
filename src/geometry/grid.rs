//! Grids: groups of connected triangles, the output of the tessellator and the scope of quad-fragment
//! merging ("Reducing Shading on GPUs using Quad-Fragment Merging", section 3).

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use super::camera::MeshCamera;
use crate::files::{Material, Texture};
use quadrille_base::task::Task;

/// Maximum number of triangles of a grid: the size of a triangle mask in bits (QFM, section 3).
pub const MAX_GRID_TRIANGLES: usize = 512;
/// Marks an edge in [`Topology::neighbours`] that no other triangle of the grid shares.
pub const NO_NEIGHBOUR: u16 = u16::MAX;
/// Maximum number of runs of a single draw: enough to keep many cores busy, each large enough for a task.
const RUNS: usize = 256;

/// Vertex of a grid.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct GridVertex {
    /// Position in world units.
    pub position: [f32; 3],
    /// Normal of length 1, or zero if there is none.
    pub normal: [f32; 3],
    /// Texture coordinates; v points down.
    pub uv: [f32; 2],
}

/// Triangles of a grid and their adjacency.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Topology {
    /// Vertices of each triangle, counter-clockwise seen from the front; at most [`MAX_GRID_TRIANGLES`] triangles.
    pub triangles: Vec<[u16; 3]>,
    /// Neighbours of each triangle across its edges 0-1, 1-2 and 2-0, or [`NO_NEIGHBOUR`]. The relation is symmetric.
    pub neighbours: Vec<[u16; 3]>,
}

/// Group of connected triangles of one material.
#[derive(Debug, Clone)]
pub struct Grid {
    /// Index into [`GridSource::materials`].
    pub material: u32,
    /// Vertices, which triangles refer to by index.
    pub vertices: Vec<GridVertex>,
    /// Identifiers of the vertices, shared by all grids that meet in a vertex.
    pub ids: Vec<u32>,
    /// Linear colours of the vertices with alpha; empty if all are white.
    pub colours: Vec<[f32; 4]>,
    /// Second set of texture coordinates of the vertices; empty if no texture has it.
    pub second_uvs: Vec<[f32; 2]>,
    /// Triangles as indices of vertices, with their adjacency.
    pub topology: Arc<Topology>,
}

impl Grid {
    /// Identifiers of the vertices at the corners of a triangle.
    #[inline]
    pub fn corner_ids(&self, triangle: u16) -> [u32; 3] {
        self.topology.triangles[usize::from(triangle)].map(|corner| self.ids[usize::from(corner)])
    }

    /// Colour and second texture coordinates of a vertex.
    #[inline]
    pub fn vertex_extras(&self, vertex: usize) -> VertexExtras {
        VertexExtras {
            colour: self.colours.get(vertex).copied(),
            second_uv: self.second_uvs.get(vertex).copied(),
        }
    }

    /// Colours and second texture coordinates of the corners of a triangle.
    #[inline]
    pub fn corner_extras(&self, triangle: u16) -> CornerExtras {
        if self.colours.is_empty() && self.second_uvs.is_empty() {
            return CornerExtras::default();
        }
        let corners = self.topology.triangles[usize::from(triangle)].map(usize::from);
        let has = |attribute: bool| attribute.then_some(corners);
        CornerExtras {
            colours: has(!self.colours.is_empty()).map(|at| at.map(|at| self.colours[at])),
            second_uvs: has(!self.second_uvs.is_empty()).map(|at| at.map(|at| self.second_uvs[at])),
        }
    }
}

/// Attributes of a vertex that few meshes have.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct VertexExtras {
    /// Linear colour with alpha; `None` for white.
    pub colour: Option<[f32; 4]>,
    /// Second set of texture coordinates; `None` if no texture has it.
    pub second_uv: Option<[f32; 2]>,
}

/// Attributes of the corners of a triangle that few meshes have.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CornerExtras {
    /// Linear colours with alpha; `None` for white.
    pub colours: Option<[[f32; 4]; 3]>,
    /// Second set of texture coordinates; `None` if no texture has it.
    pub second_uvs: Option<[[f32; 2]; 3]>,
}

/// Scene as batches of grids in submission order. A batch is a patch or a group of triangles of a mesh.
pub trait GridSource: Send + Sync {
    /// Number of batches, which other methods take by index.
    fn batches(&self) -> usize;

    /// Index of the draw that a batch belongs to. It never decreases from batch to batch.
    fn draw(&self, batch: usize) -> u32;

    /// Index into [`GridSource::materials`] of the material of all grids of a batch.
    fn material(&self, batch: usize) -> u32;

    /// Visits the grids of a batch, tessellated for `view`, one at a time, until `visit` breaks or the task is
    /// cancelled. Grids outside the view may be left out.
    fn visit_grids(
        &self,
        batch: usize,
        view: &MeshCamera,
        task: &Task,
        visit: &mut dyn FnMut(Grid) -> ControlFlow<()>,
    ) -> ControlFlow<()>;

    /// Appends all grids of a batch, tessellated for `view`, to `out`.
    fn grids(&self, batch: usize, view: &MeshCamera, out: &mut Vec<Grid>) {
        let _ = self.visit_grids(batch, view, &Task::NEVER, &mut |grid| {
            out.push(grid);
            ControlFlow::Continue(())
        });
    }

    /// Materials of all grids, at least one.
    fn materials(&self) -> &[Material];

    /// Textures, which materials refer to by index.
    fn textures(&self) -> &[Texture];

    /// Position in the world that the positions of grids are relative to.
    fn origin(&self) -> [f64; 3];

    /// Bounding box: least and greatest corner, relative to the origin.
    fn bounds(&self) -> [[f32; 3]; 2];
}

/// Cuts the batches of a source into runs of one draw each, for the tasks of a frame.
pub fn batch_runs(source: &dyn GridSource) -> Vec<Range<usize>> {
    let length = source.batches().div_ceil(RUNS).max(1);
    let mut runs: Vec<Range<usize>> = Vec::new();
    for batch in 0..source.batches() {
        match runs.last_mut() {
            Some(run) if run.len() < length && source.draw(run.start) == source.draw(batch) => {
                run.end = batch + 1;
            }
            _ => runs.push(batch..batch + 1),
        }
    }
    runs
}

/// A run of batches of one draw, whose materials are all blended or all not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawRun {
    /// Indices of the batches, at least one.
    pub batches: Range<usize>,
    /// True if the materials are blended with the surfaces behind them.
    pub is_blended: bool,
}

/// Runs of [`batch_runs`] in drawing order: first opaque and alpha-tested, then blended, each in submission order.
pub fn draw_runs(source: &dyn GridSource) -> Vec<DrawRun> {
    let materials = source.materials();
    let is_blended = |batch: usize| {
        materials.get(source.material(batch) as usize).is_some_and(Material::is_blended)
    };
    let mut runs: Vec<DrawRun> = Vec::new();
    for batches in batch_runs(source) {
        let first = runs.len();
        for batch in batches {
            let is_blended = is_blended(batch);
            match runs[first..].last_mut() {
                Some(run) if run.is_blended == is_blended => run.batches.end = batch + 1,
                _ => runs.push(DrawRun { batches: batch..batch + 1, is_blended }),
            }
        }
    }
    runs.sort_by_key(|run| run.is_blended);
    runs
}

/// Neighbours of each of at most 512 triangles, in the form of [`Topology::neighbours`].
///
/// Two triangles are neighbours if they run along an edge in opposite directions and no third
/// triangle has that edge. An edge of three triangles, or of two with opposite orientations (as on a
/// Möbius strip), joins none, since their adjacency is ambiguous. An edge without length joins none either.
pub fn neighbours(triangles: &[[u16; 3]]) -> Vec<[u16; 3]> {
    // Edges by their first vertex: the second vertex and the triangle. Counting sort is twice as fast
    // as comparison sort, and the tessellator calls this for most of its grids.
    let vertices = triangles.iter().flatten().max().map_or(0, |&v| usize::from(v) + 1);
    let mut starts = vec![0_u16; vertices + 1];
    for &vertex in triangles.iter().flatten() {
        starts[usize::from(vertex) + 1] += 1;
    }
    for vertex in 1..starts.len() {
        starts[vertex] += starts[vertex - 1];
    }
    let mut next = starts.clone();
    let mut edges = vec![[0_u16; 2]; 3 * triangles.len()];
    for (number, t) in (0_u16..).zip(triangles) {
        for k in 0..3 {
            let slot = &mut next[usize::from(t[k])];
            edges[usize::from(*slot)] = [t[(k + 1) % 3], number];
            *slot += 1;
        }
    }
    // The triangle that runs along an edge, if there is exactly one.
    let walker = |from: u16, to: u16| {
        let at = usize::from(from);
        let range = usize::from(starts[at])..usize::from(starts[at + 1]);
        let mut found = edges[range].iter().filter(|edge| edge[0] == to);
        match (found.next(), found.next()) {
            (Some(edge), None) => edge[1],
            _ => NO_NEIGHBOUR,
        }
    };
    let mut found = vec![[NO_NEIGHBOUR; 3]; triangles.len()];
    for t in triangles {
        for k in 0..3 {
            let (from, to) = (t[k], t[(k + 1) % 3]);
            // An edge is looked up once, from the triangle that runs from its lower vertex.
            if from >= to {
                continue;
            }
            let (own, other) = (walker(from, to), walker(to, from));
            if own == NO_NEIGHBOUR || other == NO_NEIGHBOUR || own == other {
                continue;
            }
            let back = triangles[usize::from(other)];
            let back = (0..3).find(|&k| back[k] == to && back[(k + 1) % 3] == from);
            found[usize::from(own)][k] = other;
            found[usize::from(other)][back.unwrap_or(0)] = own;
        }
    }
    found
}
