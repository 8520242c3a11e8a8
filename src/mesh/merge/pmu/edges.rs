//! Outer edges of each shading pixel of each entry (PMU, section 4: `outerEdges`, `MergeOuterEdges`).
//!
//! An edge is a pair of vertex ids in the winding direction of its triangle: a neighbour has it reversed.
//!
//! Most shading pixels leave the unit unmerged, with the edges of one triangle, which are stored once per entry; only
//! a merged shading pixel has a list of its own. A signature of 64 bits per entry has a bit for each edge, the
//! same for both directions: entries without a common bit have no edge in common and need no comparison.

/// Edge from the vertex id in the high half to the vertex id in the low half.
type DirectedEdge = u64;

#[inline]
fn reversed(edge: DirectedEdge) -> DirectedEdge {
    edge.rotate_left(32)
}

#[inline]
fn directed(from: u32, to: u32) -> DirectedEdge {
    u64::from(from) << 32 | u64::from(to)
}

/// Signature bit of an edge, by Fibonacci hashing of the sum of its ends.
#[inline]
fn bit_of(from: u32, to: u32) -> u64 {
    let sum = u64::from(from) + u64::from(to);
    1 << (sum.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58)
}

/// Mask of the positions in `edges` of the edge `sought`.
#[inline]
fn places_of(sought: DirectedEdge, edges: &[DirectedEdge]) -> u64 {
    // For a few edges, running the loop to its end is faster than leaving early.
    let equal = (0..).zip(edges).map(|(k, &e)| u64::from(e == sought) << k);
    equal.fold(0, |all: u64, hit: u64| all | hit)
}

/// Common edges of a shading pixel in two entries: one mask per entry, with bit `k` for its edge `k`.
pub(super) type Shared = [u64; 2];

#[derive(Debug)]
pub(super) struct Triangle {
    edges: [DirectedEdge; 3],
    bits: [u64; 3],
}

impl Triangle {
    #[inline]
    pub(super) fn of([a, b, c]: [u32; 3]) -> Self {
        Self {
            edges: [directed(a, b), directed(b, c), directed(c, a)],
            bits: [bit_of(a, b), bit_of(b, c), bit_of(c, a)],
        }
    }

    /// Edges whose signature bit is set: bit `k` for edge `k`.
    #[inline]
    fn edges_in(&self, signature: u64) -> u32 {
        let [a, b, c] = self.bits.map(|bit| u32::from(bit & signature != 0));
        a | b << 1 | c << 2
    }

    #[inline]
    fn shared_by(&self, others: &[DirectedEdge], signature: u64) -> Shared {
        let mut shared = [0; 2];
        let mut left = self.edges_in(signature);
        // Nearly always exactly one edge is left, so the end of this loop is easy to predict.
        while left != 0 {
            let k = left.trailing_zeros() as usize % 3;
            left &= left - 1;
            let hits = places_of(reversed(self.edges[k]), others);
            shared[0] |= hits;
            shared[1] |= u64::from(hits != 0) << k;
        }
        shared
    }
}

/// Edges of two triangles without their common edge.
#[derive(Debug)]
pub(super) struct JoinedEdges {
    /// Edge lists in both orders: first-second, second-first.
    lists: [[DirectedEdge; 4]; 2],
    /// Union of the signature bits of both triangles' edges.
    signature: u64,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OuterEdges {
    triangle: [DirectedEdge; 3],
    /// Union of the signature bits of the edges; it may have additional bits.
    signature: u64,
    /// Shading pixels with outer edges: bit `c` for shading pixel `c`.
    open: u8,
    /// Shading pixels whose edges are in the list, because they differ from the triangle's.
    listed: u8,
    counts: [u8; 4],
}

impl OuterEdges {
    /// Edges of a new entry: the triangle's edges in the shading pixels `pixels`, except edges between equal vertex ids.
    #[inline]
    pub(super) fn of(triangle: &Triangle, pixels: u8) -> Self {
        let ([a, b, c], bits) = (triangle.edges, triangle.bits);
        let has_three = (a != reversed(a)) & (b != reversed(b)) & (c != reversed(c));
        Self {
            triangle: [a, b, c],
            signature: bits[0] | bits[1] | bits[2],
            open: pixels,
            listed: if has_three { 0 } else { pixels },
            counts: [0; 4],
        }
    }

