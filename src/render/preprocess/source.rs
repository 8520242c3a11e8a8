//! Sources of a frame's splats.

use bytemuck::{Pod, Zeroable};

use fearless_simd::{Level, Simd};
use quadrille_base::math::{CacheLevel, SimdLevel, prefetch_to};
use quadrille_base::shading::SplatOrder;
use quadrille_scene::bytes::ReadAhead;
use quadrille_scene::{BLOCK, Lanes, Splat, SplatBlock, Splats, rest_coefficients};

/// Coefficients per channel at degree 4, without the constant one.
pub(super) const MOST_REST: usize = rest_coefficients(4);
/// Prefetch distances of coefficients, in blocks. The first-level cache cannot have enough lines in flight to
/// cover memory latency, so the second level fetches them earlier.
const COEFFICIENTS_AHEAD: [(usize, CacheLevel); 2] =
    [(2, CacheLevel::First), (4, CacheLevel::Second)];
const LINES: usize = size_of::<SplatBlock>() / size_of::<Lanes>();

/// Splats that can be projected: a scene, which holds blocks of splats, [rows](super::SplatRows) of the caller, which are
/// gathered into blocks on the stack, or a [file](super::InPlace), whose rows are read and decoded there.
pub trait SplatSource: Sync {
    /// Vector level of the projection on a machine of `level`. The program holds a copy for each level and source.
    #[inline(always)]
    fn lanes(level: SimdLevel) -> Level {
        level.level()
    }

    /// Number of splats.
    fn len(&self) -> usize;

    /// Whether there is no splat.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Degree of the spherical harmonics, 0 to 4.
    fn sh_degree(&self) -> u8;

    /// Point in world space that the centres are relative to.
    fn origin(&self) -> [f64; 3];

    /// Order in which the scene's file asks for the splats to be blended.
    fn order(&self) -> Option<SplatOrder> {
        None
    }

    /// Whether any splat of a block may be in view; other blocks are not read.
    #[inline(always)]
    fn may_be_seen(&self, _block: usize) -> bool {
        true
    }

    /// Returns the splats from `16 * block` on. Sources may read `ahead` and gather the block in `scratch`. Splats beyond
    /// the last one and invalid splats have opacity 0. The constant coefficients are unspecified.
    fn block<'a, S: Simd>(
        &'a self,
        simd: S,
        block: usize,
        scratch: &'a mut SplatBlock,
        ahead: &mut ReadAhead,
    ) -> &'a SplatBlock;

    /// Returns the spherical harmonics of a block. Sources may read `ahead` and gather them in `scratch`. `visible` is a
    /// mask of the lanes whose coefficients are needed.
    fn coefficients<'a, S: Simd>(
        &'a self,
        simd: S,
        block: usize,
        visible: u64,
        scratch: &'a mut ShScratch,
        ahead: &mut ReadAhead,
    ) -> Coefficients<'a>;

    /// Returns splat `index`, with opacity 0 if it is invalid.
    ///
    /// # Panics
    /// If `index` is not below [`Self::len`].
    fn splat(&self, index: usize) -> Splat;

    /// Like [`Self::splat`], without spherical harmonics above degree 0.
    fn geometry(&self, index: usize) -> Splat;

    /// Prefetches a block, or the last block if `block` is beyond it. The source must not be empty.
    fn prefetch(&self, block: usize);

    /// Prefetches the spherical harmonics above degree 0 of blocks after `block`, which has splats in view.
    fn prefetch_coefficients_after(&self, block: usize);
}

/// Spherical harmonics of a block of splats, one lane per splat.
#[derive(Debug, Clone, Copy)]
pub struct Coefficients<'a> {
    /// Constant coefficient of red, green and blue.
    pub constant: &'a [Lanes; 3],
    /// Higher coefficients of red, then green, then blue.
    pub rest: &'a [Lanes],
    /// Mask of the lanes with non-finite coefficients.
    pub invalid: u64,
}

/// Working memory in which sources gather the spherical harmonics of a block.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct ShScratch {
    pub(super) constant: [Lanes; 3],
    pub(super) rest: [Lanes; 3 * MOST_REST],
    /// Rows of coefficients of sixteen splats, in chunks of sixteen numbers.
    pub(super) rows: [[Lanes; BLOCK]; (3 * (MOST_REST + 1)).div_ceil(BLOCK)],
}

impl SplatSource for Splats {
    #[inline(always)]
    fn lanes(level: SimdLevel) -> Level {
        level.frame_level()
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn sh_degree(&self) -> u8 {
        self.sh_degree()
    }

    fn origin(&self) -> [f64; 3] {
        self.origin()
    }

    fn order(&self) -> Option<SplatOrder> {
        self.order()
    }

    #[inline(always)]
    fn block<'a, S: Simd>(
        &'a self,
        _: S,
        block: usize,
        _: &'a mut SplatBlock,
        _: &mut ReadAhead,
    ) -> &'a SplatBlock {
        &self.blocks()[block]
    }

    #[inline(always)]
    fn coefficients<'a, S: Simd>(
        &'a self,
        _: S,
        block: usize,
        _: u64,
        _: &'a mut ShScratch,
        _: &mut ReadAhead,
    ) -> Coefficients<'a> {
        Coefficients {
            constant: &self.blocks()[block].sh_constant,
            rest: self.sh_rest(block),
            invalid: 0,
        }
    }

    fn splat(&self, index: usize) -> Splat {
        self.splat(index)
    }

    fn geometry(&self, index: usize) -> Splat {
        self.geometry(index)
    }

    #[inline(always)]
    fn prefetch(&self, block: usize) {
        let lines: &[Lanes] = bytemuck::cast_slice(self.blocks());
        let first = block.min(self.blocks().len() - 1) * LINES;
        prefetch_all(CacheLevel::First, &lines[first..][..LINES]);
    }

    #[inline(always)]
    fn prefetch_coefficients_after(&self, block: usize) {
        for (ahead, level) in COEFFICIENTS_AHEAD {
            if block + ahead < self.blocks().len() {
                prefetch_all(level, self.sh_rest(block + ahead));
            }
        }
    }
}

#[inline(always)]
fn prefetch_all(level: CacheLevel, lanes: &[Lanes]) {
    for line in 0..lanes.len() {
        prefetch_to(level, lanes, line);
    }
}
