//! Tessellation of a patch: measurement of its edges, splitting, and evaluation of its grids.

use std::ops::ControlFlow;

use super::edge::{Measure, ONE, PatchEdge, PatchPoint};
use super::order::GridOrder;
use super::topology::{Topologies, lattice};
use crate::camera::MeshCamera;
use crate::grid::{Grid, GridVertex, MAX_GRID_TRIANGLES};
use crate::surface::{CORNERS, Surface, SurfacePoint, along_side};
use quadrille_base::math::whole;
use quadrille_base::task::Task;

/// Limit on the segments of a grid's side, as in Direct3D 11's tessellator. A grid also has at most the
/// 512 triangles of a mask (QFM, section 3): 16 by 16 quads, or 64 by 4.
pub const MAX_EDGE_FACTOR: u32 = 64;
/// Number of segments in which an edge is measured (assumed; the paper on DiagSplit states none).
const MEASURED_SEGMENTS: u16 = 4;
/// Width of the band around the picture in which edges are measured, in sizes of the picture (assumed). Limits the
/// division of nearby geometry outside the picture.
const GUARD_BAND: f64 = 0.5;
/// Split depth from which on the segments of cuts are limited (assumed). Seams of height maps reach it.
const FREE_DEPTH: u32 = 24;
/// Splits of a patch after which the segments of cuts are limited, which bounds the work (assumed): a hundred times the
/// splits for a picture full of triangles of half a pixel.
const FREE_SPLITS: u32 = 1 << 20;
/// Depth at which both parameters, of 24 bits, have been halved as often as possible.
const LAST_DEPTH: u32 = 48;

/// Settings of the tessellator: limits on triangles and grids, and the order of triangles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TessellateSettings {
    /// Maximum area in pixels of triangles that face the viewer, 0.1 to 1000.
    pub triangle_area_px: f64,
    /// Maximum number of segments per side of a grid, 2 to [`MAX_EDGE_FACTOR`].
    pub max_edge_factor: u32,
    /// Order of the triangles inside a grid.
    pub grid_order: GridOrder,
    /// Seed of a random order.
    pub seed: u64,
}

impl Default for TessellateSettings {
    /// Settings for micropolygons of half a pixel (QFM, section 4.1.1).
    fn default() -> Self {
        Self {
            triangle_area_px: 0.5,
            max_edge_factor: MAX_EDGE_FACTOR,
            grid_order: GridOrder::Rows,
            seed: 1,
        }
    }
}

pub(super) struct Splitter<'a> {
    pub(super) surface: &'a Surface,
    pub(super) patch: usize,
    pub(super) view: &'a MeshCamera,
    pub(super) settings: &'a TessellateSettings,
    pub(super) topologies: &'a Topologies,
}

/// Sides of a quadrilateral part of a patch, counter-clockwise.
type SubPatch = [PatchEdge; 4];

/// Rule for the number of segments of a cut. Only the two halves of a part share the cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    /// The number of segments follows from the measured length.
    Free,
    /// At most the segments of a side of a grid, spaced evenly, so that the cut need not be split again.
    Even,
    /// At most as many segments as the adjacent sides, spaced evenly. The parts then get smaller even if the surface jumps
    /// between neighbouring parameters, where every cut across the jump has the same length.
    NoFiner,
}

impl Cut {
    fn of(depth: u32, splits: u32) -> Self {
        if depth >= LAST_DEPTH {
            Self::NoFiner
        } else if depth >= FREE_DEPTH || splits >= FREE_SPLITS {
            Self::Even
        } else {
            Self::Free
        }
    }
}

enum Site {
    Inside,
    /// Number of a side, and the parameter along it.
    Side(usize, i32),
    Corner(usize),
}

fn site([u, v]: PatchPoint) -> Site {
    match (u, v) {
        (0, 0) => Site::Corner(0),
        (ONE, 0) => Site::Corner(1),
        (ONE, ONE) => Site::Corner(2),
        (0, ONE) => Site::Corner(3),
        (u, 0) => Site::Side(0, u),
        (ONE, v) => Site::Side(1, v),
        (u, ONE) => Site::Side(2, ONE - u),
        (0, v) => Site::Side(3, ONE - v),
        _ => Site::Inside,
    }
}

fn real(t: i32) -> f32 {
    t as f32 / ONE as f32
}

