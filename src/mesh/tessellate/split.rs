//! From a patch to grids: measuring, splitting, evaluating.

use super::edge::{Measure, ONE, PatchEdge, PatchPoint};
use super::topology::{Topologies, lattice};
use crate::mesh::camera::MeshCamera;
use crate::mesh::grid::{Grid, GridVertex, MAX_GRID_TRIANGLES};
use crate::mesh::surface::{CORNERS, Surface, SurfacePoint, along_side};

/// Most segments of a grid's side, as in Direct3D 11's tessellator. A grid is further held to the
/// 512 triangles of a mask (QFM, section 3): 16 by 16 quads, or 64 by 4.
pub const MAX_EDGE_FACTOR: u32 = 64;
/// Segments in which an edge is measured. An assumption: DiagSplit's paper leaves the number open.
const MEASURED_SEGMENTS: u16 = 4;
/// How far outside the picture edges still count, in pictures on either side. An assumption: keeps
/// what passes the viewer closely from being cut finely where nobody sees it.
const GUARD_BAND: f64 = 0.5;
/// Splits on the way to a sub-patch after which its cuts take no more than a grid's segments. Only
/// jumps that no splitting smooths need more: seams of a height map. An assumption.
const FREE_DEPTH: u32 = 24;
/// Splits of a patch after which all further cuts are held likewise, so that work is bounded. An
/// assumption: a hundred times what fills a picture with triangles of half a pixel.
const FREE_SPLITS: u32 = 1 << 20;

/// How finely a surface is tessellated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TessellateSettings {
    /// Greatest area of triangles that face the viewer, in pixels, within
    /// `AREA_RANGE_PX`.
    pub triangle_area_px: f64,
    /// Most segments of a grid's side, 2 to [`MAX_EDGE_FACTOR`].
    pub max_edge_factor: u32,
}

impl Default for TessellateSettings {
    /// Micropolygons of half a pixel (QFM, section 4.1.1).
    fn default() -> Self {
        Self {
            triangle_area_px: 0.5,
            max_edge_factor: MAX_EDGE_FACTOR,
        }
    }
}

/// One patch and all that its tessellation depends on.
pub(super) struct Splitter<'a> {
    pub(super) surface: &'a Surface,
    pub(super) patch: usize,
    pub(super) view: &'a MeshCamera,
    pub(super) settings: &'a TessellateSettings,
    pub(super) topologies: &'a Topologies,
}

/// A quadrilateral part of a patch: its sides, counter-clockwise.
type SubPatch = [PatchEdge; 4];

