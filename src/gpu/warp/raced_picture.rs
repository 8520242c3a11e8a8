//! Reference data for a picture with unordered updates: the picture in draw order, and the fragments in each pixel.

use crate::crop::blend::blend_behind;
use quadrille_base::math::SimdLevel;
use quadrille_base::math::buffer::Buffer;
use quadrille_base::raster::tiles::quad_index;
use quadrille_base::shading::{ColourFormat, QuadColour};
use quadrille_machine::{ColourQuad, ShadedWarp};

/// Colours of a quad in memory, and the number of fragments blended into each pixel (`depth`).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct QuadVersion {
    pub(super) colour: QuadColour,
    pub(super) depth: [u32; 4],
    /// Number of the youngest warp with a blended fragment, per pixel.
    pub(super) youngest: [u64; 4],
}

/// Picture blended in draw order, and for each pixel of the unordered picture the number of fragments that it contains.
#[derive(Debug)]
pub(crate) struct RacedPicture {
    format: ColourFormat,
    in_order: Buffer<QuadColour>,
    depth: Buffer<[u32; 4]>,
    youngest: Buffer<[u64; 4]>,
    out_of_order: u64,
}

impl RacedPicture {
    pub(crate) fn new(quads: usize, format: ColourFormat) -> Self {
        Self {
            format,
            in_order: Buffer::zeroed(quads),
            depth: Buffer::zeroed(quads),
            youngest: Buffer::zeroed(quads),
            out_of_order: 0,
        }
    }

    pub(super) fn blend_in_order(&mut self, level: SimdLevel, warp: &ShadedWarp) {
        for quad in warp.quads.iter() {
            let stored = &mut self.in_order[quad_index(warp.tile, quad.position)];
            blend_behind(level, self.format, stored, &quad.colour);
        }
    }

    pub(super) fn load(&self, quad: usize, colour: QuadColour) -> QuadVersion {
        QuadVersion { colour, depth: self.depth[quad], youngest: self.youngest[quad] }
    }

    /// Blends the fragments of `quad`, shaded by warp `number`, into its loaded version, and writes the covered pixels to
    /// `stored`, which is quad `index` of the picture.
    pub(super) fn store(
        &mut self,
        level: SimdLevel,
        index: usize,
        number: u64,
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

    pub(crate) fn fragments(&self) -> u64 {
        let depths: &[[u32; 4]] = &self.depth;
        depths.iter().flatten().map(|depth| u64::from(*depth)).sum()
    }

    pub(crate) fn out_of_order(&self) -> u64 {
        self.out_of_order
    }

    pub(crate) fn in_order(&self) -> &[QuadColour] {
        &self.in_order
    }
}
