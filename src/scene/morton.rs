//! Order of splats along a Morton curve, in which neighbours in a file are close in space.

use rayon::prelude::*;

use super::table::RawColumns;
use quadrille_base::math::order::quantile;
use quadrille_base::math::whole;
use quadrille_base::{Result, Task};

const BITS: u32 = 21;

/// Rows per box when the extent of an order is measured.
const GROUP: usize = 256;

/// Extent relative to the Morton order up to which an order counts as equally good.
const GOOD_RATIO: f64 = 1.25;

/// Rows in Morton order of their positions on a logarithmic scale beyond the median coordinate, which leaves bits for the
/// centre of a scene whose sky is far away. Rows with equal codes keep their order.
pub fn morton_order(raw: &RawColumns, task: &Task) -> Result<Vec<u32>> {
    let rows = u32::try_from(raw.rows()).unwrap_or(u32::MAX);
    let unit = unit(raw);
    let spread = |v: f64| spread(v / unit);
    let bounds = raw.mean.each_ref().map(|column| {
        let start = (f64::INFINITY, f64::NEG_INFINITY);
        let fold = |(low, high): (f64, f64), v: &f64| (low.min(spread(*v)), high.max(spread(*v)));
        column.iter().fold(start, fold)
    });
    let most = f64::from((1u32 << BITS) - 1);
    let code = |row: usize| -> u64 {
        let mut code = 0;
        for (axis, (low, high)) in bounds.iter().enumerate() {
            let range = (high - low).max(f64::MIN_POSITIVE);
            let t = (spread(raw.mean[axis][row]) - low) / range;
            code |= spaced(whole::<u64>((t * most).round().clamp(0.0, most))) << axis;
        }
        code
    };
    let mut keyed: Vec<(u64, u32)> = (0..rows)
        .into_par_iter()
        .map(|row| task.check().map(|()| (code(row as usize), row)))
        .collect::<Result<_>>()?;
    let keyed = task.uninterrupted(move || {
        keyed.par_sort_unstable();
        keyed
    })?;
    Ok(keyed.into_iter().map(|(_, row)| row).collect())
}

/// Morton order; `None` if the rows are nearly as close together already, so that an ordered file keeps its order.
pub(crate) fn improved_order(raw: &RawColumns, task: &Task) -> Result<Option<Vec<u32>>> {
    let rows = u32::try_from(raw.rows()).unwrap_or(u32::MAX);
    let order = morton_order(raw, task)?;
    let ordered = extent(raw, order.iter().copied(), task)?.max(f64::MIN_POSITIVE);
    Ok((extent(raw, 0..rows, task)? > GOOD_RATIO * ordered).then_some(order))
}

/// Coordinate at which the logarithmic scale begins: the median distance from the origin along an axis, so that an order does
/// not depend on the unit of the scene.
fn unit(raw: &RawColumns) -> f64 {
    let mut coordinates: Vec<f64> = raw.mean.iter().flatten().map(|v| v.abs()).collect();
    let middle = quantile(&mut coordinates, 0.5);
    if middle > 0.0 { middle } else { 1.0 }
}

fn spread(v: f64) -> f64 {
    v.abs().ln_1p().copysign(v)
}

/// Sum of the sizes of the boxes around every [`GROUP`] rows; logarithmic, so that far splats do not outweigh all others.
fn extent(raw: &RawColumns, order: impl Iterator<Item = u32>, task: &Task) -> Result<f64> {
    let unit = unit(raw);
    let mut total = 0.0;
    let mut order = order.peekable();
    while order.peek().is_some() {
        task.check()?;
        let mut bounds = [[f64::INFINITY, f64::NEG_INFINITY]; 3];
        for row in order.by_ref().take(GROUP) {
            for (bound, column) in bounds.iter_mut().zip(&raw.mean) {
                let v = column[row as usize];
                *bound = [bound[0].min(v), bound[1].max(v)];
            }
        }
        let size = |[low, high]: &[f64; 2]| ((high - low) / unit).ln_1p();
        total += bounds.iter().map(size).sum::<f64>();
    }
    Ok(total)
}

/// Moves bit `i` of 21 bits to bit `3 i`.
fn spaced(mut bits: u64) -> u64 {
    bits = (bits | bits << 32) & 0x001f_0000_0000_ffff;
    bits = (bits | bits << 16) & 0x001f_0000_ff00_00ff;
    bits = (bits | bits << 8) & 0x100f_00f0_0f00_f00f;
    bits = (bits | bits << 4) & 0x10c3_0c30_c30c_30c3;
    (bits | bits << 2) & 0x1249_2492_4924_9249
}

#[cfg(test)]
#[path = "tests/units/morton.rs"]
mod tests;
