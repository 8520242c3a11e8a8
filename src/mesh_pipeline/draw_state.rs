//! State shared by all units of the mesh path: the current grid, quads in flight, depth buffer, memory.

use std::ops::Range;
use std::sync::Arc;

use slab::Slab;

use super::current_grid::{CurrentGrid, GridVisibility, MaterialFlags};
use super::depth::DepthBuffer;
use quadrille_base::math::fit;
use quadrille_base::raster::geometry::{PixelRect, PrimitiveShape};
use quadrille_base::raster::sample_depth::{DepthFragment, DepthPlane};
use quadrille_base::raster::sampled::{SampledPolygon, TileSamples};
use quadrille_base::raster::samples::SamplePattern;
use quadrille_base::raster::tiles::QUADS_PER_TILE;
use quadrille_base::task::Task;
use quadrille_geometry::camera::MeshCamera;
use quadrille_geometry::files::{Material, Texture};
use quadrille_geometry::grid::{Grid, Topology};
use quadrille_gpu::config::Config;
use quadrille_gpu::raster::screen::Screen;
use quadrille_gpu::warp::issue::ShaderIssue;
use quadrille_gpu::zrop::early::EarlyTests;
use quadrille_gpu::zrop::framebuffer::Failed;
use quadrille_machine::{Beat, Memory, Primitive, Quad, RasterTile, lines_of};
use quadrille_mesh::frame::FrameSettings;
use quadrille_mesh::merge::QuadFragment;
use quadrille_mesh::merge::merged_samples::{OwnedSamples, ShownFragment};
use quadrille_mesh::shade::AlphaTests;

const DEPTH_BYTES: u64 = 4;
pub(super) const COLOUR_BYTES: u64 = 4;
const QUAD_PIXELS: u64 = 4;

/// A quad of a triangle between the raster and the merging unit.
#[derive(Debug, Clone, Copy)]
pub struct Fragment {
    /// The quad in the form that merging units take.
    pub quad: QuadFragment,
    /// Index of the triangle in the frame, which the depth buffer stores per sample.
    pub owner: u32,
    /// Number of the grid that contains the triangle.
    pub grid: u32,
    /// Number of the draw that contains the grid.
    pub draw: u32,
    /// Whether the pixel shader has side effects.
    pub has_effects: bool,
    /// Whether the material is blended.
    pub is_blended: bool,
    plane: DepthPlane,
    /// Mask of the samples that the alpha test keeps; empty if the quad is blended.
    written: u64,
    blended: u64,
}

impl Fragment {
    pub(super) fn shown(&self, index: u32) -> ShownFragment {
        ShownFragment {
            owner: self.owner,
            index,
            coverage: self.quad.coverage,
            blended: self.blended,
        }
    }
}

/// A quad between the merging unit and the colour unit.
#[derive(Debug, Clone)]
pub struct ShaderRecord {
    /// Index of the quad in memory.
    pub index: u32,
    /// Number of the draw that contains the quad.
    pub draw: u32,
    /// Visible samples of each merged triangle.
    pub parts: Vec<OwnedSamples>,
}

/// State shared by all units of the mesh path.
#[derive(Debug)]
pub struct MeshDrawState {
    pub(super) task: Task,
    pub(super) view: MeshCamera,
    /// Settings of the frame, as for a frame without time.
    pub settings: FrameSettings,
    /// Depth and owner of every sample.
    pub depths: DepthBuffer,
    pub(super) memory: Memory,
    pub(super) shader_issue: ShaderIssue,
    pub(super) topology: Arc<Topology>,
    /// Whether quads that a triangle only touches go to the merging unit.
    pub(super) passes_empties: bool,
    materials: Vec<MaterialFlags>,
    alpha: AlphaTests,
    grid: CurrentGrid,
    pub(super) fragments: Slab<Fragment>,
    pub(super) records: Slab<ShaderRecord>,
}

impl MeshDrawState {
    /// Creates the state at the start of a frame.
    pub fn new(
        materials: &[Material],
        textures: &[Texture],
        view: &MeshCamera,
        settings: &FrameSettings,
        config: &Config,
    ) -> Self {
        let cores = &config.cores;
        let mut state = Self {
            task: Task::NEVER,
            view: view.clone(),
            settings: *settings,
            depths: DepthBuffer::new(settings),
            memory: Memory::new(&config.l2, &config.dram, config.gpu.clock_mhz, 0),
            shader_issue: ShaderIssue::new(
                config.gpu.gpcs,
                cores.all_schedulers(),
                cores.issue_cycles,
            ),
            topology: Arc::default(),
            passes_empties: false,
            materials: materials
                .iter()
                .map(|m| MaterialFlags {
                    draws_backs: settings.faces.draws_backs(m),
                    has_effects: m.effects.any(),
                    is_tested: m.tested_alpha().is_some(),
                    is_blended: m.is_blended(),
                })
                .collect(),
            alpha: AlphaTests::new(materials, textures),
            grid: CurrentGrid::default(),
            fragments: Slab::new(),
            records: Slab::new(),
        };
        state.memory =
            Memory::new(&config.l2, &config.dram, config.gpu.clock_mhz, state.depth_lines().end);
        state
    }

