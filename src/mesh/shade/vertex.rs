//! Shading of a vertex before its grid is rasterized, as in the Reyes pipeline.

use super::derivatives::from_steps;
use super::points::{SurfacePoints, TexturePlaces};
use super::shader::Shader;
use quadrille_base::math::narrow;
use quadrille_geometry::camera::MeshCamera;
use quadrille_geometry::grid::{GridVertex, VertexExtras};

/// Step from a vertex to a neighbour on an edge.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct VertexStep {
    /// Change of the position, in world units.
    pub position: [f32; 3],
    /// Change of the texture coordinates.
    pub uv: [f32; 2],
    /// Change of the second set of texture coordinates; zero if the mesh has none.
    pub second_uv: [f32; 2],
    /// Displacement on the picture, in pixels.
    pub px: [f32; 2],
}

impl VertexStep {
    /// Computes the step between two vertices without a second set of texture coordinates. Vertices nearer than the near plane
    /// are projected as if they lay on it.
    pub fn between(from: &GridVertex, to: &GridVertex, view: &MeshCamera) -> Self {
        let (start, end) = (view.position_px(from.position), view.position_px(to.position));
        Self {
            position: std::array::from_fn(|k| to.position[k] - from.position[k]),
            uv: std::array::from_fn(|k| to.uv[k] - from.uv[k]),
            second_uv: [0.0; 2],
            px: std::array::from_fn(|k| narrow(end[k] - start[k])),
        }
    }

    /// Returns the step with the change of the second set of texture coordinates, if both vertices have it.
    #[must_use]
    pub fn with_extras(mut self, from: &VertexExtras, to: &VertexExtras) -> Self {
        if let (Some([u, v]), Some([to_u, to_v])) = (from.second_uv, to.second_uv) {
            self.second_uv = [to_u - u, to_v - v];
        }
        self
    }
}

impl Shader<'_> {
    /// Colour of a vertex in linear light, followed by its opacity.
    ///
    /// Derivatives per pixel come from the steps to two neighbours, preferably along different edges of a triangle.
    /// If the steps are parallel on the picture, as on silhouettes, the derivatives are the changes per pixel
    /// along each step.
    pub fn vertex(
        &self,
        vertex: &GridVertex,
        extras: VertexExtras,
        steps: &[VertexStep; 2],
        material: u32,
        is_front: bool,
    ) -> [f32; 4] {
        let changes = steps.map(|s| {
            let ([x, y, z], [u, v], [s, t]) = (s.position, s.uv, s.second_uv);
            [x, y, z, u, v, s, t]
        });
        let lengths = steps.map(|s| s.px);
        let slopes = from_steps(lengths, changes).unwrap_or_else(|| {
            [0, 1].map(|k| {
                let [x, y] = lengths[k];
                let length = (x * x + y * y).sqrt();
                // For a shorter step the scale is unknown, so textures are not filtered.
                let scale = if length > 1e-6 { 1.0 / length } else { 0.0 };
                changes[k].map(|v| v * scale)
            })
        });
        // The vertex is the first of the four points; the others are not wanted.
        let points = SurfacePoints {
            to_eye: self.eye_from(vertex.position).map(|v| [v; 4]),
            normal: vertex.normal.map(|v| [v; 4]),
            places: TexturePlaces {
                uv: vertex.uv.map(|v| [v; 4]),
                slopes: slopes.map(|[_, _, _, u, v, ..]| [u, v].map(|v| [v; 4])),
            },
            second_places: extras.second_uv.map(|uv| TexturePlaces {
                uv: uv.map(|v| [v; 4]),
                slopes: slopes.map(|[.., s, t]| [s, t].map(|v| [v; 4])),
            }),
            colour: extras.colour.map(|colour| colour.map(|v| [v; 4])),
            position_slopes: slopes.map(|[x, y, z, ..]| [x, y, z].map(|v| [v; 4])),
            is_front,
            wanted: 1,
        };
        self.light(self.material(material), &points)[0]
    }
}
