//! What units hand each other.
//!
//! The field `primitive` is an id: the number of a splat in drawing order or, in the mesh path, of a
//! triangle or of a quad's record in the state that all units share.

use arrayvec::ArrayVec;

use crate::raster::geometry::{PixelRect, PrimitiveShape};
use crate::raster::polygon::Polygon;
use crate::shading::QuadColour;

/// Quads that a warp of 32 lanes holds.
pub const WARP_QUADS: usize = 8;
/// Quads that cross a port together in one cycle.
pub const BEAT_QUADS: usize = 8;

/// A primitive after assembly.
#[derive(Debug, Clone, Copy)]
pub struct Primitive {
    /// What it is part of.
    pub primitive: u32,
    /// Its corners.
    pub shape: PrimitiveShape,
    /// The pixels it may cover, inside the picture; later those of the tile grid it is drawn for.
    pub bounds: PixelRect,
}

/// A primitive with its edges set up.
#[derive(Debug, Clone, Copy)]
pub struct SetUp<O = Polygon> {
    /// What it is part of.
    pub primitive: u32,
    /// Its edges.
    pub outline: O,
    /// The pixels to draw it in.
    pub bounds: PixelRect,
}

/// The 8x8 pixels of one primitive in a raster tile.
#[derive(Debug, Clone, Copy)]
pub struct RasterTile<S = ()> {
    /// What it is part of.
    pub primitive: u32,
    /// The screen tile, row by row.
    pub tile: u32,
    /// Which quarter of the screen tile: bit 0 right, bit 1 bottom.
    pub quarter: u8,
    /// Pixels covered: bit `8 y + x`.
    pub mask: u64,
    /// Where pixels have samples: which of them are covered.
    pub samples: S,
}

/// A 2x2 block of fragments of one primitive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quad {
    /// What it is part of.
    pub primitive: u32,
    /// Place in its screen tile, row by row: `row * TILE_QUADS + column`.
    pub position: u8,
    /// Which fragments are covered: bit 0 top left, 1 top right, 2 bottom left, 3 bottom right.
    pub mask: u8,
}

/// Up to eight quads of one flush of one screen tile, as they cross a port together.
#[derive(Debug, Clone)]
pub struct Beat {
    /// The screen tile.
    pub tile: u32,
    /// The quads.
    pub quads: ArrayVec<Quad, BEAT_QUADS>,
    /// Whether the flush ends with this beat.
    pub last: bool,
}

/// Quads that run as one warp.
#[derive(Debug, Clone)]
pub struct Warp {
    /// The screen tile that all of them lie in.
    pub tile: u32,
    /// The quads.
    pub quads: ArrayVec<Quad, WARP_QUADS>,
    /// Bit `n`: the quads at offsets `2n` and `2n + 1` lie at one position and are to be merged,
    /// the older one first.
    pub merge: u8,
}

/// A shaded quad on its way to the colour buffer.
#[derive(Debug, Clone, Copy, Default)]
pub struct ColourQuad {
    /// Place in its screen tile.
    pub position: u8,
    /// Fragments to be blended.
    pub mask: u8,
    /// Colours, zero outside the mask.
    pub colour: QuadColour,
}

impl ColourQuad {
    /// The quad without the fragments outside `mask`.
    pub fn kept(&self, mask: u8) -> Self {
        let mut kept = *self;
        kept.mask &= mask;
        for fragment in 0..4 {
            if kept.mask >> fragment & 1 == 0 {
                for channel in &mut kept.colour {
                    channel[fragment] = 0.0;
                }
            }
        }
        kept
    }
}

/// What a warp hands to the colour unit.
#[derive(Debug, Clone)]
pub struct ShadedWarp {
    /// The screen tile.
    pub tile: u32,
    /// The quads with at least one fragment to blend, in order.
    pub quads: ArrayVec<ColourQuad, WARP_QUADS>,
}

/// Fragments of a quad's mask: its four low bits, counted without the instruction for it, which not
/// every machine has.
#[inline]
pub fn fragments(mask: u8) -> u64 {
    const COUNTS: u64 = 0x4332_3221_3221_2110;
    COUNTS >> ((mask & 15) * 4) & 7
}
