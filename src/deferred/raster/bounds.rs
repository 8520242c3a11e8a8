//! Bounds, in time and on the lens, of the samples of a tile that a triangle may cover (Laine et al., "Clipless Dual-Space
//! Bounds for Faster Stochastic Rasterization", 2011; section 5.1).
//!
//! A triangle is beyond a side of a tile if all its corners are beyond it, seen through any point of the lens. A corner's
//! distance to the side, times `Z`, is linear in time for a fixed lens position and linear on the lens for a fixed time;
//! with the blur added, it is convex in time and therefore below its chord. This also holds for corners behind the eye,
//! since nothing is divided by `Z`: a point of the triangle in the tile, with `Z > 0`, is a mean of the corners, so at
//! least one corner is not beyond the side.

use fearless_simd::{Simd, f32x16, mask32x16, prelude::*};

use super::triangle::MovingTriangle;
use crate::camera::lens::LensShear;

/// Widening of ranges against rounding errors.
const MARGIN: f32 = 1.0 / 262_144.0;
/// Bound on the rounding error of a corner's position, here and in the sample test, relative to the summed magnitudes.
const ROUNDING: f32 = 1.0 / 524_288.0;

/// Borders of a rectangle of the picture, in pixels from the picture's centre.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rect {
    /// Left and top border.
    pub least: [f32; 2],
    /// Right and bottom border.
    pub greatest: [f32; 2],
}

/// Borders of rectangles of the picture, one per lane, in pixels from the picture's centre.
#[derive(Debug, Clone, Copy)]
pub struct RectLanes<S: Simd> {
    /// Left and top borders.
    pub least: [f32x16<S>; 2],
    /// Right and bottom borders.
    pub greatest: [f32x16<S>; 2],
}

/// Ranges of samples in time and on the lens, one per lane.
#[derive(Debug, Clone, Copy)]
pub struct RangeLanes<S: Simd> {
    /// First and last time, from 0 to 1.
    pub t: [f32x16<S>; 2],
    /// Smallest and largest lens coordinate, across and down, from -1 to 1.
    pub uv: [[f32x16<S>; 2]; 2],
}

