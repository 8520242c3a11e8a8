//! The grid at hand: its triangles on the picture, and whether earlier grids hide it.

use crate::mesh::assemble::{PlacedVertex, place, triangles};
use crate::mesh::frame::settings::FrameSettings;
use crate::mesh::grid::Grid;
use crate::mesh::view::View;
use crate::pipeline::packets::Primitive;
use crate::raster::geometry::PrimitiveShape;
use crate::raster::geometry::{PixelRect, Vertex};
use crate::raster::outline::{Outline, raster_tiles};
use crate::raster::sample_depth::DepthPlane;
use crate::raster::sampled::SampledPolygon;

use super::depth::DepthBuffer;

/// What a material means to the pipeline.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MaterialFlags {
    /// Whether triangles that show their backs are drawn.
    pub(super) draws_backs: bool,
    /// Whether its shader bars merging pixels.
    pub(super) is_barred: bool,
}

/// What a grid is seen against.
pub(super) struct Scene<'a> {
    pub(super) view: &'a View,
    pub(super) settings: &'a FrameSettings,
    pub(super) depths: &'a DepthBuffer,
}

/// A triangle of the grid at hand, or a piece of one that was clipped.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub(super) triangle: u16,
    pub(super) is_front: bool,
    pub(super) plane: DepthPlane,
    /// No sample of it is nearer.
    pub(super) nearest: f32,
}

/// The grid whose triangles are under way.
#[derive(Debug, Default)]
pub(super) struct GridAtHand {
    pub(super) number: u32,
    pub(super) draw: u32,
    /// Counted over all grids with a triangle in the picture: the first triangle's.
    pub(super) first_owner: u32,
    pub(super) flags: MaterialFlags,
    /// Names of the corners of each triangle.
    pub(super) corners: Vec<[u32; 3]>,
    pub(super) pieces: Vec<Piece>,
    /// Bins in which all of it is hidden.
    pub(super) hidden_bins: Vec<usize>,
    placed: Vec<PlacedVertex>,
    /// Triangles of this and all earlier grids with one in the picture.
    owners: u32,
}

/// What became of a grid that was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GridFate {
    /// No triangle of it lies in the picture and shows a side that is drawn.
    Outside,
    /// Earlier grids hide it.
    Hidden,
    /// It is drawn.
    Visible,
}

impl GridAtHand {
    /// See [`MeshMachine::take`](super::machine::MeshMachine::take).
    pub(super) fn take(
        &mut self,
        scene: &Scene<'_>,
        (draw, flags): (u32, MaterialFlags),
        grid: &Grid,
        out: &mut Vec<Primitive>,
    ) -> GridFate {
        self.number = self.number.wrapping_add(1);
        self.draw = draw;
        self.flags = flags;
        self.first_owner = self.owners;
        let ids = |corner: u16| grid.vertices[usize::from(corner)].id;
        self.corners.clear();
        let corners = grid.topology.triangles.iter().map(|t| t.map(ids));
        self.corners.extend(corners);
        self.placed.clear();
        let placed = grid.vertices.iter().map(|v| place(scene.view, v.position));
        self.placed.extend(placed);
        let first = out.len();
        let Some(bounds) = self.assemble(scene, grid, out) else {
            out.truncate(first);
            return GridFate::Outside;
        };
        let triangles = u32::try_from(grid.topology.triangles.len()).unwrap_or(u32::MAX);
        self.owners = self.owners.saturating_add(triangles);
        if self.is_visible(scene, bounds, &out[first..]) {
            return GridFate::Visible;
        }
        out.truncate(first);
        GridFate::Hidden
    }

    /// The outline of a triangle that is drawn.
    #[inline]
    pub(super) fn outline(
        &self,
        shape: &PrimitiveShape,
        settings: &FrameSettings,
    ) -> Option<SampledPolygon> {
        let PrimitiveShape::Triangle(corners) = *shape else {
            return None;
        };
        let outline = SampledPolygon::triangle(corners, settings.pattern, settings.level);
        outline.filter(|o| o.is_front() || self.flags.draws_backs)
    }

