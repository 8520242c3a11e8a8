//! Shading of quads of shading grids, which all pipelines use.

use super::attributes::ShadingTriangle;
use crate::forward::QuadShading;
use crate::frame::StochasticFrame;
use crate::shading::spid::Spid;
use quadrille_mesh::shade::{QuadPoints, Shader};

/// RGB colours in linear light and opacities of the four points of a shading quad.
pub type QuadColours = [[f32; 4]; 4];

/// Shades quads of any primitive of a frame. Keeps the set-up of the last primitive.
#[derive(Debug)]
pub struct QuadShader<'a> {
    frame: &'a StochasticFrame,
    shader: &'a Shader<'a>,
    last: Option<(u32, ShadingTriangle)>,
}

impl<'a> QuadShader<'a> {
    /// Creates a shader of a frame's quads. `shader` belongs to the view half-way through the exposure.
    pub fn new(frame: &'a StochasticFrame, shader: &'a Shader<'a>) -> Self {
        Self { frame, shader, last: None }
    }

    /// Shades the points in `wanted` (bit `k` for point `k`) of a quad of a primitive's grid; other points have colour 0.
    /// The colour of a point does not depend on `wanted`.
    pub fn shade(&mut self, primitive: u32, quad: u32, wanted: u8) -> QuadColours {
        let triangle = match &mut self.last {
            Some((last, triangle)) if *last == primitive => triangle,
            last => {
                let triangle = ShadingTriangle::new(self.frame, primitive);
                &mut last.insert((primitive, triangle)).1
            }
        };
        let place = Spid { primitive, morton: quad };
        let Some(at) = triangle.points(place.point()) else { return QuadColours::default() };
        let [a, b, c] = &triangle.vertices;
        self.shader.grid_quad(&QuadPoints {
            vertices: [[a, b, c]; 4],
            at,
            extras: [triangle.extras; 4],
            wanted,
            material: triangle.material,
            is_front: triangle.is_front,
        })
    }
}

/// Quad shading of a frame, for pipelines that shade during the raster.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FrameShading<'a> {
    /// Frame with the geometry to shade.
    pub frame: &'a StochasticFrame,
    /// Shader for the view half-way through the exposure.
    pub shader: &'a Shader<'a>,
}

impl QuadShading for FrameShading<'_> {
    fn shader(&self) -> Box<dyn FnMut(u32, u32) -> QuadColours + Send + '_> {
        let mut shader = QuadShader::new(self.frame, self.shader);
        Box::new(move |primitive, quad| shader.shade(primitive, quad, 0b1111))
    }
}
