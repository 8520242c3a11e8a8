//! Palette codec: the distinct values of a block, stored as offsets from the smallest value, and an index per value
//! (section 4.2, figure 5 right). It suits positions in shading space, which decoupled sampling repeats.
//!
//! Layout: smallest value, number of entries minus 1 in 6 bits, width of an entry in 6 bits, entries, indices.

use super::bits::{BLOCK_WORDS, BitReader, BitWriter, Block, index_bits, significant_bits};

/// Bits of the field for the number of entries; the field for their width follows it.
const COUNT_BITS: u32 = 6;
const WIDTH_BITS: u32 = 6;
#[allow(clippy::cast_possible_truncation, reason = "64")]
const VALUES: u32 = BLOCK_WORDS as u32;

/// Distinct values of a block, with the parameters of their encoding.
#[derive(Debug, Clone)]
pub(crate) struct BlockPalette {
    /// Distinct values in order of first use.
    entries: [u32; BLOCK_WORDS],
    count: u32,
    least: u32,
    width: u32,
}

impl BlockPalette {
    /// Determines the palette of a block; `None` if its encoding has more than `most_bits` bits.
    #[inline]
    pub(crate) fn of(block: &Block, most_bits: u32) -> Option<Self> {
        let (mut least, mut greatest) = (u32::MAX, 0);
        for &value in block {
            least = least.min(value);
            greatest = greatest.max(value);
        }
        let mut palette = Self {
            entries: [0; BLOCK_WORDS],
            count: 0,
            least,
            width: significant_bits(greatest - least),
        };
        let mut last = None;
        for &value in block {
            // Fast path: neighbours are often equal.
            if last == Some(value) {
                continue;
            }
            last = Some(value);
            let known = &palette.entries[..palette.count as usize];
            if known.contains(&value) {
                continue;
            }
            palette.entries[palette.count as usize] = value;
            palette.count += 1;
            if palette.bits() > most_bits {
                return None;
            }
        }
        Some(palette)
    }

    /// Size of the encoding in bits.
    #[inline]
    pub(crate) fn bits(&self) -> u32 {
        let header = 32 + COUNT_BITS + WIDTH_BITS;
        header + self.count * self.width + VALUES * index_bits(self.count)
    }

    /// Appends the encoded block to `out`.
    pub(crate) fn write(&self, block: &Block, out: &mut BitWriter) {
        let entries = &self.entries[..self.count as usize];
        out.put(self.least, 32);
        out.put(self.count - 1, COUNT_BITS);
        out.put(self.width, WIDTH_BITS);
        for entry in entries {
            out.put(entry - self.least, self.width);
        }
        for value in block {
            let index = (0..).zip(entries).find(|(_, entry)| *entry == value);
            out.put(index.map_or(0, |(index, _)| index), index_bits(self.count));
        }
    }

    /// Decodes a block.
    pub(crate) fn read(from: &mut BitReader<'_>) -> Block {
        let least = from.take(32);
        let count = from.take(COUNT_BITS) + 1;
        let width = from.take(WIDTH_BITS).min(32);
        let mut entries = [0_u32; BLOCK_WORDS];
        for entry in &mut entries[..count as usize] {
            *entry = least.wrapping_add(from.take(width));
        }
        std::array::from_fn(|_| entries[from.take(index_bits(count)) as usize % BLOCK_WORDS])
    }
}
