//! Tiles on the chip: which tile is drawn, its buffer, and its pixels in memory.
//!
//! A tile takes a buffer before its first primitive is set up, and frees it when DRAM has taken its pixels. Tiles start
//! cleared. A tile that is drawn again after an overflow of the parameter buffer loads its pixels, and early
//! termination stores and loads a byte of stencil per pixel with them.

use quadrille_base::math::fit;
use quadrille_base::raster::geometry::PixelRect;
use quadrille_base::raster::tiles::{TILE_PX, TileLayout};
use quadrille_base::shading::ColourFormat;
use quadrille_machine::{Client, Cycle, Memory, Queue, lines_of};

/// Part of a tile in memory: a screen tile.
#[derive(Debug, Clone, Copy)]
pub(super) struct TilePart {
    screen_tile: u32,
    pub(super) pixels: u64,
}

#[derive(Debug)]
pub(super) struct WorkTile {
    pub(super) parts: Vec<TilePart>,
    /// Whether the tile will be drawn again.
    pub(super) is_partial: bool,
}

/// Tiles on the chip, which the binning unit begins and the tile buffer ends.
#[derive(Debug)]
pub struct TilesInWork {
    layout: TileLayout,
    format: ColourFormat,
    terminating: bool,
    pub(super) buffers: Queue,
    pub(super) current: Option<WorkTile>,
    /// Cycle from which the current tile has its buffer.
    pub(crate) ready: Cycle,
    /// Whether each tile has been stored before.
    stored: Vec<bool>,
    pub(super) pixels_loaded: u64,
}

impl TilesInWork {
    /// Creates `buffers` free buffers for tiles of a picture of `layout`; `terminating` adds stencil values.
    pub fn new(buffers: u64, layout: TileLayout, format: ColourFormat, terminating: bool) -> Self {
        Self {
            layout,
            format,
            terminating,
            buffers: Queue::new(buffers),
            current: None,
            ready: 0,
            stored: Vec::new(),
            pixels_loaded: 0,
        }
    }

    /// Begins tile `tile`, which covers `rect`, at or after `at`; it will be drawn again if `is_partial`. Its primitives wait
    /// until it has a buffer with its pixels.
    pub(crate) fn begin(
        &mut self,
        tile: usize,
        rect: PixelRect,
        is_partial: bool,
        at: Cycle,
        memory: &mut Memory,
    ) {
        let parts = self.parts(rect);
        let mut ready = self.buffers.entry(at);
        if self.stored.len() <= tile {
            self.stored.resize(tile + 1, false);
        }
        if std::mem::replace(&mut self.stored[tile], is_partial) {
            let start = ready;
            for part in &parts {
                self.pixels_loaded += part.pixels;
                for (client, line, bytes) in self.buffers_of(*part, true) {
                    ready = ready.max(memory.read_through(client, line, bytes, start));
                }
            }
        }
        self.current = Some(WorkTile { parts, is_partial });
        self.ready = ready;
    }

    #[allow(clippy::cast_sign_loss, reason = "tiles lie at positive coordinates")]
    fn parts(&self, rect: PixelRect) -> Vec<TilePart> {
        let [columns, rows] =
            [(rect.x0, rect.x1, self.layout.width), (rect.y0, rect.y1, self.layout.height)].map(
                |(from, to, side)| (from as u32..(to as u32).min(side)).step_by(TILE_PX as usize),
            );
        let side = |from: u32, of: u32| u64::from(TILE_PX.min(of - from));
        let part = |x: u32, y: u32| TilePart {
            screen_tile: y / TILE_PX * self.layout.tiles_across + x / TILE_PX,
            pixels: side(x, self.layout.width) * side(y, self.layout.height),
        };
        rows.flat_map(|y| columns.clone().map(move |x| part(x, y))).collect()
    }

    /// First lines and bytes of the colours of a part and, if the tile is `partial` and pixels terminate, of its stencil
    /// values, which lie behind all colours.
    pub(super) fn buffers_of(
        &self,
        part: TilePart,
        is_partial: bool,
    ) -> impl Iterator<Item = (Client, u32, u64)> + use<> {
        let bytes = u64::from(self.format.bytes_per_pixel());
        let lines = |bytes: u64| lines_of(u64::from(TILE_PX * TILE_PX) * bytes);
        let colour = (Client::Colour, part.screen_tile * lines(bytes), part.pixels * bytes);
        let base = fit::<u32>(self.layout.tiles()) * lines(bytes);
        let stencil = (Client::Depth, base + part.screen_tile * lines(1), part.pixels);
        [Some(colour), (is_partial && self.terminating).then_some(stencil)].into_iter().flatten()
    }
}
