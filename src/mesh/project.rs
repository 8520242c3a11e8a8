//! Projects the triangles of a grid (clipped, snapped to 1/256 px, with depth planes), and finds the quads that they touch.

use super::clip::clip;
use quadrille_base::math::{fit, narrow, whole};
use quadrille_base::raster::geometry::{PixelRect, SUBPIXEL_BITS, Vertex};
use quadrille_base::raster::outline::raster_tiles;
use quadrille_base::raster::sample_depth::DepthPlane;
use quadrille_base::raster::sampled::{SampledPolygon, SampledQuad, TileSamples};
use quadrille_base::raster::samples::SamplePattern;
use quadrille_geometry::camera::{HomogeneousPoint, MeshCamera};
use quadrille_geometry::grid::Grid;

/// Maximum distance in pixels of a vertex from the picture's corner: half of the edge functions' guard band.
const GUARD_PX: f64 = 1_048_576.0;
pub(super) const UNITS: f64 = 256.0;

/// A vertex of a grid in homogeneous picture coordinates.
#[derive(Debug, Clone, Copy)]
pub struct ProjectedVertex {
    point: HomogeneousPoint,
    /// Position in 1/256 px, and depth; `None` if the vertex is nearer than the near plane or outside the guard band.
    snapped: Option<(Vertex, f32)>,
}

impl ProjectedVertex {
    /// Depth of the vertex, or of the near plane if its triangles have to be clipped.
    #[inline]
    fn depth(&self) -> f32 {
        self.snapped.map_or(1.0, |(_, depth)| depth)
    }
}

/// Projects a vertex, and snaps it if its triangles need no clipping at this corner.
#[inline]
pub fn project(view: &MeshCamera, position: [f32; 3]) -> ProjectedVertex {
    let point = view.project(position);
    let guard = GUARD_PX * point.z;
    let is_inside = point.z >= view.near && point.xz.abs() <= guard && point.yz.abs() <= guard;
    ProjectedVertex {
        point,
        snapped: is_inside.then(|| (snap(&point), narrow(depth(view, &point)))),
    }
}

#[inline]
fn snap(point: &HomogeneousPoint) -> Vertex {
    let scale = UNITS / point.z;
    Vertex { x: whole((point.xz * scale).round()), y: whole((point.yz * scale).round()) }
}

#[inline]
fn depth(view: &MeshCamera, point: &HomogeneousPoint) -> f64 {
    view.near / point.z
}

/// Visits the pieces of a triangle on the picture: the triangle itself, or a fan that fills the part
/// beyond the near plane and inside the guard band. The pieces of a fan share a depth plane.
pub fn triangles(
    view: &MeshCamera,
    corners: [&ProjectedVertex; 3],
    mut visit: impl FnMut([Vertex; 3], DepthPlane),
) {
    if let [Some(a), Some(b), Some(c)] = corners.map(|c| c.snapped) {
        let triangle = [a.0, b.0, c.0];
        let points = [a, b, c].map(|(vertex, depth)| at_depth(vertex, depth.into()));
        if let Some(plane) = depth_plane(points, twice_area(triangle), a.0) {
            visit(triangle, plane);
        }
        return;
    }
    let clipped = clip(corners.map(|c| c.point), view.near, GUARD_PX);
    let snapped: Vec<_> = clipped.iter().map(snap).collect();
    // The piece with the largest area gives the most accurate plane.
    let fans = || (2..snapped.len()).map(|k| [0, k - 1, k]);
    let vertices = |fan: [usize; 3]| fan.map(|k| snapped[k]);
    let Some(largest) = fans().max_by_key(|fan| area(vertices(*fan)).abs()) else { return };
    if let Some(plane) = cut_plane(view, largest.map(|k| clipped[k]), vertices(largest)) {
        fans().for_each(|fan| visit(vertices(fan), plane));
    }
}

/// Depth plane of a triangle that was cut out of a larger one and then snapped to `vertices`.
///
/// The corners may lie far outside the picture, with much greater depths, where rounding of depths and positions would hide
/// the difference between two surfaces on the picture. The plane therefore starts at a point on the picture and goes
/// through the corners before snapping, except for slivers, whose corners snapping moves by up to their thickness.
fn cut_plane(
    view: &MeshCamera,
    corners: [HomogeneousPoint; 3],
    vertices: [Vertex; 3],
) -> Option<DepthPlane> {
    let exact = corners.map(|point| {
        let scale = UNITS / point.z;
        ([point.xz * scale, point.yz * scale], depth(view, &point))
    });
    let [a, b, c] = exact.map(|(position, _)| position);
    let sides = [[a, b], [b, c], [c, a]].map(|[p, q]| f64::hypot(q[0] - p[0], q[1] - p[1]));
    let longest = sides.into_iter().fold(0.0, f64::max);
    let exact_area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
    let origin = nearest_on_picture(view, vertices[0]);
    if exact_area.abs() >= UNITS * longest {
        return depth_plane(exact, exact_area, origin);
    }
    depth_plane([0, 1, 2].map(|k| at_depth(vertices[k], exact[k].1)), twice_area(vertices), origin)
}

