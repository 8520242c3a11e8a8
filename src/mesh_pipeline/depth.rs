//! Depth buffer of the whole picture: the bins of a frame, and the index of each quad in memory, by screen tile.

use fearless_simd::dispatch;

use quadrille_base::math::fit;
use quadrille_base::raster::geometry::PixelRect;
use quadrille_base::raster::sample_depth::{DepthFragment, QuadDepths};
use quadrille_base::raster::tiles::{
    QUADS_PER_TILE, RASTER_TILE_PX, TILE_LENGTH, TILE_PX, TILE_QUADS,
};
use quadrille_mesh::frame::FrameSettings;
use quadrille_mesh::frame::visibility::DepthBin;

/// Depth and owner of every sample of the picture, in bins.
#[derive(Debug)]
pub struct DepthBuffer {
    pub(super) settings: FrameSettings,
    pub(super) bins: Vec<DepthBin>,
    pub(super) tiles_across: u32,
    tiles: u32,
}

impl DepthBuffer {
    pub(super) fn new(settings: &FrameSettings) -> Self {
        let area = settings.shading_area();
        let [across, down] = [area.x1, area.y1].map(|side| side.unsigned_abs().div_ceil(TILE_PX));
        Self {
            settings: *settings,
            bins: (0..settings.bins()).map(|bin| DepthBin::new(settings, bin)).collect(),
            tiles_across: across,
            tiles: across * down,
        }
    }

    /// The depths for a draw after the one that has left them, of a camera whose near plane is `factor` times as far in units
    /// of the scene. No sample has an owner.
    #[must_use]
    pub fn before_a_draw(mut self, factor: f32) -> Self {
        self.bins.iter_mut().for_each(|bin| bin.scale_depths(factor));
        self
    }

    pub(super) fn quads(&self) -> usize {
        self.tiles as usize * TILE_LENGTH
    }

    /// Index in memory of the quad in this column and row.
    #[inline]
    pub fn index(&self, [x, y]: [u16; 2]) -> u32 {
        let [x, y] = [u32::from(x), u32::from(y)];
        let tile = y / TILE_QUADS * self.tiles_across + x / TILE_QUADS;
        tile * QUADS_PER_TILE + y % TILE_QUADS * TILE_QUADS + x % TILE_QUADS
    }

    /// Column and row of the quad with this index in memory.
    #[inline]
    pub fn position(&self, index: u32) -> [u16; 2] {
        let (tile, inside) = (index / QUADS_PER_TILE, index % QUADS_PER_TILE);
        let x = tile % self.tiles_across * TILE_QUADS + inside % TILE_QUADS;
        [fit(x), fit(tile / self.tiles_across * TILE_QUADS + inside / TILE_QUADS)]
    }

    /// Depths and owners of the samples of a quad.
    #[inline]
    pub fn quad(&self, position: [u16; 2]) -> &QuadDepths {
        self.bins[self.settings.bin_of(position)].quad(position)
    }

    /// Tests the samples of a fragment and returns those that pass. Only samples in `written` may write their depth.
    #[inline]
    pub fn test(&mut self, position: [u16; 2], fragment: &DepthFragment, written: u64) -> u64 {
        let bin = &mut self.bins[self.settings.bin_of(position)];
        let level = self.settings.level.level();
        dispatch!(level, simd => bin.test_written(simd, position, fragment, written))
    }

    /// Whether all samples in a quarter of a screen tile are at least as near as `depth`.
    pub(super) fn hides_tile(&self, tile: u32, quarter: u8, depth: f32) -> bool {
        let quarter = u32::from(quarter);
        let x = tile % self.tiles_across * TILE_PX + (quarter & 1) * RASTER_TILE_PX;
        let y = tile / self.tiles_across * TILE_PX + (quarter >> 1) * RASTER_TILE_PX;
        let [x0, y0] = [x, y].map(u32::cast_signed);
        let side = RASTER_TILE_PX.cast_signed();
        let area = PixelRect { x0, y0, x1: x0 + side, y1: y0 + side };
        self.bins[self.settings.bin_of(self.position(tile * QUADS_PER_TILE))].hides(area, depth)
    }
}
