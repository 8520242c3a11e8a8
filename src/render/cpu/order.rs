//! Sorting one tile's list.
//!
//! An entry holds a depth key in its high half and a slot in its low half. All entries of a list
//! differ, so every sorting algorithm yields the same order: by depth, ties by slot.

use fearless_simd::{Simd, dispatch};

use quadrille_base::math::{SimdLevel, low};

/// Lists up to this length are sorted by insertion alone.
const INSERTION_MAX: usize = 32;
const MOST_DIGIT_BITS: u32 = 12;
/// Insertion moves per entry before falling back to a sort with a bounded worst case.
const STEPS_PER_ENTRY: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Sorter {
    spare: Vec<u64>,
    /// One half per digit: for each value of the digit, first the count, then the next position.
    positions: Vec<u32>,
}

impl Sorter {
    /// Sorts `entries`, which must be distinct.
    ///
    /// Two radix passes over the leading bits leave few neighbours out of order, so that insertion needs about one
    /// comparison per entry. If many keys share their leading bits, a comparison sort takes over.
    pub(super) fn sort(&mut self, level: SimdLevel, entries: &mut [u64]) {
        // The code uses no lanes, but benefits from the level's shift and minimum instructions.
        dispatch!(level.frame_level(), simd => self.sort_on(simd, entries));
    }

    #[inline(always)]
    fn sort_on<S: Simd>(&mut self, _: S, entries: &mut [u64]) {
        if entries.len() > INSERTION_MAX {
            // A digit has at most as many values as there are entries, and more than half as many.
            match entries.len().ilog2() {
                // A constant width per instance takes 0.58 (truck) to 0.92 (object) of the time of one
                // width for all lists; one more bit takes 1.08 of the time.
                ..=5 => self.sort_leading_bits::<5>(entries),
                6 => self.sort_leading_bits::<6>(entries),
                7 => self.sort_leading_bits::<7>(entries),
                8 => self.sort_leading_bits::<8>(entries),
                9 => self.sort_leading_bits::<9>(entries),
                10 => self.sort_leading_bits::<10>(entries),
                11 => self.sort_leading_bits::<11>(entries),
                _ => self.sort_leading_bits::<MOST_DIGIT_BITS>(entries),
            }
        }
        if !insert_all(entries, entries.len().max(INSERTION_MAX) * STEPS_PER_ENTRY) {
            // If many keys share their leading bits, insertion would take quadratic time.
            entries.sort_unstable();
        }
    }

    /// Sorts by the leading bits in two radix passes of `BITS` bits; constant widths need no check of digit indices.
    #[inline(always)]
    fn sort_leading_bits<const BITS: u32>(&mut self, entries: &mut [u64]) {
        let (mut least, mut greatest) = (u32::MAX, 0);
        for &entry in entries.iter() {
            least = least.min(key(entry));
            greatest = greatest.max(key(entry));
        }
        let key_bits = u32::BITS - (greatest - least).leading_zeros();
        let shift = key_bits.saturating_sub(2 * BITS);
        let leading = |entry: u64| (key(entry) - least) >> shift;
        let mask = (1 << BITS) - 1;
        let low = |entry: u64| leading(entry) as usize & mask;
        let high = |entry: u64| (leading(entry) >> BITS) as usize & mask;

        self.positions.resize(2 << MOST_DIGIT_BITS, 0);
        let (low_positions, high_positions) = self.positions[..2 << BITS].split_at_mut(1 << BITS);
        low_positions.fill(0);
        high_positions.fill(0);
        for &entry in entries.iter() {
            // Counts do not depend on the order of the entries, so one pass over the list counts both digits.
            low_positions[low(entry)] += 1;
            high_positions[high(entry)] += 1;
        }
        let mut sums = [0; 2];
        for (low, high) in low_positions.iter_mut().zip(&mut *high_positions) {
            sums[0] += std::mem::replace(low, sums[0]);
            sums[1] += std::mem::replace(high, sums[1]);
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

#[inline(always)]
fn spread(from: &[u64], to: &mut [u64], positions: &mut [u32], digit: impl Fn(u64) -> usize) {
    for &entry in from {
        let position = &mut positions[digit(entry)];
        to[*position as usize] = entry;
        *position += 1;
    }
}

/// Insertion sort; gives up after about `steps` moves and returns false.
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
#[path = "tests/order.rs"]
mod tests;
