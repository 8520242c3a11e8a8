//! Builds the arrays of a scene from the rows of a file, in one pass.
//!
//! Row `i` goes to lane `i`. Invalid rows are marked there and removed afterwards: they are so rare that
//! a separate pass to find them first would cost far more.

use std::ops::Range;

use fearless_simd::Level;
use rayon::prelude::*;

use super::activate::{Parameters, ValueEncoding, activate};
use super::bytes::{FileBytes, ReadAhead};
use super::raw_columns::{RawColumns, Rows};
use super::scene_file::Dropped;
use super::splats::{BLOCK, Lanes, MAX_SPLATS, Splat, SplatBlock, Splats, rest_coefficients};
use quadrille_base::math::buffer::Buffer;
use quadrille_base::math::narrow;
use quadrille_base::{Error, Result, Task};

/// Values per splat without higher SH coefficients.
pub(super) const PLAIN_SLOTS: usize = 14;

/// Blocks per unit of parallel work: 4096 splats, whose arrays are a fraction of a second-level cache at degree 0.
const BATCH_BLOCKS: usize = 256;

/// Blocks decoded before the first is activated: a vector load soon after single stores to the same memory stalls.
const GROUP_BLOCKS: usize = 8;

#[derive(Debug, Clone, Copy)]
pub(super) struct RowLayout {
    pub(super) rows: usize,
    pub(super) sh_degree: u8,
    pub(super) encoding: ValueEncoding,
    pub(super) scales: usize,
    /// True if rows have a 3D filter.
    pub(super) filtered: bool,
}

impl RowLayout {
    fn rest_slots(&self) -> usize {
        3 * rest_coefficients(self.sh_degree)
    }
}

/// Raw values of a block, one lane array per value, which a decoder fills.
///
/// Slots of `plain`: mean x, y, z; scale 0 to 2; rotation w, x, y, z; opacity; SH constant red, green, blue. `rest` has
/// the order of [`Splats::sh_rest`].
pub(super) struct RawBlock<'a> {
    pub(super) plain: &'a mut [Lanes; PLAIN_SLOTS],
    pub(super) rest: &'a mut [Lanes],
    pub(super) filter: &'a mut Lanes,
}

impl RawBlock<'_> {
    /// Lanes of a slot: plain values, then higher coefficients, then the filter.
    pub(crate) fn slot(&mut self, slot: usize) -> &mut Lanes {
        if slot < PLAIN_SLOTS {
            &mut self.plain[slot]
        } else {
            self.rest.get_mut(slot - PLAIN_SLOTS).unwrap_or(self.filter)
        }
    }
}

pub(super) struct Batch<'a> {
    layout: RowLayout,
    first_row: usize,
    blocks: &'a mut [SplatBlock],
    rest: &'a mut [Lanes],
}

impl Batch<'_> {
    pub(super) fn rows(&self) -> Range<usize> {
        let end = self.first_row + self.blocks.len() * BLOCK;
        self.first_row..end.min(self.layout.rows)
    }

    /// Calls `decode` for the rows of each block, and activates the blocks.
    pub(super) fn fill(
        self,
        mut decode: impl FnMut(Range<usize>, RawBlock<'_>) -> Result<()>,
    ) -> Result<Dropped> {
        let rows = self.rows();
        let rest_slots = self.layout.rest_slots();
        let level = Level::new();
        let mut dropped = Dropped::default();
        let mut filters = [[0.0; BLOCK]; GROUP_BLOCKS];
        let (mut start, mut rest_left) = (rows.start, self.rest);
        for blocks in self.blocks.chunks_mut(GROUP_BLOCKS) {
            let (rest, left) = rest_left.split_at_mut(blocks.len() * rest_slots);
            rest_left = left;
            let block_rows = |i: usize| {
                let first = start + i * BLOCK;
                first..(first + BLOCK).min(rows.end)
            };
            let rest_of = |i: usize| i * rest_slots..(i + 1) * rest_slots;
            for (i, (block, filter)) in blocks.iter_mut().zip(&mut filters).enumerate() {
                let raw = RawBlock {
                    plain: bytemuck::cast_mut(block),
                    rest: &mut rest[rest_of(i)],
                    filter,
                };
                decode(block_rows(i), raw)?;
            }
            for (i, (block, filter)) in blocks.iter_mut().zip(&filters).enumerate() {
                let parameters = Parameters {
                    level,
                    encoding: self.layout.encoding,
                    scales: self.layout.scales,
                    filter: self.layout.filtered.then_some(filter),
                };
                let lanes = block_rows(i).len();
                dropped = dropped.plus(activate(block, &mut rest[rest_of(i)], lanes, parameters));
            }
            start += blocks.len() * BLOCK;
        }
        Ok(dropped)
    }
}

