//! Sorting one tile's list.
//!
//! An entry holds a depth key in its high half and a slot in its low half. All entries of a list
//! differ, so every sorting algorithm yields the same order: by depth, ties by slot.

use fearless_simd::{Simd, dispatch};

use quadrille_base::math::{SimdLevel, low};

/// Lists up to this long are sorted by insertion alone.
const INSERTION_MAX: usize = 32;
/// Minimum and maximum width of a digit, in bits.
const DIGIT_BITS: [u32; 2] = [5, 12];
/// Binary logarithm of the list's length minus the bits of a digit.
const DIGIT_BITS_BELOW_LEN: u32 = 3;
/// Insertion steps allowed per entry before a sort with a bounded worst case takes over.
const STEPS_PER_ENTRY: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Sorter {
    spare: Vec<u64>,
    /// For each value of two digits, one digit per half: its entries, then the position of the next one.
    positions: Vec<u32>,
}

impl Sorter {
    /// Sorts `entries`, which are all different.
    ///
    /// Two radix passes over the leading bits leave few neighbours out of order, and insertion needs
    /// about one comparison per entry. Where many keys share their leading bits, a comparison
    /// sort takes over.
    pub(super) fn sort(&mut self, level: SimdLevel, entries: &mut [u64]) {
        // The code uses no lanes, but the level's shifts and minima are cheaper.
        dispatch!(level.level(), simd => self.sort_on(simd, entries));
    }

    #[inline(always)]
    fn sort_on<S: Simd>(&mut self, _: S, entries: &mut [u64]) {
        if entries.len() > INSERTION_MAX {
            self.sort_leading_bits(entries);
        }
        let steps = entries.len().max(INSERTION_MAX) * STEPS_PER_ENTRY;
        if !insert_all(entries, steps) {
            // Where many keys share their leading bits, insertion would take quadratic time.
            entries.sort_unstable();
        }
    }

    /// Sorts by the leading bits of the keys, in two passes of one digit each.
    #[inline(always)]
    fn sort_leading_bits(&mut self, entries: &mut [u64]) {
        let (mut least, mut greatest) = (u32::MAX, 0);
        for &entry in entries.iter() {
            least = least.min(key(entry));
            greatest = greatest.max(key(entry));
        }
        let [least_bits, most_bits] = DIGIT_BITS;
        // Only lists of more than INSERTION_MAX entries come here.
        let digit_bits =
            (entries.len().ilog2() - DIGIT_BITS_BELOW_LEN).clamp(least_bits, most_bits);
        let key_bits = u32::BITS - (greatest - least).leading_zeros();
        let shift = key_bits.saturating_sub(2 * digit_bits);
        let digits = 1_usize << digit_bits;
        let low = Digit {
            least,
            shift,
            mask: digits - 1,
        };
        let high = Digit {
            shift: shift + digit_bits,
            ..low
        };

        self.positions.clear();
        self.positions.resize(2 * digits, 0);
        let (low_positions, high_positions) = self.positions.split_at_mut(digits);
        for &entry in entries.iter() {
            // Counts do not depend on the order of the entries, so one pass over the list counts both digits.
            low_positions[low.of(entry)] += 1;
            high_positions[high.of(entry)] += 1;
        }
        for positions in [&mut *low_positions, &mut *high_positions] {
            let mut sum = 0;
            for position in positions {
                sum += std::mem::replace(position, sum);
            }
        }
        self.spare.resize(self.spare.len().max(entries.len()), 0);
        let spare = &mut self.spare[..entries.len()];
        spread(entries, spare, low_positions, low);
        spread(spare, entries, high_positions, high);
    }
}

#[inline(always)]
fn key(entry: u64) -> u32 {
    low(entry >> 32)
}

/// A digit of a list's keys.
#[derive(Clone, Copy)]
struct Digit {
    least: u32,
    /// The digit's lowest bit in `key - least`.
    shift: u32,
    /// One bit for each bit of the digit.
    mask: usize,
}

impl Digit {
    #[inline(always)]
    fn of(self, entry: u64) -> usize {
        ((key(entry) - self.least) >> self.shift) as usize & self.mask
    }
}

/// Moves each entry to the next position of its digit.
#[inline(always)]
fn spread(from: &[u64], to: &mut [u64], positions: &mut [u32], digit: Digit) {
    for &entry in from {
        let position = &mut positions[digit.of(entry)];
        to[*position as usize] = entry;
        *position += 1;
    }
}

/// Sorts by insertion and returns true, or gives up after about `steps` moves and returns false.
#[inline(always)]
fn insert_all(entries: &mut [u64], steps: usize) -> bool {
    let mut left = steps;
    for i in 1..entries.len() {
        let entry = entries[i];
        if entries[i - 1] > entry {
            let mut j = i;
            while j > 0 && entries[j - 1] > entry {
                entries[j] = entries[j - 1];
                j -= 1;
            }
            entries[j] = entry;
            if i - j > left {
                return false;
            }
            left -= i - j;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sorts entries whose keys are a function of their slots.
    fn sorted_alike(len: u32, key: impl Fn(u32) -> u32) {
        let entries: Vec<u64> = (0..len)
            .map(|slot| u64::from(key(slot)) << 32 | u64::from(slot))
            .collect();
        let mut expected = entries.clone();
        expected.sort_unstable();
        for level in SimdLevel::all() {
            let mut sorted = entries.clone();
            Sorter::default().sort(level, &mut sorted);
            assert!(sorted == expected, "{len} entries on {}", level.name());
        }
    }

    #[test]
    fn lists_of_any_length_and_any_keys_are_sorted() {
        for len in [0, 1, 2, 31, 32, 33, 100, 1000, 5000, 70_000] {
            sorted_alike(len, |slot| slot.wrapping_mul(0x9e37_79b9));
            sorted_alike(len, |slot| {
                0x4000_0000 + slot.wrapping_mul(0x9e37_79b9) % 1000
            });
            sorted_alike(len, |slot| 5000 - slot % 7);
            sorted_alike(len, |slot| u32::MAX - slot);
            sorted_alike(len, |_| 3);
            // All keys but one are close together.
            sorted_alike(len, |slot| if slot == 1 { u32::MAX } else { len - slot });
        }
    }
}
