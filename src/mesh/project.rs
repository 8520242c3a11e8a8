//! Iterates over the triangles of a grid on the picture (projected, clipped, snapped to 1/256 px, with
//! depth planes), and over the quads of each triangle.

use super::camera::{HomogeneousPoint, MeshCamera};
use super::grid::Grid;
use crate::raster::geometry::{PixelRect, Vertex};
use crate::raster::outline::raster_tiles;
use crate::raster::sample_depth::DepthPlane;
use crate::raster::sampled::{SampledPolygon, SampledQuad, TileSamples};
use crate::raster::samples::SamplePattern;

/// Greatest distance of a vertex from the picture's corner, in pixels: half of the edge functions'
/// guard band.
const GUARD_PX: f64 = 1_048_576.0;
/// Subpixel units per pixel.
pub(super) const UNITS: f64 = 256.0;

/// A vertex of a grid, projected.
#[derive(Debug, Clone, Copy)]
pub struct ProjectedVertex {
    point: HomogeneousPoint,
    /// Position on the picture, in 1/256 px, and depth; `None` if its triangles have to be clipped.
    snapped: Option<(Vertex, f32)>,
}

impl ProjectedVertex {
    /// Its depth, or that of the near plane if its triangles have to be clipped.
    #[inline]
    fn depth(&self) -> f32 {
        self.snapped.map_or(1.0, |(_, depth)| depth)
    }
}

/// Projects a vertex.
#[inline]
pub fn project(view: &MeshCamera, position: [f32; 3]) -> ProjectedVertex {
    let point = view.project(position);
    let guard = GUARD_PX * point.z;
    let is_inside = point.z >= view.near && point.xz.abs() <= guard && point.yz.abs() <= guard;
    ProjectedVertex {
        point,
        snapped: is_inside.then(|| snap(view, &point)),
    }
}

/// Snapped position and depth of a point in front of the near plane and inside the guard band.
#[inline]
#[allow(
    clippy::cast_possible_truncation,
    reason = "inside the guard band; depths are f32"
)]
fn snap(view: &MeshCamera, point: &HomogeneousPoint) -> (Vertex, f32) {
    let scale = UNITS / point.z;
    let vertex = Vertex {
        x: (point.xz * scale).round() as i32,
        y: (point.yz * scale).round() as i32,
    };
    (vertex, (view.near / point.z) as f32)
}

/// Visits the pieces of a triangle on the picture: the triangle itself, or a fan that fills the part
/// in front of the near plane and inside the guard band. The pieces of a fan share a depth plane.
pub fn triangles(
    view: &MeshCamera,
    corners: [&ProjectedVertex; 3],
    mut visit: impl FnMut([Vertex; 3], DepthPlane),
) {
    if let [Some(a), Some(b), Some(c)] = corners.map(|c| c.snapped) {
        if let Some(plane) = depth_plane([a, b, c]) {
            visit([a.0, b.0, c.0], plane);
        }
        return;
    }
    let clipped = clip(view.near, corners.map(|c| c.point));
    let snapped: Vec<_> = clipped.iter().map(|point| snap(view, point)).collect();
    // The piece with the largest area gives the most accurate plane.
    let fans = || (2..snapped.len()).map(|k| [snapped[0], snapped[k - 1], snapped[k]]);
    let largest = fans().max_by_key(|f| area(f.map(|v| v.0)).abs());
    if let Some(plane) = largest.and_then(depth_plane) {
        fans().for_each(|fan| visit(fan.map(|v| v.0), plane));
    }
}

/// Twice the area of a triangle, positive if it is clockwise with y down.
fn area([a, b, c]: [Vertex; 3]) -> i64 {
    i64::from(b.x - a.x) * i64::from(c.y - a.y) - i64::from(c.x - a.x) * i64::from(b.y - a.y)
}

/// The plane through three positions with depths; `None` if they lie on a line.
#[inline]
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "areas and differences of at most 2^61 are rounded once; slopes are f32"
)]
fn depth_plane([a, b, c]: [(Vertex, f32); 3]) -> Option<DepthPlane> {
    let area = area([a.0, b.0, c.0]);
    if area == 0 {
        return None;
    }
    let to = |v: (Vertex, f32)| {
        [
            f64::from(v.0.x - a.0.x),
            f64::from(v.0.y - a.0.y),
            f64::from(v.1) - f64::from(a.1),
        ]
    };
    let ([x1, y1, d1], [x2, y2, d2]) = (to(b), to(c));
    let inverse = 1.0 / area as f64;
    Some(DepthPlane {
        origin: [a.0.x, a.0.y],
        depth: a.1,
        slope: [
            ((d1 * y2 - d2 * y1) * inverse) as f32,
            ((d2 * x1 - d1 * x2) * inverse) as f32,
        ],
    })
}

/// A triangle of a grid on the picture, or a piece of one that was clipped.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    /// The triangle in its grid.
    pub(crate) triangle: u16,
    pub(crate) corners: [Vertex; 3],
    pub(crate) plane: DepthPlane,
    /// Shading pixels of the picture that it may cover.
    pub(crate) bounds: PixelRect,
    /// Whether it faces the viewer; `None` if it has no area.
    facing: Option<bool>,
    /// Depth of the nearest corner of the triangle.
    pub(crate) nearest: f32,
}

