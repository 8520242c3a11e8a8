//! Tiles and blocks of pixels.

use fearless_simd::{f32x16, prelude::*};

/// Tile side in pixels, measured: accumulators (16 KB) fit the first-level cache, and blocks one 64-bit mask.
pub(crate) const TILE_PX: usize = 32;
/// Block side in pixels; a block's pixels are the lanes of one vector.
pub(super) const BLOCK_PX: usize = 4;
pub(super) const TILE_BLOCKS: usize = TILE_PX / BLOCK_PX;

#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct PixelBlock {
    /// Sign bit set once the stop rule has closed the pixel.
    pub(super) transmittance: PixelLanes,
    /// Premultiplied red, green, blue.
    pub(super) colour: [PixelLanes; 3],
}

/// Dummy block of closed pixels after the tile's own; blending into it has no effect.
pub(super) const SINK: usize = TILE_BLOCKS * TILE_BLOCKS;

/// x and y of the first pixel of each block from that of the tile.
pub(super) const BLOCK_OFFSETS: [[f32; 2]; SINK] = {
    let mut offsets = [[0.0; 2]; SINK];
    let mut block = 0;
    while block < SINK {
        offsets[block][0] = (block % TILE_BLOCKS * BLOCK_PX) as f32;
        offsets[block][1] = (block / TILE_BLOCKS * BLOCK_PX) as f32;
        block += 1;
    }
    offsets
};

pub(super) type PixelLanes = [f32; BLOCK_PX * BLOCK_PX];

pub(super) struct Tile {
    /// Blocks, row by row, and [`SINK`].
    pub(super) blocks: [PixelBlock; TILE_BLOCKS * TILE_BLOCKS + 1],
    /// Mask of blocks with an open pixel.
    pub(super) live: u64,
    /// Centre of the tile's first pixel, in pixels from the picture's centre.
    pub(super) origin: [f32; 2],
    pub(super) fragments_blended: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TileArea {
    /// First pixel: column, row.
    pub(super) first_px: [usize; 2],
    /// Pixels inside the picture: columns, rows; 1 to [`TILE_PX`].
    pub(super) size_px: [usize; 2],
    pub(super) picture_px: [usize; 2],
}

impl Tile {
    /// Creates an empty tile; pixels outside the picture are closed.
    pub(super) fn new(area: TileArea) -> Self {
        let open = PixelBlock { transmittance: [1.0; 16], colour: [[0.0; 16]; 3] };
        let origin = [0, 1]
            .map(|axis| area.first_px[axis] as f32 + 0.5 - area.picture_px[axis] as f32 / 2.0);
        let mut tile = Self {
            blocks: [open; TILE_BLOCKS * TILE_BLOCKS + 1],
            live: u64::MAX,
            origin,
            fragments_blended: 0,
        };
        tile.blocks[SINK].transmittance = [-1.0; 16];
        if area.size_px != [TILE_PX; 2] {
            tile.close_outside(area.size_px);
        }
        tile
    }

    fn close_outside(&mut self, size_px: [usize; 2]) {
        for (b, block) in self.blocks[..SINK].iter_mut().enumerate() {
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

    /// x and y of the first block's pixels from the picture's centre: multiples of 1/2, so block offsets add exactly.
    #[inline(always)]
    pub(super) fn first_block<S: Simd>(&self, simd: S) -> [f32x16<S>; 2] {
        [
            f32x16::from_fn(simd, |lane| (lane % BLOCK_PX) as f32) + self.origin[0],
            f32x16::from_fn(simd, |lane| (lane / BLOCK_PX) as f32) + self.origin[1],
        ]
    }

    #[inline(always)]
    pub(super) fn store<S: Simd>(&self, simd: S, rows: &mut [&mut [[f32; 4]]]) {
        for (rows, blocks) in rows.chunks_mut(BLOCK_PX).zip(self.blocks.chunks_exact(TILE_BLOCKS)) {
            for (column, block) in blocks.iter().enumerate() {
                let pixels = block.rgba(simd);
                for (row, pixels) in rows.iter_mut().zip(pixels) {
                    let (whole, rest) = row.as_chunks_mut::<BLOCK_PX>();
                    if let Some(out) = whole.get_mut(column) {
                        pixels.store_array(bytemuck::cast_mut(out));
                    } else if column == whole.len() {
                        let pixels: [[f32; 4]; BLOCK_PX] = bytemuck::cast(pixels.to_array());
                        rest.copy_from_slice(&pixels[..rest.len()]);
                    }
                }
            }
        }
    }
}

impl PixelBlock {
    #[inline(always)]
    fn rgba<S: Simd>(&self, simd: S) -> [f32x16<S>; BLOCK_PX] {
        let lanes = |v: &PixelLanes| f32x16::load_array_ref(simd, v);
        let [r, g, b] = [lanes(&self.colour[0]), lanes(&self.colour[1]), lanes(&self.colour[2])];
        let a = f32x16::splat(simd, 1.0) - lanes(&self.transmittance).abs();
        let (rb_low, rb_high) = (r.zip_low(b), r.zip_high(b));
        let (ga_low, ga_high) = (g.zip_low(a), g.zip_high(a));
        [
            rb_low.zip_low(ga_low),
            rb_low.zip_high(ga_low),
            rb_high.zip_low(ga_high),
            rb_high.zip_high(ga_high),
        ]
    }
}
