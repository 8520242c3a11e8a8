//! Division of a picture into tiles and their rows.

use super::bin::TileGrid;
use super::tile::{TILE_PX, TileArea};

pub(super) fn area_of_tile(index: usize, grid: TileGrid, picture: [u32; 2]) -> TileArea {
    let picture_px = picture.map(|px| px as usize);
    let first_px =
        [index % grid.columns * TILE_PX, (grid.first_row + index / grid.columns) * TILE_PX];
    TileArea {
        first_px,
        size_px: [0, 1].map(|axis| TILE_PX.min(picture_px[axis] - first_px[axis])),
        picture_px,
    }
}

/// Divides a picture into one strip per row of tiles. The threads divide the strips further, since dividing the
/// whole picture at once takes a hundredth of a frame's time.
pub(super) fn strips<T>(pixels: &mut [T], width: u32, values: usize) -> Vec<&mut [T]> {
    pixels.chunks_mut(width as usize * values * TILE_PX).collect()
}

/// Divides a picture into the rows of each tile: [`TILE_PX`] slices per tile, empty below the picture.
pub(super) fn rows_by_tile<T>(
    pixels: &mut [T],
    width: u32,
    values: usize,
    grid: TileGrid,
) -> Vec<&mut [T]> {
    let mut rows: Vec<&mut [T]> =
        (0..grid.len() * TILE_PX).map(|_| <&mut [_]>::default()).collect();
    for (y, line) in pixels.chunks_exact_mut(width as usize * values).enumerate() {
        for (column, piece) in line.chunks_mut(TILE_PX * values).enumerate() {
            rows[(y / TILE_PX * grid.columns + column) * TILE_PX + y % TILE_PX] = piece;
        }
    }
    rows
}