enum Site {
    Inside,
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

/// A fixed-point parameter as the surface takes it; exact.
fn real(t: i32) -> f32 {
    t as f32 / ONE as f32
}

impl Splitter<'_> {
    pub(super) fn run(&self, out: &mut Vec<Grid>) {
        let sides: SubPatch = std::array::from_fn(|side| self.side(side));
        let mut waiting = vec![(sides, 0)];
        let mut splits = 0;
        while let Some((part, depth)) = waiting.pop() {
            if let Some(first) = self.split_side(&part) {
                let is_free = depth < FREE_DEPTH && splits < FREE_SPLITS;
                splits += 1;
                let [one, other] = self.split(&part, first, is_free);
                waiting.extend([other, one].map(|half| (half, depth + 1)));
            } else {
                out.extend(self.grid(&part));
            }
        }
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

    /// The length on the screen of the edge between two points.
    fn measure(&self, [a, b]: [PatchPoint; 2]) -> Measure {
        let target = (2.0 * self.settings.triangle_area_px).sqrt();
        let n = i64::from(MEASURED_SEGMENTS);
        let between = |i: i64| -> PatchPoint {
            std::array::from_fn(|axis| {
                let (a, b) = (i64::from(a[axis]), i64::from(b[axis]));
                // The same point from both ends: the distance from `a` is rounded, not the place.
                i32::try_from(a + (b - a) * i / n).unwrap_or(0)
            })
        };
        let mut last = self.on_screen(a);
        let (mut sum, mut longest) = (0.0, 0.0_f64);
        for i in 1..=n {
            let next = self.on_screen(between(i));
            // Behind the viewer places mean nothing, and neighbours may lie far apart.
            let is_seen = next.1 || last.1;
            let [x, y] = [0, 1].map(|axis| next.0[axis] - last.0[axis]);
            let length = if is_seen { x.hypot(y) } else { 0.0 };
            sum += length;
            longest = longest.max(length);
            last = next;
        }
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and the guard band bounds it"
        )]
        let factor = |length: f64| (length / target).ceil() as u32;
        Measure {
            sum: factor(sum),
            longest: factor(longest * f64::from(MEASURED_SEGMENTS)),
        }
    }

    /// Where a point is seen, held within the guard band, in pixels, and whether it lies beyond the
    /// near plane.
    fn on_screen(&self, at: PatchPoint) -> ([f64; 2], bool) {
        let seen = self.view.see(self.position(at));
        let z = seen.z.max(self.view.near);
        let place = [seen.xz / z, seen.yz / z];
        let camera = &self.view.camera;
        let size = [camera.width, camera.height].map(f64::from);
        let held = [0, 1].map(|axis| {
            let band = GUARD_BAND * size[axis];
            place[axis].clamp(-band, size[axis] + band)
        });
        (held, seen.z > self.view.near)
    }

    /// The owner of a point and its parameters there; `None` where that is the patch itself.
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
                    let uv = along_side(owner.part, real(t));
                    (owner.patch as usize, uv, owner.is_smooth)
                }
            }
        };
        let is_here = patch == self.patch && uv == at.map(real);
        (!is_here).then_some((patch, uv, is_smooth))
    }

    fn corner_owner(&self, corner: usize) -> (usize, [f32; 2], bool) {
        let owner = self.surface.corner_owner(self.patch, corner);
        let uv = CORNERS[usize::from(owner.part)];
        (owner.patch as usize, uv, owner.is_smooth)
    }

    fn position(&self, at: PatchPoint) -> [f32; 3] {
        let here = at.map(real);
        let (patch, [u, v], _) = self.owner(at).unwrap_or((self.patch, here, true));
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
        GridVertex {
            position,
            normal,
            uv: self.surface.uv(self.patch, here[0], here[1]),
            id: name(position),
        }
    }

    /// The first of the two opposite sides to split a part at; `None` where it can be a grid.
    fn split_side(&self, part: &SubPatch) -> Option<usize> {
        let most = self.settings.max_edge_factor;
        let size = |first: usize| {
            let pair = [&part[first], &part[first + 2]];
            let too_long = |e: &&PatchEdge| e.is_uneven() || e.segments() > most;
            let is_needed = pair.iter().any(too_long);
            is_needed.then(|| pair[0].size().max(pair[1].size()))
        };
        match (size(0), size(1)) {
            (None, None) => {
                // At most two triangles per lattice cell.
                let [across, along] =
                    [0, 1].map(|first: usize| part[first].size().max(part[first + 2].size()));
                let is_full = 2 * across as usize * along as usize > MAX_GRID_TRIANGLES;
                is_full.then(|| usize::from(along > across))
            }
            (across, along) => Some(usize::from(along > across)),
        }
    }

    /// The two halves of a part, split from side `first` (0 or 1) to the one opposite. Only the
    /// halves share the cut, so that it may be divided in any way: as measured if `is_free`, else in
    /// no more segments than a grid takes, so that it need not be split again.
    fn split(&self, part: &SubPatch, first: usize, is_free: bool) -> [SubPatch; 2] {
        let turned: SubPatch = std::array::from_fn(|side| part[(side + first) % 4]);
        let [low, right, high, left] = turned;
        let measure = |ends: [PatchPoint; 2]| self.measure(ends);
        let is_point = |e: &PatchEdge| !e.is_uneven() && e.segments() == 0;
        // A side of one segment is split at an end: at the one where no other side is a point, or
        // the cut would run along the side beyond it.
        let [low_left, low_right] = low.split(is_point(&left), measure);
        let [high_right, high_left] = high.split(is_point(&right), measure);
        let ends = [low_left.end(), high_right.end()];
        let measured = self.measure(ends);
        let cut = PatchEdge::new(
            ends,
            if is_free {
                measured
            } else {
                self.held(measured)
            },
        );
        let halves = [
            [low_left, cut, high_left, left],
            [low_right, right, high_right, cut.reversed()],
        ];
        halves.map(|half| std::array::from_fn(|side| half[(side + 4 - first) % 4]))
    }

    /// A measure of no more segments than a grid takes, all of one length.
    fn held(&self, measure: Measure) -> Measure {
        let sum = measure.sum.min(self.settings.max_edge_factor);
        Measure { sum, longest: sum }
    }

    /// The grid of a part, unless it is empty or outside the view.
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
        let misses = self
            .view
            .misses(vertices.iter().map(|vertex| vertex.position));
        (!misses).then(|| Grid {
            material: self.surface.material(self.patch),
            vertices,
            topology,
        })
    }
}

/// A name for the vertex at a position: the same for the same bits. Others may share it by chance;
/// edges are matched by the names of both ends.
fn name(position: [f32; 3]) -> u32 {
    // The finaliser of MurmurHash3 (Appleby), chained over the coordinates.
    position.iter().fold(0x9e37_79b9, |hash: u32, x| {
        let mut h = (hash ^ x.to_bits()).wrapping_mul(0x85eb_ca6b);
        h = (h ^ h >> 13).wrapping_mul(0xc2b2_ae35);
        (h ^ h >> 16).rotate_left(5).wrapping_add(0x27d4_eb2f)
    })
}
