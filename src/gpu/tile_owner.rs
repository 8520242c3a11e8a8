//! Assignment of screen tiles to GPCs.

use crate::raster::geometry::PixelRect;
use crate::raster::tiles::TILE_PX;

/// The GPC, of `count`, that owns the screen tile in column `x` and row `y`. Another mapping changes this
/// function only.
#[inline]
fn gpc_of_tile(x: u32, y: u32, count: u32) -> u32 {
    (x + y) % count
}

/// A GPC as the owner of screen tiles.
#[derive(Debug, Clone, Copy)]
pub struct TileOwner {
    /// Number of the GPC.
    pub gpc: u32,
    /// Number of all GPCs.
    pub count: u32,
}

impl TileOwner {
    /// Iterates over `count` GPCs.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the number of GPCs is validated to be small"
    )]
    pub fn all(count: u64) -> impl Iterator<Item = Self> {
        let count = count as u32;
        (0..count).map(move |gpc| Self { gpc, count })
    }

    /// Whether the GPC owns the screen tile in column `x` and row `y`.
    #[inline]
    pub fn owns(self, x: u32, y: u32) -> bool {
        self.count == 1 || gpc_of_tile(x, y, self.count) == self.gpc
    }

    /// Whether the GPC owns a tile that meets `bounds`, which lie inside the picture.
    #[allow(clippy::cast_sign_loss, reason = "bounds lie inside the picture")]
    pub(crate) fn owns_any(self, bounds: PixelRect) -> bool {
        let tile = |px: i32| px as u32 / TILE_PX;
        let [columns, rows] = [
            tile(bounds.x0)..=tile(bounds.x1 - 1),
            tile(bounds.y0)..=tile(bounds.y1 - 1),
        ];
        let owns_in_row = |y| columns.clone().any(|x| self.owns(x, y));
        self.count == 1 || rows.clone().any(owns_in_row)
    }
}
