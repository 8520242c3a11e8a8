//! The current grid: its triangles on the picture, and whether earlier grids hide it.

use crate::mesh::frame::FrameSettings;
use crate::mesh::grid::Grid;
use crate::mesh::index::index32;
use crate::mesh::project::{ProjectedGrid, touched_quads};
use crate::mesh::view::View;
use crate::pipeline::packets::Primitive;
use crate::raster::geometry::{PixelRect, PrimitiveShape, Vertex};
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

/// A triangle of the current grid, or a piece of one that was clipped.
#[derive(Debug, Clone, Copy)]
pub(super) struct GridPiece {
    pub(super) triangle: u16,
    pub(super) is_front: bool,
    pub(super) plane: DepthPlane,
    /// No sample of it is nearer.
    pub(super) nearest: f32,
}

/// The grid whose triangles are under way.
#[derive(Debug, Default)]
pub(super) struct CurrentGrid {
    pub(super) number: u32,
    pub(super) draw: u32,
    /// Counted over all grids with a triangle in the picture: the first triangle's.
    pub(super) first_owner: u32,
    pub(super) flags: MaterialFlags,
    /// Names of the corners of each triangle.
    pub(super) corners: Vec<[u32; 3]>,
    pub(super) pieces: Vec<GridPiece>,
    /// Bins in which all of it is hidden.
    pub(super) hidden_bins: Vec<usize>,
    projected: ProjectedGrid,
    /// Triangles of this and all earlier grids with one in the picture.
    owners: u32,
}

/// What became of a grid that was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GridVisibility {
    /// No triangle of it lies in the picture and shows a side that is drawn.
    Outside,
    /// Earlier grids hide it.
    Hidden,
    /// It is drawn.
    Visible,
}

impl CurrentGrid {
    /// See [`MeshMachine::take`](super::machine::MeshMachine::take).
    pub(super) fn take(
        &mut self,
        scene: &Scene<'_>,
        (draw, flags): (u32, MaterialFlags),
        grid: &Grid,
        out: &mut Vec<Primitive>,
    ) -> GridVisibility {
        self.number = self.number.wrapping_add(1);
        self.draw = draw;
        self.flags = flags;
        self.first_owner = self.owners;
        let ids = |corner: u16| grid.vertices[usize::from(corner)].id;
        self.corners.clear();
        let corners = grid.topology.triangles.iter().map(|t| t.map(ids));
        self.corners.extend(corners);
        self.projected.project(scene.view, grid);
        let first = out.len();
        let Some(bounds) = self.assemble(scene, grid, out) else {
            out.truncate(first);
            return GridVisibility::Outside;
        };
        let triangles = u32::try_from(grid.topology.triangles.len()).unwrap_or(u32::MAX);
        self.owners = self.owners.saturating_add(triangles);
        if self.is_visible(scene, bounds, &out[first..]) {
            return GridVisibility::Visible;
        }
        out.truncate(first);
        GridVisibility::Hidden
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
        self.pieces.clear();
        let mut around: Option<PixelRect> = None;
        let target = (settings.cells(), settings.pattern);
        self.projected.pieces(scene.view, grid, target, |piece| {
            if piece.is_drawn(self.flags.draws_backs) {
                around = Some(around.map_or(piece.bounds, |a| a.around(piece.bounds)));
            }
            out.push(Primitive {
                primitive: index32(self.pieces.len()),
                shape: PrimitiveShape::Triangle(piece.corners),
                bounds: piece.bounds,
            });
            self.pieces.push(GridPiece {
                triangle: piece.triangle,
                is_front: piece.is_front(),
                plane: piece.plane,
                nearest: piece.nearest + rounding(&piece.plane, piece.corners),
            });
        });
        around
    }

    /// Whether a bin in which the grid has quads shows any of it; notes those that show none.
    ///
    /// A bin is what a [frame](crate::mesh::frame) tests at a time.
    fn is_visible(&mut self, scene: &Scene<'_>, bounds: PixelRect, pieces: &[Primitive]) -> bool {
        let settings = scene.settings;
        let nearest = self.projected.nearest;
        self.hidden_bins.clear();
        let mut is_visible = false;
        for bin in settings.bins_in(bounds) {
            let rect = settings.bin_rect(settings.bin_corner(bin));
            if scene.depths.hides(bin, bounds, nearest) {
                self.hidden_bins.push(bin);
            } else {
                is_visible = is_visible || pieces.iter().any(|p| self.touches(p, rect, settings));
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
            touched_quads(&outline, area, |_, _| any = true);
            any
        })
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
