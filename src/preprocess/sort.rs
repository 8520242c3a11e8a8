//! Depth sort: stable, ties by index in the scene.
//!
//! One pass by the leading bits of the key spreads the splats over buckets (in parallel over equal
//! shares of the input); then each bucket, small enough for the first-level caches, is finished on
//! its own by least-significant-digit passes. Depths are positive floats, so their bits order as
//! they do, and subtracting the frame's least key leaves few significant bits.
//!
//! The pixel bounds travel along, since whoever draws in this order wants them in this order:
//! fetching them by slot afterwards would miss the caches once a splat.

use std::sync::atomic::Ordering::Relaxed;

use rayon::prelude::*;

use super::project::Projected;
use super::projected::PixelBounds;
use crate::buffer::{Buffer, as_atomic_u64};

/// log2 of the number of buckets.
const BUCKET_BITS: u32 = 10;
const BUCKETS: usize = 1 << BUCKET_BITS;
/// Bits of a digit within a bucket.
const DIGIT_BITS: u32 = 9;
const DIGITS: usize = 1 << DIGIT_BITS;
/// Buckets up to this many entries are sorted by insertion.
const INSERTION_MAX: usize = 32;

/// Sorts slots by depth key; keeps its arrays between frames.
#[derive(Debug, Default)]
pub(super) struct DepthSorter {
    /// Two words an entry, spread over buckets: `key - least key` in the high half of the first and
    /// the slot in its low half; the pixel bounds in the second.
    entries: Buffer<u64>,
    order: Buffer<u32>,
    bounds: Buffer<PixelBounds>,
    len: usize,
}

/// A contiguous share of the chunks, for one thread's worth of counting and spreading.
struct Share {
    chunks: std::ops::Range<usize>,
    /// Entries a bucket, then the place of the next one.
    places: Vec<u32>,
}

impl DepthSorter {
    /// Slots, nearest first.
    pub(super) fn order(&self) -> &[u32] {
        &self.order[..self.len]
    }

    /// Pixel bounds, nearest first.
    pub(super) fn bounds(&self) -> &[PixelBounds] {
        &self.bounds[..self.len]
    }

    /// Sorts a frame's survivors.
    pub(super) fn sort(&mut self, input: &Projected) {
        self.len = input.len();
        if self.len == 0 {
            return;
        }
        self.order.reserve_zeroed(self.len);
        self.bounds.reserve_zeroed(self.len);
        self.entries.reserve_zeroed(2 * self.len);
        let filled = input.filled();
        let least = filled.iter().map(|f| f.least_key).min().unwrap_or(0);
        let greatest = filled.iter().map(|f| f.greatest_key).max().unwrap_or(0);
        let key_bits = u32::BITS - (greatest - least).leading_zeros();
        let shift = key_bits.saturating_sub(BUCKET_BITS);

        let mut shares = shares(input.chunks());
        shares.par_iter_mut().for_each(|share| {
            for chunk in share.chunks.clone() {
                for &key in input.chunk(chunk).keys {
                    share.places[((key - least) >> shift) as usize] += 1;
                }
            }
        });
        let ends = count_to_places(&mut shares);
        let entries = as_atomic_u64(&mut self.entries[..2 * self.len])
            .as_chunks::<2>()
            .0;
        shares.par_iter_mut().for_each(|share| {
            for chunk in share.chunks.clone() {
                let chunk = input.chunk(chunk);
                let keys = (chunk.first_slot..).zip(chunk.keys);
                for ((slot, &key), &b) in keys.zip(chunk.bounds) {
                    let key = key - least;
                    let place = &mut share.places[(key >> shift) as usize];
                    let entry = u64::from(key) << 32 | u64::from(slot);
                    let [first, second] = &entries[*place as usize];
                    first.store(entry, Relaxed);
                    second.store(bytemuck::cast(b), Relaxed);
                    *place += 1;
                }
            }
        });
        self.finish_buckets(&ends, shift);
    }

