//! Cache of blocks: fully associative, LRU, write-back. Blocks are raw in the cache and packed in memory (section 5.3).
//!
//! The cache holds no data. A buffer keeps the current content of all its blocks, and the cache decides which blocks
//! move. Access is sequential, so the content of an evicted block is the current content in the buffer.

use super::bits::BLOCK_BYTES;
use super::traffic::BufferTraffic;
use quadrille_machine::LruLines;

/// Capacity of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capacity {
    /// Capacity in bytes, rounded down to blocks, at least one block.
    Bytes(u64),
    /// Room for all blocks.
    Unbounded,
}

/// Resident blocks of a cache, and the packed sizes of all blocks in memory.
#[derive(Debug)]
pub struct BlockCache {
    /// Whether each resident block is dirty.
    lines: LruLines<bool>,
    /// Packed size of each block in memory, in bytes; 0 for a clear block, which needs no read.
    stored: Vec<u16>,
    block_bytes: u64,
    traffic: BufferTraffic,
}

/// Kind of access to a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheAccess {
    /// Reads a part or all of the block.
    Read,
    /// Writes a part of the block, whose old content is needed.
    Write,
    /// Writes the whole block, so that its old content is not needed.
    WriteWhole,
}

impl BlockCache {
    /// Creates an empty cache for a memory of `blocks` clear blocks of [`BLOCK_BYTES`].
    pub fn new(capacity: Capacity, blocks: u32) -> Self {
        Self::with_block_bytes(capacity, blocks, BLOCK_BYTES as u64)
    }

    /// Creates an empty cache for a memory of `blocks` clear blocks of `block_bytes` each.
    pub(crate) fn with_block_bytes(capacity: Capacity, blocks: u32, block_bytes: u64) -> Self {
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

    /// Accesses a block. `pack` returns the packed size of a block's current content in bytes, at most the size of a raw
    /// block; it is called for a dirty evicted block.
    #[inline]
    pub fn access(&mut self, block: u32, access: CacheAccess, pack: impl FnMut(u32) -> u64) {
        let slot = match self.lines.find(block) {
            Some(slot) => slot,
            None => self.fetch(block, access, pack),
        };
        if access != CacheAccess::Read {
            *self.lines.content(slot) = true;
        }
    }

    fn fetch(&mut self, block: u32, access: CacheAccess, mut pack: impl FnMut(u32) -> u64) -> u32 {
        let (slot, evicted, is_dirty) = self.lines.replace(block);
        if let Some(evicted) = evicted.filter(|_| is_dirty) {
            self.write_back(evicted, pack(evicted));
        }
        let stored = self.stored[block as usize];
        if stored > 0 && access != CacheAccess::WriteWhole {
            self.traffic.add_read(stored.into(), self.block_bytes);
        }
        slot
    }

    fn write_back(&mut self, block: u32, bytes: u64) {
        self.stored[block as usize] = u16::try_from(bytes).unwrap_or(u16::MAX);
        self.traffic.add_write(bytes, self.block_bytes);
    }

    /// Writes back all dirty blocks; they stay resident.
    pub fn flush(&mut self, mut pack: impl FnMut(u32) -> u64) {
        let resident = self.lines.resident();
        let dirty =
            resident.filter_map(|(block, is_dirty)| std::mem::take(is_dirty).then_some(block));
        let dirty: Vec<u32> = dirty.collect();
        for block in dirty {
            self.write_back(block, pack(block));
        }
    }

    /// Packed size of a block in memory, in bytes; 0 if it was never written back.
    #[inline]
    pub fn stored_bytes(&self, block: u32) -> u64 {
        u64::from(self.stored[block as usize])
    }

    /// Bytes moved so far.
    pub fn traffic(&self) -> BufferTraffic {
        self.traffic
    }
}
