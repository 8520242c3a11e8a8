//! Number of passes and memory traffic of the radix sort of keys and splats.

/// Least-significant-digit radix sort that counts all digits in one pass over the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RadixSort {
    /// Bits of a key by which the sort orders.
    pub key_bits: u64,
    pub(crate) digit_bits: u64,
    /// Bytes of a key, and bytes of a value.
    pub bytes: [u64; 2],
}

impl RadixSort {
    pub(crate) fn passes(&self) -> u64 {
        self.key_bits.div_ceil(self.digit_bits)
    }

    /// Bytes of memory traffic per pair: the key once for the counts, and key and value in and out in each pass.
    pub(crate) fn bytes_per_pair(&self) -> u64 {
        let [key, value] = self.bytes;
        key + self.passes() * 2 * (key + value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::assign::key_bits;

    /// 980x545 pixels are 62x35 tiles, whose numbers take 12 bits: 44 bits, six passes, 8 + 24 * 6 bytes. Depths alone take
    /// 32 bits, four passes, 4 + 16 * 4 bytes.
    #[test]
    fn passes_and_bytes_follow_from_the_key() {
        let pairs = RadixSort { key_bits: key_bits(62 * 35), digit_bits: 8, bytes: [8, 4] };
        assert_eq!((pairs.key_bits, pairs.passes()), (44, 6));
        assert_eq!(pairs.bytes_per_pair(), 152);
        let depths = RadixSort { key_bits: 32, digit_bits: 8, bytes: [4, 4] };
        assert_eq!((depths.passes(), depths.bytes_per_pair()), (4, 68));
        // The number of tiles sets the bits: 1 tile takes one bit, 2 tiles take two.
        assert_eq!([1, 2, 255, 256].map(key_bits), [33, 34, 40, 41]);
    }
}
