//! Shading of quads of the shading grid, for any pipeline.

use super::attributes::ShadingTriangle;
use crate::forward::QuadShading;
use crate::frame::StochasticFrame;
use crate::shading::spid::Spid;
use quadrille_mesh::shade::{QuadPoints, Shader};

/// Colours of the points of a shading quad in linear light, each followed by its opacity.
pub type QuadColours = [[f32; 4]; 4];

/// Shades quads by their names. The set-up of the last primitive is kept.
#[derive(Debug)]
pub struct QuadShader<'a> {
    frame: &'a StochasticFrame,
    shader: &'a Shader<'a>,
    last: Option<(u32, ShadingTriangle)>,
}

impl<'a> QuadShader<'a> {
    /// Creates the shader of a frame. `shader` belongs to the view half-way through the exposure.
    pub fn new(frame: &'a StochasticFrame, shader: &'a Shader<'a>) -> Self {
        Self { frame, shader, last: None }
    }

    /// Shades a quad of a primitive's grid. The colour of a point does not depend on which others are
    /// `wanted` (bit `k` for point `k`); the colours of other points are 0.
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
            colours: [triangle.colours; 4],
            wanted,
            material: triangle.material,
            is_front: triangle.is_front,
        })
    }
}

/// The shading of a frame, for pipelines that shade during the raster.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FrameShading<'a> {
    /// The frame.
    pub frame: &'a StochasticFrame,
    /// The shader of the view half-way through the exposure.
    pub shader: &'a Shader<'a>,
}

impl QuadShading for FrameShading<'_> {
    fn shader(&self) -> Box<dyn FnMut(u32, u32) -> QuadColours + Send + '_> {
        let mut shader = QuadShader::new(self.frame, self.shader);
        Box::new(move |primitive, quad| shader.shade(primitive, quad, 0b1111))
    }
}
