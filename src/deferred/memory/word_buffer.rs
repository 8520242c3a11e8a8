//! Buffers of colours and of shading point identifiers behind the colour cache (section 5.3).

use super::bits::{BLOCK_BYTES, BLOCK_WORDS, Block};
use super::cache::{BlockCache, CacheAccess, Capacity};
use super::codec::{BlockFormat, Codec, PackedSize};
use super::spec::MemorySpec;
use super::traffic::{BufferTraffic, CodecCounts};
use quadrille_base::error::Result;
use quadrille_base::math::fit;

/// Buffer of 32-bit words, one or more per sample, with cache and compression.
#[derive(Debug)]
pub struct WordBuffer {
    blocks: Vec<Block>,
    cache: BlockCache,
    packer: Packer,
}

#[derive(Debug)]
struct Packer {
    spec: MemorySpec,
    format: BlockFormat,
    codecs: CodecCounts,
}

impl Packer {
    fn pack(&mut self, block: &Block) -> u64 {
        let size = PackedSize::of(&self.spec, block, self.format, 0);
        let codecs = &mut self.codecs;
        *match size.codec {
            Codec::Offset => &mut codecs.offset,
            Codec::MinMax => &mut codecs.min_max,
            Codec::Palette => &mut codecs.palette,
            Codec::Depth => &mut codecs.depth,
            Codec::Raw => &mut codecs.raw,
        } += 1;
        size.bytes
    }
}

impl WordBuffer {
    /// Creates a buffer of `words` words in clear blocks. Clear blocks repeat `clear_value`, whose length divides 64.
    ///
    /// # Errors
    /// [`Error::Limit`](quadrille_base::error::Error::Limit) for more than 2^32 blocks.
    pub fn new(
        spec: &MemorySpec,
        format: BlockFormat,
        words: usize,
        clear_value: &[u32],
    ) -> Result<Self> {
        let blocks = super::blocks_of(words)?;
        let values = clear_value.iter().cycle().copied();
        let mut clear = [0; BLOCK_WORDS];
        clear.iter_mut().zip(values).for_each(|(word, v)| *word = v);
        Ok(Self {
            blocks: vec![clear; blocks as usize],
            cache: BlockCache::new(Capacity::Bytes(spec.colour_cache_bytes), blocks),
            packer: Packer { spec: spec.clone(), format, codecs: CodecCounts::default() },
        })
    }

    /// Changes samples of `W` words. Bit `k` of `mask` stands for the sample whose first word is `first + k * W`; `value`
    /// returns the new words of the sample from `k` and the old words.
    #[inline]
    fn change<const W: usize>(
        &mut self,
        first: usize,
        mask: u64,
        is_blended: bool,
        mut value: impl FnMut(u32, [u32; W]) -> [u32; W],
    ) {
        let mut left = mask;
        while left != 0 {
            let number = (first + left.trailing_zeros() as usize * W) / BLOCK_WORDS;
            let end = ((number + 1) * BLOCK_WORDS).saturating_sub(first) / W;
            let in_block = match end {
                64.. => left,
                end => left & ((1 << end) - 1),
            };
            left &= !in_block;
            let is_whole = in_block.count_ones() as usize * W == BLOCK_WORDS;
            let block = &mut self.blocks[number];
            let mut samples = in_block;
            while samples != 0 {
                let k = samples.trailing_zeros();
                let at = (first + k as usize * W) % BLOCK_WORDS;
                let old = std::array::from_fn(|w| block[at + w]);
                block[at..at + W].copy_from_slice(&value(k, old));
                samples &= samples - 1;
            }
            let access =
                if is_whole && !is_blended { CacheAccess::WriteWhole } else { CacheAccess::Write };
            let (blocks, packer) = (&self.blocks, &mut self.packer);
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            self.cache.access(number, access, |block| packer.pack(&blocks[block as usize]));
        }
    }

    /// Writes samples of `W` words, where `W` divides 64 and `first`. Bit `k` of `mask` stands for the sample whose first
    /// word has the index `first + k * W`; `value` returns the words of the sample.
    #[inline]
    pub fn write<const W: usize>(
        &mut self,
        first: usize,
        mask: u64,
        mut value: impl FnMut(u32) -> [u32; W],
    ) {
        self.change(first, mask, false, |k, _| value(k));
    }

    /// Blends samples, selected as in [`WordBuffer::write`]; `value` also takes the old words, which are read.
    #[inline]
    pub fn blend<const W: usize>(
        &mut self,
        first: usize,
        mask: u64,
        value: impl FnMut(u32, [u32; W]) -> [u32; W],
    ) {
        self.change(first, mask, true, value);
    }

    /// Words of the sample whose first word has the index `first`.
    #[inline]
    pub fn sample<const W: usize>(&self, first: usize) -> [u32; W] {
        let block = &self.blocks[first / BLOCK_WORDS];
        std::array::from_fn(|w| block[first % BLOCK_WORDS + w])
    }

    /// Writes back all dirty blocks.
    pub fn flush(&mut self) {
        let (blocks, packer) = (&self.blocks, &mut self.packer);
        self.cache.flush(|block| packer.pack(&blocks[block as usize]));
    }

    /// Traffic of a read of blocks from memory, without the cache. Clear blocks need no read.
    pub fn read_from_memory(&self, blocks: impl IntoIterator<Item = u32>) -> BufferTraffic {
        let mut traffic = BufferTraffic::default();
        for block in blocks {
            let bytes = self.cache.stored_bytes(block);
            if bytes > 0 {
                traffic.add_read(bytes, BLOCK_BYTES as u64);
            }
        }
        traffic
    }

    /// Number of blocks of 64 words.
    pub fn block_count(&self) -> u32 {
        fit(self.blocks.len())
    }

    /// Current content of a block.
    pub fn block(&self, number: u32) -> &Block {
        &self.blocks[number as usize]
    }

    /// Bytes moved by the cache so far.
    pub fn traffic(&self) -> BufferTraffic {
        self.cache.traffic()
    }

    /// Numbers of blocks written so far, by codec.
    pub fn codecs(&self) -> CodecCounts {
        self.packer.codecs
    }
}
