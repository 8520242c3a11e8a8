//! Bins that gather items by key, shared by both coalescing units.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::flush_policy::{BinStatus, FlushPolicy};
use quadrille_base::math::index;
use quadrille_machine::{
    Activity, BEAT_QUADS, Cycle, IssuePort, Rate, RateClock, Visitor, statistics,
};

const NONE: u32 = u32::MAX;

statistics! {
    /// Flushes of bins by reason.
    #[derive(Serialize, Deserialize)]
    pub struct Flushes {
        /// Flushes of full bins.
        pub full: u64,
        /// Flushes that made room for an item with a new key.
        pub evicted: u64,
        /// Flushes of bins that reached the timeout.
        pub timeout: u64,
        /// Flushes at the end of the draw.
        pub end: u64,
        /// Flushes before an item that must not share a bin with the items in it.
        pub conflict: u64,
        /// Flushes of bins whose oldest splat was too far behind the newest one, or in the way of vertex shading.
        pub span: u64,
        /// Items flushed. Divided by the number of flushes, this is the mean occupancy.
        pub items: u64,
    }
}

impl Flushes {
    /// Number of flushes for any reason.
    pub fn total(&self) -> u64 {
        self.full + self.evicted + self.timeout + self.end + self.conflict + self.span
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    Full,
    Evicted,
    Timeout,
    End,
    Conflict,
    Span,
}

impl Flushes {
    pub(super) fn count(&mut self, reason: Reason, items: usize) {
        self.items += items as u64;
        *match reason {
            Reason::Full => &mut self.full,
            Reason::Evicted => &mut self.evicted,
            Reason::Timeout => &mut self.timeout,
            Reason::End => &mut self.end,
            Reason::Conflict => &mut self.conflict,
            Reason::Span => &mut self.span,
        } += 1;
    }
}

/// Bin whose storage is a ring: new items are written behind the items being flushed, and wait only for occupied entries.
#[derive(Debug)]
pub(super) struct Bin<T> {
    key: u32,
    pub(super) items: Vec<T>,
    begun: u64,
    pub(super) last_arrival: Cycle,
    left_at: Box<[Cycle]>,
    first: usize,
    /// `[blocked, busy]` cycles of the output port in the last flush.
    last_flush: [u64; 2],
}

impl<T> Bin<T> {
    #[inline]
    pub(super) fn status(&self) -> BinStatus {
        BinStatus {
            key: self.key,
            items: self.items.len(),
            begun: self.begun,
            last_arrival: self.last_arrival,
        }
    }

    fn place(&self, item: usize) -> usize {
        let place = self.first + item;
        if place < self.left_at.len() { place } else { place - self.left_at.len() }
    }

    #[inline]
    pub(super) fn entries_free_at(&self, count: usize) -> Cycle {
        // Items leave in order, so the last entry is free last.
        self.left_at[self.place(self.items.len() + count - 1)]
    }
}

#[derive(Debug)]
pub(super) struct Flushed<T> {
    bin: u32,
    pub(super) key: u32,
    pub(super) items: Vec<T>,
    left: usize,
    /// `[blocked, busy]` cycles of the output port when the flush began.
    output_before: [u64; 2],
}

#[derive(Debug)]
pub(super) struct Coalescer<T, P> {
    pub(super) bins: Bins<T, P>,
    pub(super) input: Activity,
    pub(super) input_clock: RateClock,
    pub(super) output: IssuePort,
    pub(super) flushes: Flushes,
}

impl<T, P: FlushPolicy> Coalescer<T, P> {
    pub(super) fn new(bins: Bins<T, P>, input: Rate, output: IssuePort) -> Self {
        let input_clock = RateClock::new(input);
        let mut input = Activity::of_rate(input);
        input.holds_items = true;
        Self { bins, input, input_clock, output, flushes: Flushes::default() }
    }

    #[inline]
    pub(super) fn count_input(&mut self, at: Cycle, items: u64) {
        self.input.busy_until(self.input_clock.cycle().max(at + 1));
        self.input.moved += items;
    }

