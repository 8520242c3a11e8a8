//! What all units of the mesh path share: the grid at hand, the quads under way, the depth buffer,
//! memory.

use super::config::MeshConfig;
use super::depth::DepthBuffer;
use super::slab::Slab;
use crate::gpu::memory::Memory;
use crate::gpu::packets::{Primitive, Quad, RasterTile, Shape};
use crate::gpu::raster::outline::{Outline, Screen, raster_tiles};
use crate::gpu::raster::polygon::{PixelRect, Vertex};
use crate::gpu::raster::sampled::{SampledPolygon, TileSamples};
use crate::gpu::raster::samples::SamplePattern;
use crate::gpu::warp::ShaderIssue;
use crate::gpu::zrop::early::EarlyTests;
use crate::gpu::zrop::samples::{DepthFragment, DepthPlane};
use crate::gpu::zrop::surface::Failed;
use crate::gpu::zrop::zcache;
use crate::mesh::assemble::{PlacedVertex, place, triangles};
use crate::mesh::frame::settings::{Faces, FrameSettings};
use crate::mesh::grid::Grid;
use crate::mesh::merge::QuadFragment;
use crate::mesh::view::View;
use crate::scene::mesh::Material;

/// Bytes of a sample's depth: 32 bits of floating point.
const DEPTH_BYTES: u64 = 4;
/// Bytes of a sample's colour: RGBA of 8 bits each.
pub const COLOUR_BYTES: u64 = 4;
/// Cells of a quad.
const CELLS: u64 = 4;

/// A triangle of the grid at hand, or a piece of one that was clipped.
#[derive(Debug, Clone, Copy)]
struct Piece {
    triangle: u16,
    is_front: bool,
    plane: DepthPlane,
    /// No sample of it is nearer.
    nearest: f32,
}

/// The grid whose triangles are under way.
#[derive(Debug, Default)]
struct GridAtHand {
    number: u32,
    draw: u32,
    /// Counted over all grids with a triangle in the picture: the first triangle's.
    first_owner: u32,
    draws_backs: bool,
    is_barred: bool,
    corners: Vec<[u32; 3]>,
    pieces: Vec<Piece>,
    /// Bins in which all of it is hidden.
    hidden_bins: Vec<usize>,
}

/// A quad of a triangle between the raster and the merging unit.
#[derive(Debug, Clone, Copy)]
pub struct Fragment {
    /// The quad as merging units take it.
    pub quad: QuadFragment,
    /// What marks its samples in the depth buffer: its triangle's number in the frame.
    pub owner: u32,
    /// Number of its grid.
    pub grid: u32,
    /// Its draw.
    pub draw: u32,
    /// Whether its shader bars merging pixels.
    pub is_barred: bool,
    plane: DepthPlane,
}

/// The samples that one triangle gives to a quad for the shader.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) owner: u32,
    pub(super) coverage: u64,
    /// The quad's next part, or [`NONE`](super::slab::NONE).
    pub(super) next: u32,
    /// Where the quad is kept in the depth buffer.
    pub(super) index: u32,
    pub(super) draw: u32,
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

/// What a material means to the pipeline.
#[derive(Debug, Clone, Copy)]
struct MaterialFlags {
    two_sided: bool,
    is_barred: bool,
}

/// The shared state.
#[derive(Debug)]
pub struct MeshMachine {
    view: View,
    /// The settings.
    pub settings: FrameSettings,
    /// Depth and owner of every sample.
    pub depths: DepthBuffer,
    /// L2 and DRAM.
    pub memory: Memory,
    /// Issue slots that vertex warps take.
    pub shader_issue: ShaderIssue,
    /// Topology of the grid at hand.
    pub topology: std::sync::Arc<crate::mesh::grid::Topology>,
    /// Whether quads that a triangle only touches go on to the merging unit.
    pub passes_empties: bool,
    materials: Vec<MaterialFlags>,
    grid: GridAtHand,
    placed: Vec<PlacedVertex>,
    owners: u32,
    fragments: Slab<Fragment>,
    pub(super) parts: Slab<Part>,
}

impl MeshMachine {
    /// The state at the start of a frame.
    #[must_use]
    pub fn new(
        materials: &[Material],
        view: &View,
        settings: &FrameSettings,
        config: &MeshConfig,
    ) -> Self {
        let depths = DepthBuffer::new(settings.cells(), settings.pattern, settings.level);
        let flags = |m: &Material| MaterialFlags {
            two_sided: m.two_sided,
            is_barred: m.effects.any(),
        };
        let mut machine = Self {
            view: view.clone(),
            settings: *settings,
            depths,
            memory: Memory::new(&config.gpu.l2, &config.gpu.dram, 0),
            shader_issue: ShaderIssue::new(&config.gpu.cores),
            topology: std::sync::Arc::default(),
            passes_empties: false,
            materials: materials.iter().map(flags).collect(),
            grid: GridAtHand::default(),
            placed: Vec::new(),
            owners: 0,
            fragments: Slab::default(),
            parts: Slab::default(),
        };
        let lines = machine.colour_lines() + machine.depth_lines();
        machine.memory = Memory::new(&config.gpu.l2, &config.gpu.dram, lines);
        machine
    }

