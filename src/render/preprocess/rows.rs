//! Splats in the caller's arrays, projected in place.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bytemuck::Zeroable;
use fearless_simd::{f32x16, prelude::*};

use super::source::{Coefficients, ShScratch, SplatSource};
use quadrille_base::error::{Error, Result};
use quadrille_base::math::transpose::{columns_of_3, columns_of_4, transpose};
use quadrille_base::math::{narrow, prefetch_range};
use quadrille_scene::bytes::ReadAhead;
use quadrille_scene::{BLOCK, Lanes, Splat, SplatBlock, SplatSlices, rest_coefficients};

/// Activated attributes of splats in arrays of the caller, which are drawn without a copy of the scene.
///
/// Each block of splats is copied to the stack and checked there. Rows with non-finite numbers or a zero quaternion are
/// left out and counted. Quaternions may have any length. If another thread changes numbers during a call, colours may be
/// wrong, but nothing else.
#[derive(Debug)]
pub struct SplatRows<'a> {
    slices: SplatSlices<'a>,
    /// Number of coefficients per splat in `slices.sh`, including the constant one.
    stored: usize,
    sh_degree: u8,
    invalid: AtomicU64,
}

impl<'a> SplatRows<'a> {
    /// Checks the lengths of the arrays. `slices.sh` may have more coefficients per splat than `sh_degree` needs, which are
    /// not used, or none at degree 0: splats are then grey.
    ///
    /// # Errors
    /// [`Error::Argument`] that names the slice of wrong length; [`Error::Limit`] for too many splats.
    pub fn new(slices: SplatSlices<'a>, sh_degree: u8) -> Result<Self> {
        let len = slices.check_lengths()?;
        Error::refuse_if(sh_degree > 4, "sh_degree", "0 to 4", sh_degree)?;
        let stored = slices.sh.len() / len.max(1);
        let least = rest_coefficients(sh_degree) + 1;
        let is_without = slices.sh.is_empty() && (sh_degree == 0 || len == 0);
        if !is_without && (stored < least || stored * len != slices.sh.len()) {
            let expected = format!("at least {least} coefficients for each of {len} splats");
            return Err(Error::argument("sh", expected, slices.sh.len()));
        }
        Ok(Self { slices, stored, sh_degree, invalid: AtomicU64::new(0) })
    }

    /// Number of invalid rows left out by projections so far. Spherical harmonics are checked only for splats in view.
    pub fn invalid(&self) -> u64 {
        self.invalid.load(Relaxed)
    }

