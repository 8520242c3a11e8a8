//! Tags of a set-associative cache with least-recently-used replacement.

use quadrille_base::math::{fit, prefetch};

const NONE: u32 = u32::MAX;

/// Lines resident in a cache, each with state of type `L`.
#[derive(Debug, Clone)]
pub struct LruLines<L> {
    sets: u32,
    order: Order,
    /// Line in each slot. Separate from the contents, since only a replacement reads it.
    lines: Vec<u32>,
    contents: Vec<L>,
    slot_of: Vec<u32>,
}

impl<L: Default> LruLines<L> {
    /// Creates an empty cache of `sets * ways` lines for a memory of `memory_lines` lines.
    pub fn new(sets: u64, ways: u64, memory_lines: u32) -> Self {
        let (sets, ways) = (fit::<u32>(sets), fit::<u32>(ways));
        let order = if ways <= Ranks::MOST_WAYS {
            Order::Ranks(Ranks::new(sets, ways))
        } else {
            Order::Lists(Lists::new(sets, ways))
        };
        let slots = sets * order.slots_per_set();
        Self {
            sets,
            order,
            lines: vec![NONE; slots as usize],
            contents: (0..slots).map(|_| L::default()).collect(),
            slot_of: vec![NONE; memory_lines as usize],
        }
    }

    /// Finds a resident line and makes it the most recently used of its set; returns its slot.
    #[inline(always)]
    pub fn find(&mut self, line: u32) -> Option<u32> {
        let slot = self.slot_of[line as usize];
        if slot == NONE {
            return None;
        }
        self.order.touch(slot);
        Some(slot)
    }

    /// Replaces the least recently used line of the set by `line`, which must not be resident. Returns the slot, with reset
    /// content, and the evicted line with its content.
    #[inline(always)]
    pub fn replace(&mut self, line: u32) -> (u32, Option<u32>, L) {
        let slot = self.order.oldest(line % self.sets);
        let old = std::mem::replace(&mut self.lines[slot as usize], line);
        let content = std::mem::take(&mut self.contents[slot as usize]);
        self.slot_of[line as usize] = slot;
        if old != NONE {
            self.slot_of[old as usize] = NONE;
        }
        self.order.touch(slot);
        (slot, (old != NONE).then_some(old), content)
    }

    /// Content of the line in `slot`.
    #[inline]
    pub fn content(&mut self, slot: u32) -> &mut L {
        &mut self.contents[slot as usize]
    }

    pub(crate) fn contents(&self) -> impl Iterator<Item = &L> {
        self.contents.iter()
    }

    /// Iterates over the resident lines and their contents, in the order of slots.
    pub fn resident(&mut self) -> impl Iterator<Item = (u32, &mut L)> {
        self.lines.iter().copied().zip(&mut self.contents).filter(|(line, _)| *line != NONE)
    }

    /// Makes the memory at least `memory_lines` lines large.
    #[inline]
    pub(crate) fn extend_memory(&mut self, memory_lines: u32) {
        if self.slot_of.len() < memory_lines as usize {
            self.slot_of.resize(memory_lines as usize, NONE);
        }
    }

    /// Empties the slots of the resident lines for which `keep` returns false. The order of use does not change.
    pub fn retain(&mut self, mut keep: impl FnMut(u32, &mut L) -> bool) {
        for (line, content) in self.lines.iter_mut().zip(&mut self.contents) {
            if *line != NONE && !keep(*line, content) {
                self.slot_of[*line as usize] = NONE;
                *line = NONE;
                *content = L::default();
            }
        }
    }

    /// Prefetches the content of a line into the host's cache if the line is resident.
    #[inline]
    pub fn prefetch(&self, line: u32) {
        prefetch(&self.contents, self.slot_of[line as usize] as usize);
    }
}

/// Slots of each set in order of use.
#[derive(Debug, Clone)]
enum Order {
    /// For up to [`Ranks::MOST_WAYS`] ways.
    Ranks(Ranks),
    /// For any number of ways.
    Lists(Lists),
}

impl Order {
    fn slots_per_set(&self) -> u32 {
        match self {
            Self::Ranks(ranks) => 1 << ranks.set_shift,
            Self::Lists(lists) => lists.ways,
        }
    }

    #[inline]
    fn oldest(&self, set: u32) -> u32 {
        match self {
            Self::Ranks(ranks) => ranks.oldest(set),
            Self::Lists(lists) => lists.oldest(set),
        }
    }

    #[inline]
    fn touch(&mut self, slot: u32) {
        match self {
            Self::Ranks(ranks) => ranks.touch(slot),
            Self::Lists(lists) => lists.touch(slot),
        }
    }
}