impl<S: Simd> RangeLanes<S> {
    /// Ranges that contain all samples.
    #[inline(always)]
    pub(crate) fn all(simd: S) -> Self {
        let one = f32x16::splat(simd, 1.0);
        Self { t: [f32x16::splat(simd, 0.0), one], uv: [[-one, one]; 2] }
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Corner {
    /// Offset from the picture's centre times `Z`, across and down.
    pub(super) offset: [f32; 2],
    pub(super) z: f32,
    /// Shear at the border of the lens, across and down.
    pub(super) shear: [f32; 2],
}

/// Corners and blurs of a triangle when the shutter opens and closes.
#[derive(Debug, Clone, Copy)]
pub struct CornerBounds {
    pub(super) ends: [[Corner; 3]; 2],
    /// Bounds on the rounding errors of the corners.
    pub(super) slack: [f32; 3],
    pub(super) moves: bool,
    is_blurred: bool,
}

impl CornerBounds {
    /// Prepares the corners of a triangle in a picture whose borders are at most `reach` pixels from its centre.
    #[inline(always)]
    pub fn new(triangle: &MovingTriangle, lens: &LensShear, reach: f32) -> Self {
        let moves = triangle.moves();
        let end = if moves { triangle.end() } else { triangle.start };
        let mut slack = [0.0; 3];
        let ends = [triangle.start, end].map(|corners| {
            let mut found = [Corner::default(); 3];
            for (i, [x, y, z]) in corners.into_iter().enumerate() {
                found[i] =
                    Corner { offset: [x, y], z, shear: [0, 1].map(|k| lens.a[k] * z + lens.b[k]) };
                let aside = |k: usize| (lens.a[k] * z).abs() + lens.b[k].abs();
                slack[i] += (x.abs() + aside(0)).max(y.abs() + aside(1)) + reach * z.abs();
            }
            found
        });
        Self { ends, slack: slack.map(|v| ROUNDING * v), moves, is_blurred: !lens.is_pinhole() }
    }

    /// Bounds on the rounding errors of the corners' positions, times `Z`.
    #[inline(always)]
    pub fn slack(&self) -> [f32; 3] {
        self.slack
    }

    /// Whether ranges can exclude samples: the triangle moves, or the lens is not a pinhole.
    #[inline(always)]
    pub(crate) fn restricts(&self) -> bool {
        self.moves || self.is_blurred
    }

    /// Returns the rectangles that the triangle may cover, and the ranges of times and lens positions at which it may.
    #[inline(always)]
    pub fn range<S: Simd>(&self, simd: S, rects: &RectLanes<S>) -> (mask32x16<S>, RangeLanes<S>) {
        let mut range = RangeLanes::all(simd);
        let mut may_cover = mask32x16::splat(simd, true);
        for (axis, sign) in SIDES {
            let border = rects.border(axis, sign);
            let start = self.beyond(simd, 0, axis, sign, border);
            if !self.moves {
                may_cover &= !all(below_zero(simd, start));
                continue;
            }
            let end = self.beyond(simd, 1, axis, sign, border);
            let below = [below_zero(simd, start), below_zero(simd, end)];
            let never = both(below[0], below[1]);
            may_cover &= !all(never);
            let below_at = [all(below[0]), all(below[1])];
            if !(below_at[0] ^ below_at[1]).any_true() {
                continue;
            }
            let mut hull = Hull::new(simd);
            for i in 0..3 {
                hull.add(start[i] / (start[i] - end[i]), never[i]);
            }
            narrow_to(&mut range.t, hull.range(below_at[0], below_at[1]));
        }
        self.in_time(simd, rects, may_cover, range)
    }

    #[inline(always)]
    pub(super) fn in_time<S: Simd>(
        &self,
        simd: S,
        rects: &RectLanes<S>,
        mut may_cover: mask32x16<S>,
        mut range: RangeLanes<S>,
    ) -> (mask32x16<S>, RangeLanes<S>) {
        may_cover &= range.t[0].simd_le(range.t[1]);
        if self.is_blurred && may_cover.any_true() {
            may_cover &= self.on_lens(simd, rects, &mut range);
        }
        (may_cover, range)
    }

    /// Distances of the corners from a side at one end of the shutter, with blur and times `Z`; negative beyond the side.
    #[inline(always)]
    fn beyond<S: Simd>(
        &self,
        simd: S,
        end: usize,
        axis: usize,
        sign: f32,
        border: f32x16<S>,
    ) -> [f32x16<S>; 3] {
        let mut distances = [f32x16::splat(simd, 0.0); 3];
        let corners = self.ends[end].iter().zip(&self.slack);
        for (distance, (corner, &slack)) in distances.iter_mut().zip(corners) {
            let sharp = border * (-sign * corner.z) + sign * corner.offset[axis];
            *distance = sharp + corner.shear[axis].abs() + slack;
        }
        distances
    }

    #[inline(always)]
    fn between<S: Simd>(
        &self,
        corner: usize,
        time: f32x16<S>,
        of: impl Fn(&Corner) -> f32,
    ) -> f32x16<S> {
        let [start, end] = [of(&self.ends[0][corner]), of(&self.ends[1][corner])];
        time * (end - start) + start
    }

    /// Restricts ranges to lens positions from which the triangle may be between the sides; returns the lanes with such
    /// positions.
    #[inline(always)]
    fn on_lens<S: Simd>(
        &self,
        simd: S,
        rects: &RectLanes<S>,
        range: &mut RangeLanes<S>,
    ) -> mask32x16<S> {
        let times: &[f32x16<S>] = if self.moves { &range.t } else { &range.t[..1] };
        let zero = f32x16::splat(simd, 0.0);
        let mut may_cover = mask32x16::splat(simd, true);
        let mut lens = range.uv;
        let mut z = [[zero; 3]; 2];
        for (z, &time) in z.iter_mut().zip(times) {
            for (i, z) in z.iter_mut().enumerate() {
                *z = self.between(i, time, |corner| corner.z);
            }
        }
        for (axis, lens) in lens.iter_mut().enumerate() {
            let mut below = [[[mask32x16::splat(simd, true); 3]; 2]; 2];
            let mut ends = [[[[zero; 2]; 3]; 2]; 2];
            for (at, &time) in times.iter().enumerate() {
                for i in 0..3 {
                    let place = self.between(i, time, |corner| corner.offset[axis]);
                    let shear = self.between(i, time, |corner| corner.shear[axis]);
                    let slack = self.slack[i] * 2.0;
                    // Distances from the left or top border, then from the right or bottom border.
                    let middle = place - rects.least[axis] * z[at][i] + slack;
                    ends[0][at][i] = [middle - shear, middle + shear];
                    let middle = -(place - rects.greatest[axis] * z[at][i]) + slack;
                    ends[1][at][i] = [middle + shear, middle - shear];
                    for (below, ends) in below.iter_mut().zip(&ends) {
                        below[0][i] &= ends[at][i][0].simd_lt(zero);
                        below[1][i] &= ends[at][i][1].simd_lt(zero);
                    }
                }
            }
            for (below, ends) in below.into_iter().zip(&ends) {
                may_cover &= !all(both(below[0], below[1]));
                let below_at = [all(below[0]), all(below[1])];
                if !(below_at[0] ^ below_at[1]).any_true() {
                    continue;
                }
                let mut hull = Hull::new(simd);
                for ends in &ends[..times.len()] {
                    for [least, greatest] in ends {
                        let never = least.simd_lt(zero) & greatest.simd_lt(zero);
                        hull.add(*least / (*least - *greatest), never);
                    }
                }
                let share = hull.range(below_at[0], below_at[1]);
                narrow_to(lens, [share[0] * 2.0 - 1.0, share[1] * 2.0 - 1.0]);
            }
        }
        range.uv = lens;
        for [least, greatest] in lens {
            may_cover &= least.simd_le(greatest);
        }
        may_cover
    }
}

/// Axis and sign of the inward direction of the left, right, top and bottom side.
const SIDES: [(usize, f32); 4] = [(0, 1.0), (0, -1.0), (1, 1.0), (1, -1.0)];

impl<S: Simd> RectLanes<S> {
    /// Repeats a rectangle in all lanes.
    #[inline(always)]
    pub fn splat(simd: S, rect: &Rect) -> Self {
        Self {
            least: [f32x16::splat(simd, rect.least[0]), f32x16::splat(simd, rect.least[1])],
            greatest: [
                f32x16::splat(simd, rect.greatest[0]),
                f32x16::splat(simd, rect.greatest[1]),
            ],
        }
    }

    #[inline(always)]
    fn border(&self, axis: usize, sign: f32) -> f32x16<S> {
        if sign > 0.0 { self.least[axis] } else { self.greatest[axis] }
    }
}

/// Lanes in which the value of each corner is below zero; NaN is not.
#[inline(always)]
pub(super) fn below_zero<S: Simd>(simd: S, corners: [f32x16<S>; 3]) -> [mask32x16<S>; 3] {
    let zero = f32x16::splat(simd, 0.0);
    let [a, b, c] = corners;
    [a.simd_lt(zero), b.simd_lt(zero), c.simd_lt(zero)]
}

#[inline(always)]
pub(super) fn both<S: Simd>(a: [mask32x16<S>; 3], b: [mask32x16<S>; 3]) -> [mask32x16<S>; 3] {
    [a[0] & b[0], a[1] & b[1], a[2] & b[2]]
}

#[inline(always)]
pub(super) fn all<S: Simd>([a, b, c]: [mask32x16<S>; 3]) -> mask32x16<S> {
    a & b & c
}

#[inline(always)]
fn narrow_to<S: Simd>(range: &mut [f32x16<S>; 2], to: [f32x16<S>; 2]) {
    *range = [range[0].max(to[0]), range[1].min(to[1])];
}

/// Range within 0 to 1 outside which all linear functions of a side are negative.
pub(super) struct Hull<S: Simd> {
    simd: S,
    roots: [f32x16<S>; 2],
    /// Lanes with a NaN root, which restricts nothing.
    has_nan: mask32x16<S>,
}

impl<S: Simd> Hull<S> {
    #[inline(always)]
    pub(super) fn new(simd: S) -> Self {
        Self {
            simd,
            roots: [f32x16::splat(simd, 1.0), f32x16::splat(simd, 0.0)],
            has_nan: mask32x16::splat(simd, false),
        }
    }

    /// Adds a function by its root; in the lanes of `never`, it is negative at both ends.
    #[inline(always)]
    pub(super) fn add(&mut self, root: f32x16<S>, never: mask32x16<S>) {
        let [least, greatest] = self.roots;
        self.roots = [
            least.min(never.select(f32x16::splat(self.simd, 1.0), root)),
            greatest.max(never.select(f32x16::splat(self.simd, 0.0), root)),
        ];
        self.has_nan |= !(root.simd_eq(root) | never);
    }

    /// Returns the range, given the lanes in which all functions are negative at 0, and at 1.
    #[inline(always)]
    pub(super) fn range(
        &self,
        below_at_start: mask32x16<S>,
        below_at_end: mask32x16<S>,
    ) -> [f32x16<S>; 2] {
        let zero = f32x16::splat(self.simd, 0.0);
        let one = f32x16::splat(self.simd, 1.0);
        let [least, greatest] = self.roots;
        let is_free = self.has_nan | !(below_at_start ^ below_at_end);
        let from = (is_free | below_at_end).select(zero, (least - MARGIN).max(zero));
        [from, (is_free | below_at_start).select(one, (greatest + MARGIN).min(one))]
    }
}

#[cfg(test)]
mod tests {
    use fearless_simd::dispatch;

    use super::*;
    use quadrille_base::math::SimdLevel;

    const SHARP: LensShear = LensShear { a: [0.0; 2], b: [0.0; 2] };

    /// Ranges of times and lens coordinates in which a rectangle may be covered.
    fn range(bounds: &CornerBounds, rect: &Rect) -> Option<[[f32; 2]; 3]> {
        dispatch!(SimdLevel::best().level(), simd => {
            let (may_cover, range) = bounds.range(simd, &RectLanes::splat(simd, rect));
            let first = |lanes: [_; 2]| lanes.map(|v: f32x16<_>| v[0]);
            may_cover
                .any_true()
                .then(|| [first(range.t), first(range.uv[0]), first(range.uv[1])])
        })
    }

    fn triangle(by: f64) -> MovingTriangle {
        let px = [[0.0, 0.0], [0.0, 4.0], [4.0, 0.0]];
        MovingTriangle::unculled(px.map(|[x, y]| [[x, y, 1.0], [x + by, y, 1.0]]), 1)
    }

    fn rect(x: f32) -> Rect {
        Rect { least: [x, 0.0], greatest: [x + 2.0, 2.0] }
    }

    #[test]
    fn times_are_those_of_the_passage() {
        let bounds = CornerBounds::new(&triangle(16.0), &SHARP, 32.0);
        let [t, ..] = range(&bounds, &rect(8.0)).unwrap();
        // The right corner reaches 8 at 1/4, the left corner leaves 10 at 10/16.
        assert!((t[0] - 0.25).abs() < 1e-4 && (t[1] - 0.625).abs() < 1e-4, "{t:?}");
        assert!(range(&bounds, &rect(21.0)).is_none());
        let still = CornerBounds::new(&triangle(0.0), &SHARP, 32.0);
        let everything = [[0.0, 1.0], [-1.0, 1.0], [-1.0, 1.0]];
        assert_eq!(range(&still, &rect(1.0)), Some(everything));
    }

    #[test]
    fn positions_on_the_lens_are_those_that_see_the_tile() {
        let lens = LensShear { a: [0.0; 2], b: [8.0, 0.0] };
        let bounds = CornerBounds::new(&triangle(0.0), &lens, 32.0);
        let [_, u, v] = range(&bounds, &rect(6.0)).unwrap();
        // The corners are in the tile where 4 + 8 u >= 6 and 0 + 8 u <= 8.
        assert!((u[0] - 0.25).abs() < 1e-4 && u[1] == 1.0, "{u:?}");
        assert_eq!(v, [-1.0, 1.0]);
        assert!(range(&bounds, &rect(13.0)).is_none());
    }
}
