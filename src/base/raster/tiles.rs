//! Screen tiles and raster tiles, and the storage order of pixels in them.

/// Pixels along the side of a screen tile (VR-Pipe, section II-A: 16x16 pixels).
pub const TILE_PX: u32 = 16;
/// Quads along the side of a screen tile: 8.
pub const TILE_QUADS: u32 = TILE_PX / 2;
/// Quads per screen tile: 64.
pub const QUADS_PER_TILE: u32 = TILE_QUADS * TILE_QUADS;
/// [`QUADS_PER_TILE`] as the length of an array.
pub const TILE_LENGTH: usize = QUADS_PER_TILE as usize;
/// Pixels along the side of a raster tile (VR-Pipe, Table I: 8x8 pixels).
pub const RASTER_TILE_PX: u32 = 8;
/// Quads per raster tile: 16.
pub const RASTER_TILE_QUADS: usize = (RASTER_TILE_PX * RASTER_TILE_PX / 4) as usize;

/// Index of the quad at `position` of screen tile `tile` in a buffer stored quad by quad, screen tile by screen tile.
#[inline]
pub fn quad_index(tile: u32, position: u8) -> usize {
    tile as usize * TILE_LENGTH + usize::from(position)
}

/// A picture cut into screen tiles, row by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileLayout {
    /// Width of the picture in pixels.
    pub width: u32,
    /// Height of the picture in pixels.
    pub height: u32,
    /// Screen tiles per row.
    pub tiles_across: u32,
}

impl TileLayout {
    /// Creates the layout of a picture of `width` by `height` pixels.
    pub fn new(width: u32, height: u32) -> Self {
        Self { width, height, tiles_across: width.div_ceil(TILE_PX) }
    }

    /// Number of screen tiles.
    pub fn tiles(&self) -> usize {
        (self.tiles_across * self.height.div_ceil(TILE_PX)) as usize
    }

    /// Number of quads of all screen tiles.
    pub fn quads(&self) -> usize {
        self.tiles() * TILE_LENGTH
    }

    /// Index of a pixel's quad, in the order of [`quad_index`], and the pixel's number in the quad.
    pub fn locate(&self, x: u32, y: u32) -> (usize, usize) {
        let tile = (y / TILE_PX) * self.tiles_across + x / TILE_PX;
        let (qx, qy) = (x % TILE_PX / 2, y % TILE_PX / 2);
        let quad = tile * QUADS_PER_TILE + qy * TILE_QUADS + qx;
        (quad as usize, ((y % 2) * 2 + x % 2) as usize)
    }

    /// Collects `value(quad, pixel in the quad)` of all pixels, row by row.
    pub fn rows<T>(&self, mut value: impl FnMut(usize, usize) -> T) -> Vec<T> {
        let mut pixels = Vec::with_capacity((self.width * self.height) as usize);
        for y in 0..self.height {
            for x in 0..self.width {
                let (quad, fragment) = self.locate(x, y);
                pixels.push(value(quad, fragment));
            }
        }
        pixels
    }
}
