//! Bins that gather items by key, and the order in which flushed bins are emptied.

use std::collections::VecDeque;

use quadrille::gpu::coalesce::bins::Flushes;
use quadrille::gpu::coalesce::flush_policy::Evict;

use super::queue::Cycle;

/// Why a bin is flushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    Full,
    Evicted,
    Timeout,
    End,
}

/// A bin. Its storage is a ring of as many entries as it may hold items.
#[derive(Debug)]
struct Bin<T> {
    key: Option<u32>,
    items: Vec<T>,
    /// Entries of flushed items that have not left.
    leaving: usize,
    /// Sequence number among all bins that were begun.
    begun: u64,
    last_arrival: Cycle,
}

/// A flushed bin on its way out.
#[derive(Debug)]
struct Flush<T> {
    bin: usize,
    key: u32,
    items: VecDeque<T>,
}

/// Items that leave together.
#[derive(Debug)]
pub(super) struct Leaving<T> {
    pub(super) key: u32,
    pub(super) items: Vec<T>,
    /// Whether they are the last of their flush.
    pub(super) last: bool,
}

/// All bins of a unit.
#[derive(Debug)]
pub(super) struct Bins<T> {
    bins: Vec<Bin<T>>,
    size: usize,
    evict: Evict,
    timeout: Option<u64>,
    /// Bins without a key, the one that was flushed first in front.
    empty: VecDeque<usize>,
    begun: u64,
    /// Flushed bins, in the order in which they leave.
    flushed: VecDeque<Flush<T>>,
    /// Entries that are free from the next cycle on, by bin.
    left_now: Vec<(usize, usize)>,
    pub(super) flushes: Flushes,
}

impl<T> Bins<T> {
    pub(super) fn new(count: u64, size: u64, evict: Evict, timeout: Option<u64>) -> Self {
        let bin = |_| Bin { key: None, items: Vec::new(), leaving: 0, begun: 0, last_arrival: 0 };
        Self {
            bins: (0..count).map(bin).collect(),
            size: size as usize,
            evict,
            timeout,
            empty: (0..count as usize).collect(),
            begun: 0,
            flushed: VecDeque::new(),
            left_now: Vec::new(),
            flushes: Flushes::default(),
        }
    }

    /// Frees the entries of the items that left in the cycle before, and flushes the bins for which
    /// nothing has come for too long.
    pub(super) fn begin_cycle(&mut self, now: Cycle) {
        for (bin, count) in self.left_now.drain(..) {
            self.bins[bin].leaving -= count;
        }
        while let Some(bin) = self.due(now) {
            self.flush(bin, Reason::Timeout);
        }
    }

    /// The bin that is due in this cycle; the oldest of several.
    fn due(&self, now: Cycle) -> Option<usize> {
        let timeout = self.timeout?;
        self.oldest(|bin| !bin.items.is_empty() && bin.last_arrival + timeout <= now)
    }

    fn oldest(&self, which: impl Fn(&Bin<T>) -> bool) -> Option<usize> {
        let held = (0..self.bins.len()).filter(|bin| self.bins[*bin].key.is_some());
        held.filter(|bin| which(&self.bins[*bin])).min_by_key(|bin| self.bins[*bin].begun)
    }

    fn flush(&mut self, bin: usize, reason: Reason) {
        let b = &mut self.bins[bin];
        let key = b.key.take().expect("a bin in use");
        let items: VecDeque<T> = std::mem::take(&mut b.items).into();
        b.leaving += items.len();
        self.flushes.items += items.len() as u64;
        *match reason {
            Reason::Full => &mut self.flushes.full,
            Reason::Evicted => &mut self.flushes.evicted,
            Reason::Timeout => &mut self.flushes.timeout,
            Reason::End => &mut self.flushes.end,
        } += 1;
        self.empty.push_back(bin);
        self.flushed.push_back(Flush { bin, key, items });
    }

    /// Flushes all bins, the oldest first.
    pub(super) fn flush_all(&mut self) {
        while let Some(bin) = self.oldest(|_| true) {
            self.flush(bin, Reason::End);
        }
    }

    /// The bin that gathers `key`. If there is none, an empty one is begun, for which another bin
    /// makes room if it has to.
    pub(super) fn bin_for(&mut self, key: u32) -> usize {
        if let Some(bin) = (self.bins.iter()).position(|bin| bin.key == Some(key)) {
            return bin;
        }
        if self.empty.is_empty() {
            let rank = |bin: &usize| {
                let bin = &self.bins[*bin];
                match self.evict {
                    Evict::FirstIn => (0, bin.begun),
                    Evict::LeastRecentlyUsed => (bin.last_arrival, bin.begun),
                }
            };
            let victim = (0..self.bins.len()).min_by_key(rank).expect("a bin");
            self.flush(victim, Reason::Evicted);
        }
        let bin = self.empty.pop_front().expect("an empty bin");
        self.begun += 1;
        self.bins[bin].key = Some(key);
        self.bins[bin].begun = self.begun;
        bin
    }

    /// Sequence number of a bin.
    pub(super) fn begun(&self, bin: usize) -> u64 {
        self.bins[bin].begun
    }

    /// Items that the bin takes before it is full.
    pub(super) fn room(&self, bin: usize) -> usize {
        self.size - self.bins[bin].items.len()
    }

    /// Entries of a bin that no item occupies.
    pub(super) fn places(&self, bin: usize) -> usize {
        self.size - self.bins[bin].items.len() - self.bins[bin].leaving
    }

    /// Writes items into a bin, and flushes it if it is full then.
    pub(super) fn write(&mut self, bin: usize, items: impl Iterator<Item = T>, now: Cycle) {
        let b = &mut self.bins[bin];
        b.items.extend(items);
        b.last_arrival = now;
        assert!(b.items.len() + b.leaving <= self.size, "an entry in use");
        if b.items.len() == self.size {
            self.flush(bin, Reason::Full);
        }
    }

    /// Whether a flushed item waits to leave.
    pub(super) fn has_flushed(&self) -> bool {
        !self.flushed.is_empty()
    }

    /// Takes up to `most` items of the first flush, whose entries are free in the next cycle.
    pub(super) fn take(&mut self, most: usize) -> Leaving<T> {
        let flush = self.flushed.front_mut().expect("a flush");
        let count = most.min(flush.items.len());
        let items: Vec<T> = flush.items.drain(..count).collect();
        self.left_now.push((flush.bin, count));
        let (key, last) = (flush.key, flush.items.is_empty());
        if last {
            self.flushed.pop_front();
        }
        Leaving { key, items, last }
    }

    /// Whether no item is held.
    pub(super) fn is_empty(&self) -> bool {
        self.flushed.is_empty() && self.bins.iter().all(|bin| bin.key.is_none())
    }
}
