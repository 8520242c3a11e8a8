//! Memory of a merging unit, searched by key and by age.
//!
//! The hardware is a content-addressable memory, which compares a key with all entries at once. Here the entries of a
//! bucket of a hash table form a chain, newest first, so that a look-up reads only entries that may match; a second chain
//! links all entries by age. Memory is allocated only when an unbounded memory grows.

const NONE: u32 = u32::MAX;
/// Minimum number of buckets per entry; it keeps chains short.
const BUCKETS_PER_ENTRY: usize = 4;
const FIRST_ENTRIES: usize = 1024;

#[derive(Debug, Clone, Copy)]
struct Links {
    key: u64,
    /// Neighbours in the bucket's chain.
    older: u32,
    newer: u32,
    /// Neighbours by age; `after` also links the free entries.
    before: u32,
    after: u32,
}

impl Links {
    #[inline]
    fn of(key: u64, before: u32) -> Self {
        Self { key, older: NONE, newer: NONE, before, after: NONE }
    }
}

#[derive(Debug, Clone)]
struct Entry<T> {
    links: Links,
    value: T,
}

/// A content-addressable memory with entries in order of age.
#[derive(Debug, Clone)]
pub struct AssociativeMemory<T> {
    entries: Vec<Entry<T>>,
    /// Newest entry of each bucket. The number of buckets is a power of two.
    heads: Vec<u32>,
    shift: u32,
    oldest: u32,
    newest: u32,
    free: u32,
    /// Slot of the staged value, which is not an entry yet.
    staged: u32,
    len: u32,
}

impl<T> AssociativeMemory<T> {
    /// Creates an empty memory with room for `entries`, or for a default number. It grows if there are more.
    pub fn new(entries: Option<u32>) -> Self {
        let entries = entries.map_or(FIRST_ENTRIES, |e| e as usize);
        let mut memory = Self {
            entries: Vec::with_capacity(entries),
            heads: Vec::new(),
            shift: 0,
            oldest: NONE,
            newest: NONE,
            free: NONE,
            staged: NONE,
            len: 0,
        };
        memory.set_buckets(entries.saturating_mul(BUCKETS_PER_ENTRY));
        memory
    }

    fn set_buckets(&mut self, buckets: usize) {
        let buckets = buckets.next_power_of_two().max(64);
        self.shift = 64 - buckets.ilog2();
        self.heads.clear();
        self.heads.resize(buckets, NONE);
        let mut slot = self.oldest;
        while slot != NONE {
            self.join_bucket(slot);
            slot = self.entries[slot as usize].links.after;
        }
    }

