//! Tags of a set-associative cache with least-recently-used replacement.

/// No line, no slot.
const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Slot {
    line: u32,
    set: u32,
    /// Neighbours in the set's list, from the most to the least recently used.
    newer: u32,
    older: u32,
}

/// Ends of a set's list.
#[derive(Debug, Clone, Copy)]
struct Set {
    newest: u32,
    oldest: u32,
}

/// Lines resident in a cache, each with a content of type `L`.
#[derive(Debug)]
pub(crate) struct LruLines<L> {
    /// Apart from the contents, so that the lists of a large cache fit the host's.
    slots: Vec<Slot>,
    contents: Vec<L>,
    sets: Vec<Set>,
    /// Slot by line of memory.
    slot_of: Vec<u32>,
}

impl<L: Default> LruLines<L> {
    /// Creates an empty cache of `sets * ways` lines for a memory of `memory_lines` lines.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "caches have far fewer lines than 2^32"
    )]
    pub(crate) fn new(sets: u64, ways: u64, memory_lines: u32) -> Self {
        let slot = |i: u64| Slot {
            line: NONE,
            set: (i / ways) as u32,
            newer: if i.is_multiple_of(ways) {
                NONE
            } else {
                i as u32 - 1
            },
            older: if i % ways == ways - 1 {
                NONE
            } else {
                i as u32 + 1
            },
        };
        let set = |s: u64| Set {
            newest: (s * ways) as u32,
            oldest: ((s + 1) * ways - 1) as u32,
        };
        Self {
            slots: (0..sets * ways).map(slot).collect(),
            contents: (0..sets * ways).map(|_| L::default()).collect(),
            sets: (0..sets).map(set).collect(),
            slot_of: vec![NONE; memory_lines as usize],
        }
    }

    /// Finds a resident line and makes it the most recently used; returns its slot.
    #[inline]
    pub(crate) fn find(&mut self, line: u32) -> Option<u32> {
        let slot = self.slot_of[line as usize];
        if slot == NONE {
            return None;
        }
        self.touch(slot);
        Some(slot)
    }

    /// Replaces the least recently used line of the set by `line`, which is not resident. Returns the
    /// slot, whose content is reset, and the evicted line with its content.
    pub(crate) fn replace(&mut self, line: u32) -> (u32, Option<u32>, L) {
        #[allow(clippy::cast_possible_truncation, reason = "fewer sets than 2^32")]
        let slot = self.sets[(line % self.sets.len() as u32) as usize].oldest;
        let held = &mut self.slots[slot as usize];
        let old = std::mem::replace(&mut held.line, line);
        let content = std::mem::take(&mut self.contents[slot as usize]);
        self.slot_of[line as usize] = slot;
        if old != NONE {
            self.slot_of[old as usize] = NONE;
        }
        self.touch(slot);
        (slot, (old != NONE).then_some(old), content)
    }

    /// Content of the line in a slot.
    #[inline]
    pub(crate) fn content(&mut self, slot: u32) -> &mut L {
        &mut self.contents[slot as usize]
    }

    /// Moves a slot to the front of its set's list.
    #[inline]
    fn touch(&mut self, slot: u32) {
        let Slot {
            newer, older, set, ..
        } = self.slots[slot as usize];
        if newer == NONE {
            return;
        }
        let ends = &mut self.sets[set as usize];
        self.slots[newer as usize].older = older;
        if older == NONE {
            ends.oldest = newer;
        } else {
            self.slots[older as usize].newer = newer;
        }
        let front = std::mem::replace(&mut ends.newest, slot);
        self.slots[front as usize].newer = slot;
        self.slots[slot as usize].newer = NONE;
        self.slots[slot as usize].older = front;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two sets of two ways: even lines, and odd ones.
    #[test]
    fn the_least_recently_used_line_of_the_set_makes_room() {
        let mut lines = LruLines::<u8>::new(2, 2, 8);
        for (line, old) in [(0, None), (1, None), (2, None), (3, None)] {
            let (slot, found, _) = lines.replace(line);
            assert_eq!(found, old);
            *lines.content(slot) = line.to_le_bytes()[0];
        }
        assert!(lines.find(0).is_some() && lines.find(4).is_none());
        // Line 0 was used since: 2 goes, and 1 of the other set.
        assert_eq!(lines.replace(4).1, Some(2));
        let (_, old, content) = lines.replace(5);
        assert_eq!((old, content), (Some(1), 1));
        assert!(lines.find(2).is_none() && lines.find(3).is_some());
    }
}