    pub(super) fn take(&mut self, bin: u32, reason: Reason) -> Flushed<T> {
        let mut flushed = self.bins.take(bin);
        self.flushes.count(reason, flushed.items.len());
        flushed.output_before = self.output.output_cycles();
        flushed
    }

    /// Returns the item storage of a flushed bin for reuse, which saves an allocation per flush.
    pub(super) fn give_back(&mut self, flushed: Flushed<T>) {
        let now = self.output.output_cycles();
        let last_flush = [0, 1].map(|i| now[i] - flushed.output_before[i]);
        self.bins.give_back(flushed, last_flush);
    }

    #[inline]
    pub(super) fn charge_wait(&mut self, bin: u32, cycle: Cycle) {
        self.input.idle_in_storage(self.bins.bin(bin).last_flush, cycle);
    }

    pub(super) fn victim(&mut self) -> Option<u32> {
        self.bins.is_full().then(|| self.bins.victim()).flatten()
    }

    pub(super) fn visit(&mut self, names: [&'static str; 2], visitor: &mut dyn Visitor) {
        visitor.activity(names[0], &mut self.input);
        visitor.activity(names[1], &mut self.output.activity);
        visitor.statistics(names[0], &self.flushes);
    }
}

#[derive(Debug)]
pub(super) struct Bins<T, P> {
    bins: Vec<Bin<T>>,
    of_key: Vec<u32>,
    /// Empty bins, in the order in which they were flushed.
    empty: VecDeque<u32>,
    begun: u64,
    /// Bins with their sequence numbers, oldest first. Flushed bins are removed lazily: at the front, and all of them when
    /// the queue is twice as long as the number of bins.
    order: VecDeque<(u32, u64)>,
    policy: P,
}

impl<T, P: FlushPolicy> Bins<T, P> {
    pub(super) fn new(count: u64, size: u64, keys: usize, policy: P) -> Self {
        let bin = |_| Bin {
            key: NONE,
            items: Vec::with_capacity(index(size)),
            begun: 0,
            last_arrival: 0,
            left_at: vec![0; index(size)].into(),
            first: 0,
            last_flush: [0, 0],
        };
        Self {
            bins: (0..count).map(bin).collect(),
            of_key: vec![NONE; keys],
            empty: (0..).take(index(count)).collect(),
            begun: 0,
            order: VecDeque::new(),
            policy,
        }
    }

    #[inline]
    pub(super) fn of(&self, key: u32) -> Option<u32> {
        let bin = self.of_key[key as usize];
        (bin != NONE).then_some(bin)
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.empty.is_empty()
    }

    /// Allocates the least recently flushed empty bin for a new `key`. At least one bin must be empty.
    pub(super) fn begin(&mut self, key: u32) -> u32 {
        let bin = self.empty.pop_front().unwrap_or(0);
        self.begun += 1;
        self.bins[bin as usize].key = key;
        self.bins[bin as usize].begun = self.begun;
        self.of_key[key as usize] = bin;
        // Cleaning at twice the number of bins takes constant amortised time.
        if self.order.len() >= 2 * self.bins.len() {
            let bins = &self.bins;
            self.order.retain(|place| is_occupied(bins, *place));
        }
        self.order.push_back((bin, self.begun));
        bin
    }

    fn take(&mut self, bin: u32) -> Flushed<T> {
        let b = &mut self.bins[bin as usize];
        let key = std::mem::replace(&mut b.key, NONE);
        self.of_key[key as usize] = NONE;
        self.empty.push_back(bin);
        Flushed { bin, key, items: std::mem::take(&mut b.items), left: 0, output_before: [0, 0] }
    }

    /// Records that the next `count` items leave at `cycle`; their entries are free one cycle later.
    #[inline]
    pub(super) fn leave(&mut self, flushed: &mut Flushed<T>, count: usize, cycle: Cycle) {
        let bin = &mut self.bins[flushed.bin as usize];
        let (first, size) = (bin.place(flushed.left), bin.left_at.len());
        flushed.left += count;
        // Fast path: most beats are full and do not wrap around the ring.
        if count == BEAT_QUADS
            && let Some(places) = bin.left_at[first..].first_chunk_mut::<BEAT_QUADS>()
        {
            *places = [cycle + 1; BEAT_QUADS];
            return;
        }
        let end = size.min(first + count);
        bin.left_at[first..end].fill(cycle + 1);
        bin.left_at[..first + count - end].fill(cycle + 1);
    }