impl Splitter<'_> {
    pub(super) fn run(
        &self,
        task: &Task,
        visit: &mut dyn FnMut(Grid) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut waiting = vec![(std::array::from_fn(|side| self.side(side)), 0)];
        let mut splits = 0;
        while let Some((part, depth)) = waiting.pop() {
            // Checked here as well as in `visit`, since many parts in a row may be outside the view and have no grid.
            task.flow()?;
            if let Some(first) = self.split_side(&part) {
                let [one, other] = self.split(&part, first, Cut::of(depth, splits));
                splits += 1;
                waiting.extend([other, one].map(|half| (half, depth + 1)));
            } else if let Some(grid) = self.grid(&part) {
                visit(grid)?;
            }
        }
        ControlFlow::Continue(())
    }

    fn side(&self, side: usize) -> PatchEdge {
        let corner = |c: usize| CORNERS[c % 4].map(|t| if t > 0.5 { ONE } else { 0 });
        let ends = [corner(side), corner(side + 1)];
        let owner = self.surface.side_owner(self.patch, side);
        if owner.is_point {
            return PatchEdge::point(ends);
        }
        if owner.is_reversed {
            let ends = [ends[1], ends[0]];
            PatchEdge::new(ends, self.measure(ends)).reversed()
        } else {
            PatchEdge::new(ends, self.measure(ends))
        }
    }

    fn measure(&self, [a, b]: [PatchPoint; 2]) -> Measure {
        let target = (2.0 * self.settings.triangle_area_px).sqrt();
        let n = i64::from(MEASURED_SEGMENTS);
        let between = |i: i64| -> PatchPoint {
            std::array::from_fn(|axis| {
                let (a, b) = (i64::from(a[axis]), i64::from(b[axis]));
                // The distance from `a` is rounded, so that mirrored edges have mirrored points.
                i32::try_from(a + (b - a) * i / n).unwrap_or(0)
            })
        };
        let mut last = self.on_screen(a);
        let (mut sum, mut longest) = (0.0, 0.0_f64);
        for i in 1..=n {
            let next = self.on_screen(between(i));
            // Positions behind the viewer have no meaning, and neighbours there may be far apart.
            let is_seen = next.1 || last.1;
            let [x, y] = [0, 1].map(|axis| next.0[axis] - last.0[axis]);
            let length = if is_seen { x.hypot(y) } else { 0.0 };
            sum += length;
            longest = longest.max(length);
            last = next;
        }
        let factor = |length: f64| whole::<u32>((length / target).ceil());
        Measure { sum: factor(sum), longest: factor(longest * f64::from(MEASURED_SEGMENTS)) }
    }

    /// Screen position in pixels, clamped to the guard band, and whether the point lies beyond the near plane.
    fn on_screen(&self, at: PatchPoint) -> ([f64; 2], bool) {
        let seen = self.view.project(self.position(at));
        let z = seen.z.max(self.view.near);
        let camera = &self.view.camera;
        let size = [camera.width, camera.height].map(f64::from);
        let mut position = [seen.xz / z, seen.yz / z];
        for (t, size) in position.iter_mut().zip(size) {
            *t = t.clamp(-GUARD_BAND * size, size + GUARD_BAND * size);
        }
        (position, seen.z > self.view.near)
    }

    /// Patch that owns a point, the parameters there, and whether the surface is smooth; `None` if this patch owns it.
    fn owner(&self, at: PatchPoint) -> Option<(usize, [f32; 2], bool)> {
        let (patch, uv, is_smooth) = match site(at) {
            Site::Inside => return None,
            Site::Corner(corner) => self.corner_owner(corner),
            Site::Side(side, t) => {
                let owner = self.surface.side_owner(self.patch, side);
                if owner.is_point {
                    let (patch, uv, _) = self.corner_owner(side);
                    (patch, uv, false)
                } else {
                    let t = if owner.is_reversed { ONE - t } else { t };
                    (owner.patch as usize, along_side(owner.part, real(t)), owner.is_smooth)
                }
            }
        };
        let is_here = patch == self.patch && uv == at.map(real);
        (!is_here).then_some((patch, uv, is_smooth))
    }

    fn corner_owner(&self, corner: usize) -> (usize, [f32; 2], bool) {
        let owner = self.surface.corner_owner(self.patch, corner);
        (owner.patch as usize, CORNERS[usize::from(owner.part)], owner.is_smooth)
    }

    fn position(&self, at: PatchPoint) -> [f32; 3] {
        let (patch, [u, v], _) = self.owner(at).unwrap_or((self.patch, at.map(real), true));
        self.surface.position(patch, u, v)
    }

    fn vertex(&self, at: PatchPoint) -> GridVertex {
        let here = at.map(real);
        let own = |[u, v]: [f32; 2]| self.surface.point(self.patch, u, v);
        let SurfacePoint { position, normal } = match self.owner(at) {
            None => own(here),
            Some((patch, [u, v], true)) => self.surface.point(patch, u, v),
            Some((patch, [u, v], false)) => SurfacePoint {
                position: self.surface.position(patch, u, v),
                normal: own(here).normal,
            },
        };
        GridVertex { position, normal, uv: self.surface.uv(self.patch, here[0], here[1]) }
    }

    /// First of the two opposite sides to split; `None` if the part fits a grid.
    fn split_side(&self, part: &SubPatch) -> Option<usize> {
        let most = self.settings.max_edge_factor;
        let size = |first: usize| {
            let pair = [&part[first], &part[first + 2]];
            let too_long = |e: &&PatchEdge| e.is_uneven() || e.segments() > most;
            pair.iter().any(too_long).then(|| pair[0].size().max(pair[1].size()))
        };
        match (size(0), size(1)) {
            (None, None) => {
                // A quad of the lattice has at most two triangles.
                let [across, along] =
                    [0, 1].map(|first: usize| part[first].size().max(part[first + 2].size()));
                let is_full = 2 * across as usize * along as usize > MAX_GRID_TRIANGLES;
                is_full.then(|| usize::from(along > across))
            }
            (across, along) => Some(usize::from(along > across)),
        }
    }

    fn split(&self, part: &SubPatch, first: usize, cut: Cut) -> [SubPatch; 2] {
        let [low, right, high, left] = std::array::from_fn(|side| part[(side + first) % 4]);
        let measure = |ends: [PatchPoint; 2]| self.measure(ends);
        let is_point = |e: &PatchEdge| !e.is_uneven() && e.segments() == 0;
        // A side of one segment is split at the end that is not at a side of one point, since the cut would
        // otherwise coincide with the side beyond that point.
        let [low_left, low_right] = low.split(is_point(&left), measure);
        let [high_right, high_left] = high.split(is_point(&right), measure);
        let ends = [low_left.end(), high_right.end()];
        let mut measured = self.measure(ends);
        let most = match cut {
            Cut::Free => None,
            Cut::Even => Some(self.settings.max_edge_factor),
            Cut::NoFiner => Some(left.segments().max(right.segments())),
        };
        if let Some(most) = most {
            measured.sum = measured.sum.min(most);
            measured.longest = measured.sum;
        }
        let cut = PatchEdge::new(ends, measured);
        let halves =
            [[low_left, cut, high_left, left], [low_right, right, high_right, cut.reversed()]];
        halves.map(|half| std::array::from_fn(|side| half[(side + 4 - first) % 4]))
    }

    /// Grid of a part, unless it is empty or outside the view.
    fn grid(&self, part: &SubPatch) -> Option<Grid> {
        let factors = part.map(|edge| u8::try_from(edge.segments()).unwrap_or(u8::MAX));
        let topology = self.topologies.get(factors);
        if topology.triangles.is_empty() {
            return None;
        }
        let [columns, rows] = lattice(factors).map(i64::from);
        let rim: usize = factors.iter().copied().map(usize::from).sum();
        let inner = (columns - 1).max(0) * (rows - 1).max(0);
        let mut vertices = Vec::with_capacity(rim + usize::try_from(inner).unwrap_or(0));
        for edge in part {
            vertices.extend((0..edge.segments()).map(|i| self.vertex(edge.at(i))));
        }
        let corners = part.map(|edge| edge.start().map(i64::from));
        for y in 1..rows {
            for x in 1..columns {
                let at = std::array::from_fn(|axis| {
                    let c = |corner: usize| corners[corner][axis];
                    let low = c(0) * (columns - x) + c(1) * x;
                    let high = c(3) * (columns - x) + c(2) * x;
                    let mean = (low * (rows - y) + high * y) / (columns * rows);
                    i32::try_from(mean).unwrap_or(0)
                });
                vertices.push(self.vertex(at));
            }
        }
        // The view is tested after displacement, which may move the surface into or out of it.
        let misses = self.view.misses(vertices.iter().map(|vertex| vertex.position));
        (!misses).then(|| Grid {
            material: self.surface.material(self.patch),
            ids: vertices.iter().map(|v| vertex_id(v.position)).collect(),
            vertices,
            colours: Vec::new(),
            second_uvs: Vec::new(),
            topology,
        })
    }
}

/// Vertex id: a hash of the bits of the position. Ids may collide, so edges are matched by the ids of both ends.
fn vertex_id(position: [f32; 3]) -> u32 {
    // The finaliser of MurmurHash3 (Appleby), chained over the coordinates.
    position.iter().fold(0x9e37_79b9, |hash: u32, x| {
        let mut h = (hash ^ x.to_bits()).wrapping_mul(0x85eb_ca6b);
        h = (h ^ h >> 13).wrapping_mul(0xc2b2_ae35);
        (h ^ h >> 16).rotate_left(5).wrapping_add(0x27d4_eb2f)
    })
}
