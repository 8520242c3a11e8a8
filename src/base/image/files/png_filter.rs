//! Filters of PNG rows (PNG specification, section 9).

use crate::math::SimdLevel;

pub(super) struct RowFilter {
    pixel_bytes: usize,
    /// The previous row and this one, each behind a pixel of zeros.
    rows: [Vec<u8>; 2],
    filtered: Vec<u8>,
}

const SUB: u8 = 1;
const UP: u8 = 2;
const AVERAGE: u8 = 3;
const PAETH: u8 = 4;

impl RowFilter {
    pub(super) fn new(pixel_bytes: usize, row_bytes: usize) -> Self {
        let row = vec![0; pixel_bytes + row_bytes];
        Self { pixel_bytes, rows: [row.clone(), row], filtered: vec![0; 1 + row_bytes] }
    }

    pub(super) fn next_row(&mut self) -> &mut [u8] {
        self.rows.swap(0, 1);
        &mut self.rows[1][self.pixel_bytes..]
    }

    /// Applies the filter with the least sum of absolute differences. Ties go to the last filter in the order up, sub,
    /// average, Paeth, or to the first if all differences are 0.
    pub(super) fn filter(&mut self, level: SimdLevel) -> &[u8] {
        level.run(
            #[inline(always)]
            || self.filter_lanes(),
        );
        &self.filtered
    }

    #[inline(always)]
    fn filter_lanes(&mut self) {
        let [above, row] = &self.rows;
        let neighbours = Neighbours {
            own: &row[self.pixel_bytes..],
            left: row,
            above: &above[self.pixel_bytes..],
            above_left: above,
        };
        let sums = [
            (UP, neighbours.sum(up)),
            (SUB, neighbours.sum(sub)),
            (AVERAGE, neighbours.sum(average)),
            (PAETH, neighbours.sum(paeth)),
        ];
        let least = sums.iter().map(|(_, sum)| *sum).min().unwrap_or(0);
        let mut best = sums.iter().filter(|(_, sum)| *sum == least);
        let best = if least == 0 { best.next() } else { best.next_back() };
        let kind = best.map_or(UP, |(kind, _)| *kind);
        let (first, out) = self.filtered.split_at_mut(1);
        first[0] = kind;
        match kind {
            SUB => neighbours.write(sub, out),
            AVERAGE => neighbours.write(average, out),
            PAETH => neighbours.write(paeth, out),
            _ => neighbours.write(up, out),
        }
    }
}

/// Bytes of a row with the three neighbours that filters predict from. Slices to the left are one pixel longer.
struct Neighbours<'a> {
    own: &'a [u8],
    left: &'a [u8],
    above: &'a [u8],
    above_left: &'a [u8],
}

impl Neighbours<'_> {
    #[inline(always)]
    fn sum(&self, predict: impl Fn(u8, u8, u8) -> u8) -> u64 {
        /// Bytes per partial sum: 256 differences of at most 128 fit in 16 bits.
        const PART: usize = 256;
        let parts = self.own.len().div_ceil(PART);
        let mut sum = 0;
        for part in 0..parts {
            let first = part * PART;
            let len = PART.min(self.own.len() - first);
            let [own, left, above, above_left] =
                [self.own, self.left, self.above, self.above_left].map(|row| &row[first..][..len]);
            let mut part = 0_u16;
            for i in 0..len {
                let difference = own[i].wrapping_sub(predict(left[i], above[i], above_left[i]));
                part += u16::from(difference.min(difference.wrapping_neg()));
            }
            sum += u64::from(part);
        }
        sum
    }

    #[inline(always)]
    fn write(&self, predict: impl Fn(u8, u8, u8) -> u8, out: &mut [u8]) {
        let len = self.own.len();
        let [left, above, above_left] =
            [self.left, self.above, self.above_left].map(|row| &row[..len]);
        for (i, out) in out[..len].iter_mut().enumerate() {
            *out = self.own[i].wrapping_sub(predict(left[i], above[i], above_left[i]));
        }
    }
}

#[inline(always)]
fn sub(left: u8, _: u8, _: u8) -> u8 {
    left
}

#[inline(always)]
fn up(_: u8, above: u8, _: u8) -> u8 {
    above
}

#[inline(always)]
fn average(left: u8, above: u8, _: u8) -> u8 {
    (left & above) + ((left ^ above) >> 1)
}

/// The neighbour nearest to left + above - above left; ties go to left, then to above.
#[inline(always)]
fn paeth(left: u8, above: u8, above_left: u8) -> u8 {
    let [a, b, c] = [left, above, above_left].map(i16::from);
    let (of_left, of_above) = ((b - c).abs(), (a - c).abs());
    let of_both = (a + b - 2 * c).abs();
    let other = if of_above <= of_both { above } else { above_left };
    if of_left <= of_above && of_left <= of_both { left } else { other }
}