    /// The caller's arrays.
    pub(crate) fn slices(&self) -> &SplatSlices<'a> {
        &self.slices
    }

    /// Number of coefficients per splat, including the constant one.
    pub(crate) fn stored(&self) -> usize {
        self.stored
    }

    #[cold]
    fn count_invalid(&self, rows: u64) {
        self.invalid.fetch_add(rows, Relaxed);
    }

    /// Copies the coefficients of the lanes in `visible` to `scratch`; rows of other splats are not read.
    /// Returns a mask of the lanes with non-finite coefficients.
    #[inline(always)]
    fn turn_coefficients<S: Simd>(
        &self,
        simd: S,
        block: usize,
        visible: u64,
        scratch: &mut ShScratch,
    ) -> u64 {
        let rest = rest_coefficients(self.sh_degree);
        let numbers = 3 * (rest + 1);
        let parts = &mut scratch.rows[..numbers.div_ceil(BLOCK)];
        let mut left = visible;
        while left != 0 {
            let lane = left.trailing_zeros() as usize % BLOCK;
            left &= left - 1;
            // Rows are first copied to a scratch that stays cached and then transposed in whole vectors, since a
            // row holds one splat.
            let row = &self.slices.sh[(block * BLOCK + lane) * self.stored..];
            copy_row(row.as_flattened(), numbers, lane, parts);
        }
        let zero = f32x16::splat(simd, 0.0);
        let mut poison = zero;
        let (mut coefficient, mut channel) = (0, 0);
        for (part, first) in parts.iter().zip((0..).step_by(BLOCK)) {
            let mut rows = [zero; BLOCK];
            for (row, values) in rows.iter_mut().zip(part) {
                *row = f32x16::load_array_ref(simd, values);
            }
            for column in &transpose(simd, rows)[..BLOCK.min(numbers - first)] {
                // Zero times infinity or NaN is NaN, and stays so in the sum: one operation per vector
                // tests everything.
                poison = column.mul_add(zero, poison);
                column.store_array(match coefficient {
                    0 => &mut scratch.constant[channel],
                    k => &mut scratch.rest[channel * rest + k - 1],
                });
                channel += 1;
                if channel == 3 {
                    (coefficient, channel) = (coefficient + 1, 0);
                }
            }
        }
        (!poison.simd_eq(poison)).to_bitmask() & visible
    }

    /// Inverse lengths of the quaternions of a block.
    #[inline(always)]
    pub(crate) fn inverse_lengths(&self, block: usize) -> Lanes {
        let mut squares = [1.0; BLOCK];
        for (square, row) in squares.iter_mut().zip(&self.slices.rotations[block * BLOCK..]) {
            *square = row.iter().map(|q| f64::from(*q) * f64::from(*q)).sum();
        }
        let mut inverse = [0.0; BLOCK];
        for (inverse, square) in inverse.iter_mut().zip(squares) {
            *inverse = narrow(1.0 / square.sqrt());
        }
        inverse
    }

    /// Row `index` with the coefficients of `sh_degree`; `None` if invalid.
    fn row(&self, index: usize, sh_degree: u8) -> Option<Splat> {
        let mut sh = [[0.0; 3]; 25];
        if self.stored > 0 {
            let count = rest_coefficients(sh_degree) + 1;
            sh[..count].copy_from_slice(&self.slices.sh[index * self.stored..][..count]);
        }
        let (mean, scale) = (self.slices.means[index], self.slices.scales[index]);
        let opacity = self.slices.opacities[index];
        let turn = self.slices.rotations[index].map(f64::from);
        let norm = turn.iter().map(|q| q * q).sum::<f64>().sqrt();
        let rotation = turn.map(|q| narrow(q / norm));
        let values = mean.iter().chain(&scale).chain(&rotation);
        let mut values = values.chain([&opacity]).chain(sh.as_flattened());
        values.all(|value| value.is_finite()).then_some(Splat {
            mean,
            scale,
            rotation,
            opacity,
            sh,
        })
    }
}

/// Splat of opacity 0 that replaces invalid rows.
const INVISIBLE: Splat = Splat {
    mean: [0.0; 3],
    scale: [0.0; 3],
    rotation: [1.0, 0.0, 0.0, 0.0],
    opacity: 0.0,
    sh: [[0.0; 3]; 25],
};

/// Transposes rows to lanes; full blocks of rows with `columns`.
#[inline(always)]
fn gather<S: Simd, const N: usize>(
    rows: &[[f32; N]],
    lanes: &mut [Lanes; N],
    columns: impl FnOnce(&[[f32; N]; BLOCK]) -> [f32x16<S>; N],
) {
    if let Some(rows) = rows.first_chunk() {
        for (lanes, column) in lanes.iter_mut().zip(columns(rows)) {
            column.store_array(lanes);
        }
        return;
    }
    for (lane, row) in rows.iter().enumerate() {
        for (values, value) in lanes.iter_mut().zip(row) {
            values[lane] = *value;
        }
    }
}

/// Copies `numbers` numbers of `row` to one lane of each part, in chunks of 16; the last chunk may pass the row's end.
#[inline(always)]
fn copy_row(row: &[f32], numbers: usize, lane: usize, parts: &mut [[Lanes; BLOCK]]) {
    let (sixteens, _) = row.as_chunks();
    if sixteens.len() >= parts.len() {
        for (part, values) in parts.iter_mut().zip(sixteens) {
            part[lane] = *values;
        }
    } else {
        for (part, values) in parts.iter_mut().zip(row[..numbers].chunks(BLOCK)) {
            part[lane][..values.len()].copy_from_slice(values);
        }
    }
}