    /// Returns the sample positions within a pixel.
    #[inline]
    pub fn pattern(&self) -> &'static SamplePattern {
        self.settings.pattern
    }

    fn lines(&self, bytes_per_sample: u64) -> u32 {
        let samples = self.depths.quads() as u64 * QUAD_PIXELS * u64::from(self.pattern().count());
        lines_of(samples * bytes_per_sample)
    }

    /// Memory lines of the sample buffer; the lines of depths follow.
    pub fn colour_lines(&self) -> Range<u32> {
        0..self.lines(COLOUR_BYTES)
    }

    pub(super) fn depth_lines(&self) -> Range<u32> {
        let first = self.colour_lines().end;
        first..first + self.lines(DEPTH_BYTES)
    }

    /// Makes `grid` the current one. If a part of it is visible, appends all its triangles to `out`, even invisible ones.
    pub fn take(&mut self, draw: u32, grid: &Grid, out: &mut Vec<Primitive>) -> GridVisibility {
        self.topology = Arc::clone(&grid.topology);
        let flags = self.materials.get(grid.material as usize).copied().unwrap_or_default();
        self.grid.take(&self.view, &self.depths, draw, flags, grid, out)
    }

    /// Adds a quad of a piece of the current grid; returns its number among the quads before the merging unit.
    pub fn fragment(&mut self, piece: u32, position: [u16; 2], coverage: u64, centres: u8) -> u32 {
        let grid = &self.grid;
        let piece = &grid.pieces[piece as usize];
        let test = (grid.tested.as_ref())
            .and_then(|grid| self.alpha.of_triangle(grid, piece.triangle, &self.view));
        let all = if grid.flags.is_blended { 0 } else { u64::MAX };
        let written = test.map_or(all, |test| test.kept(position, self.settings.pattern));
        let number = self.fragments.insert(Fragment {
            quad: QuadFragment {
                position,
                coverage,
                centres,
                is_front: piece.is_front(),
                triangle: piece.triangle,
                ids: grid.corners[usize::from(piece.triangle)],
            },
            owner: grid.first_owner + u32::from(piece.triangle),
            grid: grid.number,
            draw: grid.draw,
            has_effects: grid.flags.has_effects,
            is_blended: grid.flags.is_blended,
            plane: piece.plane,
            written,
            blended: 0,
        });
        fit::<u32>(number)
    }

    /// Returns the fragment of a quad that is between the raster and the merging unit.
    pub fn fragment_of(&self, quad: &Quad) -> &Fragment {
        &self.fragments[quad.primitive as usize]
    }

    /// Adds the record of a quad that leaves the merging unit; returns the quad for the shader.
    #[inline]
    pub fn shader_quad(&mut self, index: u32, draw: u32, parts: Vec<OwnedSamples>) -> Quad {
        let coverage = parts.iter().fold(0, |all, (_, samples)| all | samples);
        let record = ShaderRecord { index, draw, parts };
        Quad {
            primitive: fit::<u32>(self.records.insert(record)),
            position: fit(index % QUADS_PER_TILE),
            mask: self.pattern().covered_pixels(coverage),
        }
    }

    /// Returns the record of a quad between the merging unit and the colour unit.
    #[inline]
    pub fn record_of(&self, quad: &Quad) -> &ShaderRecord {
        &self.records[quad.primitive as usize]
    }
}

impl Screen for MeshDrawState {
    type Outline = SampledPolygon;

    /// Also returns `None` for culled back faces.
    #[inline]
    fn outline(&self, shape: &PrimitiveShape) -> Option<SampledPolygon> {
        self.grid.outline(shape, &self.settings)
    }

    #[inline]
    fn rect(&self) -> PixelRect {
        self.settings.shading_area()
    }

    #[inline]
    fn tiles_across(&self) -> u32 {
        self.depths.tiles_across
    }

    #[inline]
    fn is_cancelled(&self) -> bool {
        self.task.is_cancelled()
    }

    /// Also false if depth is tested late, or if the merging unit needs quads without coverage.
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

impl EarlyTests for MeshDrawState {
    #[inline]
    fn bytes_per_quad(&self) -> u64 {
        QUAD_PIXELS * u64::from(self.pattern().count()) * DEPTH_BYTES
    }

    #[inline]
    fn has_tests(&self) -> bool {
        true
    }

    #[inline]
    fn tests_write(&self, beat: &Beat) -> bool {
        // All quads of a beat belong to one triangle.
        !(beat.quads.iter()).any(|quad| self.fragment_of(quad).is_blended)
    }

    #[inline]
    fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }

    /// Passes all samples if only grids are culled. Blended quads write no depth.
    fn test(&mut self, _tile: u32, quad: &Quad) -> Failed {
        let pattern = self.settings.pattern;
        let number = quad.primitive as usize;
        let fragment = &mut self.fragments[number];
        let position = fragment.quad.position;
        let hidden = &self.grid.hidden_bins;
        let mut passed = 0;
        if hidden.is_empty() || !hidden.contains(&self.settings.bin_of(position)) {
            let unit = pattern.side_units() * 2;
            let tested = DepthFragment {
                corner: position.map(|q| i32::from(q) * unit),
                coverage: fragment.quad.coverage,
                plane: fragment.plane,
                owner: fragment.owner,
            };
            passed = self.depths.test(position, &tested, fragment.written);
        }
        fragment.blended = if fragment.is_blended { passed } else { 0 };
        if !self.settings.culls_quads() {
            return Failed::default();
        }
        fragment.quad.coverage = passed;
        if passed == 0 {
            self.fragments.remove(number);
        }
        Failed { stencil_failed: 0, depth_failed: quad.mask & !pattern.covered_pixels(passed) }
    }
}
