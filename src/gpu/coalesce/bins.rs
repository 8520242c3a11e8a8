//! Bins that gather items by key, as both coalescing units have them.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::pipeline::statistics::statistics;
use crate::pipeline::timing::Cycle;

/// No bin.
const NONE: u32 = u32::MAX;

/// Which bin makes room when all are occupied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evict {
    /// The one that was begun first.
    FirstIn,
    /// The one whose last item is the oldest.
    LeastRecentlyUsed,
}

statistics! {
    /// Why bins were flushed, and how full they were.
    #[derive(Serialize)]
    pub struct Flushes {
        /// The bin was full.
        pub full: u64,
        /// All bins were occupied and an item with a new key came.
        pub evicted: u64,
        /// Nothing had come for too long.
        pub timeout: u64,
        /// The draw ended.
        pub end: u64,
        /// Items flushed: over the sum of flushes, the mean occupancy.
        pub items: u64,
    }
}

impl Flushes {
    /// Flushes in all.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.full + self.evicted + self.timeout + self.end
    }
}

/// Why a bin is flushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    Full,
    Evicted,
    Timeout,
    End,
}

impl Flushes {
    pub(super) fn count(&mut self, reason: Reason, items: usize) {
        self.items += items as u64;
        *match reason {
            Reason::Full => &mut self.full,
            Reason::Evicted => &mut self.evicted,
            Reason::Timeout => &mut self.timeout,
            Reason::End => &mut self.end,
        } += 1;
    }
}

/// A bin: what it holds, and since when.
///
/// Its storage is a ring: new items go behind those that are being flushed, and wait only where
/// they would overtake them.
#[derive(Debug)]
pub(super) struct Bin<T> {
    key: u32,
    pub(super) items: Vec<T>,
    /// Order in which occupied bins were begun.
    begun: u64,
    pub(super) last_arrival: Cycle,
    /// When the item that was last in each place of the ring left it.
    left_at: Box<[Cycle]>,
    /// Place of the first item.
    first: usize,
}

impl<T> Bin<T> {
    fn place(&self, item: usize) -> usize {
        let place = self.first + item;
        if place < self.left_at.len() {
            place
        } else {
            place - self.left_at.len()
        }
    }

    /// When the places of the next `count` items are free.
    #[inline]
    pub(super) fn places_free_at(&self, count: usize) -> Cycle {
        // Items leave in order, so the last place is free last.
        self.left_at[self.place(self.items.len() + count - 1)]
    }
}

/// A bin that is being flushed: its key and its items.
#[derive(Debug)]
pub(super) struct Flushed<T> {
    bin: u32,
    pub(super) key: u32,
    pub(super) items: Vec<T>,
    left: usize,
}

/// All bins of a unit.
#[derive(Debug)]
pub(super) struct Bins<T> {
    bins: Vec<Bin<T>>,
    /// The bin of each key.
    of_key: Vec<u32>,
    /// Bins that hold nothing, in the order in which they were flushed.
    empty: VecDeque<u32>,
    begun: u64,
    evict: Evict,
}

impl<T> Bins<T> {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "bin counts and sizes are validated to be small"
    )]
    pub(super) fn new(count: u64, size: u64, keys: usize, evict: Evict) -> Self {
        let bin = |_| Bin {
            key: NONE,
            items: Vec::with_capacity(size as usize),
            begun: 0,
            last_arrival: 0,
            left_at: vec![0; size as usize].into(),
            first: 0,
        };
        Self {
            bins: (0..count).map(bin).collect(),
            of_key: vec![NONE; keys],
            empty: (0..count as u32).collect(),
            begun: 0,
            evict,
        }
    }

    /// The bin that gathers `key`.
    #[inline]
    pub(super) fn of(&self, key: u32) -> Option<u32> {
        let bin = self.of_key[key as usize];
        (bin != NONE).then_some(bin)
    }

    /// The bin whose storage is free first.
    #[inline]
    pub(super) fn empty(&self) -> Option<u32> {
        self.empty.front().copied()
    }

    /// The occupied bin that has to make room.
    #[allow(clippy::cast_possible_truncation, reason = "fewer bins than 2^32")]
    pub(super) fn victim(&self) -> u32 {
        let age = |bin: &Bin<T>| match self.evict {
            Evict::FirstIn => bin.begun,
            Evict::LeastRecentlyUsed => bin.last_arrival,
        };
        let occupied = self.bins.iter().enumerate().filter(|(_, b)| b.key != NONE);
        let oldest = occupied.min_by_key(|(_, b)| (age(b), b.begun));
        oldest.map_or(0, |(i, _)| i as u32)
    }

    /// Gives the first empty bin to `key`.
    pub(super) fn begin(&mut self, key: u32) -> u32 {
        let bin = self.empty.pop_front().unwrap_or(0);
        self.begun += 1;
        self.bins[bin as usize].key = key;
        self.bins[bin as usize].begun = self.begun;
        self.of_key[key as usize] = bin;
        bin
    }

    /// Takes the contents of a bin out, leaving it empty; give them back with
    /// [`Bins::give_back`] so that nothing is allocated.
    pub(super) fn take(&mut self, bin: u32) -> Flushed<T> {
        let b = &mut self.bins[bin as usize];
        let key = std::mem::replace(&mut b.key, NONE);
        self.of_key[key as usize] = NONE;
        self.empty.push_back(bin);
        Flushed {
            bin,
            key,
            items: std::mem::take(&mut b.items),
            left: 0,
        }
    }

    /// Notes that the next `count` items of a bin leave at `cycle`; their places are free in the
    /// next one.
    #[inline]
    pub(super) fn leave(&mut self, flushed: &mut Flushed<T>, count: usize, cycle: Cycle) {
        let bin = &mut self.bins[flushed.bin as usize];
        let (first, size) = (bin.place(flushed.left), bin.left_at.len());
        let end = size.min(first + count);
        bin.left_at[first..end].fill(cycle + 1);
        bin.left_at[..first + count - end].fill(cycle + 1);
        flushed.left += count;
    }

    /// Returns the storage of a bin whose items have left.
    pub(super) fn give_back(&mut self, mut flushed: Flushed<T>) {
        let bin = &mut self.bins[flushed.bin as usize];
        bin.first = bin.place(flushed.items.len());
        flushed.items.clear();
        bin.items = flushed.items;
    }

    #[inline]
    pub(super) fn bin(&mut self, bin: u32) -> &mut Bin<T> {
        &mut self.bins[bin as usize]
    }

    /// The occupied bin whose last item is the oldest, and when that came.
    #[allow(clippy::cast_possible_truncation, reason = "fewer bins than 2^32")]
    pub(super) fn stalest(&self) -> Option<(u32, Cycle)> {
        let occupied = self.bins.iter().enumerate().filter(|(_, b)| b.key != NONE);
        occupied
            .map(|(i, b)| (i as u32, b.last_arrival, b.begun))
            .min_by_key(|&(_, last, begun)| (last, begun))
            .map(|(i, last, _)| (i, last))
    }

    /// The occupied bin that was begun first.
    #[allow(clippy::cast_possible_truncation, reason = "fewer bins than 2^32")]
    pub(super) fn first(&self) -> Option<u32> {
        let occupied = self.bins.iter().enumerate().filter(|(_, b)| b.key != NONE);
        occupied.min_by_key(|(_, b)| b.begun).map(|(i, _)| i as u32)
    }
}
