//! The alpha test at shading points: a hit is kept if its point is, so that the test is a function of the
//! identifier, as the colour is.

use std::collections::HashMap;

use super::attributes::ShadingTriangle;
use crate::frame::StochasticFrame;
use crate::shading::spid::Spid;
use quadrille_mesh::shade::SurfaceAlpha;

/// The alpha test of a primitive.
#[derive(Debug)]
pub(crate) struct PointTest<'a> {
    primitive: u32,
    triangle: ShadingTriangle,
    /// `None` if the material has no test, which keeps all points.
    alpha: Option<SurfaceAlpha<'a>>,
    /// Points of each quad that are kept, by the number of the quad.
    quads: HashMap<u32, [bool; 4]>,
}

impl<'a> PointTest<'a> {
    /// Creates the test of a primitive.
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

    /// Whether a point is kept, given its Morton position. Points of triangles without an area are kept.
    pub(crate) fn keeps(&mut self, morton: u32) -> bool {
        let Some(alpha) = &self.alpha else { return true };
        let spid = Spid { primitive: self.primitive, morton };
        let (_, quad) = spid.quad();
        let kept = self.quads.entry(quad).or_insert_with(|| {
            let place = Spid { morton: quad, ..spid };
            let points = self.triangle.points(place.point());
            points.map_or([true; 4], |points| alpha.kept(points))
        });
        kept[usize::from(spid.corner())]
    }
}
