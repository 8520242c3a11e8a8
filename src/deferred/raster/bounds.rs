//! Bounds in time and on the lens of the samples of a tile that a triangle may cover (Laine et al.,
//! "Clipless Dual-Space Bounds for Faster Stochastic Rasterization", 2011; section 5.1).
//!
//! A triangle is beyond a side of a tile while all its corners are, seen through any point of the lens.
//! A corner's distance to the side, times `Z`, is linear in time and on the lens for a fixed value of
//! the other one; with the blur added it is convex in time, and so below its chord. All of it holds for
//! corners behind the eye as well, since it never divides by `Z`: a point of the triangle with `Z > 0`
//! in the tile is a mean of the corners, so one of them is not beyond the side.

use fearless_simd::{Simd, f32x16, prelude::*};

use super::triangle::MovingTriangle;
use crate::deferred::camera::lens::LensShear;
use crate::math::lanes::mask_bits;

/// Widening of ranges, for rounding, as a share of the whole range.
const MARGIN: f32 = 1.0 / 262_144.0;
/// Bound of the rounding of a corner's place in the sample test and here, as a share of the magnitudes
/// that are added up.
const ROUNDING: f32 = 1.0 / 524_288.0;

/// A rectangle of the picture, in pixels from its centre: columns and rows of its borders.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rect {
    /// Least column and row.
    pub least: [f32; 2],
    /// Greatest column and row.
    pub greatest: [f32; 2],
}

/// Ranges of samples in time and on the lens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleRange {
    /// Times.
    pub t: [f32; 2],
    /// Positions on the lens, across.
    pub u: [f32; 2],
    /// Positions on the lens, down.
    pub v: [f32; 2],
}

impl SampleRange {
    /// All samples.
    pub const ALL: Self = Self {
        t: [0.0, 1.0],
        u: [-1.0, 1.0],
        v: [-1.0, 1.0],
    };
}

/// Lanes of a test: three corners and an unused lane for each of four sides, which are left, right, top
/// and bottom.
const LANES: usize = 16;
/// The corners of a side.
const CORNERS: u16 = 0b111;

/// A triangle's corners and blurs at both ends of the shutter, in lanes.
#[derive(Debug, Clone, Copy)]
pub struct CornerBounds {
    /// For each end: the distance from the picture's centre times `Z`, in the direction of the side.
    place: [[f32; LANES]; 2],
    /// For each end: what the side's own distance from the centre is multiplied by, `Z` or `-Z`.
    scale: [[f32; LANES]; 2],
    /// For each end: the greatest shear on the lens, in the direction of the side.
    shear: [[f32; LANES]; 2],
    /// Bound of the rounding of a corner's place.
    slack: [f32; LANES],
    moves: bool,
    is_blurred: bool,
}

impl CornerBounds {
    /// Takes the corners of a triangle in a picture whose borders are at most `reach` pixels from its
    /// centre.
    #[inline(always)]
    pub fn new(triangle: &MovingTriangle, lens: &LensShear, reach: f32) -> Self {
        let moves = triangle.moves();
        let mut bounds = Self {
            place: [[0.0; LANES]; 2],
            scale: [[0.0; LANES]; 2],
            shear: [[0.0; LANES]; 2],
            slack: [0.0; LANES],
            moves,
            is_blurred: !lens.is_pinhole(),
        };
        let ends = [
            triangle.start,
            if moves {
                triangle.end()
            } else {
                triangle.start
            },
        ];
        for i in 0..3 {
            let mut slack = 0.0;
            for (end, corners) in ends.iter().enumerate() {
                let [x, y, z] = corners[i];
                let across = lens.a[0] * z + lens.b[0];
                let down = lens.a[1] * z + lens.b[1];
                for (side, sign) in [(0, 1.0), (1, -1.0)] {
                    let (column, row) = (4 * side + i, 8 + 4 * side + i);
                    bounds.place[end][column] = sign * x;
                    bounds.place[end][row] = sign * y;
                    bounds.scale[end][column] = -sign * z;
                    bounds.scale[end][row] = -sign * z;
                    bounds.shear[end][column] = sign * across;
                    bounds.shear[end][row] = sign * down;
                }
                let aside = |k: usize| (lens.a[k] * z).abs() + lens.b[k].abs();
                slack += (x.abs() + aside(0)).max(y.abs() + aside(1)) + reach * z.abs();
            }
            for side in 0..4 {
                bounds.slack[4 * side + i] = ROUNDING * slack;
            }
        }
        bounds
    }

