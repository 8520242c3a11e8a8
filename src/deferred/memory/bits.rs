//! Streams of bit fields in a block of memory.

use quadrille_base::math::low;

/// Bytes per uncompressed block (section 5.3).
pub const BLOCK_BYTES: usize = 256;
/// 32-bit words per uncompressed block.
pub const BLOCK_WORDS: usize = BLOCK_BYTES / 4;

/// Words of an uncompressed block.
pub type Block = [u32; BLOCK_WORDS];

/// Number of bits up to the highest set bit of `value`; 0 for 0.
#[inline]
pub fn significant_bits(value: u32) -> u32 {
    u32::BITS - value.leading_zeros()
}

/// Number of bits of an index into `count` entries, `count` at least 1.
#[inline]
pub fn index_bits(count: u32) -> u32 {
    significant_bits(count.max(1) - 1)
}

/// Writes bit fields without gaps, from the lowest bit of the first word on.
///
/// Encoders compute the size of their output beforehand; fields beyond the block are dropped.
#[derive(Debug, Clone)]
pub struct BitWriter {
    words: Block,
    bits: u32,
}

impl Default for BitWriter {
    fn default() -> Self {
        Self { words: [0; BLOCK_WORDS], bits: 0 }
    }
}

impl BitWriter {
    /// Appends the lowest `width` bits of `value`, at most 32.
    #[inline]
    pub fn put(&mut self, value: u32, width: u32) {
        let value = u64::from(value) & ((1 << width) - 1);
        let (at, shift) = ((self.bits / 32) as usize, self.bits % 32);
        let [low, high] = halves(value << shift);
        if let Some(word) = self.words.get_mut(at) {
            *word |= low;
        }
        if let Some(word) = self.words.get_mut(at + 1) {
            *word |= high;
        }
        self.bits += width;
    }

    /// Number of bits written.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns the block with the fields.
    pub fn into_words(self) -> Block {
        self.words
    }
}

/// Reads the fields that a [`BitWriter`] wrote.
#[derive(Debug, Clone)]
pub struct BitReader<'a> {
    words: &'a Block,
    bits: u32,
}

impl<'a> BitReader<'a> {
    /// Creates a reader at the first bit of a block.
    pub fn new(words: &'a Block) -> Self {
        Self { words, bits: 0 }
    }

    /// Reads a field of `width` bits, at most 32; bits beyond the block are 0.
    #[inline]
    pub fn take(&mut self, width: u32) -> u32 {
        let (at, shift) = ((self.bits / 32) as usize, self.bits % 32);
        let word = |at: usize| u64::from(self.words.get(at).copied().unwrap_or(0));
        let pair = word(at) | word(at + 1) << 32;
        self.bits += width;
        halves(pair >> shift & ((1 << width) - 1))[0]
    }
}

#[inline]
fn halves(value: u64) -> [u32; 2] {
    [low(value), low(value >> 32)]
}
