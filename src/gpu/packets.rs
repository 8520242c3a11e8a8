//! What units hand each other.

/// Pixels along the side of a screen tile.
pub const TILE_PX: u32 = 16;
/// Quads along the side of a screen tile.
pub const TILE_QUADS: u32 = TILE_PX / 2;
/// Quads that a warp holds.
pub const WARP_QUADS: usize = 8;

/// A 2x2 block of fragments of one primitive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quad {
    /// The splat, counted in drawing order.
    pub splat: u32,
    /// Place in its screen tile, row by row: `row * TILE_QUADS + column`.
    pub position: u8,
    /// Which fragments are covered: bit 0 top left, 1 top right, 2 bottom left, 3 bottom right.
    pub mask: u8,
}
