//! Rows of separable filters in lanes: the values beyond the edge of a picture, and loads that end at the edge.

use fearless_simd::{Simd, f32x16, prelude::*};

use crate::math::fit;

pub(super) const LANES: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Border {
    Zero,
    Nearest,
    /// The picture mirrored, repeatedly, at the centres of its outermost pixels.
    Mirrored,
}

impl Border {
    /// Pixel that `index` refers to on a side of `length` pixels; `None` for a zero.
    pub(super) fn pixel(self, index: isize, length: usize) -> Option<usize> {
        let inside = usize::try_from(index).ok().filter(|at| *at < length);
        match self {
            Self::Zero => inside,
            Self::Nearest => inside.or(Some(if index < 0 { 0 } else { length - 1 })),
            Self::Mirrored => Some(mirrored(index, length)),
        }
    }

    pub(super) fn rows(
        self,
        y: usize,
        taps: usize,
        height: usize,
    ) -> impl Iterator<Item = Option<usize>> {
        let first = fit::<isize>(y) - fit::<isize>(taps / 2);
        (first..first + fit::<isize>(taps)).map(move |row| self.pixel(row, height))
    }

    /// Fills the `reach` values on both sides of the `width` values from `row[reach]` on.
    pub(super) fn extend<T: Copy + Default>(self, row: &mut [T], reach: usize, width: usize) {
        for beyond in 1..=reach {
            for index in [-fit::<isize>(beyond), fit::<isize>(width - 1 + beyond)] {
                let value = self.pixel(index, width).map_or(T::default(), |at| row[reach + at]);
                row[fit::<usize>(index + fit::<isize>(reach))] = value;
            }
        }
    }
}

/// Index folded into `0..length` by mirroring.
fn mirrored(index: isize, length: usize) -> usize {
    let last = length - 1;
    if last == 0 {
        return 0;
    }
    let within = index.unsigned_abs() % (2 * last);
    within.min(2 * last - within)
}

/// Length of a padded row that whole vectors can be loaded from.
pub(super) fn padded(width: usize, reach: usize) -> usize {
    width.next_multiple_of(LANES) + 2 * reach
}

#[inline(always)]
pub(super) fn load<S: Simd>(simd: S, row: &[f32], x: usize) -> f32x16<S> {
    match row.get(x..x + LANES) {
        Some(values) => f32x16::from_slice(simd, values),
        None => f32x16::simd_from(simd, tail(&row[x..])),
    }
}

#[cold]
fn tail(row: &[f32]) -> [f32; LANES] {
    let mut values = [0.0; LANES];
    values[..row.len()].copy_from_slice(row);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_continued_beyond_the_edge() {
        let extended = |border: Border| {
            let mut row = vec![f64::NAN; 9];
            row[3..6].copy_from_slice(&[1.0, 2.0, 3.0]);
            border.extend(&mut row, 3, 3);
            row
        };
        assert_eq!(extended(Border::Zero), [0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.0, 0.0, 0.0]);
        assert_eq!(extended(Border::Nearest), [1.0, 1.0, 1.0, 1.0, 2.0, 3.0, 3.0, 3.0, 3.0]);
        assert_eq!(extended(Border::Mirrored), [2.0, 3.0, 2.0, 1.0, 2.0, 3.0, 2.0, 1.0, 2.0]);
        let rows = |border: Border| border.rows(0, 3, 1).collect::<Vec<_>>();
        assert_eq!(rows(Border::Zero), [None, Some(0), None]);
        assert_eq!(rows(Border::Nearest), [Some(0); 3]);
        assert_eq!(rows(Border::Mirrored), [Some(0); 3]);
        let indices: Vec<usize> = (-4..7).map(|index| mirrored(index, 3)).collect();
        assert_eq!(indices, [0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2]);
    }
}