    #[inline]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the shift leaves as many bits as there are buckets"
    )]
    fn bucket(&self, key: u64) -> usize {
        // Fibonacci hashing: the high bits depend on all bits of the key.
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    #[inline]
    fn join_bucket(&mut self, slot: u32) {
        let bucket = self.bucket(self.entries[slot as usize].links.key);
        let head = std::mem::replace(&mut self.heads[bucket], slot);
        let links = &mut self.entries[slot as usize].links;
        (links.older, links.newer) = (head, NONE);
        if head != NONE {
            self.entries[head as usize].links.newer = slot;
        }
    }

    /// Whether there is no entry; a staged value does not count.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of entries, without a staged value.
    #[inline]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Slot of the entry that was inserted first.
    #[inline]
    pub fn oldest(&self) -> Option<u32> {
        (self.oldest != NONE).then_some(self.oldest)
    }

    #[inline]
    pub(crate) fn key(&self, slot: u32) -> u64 {
        self.entries[slot as usize].links.key
    }

    /// Slots and values of the entries with a key, newest first.
    #[inline]
    pub fn of(&self, key: u64) -> impl Iterator<Item = (u32, &T)> {
        let mut next = self.heads[self.bucket(key)];
        std::iter::from_fn(move || {
            while next != NONE {
                let (slot, entry) = (next, &self.entries[next as usize]);
                next = entry.links.older;
                if entry.links.key == key {
                    return Some((slot, &entry.value));
                }
            }
            None
        })
    }

    /// Returns the value in a slot, which must be occupied.
    #[inline]
    pub fn get(&self, slot: u32) -> &T {
        &self.entries[slot as usize].value
    }

    /// Returns the value in a slot, which must be occupied, for modification.
    #[inline]
    pub fn get_mut(&mut self, slot: u32) -> &mut T {
        &mut self.entries[slot as usize].value
    }

    /// Values of two entries for modification; `None` if both slots are the same.
    #[inline]
    pub(crate) fn pair_mut(&mut self, slots: [u32; 2]) -> Option<[&mut T; 2]> {
        let [one, two] = self.entries.get_disjoint_mut(slots.map(|slot| slot as usize)).ok()?;
        Some([&mut one.value, &mut two.value])
    }

    /// Adds an entry as the newest; returns its slot.
    #[inline]
    pub fn push(&mut self, key: u64, value: T) -> u32 {
        let slot = self.stage(value);
        self.link_staged(key);
        slot
    }

    /// Stores a value outside the chains until [`link_staged`](Self::link_staged) makes it an entry; returns its slot.
    /// Another staged value overwrites it.
    #[inline]
    pub(crate) fn stage(&mut self, value: T) -> u32 {
        if self.staged == NONE {
            self.staged = self.free;
            if self.free == NONE {
                self.staged = u32::try_from(self.entries.len()).unwrap_or(NONE);
                self.entries.push(Entry { links: Links::of(0, NONE), value });
                return self.staged;
            }
            self.free = self.entries[self.free as usize].links.after;
        }
        self.entries[self.staged as usize].value = value;
        self.staged
    }

    #[inline]
    pub(crate) fn link_staged(&mut self, key: u64) {
        let slot = std::mem::replace(&mut self.staged, NONE);
        self.entries[slot as usize].links = Links::of(key, self.newest);
        match self.newest {
            NONE => self.oldest = slot,
            newest => self.entries[newest as usize].links.after = slot,
        }
        self.newest = slot;
        self.len += 1;
        if self.len as usize > self.heads.len() {
            self.set_buckets(self.heads.len() * BUCKETS_PER_ENTRY);
        } else {
            self.join_bucket(slot);
        }
    }

    /// Makes an entry the newest one; its slot stays the same.
    #[inline]
    pub fn renew(&mut self, slot: u32) {
        let Links { before, after, .. } = self.entries[slot as usize].links;
        if after == NONE {
            return;
        }
        match before {
            NONE => self.oldest = after,
            before => self.entries[before as usize].links.after = after,
        }
        self.entries[after as usize].links.before = before;
        self.entries[self.newest as usize].links.after = slot;
        let links = &mut self.entries[slot as usize].links;
        (links.before, links.after) = (self.newest, NONE);
        self.newest = slot;
    }

    /// Removes an entry. Its value stays readable until the next entry is added.
    #[inline]
    pub fn remove(&mut self, slot: u32) {
        let links = self.entries[slot as usize].links;
        match links.newer {
            NONE => {
                let bucket = self.bucket(links.key);
                self.heads[bucket] = links.older;
            }
            newer => self.entries[newer as usize].links.older = links.older,
        }
        if links.older != NONE {
            self.entries[links.older as usize].links.newer = links.newer;
        }
        match links.before {
            NONE => self.oldest = links.after,
            before => self.entries[before as usize].links.after = links.after,
        }
        match links.after {
            NONE => self.newest = links.before,
            after => self.entries[after as usize].links.before = links.before,
        }
        self.entries[slot as usize].links.after = self.free;
        self.free = slot;
        self.len -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::AssociativeMemory;

    #[test]
    fn entries_are_found_newest_first_and_age_in_order() {
        let mut memory = AssociativeMemory::new(Some(2));
        // More entries than it has room for, so that it grows.
        for k in 0..200_u64 {
            memory.push(k % 3, k);
        }
        let of = |memory: &AssociativeMemory<u64>, key| {
            memory.of(key).map(|(_, v)| *v).collect::<Vec<_>>()
        };
        assert_eq!(of(&memory, 1)[..3], [199, 196, 193]);
        assert_eq!(of(&memory, 7), <[u64; 0]>::default());
        let middle = memory.of(1).map(|(slot, _)| slot).nth(1);
        middle.into_iter().for_each(|slot| memory.remove(slot));
        assert_eq!(of(&memory, 1)[..3], [199, 193, 190]);
        let mut ages = Vec::new();
        while let Some(slot) = memory.oldest() {
            ages.push(*memory.get(slot));
            assert_eq!(memory.key(slot), *memory.get(slot) % 3);
            memory.remove(slot);
        }
        assert_eq!(ages.len(), 199);
        assert!(ages.is_sorted() && memory.is_empty());
        memory.push(5, 1);
        assert_eq!(of(&memory, 5), [1]);
    }

    #[test]
    fn renewed_entries_are_the_newest() {
        let mut memory = AssociativeMemory::new(None);
        let slots: Vec<u32> = (0..4_u64).map(|k| memory.push(k, k)).collect();
        for k in [2, 0, 3, 3] {
            memory.renew(slots[k]);
        }
        let mut ages = Vec::new();
        while let Some(slot) = memory.oldest() {
            ages.push(*memory.get(slot));
            memory.remove(slot);
        }
        assert_eq!(ages, [1, 2, 0, 3]);
    }
}