    /// Open shading pixels with exactly the triangle's edges: bit `c` for shading pixel `c`.
    #[inline]
    pub(super) fn whole(&self) -> u8 {
        self.open & !self.listed
    }

    #[inline]
    pub(super) fn joined(&self, other: &Self, shared: Shared) -> JoinedEdges {
        // Which edge is shared is hard to predict, so the other two are selected by index, without a branch.
        let others = |triangle: &[DirectedEdge; 3], shared: u64| {
            let is = |k: u64| usize::from(shared >> k & 1 == 1);
            [triangle[is(0)], triangle[2 - is(2)]]
        };
        let [a, b] = others(&self.triangle, shared[0]);
        let [c, d] = others(&other.triangle, shared[1]);
        JoinedEdges {
            lists: [[a, b, c, d], [c, d, a, b]],
            signature: self.signature | other.signature,
        }
    }

    /// Removes all edges of the shading pixels `pixels`.
    #[inline]
    pub(super) fn close(&mut self, pixels: u8) {
        self.open &= !pixels;
    }

    /// Whether the entry may have an edge in common with the entry of edges `other`.
    #[inline]
    pub(super) fn may_share(&self, other: &Self) -> bool {
        (self.signature & other.signature != 0) & (self.open & other.open != 0)
    }

    #[inline]
    pub(super) fn shared_with(&self, triangle: &Triangle) -> Shared {
        triangle.shared_by(&self.triangle, self.signature)
    }

    #[inline]
    pub(super) fn open(&self) -> u8 {
        self.open
    }

    /// Whether the edges of a shading pixel are in the list, because they differ from the triangle's.
    #[inline]
    pub(super) fn is_listed(&self, pixel: usize) -> bool {
        self.listed >> pixel & 1 == 1
    }
}

/// Edges of merged shading pixels.
#[derive(Debug, Clone)]
pub(super) struct EdgeLists {
    /// Lists of `most` edges each, indexed by slot and shading pixel.
    edges: Vec<DirectedEdge>,
    slots: u32,
    /// Maximum number of edges per shading pixel.
    most: usize,
}

impl EdgeLists {
    pub(super) fn new(most: u32) -> Self {
        Self { edges: Vec::new(), slots: 0, most: most.clamp(1, 64) as usize }
    }

    #[inline]
    fn first(&self, slot: u32, pixel: usize) -> usize {
        (slot as usize * 4 + pixel) * self.most
    }

    /// Makes room for a new entry; returns whether its edges must be [listed](Self::begin_lists).
    #[inline]
    pub(super) fn begin(&mut self, slot: u32, edges: &OuterEdges) -> bool {
        if slot >= self.slots {
            self.slots = slot + 1;
            self.edges.resize(self.first(self.slots, 0), 0);
        }
        // An unmerged shading pixel has exactly the three edges of its triangle, which are stored once per
        // entry. Only entries with a degenerate edge, or lists with room for fewer than three edges, need a
        // copy per pixel.
        edges.listed != 0 || self.most < 3
    }

    /// Lists the edges of a new entry that has, or can keep, fewer than three; returns the number lost for lack of room.
    #[cold]
    pub(super) fn begin_lists(&mut self, slot: u32, edges: &mut OuterEdges) -> u64 {
        let mut kept = edges.triangle;
        let mut count = 0;
        for edge in edges.triangle {
            kept[count] = edge;
            count += usize::from(edge != reversed(edge));
        }
        let room = count.min(self.most);
        for pixel in 0..4 {
            let first = self.first(slot, pixel);
            self.edges[first..first + room].copy_from_slice(&kept[..room]);
        }
        let pixels = edges.open.count_ones();
        edges.listed = edges.open;
        edges.counts = [u8::try_from(room).unwrap_or(u8::MAX); 4];
        if room == 0 {
            edges.open = 0;
        }
        u64::from(pixels) * (count - room) as u64
    }

