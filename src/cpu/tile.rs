//! Tiles and blocks of pixels.

/// Side of a tile in pixels. Chosen by measurement: 32 keeps a tile's accumulators (16 KB) in the
/// first-level cache and its blocks in one 64-bit mask.
pub const TILE_PX: usize = 32;
/// Side of a block in pixels; a block's pixels are the lanes of one vector.
pub(super) const BLOCK_PX: usize = 4;
/// Blocks along a tile's side.
pub(super) const TILE_BLOCKS: usize = TILE_PX / BLOCK_PX;

/// Accumulators of a block's 16 pixels, row by row.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct PixelBlock {
    /// Transmittance; its sign bit is set once the stop rule has closed the pixel.
    pub(super) transmittance: [f32; 16],
    /// Premultiplied red, green, blue.
    pub(super) colour: [[f32; 16]; 3],
}

/// A tile in progress.
pub(super) struct Tile {
    /// Blocks, row by row.
    pub(super) blocks: [PixelBlock; TILE_BLOCKS * TILE_BLOCKS],
    /// Bit a block, as `blocks` are indexed: some pixel still accepts fragments.
    pub(super) live: u64,
    /// Centre of the tile's first pixel, in pixels from the picture's centre.
    pub(super) origin: [f32; 2],
    /// Fragments blended so far.
    pub(super) fragments_blended: u64,
}

/// Where a tile lies in the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TilePlace {
    /// First pixel: column, row.
    pub(super) first_px: [usize; 2],
    /// Pixels inside the picture: columns, rows; 1 to [`TILE_PX`].
    pub(super) size_px: [usize; 2],
}

impl Tile {
    /// An untouched tile: pixels outside the picture are closed from the start.
    #[allow(clippy::cast_precision_loss, reason = "sides are below 2^16")]
    pub(super) fn new(place: TilePlace, picture_px: [usize; 2]) -> Self {
        let open = PixelBlock {
            transmittance: [1.0; 16],
            colour: [[0.0; 16]; 3],
        };
        let mut tile = Self {
            blocks: [open; TILE_BLOCKS * TILE_BLOCKS],
            live: u64::MAX,
            origin: [0, 1]
                .map(|axis| place.first_px[axis] as f32 + 0.5 - picture_px[axis] as f32 / 2.0),
            fragments_blended: 0,
        };
        if place.size_px != [TILE_PX; 2] {
            tile.close_outside(place.size_px);
        }
        tile
    }

    fn close_outside(&mut self, size_px: [usize; 2]) {
        for (b, block) in self.blocks.iter_mut().enumerate() {
            let corner = [b % TILE_BLOCKS * BLOCK_PX, b / TILE_BLOCKS * BLOCK_PX];
            for (i, t) in block.transmittance.iter_mut().enumerate() {
                let inside =
                    corner[0] + i % BLOCK_PX < size_px[0] && corner[1] + i / BLOCK_PX < size_px[1];
                if !inside {
                    *t = -1.0;
                }
            }
            if corner[0] >= size_px[0] || corner[1] >= size_px[1] {
                self.live &= !(1 << b);
            }
        }
    }

    /// Writes the tile's pixels to their rows of the picture.
    pub(super) fn store(&self, rows: &mut [&mut [[f32; 4]]]) {
        for (y, row) in rows.iter_mut().enumerate() {
            let blocks = &self.blocks[y / BLOCK_PX * TILE_BLOCKS..];
            let lane = y % BLOCK_PX * BLOCK_PX;
            for (pixels, block) in row.chunks_mut(BLOCK_PX).zip(blocks) {
                for (i, pixel) in (lane..).zip(pixels) {
                    let [r, g, b] = block.colour;
                    *pixel = [r[i], g[i], b[i], 1.0 - block.transmittance[i].abs()];
                }
            }
        }
    }
}