/// Ways of each set as digits of a word, most recently used lowest: linked lists would not fit into the host's cache.
#[derive(Debug, Clone)]
struct Ranks {
    ways: u32,
    /// Binary logarithm of the slots per set: a power of two, so that shifts replace divisions.
    set_shift: u32,
    orders: Vec<u64>,
}

impl Ranks {
    const MOST_WAYS: u32 = 16;
    const ONES: u64 = 0x1111_1111_1111_1111;

    fn new(sets: u32, ways: u32) -> Self {
        Self {
            ways,
            set_shift: ways.next_power_of_two().trailing_zeros(),
            orders: vec![0xfedc_ba98_7654_3210; sets as usize],
        }
    }

    #[inline]
    fn oldest(&self, set: u32) -> u32 {
        let way = self.orders[set as usize] >> (4 * (self.ways - 1)) & 15;
        (set << self.set_shift) + fit::<u32>(way)
    }

    #[inline]
    fn touch(&mut self, slot: u32) {
        let set = slot >> self.set_shift;
        let way = u64::from(slot - (set << self.set_shift));
        let order = &mut self.orders[set as usize];
        // The digit that holds `way` is the lowest zero digit of the difference; borrows reach only the digits above.
        let difference = *order ^ (way * Self::ONES);
        let zeros = difference.wrapping_sub(Self::ONES) & !difference & (Self::ONES << 3);
        // Mask of all bits up to the top of this digit.
        let newer = zeros ^ zeros.wrapping_sub(1);
        *order = *order & !newer | (*order << 4 | way) & newer;
    }
}

/// Doubly linked ring of slots per set. A head node of the set closes the ring, so that no slot is a special case.
#[derive(Debug, Clone)]
struct Lists {
    ways: u32,
    /// Nodes of the slots, followed by the head nodes of the sets.
    nodes: Vec<Node>,
    slots: u32,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    set: u32,
    /// Neighbours in the ring. The head node stands between the newest and the oldest slot.
    newer: u32,
    older: u32,
}

impl Lists {
    fn new(sets: u32, ways: u32) -> Self {
        let slots = sets * ways;
        let slot = |i: u32| {
            let set = slots + i / ways;
            Node {
                set,
                newer: if i.is_multiple_of(ways) { set } else { i - 1 },
                older: if i % ways == ways - 1 { set } else { i + 1 },
            }
        };
        let set =
            |set: u32| Node { set: slots + set, newer: (set + 1) * ways - 1, older: set * ways };
        Self { ways, nodes: (0..slots).map(slot).chain((0..sets).map(set)).collect(), slots }
    }

    #[inline]
    fn oldest(&self, set: u32) -> u32 {
        self.nodes[(self.slots + set) as usize].newer
    }

    #[inline]
    fn touch(&mut self, slot: u32) {
        let Node { set, newer, older } = self.nodes[slot as usize];
        self.nodes[newer as usize].older = older;
        self.nodes[older as usize].newer = newer;
        let front = std::mem::replace(&mut self.nodes[set as usize].older, slot);
        self.nodes[front as usize].newer = slot;
        self.nodes[slot as usize] = Node { set, newer: set, older: front };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two sets of two ways: one of even lines and one of odd lines.
    #[test]
    fn the_least_recently_used_line_of_the_set_makes_room() {
        let mut lines = LruLines::<u8>::new(2, 2, 8);
        for (line, old) in [(0, None), (1, None), (2, None), (3, None)] {
            let (slot, found, _) = lines.replace(line);
            assert_eq!(found, old);
            *lines.content(slot) = line.to_le_bytes()[0];
        }
        assert!(lines.find(0).is_some() && lines.find(4).is_none());
        // Line 0 was used again, so line 2 is evicted; in the other set, line 1.
        assert_eq!(lines.replace(4).1, Some(2));
        let (_, old, content) = lines.replace(5);
        assert_eq!((old, content), (Some(1), 1));
        assert!(lines.find(2).is_none() && lines.find(3).is_some());
    }

    /// [`Ranks`] and [`Lists`] agree with a plain list on random touches, for sets of up to 16 ways.
    #[test]
    fn ranks_and_lists_order_alike() {
        for ways in [1_u32, 2, 3, 15, 16] {
            let (mut ranks, mut lists) = (Ranks::new(2, ways), Lists::new(2, ways));
            let mut plain: Vec<u32> = (0..ways).collect();
            let mut random = 1_u32;
            for _ in 0..1000 {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let way = (random >> 16) % ways;
                plain.retain(|w| *w != way);
                plain.insert(0, way);
                let first = 1 << ranks.set_shift;
                ranks.touch(first + way);
                lists.touch(ways + way);
                let oldest = plain[plain.len() - 1];
                assert_eq!(ranks.oldest(1), first + oldest);
                assert_eq!(lists.oldest(1), ways + oldest);
            }
        }
    }
}
