//! Assignment of screen tiles to GPCs.

use serde::{Deserialize, Serialize};

use quadrille_base::math::fit;
use quadrille_base::raster::geometry::PixelRect;
use quadrille_base::raster::tiles::TILE_PX;

/// Rule that assigns blocks of screen tiles to GPCs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TileMapping {
    /// Column plus row, modulo the number of GPCs: diagonals from bottom left to top right belong to one GPC.
    #[default]
    Diagonal,
    /// A hash of column and row, modulo the number of GPCs.
    Hashed,
}

/// Map from screen tiles to the GPCs that own them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileMap {
    /// Number of GPCs.
    pub count: u32,
    mapping: TileMapping,
    block: u32,
}

impl TileMap {
    /// Creates a map that assigns blocks of `block` by `block` screen tiles to `gpcs` GPCs.
    pub fn new(gpcs: u64, mapping: TileMapping, block: u64) -> Self {
        Self { count: fit(gpcs), mapping, block: fit(block.max(1)) }
    }

    #[inline]
    fn gpc_of(&self, x: u32, y: u32) -> u32 {
        /// The golden ratio times 2^32, and a prime; their products differ in the upper bits.
        const FACTORS: [u32; 2] = [0x9e37_79b9, 0x85eb_ca6b];
        let (x, y) = (x / self.block, y / self.block);
        match self.mapping {
            TileMapping::Diagonal => (x + y) % self.count,
            TileMapping::Hashed => {
                let mixed = x.wrapping_mul(FACTORS[0]) ^ y.wrapping_mul(FACTORS[1]).rotate_left(16);
                (mixed ^ mixed >> 15).wrapping_mul(FACTORS[0]).rotate_left(8) % self.count
            }
        }
    }

    /// Mask of the GPCs, at most 64, that own a screen tile in `bounds`, inside the picture: bit `n` for GPC `n`.
    pub fn owners_in(&self, bounds: PixelRect) -> u64 {
        let all = u64::MAX >> (u64::BITS - self.count);
        let mut owners = u64::from(self.count == 1);
        let [columns, rows] = tiles_in(bounds);
        for row in rows {
            for column in columns.clone() {
                if owners == all {
                    return all;
                }
                owners |= 1 << self.gpc_of(column, row);
            }
        }
        owners
    }

    /// Iterates over the GPCs by increasing index.
    pub fn owners(self) -> impl Iterator<Item = TileOwner> {
        (0..self.count).map(move |gpc| TileOwner { gpc, map: self })
    }
}

#[allow(clippy::cast_sign_loss, reason = "bounds lie inside the picture")]
fn tiles_in(bounds: PixelRect) -> [std::ops::RangeInclusive<u32>; 2] {
    let tile = |px: i32| px as u32 / TILE_PX;
    [tile(bounds.x0)..=tile(bounds.x1 - 1), tile(bounds.y0)..=tile(bounds.y1 - 1)]
}

/// GPC that owns a part of the screen tiles.
#[derive(Debug, Clone, Copy)]
pub struct TileOwner {
    /// Index of the GPC, from 0.
    pub gpc: u32,
    map: TileMap,
}

impl TileOwner {
    /// Returns the only GPC of a GPU, which owns all screen tiles.
    pub const fn only() -> Self {
        Self { gpc: 0, map: TileMap { count: 1, mapping: TileMapping::Diagonal, block: 1 } }
    }

    /// Whether the GPC owns the screen tile in column `x` and row `y`.
    #[inline]
    pub fn owns(self, x: u32, y: u32) -> bool {
        self.map.count == 1 || self.map.gpc_of(x, y) == self.gpc
    }

    /// Whether the GPC owns a tile that meets `bounds`, which lie inside the picture.
    pub fn owns_any(self, bounds: PixelRect) -> bool {
        let [columns, rows] = tiles_in(bounds);
        self.map.count == 1 || rows.into_iter().any(|y| columns.clone().any(|x| self.owns(x, y)))
    }
}
