//! What all units of the mesh path share: the current grid, the quads under way, the depth buffer,
//! memory.

use std::ops::Range;
use std::sync::Arc;

use super::config::MeshConfig;
pub use super::current_grid::GridVisibility;
use super::current_grid::{CurrentGrid, MaterialFlags, Scene};
use super::depth::DepthBuffer;
use super::slab::{NONE, Slab};
use crate::gpu::raster::screen::Screen;
use crate::gpu::warp::issue::ShaderIssue;
use crate::gpu::zrop::early::EarlyTests;
use crate::gpu::zrop::framebuffer::Failed;
use crate::mesh::files::Material;
use crate::mesh::frame::FrameSettings;
use crate::mesh::grid::{Grid, Topology};
use crate::mesh::merge::QuadFragment;
use crate::mesh::view::View;
use crate::pipeline::memory::Memory;
use crate::pipeline::memory::line::LINE_BYTES;
use crate::pipeline::packets::{Primitive, Quad, RasterTile};
use crate::raster::geometry::PixelRect;
use crate::raster::geometry::PrimitiveShape;
use crate::raster::sample_depth::{DepthFragment, DepthPlane};
use crate::raster::sampled::{SampledPolygon, TileSamples};
use crate::raster::samples::SamplePattern;
use crate::raster::tiles::QUADS_PER_TILE;

/// Bytes of a sample's depth: 32 bits of floating point.
const DEPTH_BYTES: u64 = 4;
/// Bytes of a sample's colour: RGBA of 8 bits each.
pub const COLOUR_BYTES: u64 = 4;
/// Cells of a quad.
const CELLS: u64 = 4;

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
pub struct Part {
    /// What marks the samples in the depth buffer.
    pub owner: u32,
    /// The samples.
    pub coverage: u64,
    /// The quad's next part, if it has one.
    pub(super) next: u32,
    /// Where the quad is kept in the depth buffer.
    pub index: u32,
    /// Its draw.
    pub draw: u32,
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
    /// Topology of the current grid.
    pub topology: Arc<Topology>,
    /// Whether quads that a triangle only touches go on to the merging unit.
    pub passes_empties: bool,
    materials: Vec<MaterialFlags>,
    grid: CurrentGrid,
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
        let depths = DepthBuffer::new(settings);
        let flags = |m: &Material| MaterialFlags {
            draws_backs: settings.draws_backs(m),
            is_barred: m.effects.any(),
        };
        let mut machine = Self {
            view: view.clone(),
            settings: *settings,
            depths,
            memory: Memory::new(&config.gpu.l2, &config.gpu.dram, 0),
            shader_issue: ShaderIssue::new(
                config.gpu.cores.all_schedulers(),
                config.gpu.cores.issue_cycles,
            ),
            topology: Arc::default(),
            passes_empties: false,
            materials: materials.iter().map(flags).collect(),
            grid: CurrentGrid::default(),
            fragments: Slab::default(),
            parts: Slab::default(),
        };
        let lines = machine.depth_lines().end;
        machine.memory = Memory::new(&config.gpu.l2, &config.gpu.dram, lines);
        machine
    }

    /// Where the samples lie.
    #[must_use]
    #[inline]
    pub fn pattern(&self) -> &'static SamplePattern {
        self.settings.pattern
    }

    fn lines(&self, bytes_per_sample: u64) -> u64 {
        let samples = self.depths.quads() as u64 * CELLS * u64::from(self.pattern().count());
        (samples * bytes_per_sample).div_ceil(LINE_BYTES)
    }

    /// Lines of memory that the colours take.
    #[must_use]
    pub fn colour_lines(&self) -> Range<u64> {
        0..self.lines(COLOUR_BYTES)
    }

    /// Lines of memory that the depths take.
    #[must_use]
    pub fn depth_lines(&self) -> Range<u64> {
        let first = self.colour_lines().end;
        first..first + self.lines(DEPTH_BYTES)
    }

    /// Takes the next grid in place of the one at hand; appends its triangles to `out`, those that
    /// lie outside the picture or show the wrong side too, unless none of it is to be drawn.
    pub fn take(&mut self, draw: u32, grid: &Grid, out: &mut Vec<Primitive>) -> GridVisibility {
        self.topology = Arc::clone(&grid.topology);
        let material = self.materials.get(grid.material as usize);
        let flags = material.copied().unwrap_or_default();
        let scene = Scene {
            view: &self.view,
            settings: &self.settings,
            depths: &self.depths,
        };
        self.grid.take(&scene, (draw, flags), grid, out)
    }

    /// The quad of a piece of the current grid at a position; returns its number.
    pub fn fragment(&mut self, piece: u32, position: [u16; 2], coverage: u64, centres: u8) -> u32 {
        let grid = &self.grid;
        let piece = &grid.pieces[piece as usize];
        self.fragments.insert(Fragment {
            quad: QuadFragment {
                position,
                coverage,
                centres,
                is_front: piece.is_front,
                triangle: piece.triangle,
                ids: grid.corners[usize::from(piece.triangle)],
            },
            owner: grid.first_owner + u32::from(piece.triangle),
            grid: grid.number,
            draw: grid.draw,
            is_barred: grid.flags.is_barred,
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

    /// A quad between the raster and the merging unit.
    #[must_use]
    pub fn fragment_of(&self, quad: &Quad) -> &Fragment {
        self.fragments.get(quad.primitive)
    }

    /// A quad for the shader of one fragment alone, with what marks its samples and its draw.
    #[inline]
    pub fn alone(&mut self, (owner, draw): (u32, u32), fragment: &QuadFragment) -> Quad {
        let index = self.depths.index(fragment.position);
        let first = self.parts.insert(Part {
            owner,
            coverage: fragment.coverage,
            next: NONE,
            index,
            draw,
        });
        self.quad_of(first, index, fragment.coverage)
    }

    /// The quad for the shader with these parts, kept at a place of the depth buffer.
    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "64 quads a tile")]
    pub(super) fn quad_of(&self, first: u32, index: u32, coverage: u64) -> Quad {
        Quad {
            primitive: first,
            position: (index % QUADS_PER_TILE) as u8,
            mask: self.pattern().cells(coverage),
        }
    }

    /// The parts of a quad for the shader.
    #[must_use]
    pub fn parts_of(&self, quad: &Quad) -> Vec<Part> {
        let part = |number: u32| (number != NONE).then(|| *self.parts.get(number));
        std::iter::successors(part(quad.primitive), |p| part(p.next)).collect()
    }

    /// Quads between the raster and the merging unit, and parts of quads behind it.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.fragments.len() + self.parts.len()
    }
}

