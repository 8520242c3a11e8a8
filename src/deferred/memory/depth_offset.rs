//! Depth offset codec: the min/max offset codec for the samples that are not in the clear mask of the block's header
//! (Hasselgren and Akenine-Möller 2006; section 5.3).

use super::bits::{BLOCK_WORDS, BitReader, BitWriter, Block};
use super::min_max::MinMax;

/// Values of a block that are not clear, with the parameters of their encoding.
#[derive(Debug, Clone)]
pub(crate) struct DepthOffset {
    values: [u32; BLOCK_WORDS],
    count: u32,
    range: MinMax,
}

impl DepthOffset {
    /// Determines the encoding of a block; values with a bit in `clear` are left out.
    #[inline]
    pub(crate) fn of(block: &Block, clear: u64) -> Self {
        let mut values = [0; BLOCK_WORDS];
        let mut count = 0;
        let mut left = !clear;
        while left != 0 {
            values[count] = block[left.trailing_zeros() as usize];
            count += 1;
            left &= left - 1;
        }
        Self { values, count: (!clear).count_ones(), range: MinMax::of(&values[..count]) }
    }

    /// Size of the encoding in bits for values of `value_bits` bits; 0 if all values are clear.
    #[inline]
    pub(crate) fn bits(&self, value_bits: u32) -> u32 {
        match self.count {
            0 => 0,
            count => self.range.bits(count, value_bits),
        }
    }

    /// Appends the encoded values to `out`.
    pub(crate) fn write(&self, value_bits: u32, out: &mut BitWriter) {
        if self.count > 0 {
            self.range.write(&self.values[..self.count as usize], value_bits, out);
        }
    }

    /// Decodes a block; clear values become `clear_value`.
    pub(crate) fn read(
        clear: u64,
        clear_value: u32,
        value_bits: u32,
        from: &mut BitReader<'_>,
    ) -> Block {
        let mut values = [0; BLOCK_WORDS];
        let count = (!clear).count_ones() as usize;
        if count > 0 {
            MinMax::read(&mut values[..count], value_bits, from);
        }
        let mut values = values.into_iter();
        std::array::from_fn(|at| match clear >> at & 1 {
            0 => values.next().unwrap_or(clear_value),
            _ => clear_value,
        })
    }
}
