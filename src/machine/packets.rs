//! Packets that units pass to each other.
//!
//! A primitive id is the index of a splat or triangle in drawing order; in the mesh path, the index of a quad's record.

use std::ops::Deref;

use arrayvec::ArrayVec;

use quadrille_base::raster::geometry::{PixelRect, PrimitiveShape};
use quadrille_base::raster::polygon::Polygon;
use quadrille_base::shading::QuadColour;

/// Quads per warp of 32 lanes.
pub const WARP_QUADS: usize = 8;
/// Largest number of quads per beat, the group of quads that crosses a port at once.
pub const BEAT_QUADS: usize = 8;

/// A primitive after assembly.
#[derive(Debug, Clone, Copy)]
pub struct Primitive {
    /// Primitive id: index in drawing order.
    pub primitive: u32,
    /// Corners in pixel coordinates of the screen.
    pub shape: PrimitiveShape,
    /// Pixel bounds inside the picture, or inside one tile grid behind tile-grid coalescing.
    pub bounds: PixelRect,
}

/// A primitive after setup.
#[derive(Debug, Clone, Copy)]
pub struct SetUp<O = Polygon> {
    /// Primitive id.
    pub primitive: u32,
    /// Edge functions of the primitive's sides.
    pub outline: O,
    /// Pixel bounds inside the picture or tile grid.
    pub bounds: PixelRect,
}

/// Coverage of one primitive in a raster tile of 8x8 pixels.
#[derive(Debug, Clone, Copy)]
pub struct RasterTile<S = ()> {
    /// Primitive id.
    pub primitive: u32,
    /// Index of the screen tile, row by row.
    pub tile: u32,
    /// Quarter of the screen tile: bit 0 set for the right half, bit 1 for the bottom half.
    pub quarter: u8,
    /// Coverage mask of pixels: bit `8 y + x`.
    pub mask: u64,
    /// Coverage of samples, for outlines that have several samples per pixel.
    pub samples: S,
}

/// A 2x2 block of fragments of one primitive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quad {
    /// Primitive id: index in drawing order; in the mesh path, index of the quad's record.
    pub primitive: u32,
    /// Position in the screen tile: `row * TILE_QUADS + column`.
    pub position: u8,
    /// Coverage mask: bit 0 top left, 1 top right, 2 bottom left, 3 bottom right.
    pub mask: u8,
}

/// Up to eight quads of one flush of a screen tile that cross a port together.
#[derive(Debug, Clone)]
pub struct Beat {
    /// Index of the screen tile, row by row.
    pub tile: u32,
    /// Quads in arrival order.
    pub quads: ArrayVec<Quad, BEAT_QUADS>,
    /// Pairs for quad merging: bit `n` marks the quads `2n` (older) and `2n + 1`, which have the same position.
    pub pairs: u8,
    /// Whether this is the last beat of the flush.
    pub last: bool,
}

/// Up to eight quads that are shaded together by one warp.
#[derive(Debug, Clone)]
pub struct Warp {
    /// Index of the screen tile of all quads, row by row.
    pub tile: u32,
    /// Quads in arrival order.
    pub quads: ArrayVec<Quad, WARP_QUADS>,
    /// Pairs for quad merging: bit `n` marks the quads `2n` (older) and `2n + 1`, which have the same position.
    pub merge: u8,
    /// Whether the warp is the first of its flush of tile coalescing; in the mesh path, of its draw.
    pub begins_flush: bool,
}

/// A shaded quad on its way to the colour buffer.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(C, align(16))]
pub struct ColourQuad {
    /// Premultiplied colours: alpha times the splat's colour, and alpha; zero outside the mask.
    pub colour: QuadColour,
    /// Mask of the fragments to blend: covered, and not discarded by the alpha cut.
    pub mask: u8,
    /// Position in the screen tile, as [`Quad::position`].
    pub position: u8,
}

impl ColourQuad {
    /// Returns the quad without the fragments outside `mask`.
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

/// A shaded warp on its way to the colour unit.
#[derive(Debug, Clone)]
pub struct ShadedWarp {
    /// Index of the screen tile, row by row.
    pub tile: u32,
    /// Quads with at least one fragment to blend, in order.
    pub quads: ShadedQuads,
}

/// Up to [`WARP_QUADS`] shaded quads. They lie on the heap, so that stages pass them on without copying the colours.
#[derive(Debug, Clone, Default)]
pub struct ShadedQuads {
    slots: Box<[ColourQuad; WARP_QUADS]>,
    len: usize,
    fragments: u64,
}

impl ShadedQuads {
    /// Buffer for the results of a warp. [`ShadedQuads::keep`] or [`ShadedQuads::keep_surviving`] then selects its quads.
    #[inline]
    pub fn slots(&mut self) -> &mut [ColourQuad; WARP_QUADS] {
        &mut self.slots
    }

    /// Keeps the first `count` slots as the quads; `fragments` is the total of their fragments.
    #[inline]
    pub fn keep(&mut self, count: usize, fragments: u64) {
        self.len = count.min(WARP_QUADS);
        self.fragments = fragments;
    }

    /// Keeps the quads with a surviving fragment, in order; `fragments` is their total.
    #[inline]
    pub fn keep_surviving(&mut self, fragments: u64) {
        let mut kept = 0;
        for slot in 0..WARP_QUADS {
            if self.slots[slot].mask != 0 {
                if kept < slot {
                    self.slots[kept] = self.slots[slot];
                }
                kept += 1;
            }
        }
        self.len = kept;
        self.fragments = fragments;
    }

