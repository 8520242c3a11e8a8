//! The outer edges of each shading pixel of each entry (PMU, section 4: `outerEdges`,
//! `MergeOuterEdges`).
//!
//! An edge is a pair of vertex ids in the winding direction of its triangle: two triangles that share
//! it have it in opposite directions.

/// An edge from the vertex in the high half to that in the low half.
type DirectedEdge = u64;

/// The edge in the other direction.
#[inline]
fn reversed(edge: DirectedEdge) -> DirectedEdge {
    edge.rotate_left(32)
}

/// The edges of a shading pixel that two entries have in common: bit `k` for edge `k` of each.
pub(super) type Shared = [u64; 2];

/// Edges per entry and shading pixel, in one array.
#[derive(Debug, Clone)]
pub(super) struct OuterEdges {
    edges: Vec<DirectedEdge>,
    /// Number of edges kept per entry and shading pixel.
    counts: Vec<[u8; 4]>,
    /// Maximum number of edges per shading pixel.
    most: usize,
}

impl OuterEdges {
    /// Creates an empty store for `most` edges per shading pixel, 1 to 64.
    pub(super) fn new(most: u32) -> Self {
        Self {
            edges: Vec::new(),
            counts: Vec::new(),
            most: most.clamp(1, 64) as usize,
        }
    }

    /// Sets the edges of an entry: those of its triangle in the shading pixels of the mask `pixels`,
    /// none in the others. Returns the number of edges lost for lack of room. Edges between vertices
    /// with the same id are left out.
    pub(super) fn begin(&mut self, slot: u32, [a, b, c]: [u32; 3], pixels: u8) -> u64 {
        let slot = slot as usize;
        if slot >= self.counts.len() {
            self.counts.resize(slot + 1, [0; 4]);
            self.edges.resize((slot + 1) * 4 * self.most, 0);
        }
        self.counts[slot] = [0; 4];
        let mut lost = 0;
        for pixel in (0..4).filter(|p| pixels >> p & 1 == 1) {
            let first = (slot * 4 + pixel) * self.most;
            let mut kept = 0;
            for (from, to) in [(a, b), (b, c), (c, a)] {
                if from == to {
                    continue;
                }
                if kept == self.most {
                    lost += 1;
                    continue;
                }
                self.edges[first + kept] = u64::from(from) << 32 | u64::from(to);
                kept += 1;
            }
            self.counts[slot][pixel] = u8::try_from(kept).unwrap_or(u8::MAX);
        }
        lost
    }

    fn of(&self, slot: u32, pixel: usize) -> &[DirectedEdge] {
        let first = (slot as usize * 4 + pixel) * self.most;
        &self.edges[first..first + usize::from(self.counts[slot as usize][pixel])]
    }

    /// The edges that two entries have in common in a shading pixel.
    #[inline]
    pub(super) fn shared(&self, one: u32, two: u32, pixel: usize) -> Shared {
        let others = self.of(two, pixel);
        let mut shared = [0; 2];
        for (k, &edge) in self.of(one, pixel).iter().enumerate() {
            let sought = reversed(edge);
            // For a few edges, running the loop to its end is faster than leaving early.
            let equal = (0..)
                .zip(others)
                .map(|(at, &e)| u64::from(e == sought) << at);
            let hits = equal.fold(0, |all: u64, hit: u64| all | hit);
            shared[0] |= u64::from(hits != 0) << k;
            shared[1] |= hits;
        }
        shared
    }

    /// Moves the edges of a shading pixel of `from` to `to`, without the `shared` ones; returns the
    /// number of edges lost for lack of room.
    pub(super) fn join(&mut self, to: u32, from: u32, pixel: usize, shared: Shared) -> u64 {
        let most = self.most;
        let [into, start] = [to, from].map(|slot| (slot as usize * 4 + pixel) * most);
        let [owned, more] = [to, from].map(|slot| usize::from(self.counts[slot as usize][pixel]));
        let mut kept = 0;
        for k in (0..owned).filter(|k| shared[0] >> k & 1 == 0) {
            self.edges[into + kept] = self.edges[into + k];
            kept += 1;
        }
        let mut lost = 0;
        for k in (0..more).filter(|k| shared[1] >> k & 1 == 0) {
            if kept < most {
                self.edges[into + kept] = self.edges[start + k];
                kept += 1;
            } else {
                lost += 1;
            }
        }
        self.counts[from as usize][pixel] = 0;
        self.counts[to as usize][pixel] = u8::try_from(kept).unwrap_or(u8::MAX);
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::OuterEdges;

    #[test]
    fn shared_edges_cancel_and_edges_without_room_are_lost() {
        let mut edges = OuterEdges::new(4);
        assert_eq!(edges.begin(0, [1, 2, 3], 15), 0);
        assert_eq!(edges.begin(1, [3, 2, 4], 15), 0);
        assert_eq!(edges.begin(2, [4, 2, 5], 15), 0);
        assert!(edges.shared(0, 2, 3) == [0; 2]);
        let [one, two] = edges.shared(1, 0, 3);
        let shared = [two, one];
        assert_eq!(shared, edges.shared(0, 1, 3));
        assert_eq!(edges.join(0, 1, 3, shared), 0);
        let pair = |a: u64, b: u64| a << 32 | b;
        assert_eq!(
            edges.of(0, 3),
            [pair(1, 2), pair(3, 1), pair(2, 4), pair(4, 3)]
        );
        assert!(edges.of(1, 3).is_empty() && edges.of(1, 2).len() == 3);
        // (2, 4) meets (4, 2); of the two others one has no room.
        let shared = edges.shared(0, 2, 3);
        assert_eq!(edges.join(0, 2, 3, shared), 1);
        assert_eq!(
            edges.of(0, 3),
            [pair(1, 2), pair(3, 1), pair(4, 3), pair(2, 5)]
        );
        // Vertices with the same id make no edge, and a small store loses edges from the start.
        assert_eq!(edges.begin(0, [7, 7, 8], 15), 0);
        assert_eq!(edges.of(0, 0).len(), 2);
        // The shading pixels outside the mask have no edges.
        edges.begin(0, [1, 2, 3], 0b0100);
        assert_eq!(
            [0, 1, 2, 3].map(|pixel| edges.of(0, pixel).len()),
            [0, 0, 3, 0]
        );
        assert_eq!(OuterEdges::new(2).begin(0, [1, 2, 3], 15), 4);
    }
}