    #[inline]
    fn of<'a>(&'a self, slot: u32, edges: &'a OuterEdges, pixel: usize) -> &'a [DirectedEdge] {
        if edges.is_listed(pixel) {
            let first = self.first(slot, pixel);
            &self.edges[first..first + usize::from(edges.counts[pixel & 3])]
        } else {
            &edges.triangle
        }
    }

    /// Whether two triangles have exactly one edge in common and a list has room for their other four edges.
    #[inline]
    pub(super) fn has_room_for(&self, shared: Shared) -> bool {
        let is_one = |edges: u64| edges != 0 && edges & (edges - 1) == 0;
        self.most >= 4 && is_one(shared[0]) && is_one(shared[1])
    }

    /// Stores the edges of two triangles for a shading pixel, starting with triangle `first` (0 or 1).
    #[inline]
    pub(super) fn set(
        &mut self,
        slot: u32,
        edges: &mut OuterEdges,
        pixel: usize,
        joined: &JoinedEdges,
        first: usize,
    ) {
        let at = self.first(slot, pixel);
        self.edges[at..at + 4].copy_from_slice(&joined.lists[first]);
        edges.counts[pixel & 3] = 4;
        edges.listed |= 1 << pixel;
        edges.signature = joined.signature;
    }

    #[inline]
    pub(super) fn shared_with(
        &self,
        slot: u32,
        edges: &OuterEdges,
        pixel: usize,
        triangle: &Triangle,
    ) -> Shared {
        triangle.shared_by(self.of(slot, edges, pixel), edges.signature)
    }

    #[inline(never)]
    pub(super) fn shared(&self, slots: [u32; 2], edges: [&OuterEdges; 2], pixel: usize) -> Shared {
        let [ones, others] = [0, 1].map(|k| self.of(slots[k], edges[k], pixel));
        let mut shared = [0; 2];
        for (k, &edge) in ones.iter().enumerate() {
            let hits = places_of(reversed(edge), others);
            shared[0] |= u64::from(hits != 0) << k;
            shared[1] |= hits;
        }
        shared
    }

