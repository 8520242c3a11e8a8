//! Edges of sub-patches in fixed-point parameters.
//!
//! An edge is stored as a range of points on the whole edge that contains it, so that the sub-patches on both
//! sides have vertices at the same parameters, even if they are split differently.

/// Fixed-point representation of 1. Parameters from 0 to 1, and their differences from 1, are exact in f32.
pub(super) const ONE: i32 = 1 << 24;
/// Value of `parts` for an edge that is not divided evenly (`NON_UNIFORM` in DiagSplit).
const UNEVEN: u32 = u32::MAX;
/// Edges below this length are divided evenly, so that splitting ends at jumps of heights (assumed): a 4096th of a patch.
const SHORTEST_UNEVEN: u32 = 4096;

pub(super) type PatchPoint = [i32; 2];

/// Directed edge, counter-clockwise around its sub-patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PatchEdge {
    /// Ends of the whole edge in the direction of measurement.
    ends: [PatchPoint; 2],
    /// Number of parts of the whole edge; 0 for a single point of the surface.
    parts: u32,
    /// Point of the whole edge where this edge starts.
    from: u32,
    /// Point of the whole edge where this edge ends.
    to: u32,
    estimate: u32,
}

/// Length of an edge on the screen, in target edge lengths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Measure {
    /// Sum over the measured segments, rounded up (`t_min` in DiagSplit).
    pub(super) sum: u32,
    /// Longest measured segment times the number of segments, rounded up (`t_max` in DiagSplit).
    pub(super) longest: u32,
}

impl PatchEdge {
    /// Edge between `ends`, divided evenly unless equal parts in parameters would differ on the screen
    /// according to `measure` (Fisher et al. 2009, section 3.1).
    pub(super) fn new(ends: [PatchPoint; 2], measure: Measure) -> Self {
        let [across, along] = [0, 1].map(|axis| ends[0][axis].abs_diff(ends[1][axis]));
        let length = across.max(along);
        if length == 0 {
            return Self::point(ends);
        }
        let is_uneven = measure.longest > measure.sum + 1 && length >= SHORTEST_UNEVEN;
        let [parts, to] = if is_uneven { [UNEVEN, 1] } else { [measure.sum.clamp(1, length); 2] };
        Self { ends, parts, from: 0, to, estimate: measure.longest.max(1) }
    }

    /// Edge that is one point of the surface; its ends may differ in parameters.
    pub(super) fn point(ends: [PatchPoint; 2]) -> Self {
        Self { ends, parts: 0, from: 0, to: 0, estimate: 0 }
    }

    pub(super) fn reversed(mut self) -> Self {
        if self.parts == 0 {
            self.ends.swap(0, 1);
        }
        std::mem::swap(&mut self.from, &mut self.to);
        self
    }

    pub(super) fn is_uneven(&self) -> bool {
        self.parts == UNEVEN
    }

    pub(super) fn segments(&self) -> u32 {
        self.from.abs_diff(self.to)
    }

    pub(super) fn size(&self) -> u32 {
        if self.is_uneven() { self.estimate } else { self.segments() }
    }

    pub(super) fn start(&self) -> PatchPoint {
        if self.is_uneven() || self.parts == 0 {
            self.ends[self.from as usize]
        } else {
            self.whole(self.from)
        }
    }

    pub(super) fn end(&self) -> PatchPoint {
        match self.parts {
            0 => self.ends[1],
            UNEVEN => self.ends[self.to as usize],
            _ => self.whole(self.to),
        }
    }

    pub(super) fn at(&self, segment: u32) -> PatchPoint {
        match self.parts {
            0 | UNEVEN => self.start(),
            _ if self.from <= self.to => self.whole(self.from + segment),
            _ => self.whole(self.from - segment),
        }
    }

    /// Point `number` of the whole edge. Distances are rounded towards zero, so that mirrored edges have mirrored points.
    fn whole(&self, number: u32) -> PatchPoint {
        std::array::from_fn(|axis| {
            let (a, b) = (self.ends[0][axis], self.ends[1][axis]);
            let distance = u64::from(a.abs_diff(b)) * u64::from(number) / u64::from(self.parts);
            let distance = i32::try_from(distance).unwrap_or(ONE);
            if a <= b { a + distance } else { a - distance }
        })
    }

    /// Splits the edge in two. An uneven edge is split in the middle, and `measure` measures the halves in the direction of
    /// the whole edge; other edges are split at the point nearest to the middle. An edge of one segment stays whole, and
    /// the other part is a point at its start or, if `keeps_start`, at its end.
    pub(super) fn split(
        &self,
        keeps_start: bool,
        measure: impl Fn([PatchPoint; 2]) -> Measure,
    ) -> [Self; 2] {
        let [a, b] = self.ends;
        let middle = [0, 1].map(|axis| (a[axis] + b[axis]) >> 1);
        if self.is_uneven() {
            let low = Self::new([a, middle], measure([a, middle]));
            let high = Self::new([middle, b], measure([middle, b]));
            return if self.from == 0 { [low, high] } else { [high.reversed(), low.reversed()] };
        }
        match self.segments() {
            0 => [Self::point([self.start(), middle]), Self::point([middle, self.end()])],
            1 if keeps_start => [*self, Self::point([self.end(); 2])],
            1 => [Self::point([self.start(); 2]), *self],
            _ => {
                let at = u32::midpoint(self.from, self.to);
                [Self { to: at, ..*self }, Self { from: at, ..*self }]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mirrored(p: PatchPoint) -> PatchPoint {
        [ONE - p[0], p[1]]
    }

    #[test]
    fn mirrored_edges_have_mirrored_points() {
        let measure = Measure { sum: 7, longest: 8 };
        let ends = [[0, 0], [ONE / 8, 0]];
        let (edge, other) =
            (PatchEdge::new(ends, measure), PatchEdge::new(ends.map(mirrored), measure).reversed());
        assert_eq!(edge.segments(), 7);
        for i in 0..=7 {
            assert_eq!(mirrored(edge.at(i)), other.at(7 - i));
        }
        assert_eq!(edge.end(), ends[1]);
        assert_eq!(edge.reversed().start(), ends[1]);
    }

    #[test]
    fn parts_keep_the_points_of_the_whole() {
        let even = |n| Measure { sum: n, longest: n };
        let edge = PatchEdge::new([[3, 5], [1003, 77]], even(11));
        let [first, second] = edge.reversed().split(true, |_| even(0));
        assert_eq!(first.segments() + second.segments(), 11);
        assert_eq!(first.end(), second.start());
        assert_eq!(first.at(2), edge.at(9));
        assert_eq!(second.end(), [3, 5]);
        let one = PatchEdge::new([[0, 0], [9, 0]], even(1));
        let [kept, point] = one.split(true, |_| even(0));
        assert_eq!((kept, point.segments(), point.start()), (one, 0, [9, 0]));
    }
}
