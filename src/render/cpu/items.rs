//! The work list of a batch: which splat goes into which block.

#[cfg(target_arch = "x86_64")]
use fearless_simd::{Level, mask8x64, u8x64};
use fearless_simd::{prelude::*, u16x32};

use super::tile::{SINK, TILE_BLOCKS};
use quadrille_base::math::lanes::has_mask_registers;

/// Items that are shaded together where there are registers for them.
pub(super) const GROUP: usize = 4;
/// Splats per batch.
pub(super) const BATCH: usize = 16;
const BLOCKS: usize = TILE_BLOCKS * TILE_BLOCKS;
/// Room for every splat in every block, and for one store beyond the end.
const CAPACITY: usize = BATCH * BLOCKS + BLOCKS;
/// Items of which it is seen at a time whether any pixel was open to them.
const SCANNED: usize = 32;
const _: () = assert!(CAPACITY.is_multiple_of(SCANNED));
/// A one in every byte.
const EVERY_BYTE: u64 = 0x0101_0101_0101_0101;
/// The numbers of the bits of each byte, one per byte of the word: what packs bytes where no instruction does.
static PACKED: [u64; 256] = {
    let mut packed = [0; 256];
    let mut bits = 0;
    while bits < 256 {
        let (mut bit, mut at) = (0, 0);
        while bit < 8 {
            if bits >> bit & 1 == 1 {
                packed[bits] |= bit << (8 * at);
                at += 1;
            }
            bit += 1;
        }
        bits += 1;
    }
    packed
};

/// Pairs of a splat (its number in the batch) and a block of the tile, splat by splat.
pub(super) struct Items {
    splats: [u8; CAPACITY],
    blocks: [u8; CAPACITY],
    /// Number of items, padding included.
    len: usize,
}

impl Items {
    pub(super) fn new() -> Self {
        Self {
            splats: [0; CAPACITY],
            blocks: [0; CAPACITY],
            len: 0,
        }
    }

    /// Lists the blocks of each splat's mask, padded with [`SINK`] to whole groups where items are shaded in groups.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "a batch has 16 splats")]
    pub(super) fn list<S: Simd>(&mut self, simd: S, masks: &[u64; BATCH]) {
        let mut len = 0;
        for (splat, &mask) in masks.iter().enumerate() {
            self.write(simd, len, splat as u8, mask);
            len += mask.count_ones() as usize;
        }
        // More than is needed, of a fixed length: no call of a function that fills memory.
        self.splats[len..len + GROUP].fill(0);
        self.blocks[len..len + GROUP].fill(SINK);
        self.len = if has_mask_registers(simd) {
            len.next_multiple_of(GROUP)
        } else {
            len
        };
    }

    /// Writes `splat` for each block of `mask`, from item `at` on, and arbitrary items behind them, which the next
    /// call overwrites: a branch per item would be mispredicted once per splat.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "bit numbers are below 64")]
    fn write<S: Simd>(&mut self, simd: S, mut at: usize, splat: u8, mask: u64) {
        self.splats[at..at + BLOCKS].fill(splat);
        #[cfg(not(target_arch = "x86_64"))]
        let _ = simd;
        #[cfg(target_arch = "x86_64")]
        if let Level::Avx512(_) = simd.level() {
            let all = u8x64::from_fn(simd, |b| b as u8);
            let packed = all.compress(mask8x64::from_bitmask(simd, mask));
            packed.store_slice(&mut self.blocks[at..at + BLOCKS]);
            return;
        }
        for (row, bits) in (0..).zip(mask.to_le_bytes()) {
            let blocks = PACKED[usize::from(bits)] + row * EVERY_BYTE * TILE_BLOCKS as u64;
            self.blocks[at..at + TILE_BLOCKS].copy_from_slice(&blocks.to_le_bytes());
            at += bits.count_ones() as usize;
        }
    }

    /// The items, group by group: splats and blocks.
    #[inline(always)]
    pub(super) fn groups(&self) -> impl Iterator<Item = (&[u8; GROUP], &[u8; GROUP])> {
        let splats = self.splats[..self.len].as_chunks().0;
        splats.iter().zip(self.blocks[..self.len].as_chunks().0)
    }