impl Piece {
    /// Twice its area, in squared units of 1/256 px.
    #[inline]
    pub(super) fn twice_area(&self) -> u64 {
        area(self.corners).unsigned_abs()
    }

    pub(crate) fn is_front(&self) -> bool {
        self.facing == Some(true)
    }

    /// Whether it lies in the picture and shows a side that is drawn.
    #[inline]
    fn is_drawn(&self, draws_backs: bool) -> bool {
        !self.bounds.is_empty() && self.facing.is_some_and(|front| front || draws_backs)
    }
}

/// The vertices of a grid, projected.
#[derive(Debug, Default)]
pub(crate) struct ProjectedGrid {
    vertices: Vec<ProjectedVertex>,
    /// Depth of the nearest vertex.
    pub(crate) nearest: f32,
}

impl ProjectedGrid {
    /// Projects a grid in place of the previous one.
    pub(crate) fn project(&mut self, view: &MeshCamera, grid: &Grid) {
        let vertices = grid.vertices.iter().map(|v| project(view, v.position));
        self.vertices.clear();
        self.vertices.extend(vertices);
        let depths = self.vertices.iter().map(ProjectedVertex::depth);
        self.nearest = depths.fold(0.0, f32::max);
    }

    /// Visits the pieces of all triangles of `grid`, the one projected last, in order, and whether
    /// each is drawn; returns the bounds of those that are.
    #[inline]
    pub(crate) fn pieces(
        &self,
        view: &MeshCamera,
        grid: &Grid,
        (picture, pattern): (PixelRect, &'static SamplePattern),
        draws_backs: bool,
        mut visit: impl FnMut(Piece, bool),
    ) -> Option<PixelRect> {
        let mut bounds: Option<PixelRect> = None;
        for (triangle, corners) in (0..).zip(&grid.topology.triangles) {
            let corners = corners.map(|c| &self.vertices[usize::from(c)]);
            let nearest = corners.iter().map(|c| c.depth()).fold(0.0, f32::max);
            triangles(view, corners, |corners, plane| {
                let piece = Piece {
                    triangle,
                    corners,
                    plane,
                    bounds: SampledPolygon::bounds_of(corners, pattern).intersect(picture),
                    facing: SampledPolygon::facing(corners),
                    nearest,
                };
                let is_drawn = piece.is_drawn(draws_backs);
                if is_drawn {
                    bounds = Some(bounds.map_or(piece.bounds, |b| b.around(piece.bounds)));
                }
                visit(piece, is_drawn);
            });
        }
        bounds
    }
}

/// Visits the quads that a triangle touches inside `area`, raster tile by raster tile, with their
/// column and row in quads.
#[inline]
#[allow(
    clippy::cast_possible_truncation,
    reason = "pictures have at most 2^15 pixels per side"
)]
pub fn touched_quads(
    outline: &SampledPolygon,
    area: PixelRect,
    mut visit: impl FnMut([u16; 2], SampledQuad),
) {
    raster_tiles(
        outline,
        area,
        &mut |[column, row]: [u32; 2], quarter: u8, _mask: u64, tile: &TileSamples| {
            let x = column * 8 + u32::from(quarter & 1) * 4;
            let y = row * 8 + u32::from(quarter >> 1) * 4;
            let mut left = tile.touched;
            while left != 0 {
                let at = left.trailing_zeros();
                left &= left - 1;
                let position = [(x + (at & 3)) as u16, (y + (at >> 2)) as u16];
                visit(position, tile.quads[at as usize]);
            }
        },
    );
}

/// The part of a triangle in front of the near plane and inside the guard band, as a polygon
/// (Sutherland and Hodgman, in homogeneous coordinates); may be empty.
fn clip(near: f64, corners: [HomogeneousPoint; 3]) -> Vec<HomogeneousPoint> {
    let planes: [&dyn Fn(&HomogeneousPoint) -> f64; 5] = [
        &|p| p.z - near,
        &|p| GUARD_PX * p.z + p.xz,
        &|p| GUARD_PX * p.z - p.xz,
        &|p| GUARD_PX * p.z + p.yz,
        &|p| GUARD_PX * p.z - p.yz,
    ];
    let mut polygon = corners.to_vec();
    for inside in planes {
        let mut kept = Vec::with_capacity(polygon.len() + 1);
        for (k, to) in polygon.iter().enumerate() {
            let from = &polygon[(k + polygon.len() - 1) % polygon.len()];
            let (at_from, at_to) = (inside(from), inside(to));
            if (at_from >= 0.0) != (at_to >= 0.0) {
                // From the inner end, so that both triangles of an edge are cut at the same point.
                let (p, q, s) = if at_from >= 0.0 {
                    (from, to, at_from / (at_from - at_to))
                } else {
                    (to, from, at_to / (at_to - at_from))
                };
                let mix = |a: f64, b: f64| a + (b - a) * s;
                kept.push(HomogeneousPoint {
                    xz: mix(p.xz, q.xz),
                    yz: mix(p.yz, q.yz),
                    z: mix(p.z, q.z).max(near),
                });
            }
            if at_to >= 0.0 {
                kept.push(*to);
            }
        }
        polygon = kept;
    }
    polygon
}
