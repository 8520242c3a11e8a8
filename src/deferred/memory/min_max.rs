//! Min/max offset codec: each value as its distance from the nearer end of the range of all values (section 4.2, figure 5
//! left). It suits ids of a few adjacent primitives in front of others or of the background.
//!
//! Layout: least and greatest value, width `b` in 5 bits, then per value a bit for the end and `b` bits of distance.

use super::bits::{BitReader, BitWriter, significant_bits};

/// Distances from the nearer end have at most 31 bits.
const WIDTH_BITS: u32 = 5;

/// Parameters of an encoded list of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MinMax {
    ends: [u32; 2],
    width: u32,
}

impl MinMax {
    /// Determines the parameters for `values`.
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

    /// Size of the encoding of `count` values, whose ends have `end_bits` each.
    #[inline]
    pub fn bits(&self, count: u32, end_bits: u32) -> u32 {
        2 * end_bits + WIDTH_BITS + count * (1 + self.width)
    }

    /// Appends the encoding of `values`.
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

    /// Reads values into all of `values`.
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