/// Builds a scene on all threads; `work` fills each batch with [`Batch::fill`], in any order. The caller has
/// checked that the file holds `layout.rows` rows. Progress is in rows.
pub(super) fn assemble(
    layout: RowLayout,
    task: &Task,
    work: impl Fn(Batch<'_>) -> Result<Dropped> + Send + Sync,
) -> Result<(Splats, Dropped)> {
    check_rows(layout.rows)?;
    task.check()?;
    let mut arrays = Arrays::new(layout);
    let steps = task.steps(layout.rows as u64);
    let dropped = arrays
        .batches()
        .into_par_iter()
        .map(|batch| {
            let rows = batch.rows().len() as u64;
            let dropped = work(batch)?;
            steps.advance(rows)?;
            Ok(dropped)
        })
        .try_reduce(Dropped::default, |a, b| Ok(a.plus(b)))?;
    Ok(arrays.finish(dropped))
}

#[derive(Debug)]
pub(super) struct FixedRows {
    start: usize,
    pub(super) stride: usize,
    /// First row of each range that is read: its index among the rows read, and in the file.
    spans: Vec<[usize; 2]>,
    pub(super) len: usize,
}

impl FixedRows {
    /// Rows of `stride` bytes from byte `start`. `spans` are the ranges to read, of multiples of [`BLOCK`] except the last.
    pub(super) fn new([start, stride]: [usize; 2], spans: &[Range<usize>]) -> Self {
        let mut len = 0;
        let firsts = spans.iter().map(|span| {
            let first = [len, span.start];
            len += span.len();
            first
        });
        Self { start, stride, spans: firsts.collect(), len }
    }

    /// Byte range of `rows`, counted among the rows read, cut at the end of the span that holds the first one.
    fn bytes(&self, rows: Range<usize>) -> Range<usize> {
        let after = self.spans.partition_point(|[first, _]| *first <= rows.start);
        let [first, row] = self.spans[after - 1];
        let end = self.spans.get(after).map_or(self.len, |[next, _]| *next);
        let start = self.start + (row + rows.start - first) * self.stride;
        start..start + (rows.end.min(end) - rows.start) * self.stride
    }
}

/// [`assemble`] for fixed-size rows; `decode` receives the bytes of a block's rows.
pub(super) fn assemble_fixed(
    bytes: &FileBytes<'_>,
    fixed: &FixedRows,
    layout: RowLayout,
    task: &Task,
    decode: impl Fn(&[u8], RawBlock<'_>) + Send + Sync,
) -> Result<(Splats, Dropped)> {
    assemble(layout, task, |batch| {
        let (end, mut ahead) = (batch.rows().end, ReadAhead::default());
        batch.fill(|rows, raw| {
            let left = fixed.bytes(rows.start..end);
            // `left` ends with its span, so a read ahead never includes rows that are skipped.
            let of_block = left.start..left.start + rows.len() * fixed.stride;
            decode(ahead.bytes(bytes, of_block, left.end)?, raw);
            Ok(())
        })
    })
}

/// [`assemble`] for `rows` of raw columns. The scene's centres are relative to `origin`.
pub(super) fn assemble_columns(
    rows: Range<usize>,
    sh_degree: u8,
    origin: [f64; 3],
    task: &Task,
    columns: impl Fn(Rows) -> Result<RawColumns> + Send + Sync,
) -> Result<(Splats, Dropped)> {
    let layout = RowLayout {
        rows: rows.len(),
        sh_degree,
        encoding: ValueEncoding::Raw,
        scales: 3,
        filtered: false,
    };
    let (splats, dropped) = assemble(layout, task, |batch| {
        let own = batch.rows();
        let raw = columns(Rows::multiples(rows.start + own.start..rows.start + own.end, 1))?;
        batch.fill(|rows, mut block| {
            let rows = rows.start - own.start..rows.end - own.start;
            for (slot, (column, origin)) in raw.mean.iter().zip(origin).enumerate() {
                let centres = column[rows.clone()].iter().map(|v| narrow(v - origin));
                block.slot(slot).iter_mut().zip(centres).for_each(|(lane, v)| *lane = v);
            }
            for (column, slot) in raw.all_floats().zip(3..) {
                block.slot(slot)[..rows.len()].copy_from_slice(&column[rows.clone()]);
            }
            Ok(())
        })
    })?;
    Ok((splats.with_origin(origin), dropped))
}

/// [`assemble`] on this thread, for rows that must be read in order.
pub(super) fn assemble_in_order(
    layout: RowLayout,
    task: &Task,
    mut work: impl FnMut(Batch<'_>) -> Result<Dropped>,
) -> Result<(Splats, Dropped)> {
    check_rows(layout.rows)?;
    let mut arrays = Arrays::new(layout);
    let mut dropped = Dropped::default();
    let steps = task.steps(layout.rows as u64);
    for batch in arrays.batches() {
        let rows = batch.rows().len() as u64;
        dropped = dropped.plus(work(batch)?);
        steps.advance(rows)?;
    }
    Ok(arrays.finish(dropped))
}

fn check_rows(rows: usize) -> Result<()> {
    Error::check_limit("splats in a scene", MAX_SPLATS as u64, rows as u64)
}

struct Arrays {
    layout: RowLayout,
    blocks: Buffer<SplatBlock>,
    rest: Buffer<Lanes>,
}

impl Arrays {
    fn new(layout: RowLayout) -> Self {
        let block_count = layout.rows.div_ceil(BLOCK);
        Self {
            layout,
            blocks: Buffer::zeroed(block_count),
            rest: Buffer::zeroed(block_count * layout.rest_slots()),
        }
    }

    fn batches(&mut self) -> Vec<Batch<'_>> {
        let mut rest_left: &mut [Lanes] = &mut self.rest;
        let batch = |(i, blocks): (usize, _)| {
            let blocks: &mut [SplatBlock] = blocks;
            let rest_len = blocks.len() * self.layout.rest_slots();
            let (rest, left) = std::mem::take(&mut rest_left).split_at_mut(rest_len);
            rest_left = left;
            Batch { layout: self.layout, first_row: i * BATCH_BLOCKS * BLOCK, blocks, rest }
        };
        self.blocks.chunks_mut(BATCH_BLOCKS).enumerate().map(batch).collect()
    }

    fn finish(mut self, dropped: Dropped) -> (Splats, Dropped) {
        let RowLayout { rows, sh_degree, .. } = self.layout;
        let mut len = rows;
        if dropped.total() > 0 {
            let rest_slots = self.layout.rest_slots();
            len = compact(&mut self.blocks, &mut self.rest, rows, rest_slots);
            self.blocks.truncate(len.div_ceil(BLOCK));
            self.rest.truncate(len.div_ceil(BLOCK) * rest_slots);
        }
        (Splats::from_buffers(len, sh_degree, self.blocks, self.rest), dropped)
    }
}

/// Moves valid splats over marked ones, in order; returns the number of valid splats. Zeros pad the last block.
fn compact(blocks: &mut [SplatBlock], rest: &mut [Lanes], rows: usize, rest_slots: usize) -> usize {
    let rest_of = |block: usize| block * rest_slots..(block + 1) * rest_slots;
    let mut len = 0;
    for row in 0..rows {
        let (from, lane) = (row / BLOCK, row % BLOCK);
        if blocks[from].mean[0][lane].is_nan() {
            continue;
        }
        if len < row {
            let splat = Splat::load(&blocks[from], &rest[rest_of(from)], lane);
            let to = len / BLOCK;
            splat.store(&mut blocks[to], &mut rest[rest_of(to)], len % BLOCK);
        }
        len += 1;
    }
    let (last, lane) = (len / BLOCK, len % BLOCK);
    if lane > 0 {
        let own: &mut [Lanes; PLAIN_SLOTS] = bytemuck::cast_mut(&mut blocks[last]);
        for values in own.iter_mut().chain(&mut rest[rest_of(last)]) {
            values[lane..].fill(0.0);
        }
    }
    len
}

#[cfg(test)]
#[path = "tests/units/assemble.rs"]
mod tests;
