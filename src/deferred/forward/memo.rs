//! Memo of shaded quads, the cache of cached decoupled sampling (Ragan-Kelley and others 2011): fully associative, LRU.

use serde::{Deserialize, Serialize};

use quadrille_mesh::merge::associative::AssociativeMemory;

/// Counters of a memo.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoCounters {
    /// Look-ups of quads in the memo.
    pub hits: u64,
    /// Look-ups of quads that were not in the memo, and were shaded.
    pub misses: u64,
}

/// Shaded quads, each with a value such as its colours.
#[derive(Debug)]
pub struct Memo<T> {
    entries: AssociativeMemory<T>,
    /// Largest number of quads; `None` for no limit.
    capacity: Option<u32>,
    counters: MemoCounters,
}

impl<T> Memo<T> {
    /// Creates an empty memo for `capacity` quads, at least 1, or without a limit.
    pub fn new(capacity: Option<u32>) -> Self {
        let capacity = capacity.map(|quads| quads.max(1));
        Self {
            entries: AssociativeMemory::new(capacity),
            capacity,
            counters: MemoCounters::default(),
        }
    }

    /// Looks up a quad. `shade` creates a missing quad, which replaces the least recently used quad if the memo is full;
    /// `evict` takes the value of the replaced quad.
    #[inline]
    pub fn look_up(
        &mut self,
        (primitive, quad): (u32, u32),
        shade: impl FnOnce() -> T,
        evict: impl FnOnce(&T),
    ) -> &mut T {
        let key = u64::from(primitive) << 32 | u64::from(quad);
        let found = self.entries.of(key).next().map(|(slot, _)| slot);
        let slot = match found {
            Some(slot) => {
                self.counters.hits += 1;
                // A hit makes the quad the most recently used.
                self.entries.renew(slot);
                slot
            }
            None => {
                self.counters.misses += 1;
                let is_full = self.capacity.is_some_and(|most| self.entries.len() >= most);
                if let Some(oldest) = self.entries.oldest().filter(|_| is_full) {
                    evict(self.entries.get(oldest));
                    self.entries.remove(oldest);
                }
                self.entries.push(key, shade())
            }
        };
        self.entries.get_mut(slot)
    }

    /// Removes all quads, least recently used first, and passes their values to `evict`.
    pub fn clear(&mut self, mut evict: impl FnMut(&T)) {
        while let Some(oldest) = self.entries.oldest() {
            evict(self.entries.get(oldest));
            self.entries.remove(oldest);
        }
    }

    /// Counters of the frame so far.
    pub fn counters(&self) -> MemoCounters {
        self.counters
    }
}
