//! Separable filters that compute one row at a time, so that no filtered picture is stored.

use std::ops::{AddAssign, Mul, Range};

use crate::math::fit;

/// Values outside the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Border {
    /// Zeros.
    Zero,
    /// The nearest pixel of the picture.
    Nearest,
    /// The picture mirrored at the centres of its outermost pixels, again and again.
    Mirrored,
}

/// The pixel of a side of `length` pixels, above 0, that stands at `index`, beyond the ends in mirrored copies.
fn mirrored(index: isize, length: usize) -> usize {
    let last = length - 1;
    if last == 0 {
        return 0;
    }
    let within = index.unsigned_abs() % (2 * last);
    within.min(2 * last - within)
}

/// The product of a vertical and a horizontal filter, each of odd length and centred.
#[derive(Debug, Clone, Copy)]
pub(super) struct Separable<'a, T> {
    /// Weights from the top down.
    pub(super) vertical: &'a [T],
    /// Weights from the left to the right.
    pub(super) horizontal: &'a [T],
    pub(super) border: Border,
}

impl<T: Copy + Default + AddAssign + Mul<Output = T>> Separable<'_, T> {
    /// Adds row `y` of the filtered picture to `out`, whose length is the picture's width.
    ///
    /// `source` returns the picture's values for a range of indices within one row, counted row by row
    /// from the top. `height` is above 0. The content of `scratch` is ignored.
    pub(super) fn add_row<I: Iterator<Item = T>>(
        &self,
        source: impl Fn(Range<usize>) -> I,
        height: usize,
        y: usize,
        scratch: &mut Vec<T>,
        out: &mut [T],
    ) {
        let width = out.len();
        let reach = self.horizontal.len() / 2;
        scratch.clear();
        scratch.resize(width + 2 * reach, T::default());
        for (tap, &weight) in self.vertical.iter().enumerate() {
            let Some(row) = self.source_row(y, tap, height) else {
                continue;
            };
            let values = source(row * width..(row + 1) * width);
            for (sum, value) in scratch[reach..].iter_mut().zip(values) {
                *sum += weight * value;
            }
        }
        match self.border {
            Border::Zero => {}
            Border::Nearest => {
                let (first, last) = (scratch[reach], scratch[reach + width - 1]);
                scratch[..reach].fill(first);
                scratch[reach + width..].fill(last);
            }
            Border::Mirrored => {
                for beyond in 1..=reach {
                    let [before, after] = [-fit::<isize>(beyond), fit(width - 1 + beyond)];
                    scratch[reach - beyond] = scratch[reach + mirrored(before, width)];
                    scratch[reach + width - 1 + beyond] = scratch[reach + mirrored(after, width)];
                }
            }
        }
        for (tap, &weight) in self.horizontal.iter().enumerate() {
            for (sum, &value) in out.iter_mut().zip(&scratch[tap..]) {
                *sum += weight * value;
            }
        }
    }

    /// The picture's row under the vertical filter's `tap` when its centre is on row `y`.
    fn source_row(&self, y: usize, tap: usize, height: usize) -> Option<usize> {
        let reach = self.vertical.len() / 2;
        match self.border {
            Border::Zero => (y + tap).checked_sub(reach).filter(|&row| row < height),
            Border::Nearest => Some((y + tap).saturating_sub(reach).min(height - 1)),
            Border::Mirrored => Some(mirrored(
                fit::<isize>(y + tap) - fit::<isize>(reach),
                height,
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filtered(border: Border) -> Vec<f64> {
        let picture = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let filter = Separable {
            vertical: &[1.0, 10.0, 100.0],
            horizontal: &[1.0, 0.0, -2.0],
            border,
        };
        let mut scratch = vec![f64::NAN; 3];
        let mut out = vec![0.0; 6];
        for (y, row) in out.chunks_mut(3).enumerate() {
            filter.add_row(|r| picture[r].iter().copied(), 2, y, &mut scratch, row);
        }
        out
    }

    #[test]
    fn beyond_the_edge() {
        // Columns of row 0: 10 v0 + 100 v1 = 410, 520, 630; of row 1: v0 + 10 v1 = 41, 52, 63.
        let zeros = [-1040.0, 410.0 - 1260.0, 520.0, -104.0, 41.0 - 126.0, 52.0];
        assert_eq!(filtered(Border::Zero), zeros);
        // Row 0: v0 + 10 v0 + 100 v1 = 411, 522, 633; row 1: v0 + 10 v1 + 100 v1 = 441, 552, 663.
        let [row_0, row_1] = [[411.0, 522.0, 633.0], [441.0, 552.0, 663.0]]
            .map(|[a, b, c]| [a - 2.0 * b, a - 2.0 * c, b - 2.0 * c]);
        assert_eq!(filtered(Border::Nearest), [row_0, row_1].concat());
    }

    #[test]
    fn mirrored_beyond_the_edge() {
        // Column x is [v1, v0, v1] in both rows: row 0 has 10 v0 + 101 v1, row 1 has 101 v0 + 10 v1.
        let rows = [[10.0, 101.0], [101.0, 10.0]].map(|[upper, lower]| {
            let column = |x: f64| upper * x + lower * (x + 3.0);
            let [a, b, c] = [1.0, 2.0, 3.0].map(column);
            [b - 2.0 * b, a - 2.0 * c, b - 2.0 * b]
        });
        assert_eq!(filtered(Border::Mirrored), rows.concat());
        let indices: Vec<usize> = (-4..7).map(|index| mirrored(index, 3)).collect();
        assert_eq!(indices, [0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2]);
        assert_eq!(mirrored(-3, 1), 0);
    }
}