impl Screen for MeshMachine {
    type Outline = SampledPolygon;

    /// `None` as well for a triangle that shows its back, where backs are not drawn.
    #[inline]
    fn outline(&self, shape: &PrimitiveShape) -> Option<SampledPolygon> {
        self.grid.outline(shape, &self.settings)
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
        let nearest = self.grid.pieces[tile.primitive as usize].nearest;
        self.settings.culls_quads()
            && self.depths.hides_tile(tile.tile, tile.quarter, nearest)
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
    fn test(&mut self, _tile: u32, quad: &Quad) -> Failed {
        let pattern = self.settings.pattern;
        let fragment = self.fragments.get_mut(quad.primitive);
        let position = fragment.quad.position;
        let hidden = &self.grid.hidden_bins;
        let mut passed = 0;
        if hidden.is_empty() || !hidden.contains(&self.settings.bin_of(position)) {
            let unit = pattern.cell_units() * 2;
            let as_tested = DepthFragment {
                corner: position.map(|q| i32::from(q) * unit),
                coverage: fragment.quad.coverage,
                plane: fragment.plane,
                owner: fragment.owner,
            };
            passed = self.depths.test(position, &as_tested);
        }
        if !self.settings.culls_quads() {
            return Failed::default();
        }
        fragment.quad.coverage = passed;
        if passed == 0 {
            self.fragments.remove(quad.primitive);
        }
        Failed {
            stencil_failed: 0,
            depth_failed: quad.mask & !pattern.cells(passed),
        }
    }
}
