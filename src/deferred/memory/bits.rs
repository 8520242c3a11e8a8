//! Bit fields in a block of memory.

/// Bytes of an uncompressed block (section 5.3).
pub const BLOCK_BYTES: usize = 256;
/// 32-bit words of an uncompressed block.
pub const BLOCK_WORDS: usize = BLOCK_BYTES / 4;

/// An uncompressed block.
pub type Block = [u32; BLOCK_WORDS];

/// Number of bits that `value` needs; 0 for 0.
#[inline]
pub fn significant_bits(value: u32) -> u32 {
    u32::BITS - value.leading_zeros()
}

/// Number of bits of an index into `count` entries, `count` at least 1.
#[inline]
pub fn index_bits(count: u32) -> u32 {
    significant_bits(count.max(1) - 1)
}

/// Writes fields one behind the other, from the lowest bit of the first word.
///
/// Encoders compute the size of what they write beforehand; fields beyond the block are dropped.
#[derive(Debug, Clone)]
pub struct BitWriter {
    words: Block,
    /// Bits written.
    bits: u32,
}

impl Default for BitWriter {
    fn default() -> Self {
        let words = [0; BLOCK_WORDS];
        Self { words, bits: 0 }
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

    /// The block with the fields.
    pub fn into_words(self) -> Block {
        self.words
    }
}

/// Reads the fields that a [`BitWriter`] wrote.
#[derive(Debug, Clone)]
pub struct BitReader<'a> {
    words: &'a Block,
    /// Bits read.
    bits: u32,
}

impl<'a> BitReader<'a> {
    /// Creates a reader of a block, from its first bit.
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

/// Lower and upper half.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "halves of 64 bits")]
fn halves(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_of_numbers() {
        assert_eq!([0, 1, 2, 255, 256].map(significant_bits), [0, 1, 2, 8, 9]);
        assert_eq!([1, 2, 3, 4, 5, 64].map(index_bits), [0, 1, 2, 2, 3, 6]);
        assert_eq!(significant_bits(u32::MAX), 32);
    }

    #[test]
    fn fields_of_all_widths_come_back() {
        let fields = [
            (0, 0),
            (1, 1),
            (u32::MAX, 32),
            (5, 3),
            (0xdead_beef, 32),
            (9, 31),
        ];
        let mut writer = BitWriter::default();
        for round in 0..17 {
            for (value, width) in fields {
                writer.put(value ^ (round << 1), width);
            }
        }
        assert_eq!(writer.bits(), 17 * 99);
        let words = writer.into_words();
        let mut reader = BitReader::new(&words);
        for round in 0..17_u32 {
            for (value, width) in fields {
                let kept = (1_u64 << width) - 1;
                let expected = u64::from(value ^ (round << 1)) & kept;
                assert_eq!(u64::from(reader.take(width)), expected);
            }
        }
    }

    #[test]
    fn nothing_is_written_or_read_beyond_the_block() {
        let mut writer = BitWriter::default();
        (0..70).for_each(|_| writer.put(u32::MAX, 31));
        let words = writer.into_words();
        let mut reader = BitReader::new(&words);
        (0..66).for_each(|_| assert_eq!(reader.take(31), u32::MAX >> 1));
        assert_eq!(reader.take(31), 3);
        assert_eq!(reader.take(31), 0);
    }
}
