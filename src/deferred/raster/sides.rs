//! Bounds of the cells of a grid with four columns and four rows, such as the blocks of a tile.
//!
//! Bounds in time depend on one side of a cell at a time, and a column or row of cells shares a side. One test with the
//! sixteen sides in its lanes therefore replaces four tests of the sides of sixteen cells.

use fearless_simd::{Simd, f32x16, mask32x16, prelude::*};

use super::bounds::{CornerBounds, Hull, RangeLanes, RectLanes, all, below_zero, both};
use quadrille_base::math::lanes::mask_bits;

/// Sides of a grid of rectangles with four columns and four rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GridSides {
    /// Positions from the picture's centre: left and right borders of the columns, then top and bottom borders of the rows.
    pub(crate) borders: [f32; 16],
}

impl GridSides {
    /// Sign of the inward direction of each border.
    const SIGNS: [f32; 16] =
        [1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0];
}

/// Columns and rows of the cells of a grid in Morton order.
const CELLS: [[usize; 16]; 2] = [
    [0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3],
    [0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3],
];

#[inline(always)]
fn of_cells<S: Simd>(simd: S, sides: f32x16<S>, pick: fn(f32, f32) -> f32) -> f32x16<S> {
    let mut v = [0.0; 16];
    sides.store_slice(&mut v);
    let columns = [0, 1, 2, 3].map(|k: usize| pick(v[k], v[4 + k]));
    let rows = [0, 1, 2, 3].map(|k: usize| pick(v[8 + k], v[12 + k]));
    let cells: [f32; 16] =
        std::array::from_fn(|at| pick(columns[CELLS[0][at]], rows[CELLS[1][at]]));
    f32x16::from_slice(simd, &cells)
}

/// Mask of the cells of which all four sides are in the mask `sides`.
#[inline(always)]
fn cells_between(sides: u16) -> u16 {
    let [columns, rows] = [sides & sides >> 4, sides >> 8 & sides >> 12];
    let lanes = |set: u16, of: [u16; 4]| {
        of.into_iter().zip(0..).map(|(lanes, k)| (set >> k & 1) * lanes).fold(0, |a, b| a | b)
    };
    lanes(columns, [0x0505, 0x0a0a, 0x5050, 0xa0a0]) & lanes(rows, [0x0033, 0x00cc, 0x3300, 0xcc00])
}

impl CornerBounds {
    /// [`CornerBounds::range`] for the rectangles of a grid of four columns and rows in Morton order; one test gives the
    /// bounds in time of all sixteen sides.
    #[inline(always)]
    pub(crate) fn range_of_grid<S: Simd>(
        &self,
        simd: S,
        rects: &RectLanes<S>,
        sides: &GridSides,
    ) -> (mask32x16<S>, RangeLanes<S>) {
        let border = f32x16::from_slice(simd, &sides.borders);
        let start = self.beyond_sides(simd, 0, border);
        let mut range = RangeLanes::all(simd);
        let never = if self.moves {
            let end = self.beyond_sides(simd, 1, border);
            let below = [below_zero(simd, start), below_zero(simd, end)];
            let never = both(below[0], below[1]);
            let below_at = [all(below[0]), all(below[1])];
            // A side restricts no time if both ends agree. Then the roots are not needed, which saves 3 % of
            // the time.
            if (below_at[0] ^ below_at[1]).any_true() {
                let mut hull = Hull::new(simd);
                for i in 0..3 {
                    hull.add(start[i] / (start[i] - end[i]), never[i]);
                }
                let [from, to] = hull.range(below_at[0], below_at[1]);
                // A cell is inside its four sides, so its range is the intersection of the ranges of the sides.
                range.t = [of_cells(simd, from, f32::max), of_cells(simd, to, f32::min)];
            }
            all(never)
        } else {
            all(below_zero(simd, start))
        };
        let may_cover = mask32x16::from_bitmask(simd, u64::from(cells_between(!mask_bits(never))));
        self.in_time(simd, rects, may_cover, range)
    }

