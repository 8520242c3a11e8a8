//! Assignment of screen tiles to GPCs.

use serde::{Deserialize, Serialize};

use quadrille_base::raster::geometry::PixelRect;
use quadrille_base::raster::tiles::TILE_PX;

/// Rule by which blocks of screen tiles are dealt to GPCs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TileMapping {
    /// Blocks on a diagonal from bottom left to top right belong to one GPC: column plus row, modulo
    /// the number of GPCs.
    #[default]
    Diagonal,
    /// A hash of column and row, modulo the number of GPCs.
    Hashed,
}

/// The GPC that owns each screen tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileMap {
    /// Number of GPCs.
    pub count: u32,
    mapping: TileMapping,
    /// Screen tiles along the side of a block.
    block: u32,
}

impl TileMap {
    /// A map for `gpcs` GPCs in blocks of `block` by `block` screen tiles.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "numbers of GPCs and tiles are validated to be small"
    )]
    pub fn new(gpcs: u64, mapping: TileMapping, block: u64) -> Self {
        Self {
            count: gpcs as u32,
            mapping,
            block: block.max(1) as u32,
        }
    }

    /// The GPC that owns the screen tile in column `x` and row `y`.
    #[inline]
    fn gpc_of(&self, x: u32, y: u32) -> u32 {
        /// The golden ratio times 2^32, and a prime, whose products differ in the upper bits.
        const FACTORS: [u32; 2] = [0x9e37_79b9, 0x85eb_ca6b];
        let (x, y) = (x / self.block, y / self.block);
        match self.mapping {
            TileMapping::Diagonal => (x + y) % self.count,
            TileMapping::Hashed => {
                let mixed = x.wrapping_mul(FACTORS[0]) ^ y.wrapping_mul(FACTORS[1]).rotate_left(16);
                (mixed ^ mixed >> 15)
                    .wrapping_mul(FACTORS[0])
                    .rotate_left(8)
                    % self.count
            }
        }
    }

    /// The GPCs that own a screen tile in `bounds`, which lie inside the picture: bit `n` for GPC `n`. There
    /// are at most 64 GPCs.
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

    /// Iterates over the GPCs.
    pub fn owners(self) -> impl Iterator<Item = TileOwner> {
        (0..self.count).map(move |gpc| TileOwner { gpc, map: self })
    }
}

/// Columns and rows of the screen tiles that meet `bounds`.
#[allow(clippy::cast_sign_loss, reason = "bounds lie inside the picture")]
fn tiles_in(bounds: PixelRect) -> [std::ops::RangeInclusive<u32>; 2] {
    let tile = |px: i32| px as u32 / TILE_PX;
    [
        tile(bounds.x0)..=tile(bounds.x1 - 1),
        tile(bounds.y0)..=tile(bounds.y1 - 1),
    ]
}

/// A GPC as the owner of screen tiles.
#[derive(Debug, Clone, Copy)]
pub struct TileOwner {
    /// Number of the GPC.
    pub gpc: u32,
    map: TileMap,
}

impl TileOwner {
    /// The owner of all screen tiles, the only GPC.
    pub const fn only() -> Self {
        let map = TileMap {
            count: 1,
            mapping: TileMapping::Diagonal,
            block: 1,
        };
        Self { gpc: 0, map }
    }

    /// Whether the GPC owns the screen tile in column `x` and row `y`.
    #[inline]
    pub fn owns(self, x: u32, y: u32) -> bool {
        self.map.count == 1 || self.map.gpc_of(x, y) == self.gpc
    }

    /// Whether the GPC owns a tile that meets `bounds`, which lie inside the picture.
    pub fn owns_any(self, bounds: PixelRect) -> bool {
        let [columns, rows] = tiles_in(bounds);
        self.map.count == 1
            || rows
                .into_iter()
                .any(|y| columns.clone().any(|x| self.owns(x, y)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPPINGS: [TileMapping; 2] = [TileMapping::Diagonal, TileMapping::Hashed];

    fn map(gpcs: u64, mapping: TileMapping, block: u64) -> TileMap {
        TileMap::new(gpcs, mapping, block)
    }

    /// Each tile has one owner, all tiles of a block the same, and no GPC owns more than twice its share.
    #[test]
    fn tiles_are_dealt_in_blocks_and_evenly() {
        const SIDE: u32 = 96;
        for (mapping, gpcs, block) in MAPPINGS
            .into_iter()
            .flat_map(|m| [1, 2, 3, 7, 16].map(|gpcs| (m, gpcs)))
            .flat_map(|(m, gpcs)| [1, 4].map(|block| (m, gpcs, block)))
        {
            let map = map(gpcs, mapping, block);
            let mut tiles = vec![0_u64; usize::try_from(gpcs).unwrap()];
            for (x, y) in (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (x, y))) {
                let of_tile: Vec<_> = map.owners().filter(|o| o.owns(x, y)).collect();
                assert_eq!(of_tile.len(), 1, "{mapping:?} {gpcs} {block}: {x} {y}");
                let block = u32::try_from(block).unwrap();
                assert!(of_tile[0].owns(x / block * block, y / block * block));
                tiles[of_tile[0].gpc as usize] += 1;
            }
            let share = u64::from(SIDE * SIDE) / gpcs;
            let most = tiles.iter().max().copied().unwrap_or(0);
            assert!(most <= 2 * share, "{mapping:?} {gpcs} {block}: {tiles:?}");
        }
    }

    /// The mask names the owners of the tiles in a box.
    #[test]
    fn owners_of_a_box_own_a_tile_in_it() {
        let boxes = [
            [0, 0, 1, 1],
            [15, 15, 17, 17],
            [5, 40, 90, 41],
            [0, 0, 160, 160],
        ];
        for (mapping, gpcs) in MAPPINGS
            .into_iter()
            .flat_map(|m| [1, 2, 5, 64].map(|gpcs| (m, gpcs)))
        {
            for [x0, y0, x1, y1] in boxes {
                let map = map(gpcs, mapping, 1);
                let bounds = PixelRect { x0, y0, x1, y1 };
                let each = map.owners().filter(|owner| owner.owns_any(bounds));
                let mask = each.fold(0, |mask, owner| mask | 1_u64 << owner.gpc);
                assert_eq!(map.owners_in(bounds), mask, "{mapping:?} {gpcs} {bounds:?}");
            }
        }
        let corner = PixelRect {
            x0: 15,
            y0: 15,
            x1: 17,
            y1: 17,
        };
        // Tiles (0, 0), (1, 0), (0, 1) and (1, 1) of 0, 1, 1 and 2; as one block, all of 0.
        assert_eq!(map(5, TileMapping::Diagonal, 1).owners_in(corner), 0b111);
        assert_eq!(map(5, TileMapping::Diagonal, 2).owners_in(corner), 0b1);
    }
}
