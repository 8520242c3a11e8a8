//! State shared by all units of a draw: draw call, framebuffer, memory, and feedback from later to earlier units.

use super::draw::Draw;
use super::geometry::vertex_buffer::{EntryBytes, VertexBuffer};
use super::tile_gpu::tiles_in_work::TilesInWork;
use super::warp::fragment::{FragmentShader, ShadedCounts};
use super::warp::raced_picture::RacedPicture;
use super::zrop::early::EarlyTests;
use super::zrop::late::StencilUpdate;
use super::zrop::termination::Updates;
use super::zrop::tile_stencil::TileStencilTest;
use crate::raster::screen::Screen;
use crate::warp::issue::ShaderIssue;
use crate::zrop::framebuffer::{Failed, Framebuffer};
use quadrille_base::math::SimdLevel;
use quadrille_base::raster::geometry::{PixelRect, PrimitiveShape};
use quadrille_base::raster::polygon::Polygon;
use quadrille_base::raster::tiles::quad_index;
use quadrille_base::task::Task;
use quadrille_machine::{
    Beat, ColourQuad, Cycle, MapKind, Maps, Memory, Quad, QuadMasks, RasterTile, ShadedQuads,
    WARP_QUADS, Warp,
};

/// State shared by all units of a draw.
pub struct DrawState<'a> {
    /// Task that cancels the draw and receives its progress.
    pub task: Task,
    /// Draw call that the units process.
    pub draw: &'a Draw,
    /// Fragment shader of the draw.
    pub shader: FragmentShader<'a>,
    /// Colour, stencil and depth buffers.
    pub framebuffer: Framebuffer,
    /// Number of fragments near the alpha cut that the reference renderer's arithmetic decided.
    pub near_cut: u64,
    /// SIMD level of the host, which does not affect results.
    pub level: SimdLevel,
    /// Memory system: L2 and DRAM.
    pub memory: Memory,
    /// Occupancy of the L2 by the results of vertex shading.
    pub vertex_buffer: VertexBuffer,
    pub(crate) shader_issue: ShaderIssue,
    /// Termination updates in flight, by GPC.
    pub updates: Vec<Updates>,
    /// State of the stencil updates between passes.
    pub update: StencilUpdate,
    /// Tiles on the chip of a tile-based GPU.
    pub(crate) tiles: TilesInWork,
    pub(super) spare_quads: Vec<ShadedQuads>,
    /// Picture in draw order for comparison, if shaders blend without order.
    pub(crate) race: Option<Box<RacedPicture>>,
    /// Per-pixel counts of fragments, if enabled.
    pub maps: Option<Box<Maps>>,
}

impl<'a> DrawState<'a> {
    /// Creates the state at the start of a draw, without maps and without results of vertex shading.
    pub(crate) fn new(
        draw: &'a Draw,
        shader: FragmentShader<'a>,
        framebuffer: Framebuffer,
        memory: Memory,
        shader_issue: ShaderIssue,
        updates: Vec<Updates>,
    ) -> Self {
        Self {
            task: Task::NEVER,
            draw,
            tiles: TilesInWork::new(1, framebuffer.layout, framebuffer.format, false),
            level: shader.level(),
            near_cut: 0,
            shader,
            framebuffer,
            memory,
            vertex_buffer: VertexBuffer::new(EntryBytes::default(), None, draw.len()),
            shader_issue,
            updates,
            update: StencilUpdate::default(),
            spare_quads: Vec::new(),
            race: None,
            maps: None,
        }
    }

    /// Shades a warp. Surviving quads are packed at the front of `out`, except before merging, when each keeps its slot.
    #[inline]
    pub(crate) fn shade(
        &mut self,
        warp: &Warp,
        out: &mut [ColourQuad; WARP_QUADS],
    ) -> ShadedCounts {
        let across = self.framebuffer.layout.tiles_across;
        let tile = [warp.tile % across, warp.tile / across];
        let counts = if warp.merge == 0 {
            self.shader.shade_into::<true>(tile, &warp.quads, out)
        } else {
            self.shader.shade_into::<false>(tile, &warp.quads, out)
        };
        self.near_cut += u64::from(counts.decided);
        if let Some(maps) = &mut self.maps {
            for quad in warp.quads.iter() {
                maps.count(MapKind::Shaded, quad_index(warp.tile, quad.position), quad.mask);
            }
        }
        counts
    }
}

impl Screen for DrawState<'_> {
    type Outline = Polygon;

    #[inline]
    fn outline(&self, shape: &PrimitiveShape) -> Option<Polygon> {
        shape.polygon()
    }

    #[inline]
    fn bounds(&self, shape: &PrimitiveShape) -> Option<PixelRect> {
        shape.pixel_bounds()
    }

    #[inline]
    fn rect(&self) -> PixelRect {
        self.framebuffer.rect()
    }

    #[inline]
    fn tiles_across(&self) -> u32 {
        self.framebuffer.layout.tiles_across
    }

    #[inline]
    fn is_cancelled(&self) -> bool {
        self.task.is_cancelled()
    }

    #[inline]
    fn test_tile(&self, tile: u32, now: Cycle) -> TileStencilTest {
        self.framebuffer.test_tile(tile, now)
    }

    #[inline]
    fn hides(&self, tile: &RasterTile) -> bool {
        // The rectangle of a stencil update is not a splat and has no depth.
        let splat = self.draw.splats.get(tile.primitive as usize);
        splat.is_some_and(|s| self.framebuffer.hides(tile.tile, tile.quarter, s.depth))
    }
}

impl EarlyTests for DrawState<'_> {
    #[inline]
    fn bytes_per_quad(&self) -> u64 {
        self.framebuffer.test_bytes_per_pixel() * 4
    }

    #[inline]
    fn has_tests(&self) -> bool {
        self.framebuffer.has_tests()
    }

    #[inline]
    fn tests_write(&self, _beat: &Beat) -> bool {
        self.update.active || self.framebuffer.tests_write()
    }

    #[inline]
    fn writes_late(&self) -> bool {
        self.update.active
    }

    fn next_late_write(&mut self, gpc: usize) -> Option<(Beat, Cycle)> {
        self.update.writes[gpc].take()
    }

    fn leave_late(&mut self, gpc: usize, at: Cycle) {
        self.update.writes[gpc].leave(at);
    }

    #[inline]
    fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }

    #[inline]
    fn test(&mut self, tile: u32, quad: &Quad) -> Failed {
        let depth = self.draw.splats[quad.primitive as usize].depth;
        self.framebuffer.test(tile, quad.position, quad.mask, depth)
    }

    #[inline]
    fn prefetch_termination(&self, tile: u32) {
        self.framebuffer.prefetch_termination(tile);
    }

    #[inline]
    fn terminated(&self, tile: u32, quads: &[Quad]) -> QuadMasks {
        self.framebuffer.terminated(tile, quads)
    }

    #[inline]
    fn updates_and_memory(&mut self, gpc: usize) -> (Option<&mut Updates>, &mut Memory) {
        (Some(&mut self.updates[gpc]), &mut self.memory)
    }

    #[inline]
    fn terminate(&mut self, quad: usize, mask: u8, at: Cycle) {
        self.framebuffer.terminate(quad, mask, at);
    }
}