    /// Distances of the corners from the sides of a grid, as in [`CornerBounds::beyond`].
    #[inline(always)]
    fn beyond_sides<S: Simd>(&self, simd: S, end: usize, border: f32x16<S>) -> [f32x16<S>; 3] {
        let is_down = mask32x16::from_bitmask(simd, 0xff00);
        let sign = f32x16::from_slice(simd, &GridSides::SIGNS);
        let mut distances = [f32x16::splat(simd, 0.0); 3];
        let corners = self.ends[end].iter().zip(&self.slack);
        for (distance, (corner, &slack)) in distances.iter_mut().zip(corners) {
            let along = |of: [f32; 2]| {
                is_down.select(f32x16::splat(simd, of[1]), f32x16::splat(simd, of[0]))
            };
            let sharp = border * (sign * -corner.z) + sign * along(corner.offset);
            *distance = sharp + along(corner.shear.map(f32::abs)) + slack;
        }
        distances
    }
}

#[cfg(test)]
mod tests {
    use fearless_simd::dispatch;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;
    use crate::camera::lens::LensShear;
    use crate::raster::triangle::MovingTriangle;
    use quadrille_base::math::SimdLevel;

    /// Cells of a grid from -8 to 8 that a triangle may cover, with their ranges as bits: cell by cell, and from the sides
    /// of the grid.
    #[inline(always)]
    fn ranges<S: Simd>(simd: S, bounds: &CornerBounds) -> [(u16, [[u32; 16]; 6]); 2] {
        let border = |axis: usize, offset: f32| {
            let cells = CELLS[axis].map(|k| [-8.0, -4.0, 0.0, 4.0][k] + offset);
            f32x16::from_slice(simd, &cells)
        };
        let rects = RectLanes {
            least: [border(0, 0.0), border(1, 0.0)],
            greatest: [border(0, 4.0), border(1, 4.0)],
        };
        let [low, high] = [[-8.0, -4.0, 0.0, 4.0], [-4.0, 0.0, 4.0, 8.0]];
        let mut borders = [0.0; 16];
        for (borders, of) in borders.chunks_exact_mut(4).zip([low, high, low, high]) {
            borders.copy_from_slice(&of);
        }
        let found = [
            bounds.range(simd, &rects),
            bounds.range_of_grid(simd, &rects, &GridSides { borders }),
        ];
        found.map(|(may_cover, RangeLanes { t, uv: [u, v] })| {
            let cells = mask_bits(may_cover);
            let lanes = [t[0], t[1], u[0], u[1], v[0], v[1]].map(|lanes| {
                let mut values = [0.0; 16];
                lanes.store_slice(&mut values);
                std::array::from_fn(|at| match cells >> at & 1 {
                    0 => 0,
                    // The sum turns -0 into 0.
                    _ => (values[at] + 0.0).to_bits(),
                })
            });
            (cells, lanes)
        })
    }

    #[test]
    fn sides_of_a_grid_bound_as_those_of_its_cells() {
        let mut random = Pcg64Mcg::seed_from_u64(7);
        let mut restricted = 0;
        for case in 0..4000 {
            let mut point = || {
                let z = random.random_range(1.0..4.0);
                let [x, y] = [0; 2].map(|_| random.random_range(-14.0..14.0));
                [x * z, y * z, z]
            };
            let moves = case % 4 != 0;
            let corners = [0; 3].map(|_| {
                let start = point();
                [start, if moves { point() } else { start }]
            });
            let shear = match case % 3 {
                0 => LensShear::default(),
                _ => LensShear { a: [3.0; 2], b: [-6.0; 2] },
            };
            let bounds = CornerBounds::new(&MovingTriangle::unculled(corners, 1), &shear, 16.0);
            let level = SimdLevel::default().level();
            let [cells, grid] = dispatch!(level, simd => ranges(simd, &bounds));
            assert_eq!(cells, grid, "case {case}");
            restricted += u32::from(cells.0 != 0 && cells.0 != u16::MAX);
        }
        assert!(restricted > 400, "{restricted}");
    }
}
