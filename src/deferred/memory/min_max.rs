//! Min/max offset codec: each value is stored as its distance from the nearer end of the range of values (section 4.2,
//! figure 5 left). It suits ids of a few adjacent primitives in front of other primitives or of the background.
//!
//! Layout: smallest and largest value, width `b` in 5 bits, then per value a bit for the end and `b` bits of distance.

use super::bits::{BitReader, BitWriter, significant_bits};

/// Bits of the width field: distances from the nearer end have at most 31 bits.
const WIDTH_BITS: u32 = 5;

/// Ends of the range of a list of values, and width of the distances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MinMax {
    ends: [u32; 2],
    width: u32,
}

impl MinMax {
    /// Determines the parameters of `values`.
    #[inline]
    pub(crate) fn of(values: &[u32]) -> Self {
        let (mut least, mut greatest) = (u32::MAX, 0);
        for &value in values {
            least = least.min(value);
            greatest = greatest.max(value);
        }
        if values.is_empty() {
            least = 0;
        }
        let mut all = 0;
        for &value in values {
            all |= (value - least).min(greatest - value);
        }
        Self { ends: [least, greatest], width: significant_bits(all) }
    }

    /// Size in bits of the encoding of `count` values, with `end_bits` for each end of the range.
    #[inline]
    pub fn bits(&self, count: u32, end_bits: u32) -> u32 {
        2 * end_bits + WIDTH_BITS + count * (1 + self.width)
    }

    /// Appends the encoded values to `out`, with `end_bits` for each end of the range.
    pub fn write(&self, values: &[u32], end_bits: u32, out: &mut BitWriter) {
        let [least, greatest] = self.ends;
        out.put(least, end_bits);
        out.put(greatest, end_bits);
        out.put(self.width, WIDTH_BITS);
        for &value in values {
            let (up, down) = (value - least, greatest - value);
            out.put(u32::from(down < up), 1);
            out.put(up.min(down), self.width);
        }
    }

    /// Decodes as many values as `values` has.
    pub(crate) fn read(values: &mut [u32], end_bits: u32, from: &mut BitReader<'_>) {
        let (least, greatest) = (from.take(end_bits), from.take(end_bits));
        let width = from.take(WIDTH_BITS);
        for value in values {
            let is_down = from.take(1) == 1;
            let distance = from.take(width);
            *value = match is_down {
                true => greatest.wrapping_sub(distance),
                false => least.wrapping_add(distance),
            };
        }
    }
}
