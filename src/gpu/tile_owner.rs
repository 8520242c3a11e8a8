//! Which GPC owns a screen tile.

use crate::raster::geometry::PixelRect;
use crate::raster::tiles::TILE_PX;

/// Screen tiles shared out over GPCs: tile (x, y) belongs to `(x + y) mod count`.
#[derive(Debug, Clone, Copy)]
pub struct TileOwner {
    /// The GPC.
    pub gpc: u32,
    /// GPCs in all.
    pub count: u32,
}

impl TileOwner {
    /// All of `count` GPCs.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the number of GPCs is validated to be small"
    )]
    pub fn all(count: u64) -> impl Iterator<Item = Self> {
        let count = count as u32;
        (0..count).map(move |gpc| Self { gpc, count })
    }

    /// Whether it owns tile (x, y).
    #[must_use]
    #[inline]
    pub fn owns(self, x: u32, y: u32) -> bool {
        self.count == 1 || (x + y) % self.count == self.gpc
    }

    /// Whether it may own a tile that meets `bounds` (inside the picture).
    #[must_use]
    #[allow(clippy::cast_sign_loss, reason = "bounds lie inside the picture")]
    pub fn may_own_in(self, bounds: PixelRect) -> bool {
        if self.count == 1 {
            return true;
        }
        let tile = |px: i32| px as u32 / TILE_PX;
        let first = tile(bounds.x0) + tile(bounds.y0);
        let last = tile(bounds.x1 - 1) + tile(bounds.y1 - 1);
        // Sums of tile coordinates in the box are consecutive.
        last - first + 1 >= self.count || (first..=last).any(|sum| sum % self.count == self.gpc)
    }
}