    /// Moves a shading pixel's edges from the second entry to the first, without `shared` edges; returns the number lost.
    #[inline(never)]
    pub(super) fn join(
        &mut self,
        slots: [u32; 2],
        [keeper, loser]: [&mut OuterEdges; 2],
        pixel: usize,
        shared: Shared,
    ) -> u64 {
        let ranges = slots.map(|slot| {
            let first = self.first(slot, pixel);
            first..first + self.most
        });
        let Ok([into, more]) = self.edges.get_disjoint_mut(ranges) else { return 0 };
        let mut owned = usize::from(keeper.counts[pixel & 3]);
        if !keeper.is_listed(pixel) {
            into[..3].copy_from_slice(&keeper.triangle);
            owned = 3;
        }
        let more = if loser.is_listed(pixel) {
            &more[..usize::from(loser.counts[pixel & 3])]
        } else {
            &loser.triangle
        };
        let mut kept = 0;
        for k in 0..owned {
            into[kept] = into[k];
            kept += usize::from(shared[0] >> k & 1 == 0);
        }
        let mut lost = 0;
        for (k, &edge) in more.iter().enumerate() {
            // Which edges stay is hard to predict, so the loop does not branch on it.
            let stays = shared[1] >> k & 1 == 0;
            if let Some(room) = into.get_mut(kept) {
                *room = edge;
                kept += usize::from(stays);
            } else {
                lost += u64::from(stays);
            }
        }
        let bit = 1 << pixel;
        keeper.signature |= loser.signature;
        loser.open &= !bit;
        keeper.listed |= bit;
        keeper.counts[pixel & 3] = u8::try_from(kept).unwrap_or(u8::MAX);
        if kept == 0 {
            keeper.open &= !bit;
        }
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::{EdgeLists, OuterEdges, Shared, Triangle};

    /// The edges of entries, by slot.
    struct Entries(EdgeLists, Vec<OuterEdges>);

    impl Entries {
        fn begin(&mut self, slot: u32, ids: [u32; 3], pixels: u8) -> u64 {
            let (at, edges) = (slot as usize, OuterEdges::of(&Triangle::of(ids), pixels));
            self.1.resize(self.1.len().max(at + 1), edges);
            self.1[at] = edges;
            if self.0.begin(slot, &edges) { self.0.begin_lists(slot, &mut self.1[at]) } else { 0 }
        }

        fn of(&self, slot: u32, pixel: usize) -> &[u64] {
            let edges = &self.1[slot as usize];
            let is_open = edges.open >> pixel & 1 == 1;
            let listed = self.0.of(slot, edges, pixel);
            if is_open { listed } else { &[] }
        }

        fn shared(&self, one: u32, two: u32, pixel: usize) -> Shared {
            let edges = [one, two].map(|slot| &self.1[slot as usize]);
            let shared = self.0.shared([one, two], edges, pixel);
            assert!(shared == [0; 2] || edges[0].may_share(edges[1]));
            shared
        }

        fn join(&mut self, to: u32, from: u32, pixel: usize, shared: Shared) -> u64 {
            let slots = [to, from].map(|slot| slot as usize);
            let Ok(edges) = self.1.get_disjoint_mut(slots) else { return 0 };
            self.0.join([to, from], edges, pixel, shared)
        }
    }

    #[test]
    fn shared_edges_cancel_and_edges_without_room_are_lost() {
        let mut edges = Entries(EdgeLists::new(4), Vec::new());
        assert_eq!(edges.begin(0, [1, 2, 3], 15), 0);
        assert_eq!(edges.begin(1, [3, 2, 4], 15), 0);
        assert_eq!(edges.begin(2, [4, 2, 5], 15), 0);
        assert!(edges.shared(0, 2, 3) == [0; 2]);
        let [one, two] = edges.shared(1, 0, 3);
        let shared = [two, one];
        assert_eq!(shared, edges.shared(0, 1, 3));
        assert_eq!(shared, edges.1[0].shared_with(&Triangle::of([3, 2, 4])));
        assert_eq!(edges.join(0, 1, 3, shared), 0);
        let pair = |a: u64, b: u64| a << 32 | b;
        assert_eq!(edges.of(0, 3), [pair(1, 2), pair(3, 1), pair(2, 4), pair(4, 3)]);
        assert!(edges.of(1, 3).is_empty() && edges.of(1, 2).len() == 3);
        // Two unmerged shading pixels give the same lists, in which one keeps pixel 0 and the other pixel 1.
        let [mut one, mut two] = [edges.1[0], edges.1[1]];
        let joined = one.joined(&two, shared);
        assert!(edges.0.has_room_for(shared) && joined.lists[0] == edges.of(0, 3));
        one.close(0b0010);
        two.close(0b0001);
        edges.0.set(0, &mut one, 0, &joined, 0);
        edges.0.set(1, &mut two, 1, &joined, 1);
        assert_eq!((one.open, one.whole(), one.counts[0]), (0b1101, 0b0100, 4));
        assert_eq!((two.open, two.whole(), two.counts[1]), (0b0110, 0b0100, 4));
        // (2, 4) cancels (4, 2); one of the two other edges has no room.
        let shared = edges.shared(0, 2, 3);
        assert_eq!(edges.join(0, 2, 3, shared), 1);
        assert_eq!(edges.of(0, 3), [pair(1, 2), pair(3, 1), pair(4, 3), pair(2, 5)]);
        // Vertices with the same id make no edge, and a small store loses edges from the start.
        assert_eq!(edges.begin(0, [7, 7, 8], 15), 0);
        assert_eq!(edges.of(0, 0).len(), 2);
        // The shading pixels outside the mask have no edges.
        edges.begin(0, [1, 2, 3], 0b0100);
        assert_eq!([0, 1, 2, 3].map(|pixel| edges.of(0, pixel).len()), [0, 0, 3, 0]);
        let mut edges = Entries(EdgeLists::new(2), Vec::new());
        assert_eq!(edges.begin(0, [1, 2, 3], 15), 4);
    }
}