/// Normalises quaternions; NaN for a zero or infinite length.
#[inline(always)]
fn normalize(rotation: &mut [Lanes; 4]) {
    let mut norms = [0.0; BLOCK];
    for values in rotation.iter() {
        for (norm, value) in norms.iter_mut().zip(values) {
            *norm += f64::from(*value) * f64::from(*value);
        }
    }
    for norm in &mut norms {
        *norm = norm.sqrt();
    }
    for values in rotation {
        for (value, norm) in values.iter_mut().zip(&norms) {
            *value = narrow(f64::from(*value) / norm);
        }
    }
}

/// 0 in lanes with only finite values, NaN in others.
#[inline(always)]
fn poison<'a>(lanes: impl IntoIterator<Item = &'a Lanes>) -> Lanes {
    let mut poison = [0.0; BLOCK];
    for values in lanes {
        for (poison, value) in poison.iter_mut().zip(values) {
            *poison += value * 0.0;
        }
    }
    poison
}

impl SplatSource for SplatRows<'_> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.slices.means.len()
    }

    #[inline(always)]
    fn sh_degree(&self) -> u8 {
        self.sh_degree
    }

    fn origin(&self) -> [f64; 3] {
        [0.0; 3]
    }

    #[inline(always)]
    fn block<'a, S: Simd>(
        &'a self,
        simd: S,
        block: usize,
        scratch: &'a mut SplatBlock,
        _: &mut ReadAhead,
    ) -> &'a SplatBlock {
        let first = block * BLOCK;
        let rows = first..self.len().min(first + BLOCK);
        if rows.len() < BLOCK {
            *scratch = SplatBlock::zeroed();
            scratch.rotation[0] = [1.0; BLOCK];
        }
        let [means, scales] = [self.slices.means, self.slices.scales];
        for (values, lanes) in [(means, &mut scratch.mean), (scales, &mut scratch.scale)] {
            gather(
                &values[rows.clone()],
                lanes,
                #[inline(always)]
                |rows| columns_of_3(simd, rows),
            );
        }
        gather(
            &self.slices.rotations[rows.clone()],
            &mut scratch.rotation,
            #[inline(always)]
            |rows| columns_of_4(simd, rows),
        );
        scratch.opacity[..rows.len()].copy_from_slice(&self.slices.opacities[rows.clone()]);
        normalize(&mut scratch.rotation);
        let plain = scratch.mean.iter().chain(&scratch.scale);
        let poison = poison(plain.chain(&scratch.rotation).chain([&scratch.opacity]));
        if poison.iter().any(|value| value.is_nan()) {
            let mut invalid = 0;
            for (opacity, poison) in scratch.opacity.iter_mut().zip(poison) {
                if poison.is_nan() {
                    *opacity = 0.0;
                    invalid += 1;
                }
            }
            self.count_invalid(invalid);
        }
        scratch
    }

    #[inline(always)]
    fn coefficients<'a, S: Simd>(
        &'a self,
        simd: S,
        block: usize,
        visible: u64,
        scratch: &'a mut ShScratch,
        _: &mut ReadAhead,
    ) -> Coefficients<'a> {
        let rest = rest_coefficients(self.sh_degree);
        let mut invalid = 0;
        if self.stored > 0 {
            invalid = self.turn_coefficients(simd, block, visible, scratch);
            if invalid != 0 {
                self.count_invalid(u64::from(invalid.count_ones()));
            }
        }
        Coefficients { constant: &scratch.constant, rest: &scratch.rest[..3 * rest], invalid }
    }

    fn splat(&self, index: usize) -> Splat {
        self.row(index, self.sh_degree).unwrap_or(INVISIBLE)
    }

    fn geometry(&self, index: usize) -> Splat {
        self.row(index, 0).unwrap_or_else(|| {
            self.count_invalid(1);
            INVISIBLE
        })
    }

    /// Does nothing, since the rows of blocks are contiguous.
    #[inline(always)]
    fn prefetch(&self, _: usize) {}

    #[inline(always)]
    fn prefetch_coefficients_after(&self, block: usize) {
        let values = self.slices.sh.as_flattened();
        let numbers = 3 * self.stored.min(rest_coefficients(self.sh_degree) + 1);
        // Only coefficients of the next block: with further blocks, the stage takes 1.04 to 1.12 times as long.
        for row in (block + 1) * BLOCK..(block + 2) * BLOCK {
            prefetch_range(values, row * self.stored * 3, numbers);
        }
    }
}
