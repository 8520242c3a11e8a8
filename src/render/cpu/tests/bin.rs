//! Tests of the tiles of splats.

use super::*;
use quadrille_base::math::index;

/// Bounds of all sizes, most of them small, in a picture.
fn bounds(count: u64, [width, height]: [u64; 2]) -> Vec<PixelBounds> {
    let mut state = 1_u64;
    let mut below = |most: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % most
    };
    let mut range = |size: u64, most: u64| {
        let first = below(size);
        let last = (first + below(most)).min(size - 1);
        [first, last].map(fit::<u16>)
    };
    let each = (0..count).map(|i| {
        let most = [1, 20, 40, 70, 400][index(i) % 5];
        let ([x0, x1], [y0, y1]) = (range(width, most), range(height, most));
        PixelBounds { x0, x1, y0, y1 }
    });
    each.collect()
}

#[test]
fn every_tile_of_all_bounds_is_visited_once() {
    let bounds = bounds(1003, [1000, 700]);
    let whole = TileGrid::new(1000, 700);
    for grid in whole.bands(7).chain([whole]) {
        let mut expected = Vec::new();
        for tile in 0..grid.len() {
            let column = tile % grid.columns * TILE_PX;
            let row = (tile / grid.columns + grid.first_row) * TILE_PX;
            let touches = |[first, last]: [u16; 2], start: usize| {
                usize::from(last) >= start && usize::from(first) < start + TILE_PX
            };
            for (index, of) in bounds.iter().enumerate() {
                if touches([of.x0, of.x1], column) && touches([of.y0, of.y1], row) {
                    expected.push((tile, index));
                }
            }
        }
        for level in SimdLevel::all() {
            let mut visited = Vec::new();
            dispatch!(level.frame_level(), simd => {
                grid.for_each(simd, &bounds, |[tile, counter], index| {
                    assert!(counter < COUNTERS);
                    visited.push((tile, index));
                });
            });
            visited.sort_unstable();
            assert!(visited == expected, "{}, row {}", level.name(), grid.first_row);
        }
    }
}