    fn give_back(&mut self, mut flushed: Flushed<T>, last_flush: [u64; 2]) {
        let bin = &mut self.bins[flushed.bin as usize];
        bin.last_flush = last_flush;
        bin.first = bin.place(flushed.items.len());
        flushed.items.clear();
        bin.items = flushed.items;
    }

    #[inline]
    pub(super) fn bin(&mut self, bin: u32) -> &mut Bin<T> {
        &mut self.bins[bin as usize]
    }

    #[inline]
    pub(super) fn bin_and_policy(&mut self, bin: u32) -> (&mut Bin<T>, &P) {
        (&mut self.bins[bin as usize], &self.policy)
    }

    pub(super) fn victim(&mut self) -> Option<u32> {
        // The queue has the oldest bin first. Comparing 32 bins at each eviction was part of 130 instructions per quad.
        if self.policy.is_first_in() {
            return self.first();
        }
        self.least_by(|bin| self.policy.rank(bin)).map(|(bin, _)| bin)
    }

    /// Occupied bin with the earliest deadline. A bin that still waits for its first item has no deadline.
    pub(super) fn next_due(&self) -> Option<(u32, Cycle)> {
        self.least_by(|bin| match bin.items {
            0 => Cycle::MAX,
            _ => self.policy.deadline(bin),
        })
    }

    /// Like [`Self::next_due`], among the bins whose first item satisfies `is_old`.
    pub(super) fn due_of_old(&self, is_old: impl Fn(&T) -> bool) -> Option<(u32, Cycle)> {
        let bins = (0..).zip(&self.bins);
        let old = bins.filter(|(_, bin)| bin.key != NONE && bin.items.first().is_some_and(&is_old));
        let due = old.map(|(i, bin)| (i, self.policy.deadline(&bin.status()), bin.begun));
        let due = due.min_by_key(|&(_, deadline, begun)| (deadline, begun));
        due.map(|(i, deadline, _)| (i, deadline))
    }

    /// Occupied bin whose first item has the lowest `rank`, with that rank.
    pub(super) fn oldest_by(&self, rank: impl Fn(&T) -> u32) -> Option<(u32, u32)> {
        let bins = (0..).zip(&self.bins).filter(|(_, bin)| bin.key != NONE);
        let firsts = bins.filter_map(|(i, bin)| Some((i, rank(bin.items.first()?))));
        firsts.min_by_key(|&(_, rank)| rank)
    }

    pub(super) fn first(&mut self) -> Option<u32> {
        while let Some(&place) = self.order.front() {
            if is_occupied(&self.bins, place) {
                return Some(place.0);
            }
            self.order.pop_front();
        }
        None
    }

    fn least_by(&self, value: impl Fn(&BinStatus) -> u64) -> Option<(u32, u64)> {
        let occupied = (0..).zip(&self.bins).filter(|(_, bin)| bin.key != NONE);
        let valued = occupied.map(|(i, bin)| (i, value(&bin.status()), bin.begun));
        valued.min_by_key(|&(_, value, begun)| (value, begun)).map(|(i, value, _)| (i, value))
    }
}

fn is_occupied<T>(bins: &[Bin<T>], (bin, begun): (u32, u64)) -> bool {
    let bin = &bins[bin as usize];
    bin.key != NONE && bin.begun == begun
}

#[cfg(test)]
mod tests {
    use super::super::flush_policy::Evict;
    use super::*;

    #[test]
    fn the_order_of_bins_does_not_grow_with_their_flushes() {
        let mut bins: Bins<(), Evict> = Bins::new(4, 8, 16, Evict::LeastRecentlyUsed);
        let oldest = bins.begin(15);
        for flush in 0..1000 {
            let bin = bins.begin(flush % 15);
            assert!(bins.order.len() <= 8);
            bins.take(bin);
        }
        assert_eq!(bins.first(), Some(oldest));
    }
}
