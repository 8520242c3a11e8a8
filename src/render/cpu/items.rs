//! The work list of a batch: which splat goes into which block.

use fearless_simd::{Level, mask8x64, prelude::*, u8x64};

use super::tile::{SINK, TILE_BLOCKS};
use quadrille_base::math::lanes::GROUP;

/// Splats per batch.
pub(super) const BATCH: usize = 16;
const BLOCKS: usize = TILE_BLOCKS * TILE_BLOCKS;
/// Room for every splat in every block, and for one store beyond the end.
const CAPACITY: usize = BATCH * BLOCKS + BLOCKS;
/// Items written at a time where there is no instruction that packs bytes.
const STRIDE: usize = 8;

/// Pairs of a splat (its number in the batch) and a block of the tile, splat by splat.
pub(super) struct Items {
    splats: [u8; CAPACITY],
    blocks: [u8; CAPACITY],
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

    /// Lists the blocks of each splat's mask, padded with [`SINK`] to whole groups.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "a batch has 16 splats")]
    pub(super) fn list<S: Simd>(&mut self, simd: S, masks: &[u64; BATCH]) {
        self.len = 0;
        for (splat, &mask) in masks.iter().enumerate() {
            self.push(simd, splat as u8, mask);
        }
        let padded = self.len.next_multiple_of(GROUP);
        self.splats[self.len..padded].fill(0);
        self.blocks[self.len..padded].fill(SINK);
        self.len = padded;
    }

    /// Appends `splat` for each block of `mask`. It writes more items than it counts, and the next
    /// call overwrites them: a branch per item would be mispredicted once per splat.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "bit numbers are below 64")]
    fn push<S: Simd>(&mut self, simd: S, splat: u8, mut mask: u64) {
        let mut at = self.len;
        self.len += mask.count_ones() as usize;
        self.splats[at..at + BLOCKS].fill(splat);
        #[cfg(target_arch = "x86_64")]
        if let Level::Avx512(_) = simd.level() {
            let all = u8x64::from_fn(simd, |b| b as u8);
            let packed = all.compress(mask8x64::from_bitmask(simd, mask));
            packed.store_slice(&mut self.blocks[at..at + BLOCKS]);
            return;
        }
        while mask != 0 {
            for block in &mut self.blocks[at..at + STRIDE] {
                *block = mask.trailing_zeros() as u8;
                mask &= mask.wrapping_sub(1);
            }
            at += STRIDE;
        }
    }

    /// Number of items, padding included: a multiple of [`GROUP`].
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The items, group by group: splats and blocks.
    #[inline(always)]
    pub(super) fn groups(&self) -> impl Iterator<Item = (&[u8; GROUP], &[u8; GROUP])> {
        let splats = self.splats[..self.len].as_chunks().0;
        splats.iter().zip(self.blocks[..self.len].as_chunks().0)
    }
}

/// The outcome of each item, one bit per pixel. It is kept in memory and read once per batch, since
/// moving masks to integer registers item by item costs as much as the arithmetic of blending.
pub(super) struct Log {
    over_cut: [u16; CAPACITY],
    refused: [u16; CAPACITY],
}

impl Log {
    pub(super) fn new() -> Self {
        Self {
            over_cut: [0; CAPACITY],
            refused: [0; CAPACITY],
        }
    }

    /// The log's entries, group by group: pixels above the cut, and pixels that refused the fragment.
    #[inline(always)]
    pub(super) fn groups(
        &mut self,
    ) -> impl Iterator<Item = (&mut [u16; GROUP], &mut [u16; GROUP])> {
        let over_cut = self.over_cut.as_chunks_mut().0;
        over_cut.iter_mut().zip(self.refused.as_chunks_mut().0)
    }

    /// Number of fragments that the first `len` items blended.
    #[inline(always)]
    pub(super) fn blended(&self, len: usize) -> u64 {
        let blended = self.over_cut[..len].iter().zip(&self.refused[..len]);
        blended
            .map(|(over, refused)| u64::from((over & !refused).count_ones()))
            .sum()
    }

    /// One bit per block that has no open pixel left.
    #[inline(always)]
    pub(super) fn closed(&self, items: &Items) -> u64 {
        let refused = self.refused[..items.len].as_chunks::<GROUP>().0;
        let blocks = items.blocks[..items.len].as_chunks::<GROUP>().0;
        let mut closed = 0;
        for (refused, blocks) in refused.iter().zip(blocks) {
            if has_full_lane(bytemuck::cast(*refused)) {
                for (&refused, &block) in refused.iter().zip(blocks) {
                    // The sink has no bit.
                    if refused == u16::MAX && block < SINK {
                        closed |= 1 << block;
                    }
                }
            }
        }
        closed
    }
}

/// Whether one of the four 16-bit lanes is all ones.
#[inline(always)]
fn has_full_lane(bits: u64) -> bool {
    const ONES: u64 = 0x0001_0001_0001_0001;
    // The classic test for a zero lane, on the complement.
    (!bits).wrapping_sub(ONES) & bits & (ONES << 15) != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use fearless_simd::dispatch;
    use quadrille_base::math::SimdLevel;

    #[test]
    fn full_lanes_are_found() {
        for lane in 0..4 {
            assert!(has_full_lane(0xffff << (16 * lane)));
            assert!(!has_full_lane(0xfffe << (16 * lane)));
            assert!(!has_full_lane(0x7fff << (16 * lane)));
            assert!(has_full_lane(!(1 << (16 * lane))));
        }
        assert!(!has_full_lane(0) && has_full_lane(u64::MAX));
        assert!(!has_full_lane(0x7fff_fffe_efff_fff7));
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
            dispatch!(level.level(), simd => items.list(simd, &masks));
            let listed: Vec<(usize, usize)> = items
                .groups()
                .flat_map(|(s, b)| s.map(usize::from).into_iter().zip(b.map(usize::from)))
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
