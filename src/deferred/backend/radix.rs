//! Radix sort of the identifiers of a tile (section 4.3).
//!
//! The unit sorts by digits of 8 bits, lowest first, between two buffers on chip. Keys are stored in byte planes, so that
//! the histogram of a digit reads one plane. Planes of zeros need no pass and are not moved, since the load of the tile
//! finds the greatest primitive and position in shading space. The value beside a key is the sample's index in the tile.
//!
//! The host sorts entries of 12 bytes, which gives the same order, and counts the bytes that the unit would move.

use std::ops::AddAssign;

use crate::memory::bits::{BLOCK_WORDS, Block, significant_bits};
use crate::memory::codec::integer_bits;
use crate::shading::spid::Spid;

const DIGIT_BITS: u32 = 8;
const DIGITS: usize = 1 << DIGIT_BITS;
/// Bits of a key: primitive id and Morton position.
const KEY_BITS: u64 = 64;

/// An identifier and the sample that shows it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SortEntry {
    /// Shading point that is visible in the sample.
    pub spid: Spid,
    /// Index of the sample in the tile: `(y * tile + x) * samples + sample`.
    pub value: u32,
}

/// Counters of the sort.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SortCounters {
    /// Tiles with a covered sample; other tiles are not sorted.
    pub tiles: u64,
    /// Passes, each of a histogram and a shuffle, summed over the tiles.
    pub passes: u64,
    /// Identifiers sorted.
    pub identifiers: u64,
    /// Bytes read and written on chip without compression.
    pub raw_bytes: u64,
    /// Bytes read and written on chip if each plane is packed in blocks of 64 values; 0 if not measured.
    pub packed_bytes: u64,
}

impl SortCounters {
    /// Mean number of passes per sorted tile; 0 if no tile was sorted.
    pub fn passes_mean(&self) -> f64 {
        self.passes as f64 / self.tiles.max(1) as f64
    }
}

impl AddAssign for SortCounters {
    fn add_assign(&mut self, other: Self) {
        self.tiles += other.tiles;
        self.passes += other.passes;
        self.identifiers += other.identifiers;
        self.raw_bytes += other.raw_bytes;
        self.packed_bytes += other.packed_bytes;
    }
}

/// Bits of the value beside a key: an index into the samples of a tile.
pub fn value_bits(tile_samples: u64) -> u32 {
    u64::BITS - tile_samples.saturating_sub(1).leading_zeros()
}

/// Bits of a tile's buffer on chip, with a key and a value per sample. This sort has two buffers; an in-place sort one.
pub fn buffer_bits(tile_samples: u64) -> u64 {
    tile_samples * (KEY_BITS + u64::from(value_bits(tile_samples)))
}

/// Numbers of digits in the two halves of a tile's keys; higher digits are 0 in all keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Digits {
    morton: u32,
    primitive: u32,
}

impl Digits {
    fn of(entries: &[SortEntry]) -> Self {
        let (mut primitive, mut morton) = (0, 0);
        for entry in entries {
            primitive |= entry.spid.primitive;
            morton |= entry.spid.morton;
        }
        // The bitwise or of all keys has as many digits as the greatest key, and needs no comparisons.
        let bytes = |all: u32| significant_bits(all).div_ceil(DIGIT_BITS);
        Self { morton: bytes(morton), primitive: bytes(primitive) }
    }

    fn count(self) -> u32 {
        self.morton + self.primitive
    }

    /// Digit `number` of a key, lowest first; digits that are 0 in all keys are not counted.
    #[inline]
    fn digit(self, spid: Spid, number: u32) -> usize {
        let word = match number.checked_sub(self.morton) {
            None => spid.morton >> (DIGIT_BITS * number),
            Some(number) => spid.primitive >> (DIGIT_BITS * number),
        };
        word as usize % DIGITS
    }
}

/// Sort unit with its buffers.
#[derive(Debug, Default)]
pub struct TileSort {
    other: Vec<SortEntry>,
    /// Off by default: measuring packed bytes takes longer than the sort.
    measures_packed: bool,
}

