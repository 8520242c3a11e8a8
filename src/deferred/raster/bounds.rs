//! Bounds in time and on the lens of the samples of a tile that a triangle may cover (Laine et al.,
//! "Clipless Dual-Space Bounds for Faster Stochastic Rasterization", 2011; section 5.1).
//!
//! A triangle is beyond a side of a tile while all its corners are, seen through any point of the lens.
//! A corner's distance to the side, times `Z`, is linear in time and on the lens for a fixed value of
//! the other one; with the blur added it is convex in time, and so below its chord. All of it holds for
//! corners behind the eye as well, since it never divides by `Z`: a point of the triangle with `Z > 0`
//! in the tile is a mean of the corners, so one of them is not beyond the side.

use super::triangle::MovingTriangle;
use crate::deferred::camera::lens::LensShear;

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

/// A triangle's corners and blurs at both ends of the shutter.
#[derive(Debug, Clone, Copy)]
pub struct CornerBounds {
    /// For each axis, end and corner: the place times `Z`.
    place: [[[f32; 3]; 2]; 2],
    /// The same for the greatest shear on the lens, signed.
    shear: [[[f32; 3]; 2]; 2],
    /// For each end and corner: `Z`.
    z: [[f32; 3]; 2],
    /// For each corner: bound of the rounding of its place.
    slack: [f32; 3],
    moves: bool,
    is_blurred: bool,
}

impl CornerBounds {
    /// Takes the corners of a triangle in a picture whose borders are at most `reach` pixels from its
    /// centre.
    pub fn new(triangle: &MovingTriangle, lens: &LensShear, reach: f32) -> Self {
        let ends = [triangle.start, triangle.end()];
        let z = ends.map(|corners| corners.map(|p| p[2]));
        let place = [0, 1].map(|k| ends.map(|corners| corners.map(|p| p[k])));
        let shear = [0, 1].map(|k| z.map(|z| z.map(|z| lens.a[k] * z + lens.b[k])));
        let slack = [0, 1, 2].map(|i| {
            let end = |e: usize| {
                let axis = |k: usize| {
                    let aside = (lens.a[k] * z[e][i]).abs() + lens.b[k].abs();
                    place[k][e][i].abs() + aside + reach * z[e][i].abs()
                };
                axis(0).max(axis(1))
            };
            ROUNDING * (end(0) + end(1))
        });
        Self {
            place,
            shear,
            z,
            slack,
            moves: triangle.moves(),
            is_blurred: !lens.is_pinhole(),
        }
    }

    /// Bounds of the rounding of the corners' places.
    pub fn slack(&self) -> [f32; 3] {
        self.slack
    }

    /// Whether ranges can be less than all samples.
    pub fn restricts(&self) -> bool {
        self.moves || self.is_blurred
    }

    /// The times and positions on the lens at which the triangle may cover samples of a rectangle; `None`
    /// if there are none.
    #[inline(always)]
    pub fn range(&self, rect: &Rect) -> Option<SampleRange> {
        let mut range = SampleRange::ALL;
        for axis in 0..2 {
            for (sign, border) in [(1.0, rect.least[axis]), (-1.0, rect.greatest[axis])] {
                let end = |e: usize| -> [f32; 3] {
                    std::array::from_fn(|i| {
                        let beyond = sign * (self.place[axis][e][i] - border * self.z[e][i]);
                        beyond + self.shear[axis][e][i].abs() + self.slack[i]
                    })
                };
                let start = end(0);
                let t = hull(&start, &if self.moves { end(1) } else { start })?;
                range.t = [range.t[0].max(t[0]), range.t[1].min(t[1])];
            }
        }
        if range.t[0] > range.t[1] {
            return None;
        }
        if self.is_blurred {
            range.u = self.on_lens(0, rect, range.t)?;
            range.v = self.on_lens(1, rect, range.t)?;
        }
        Some(range)
    }