    /// Total number of fragments of all quads.
    #[inline]
    pub fn fragments(&self) -> u64 {
        self.fragments
    }
}

impl Deref for ShadedQuads {
    type Target = [ColourQuad];

    #[inline]
    fn deref(&self) -> &[ColourQuad] {
        &self.slots[..self.len]
    }
}

impl FromIterator<ColourQuad> for ShadedQuads {
    fn from_iter<I: IntoIterator<Item = ColourQuad>>(quads: I) -> Self {
        let mut shaded = Self::default();
        for (slot, quad) in shaded.slots.iter_mut().zip(quads) {
            *slot = quad;
            shaded.len += 1;
            shaded.fragments += fragments(quad.mask);
        }
        shaded
    }
}

/// Number of bits set in a mask of four. Table lookup, since the baseline instruction sets have no population count.
#[inline]
pub fn fragments(mask: u8) -> u64 {
    const COUNTS: u64 = 0x4332_3221_3221_2110;
    COUNTS >> ((mask & 15) * 4) & 7
}

/// Lowest bit of each quad's mask.
const LOWEST: u32 = 0x1111_1111;

/// Number of quads whose lowest bit is set: the product adds these bits up in its highest digit.
#[inline(always)]
fn sum(lowest: u32) -> u64 {
    u64::from(lowest.wrapping_mul(LOWEST) >> 28)
}

/// Coverage masks of up to eight quads in a word, four bits each, first quad lowest: a whole beat is counted at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QuadMasks(pub u32);

impl QuadMasks {
    /// Packs masks of four bits; masks after the eighth are dropped.
    #[inline(always)]
    pub(crate) fn of(masks: impl DoubleEndedIterator<Item = u8>) -> Self {
        Self(masks.rev().fold(0, |all, mask| all << 4 | u32::from(mask)))
    }

    /// Packs the masks of the quads of a beat or a warp; `mask` returns the mask of a quad.
    #[inline(always)]
    pub fn of_each<T>(quads: &[T], mask: impl Fn(&T) -> u8) -> Self {
        match quads.first_chunk::<BEAT_QUADS>() {
            // Most beats and warps are full: a fixed number of quads needs no general loop.
            Some(full) => Self::of(full.iter().map(mask)),
            None => Self::of(quads.iter().map(mask)),
        }
    }

    /// Coverage mask of quad `quad`, 0 to 7.
    #[inline(always)]
    pub fn get(self, quad: usize) -> u8 {
        (self.0 >> (4 * quad % 32) & 15) as u8
    }

    /// Adds the quads with at least one fragment to a histogram by number of fragments.
    #[inline]
    pub fn count(self, by_fragments: &mut [u64; 5]) {
        // Each digit is the number of fragments of a quad, 0 to 4, whose three bits are then separated.
        let pairs = self.0 - (self.0 >> 1 & 0x5555_5555);
        let digits = (pairs & 0x3333_3333) + (pairs >> 2 & 0x3333_3333);
        let [ones, twos, fours] = [0, 1, 2].map(|bit| digits >> bit & LOWEST);
        by_fragments[1] += sum(ones & !twos);
        by_fragments[2] += sum(twos & !ones);
        by_fragments[3] += sum(ones & twos);
        by_fragments[4] += sum(fours);
    }

    /// Number of quads with four fragments.
    #[inline]
    pub fn full(self) -> u64 {
        let pairs = self.0 & self.0 >> 1;
        sum(pairs & pairs >> 2 & LOWEST)
    }

    /// Number of fragments of all quads.
    #[inline(always)]
    pub fn fragments(self) -> u64 {
        u64::from(self.0.count_ones())
    }

    /// Number of quads with at least one fragment.
    #[inline(always)]
    pub fn quads(self) -> u64 {
        let pairs = self.0 | self.0 >> 2;
        sum((pairs | pairs >> 1) & LOWEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All pairs of masks, in neighbouring and in distant quads, against counts quad by quad.
    #[test]
    fn quads_are_counted_by_their_fragments() {
        for masks in (0..=255_u32).flat_map(|two| [two, two << 12, two * 0x0101_0101]) {
            let quads = QuadMasks(masks);
            let mut expected = [0; 5];
            for fragments in (0..8).map(|quad| quads.get(quad).count_ones()) {
                expected[fragments as usize] += u64::from(fragments > 0);
            }
            let mut counted = [0; 5];
            quads.count(&mut counted);
            assert_eq!(counted, expected, "{masks:x}");
            assert_eq!(quads.full(), expected[4], "{masks:x}");
            assert_eq!(quads.quads(), expected.iter().sum::<u64>(), "{masks:x}");
        }
    }

    /// Quad `n` has the mask `n + 1`, which is its digit in the word, in full and in partial beats.
    #[test]
    fn masks_of_any_number_of_quads_are_their_digits() {
        let masks = [1, 2, 3, 4, 5, 6, 7, 8];
        for count in 0..=masks.len() {
            let expected = (1..=count).rfold(0, |all, mask| all << 4 | mask);
            let collected = QuadMasks::of_each(&masks[..count], |mask| *mask);
            assert_eq!(collected.0 as usize, expected, "{count}");
        }
    }
}