impl TileSort {
    /// Creates the unit; `measures_packed` also counts packed bytes.
    pub fn new(measures_packed: bool) -> Self {
        Self { other: Vec::new(), measures_packed }
    }

    /// Sorts the entries of a tile by identifier with a stable sort. `value_bits` is the size of a value on chip.
    pub fn sort(&mut self, entries: &mut Vec<SortEntry>, value_bits: u32) -> SortCounters {
        let digits = Digits::of(entries);
        let count = entries.len() as u64;
        let mut counters = SortCounters {
            // Primitive ids begin at 1, so all keys of a tile are 0 only if every sample shows the background.
            tiles: (digits.count() > 0).into(),
            passes: digits.count().into(),
            identifiers: count,
            ..SortCounters::default()
        };
        // A pass reads one plane for the histogram, and reads and writes all planes and the values. The
        // total is rounded up to whole bytes.
        let moved_bits = u64::from(digits.count() * DIGIT_BITS + value_bits);
        let pass_bits = count * (u64::from(DIGIT_BITS) + 2 * moved_bits);
        counters.raw_bytes = u64::from(digits.count()) * pass_bits.div_ceil(8);
        let mut before = self.measured(entries, digits, value_bits);
        self.other.clear();
        self.other.resize(entries.len(), SortEntry::default());
        for number in 0..digits.count() {
            shuffle(entries, &mut self.other, |spid| digits.digit(spid, number));
            std::mem::swap(entries, &mut self.other);
            let after = self.measured(entries, digits, value_bits);
            // The histogram reads one plane before the shuffle reads and writes all planes.
            let bits = before.planes[number as usize] + before.total() + after.total();
            counters.packed_bytes += bits.div_ceil(8);
            before = after;
        }
        counters
    }

    fn measured(&self, entries: &[SortEntry], digits: Digits, value_bits: u32) -> StreamBits {
        match self.measures_packed {
            true => StreamBits::of(entries, digits, value_bits),
            false => StreamBits::default(),
        }
    }
}

fn shuffle(from: &[SortEntry], to: &mut [SortEntry], digit: impl Fn(Spid) -> usize) {
    let mut next = [0_usize; DIGITS];
    for entry in from {
        next[digit(entry.spid)] += 1;
    }
    let mut start = 0;
    for slot in &mut next {
        start += std::mem::replace(slot, start);
    }
    for entry in from {
        let slot = &mut next[digit(entry.spid)];
        to[*slot] = *entry;
        *slot += 1;
    }
}

/// Packed size of a tile's digit planes and values, in bits, packed 64 entries at a time.
#[derive(Debug, Clone, Copy, Default)]
struct StreamBits {
    planes: [u64; 8],
    values: u64,
}

impl StreamBits {
    fn of(entries: &[SortEntry], digits: Digits, value_bits: u32) -> Self {
        let mut bits = Self::default();
        for chunk in entries.chunks(BLOCK_WORDS) {
            for number in 0..digits.count() {
                let digit = |entry: &SortEntry| digits.digit(entry.spid, number);
                let values = chunk.iter().map(digit).map(|digit| u32::try_from(digit).unwrap_or(0));
                bits.planes[number as usize] += packed_bits(values, chunk.len(), DIGIT_BITS);
            }
            let values = chunk.iter().map(|entry| entry.value);
            bits.values += packed_bits(values, chunk.len(), value_bits);
        }
        bits
    }

    fn total(&self) -> u64 {
        self.planes.iter().sum::<u64>() + self.values
    }
}

/// Bits of up to 64 values of `width` bits, packed or raw, whichever is smaller. Repeats the last value to fill a block.
fn packed_bits(values: impl Iterator<Item = u32>, count: usize, width: u32) -> u64 {
    let mut block: Block = [0; BLOCK_WORDS];
    let mut last = 0;
    for (slot, value) in block.iter_mut().zip(values) {
        *slot = value;
        last = value;
    }
    block[count..].fill(last);
    let raw = count as u64 * u64::from(width);
    raw.min(integer_bits(&block).into())
}