    /// Bounds of the rounding of the corners' places.
    #[inline(always)]
    pub fn slack(&self) -> [f32; 3] {
        [self.slack[0], self.slack[1], self.slack[2]]
    }

    /// Whether ranges can be less than all samples.
    #[inline(always)]
    pub fn restricts(&self) -> bool {
        self.moves || self.is_blurred
    }

    /// The times and positions on the lens at which the triangle may cover samples of a rectangle; `None`
    /// if there are none.
    #[inline(always)]
    pub fn range<S: Simd>(&self, simd: S, rect: &Rect) -> Option<SampleRange> {
        let mut range = SampleRange::ALL;
        let borders = f32x16::from_slice(simd, &rect.borders());
        let slack = f32x16::from_slice(simd, &self.slack);
        let start = self.beyond(simd, 0, borders, slack);
        let start_below = below_zero(simd, start);
        if !self.moves {
            if (0..4).any(|side| misses(start_below, side)) {
                return None;
            }
        } else {
            let end = self.beyond(simd, 1, borders, slack);
            let end_below = below_zero(simd, end);
            if (0..4).any(|side| misses(start_below & end_below, side)) {
                return None;
            }
            let mut roots = [0.0; LANES];
            (start / (start - end)).store_slice(&mut roots);
            for side in 0..4 {
                let t = hull(
                    side,
                    [start_below, end_below],
                    &[(roots, start_below & end_below)],
                );
                range.t = both(range.t, t);
            }
            if range.t[0] > range.t[1] {
                return None;
            }
        }
        if self.is_blurred {
            self.on_lens(simd, borders, slack, &mut range)?;
        }
        Some(range)
    }

    /// The distances of the corners, with blur, from the sides at an end of the shutter, times `Z`; below 0
    /// for corners beyond a side.
    #[inline(always)]
    fn beyond<S: Simd>(
        &self,
        simd: S,
        end: usize,
        borders: f32x16<S>,
        slack: f32x16<S>,
    ) -> f32x16<S> {
        let place = f32x16::from_slice(simd, &self.place[end]);
        let scale = f32x16::from_slice(simd, &self.scale[end]);
        let shear = f32x16::from_slice(simd, &self.shear[end]);
        place + borders * scale + shear.abs() + slack
    }

    /// Restricts a range to the positions on the lens from which the triangle may be seen between the
    /// sides at some of its times.
    #[inline(always)]
    fn on_lens<S: Simd>(
        &self,
        simd: S,
        borders: f32x16<S>,
        slack: f32x16<S>,
        range: &mut SampleRange,
    ) -> Option<()> {
        let mut below = [u16::MAX; 2];
        let mut roots = [([0.0; LANES], 0); 2];
        for (time, root) in range.t.into_iter().zip(&mut roots) {
            let place = between(simd, &self.place, time);
            let scale = between(simd, &self.scale, time);
            let shear = between(simd, &self.shear, time);
            let middle = place + borders * scale + slack * 2.0;
            let (least, greatest) = (middle - shear, middle + shear);
            let own = [below_zero(simd, least), below_zero(simd, greatest)];
            below = [below[0] & own[0], below[1] & own[1]];
            (least / (least - greatest)).store_slice(&mut root.0);
            root.1 = own[0] & own[1];
        }
        for side in 0..4 {
            if misses(below[0] & below[1], side) {
                return None;
            }
            let share = hull(side, below, &roots);
            let lens = [2.0 * share[0] - 1.0, 2.0 * share[1] - 1.0];
            let own = if side < 2 { &mut range.u } else { &mut range.v };
            *own = both(*own, lens);
        }
        (range.u[0] <= range.u[1] && range.v[0] <= range.v[1]).then_some(())
    }
}

impl Rect {
    /// The borders of the sides, in lanes.
    #[inline(always)]
    fn borders(&self) -> [f32; LANES] {
        let [[l, t], [r, b]] = [self.least, self.greatest];
        [l, l, l, l, r, r, r, r, t, t, t, t, b, b, b, b]
    }
}