    /// Where the samples lie.
    #[must_use]
    #[inline]
    pub fn pattern(&self) -> &'static SamplePattern {
        self.settings.pattern
    }

    fn lines(&self, bytes_a_sample: u64) -> usize {
        let samples = self.depths.len() as u64 * CELLS * u64::from(self.pattern().count());
        let lines = (samples * bytes_a_sample).div_ceil(zcache::LINE_BYTES);
        usize::try_from(lines).unwrap_or(usize::MAX)
    }

    /// Lines of memory that the colours take; the depths lie behind them.
    #[must_use]
    pub fn colour_lines(&self) -> usize {
        self.lines(COLOUR_BYTES)
    }

    /// Lines of memory that the depths take.
    #[must_use]
    pub fn depth_lines(&self) -> usize {
        self.lines(DEPTH_BYTES)
    }

    /// Takes the next grid in place of the one at hand; appends its triangles to `out`, those that
    /// lie outside the picture or show the wrong side too, unless none of it is to be drawn.
    pub fn take(&mut self, draw: u32, grid: &Grid, out: &mut Vec<Primitive>) -> GridFate {
        let material = self.materials.get(grid.material as usize);
        let at_hand = &mut self.grid;
        at_hand.number = at_hand.number.wrapping_add(1);
        at_hand.draw = draw;
        at_hand.draws_backs =
            self.settings.faces == Faces::Both || material.is_some_and(|m| m.two_sided);
        at_hand.is_barred = material.is_some_and(|m| m.is_barred);
        at_hand.first_owner = self.owners;
        at_hand.corners.clear();
        let ids = |corner: u16| grid.vertices[usize::from(corner)].id;
        let corners = grid.topology.triangles.iter().map(|t| t.map(ids));
        at_hand.corners.extend(corners);
        self.topology = std::sync::Arc::clone(&grid.topology);
        self.placed.clear();
        let placed = grid.vertices.iter().map(|v| place(&self.view, v.position));
        self.placed.extend(placed);
        let first = out.len();
        let bounds = self.assemble(grid, out);
        let fate = match bounds {
            None => GridFate::Outside,
            Some(bounds) => {
                let triangles = u32::try_from(grid.topology.triangles.len()).unwrap_or(u32::MAX);
                self.owners = self.owners.saturating_add(triangles);
                if self.is_visible(bounds, &out[first..]) {
                    GridFate::Visible
                } else {
                    GridFate::Hidden
                }
            }
        };
        if fate != GridFate::Visible {
            out.truncate(first);
        }
        fate
    }

    /// Projects the triangles of a grid; the box around those that are drawn.
    fn assemble(&mut self, grid: &Grid, out: &mut Vec<Primitive>) -> Option<PixelRect> {
        let picture = self.settings.cells();
        let at_hand = &mut self.grid;
        at_hand.pieces.clear();
        let mut around: Option<PixelRect> = None;
        for (triangle, corners) in (0..).zip(&grid.topology.triangles) {
            let corners = corners.map(|c| &self.placed[usize::from(c)]);
            let nearest = corners.iter().map(|c| c.depth()).fold(0.0, f32::max);
            triangles(&self.view, corners, |corners, plane| {
                let outline =
                    SampledPolygon::triangle(corners, self.settings.pattern, self.settings.level);
                let is_front = outline.is_some_and(|o| o.is_front());
                let bounds = outline.map_or(NOWHERE, |o| o.bounds().intersect(picture));
                if !bounds.is_empty() && (is_front || at_hand.draws_backs) {
                    around = Some(around.map_or(bounds, |a| joined(a, bounds)));
                }
                out.push(Primitive {
                    splat: u32::try_from(at_hand.pieces.len()).unwrap_or(u32::MAX),
                    shape: Shape::Triangle(corners),
                    bounds,
                });
                at_hand.pieces.push(Piece {
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
    fn is_visible(&mut self, bounds: PixelRect, pieces: &[Primitive]) -> bool {
        let settings = self.settings;
        let nearest = self.placed.iter().map(PlacedVertex::depth);
        let nearest = nearest.fold(0.0, f32::max);
        self.grid.hidden_bins.clear();
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
                if self.depths.hides(bounds.intersect(bin), nearest) {
                    let across = settings.bin_grid()[0];
                    let [column, row] = [column, row].map(|v| v.unsigned_abs() as usize);
                    self.grid.hidden_bins.push(row * across + column);
                } else {
                    is_visible = is_visible || pieces.iter().any(|p| self.touches(p, bin));
                }
            }
        }
        is_visible
    }

    /// Whether a triangle has quads in a bin.
    fn touches(&self, piece: &Primitive, bin: PixelRect) -> bool {
        let area = piece.bounds.intersect(bin);
        let outline = (!area.is_empty()).then(|| self.outline(&piece.shape));
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

    /// The quad of a piece of the grid at hand at a place; returns its number.
    pub(super) fn fragment(
        &mut self,
        piece: u32,
        place: [u16; 2],
        coverage: u64,
        centres: u8,
    ) -> u32 {
        let grid = &self.grid;
        let piece = &grid.pieces[piece as usize];
        self.fragments.insert(Fragment {
            quad: QuadFragment {
                place,
                coverage,
                centres,
                is_front: piece.is_front,
                triangle: piece.triangle,
                ids: grid.corners[usize::from(piece.triangle)],
            },
            owner: grid.first_owner + u32::from(piece.triangle),
            grid: grid.number,
            draw: grid.draw,
            is_barred: grid.is_barred,
            plane: piece.plane,
        })
    }

    /// Takes a quad out that has come to the merging unit.
    #[must_use]
    #[inline]
    pub fn arrived(&mut self, number: u32) -> Fragment {
        let fragment = *self.fragments.get(number);
        self.fragments.remove(number);
        fragment
    }

    /// Quads between the raster and the merging unit, and parts of quads behind it.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.fragments.len() + self.parts.len()
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

impl Screen for MeshMachine {
    type Outline = SampledPolygon;

    /// `None` as well for a triangle that shows its back, where backs are not drawn.
    #[inline]
    fn outline(&self, shape: &Shape) -> Option<SampledPolygon> {
        let Shape::Triangle(corners) = *shape else {
            return None;
        };
        let outline = SampledPolygon::triangle(corners, self.settings.pattern, self.settings.level);
        outline.filter(|o| o.is_front() || self.grid.draws_backs)
    }

    #[inline]
    fn rect(&self) -> PixelRect {
        self.settings.cells()
    }

    #[inline]
    fn tiles_across(&self) -> u32 {
        self.depths.tiles_across()
    }

    /// Never where the test comes after shading, or where a quad without coverage is to go on: it
    /// may connect others.
    #[inline]
    fn hides(&self, tile: &RasterTile<TileSamples>) -> bool {
        let lacks_empties = || {
            let covered = tile.samples.quads.iter().filter(|q| q.coverage != 0);
            covered.count() == tile.samples.touched.count_ones() as usize
        };
        let nearest = self.grid.pieces[tile.splat as usize].nearest;
        self.settings.culls_quads()
            && self.depths.farthest(tile.tile, tile.quarter) >= nearest
            && (!self.passes_empties || lacks_empties())
    }
}

impl EarlyTests for MeshMachine {
    #[inline]
    fn bytes_per_quad(&self) -> u64 {
        CELLS * u64::from(self.settings.pattern.count()) * DEPTH_BYTES
    }

    #[inline]
    fn has_tests(&self) -> bool {
        true
    }

    #[inline]
    fn tests_write(&self) -> bool {
        true
    }

    #[inline]
    fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }

    /// Where culling is by grids alone, depths are written and all samples go on.
    fn test(&mut self, tile: u32, quad: &Quad) -> Failed {
        let pattern = self.settings.pattern;
        let fragment = self.fragments.get_mut(quad.splat);
        let place = fragment.quad.place;
        let hidden = &self.grid.hidden_bins;
        let mut passed = 0;
        if hidden.is_empty() || !hidden.contains(&self.settings.bin_of(place)) {
            let unit = pattern.cell_units() * 2;
            let as_tested = DepthFragment {
                corner: place.map(|q| i32::from(q) * unit),
                coverage: fragment.quad.coverage,
                plane: fragment.plane,
                owner: fragment.owner,
            };
            passed = self.depths.test(tile, quad.position, &as_tested);
        }
        if !self.settings.culls_quads() {
            return Failed::default();
        }
        fragment.quad.coverage = passed;
        if passed == 0 {
            self.fragments.remove(quad.splat);
        }
        Failed {
            stencil_failed: 0,
            depth_failed: quad.mask & !pattern.cells(passed),
        }
    }
}