#[inline]
fn at_depth(vertex: Vertex, depth: f64) -> ([f64; 2], f64) {
    ([vertex.x.into(), vertex.y.into()], depth)
}

#[inline]
fn twice_area(triangle: [Vertex; 3]) -> f64 {
    area(triangle) as f64
}

fn nearest_on_picture(view: &MeshCamera, vertex: Vertex) -> Vertex {
    let inside = |v: i32, side: u32| {
        v.clamp(0, i32::try_from(i64::from(side) << SUBPIXEL_BITS).unwrap_or(i32::MAX))
    };
    Vertex { x: inside(vertex.x, view.camera.width), y: inside(vertex.y, view.camera.height) }
}

/// Twice the area of a triangle in squared 1/256 px, positive if clockwise with y down.
fn area([a, b, c]: [Vertex; 3]) -> i64 {
    i64::from(b.x - a.x) * i64::from(c.y - a.y) - i64::from(c.x - a.x) * i64::from(b.y - a.y)
}

/// Plane through three points in 1/256 px with depths, starting at `origin`; `area` is twice their area. `None` if it is 0.
#[inline]
fn depth_plane([a, b, c]: [([f64; 2], f64); 3], area: f64, origin: Vertex) -> Option<DepthPlane> {
    if area == 0.0 {
        return None;
    }
    let to = |p: [f64; 2]| [p[0] - a.0[0], p[1] - a.0[1]];
    let ([x1, y1], [x2, y2]) = (to(b.0), to(c.0));
    let (d1, d2) = (b.1 - a.1, c.1 - a.1);
    let inverse = 1.0 / area;
    let slope = [(d1 * y2 - d2 * y1) * inverse, (d2 * x1 - d1 * x2) * inverse];
    let [x, y] = to(at_depth(origin, 0.0).0);
    Some(DepthPlane {
        origin: [origin.x, origin.y],
        depth: narrow(a.1 + slope[0] * x + slope[1] * y),
        slope: slope.map(narrow),
    })
}

/// A triangle of a grid on the picture, or a piece of one that was clipped.
#[derive(Debug, Clone, Copy)]
pub struct Piece {
    /// Index of the triangle in its grid.
    pub triangle: u16,
    /// Vertices in the order of the mesh.
    pub corners: [Vertex; 3],
    /// Depth as a linear function of the position on the picture.
    pub plane: DepthPlane,
    /// Bounds in shading pixels, clipped to the picture.
    pub bounds: PixelRect,
    /// Whether the piece faces the viewer; `None` if its area is zero.
    facing: Option<bool>,
    /// Depth of the nearest corner of the triangle.
    pub nearest: f32,
}

impl Piece {
    #[inline]
    pub(super) fn twice_area(&self) -> u64 {
        area(self.corners).unsigned_abs()
    }

    /// Whether the front of the triangle faces the camera.
    pub fn is_front(&self) -> bool {
        self.facing == Some(true)
    }

    #[inline]
    fn is_drawn(&self, draws_backs: bool) -> bool {
        !self.bounds.is_empty() && self.facing.is_some_and(|front| front || draws_backs)
    }
}

/// Projected vertices of a grid, reused from grid to grid.
#[derive(Debug, Default)]
pub struct ProjectedGrid {
    vertices: Vec<ProjectedVertex>,
    /// Depth of the nearest vertex (1 at the near plane, 0 at infinity).
    pub nearest: f32,
}

impl ProjectedGrid {
    /// Projects a grid in place of the previous one.
    pub fn project(&mut self, view: &MeshCamera, grid: &Grid) {
        let vertices = grid.vertices.iter().map(|v| project(view, v.position));
        self.vertices.clear();
        self.vertices.extend(vertices);
        self.nearest = self.vertices.iter().map(ProjectedVertex::depth).fold(0.0, f32::max);
    }

    /// Visits the pieces of all triangles, in order, with whether each is drawn; `grid` must be the one projected last.
    /// Returns the bounds of all drawn pieces.
    #[inline]
    pub fn pieces(
        &self,
        view: &MeshCamera,
        grid: &Grid,
        picture: PixelRect,
        pattern: &'static SamplePattern,
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

/// Visits the quads that a triangle touches inside `area`, raster tile by raster tile, with their column and row in quads.
#[inline]
pub fn touched_quads(
    outline: &SampledPolygon,
    area: PixelRect,
    mut visit: impl FnMut([u16; 2], SampledQuad),
) {
    raster_tiles(outline, area, &mut |[column, row]: [u32; 2],
                                      quarter: u8,
                                      _mask: u64,
                                      tile: &TileSamples| {
        let x = column * 8 + u32::from(quarter & 1) * 4;
        let y = row * 8 + u32::from(quarter >> 1) * 4;
        let mut left = tile.touched;
        while left != 0 {
            let at = left.trailing_zeros();
            left &= left - 1;
            visit([fit(x + (at & 3)), fit(y + (at >> 2))], tile.quads[at as usize]);
        }
    });
}