/// Values between those at the ends of the shutter.
#[inline(always)]
fn between<S: Simd>(simd: S, ends: &[[f32; LANES]; 2], time: f32) -> f32x16<S> {
    let start = f32x16::from_slice(simd, &ends[0]);
    let end = f32x16::from_slice(simd, &ends[1]);
    start + (end - start) * time
}

/// The lanes below 0. Those that are not numbers are not among them.
#[inline(always)]
fn below_zero<S: Simd>(simd: S, v: f32x16<S>) -> u16 {
    mask_bits(v.simd_lt(f32x16::splat(simd, 0.0)))
}

/// Whether all corners of a side are in a set.
#[inline(always)]
fn misses(set: u16, side: usize) -> bool {
    set >> (4 * side) & CORNERS == CORNERS
}

/// The part of two ranges that is in both.
#[inline(always)]
fn both(a: [f32; 2], b: [f32; 2]) -> [f32; 2] {
    [a[0].max(b[0]), a[1].min(b[1])]
}

/// The range from 0 to 1 in which any of a side's linear functions is not negative, if one of them is
/// somewhere. `below` are the lanes in which all functions are negative at 0 and at 1; each group has the
/// roots of its functions and the lanes in which they are negative at both ends.
#[inline(always)]
fn hull(side: usize, below: [u16; 2], groups: &[([f32; LANES], u16)]) -> [f32; 2] {
    let (from_start, to_end) = (!misses(below[0], side), !misses(below[1], side));
    if from_start == to_end {
        return [0.0, 1.0];
    }
    let mut least = 1.0_f32;
    let mut greatest = 0.0_f32;
    for (roots, never) in groups {
        for (lane, &root) in roots.iter().enumerate().skip(4 * side).take(3) {
            if never >> lane & 1 == 1 {
                continue;
            }
            // Functions that are not numbers restrict nothing.
            if root.is_nan() {
                return [0.0, 1.0];
            }
            least = least.min(root);
            greatest = greatest.max(root);
        }
    }
    if from_start {
        [0.0, (greatest + MARGIN).min(1.0)]
    } else {
        [(least - MARGIN).max(0.0), 1.0]
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use fearless_simd::dispatch;

    use super::*;
    use crate::math::SimdLevel;

    const SHARP: LensShear = LensShear {
        a: [0.0; 2],
        b: [0.0; 2],
    };

    fn range(bounds: &CornerBounds, rect: &Rect) -> Option<SampleRange> {
        dispatch!(SimdLevel::best().level(), simd => bounds.range(simd, rect))
    }

    fn triangle(by: f64) -> MovingTriangle {
        let px = [[0.0, 0.0], [0.0, 4.0], [4.0, 0.0]];
        MovingTriangle::unculled(px.map(|[x, y]| [[x, y, 1.0], [x + by, y, 1.0]]), 1)
    }

    fn rect(x: f32) -> Rect {
        Rect {
            least: [x, 0.0],
            greatest: [x + 2.0, 2.0],
        }
    }

    #[test]
    fn times_are_those_of_the_passage() {
        let bounds = CornerBounds::new(&triangle(16.0), &SHARP, 32.0);
        let t = range(&bounds, &rect(8.0)).unwrap().t;
        // The right corner reaches 8 at 1/4, the left corner leaves 10 at 10/16.
        assert!(
            (t[0] - 0.25).abs() < 1e-4 && (t[1] - 0.625).abs() < 1e-4,
            "{t:?}"
        );
        assert!(range(&bounds, &rect(21.0)).is_none());
        let still = CornerBounds::new(&triangle(0.0), &SHARP, 32.0);
        assert_eq!(range(&still, &rect(1.0)), Some(SampleRange::ALL));
    }

    #[test]
    fn positions_on_the_lens_are_those_that_see_the_tile() {
        let lens = LensShear {
            a: [0.0; 2],
            b: [8.0, 0.0],
        };
        let bounds = CornerBounds::new(&triangle(0.0), &lens, 32.0);
        let found = range(&bounds, &rect(6.0)).unwrap();
        // 4 + 8 u >= 6, and 0 + 8 u <= 8.
        assert!(
            (found.u[0] - 0.25).abs() < 1e-4 && found.u[1] == 1.0,
            "{found:?}"
        );
        assert_eq!(found.v, [-1.0, 1.0]);
        assert!(range(&bounds, &rect(13.0)).is_none());
    }
}
