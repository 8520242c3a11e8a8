//! Cache of blocks: fully associative, least-recently-used replacement, write-back. Blocks are raw in
//! the cache and packed in memory (section 5.3).
//!
//! The cache holds no data. A buffer keeps the present content of all its blocks, and the cache decides which
//! of them move: access is sequential, so an evicted block still has the content of the buffer.

use super::bits::BLOCK_BYTES;
use super::traffic::BufferTraffic;
use quadrille_machine::memory::lru::LruLines;

/// Capacity of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capacity {
    /// Bytes; at least one block.
    Bytes(u64),
    /// Room for all blocks.
    Unbounded,
}

/// Blocks that are resident in a cache, and the sizes of blocks in memory.
#[derive(Debug)]
pub struct BlockCache {
    /// Resident blocks, and whether each is dirty.
    lines: LruLines<bool>,
    /// Bytes of each block in memory; 0 for a block that is still clear, which needs no read.
    stored: Vec<u16>,
    /// Bytes of a raw block.
    block_bytes: u64,
    traffic: BufferTraffic,
}

/// Kind of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reads the block.
    Read,
    /// Writes some of the block.
    Write,
    /// Writes all of the block, so that its old content is not needed.
    WriteWhole,
}

impl BlockCache {
    /// Creates an empty cache for a memory of `blocks` clear blocks of [`BLOCK_BYTES`].
    pub fn new(capacity: Capacity, blocks: u32) -> Self {
        Self::with_block_bytes(capacity, blocks, BLOCK_BYTES as u64)
    }

    /// Creates an empty cache for a memory of `blocks` clear blocks of `block_bytes` each.
    pub fn with_block_bytes(capacity: Capacity, blocks: u32, block_bytes: u64) -> Self {
        let most = u64::from(blocks.max(1));
        let ways = match capacity {
            Capacity::Bytes(bytes) => (bytes / block_bytes).clamp(1, most),
            Capacity::Unbounded => most,
        };
        Self {
            lines: LruLines::new(1, ways, blocks),
            stored: vec![0; blocks as usize],
            block_bytes,
            traffic: BufferTraffic::default(),
        }
    }

    /// Accesses a block. `pack` returns the bytes that a block's present content takes in memory, at most the
    /// size of a raw block; it is called for an evicted block before `block` changes.
    #[inline]
    pub fn access(&mut self, block: u32, access: Access, pack: impl FnMut(u32) -> u64) {
        let slot = match self.lines.find(block) {
            Some(slot) => slot,
            None => self.fetch(block, access, pack),
        };
        if access != Access::Read {
            *self.lines.content(slot) = true;
        }
    }

    /// Brings in a block that is not resident; returns its slot.
    fn fetch(&mut self, block: u32, access: Access, mut pack: impl FnMut(u32) -> u64) -> u32 {
        let (slot, evicted, is_dirty) = self.lines.replace(block);
        if let Some(evicted) = evicted.filter(|_| is_dirty) {
            self.write_back(evicted, pack(evicted));
        }
        let stored = self.stored[block as usize];
        if stored > 0 && access != Access::WriteWhole {
            self.traffic.add_read(stored.into(), self.block_bytes);
        }
        slot
    }

    fn write_back(&mut self, block: u32, bytes: u64) {
        self.stored[block as usize] = u16::try_from(bytes).unwrap_or(u16::MAX);
        self.traffic.add_write(bytes, self.block_bytes);
    }

    /// Writes back all dirty blocks, which stay resident.
    pub fn flush(&mut self, mut pack: impl FnMut(u32) -> u64) {
        let resident = self.lines.resident();
        let dirty =
            resident.filter_map(|(block, is_dirty)| std::mem::take(is_dirty).then_some(block));
        let dirty: Vec<u32> = dirty.collect();
        for block in dirty {
            self.write_back(block, pack(block));
        }
    }

    /// Bytes of a block in memory; 0 for a block that was never written back.
    #[inline]
    pub fn stored_bytes(&self, block: u32) -> u64 {
        u64::from(self.stored[block as usize])
    }

    /// Transfers so far.
    pub fn traffic(&self) -> BufferTraffic {
        self.traffic
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    const BLOCKS: u32 = 200;

    /// Random accesses around a place that moves, as of a raster.
    fn accesses() -> Vec<(u32, Access)> {
        let mut rng = Pcg64::seed_from_u64(3);
        let access = |number: u32| {
            let block = (number / 50 + rng.random_range(0..40_u32)) % BLOCKS;
            let access = match rng.random_range(0..4_u8) {
                0 => Access::WriteWhole,
                1 => Access::Write,
                _ => Access::Read,
            };
            (block, access)
        };
        (0..20_000).map(access).collect()
    }

    fn run(capacity: Capacity) -> BufferTraffic {
        let mut cache = BlockCache::new(capacity, BLOCKS);
        for (block, access) in accesses() {
            cache.access(block, access, |_| 64);
        }
        cache.flush(|_| 64);
        cache.flush(|_| unreachable!("nothing is dirty any more"));
        cache.traffic()
    }

    #[test]
    fn misses_fall_with_the_size() {
        let sizes = [1, 2, 4, 8, 16, 32, 64, 128].map(|blocks| run(Capacity::Bytes(256 * blocks)));
        for pair in sizes.windows(2) {
            assert!(pair[1].bytes() <= pair[0].bytes() && pair[1].raw <= pair[0].raw);
        }
        assert!(sizes[0].bytes() > 10 * sizes[7].bytes());
        assert!(
            sizes
                .iter()
                .all(|traffic| traffic.raw == 4 * traffic.bytes())
        );
    }

    #[test]
    fn an_unbounded_cache_writes_each_dirty_block_once_and_reads_none() {
        let mut dirty: Vec<u32> = accesses()
            .into_iter()
            .filter_map(|(block, access)| (access != Access::Read).then_some(block))
            .collect();
        dirty.sort_unstable();
        dirty.dedup();
        let traffic = run(Capacity::Unbounded);
        assert_eq!((traffic.read, traffic.write), (0, 64 * dirty.len() as u64));
    }

    #[test]
    fn clear_and_wholly_written_blocks_are_not_fetched() {
        let mut cache = BlockCache::new(Capacity::Bytes(256), 3);
        let read = |cache: &BlockCache| cache.traffic().read;
        cache.access(0, Access::Read, |_| unreachable!());
        cache.access(1, Access::Write, |_| unreachable!());
        assert_eq!(read(&cache), 0);
        // Block 1 is dirty and leaves packed; block 0 is still clear.
        cache.access(0, Access::Write, |block| 128 + u64::from(block));
        assert_eq!((read(&cache), cache.traffic().write), (0, 129));
        cache.access(1, Access::WriteWhole, |_| 64);
        assert_eq!((read(&cache), cache.traffic().write), (0, 193));
        cache.access(0, Access::Read, |_| 192);
        assert_eq!(read(&cache), 64);
        cache.access(1, Access::Read, |_| unreachable!("block 0 is not dirty"));
        assert_eq!((read(&cache), cache.stored_bytes(1)), (256, 192));
    }

    #[test]
    fn the_least_recently_used_block_leaves() {
        let mut cache = BlockCache::new(Capacity::Bytes(512), 4);
        for block in [0, 1, 0, 2] {
            cache.access(block, Access::Write, |block| {
                assert_eq!(block, 1);
                64
            });
        }
    }
}
