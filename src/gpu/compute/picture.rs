//! Parallel drawing of the blocks of a picture, and their assembly into a frame.

use rayon::prelude::*;

use super::assign::TileLists;
use super::block::{BlockDraw, BlockOutcome};
use crate::draw::Draw;
use quadrille_base::image::Frame;
use quadrille_base::math::fit;
use quadrille_base::raster::tiles::{TILE_PX, TileLayout};
use quadrille_base::task::Task;

/// Draws all tiles. After a cancellation, the remaining tiles are empty.
pub(crate) fn blocks(
    draw: &Draw,
    block: &BlockDraw<'_>,
    lists: &TileLists,
    task: &Task,
) -> Vec<BlockOutcome> {
    let layout = TileLayout::new(draw.width, draw.height);
    let tiles = (0..lists.tiles()).into_par_iter();
    let level = block.shader.level();
    tiles
        .map(|tile| {
            let list = if task.is_cancelled() { &[] } else { lists.tile(tile) };
            block.run(origin(layout, tile), list, level)
        })
        .collect()
}

pub(super) fn origin(layout: TileLayout, tile: usize) -> [u32; 2] {
    let tile = fit::<u32>(tile);
    [tile % layout.tiles_across, tile / layout.tiles_across].map(|number| number * TILE_PX)
}

pub(crate) fn frame(draw: &Draw, blocks: &[BlockOutcome]) -> Frame {
    let layout = TileLayout::new(draw.width, draw.height);
    let mut frame = Frame::new(draw.width, draw.height);
    let width = draw.width as usize;
    for (tile, block) in blocks.iter().enumerate() {
        let [x, y] = origin(layout, tile).map(|px| px as usize);
        let side = TILE_PX as usize;
        let (columns, rows) = (side.min(width - x), side.min(draw.height as usize - y));
        for (row, pixels) in block.pixels.chunks_exact(side).take(rows).enumerate() {
            let first = (y + row) * width + x;
            frame.pixels_mut()[first..first + columns].copy_from_slice(&pixels[..columns]);
        }
    }
    frame
}
