//! Coarse part of a port's calendar, before its oldest window: free parts of bytes in blocks of many windows.
//!
//! A block does not record which of its cycles have room, so bytes that fit into the block of their cycle pass in
//! that cycle. The port as a whole still moves no more bytes than its rate allows.

use quadrille_base::math::index;

/// Pairs of blocks are joined when a run outgrows this number of blocks.
const MOST_BLOCKS: usize = 4096;

#[derive(Debug, Clone, Copy)]
struct Block {
    free: u64,
    /// Lower bound on the first block with room after this one, where a search goes on while this block is full.
    next: usize,
}

/// Free parts of the windows that a calendar no longer keeps.
#[derive(Debug)]
pub(super) struct Past {
    blocks: Vec<Block>,
    length: u64,
}

impl Past {
    pub(super) fn new(length: u64) -> Self {
        Self { blocks: Vec::new(), length }
    }

    /// Adds `count` windows from `window` on, which follow all earlier ones, with `free` parts each.
    pub(super) fn add(&mut self, mut window: u64, count: u64, free: u64) {
        let end = window + count;
        while end > self.length * MOST_BLOCKS as u64 {
            self.join();
        }
        while window < end {
            let block = window / self.length;
            let until = end.min((block + 1) * self.length);
            if index(block) == self.blocks.len() {
                let next = index(block) + 1;
                self.blocks.push(Block { free: 0, next });
            }
            self.blocks[index(block)].free += free * (until - window);
            window = until;
        }
    }

    /// Books up to `parts` from `window` on in one block; returns their number and first window, or `None` if all are full.
    pub(super) fn book(&mut self, parts: u64, window: u64) -> Option<(u64, u64)> {
        let from = index(window / self.length);
        let mut found = from;
        while self.blocks.get(found)?.free == 0 {
            found = self.blocks[found].next;
            // A short cut, so that requests to a saturated port do not scan full blocks. The last block is not
            // skipped, since it still grows.
            self.blocks[from].next = found.min(self.blocks.len() - 1).max(from + 1);
        }
        let room = &mut self.blocks[found];
        let taken = parts.min(room.free);
        room.free -= taken;
        Some((taken, window.max(found as u64 * self.length)))
    }

    fn join(&mut self) {
        self.length *= 2;
        let joined = self
            .blocks
            .chunks(2)
            .zip(1..)
            .map(|(pair, next)| Block { free: pair.iter().map(|block| block.free).sum(), next });
        self.blocks = joined.collect();
    }
}
