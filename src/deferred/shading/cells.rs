//! Rectangles of equal cells, the parts of shading grids.

use fearless_simd::{Simd, f32x16, prelude::*, u32x16};

use super::adaptive::Spacing;
use super::region::Region;
use super::spid::MAX_GRID_SIDE;
use quadrille_base::math::narrow;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cells {
    /// Linear map from pixels to cells, as [`Spacing::basis`].
    pub(super) basis: [[f32; 2]; 2],
    /// First column and row, in cells from the picture's centre.
    pub(super) first: [f32; 2],
    /// Number of columns and rows, minus 1.
    pub(super) last: [f32; 2],
    /// Column and row of the first cell in the shading grid; even.
    pub(super) offset: [u16; 2],
    /// Whether cells are enlarged, because cells of the regular size would exceed the largest grid.
    pub(super) is_coarsened: bool,
}

impl Cells {
    pub(super) fn new(region: &Region, spacing: &Spacing, centre: [f64; 2]) -> Self {
        let pixels = (*spacing == Spacing::PIXEL).then(|| Self::of_pixels(region, centre));
        pixels.flatten().unwrap_or_else(|| Self::fitted(region, spacing))
    }

    /// Cells that are the pixels of the picture, in the picture's quads; `None` if there are too many.
    fn of_pixels(region: &Region, centre: [f64; 2]) -> Option<Self> {
        // The picture's centre may lie inside a pixel.
        let first = [0, 1].map(|k| 2.0 * ((region.least[k] + centre[k]) / 2.0).floor() - centre[k]);
        let last = [0, 1].map(|k| (region.greatest[k] - first[k]).floor());
        let is_small = last.iter().all(|c| *c < f64::from(MAX_GRID_SIDE));
        is_small.then(|| Self::at(&Spacing::PIXEL, first, last))
    }

    /// Centres cells on a region: the fewest quads with cells no larger than the spacing and no smaller than a pixel, along
    /// the spacing's directions. Cells larger than a pixel fill the region exactly, so that few shading points lie outside.
    fn fitted(region: &Region, spacing: &Spacing) -> Self {
        let most = f64::from(MAX_GRID_SIDE / 2);
        let size = region.size();
        let needed = [0, 1].map(|k| (size[k] / (2.0 * spacing.px[k])).ceil().max(1.0));
        let quads = needed.map(|quads| quads.min(most));
        let px = [0, 1].map(|k| (size[k] / (2.0 * quads[k])).max(1.0));
        let middle = [0, 1].map(|k| f64::midpoint(region.least[k], region.greatest[k]));
        let first = [0, 1].map(|k| middle[k] / px[k] - quads[k]);
        let last = quads.map(|quads| 2.0 * quads - 1.0);
        Self { is_coarsened: needed != quads, ..Self::at(&spacing.with_px(px), first, last) }
    }

    /// Creates cells from a spacing, the first column and row, and the numbers of columns and rows minus 1.
    pub(super) fn at(spacing: &Spacing, first: [f64; 2], last: [f64; 2]) -> Self {
        Self {
            basis: spacing.basis().map(|row| row.map(narrow)),
            first: first.map(narrow),
            last: last.map(narrow),
            offset: [0; 2],
            is_coarsened: false,
        }
    }

    /// Numbers of columns and rows, rounded up to whole quads.
    pub(super) fn sides(&self) -> [f64; 2] {
        self.last.map(|last| 2.0 * (f64::from(last) / 2.0).floor() + 2.0)
    }

    pub(super) fn quads_per_px(&self) -> f64 {
        let [[a, b], [c, d]] = self.basis.map(|row| row.map(f64::from));
        (a * d - b * c) / 4.0
    }

    pub(super) fn cell(&self, place: [f32; 2]) -> [f32; 2] {
        [0, 1].map(|k| {
            let along = self.basis[k][0] * place[0] + self.basis[k][1] * place[1];
            let cell = (along - self.first[k]).floor();
            // Comparisons instead of `clamp`, since they turn NaN into 0 as the vector code does.
            let cell = if cell > 0.0 { cell } else { 0.0 };
            let cell = if cell < self.last[k] { cell } else { self.last[k] };
            cell + f32::from(self.offset[k])
        })
    }

    #[inline(always)]
    pub(super) fn cell_lanes<S: Simd>(&self, simd: S, place: [f32x16<S>; 2]) -> [f32x16<S>; 2] {
        // Not `map`, whose closure is compiled without vector instructions.
        [self.along_lanes(simd, 0, place), self.along_lanes(simd, 1, place)]
    }

    #[inline(always)]
    fn along_lanes<S: Simd>(&self, simd: S, k: usize, [x, y]: [f32x16<S>; 2]) -> f32x16<S> {
        let zero = f32x16::splat(simd, 0.0);
        let last = f32x16::splat(simd, self.last[k]);
        let along = x * self.basis[k][0] + y * self.basis[k][1];
        let cell = (along - self.first[k]).floor();
        let cell = cell.simd_gt(zero).select(cell, zero);
        cell.simd_lt(last).select(cell, last) + f32::from(self.offset[k])
    }

    /// Position on the picture of a grid point, in pixels from the centre. The point may lie outside the cells.
    pub(super) fn position(&self, point: [i32; 2]) -> [f64; 2] {
        let w = [0, 1].map(|k| {
            f64::from(self.first[k]) + f64::from(point[k] - i32::from(self.offset[k])) + 0.5
        });
        let [[a, b], [c, d]] = self.basis.map(|row| row.map(f64::from));
        let determinant = a * d - b * c;
        [(d * w[0] - b * w[1]) / determinant, (a * w[1] - c * w[0]) / determinant]
    }
}

#[inline(always)]
pub(super) fn morton_lanes<S: Simd>([column, row]: [f32x16<S>; 2]) -> u32x16<S> {
    spread(column.to_int::<u32x16<S>>()) | spread(row.to_int::<u32x16<S>>()) << 1
}

/// Spreads the bits of 16-bit numbers to even positions.
#[inline(always)]
fn spread<S: Simd>(v: u32x16<S>) -> u32x16<S> {
    let v = (v | v << 8) & 0x00ff_00ff_u32;
    let v = (v | v << 4) & 0x0f0f_0f0f_u32;
    let v = (v | v << 2) & 0x3333_3333_u32;
    (v | v << 1) & 0x5555_5555_u32
}
