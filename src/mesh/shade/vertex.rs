//! Shading a vertex of a grid before it is rasterized, as the Reyes pipeline does.

use super::derivatives::from_steps;
use super::shader::{Shader, SurfacePoints};
use crate::math::narrow;
use crate::mesh::camera::MeshCamera;
use crate::mesh::grid::GridVertex;

/// From a vertex to one that it shares an edge with.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct VertexStep {
    /// Change of the position, in world units.
    pub position: [f32; 3],
    /// Change of the texture coordinates.
    pub uv: [f32; 2],
    /// Displacement on the picture, in pixels.
    pub px: [f32; 2],
}

impl VertexStep {
    /// The step between two vertices; those nearer than the near plane are taken as far as it.
    pub fn between(from: &GridVertex, to: &GridVertex, view: &MeshCamera) -> Self {
        let (start, end) = (view.place(from.position), view.place(to.position));
        Self {
            position: std::array::from_fn(|k| to.position[k] - from.position[k]),
            uv: std::array::from_fn(|k| to.uv[k] - from.uv[k]),
            px: std::array::from_fn(|k| narrow(end[k] - start[k])),
        }
    }
}

impl Shader<'_> {
    /// Colour of a vertex, linear light, 0 to 1.
    ///
    /// Derivatives per pixel come from the steps to two neighbours, best along different edges of a
    /// triangle. Where the steps lie along one line on the picture, as on outlines, each stands
    /// for itself: changes per pixel along it.
    pub fn vertex(
        &self,
        vertex: &GridVertex,
        steps: &[VertexStep; 2],
        material: u32,
        is_front: bool,
    ) -> [f32; 3] {
        // Five numbers change: the position and the texture coordinates.
        let changes = steps.map(|s| {
            let ([x, y, z], [u, v]) = (s.position, s.uv);
            [x, y, z, u, v]
        });
        let lengths = steps.map(|s| s.px);
        let slopes = from_steps(lengths, changes).unwrap_or_else(|| {
            [0, 1].map(|k| {
                let [x, y] = lengths[k];
                let length = (x * x + y * y).sqrt();
                // Shorter than this, nothing is known of the scale: no filtering.
                let scale = if length > 1e-6 { 1.0 / length } else { 0.0 };
                changes[k].map(|v| v * scale)
            })
        });
        // The first of four points; the others are not wanted.
        let points = SurfacePoints {
            to_eye: self.eye_from(vertex.position).map(|v| [v; 4]),
            normal: vertex.normal.map(|v| [v; 4]),
            uv: vertex.uv.map(|v| [v; 4]),
            position_slopes: slopes.map(|[x, y, z, ..]| [x, y, z].map(|v| [v; 4])),
            uv_slopes: slopes.map(|[.., u, v]| [u, v].map(|v| [v; 4])),
            is_front,
            wanted: 1,
        };
        self.light(self.material(material), &points)[0]
    }
}
