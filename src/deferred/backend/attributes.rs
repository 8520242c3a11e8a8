//! Late shading of vertex attributes: the scan fetches vertices and sets up interpolation per primitive (section 4.3).

use nalgebra::Vector3;

use crate::frame::StochasticFrame;
use crate::geometry::PrimitiveRef;
use crate::shading::grid::ShadingGrid;
use quadrille_base::math::narrow;
use quadrille_geometry::grid::{CornerExtras, GridVertex};
use quadrille_machine::spec;
use quadrille_mesh::shade::{Barycentrics, TrianglePlanes};

spec! {
    /// Configuration of the vertex cache of the shading back end.
    VertexCacheSpec in "vertex_cache" {
        /// Capacity in vertices; the oldest vertex is replaced first.
        vertices: u32 = 32, 1..=65_536, Assumed "the size of post-transform caches of GPUs";
    }
}

/// A primitive set up for shading.
#[derive(Debug, Clone)]
pub(crate) struct ShadingTriangle {
    /// Corners half-way through the exposure.
    pub vertices: [GridVertex; 3],
    /// Attributes of the corners that few meshes have.
    pub extras: CornerExtras,
    /// Index of the material in the scene.
    pub material: u32,
    /// Whether the front face is visible in shading space.
    pub is_front: bool,
    grid: ShadingGrid,
    planes: Option<TrianglePlanes>,
}

impl ShadingTriangle {
    /// Sets up a primitive by its id.
    pub(crate) fn new(frame: &StochasticFrame, primitive: u32) -> Self {
        Self::of(frame, &frame.geometry.find(primitive), primitive)
    }

    pub(crate) fn of(frame: &StochasticFrame, found: &PrimitiveRef<'_>, primitive: u32) -> Self {
        let grid = ShadingGrid::new(&found.moving(&frame.view, primitive), &frame.grid_view());
        let [_, middle, _] = found.chunk.placements;
        let vertices = found.grid.topology.triangles[usize::from(found.triangle)].map(|c| {
            let vertex = found.grid.vertices[usize::from(c)];
            let wide = |v: [f32; 3]| Vector3::from(v.map(f64::from));
            let position = middle.point(wide(vertex.position));
            let normal = middle.direction(wide(vertex.normal));
            GridVertex {
                position: position.map(narrow).into(),
                normal: normal.map(narrow).into(),
                ..vertex
            }
        });
        Self {
            vertices,
            extras: found.grid.corner_extras(found.triangle),
            material: found.grid.material,
            is_front: grid.is_front(),
            planes: grid.planes(),
            grid,
        }
    }

    /// Points of the shading quad at a column and row of quads; `None` for a triangle without an area.
    pub(crate) fn points(&self, [column, row]: [u16; 2]) -> Option<[Barycentrics; 4]> {
        let planes = self.planes.as_ref()?;
        let [column, row] = [column, row].map(|v| 2 * i32::from(v));
        Some([[0, 0], [1, 0], [0, 1], [1, 1]].map(|[right, down]| {
            let [x, y] = self.grid.position([column + right, row + down]);
            planes.at(x, y)
        }))
    }
}

/// First-in-first-out cache of shaded vertices.
#[derive(Debug, Clone)]
pub struct VertexCache {
    vertices: Vec<u64>,
    next: usize,
    /// Vertices shaded because they were not in the cache.
    pub misses: u64,
}

impl VertexCache {
    /// Creates an empty cache.
    pub(crate) fn new(spec: &VertexCacheSpec) -> Self {
        Self { vertices: vec![u64::MAX; spec.vertices as usize], next: 0, misses: 0 }
    }

    /// Empties the cache; `misses` is not reset.
    pub fn clear(&mut self) {
        self.vertices.fill(u64::MAX);
        self.next = 0;
    }

    pub(crate) fn fetch(&mut self, found: &PrimitiveRef<'_>, first: u32) {
        for corner in found.grid.topology.triangles[usize::from(found.triangle)] {
            let key = u64::from(first) << 16 | u64::from(corner);
            if !self.vertices.contains(&key) {
                self.misses += 1;
                self.vertices[self.next] = key;
                self.next = (self.next + 1) % self.vertices.len();
            }
        }
    }
}
