//! Depth buffer with headers, caches and compression, on which pipelines test hits during the raster (section 5.3).

use super::bits::{BLOCK_WORDS, Block};
use super::cache::{BlockCache, CacheAccess, Capacity};
use super::codec::{BlockFormat, PackedSize};
use super::headers::DepthHeaders;
use super::spec::MemorySpec;
use super::traffic::BufferTraffic;
use crate::hits::Hit;
use quadrille_base::choice;
use quadrille_base::math::whole;

choice! {
    /// Format in which depths are stored. Tests always use the depths of the hits.
    #[derive(Default)]
    pub enum DepthFormat {
        /// 24-bit integers of 1 minus the depth
        #[default]
        D24 = "d24",
        /// 32-bit floats
        D32f = "d32f",
    }
}

/// Rule that decides whether a hit passes the depth test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DepthRule {
    /// A nearer hit passes and writes its depth.
    Nearer,
    /// A nearer hit passes and writes no depth, as for blended triangles.
    NearerWithoutWrite,
    /// A hit at the stored depth passes, after a prepass that has written all depths.
    Equal,
}

/// Largest 24-bit depth.
const GREATEST_24: f64 = 16_777_215.0;

impl DepthFormat {
    fn block_format(self) -> BlockFormat {
        match self {
            Self::D24 => BlockFormat::Depth24,
            Self::D32f => BlockFormat::Depth32F,
        }
    }

    #[inline]
    fn stored(self, depth: f32) -> u32 {
        match self {
            Self::D24 => whole((1.0 - f64::from(depth)) * GREATEST_24 + 0.5),
            Self::D32f => depth.to_bits(),
        }
    }
}

/// Depths of all samples in blocks of 64, with headers and cache.
#[derive(Debug)]
pub struct DepthBlocks {
    depths: Vec<[f32; BLOCK_WORDS]>,
    headers: DepthHeaders,
    cache: BlockCache,
    spec: MemorySpec,
    format: DepthFormat,
}

impl DepthBlocks {
    /// Creates a clear buffer for `samples` samples behind caches of the specified sizes.
    ///
    /// # Errors
    /// [`Error::Limit`](quadrille_base::error::Error::Limit) for more than 2^32 blocks.
    pub fn new(
        spec: &MemorySpec,
        format: DepthFormat,
        samples: usize,
    ) -> quadrille_base::error::Result<Self> {
        let blocks = super::blocks_of(samples)?;
        let headers = Capacity::Bytes(spec.header_cache_bytes);
        Ok(Self {
            depths: vec![[0.0; BLOCK_WORDS]; blocks as usize],
            headers: DepthHeaders::new(spec, headers, blocks),
            cache: BlockCache::new(Capacity::Bytes(spec.depth_cache_bytes), blocks),
            spec: spec.clone(),
            format,
        })
    }

    /// Tests the hits of a block of 2x2 pixels whose first sample has the index `first`. `coverage` has a bit for each hit,
    /// counted from that sample; `hits` are in the order of the bits. Returns the mask of passing hits.
    #[inline]
    pub fn test(&mut self, first: usize, coverage: u64, hits: &[Hit], rule: DepthRule) -> u64 {
        let [block, shift] = [first / BLOCK_WORDS, first % BLOCK_WORDS];
        let Ok(block) = u32::try_from(block) else { return 0 };
        if shift == 0 {
            return self.test_block(block, coverage, hits, rule);
        }
        // Blocks of pixels straddle blocks of memory if the number of samples is not a power of two.
        let [low, high] = [coverage << shift, coverage >> (BLOCK_WORDS - shift)];
        let (hits, beyond) = hits.split_at(low.count_ones() as usize);
        let mut passed = 0;
        if low != 0 {
            passed |= self.test_block(block, low, hits, rule) >> shift;
        }
        if high != 0 {
            passed |= self.test_block(block + 1, high, beyond, rule) << (BLOCK_WORDS - shift);
        }
        passed
    }

    fn test_block(&mut self, block: u32, coverage: u64, hits: &[Hit], rule: DepthRule) -> u64 {
        let header = self.headers.read(block);
        let nearest = hits.iter().fold(0.0_f32, |near, hit| near.max(hit.depth));
        let is_hidden = match rule {
            DepthRule::Equal => nearest < header.far,
            DepthRule::Nearer | DepthRule::NearerWithoutWrite => nearest <= header.far,
        };
        if is_hidden {
            return 0;
        }
        if header.clear != u64::MAX {
            self.access(block, CacheAccess::Read);
        }
        let depths = &mut self.depths[block as usize];
        let (mut passed, mut left) = (0, coverage);
        for hit in hits {
            let at = left.trailing_zeros() as usize;
            let passes = match rule {
                #[allow(clippy::float_cmp, reason = "the same bits, drawn before")]
                DepthRule::Equal => hit.depth == depths[at],
                DepthRule::Nearer | DepthRule::NearerWithoutWrite => hit.depth > depths[at],
            };
            if passes {
                passed |= left & left.wrapping_neg();
                if rule == DepthRule::Nearer {
                    depths[at] = hit.depth;
                }
            }
            left &= left.wrapping_sub(1);
        }
        if passed != 0 && rule == DepthRule::Nearer {
            self.headers.write(block, header.after(passed, depths));
            let is_whole = passed == u64::MAX;
            self.access(block, if is_whole { CacheAccess::WriteWhole } else { CacheAccess::Write });
        }
        passed
    }

    fn access(&mut self, block: u32, access: CacheAccess) {
        let pack = packer(&self.spec, self.format, &self.depths, &self.headers);
        self.cache.access(block, access, pack);
    }

    /// Writes back all dirty blocks and headers.
    pub fn flush(&mut self) {
        self.cache.flush(packer(&self.spec, self.format, &self.depths, &self.headers));
        self.headers.flush();
    }

    /// Bytes of depths moved so far.
    pub fn traffic(&self) -> BufferTraffic {
        self.cache.traffic()
    }

    /// Bytes of headers moved so far.
    pub fn header_traffic(&self) -> BufferTraffic {
        self.headers.traffic()
    }

    /// Depth of a sample, unrounded, as in [`Hit::depth`].
    #[inline]
    pub fn depth(&self, sample: usize) -> f32 {
        self.depths[sample / BLOCK_WORDS][sample % BLOCK_WORDS]
    }

    /// Packed size in memory of a block of 64 samples, in bytes.
    pub fn stored_bytes(&self, block: u32) -> u64 {
        self.cache.stored_bytes(block)
    }
}

fn packer<'a>(
    spec: &'a MemorySpec,
    format: DepthFormat,
    depths: &'a [[f32; BLOCK_WORDS]],
    headers: &'a DepthHeaders,
) -> impl FnMut(u32) -> u64 + 'a {
    move |block| {
        let stored: Block = depths[block as usize].map(|depth| format.stored(depth));
        PackedSize::of(spec, &stored, format.block_format(), headers.clear_mask(block)).bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_of_24_bits_span_the_range() {
        let stored = [1.0, 0.5, 0.0].map(|depth| DepthFormat::D24.stored(depth));
        assert_eq!(stored, [0, 1 << 23, (1 << 24) - 1]);
        assert_eq!(DepthFormat::D32f.stored(1.0), 0x3f80_0000);
    }
}
