//! Alpha test of hits at their shading points. The result depends only on the identifier, as the colour does.

use std::collections::HashMap;

use super::attributes::ShadingTriangle;
use crate::frame::StochasticFrame;
use crate::shading::spid::Spid;
use quadrille_mesh::shade::SurfaceAlpha;

#[derive(Debug)]
pub(crate) struct PointTest<'a> {
    primitive: u32,
    triangle: ShadingTriangle,
    /// `None` if the material has no alpha test, so that all points are kept.
    alpha: Option<SurfaceAlpha<'a>>,
    /// Kept points of each tested quad, by the quad's Morton position.
    quads: HashMap<u32, [bool; 4]>,
}

impl<'a> PointTest<'a> {
    pub(crate) fn new(frame: &'a StochasticFrame, primitive: u32) -> Self {
        let found = frame.geometry.find(primitive);
        let tests = &frame.geometry.alpha_tests;
        Self {
            primitive,
            alpha: tests.of_surface(found.grid, found.triangle),
            triangle: ShadingTriangle::of(frame, &found, primitive),
            quads: HashMap::new(),
        }
    }

    /// Whether the point at a Morton position passes the test; always true for triangles without an area.
    pub(crate) fn keeps(&mut self, morton: u32) -> bool {
        let Some(alpha) = &self.alpha else { return true };
        let spid = Spid { primitive: self.primitive, morton };
        let (_, quad) = spid.quad();
        let kept = self.quads.entry(quad).or_insert_with(|| {
            let points = self.triangle.points(Spid { morton: quad, ..spid }.point());
            points.map_or([true; 4], |points| alpha.kept(points))
        });
        kept[usize::from(spid.corner())]
    }
}