    /// The positions on the lens, along an axis, from which the triangle may be seen between the
    /// rectangle's borders at some of the times.
    #[inline(always)]
    fn on_lens(&self, axis: usize, rect: &Rect, times: [f32; 2]) -> Option<[f32; 2]> {
        let mut range = [0.0_f32, 1.0];
        for (sign, border) in [(1.0, rect.least[axis]), (-1.0, rect.greatest[axis])] {
            let mut least = [0.0; 6];
            let mut greatest = [0.0; 6];
            for at in 0..6 {
                let (time, i) = (times[at / 3], at % 3);
                let between = |ends: [f32; 2]| ends[0] + time * (ends[1] - ends[0]);
                let z = between([self.z[0][i], self.z[1][i]]);
                let place = between([self.place[axis][0][i], self.place[axis][1][i]]);
                let shear = sign * between([self.shear[axis][0][i], self.shear[axis][1][i]]);
                let middle = sign * (place - border * z) + 2.0 * self.slack[i];
                least[at] = middle - shear;
                greatest[at] = middle + shear;
            }
            let hull = hull(&least, &greatest)?;
            range = [range[0].max(hull[0]), range[1].min(hull[1])];
        }
        let lens = range.map(|share| 2.0 * share - 1.0);
        (lens[0] <= lens[1]).then_some(lens)
    }
}

/// The range from 0 to 1 in which any of some linear functions, given by their values at 0 and at 1, is
/// not negative; `None` if there is no such place. Values that are not numbers count as zeros.
#[inline(always)]
fn hull<const N: usize>(start: &[f32; N], end: &[f32; N]) -> Option<[f32; 2]> {
    let reaches = |values: &[f32; N]| !values.iter().all(|v| *v < 0.0);
    match (reaches(start), reaches(end)) {
        (true, true) => Some([0.0, 1.0]),
        (false, false) => None,
        (is_first, _) => {
            // Functions that are negative at both ends give no root between them.
            let mut least = 1.0_f32;
            let mut greatest = 0.0_f32;
            for k in 0..N {
                if start[k] < 0.0 && end[k] < 0.0 {
                    continue;
                }
                let root = start[k] / (start[k] - end[k]);
                let root = if root.is_nan() {
                    f32::from(u8::from(is_first))
                } else {
                    root
                };
                least = least.min(root);
                greatest = greatest.max(root);
            }
            Some(if is_first {
                [0.0, (greatest + MARGIN).min(1.0)]
            } else {
                [(least - MARGIN).max(0.0), 1.0]
            })
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const SHARP: LensShear = LensShear {
        a: [0.0; 2],
        b: [0.0; 2],
    };

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
        let t = bounds.range(&rect(8.0)).unwrap().t;
        // The right corner reaches 8 at 1/4, the left corner leaves 10 at 10/16.
        assert!(
            (t[0] - 0.25).abs() < 1e-4 && (t[1] - 0.625).abs() < 1e-4,
            "{t:?}"
        );
        assert!(bounds.range(&rect(21.0)).is_none());
        assert_eq!(
            CornerBounds::new(&triangle(0.0), &SHARP, 32.0).range(&rect(1.0)),
            Some(SampleRange::ALL)
        );
    }

    #[test]
    fn positions_on_the_lens_are_those_that_see_the_tile() {
        let lens = LensShear {
            a: [0.0; 2],
            b: [8.0, 0.0],
        };
        let bounds = CornerBounds::new(&triangle(0.0), &lens, 32.0);
        let range = bounds.range(&rect(6.0)).unwrap();
        // 4 + 8 u >= 6, and 0 + 8 u <= 8.
        assert!(
            (range.u[0] - 0.25).abs() < 1e-4 && range.u[1] == 1.0,
            "{range:?}"
        );
        assert_eq!(range.v, [-1.0, 1.0]);
        assert!(bounds.range(&rect(13.0)).is_none());
    }

    #[test]
    fn hulls() {
        assert_eq!(hull(&[-1.0, -2.0], &[-1.0, -3.0]), None);
        assert_eq!(hull(&[1.0, -2.0], &[-1.0, 3.0]), Some([0.0, 1.0]));
        let [low, high] = hull(&[1.0, 3.0], &[-1.0, -1.0]).unwrap();
        assert!(low == 0.0 && (high - 0.75).abs() < 1e-5);
        let [low, high] = hull(&[-1.0, -3.0], &[1.0, 1.0]).unwrap();
        assert!((low - 0.5).abs() < 1e-5 && high == 1.0);
        assert_eq!(hull(&[f32::NAN], &[-1.0]), Some([0.0, 1.0]));
    }
}
