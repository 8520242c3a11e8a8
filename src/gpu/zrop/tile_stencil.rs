//! Stencil test of whole screen tiles, ahead of the tests of quads: the coarse raster drops the raster tiles of a screen
//! tile in which all pixels are terminated or fail the stencil test.
//!
//! Each screen tile has a count of its pixels that are not terminated. A termination update decrements it in the cycle in
//! which it writes its bit, and the coarse raster sees the new count `feedback_cycles` later. Updates that wait for the
//! next beat at the test port are counted with that beat, so that a tile is never dropped too early. For the stencil test,
//! a tile fails if all its values fail and failing fragments keep them.

use quadrille_base::raster::tiles::{TILE_LENGTH, TileLayout};
use quadrille_base::shading::{StencilOperation, StencilTest};
use quadrille_machine::Cycle;

/// Outcome of the stencil test of a screen tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TileStencilTest {
    /// Some pixels may pass.
    Passes,
    /// All pixels are terminated.
    Terminated,
    /// All pixels fail the stencil test.
    Fails,
}

#[derive(Debug, Clone, Copy, Default)]
struct Tile {
    /// Pixels inside the picture that are not terminated.
    left: u32,
    /// Cycle of the last termination.
    updated: Cycle,
    fails: bool,
}

/// Summaries of the stencil values of all screen tiles.
#[derive(Debug)]
pub(crate) struct TileStencil {
    tiles: Vec<Tile>,
    feedback_cycles: u64,
}

impl TileStencil {
    /// Summarizes the values of a stencil test, row by row. No pixel is terminated.
    pub(super) fn new(
        layout: TileLayout,
        stencil: Option<(StencilTest, &[u8])>,
        feedback_cycles: u64,
    ) -> Self {
        let tile = Tile { fails: stencil.is_some(), ..Tile::default() };
        let mut tiles = vec![tile; layout.tiles()];
        let pixels = (0..layout.height).flat_map(|y| (0..layout.width).map(move |x| (x, y)));
        for (pixel, (x, y)) in pixels.enumerate() {
            let (quad, _) = layout.locate(x, y);
            let tile = &mut tiles[quad / TILE_LENGTH];
            tile.left += 1;
            tile.fails &= stencil.is_some_and(|(test, values)| {
                test.fail == StencilOperation::Keep && !test.passes(values[pixel])
            });
        }
        Self { tiles, feedback_cycles }
    }

    /// Counts `pixels` more terminated pixels of a tile at `at`.
    pub(super) fn terminate(&mut self, tile: usize, pixels: u32, at: Cycle) {
        if let Some(tile) = self.tiles.get_mut(tile) {
            tile.left -= pixels;
            tile.updated = tile.updated.max(at);
        }
    }

    /// Tests a screen tile at cycle `now`.
    pub(super) fn test(&self, tile: u32, now: Cycle) -> TileStencilTest {
        match self.tiles.get(tile as usize) {
            Some(tile) if tile.fails => TileStencilTest::Fails,
            Some(tile) if tile.left == 0 && tile.updated + self.feedback_cycles <= now => {
                TileStencilTest::Terminated
            }
            _ => TileStencilTest::Passes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture of 20x4 pixels has tiles of 64 and 16 pixels. The second one is full of terminated pixels from
    /// cycle 120 on, the later of its updates, which the coarse raster sees 8 cycles later.
    #[test]
    fn a_tile_is_terminated_when_all_pixels_inside_the_picture_are() {
        let mut stencil = TileStencil::new(TileLayout::new(20, 4), None, 8);
        stencil.terminate(0, 63, 50);
        stencil.terminate(1, 15, 120);
        assert_eq!(stencil.test(1, 1000), TileStencilTest::Passes);
        stencil.terminate(1, 1, 100);
        assert_eq!(stencil.test(1, 127), TileStencilTest::Passes);
        assert_eq!(stencil.test(1, 128), TileStencilTest::Terminated);
        assert_eq!(stencil.test(0, 1000), TileStencilTest::Passes);
    }
}
