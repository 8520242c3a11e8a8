//! The outer edges of each cell of each entry (PMU, section 4: `outerEdges`, `MergeOuterEdges`).
//!
//! An edge is a pair of vertex names, in the direction in which its triangle goes round: two
//! triangles that share it name it in opposite directions.

/// An edge from the vertex in the high half to that in the low half.
type Edge = u64;

/// The edge in the other direction.
#[inline]
fn reversed(edge: Edge) -> Edge {
    edge.rotate_left(32)
}

/// Edges by entry and cell, in one array.
#[derive(Debug, Clone)]
pub(super) struct OuterEdges {
    edges: Vec<Edge>,
    /// Edges kept, by entry and cell.
    counts: Vec<[u8; 4]>,
    /// Most of a cell.
    most: usize,
}

impl OuterEdges {
    /// Room for 1 to 64 edges a cell.
    pub(super) fn new(most: u32) -> Self {
        Self {
            edges: Vec::new(),
            counts: Vec::new(),
            most: most.clamp(1, 64) as usize,
        }
    }

    /// Gives all cells of an entry the edges of its triangle; returns how many had no room. An edge
    /// between two vertices of one name is none.
    pub(super) fn begin(&mut self, slot: u32, [a, b, c]: [u32; 3]) -> u64 {
        let slot = slot as usize;
        if slot >= self.counts.len() {
            self.counts.resize(slot + 1, [0; 4]);
            self.edges.resize((slot + 1) * 4 * self.most, 0);
        }
        let (mut kept, mut lost) = (0_u8, 0);
        for (from, to) in [(a, b), (b, c), (c, a)] {
            if from == to {
                continue;
            }
            if usize::from(kept) == self.most {
                lost += 4;
                continue;
            }
            for cell in 0..4 {
                let at = (slot * 4 + cell) * self.most + usize::from(kept);
                self.edges[at] = u64::from(from) << 32 | u64::from(to);
            }
            kept += 1;
        }
        self.counts[slot] = [kept; 4];
        lost
    }

    fn of(&self, slot: u32, cell: usize) -> &[Edge] {
        let first = (slot as usize * 4 + cell) * self.most;
        &self.edges[first..first + usize::from(self.counts[slot as usize][cell])]
    }

    /// Whether the two entries have an edge in common in a cell.
    pub(super) fn meet(&self, one: u32, two: u32, cell: usize) -> bool {
        let others = self.of(two, cell);
        let hits = |&edge: &Edge| {
            // Without a way out: these are few, and a loop of compares is faster run to its end.
            let sought = reversed(edge);
            others.iter().fold(false, |hit, &e| hit | (e == sought))
        };
        self.of(one, cell).iter().any(hits)
    }

    /// Moves the edges of a cell of `from` to `to`, less those that both have; returns how many had
    /// no room.
    pub(super) fn join(&mut self, to: u32, from: u32, cell: usize) -> u64 {
        let (most, into) = (self.most, (to as usize * 4 + cell) * self.most);
        let start = (from as usize * 4 + cell) * self.most;
        let mut kept = usize::from(self.counts[to as usize][cell]);
        let mut moved = 0;
        // First all pairs cancel; what is left of `from` gathers at its front.
        for k in start..start + usize::from(self.counts[from as usize][cell]) {
            let edge = self.edges[k];
            let own = &self.edges[into..into + kept];
            if let Some(pair) = own.iter().position(|&e| e == reversed(edge)) {
                self.edges
                    .copy_within(into + pair + 1..into + kept, into + pair);
                kept -= 1;
            } else {
                self.edges[start + moved] = edge;
                moved += 1;
            }
        }
        let room = moved.min(most - kept);
        self.edges.copy_within(start..start + room, into + kept);
        self.counts[from as usize][cell] = 0;
        self.counts[to as usize][cell] = u8::try_from(kept + room).unwrap_or(u8::MAX);
        (moved - room) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::OuterEdges;

    #[test]
    fn shared_edges_cancel_and_what_has_no_room_is_lost() {
        let mut edges = OuterEdges::new(4);
        assert_eq!(edges.begin(0, [1, 2, 3]), 0);
        assert_eq!(edges.begin(1, [3, 2, 4]), 0);
        assert_eq!(edges.begin(2, [4, 2, 5]), 0);
        assert!(edges.meet(0, 1, 3) && !edges.meet(0, 2, 3));
        assert_eq!(edges.join(0, 1, 3), 0);
        let pair = |a: u64, b: u64| a << 32 | b;
        assert_eq!(
            edges.of(0, 3),
            [pair(1, 2), pair(3, 1), pair(2, 4), pair(4, 3)]
        );
        assert!(edges.of(1, 3).is_empty() && edges.of(1, 2).len() == 3);
        // (2, 4) meets (4, 2); of the two others one has no room.
        assert!(edges.meet(0, 2, 3));
        assert_eq!(edges.join(0, 2, 3), 1);
        assert_eq!(
            edges.of(0, 3),
            [pair(1, 2), pair(3, 1), pair(4, 3), pair(2, 5)]
        );
        // Vertices of one name make no edge, and a small store loses some from the start.
        assert_eq!(edges.begin(0, [7, 7, 8]), 0);
        assert_eq!(edges.of(0, 0).len(), 2);
        assert_eq!(OuterEdges::new(2).begin(0, [1, 2, 3]), 4);
    }
}
