//! Queues, ports and pipelines of the clocked machine.

use std::collections::VecDeque;

/// A cycle of the clock.
pub(super) type Cycle = u64;

/// A first-in-first-out queue of finite depth.
#[derive(Debug)]
pub(super) struct Fifo<T> {
    items: VecDeque<T>,
    depth: usize,
    /// Number of items that have entered.
    pub(super) entered: usize,
}

impl<T> Fifo<T> {
    pub(super) fn new(depth: u64) -> Self {
        Self { items: VecDeque::new(), depth: depth as usize, entered: 0 }
    }

    /// The last `count` items that entered.
    pub(super) fn last(&self, count: usize) -> impl Iterator<Item = &T> {
        self.items.iter().skip(self.items.len() - count)
    }

    pub(super) fn has_room(&self) -> bool {
        self.items.len() < self.depth
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(super) fn push(&mut self, item: T) {
        assert!(self.has_room(), "a full queue accepted an item");
        self.items.push_back(item);
        self.entered += 1;
    }

    pub(super) fn front(&self) -> Option<&T> {
        self.items.front()
    }

    pub(super) fn pop(&mut self) -> Option<T> {
        self.items.pop_front()
    }

    /// Moves items into `next`; whether there were any.
    pub(super) fn pass(&mut self, next: &mut Self) -> bool {
        let mut moved = false;
        while next.has_room()
            && let Some(item) = self.pop()
        {
            next.push(item);
            moved = true;
        }
        moved
    }
}

/// A rate as a ratio of items and cycles.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ratio {
    pub(super) items: u64,
    pub(super) cycles: u64,
}

impl Ratio {
    pub(super) const ONE: Self = Self { items: 1, cycles: 1 };

    /// Quads that share a slot of a port of this rate: as many as the port is wide, eight at most.
    pub(super) fn quads_per_slot(self) -> u64 {
        self.items.div_ceil(self.cycles).min(8)
    }

    /// The rate of groups of `size` items.
    pub(super) fn of_groups(self, size: u64) -> Self {
        Self { items: self.items, cycles: self.cycles * size }
    }
}

/// A port that lets items pass at a rational rate.
///
/// In each cycle the port does an amount of work of `items`; an item is work of `cycles`. An item
/// may start in a cycle in which not all of the work is spoken for, and may end in a later one.
#[derive(Debug)]
pub(super) struct Port {
    rate: Ratio,
    /// Work accepted and not done before this cycle.
    backlog: u64,
    /// Cycles, with this one, for which another user holds the port.
    held: u64,
    /// Whether an item started in this cycle.
    started: bool,
    /// Cycles with work.
    pub(super) busy: u64,
    /// Cycles in which an item started, or none could.
    pub(super) taken: u64,
    /// Cycle after the last one with work.
    pub(super) end: Cycle,
}

impl Port {
    pub(super) fn new(rate: Ratio) -> Self {
        Self { rate, backlog: 0, held: 0, started: false, busy: 0, taken: 0, end: 0 }
    }

    pub(super) fn begin_cycle(&mut self) {
        self.backlog = self.backlog.saturating_sub(self.rate.items);
        self.held = self.held.saturating_sub(1);
        self.started = false;
    }

    pub(super) fn end_cycle(&mut self, now: Cycle) {
        self.busy += u64::from(self.backlog > 0 || self.started);
        self.taken += u64::from(self.started || !self.is_free());
        if self.backlog > 0 || self.started || self.held > 0 {
            self.end = self.end.max(now + 1);
        }
    }

    /// Holds the port for whole `cycles` from this one on.
    pub(super) fn hold(&mut self, now: Cycle, cycles: u64) {
        assert!(self.is_free(), "a port was held that was taken");
        self.end = self.end.max(now);
        if cycles > 0 {
            // An item that has begun counts for this cycle.
            self.started |= self.backlog > 0;
            self.backlog = 0;
            self.held = cycles;
        }
    }

    /// Whether an item can start in this cycle.
    pub(super) fn is_free(&self) -> bool {
        self.held == 0 && self.backlog < self.rate.items
    }

    /// Whether nothing passes in this cycle, so far.
    pub(super) fn is_idle(&self) -> bool {
        self.held == 0 && self.backlog == 0
    }

    /// Number of items, at most `most`, that can start in this cycle.
    pub(super) fn left(&self, most: usize) -> usize {
        let work = self.rate.items.saturating_sub(self.backlog);
        most.min(work.div_ceil(self.rate.cycles) as usize)
    }

    /// Starts `count` items; returns the cycle in which the last of them ends.
    pub(super) fn start(&mut self, now: Cycle, count: u64) -> Cycle {
        assert!(self.is_free(), "an item started at a port that was taken");
        self.backlog += count * self.rate.cycles;
        self.started = true;
        now + self.backlog.div_ceil(self.rate.items) - 1
    }
}

/// A port and the elastic pipeline behind it: a delay line that holds as many items as start while
/// one passes it, and in which items close up behind one that cannot leave.
#[derive(Debug)]
pub(super) struct Pipe<T> {
    pub(super) port: Port,
    latency: u64,
    capacity: usize,
    /// Items, and the cycle from which each may leave.
    line: VecDeque<(T, Cycle)>,
    /// Cycle in which an item left last.
    pub(super) left: Cycle,
}

impl<T> Pipe<T> {
    pub(super) fn new(rate: Ratio, latency: u64) -> Self {
        // An item is in the pipeline from the cycle in which it starts.
        let cycles = latency.max(1) + rate.cycles.div_ceil(rate.items) - 1;
        let capacity = (cycles * rate.items).div_ceil(rate.cycles);
        Self {
            port: Port::new(rate),
            latency,
            capacity: capacity as usize,
            line: VecDeque::new(),
            left: 0,
        }
    }

    pub(super) fn can_start(&self) -> bool {
        self.port.is_free() && self.line.len() < self.capacity
    }

    /// Starts an item that occupies the port as long as `count` items, and sends on what it becomes.
    pub(super) fn start(&mut self, now: Cycle, count: u64, item: Option<T>) {
        let last = self.port.start(now, count);
        if let Some(item) = item {
            self.line.push_back((item, last + self.latency));
        }
    }

    /// Moves items at the end of the pipeline into `next`; whether there were any.
    pub(super) fn deliver(&mut self, now: Cycle, next: &mut Fifo<T>) -> bool {
        let mut moved = false;
        while next.has_room() && self.line.front().is_some_and(|(_, ready)| *ready <= now) {
            let (item, _) = self.line.pop_front().expect("an item");
            next.push(item);
            self.left = now;
            moved = true;
        }
        moved
    }

    /// Whether nothing is left in the pipeline and at the port.
    pub(super) fn is_idle(&self) -> bool {
        self.port.is_idle() && self.line.is_empty()
    }

    /// Cycle at which the pipeline has been idle since.
    pub(super) fn end(&self) -> Cycle {
        self.port.end.max(self.left)
    }
}