    /// The items in parts of at most `most`: splats and blocks.
    #[inline(always)]
    pub(super) fn parts(&self, most: usize) -> impl Iterator<Item = (&[u8], &[u8])> {
        let splats = self.splats[..self.len].chunks(most);
        splats.zip(self.blocks[..self.len].chunks(most))
    }
}

/// Whether any pixel was open to each item; zero if none was. It is kept in memory and read once per batch, since
/// moving masks to integer registers item by item costs as much as the arithmetic of blending.
pub(super) struct Log {
    open: [u16; CAPACITY],
}

impl Log {
    pub(super) fn new() -> Self {
        Self {
            open: [0; CAPACITY],
        }
    }

    /// The log's entries, group by group.
    #[inline(always)]
    pub(super) fn groups(&mut self) -> impl Iterator<Item = &mut [u16; GROUP]> {
        self.open.as_chunks_mut().0.iter_mut()
    }

    /// The log's entries in parts of `most`.
    #[inline(always)]
    pub(super) fn parts(&mut self, most: usize) -> impl Iterator<Item = &mut [u16]> {
        self.open.chunks_mut(most)
    }

    /// One bit per block that has no open pixel left.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "32 lanes have 32 bits")]
    pub(super) fn closed<S: Simd>(&self, simd: S, items: &Items) -> u64 {
        let none = u16x32::splat(simd, 0);
        let mut closed = 0;
        for first in (0..items.len).step_by(SCANNED) {
            let open = u16x32::from_slice(simd, &self.open[first..first + SCANNED]);
            let mut refused = open.simd_eq(none).to_bitmask() as u32;
            while refused != 0 {
                let item = first + refused.trailing_zeros() as usize;
                refused &= refused - 1;
                let block = items.blocks[item];
                // Entries beyond the last item are of earlier batches, and the sink has no bit.
                let counts = item < items.len && block < SINK;
                closed |= u64::from(counts) << (block % SINK);
            }
        }
        closed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fearless_simd::dispatch;
    use quadrille_base::math::SimdLevel;

    #[test]
    fn blocks_are_closed_by_items_to_which_no_pixel_is_open() {
        let mut masks = [0; BATCH];
        masks[3] = u64::MAX;
        masks[9] = 0xff00_0000_0000_0005;
        let (mut items, mut log) = (Items::new(), Log::new());
        for level in SimdLevel::all() {
            dispatch!(level.frame_level(), simd => items.list(simd, &masks));
            // What an earlier batch left behind the items counts for nothing.
            log.open = [0; CAPACITY];
            log.open[..items.len].fill(0x8000);
            let of_item =
                |log: &Log| dispatch!(level.frame_level(), simd => log.closed(simd, &items));
            assert_eq!(of_item(&log), 0, "{}", level.name());
            log.open[5] = 0;
            log.open[63] = 0;
            // Block 2 of the second splat, and the padding.
            log.open[65] = 0;
            log.open[items.len - 1] = 0;
            assert_eq!(of_item(&log), 1 << 5 | 1 << 63 | 1 << 2, "{}", level.name());
        }
    }

    #[test]
    fn every_bit_of_every_mask_becomes_an_item_in_order() {
        let masks: [u64; BATCH] = std::array::from_fn(|i| match i {
            0 | 7 => 0,
            1 => u64::MAX,
            2 => 1 << 63,
            _ => {
                0x9e37_79b9_7f4a_7c15_u64.rotate_left(5 * u32::try_from(i).unwrap())
                    & 0x0f0f_3c3c_ffff_0001
            }
        });
        let expected: Vec<(usize, usize)> = (0..BATCH)
            .flat_map(|s| {
                (0..64)
                    .filter(move |b| masks[s] >> b & 1 == 1)
                    .map(move |b| (s, b))
            })
            .collect();
        for level in SimdLevel::all() {
            let mut items = Items::new();
            dispatch!(level.frame_level(), simd => items.list(simd, &masks));
            let listed: Vec<(usize, usize)> = items
                .parts(7)
                .flat_map(|(splats, blocks)| splats.iter().zip(blocks))
                .map(|(&splat, &block)| (usize::from(splat), usize::from(block)))
                .collect();
            assert_eq!(listed[..expected.len()], expected, "{}", level.name());
            assert!(listed.len() < expected.len() + GROUP);
            assert!(
                listed[expected.len()..]
                    .iter()
                    .all(|item| item.1 == usize::from(SINK))
            );
        }
    }
}