    /// Projects the triangles of a grid; the box around those that are drawn.
    fn assemble(
        &mut self,
        scene: &Scene<'_>,
        grid: &Grid,
        out: &mut Vec<Primitive>,
    ) -> Option<PixelRect> {
        let settings = scene.settings;
        let picture = settings.cells();
        self.pieces.clear();
        let mut around: Option<PixelRect> = None;
        for (triangle, corners) in (0..).zip(&grid.topology.triangles) {
            let corners = corners.map(|c| &self.placed[usize::from(c)]);
            let nearest = corners.iter().map(|c| c.depth()).fold(0.0, f32::max);
            triangles(scene.view, corners, |corners, plane| {
                let outline = SampledPolygon::triangle(corners, settings.pattern, settings.level);
                let is_front = outline.is_some_and(|o| o.is_front());
                let bounds = outline.map_or(NOWHERE, |o| o.bounds().intersect(picture));
                if !bounds.is_empty() && (is_front || self.flags.draws_backs) {
                    around = Some(around.map_or(bounds, |a| joined(a, bounds)));
                }
                out.push(Primitive {
                    primitive: u32::try_from(self.pieces.len()).unwrap_or(u32::MAX),
                    shape: PrimitiveShape::Triangle(corners),
                    bounds,
                });
                self.pieces.push(Piece {
                    triangle,
                    is_front,
                    plane,
                    nearest: nearest + rounding(&plane, corners),
                });
            });
        }
        around
    }

    /// Whether a bin in which the grid has quads shows any of it; notes those that show none.
    ///
    /// A bin is what a [frame](crate::mesh::frame) tests at a time.
    fn is_visible(&mut self, scene: &Scene<'_>, bounds: PixelRect, pieces: &[Primitive]) -> bool {
        let settings = scene.settings;
        let nearest = self.placed.iter().map(PlacedVertex::depth);
        let nearest = nearest.fold(0.0, f32::max);
        self.hidden_bins.clear();
        let mut is_visible = false;
        let side = i32::from(settings.bin_quads()) * 2;
        for row in bounds.y0 / side..=(bounds.y1 - 1) / side {
            for column in bounds.x0 / side..=(bounds.x1 - 1) / side {
                let (x0, y0) = (column * side, row * side);
                let bin = PixelRect {
                    x0,
                    y0,
                    x1: x0 + side,
                    y1: y0 + side,
                };
                if scene.depths.hides(bounds.intersect(bin), nearest) {
                    let across = settings.bin_grid()[0];
                    let [column, row] = [column, row].map(|v| v.unsigned_abs() as usize);
                    self.hidden_bins.push(row * across + column);
                } else {
                    is_visible =
                        is_visible || pieces.iter().any(|p| self.touches(p, bin, settings));
                }
            }
        }
        is_visible
    }

    /// Whether a triangle has quads in a bin.
    fn touches(&self, piece: &Primitive, bin: PixelRect, settings: &FrameSettings) -> bool {
        let area = piece.bounds.intersect(bin);
        let outline = (!area.is_empty()).then(|| self.outline(&piece.shape, settings));
        outline.flatten().is_some_and(|outline| {
            let mut any = false;
            raster_tiles(
                &outline,
                area,
                |_, _| true,
                |_, _, _, tile| {
                    any |= tile.touched != 0;
                },
            );
            any
        })
    }
}

/// A box of nothing.
const NOWHERE: PixelRect = PixelRect {
    x0: 0,
    y0: 0,
    x1: 0,
    y1: 0,
};

fn joined(a: PixelRect, b: PixelRect) -> PixelRect {
    PixelRect {
        x0: a.x0.min(b.x0),
        y0: a.y0.min(b.y0),
        x1: a.x1.max(b.x1),
        y1: a.y1.max(b.y1),
    }
}

/// By how much a sample of a triangle may seem nearer than its nearest corner: its depth is rounded
/// on the way from a corner of the triangle to that of the cell, and from there to the sample.
#[allow(clippy::cast_precision_loss, reason = "a bound, with room to spare")]
fn rounding(plane: &DepthPlane, corners: [Vertex; 3]) -> f32 {
    const UNIT: f32 = 1.0 / 4_194_304.0;
    let from = plane.origin;
    let far = |v: &Vertex| v.x.abs_diff(from[0]).max(v.y.abs_diff(from[1]));
    let extent = corners.iter().map(far).max().unwrap_or(0) as f32 + 2048.0;
    let steepness = plane.slope[0].abs() + plane.slope[1].abs();
    (steepness * extent + 1.0) * UNIT
}
