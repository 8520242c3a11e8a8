//! Distribution of screen tiles over GPCs.

use quadrille_base::raster::geometry::PixelRect;
use quadrille_gpu::tile_owner::*;

const MAPPINGS: [TileMapping; 2] = [TileMapping::Diagonal, TileMapping::Hashed];

fn map(gpcs: u64, mapping: TileMapping, block: u64) -> TileMap {
    TileMap::new(gpcs, mapping, block)
}

/// Each tile has one owner, all tiles of a block have the same one, and no GPC owns more than twice its share.
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

/// The mask has the bits of all GPCs that own a tile in the box.
#[test]
fn owners_of_a_box_own_a_tile_in_it() {
    let boxes = [[0, 0, 1, 1], [15, 15, 17, 17], [5, 40, 90, 41], [0, 0, 160, 160]];
    for (mapping, gpcs) in MAPPINGS.into_iter().flat_map(|m| [1, 2, 5, 64].map(|gpcs| (m, gpcs))) {
        for [x0, y0, x1, y1] in boxes {
            let map = map(gpcs, mapping, 1);
            let bounds = PixelRect { x0, y0, x1, y1 };
            let each = map.owners().filter(|owner| owner.owns_any(bounds));
            let mask = each.fold(0, |mask, owner| mask | 1_u64 << owner.gpc);
            assert_eq!(map.owners_in(bounds), mask, "{mapping:?} {gpcs} {bounds:?}");
        }
    }
    let corner = PixelRect { x0: 15, y0: 15, x1: 17, y1: 17 };
    // Tiles (0, 0), (1, 0), (0, 1) and (1, 1) belong to GPCs 0, 1, 1 and 2; as one block, all belong to GPC 0.
    assert_eq!(map(5, TileMapping::Diagonal, 1).owners_in(corner), 0b111);
    assert_eq!(map(5, TileMapping::Diagonal, 2).owners_in(corner), 0b1);
}
