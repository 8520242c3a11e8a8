//! Reference data for a picture whose pixels are updated without order: the picture in draw order, and the
//! fragments that each pixel contains.

use crate::crop::blend::blend_behind;
use quadrille_base::math::SimdLevel;
use quadrille_base::math::buffer::Buffer;
use quadrille_base::raster::tiles::quad_index;
use quadrille_base::shading::{ColourFormat, QuadColour};
use quadrille_machine::{ColourQuad, ShadedWarp};

/// Value of a quad's pixels in memory, and the fragments blended into it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct QuadVersion {
    pub(super) colour: QuadColour,
    /// Fragments blended into each pixel's value.
    pub(super) depth: [u32; 4],
    /// Number of the youngest warp among them.
    pub(super) youngest: [u64; 4],
}

/// The picture in draw order, and the contents of each pixel of the picture without order.
#[derive(Debug)]
pub struct RacedPicture {
    format: ColourFormat,
    in_order: Buffer<QuadColour>,
    depth: Buffer<[u32; 4]>,
    youngest: Buffer<[u64; 4]>,
    /// Fragments blended behind a younger one.
    out_of_order: u64,
}

impl RacedPicture {
    /// Creates the state of a cleared picture of `quads` quads.
    pub(crate) fn new(quads: usize, format: ColourFormat) -> Self {
        Self {
            format,
            in_order: Buffer::zeroed(quads),
            depth: Buffer::zeroed(quads),
            youngest: Buffer::zeroed(quads),
            out_of_order: 0,
        }
    }

    /// Blends a warp into the picture in draw order.
    pub(super) fn blend_in_order(&mut self, level: SimdLevel, warp: &ShadedWarp) {
        for quad in warp.quads.iter() {
            let stored = &mut self.in_order[quad_index(warp.tile, quad.position)];
            blend_behind(level, self.format, stored, &quad.colour);
        }
    }

    /// The version of a quad whose pixels hold `colour`.
    pub(super) fn load(&self, quad: usize, colour: QuadColour) -> QuadVersion {
        QuadVersion { colour, depth: self.depth[quad], youngest: self.youngest[quad] }
    }

    /// Blends the fragments of `quad`, which warp `number` shaded, into the version that it has loaded, and
    /// overwrites their pixels in `stored`, the quad at `index` of the picture.
    pub(super) fn store(
        &mut self,
        level: SimdLevel,
        (index, number): (usize, u64),
        mut loaded: QuadVersion,
        quad: &ColourQuad,
        stored: &mut QuadColour,
    ) {
        blend_behind(level, self.format, &mut loaded.colour, &quad.colour);
        for fragment in (0..4).filter(|fragment| quad.mask >> fragment & 1 == 1) {
            for (stored, blended) in stored.iter_mut().zip(&loaded.colour) {
                stored[fragment] = blended[fragment];
            }
            let youngest = loaded.youngest[fragment];
            self.out_of_order += u64::from(youngest > number);
            self.youngest[index][fragment] = youngest.max(number);
            self.depth[index][fragment] = loaded.depth[fragment] + 1;
        }
    }

    /// Fragments that the picture contains.
    pub(crate) fn fragments(&self) -> u64 {
        let depths: &[[u32; 4]] = &self.depth;
        depths.iter().flatten().map(|depth| u64::from(*depth)).sum()
    }

    /// Fragments blended behind a younger one.
    pub(crate) fn out_of_order(&self) -> u64 {
        self.out_of_order
    }

    /// Colours of the picture in draw order, in the order of [`quad_index`].
    pub(crate) fn in_order(&self) -> &[QuadColour] {
        &self.in_order
    }
}
