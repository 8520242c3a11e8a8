//! State of the current grid: its triangles in the picture, and its visibility.

use super::depth::DepthBuffer;
use quadrille_base::math::fit;
use quadrille_base::raster::geometry::{PixelRect, PrimitiveShape, Vertex};
use quadrille_base::raster::sample_depth::DepthPlane;
use quadrille_base::raster::sampled::SampledPolygon;
use quadrille_geometry::camera::MeshCamera;
use quadrille_geometry::grid::Grid;
use quadrille_machine::Primitive;
use quadrille_mesh::frame::FrameSettings;
use quadrille_mesh::project::{Piece, ProjectedGrid, touched_quads};

#[derive(Debug, Clone, Copy, Default)]
#[allow(clippy::struct_excessive_bools, reason = "independent properties")]
pub(super) struct MaterialFlags {
    pub(super) draws_backs: bool,
    pub(super) has_effects: bool,
    pub(super) is_tested: bool,
    pub(super) is_blended: bool,
}

#[derive(Debug, Default)]
pub(super) struct CurrentGrid {
    pub(super) number: u32,
    pub(super) draw: u32,
    /// Index of the first triangle of the grid, over all grids with a triangle in the picture.
    pub(super) first_owner: u32,
    pub(super) flags: MaterialFlags,
    pub(super) tested: Option<Grid>,
    pub(super) corners: Vec<[u32; 3]>,
    /// Projected triangles of the grid. No sample of a piece is nearer than [`Piece::nearest`].
    pub(super) pieces: Vec<Piece>,
    pub(super) hidden_bins: Vec<usize>,
    projected: ProjectedGrid,
    /// Number of triangles of this and all earlier grids with a triangle in the picture.
    owners: u32,
}

/// Result of the visibility test of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GridVisibility {
    /// No triangle with a drawn side lies in the picture.
    Outside,
    /// Earlier grids hide the whole grid.
    Hidden,
    /// A part of the grid is visible in at least one bin.
    Visible,
}

impl CurrentGrid {
    pub(super) fn take(
        &mut self,
        view: &MeshCamera,
        depths: &DepthBuffer,
        draw: u32,
        flags: MaterialFlags,
        grid: &Grid,
        out: &mut Vec<Primitive>,
    ) -> GridVisibility {
        self.number = self.number.wrapping_add(1);
        self.draw = draw;
        self.flags = flags;
        self.tested = flags.is_tested.then(|| grid.clone());
        self.first_owner = self.owners;
        let triangles = (0..grid.topology.triangles.len()).map(fit::<u16>);
        self.corners.clear();
        self.corners.extend(triangles.map(|t| grid.corner_ids(t)));
        self.projected.project(view, grid);
        let first = out.len();
        self.pieces.clear();
        let (picture, pattern) = (depths.settings.shading_area(), depths.settings.pattern);
        let backs = flags.draws_backs;
        let bounds = self.projected.pieces(view, grid, picture, pattern, backs, |mut piece, _| {
            out.push(Primitive {
                primitive: fit::<u32>(self.pieces.len()),
                shape: PrimitiveShape::Triangle(piece.corners),
                bounds: piece.bounds,
            });
            piece.nearest += rounding(&piece.plane, piece.corners);
            self.pieces.push(piece);
        });
        let Some(bounds) = bounds else {
            out.truncate(first);
            return GridVisibility::Outside;
        };
        self.owners = self.owners.saturating_add(fit::<u32>(grid.topology.triangles.len()));
        if self.is_visible(depths, bounds, &out[first..]) {
            return GridVisibility::Visible;
        }
        out.truncate(first);
        GridVisibility::Hidden
    }

    #[inline]
    pub(super) fn outline(
        &self,
        shape: &PrimitiveShape,
        settings: &FrameSettings,
    ) -> Option<SampledPolygon> {
        let PrimitiveShape::Triangle(corners) = *shape else { return None };
        let outline = SampledPolygon::triangle(corners, settings.pattern, settings.level);
        outline.filter(|o| o.is_front() || self.flags.draws_backs)
    }

    /// Whether the grid is visible in any bin that contains quads of it. Records the bins that hide it.
    fn is_visible(
        &mut self,
        depths: &DepthBuffer,
        bounds: PixelRect,
        pieces: &[Primitive],
    ) -> bool {
        let settings = &depths.settings;
        self.hidden_bins.clear();
        let mut is_visible = false;
        for bin in settings.bins_in(bounds) {
            let rect = settings.bin_rect(settings.bin_corner(bin));
            if depths.bins[bin].hides(bounds, self.projected.nearest) {
                self.hidden_bins.push(bin);
            } else {
                is_visible = is_visible || pieces.iter().any(|p| self.touches(p, rect, settings));
            }
        }
        is_visible
    }

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

/// Error bound of a sample's depth relative to the nearest corner. Depth is rounded twice: from a corner of the
/// triangle to the corner of the shading pixel, and from there to the sample.
fn rounding(plane: &DepthPlane, corners: [Vertex; 3]) -> f32 {
    const UNIT: f32 = 1.0 / 4_194_304.0;
    let from = plane.origin;
    let far = |v: &Vertex| v.x.abs_diff(from[0]).max(v.y.abs_diff(from[1]));
    let extent = corners.iter().map(far).max().unwrap_or(0) as f32 + 2048.0;
    let steepness = plane.slope[0].abs() + plane.slope[1].abs();
    (steepness * extent + 1.0) * UNIT
}