    /// Sorts every bucket by its remaining `bits` low bits and writes the order.
    fn finish_buckets(&mut self, ends: &[usize], bits: u32) {
        let mut jobs = Vec::with_capacity(BUCKETS);
        let (mut order, mut bounds) = (&mut self.order[..self.len], &mut self.bounds[..self.len]);
        let mut start = 0;
        for &end in ends {
            let (bucket_order, order_tail) = order.split_at_mut(end - start);
            let (bucket_bounds, bounds_tail) = bounds.split_at_mut(end - start);
            if end > start {
                let entries = self.entries[2 * start..2 * end].as_chunks().0;
                jobs.push((entries, (bucket_order, bucket_bounds)));
            }
            (order, bounds, start) = (order_tail, bounds_tail, end);
        }
        jobs.into_par_iter()
            .for_each_init(Default::default, |scratch, (entries, to)| {
                finish_bucket(scratch, entries, to, bits);
            });
    }
}

/// Sorts one bucket and writes its slots and bounds in order.
#[allow(
    clippy::cast_possible_truncation,
    reason = "an entry's low half is a slot, a word's a place in its bucket"
)]
fn finish_bucket(
    (words, spare): &mut (Vec<u64>, Vec<u64>),
    entries: &[[u64; 2]],
    (order_out, bounds_out): (&mut [u32], &mut [PixelBounds]),
    bits: u32,
) {
    words.clear();
    // The place in the bucket takes the slot's half of the word.
    words.extend(
        entries
            .iter()
            .zip(0_u64..)
            .map(|(entry, i)| entry[0] >> 32 << 32 | i),
    );
    sort_words(words, spare, bits);
    for ((slot, out), &word) in order_out.iter_mut().zip(bounds_out).zip(words.iter()) {
        let place = word as u32 as usize;
        let [entry, bounds] = entries[place];
        *slot = entry as u32;
        *out = bytemuck::cast(bounds);
    }
}

/// Equal shares of `chunks` chunks, a few a thread.
fn shares(chunks: usize) -> Vec<Share> {
    let count = (rayon::current_num_threads() * 2).clamp(1, chunks.max(1));
    (0..count)
        .map(|i| Share {
            chunks: chunks * i / count..chunks * (i + 1) / count,
            places: vec![0; BUCKETS],
        })
        .collect()
}

/// Turns each share's counts into first places, bucket by bucket and within a bucket share by
/// share; returns where each bucket ends.
fn count_to_places(shares: &mut [Share]) -> Vec<usize> {
    let mut place = 0;
    (0..BUCKETS)
        .map(|bucket| {
            for share in shares.iter_mut() {
                place += std::mem::replace(&mut share.places[bucket], place);
            }
            place as usize
        })
        .collect()
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "only the digit's bits are kept"
)]
/// Sorts words by bits 32 to 32 + `bits`, stably; their low halves ascend. `spare` is scratch.
fn sort_words(entries: &mut Vec<u64>, spare: &mut Vec<u64>, bits: u32) {
    if entries.len() <= INSERTION_MAX {
        // Low halves ascend within equal keys already, so ordering the whole word is stable.
        for i in 1..entries.len() {
            let entry = entries[i];
            let mut j = i;
            while j > 0 && entries[j - 1] > entry {
                entries[j] = entries[j - 1];
                j -= 1;
            }
            entries[j] = entry;
        }
        return;
    }
    spare.resize(entries.len(), 0);
    for pass in 0..bits.div_ceil(DIGIT_BITS) {
        let shift = 32 + pass * DIGIT_BITS;
        let digit = |entry: u64| (entry >> shift) as usize % DIGITS;
        let mut places = [0_u32; DIGITS];
        for &entry in entries.iter() {
            places[digit(entry)] += 1;
        }
        let mut sum = 0;
        for place in &mut places {
            sum += std::mem::replace(place, sum);
        }
        for &entry in entries.iter() {
            let place = &mut places[digit(entry)];
            spare[*place as usize] = entry;
            *place += 1;
        }
        std::mem::swap(entries, spare);
    }
}
