//! Hits of the raster in submission order, before the depth test.

use fearless_simd::{Simd, prelude::*};

use super::geometry::DrawLayer;
use super::raster::cost::RasterCounters;
use super::raster::lanes::GroupHits;
use super::sample::pattern::LANES;
use super::shading::grid::ShadingGrid;

/// Hits of one primitive in a block of 2x2 pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuadHits {
    /// Primitive id: position in submission order, from 1.
    pub primitive: u32,
    /// Column and row of the block of 2x2 pixels, in blocks.
    pub block: [u16; 2],
    /// Coverage mask, not zero: bit `c * samples + s` for sample `s` of pixel `c`, left to right and top to bottom.
    pub coverage: u64,
    /// Index into [`HitChunk::hits`] of the first hit; the others follow in the order of the bits of `coverage`.
    pub first: u64,
}

/// A sample that a primitive covers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Distance of the near plane divided by the distance of the surface; greater is nearer.
    pub depth: f32,
    /// Position in the primitive's shading grid, as in [`Spid::morton`](super::shading::spid::Spid::morton).
    pub morton: u32,
}

/// Collects the hits of a primitive in a block of 2x2 pixels, in any order.
#[derive(Debug)]
pub(crate) struct BlockHits {
    /// Samples hit so far, as in [`QuadHits::coverage`].
    coverage: u64,
    hits: [Hit; 64],
}

impl Default for BlockHits {
    fn default() -> Self {
        Self { coverage: 0, hits: [Hit { depth: 0.0, morton: 0 }; 64] }
    }
}

impl BlockHits {
    /// Adds the hits of a group of samples. `numbers` holds the index of each lane's bit in `coverage`.
    #[inline(always)]
    pub(crate) fn add<S: Simd>(
        &mut self,
        numbers: &[u8; LANES],
        hits: &GroupHits<S>,
        grid: &ShadingGrid,
    ) {
        let (mut mortons, mut depths) = ([0; LANES], [0.0; LANES]);
        grid.map_lanes(hits.depth.token(), hits.weights).store_slice(&mut mortons);
        hits.depth.store_slice(&mut depths);
        let mut left = hits.hits;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            self.coverage |= 1 << numbers[lane];
            self.hits[usize::from(numbers[lane])] =
                Hit { depth: depths[lane], morton: mortons[lane] };
        }
    }

    /// Samples hit so far, as in [`QuadHits::coverage`].
    pub(crate) fn coverage(&self) -> u64 {
        self.coverage
    }

    /// Removes the hits and returns them in the order of the bits of the coverage mask.
    #[inline(always)]
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = (u32, Hit)> {
        let mut left = std::mem::take(&mut self.coverage);
        std::iter::from_fn(move || {
            let sample = left.trailing_zeros();
            left &= left.checked_sub(1)?;
            Some((sample, self.hits[sample as usize]))
        })
    }
}

/// Consecutive hits of the raster, grouped by primitive and block.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HitChunk {
    /// Blocks with hits, sorted by primitive, then by tile of 8x8 pixels, then in Morton order within the
    /// tile. No primitive has two blocks at the same position.
    pub quads: Vec<QuadHits>,
    /// Hits of all blocks, one block after another.
    pub hits: Vec<Hit>,
    /// Per block, samples that the alpha test keeps, as in [`QuadHits::coverage`]. Empty without an alpha test.
    pub kept: Vec<u64>,
}

impl HitChunk {
    /// Hits of a block, in the order of the bits of its coverage mask.
    #[inline]
    pub fn of(&self, quad: &QuadHits) -> &[Hit] {
        let first = usize::try_from(quad.first).unwrap_or(usize::MAX);
        &self.hits[first..first + quad.coverage.count_ones() as usize]
    }

    /// Iterates over the blocks with their hits and the samples that the alpha test keeps.
    pub fn blocks(&self) -> impl Iterator<Item = (&QuadHits, &[Hit], u64)> {
        let kept = self.kept.iter().copied().chain(std::iter::repeat(u64::MAX));
        self.quads.iter().zip(kept).map(|(quad, kept)| (quad, self.of(quad), kept))
    }
}

/// A source of hits in submission order.
pub trait HitStream: Sync {
    /// Width and height of the picture in pixels. Border blocks may reach beyond the picture; their hits do not.
    fn size(&self) -> [u32; 2];

    /// Samples per pixel, 1 to 16.
    fn samples(&self) -> u32;

    /// Calls `consume` with all hits of a layer in submission order, in chunks of bounded size. Every call of this function
    /// gives the same chunks. Returns the counters of the raster.
    fn each_chunk(&self, layer: DrawLayer, consume: &mut dyn FnMut(&HitChunk)) -> RasterCounters;
}
