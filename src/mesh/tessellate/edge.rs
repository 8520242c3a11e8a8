//! Edges of sub-patches in fixed-point parameters.
//!
//! An edge knows the whole edge that it is a part of and which of its points it runs between, so
//! that the sub-patches on both sides place their vertices at the very same parameters however
//! often each was split.

/// Parameters run from 0 to this: exact in `f32`, and so is one minus any of them.
pub(super) const ONE: i32 = 1 << 24;
/// Parts of an edge that is not divided evenly (DiagSplit's `NON_UNIFORM`).
const UNEVEN: u32 = u32::MAX;
/// Parameter length below which edges are divided evenly whatever they look like, so that
/// splitting ends where heights jump across a seam. An assumption: a 4096th of a patch.
const SHORTEST_UNEVEN: u32 = 4096;

/// A point in the parameters of a patch.
pub(super) type PatchPoint = [i32; 2];

/// An edge in walking order, counter-clockwise around its sub-patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PatchEdge {
    /// Ends of the whole edge, in the direction in which it is measured.
    ends: [PatchPoint; 2],
    /// Parts that the whole edge is divided into; 0 for an edge that is one point of the surface.
    parts: u32,
    /// The points of the whole edge at which this edge starts and ends.
    from: u32,
    to: u32,
    /// Parts that it will have in the end, about.
    estimate: u32,
}

/// How long an edge is on the screen, in target edge lengths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Measure {
    /// Sum over its samples, rounded up: DiagSplit's `t_min`.
    pub(super) sum: u32,
    /// The longest between two samples times their number, rounded up: DiagSplit's `t_max`.
    pub(super) longest: u32,
}

impl PatchEdge {
    /// The edge between `ends`, which measures `measure`. Divided evenly unless the measure says
    /// that parts of one length in parameters would differ on the screen (Fisher et al. 2009,
    /// section 3.1).
    pub(super) fn new(ends: [PatchPoint; 2], measure: Measure) -> Self {
        let length = (0..2)
            .map(|axis| ends[0][axis].abs_diff(ends[1][axis]))
            .max()
            .unwrap_or(0);
        if length == 0 {
            return Self::point(ends);
        }
        let is_uneven = measure.longest > measure.sum + 1 && length >= SHORTEST_UNEVEN;
        let parts = if is_uneven {
            UNEVEN
        } else {
            measure.sum.clamp(1, length)
        };
        Self {
            ends,
            parts,
            from: 0,
            to: if is_uneven { 1 } else { parts },
            estimate: measure.longest.max(1),
        }
    }

    /// An edge that is one point of the surface, though its ends may differ in parameters.
    pub(super) fn point(ends: [PatchPoint; 2]) -> Self {
        Self {
            ends,
            parts: 0,
            from: 0,
            to: 0,
            estimate: 0,
        }
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

    /// Segments of an edge that is divided evenly.
    pub(super) fn segments(&self) -> u32 {
        self.from.abs_diff(self.to)
    }

    /// Segments, or about how many there will be.
    pub(super) fn size(&self) -> u32 {
        if self.is_uneven() {
            self.estimate
        } else {
            self.segments()
        }
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

    /// PatchPoint `number` of the whole edge. Distances from its start are rounded towards zero, so that
    /// patches that see the edge mirrored find the mirrored point.
    fn whole(&self, number: u32) -> PatchPoint {
        std::array::from_fn(|axis| {
            let (a, b) = (self.ends[0][axis], self.ends[1][axis]);
            let way = u64::from(a.abs_diff(b)) * u64::from(number) / u64::from(self.parts);
            let way = i32::try_from(way).unwrap_or(ONE);
            if a <= b { a + way } else { a - way }
        })
    }

    /// The two edges that it splits into: in the middle if it is uneven, where `measure` measures
    /// the halves in the direction of the whole; else at the point nearest to the middle. An edge
    /// of one segment ends up in one part, the other being a point at its start or, if
    /// `keeps_start`, at its end.
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
            return if self.from == 0 {
                [low, high]
            } else {
                [high.reversed(), low.reversed()]
            };
        }
        match self.segments() {
            0 => [
                Self::point([self.start(), middle]),
                Self::point([middle, self.end()]),
            ],
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
    fn a_mirrored_edge_has_mirrored_points() {
        let measure = Measure { sum: 7, longest: 8 };
        let ends = [[0, 0], [ONE / 8, 0]];
        let (edge, other) = (
            PatchEdge::new(ends, measure),
            PatchEdge::new(ends.map(mirrored), measure).reversed(),
        );
        assert_eq!(edge.segments(), 7);
        for i in 0..=7 {
            assert_eq!(mirrored(edge.at(i)), other.at(7 - i));
        }
        assert_eq!(edge.end(), ends[1]);
        assert_eq!(edge.reversed().start(), ends[1]);
    }

    #[test]
    fn parts_keep_the_points_of_the_whole() {
        let edge = PatchEdge::new(
            [[3, 5], [1003, 77]],
            Measure {
                sum: 11,
                longest: 11,
            },
        );
        let [first, second] = edge
            .reversed()
            .split(true, |_| Measure { sum: 0, longest: 0 });
        assert_eq!(first.segments() + second.segments(), 11);
        assert_eq!(first.end(), second.start());
        assert_eq!(first.at(2), edge.at(9));
        assert_eq!(second.end(), [3, 5]);
        let one = PatchEdge::new([[0, 0], [9, 0]], Measure { sum: 1, longest: 1 });
        let [kept, point] = one.split(true, |_| Measure { sum: 0, longest: 0 });
        assert_eq!((kept, point.segments(), point.start()), (one, 0, [9, 0]));
    }
}
