//! Separable filters that compute one row at a time, so that no filtered picture is stored.

use std::ops::{AddAssign, Mul, Range};

use super::super::separable::Border;

/// The product of a vertical and a horizontal filter, each of odd length and centred.
#[derive(Debug, Clone, Copy)]
pub(super) struct Separable<'a, T> {
    pub(super) vertical: &'a [T],
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
        for (row, &weight) in self.border.rows(y, self.vertical.len(), height).zip(self.vertical) {
            let Some(row) = row else { continue };
            let values = source(row * width..(row + 1) * width);
            for (sum, value) in scratch[reach..].iter_mut().zip(values) {
                *sum += weight * value;
            }
        }
        self.border.extend(scratch, reach, width);
        for (tap, &weight) in self.horizontal.iter().enumerate() {
            for (sum, &value) in out.iter_mut().zip(&scratch[tap..]) {
                *sum += weight * value;
            }
        }
    }
}

mod tests {
    use super::*;

    fn filtered(border: Border) -> Vec<f64> {
        let picture = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let filter =
            Separable { vertical: &[1.0, 10.0, 100.0], horizontal: &[1.0, 0.0, -2.0], border };
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
    }
}
