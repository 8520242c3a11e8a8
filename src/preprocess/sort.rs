//! Depth sort: stable, ties by index in the scene.
//!
//! One pass by the leading bits of the key spreads the splats over buckets (in parallel over equal
//! shares of the input); then each bucket, small enough for the first-level cache, is finished on
//! its own by least-significant-digit passes. Depths are positive floats, so their bits order as
//! they do, and subtracting the frame's least key leaves few significant bits.

use std::sync::atomic::Ordering::Relaxed;

use rayon::prelude::*;

use super::project::{CHUNK, ChunkedKeys};
use crate::buffer::{Buffer, as_atomic_u64};

/// log2 of the number of buckets.
const BUCKET_BITS: u32 = 11;
const BUCKETS: usize = 1 << BUCKET_BITS;
/// Bits of a digit within a bucket.
const DIGIT_BITS: u32 = 8;
const DIGITS: usize = 1 << DIGIT_BITS;
/// Buckets up to this many entries are sorted by insertion.
const INSERTION_MAX: usize = 32;

/// Sorts slots by depth key; keeps its arrays between frames.
#[derive(Debug, Default)]
pub(super) struct DepthSorter {
    /// `key - least key` in the high half, slot in the low half, spread over buckets.
    entries: Buffer<u64>,
    order: Buffer<u32>,
    len: usize,
}

/// A contiguous share of the chunks, for one thread's worth of counting and spreading.
struct Share {
    chunks: std::ops::Range<usize>,
    /// Entries a bucket, then the place of the next one.
    places: Vec<u32>,
}

impl DepthSorter {
    /// Bytes that sorting holds for each splat in view.
    pub(super) const BYTES_PER_SPLAT: usize = size_of::<u64>() + size_of::<u32>();

    /// Slots, nearest first.
    pub(super) fn order(&self) -> &[u32] {
        &self.order[..self.len]
    }

    /// Sorts a frame's survivors.
    pub(super) fn sort(&mut self, input: ChunkedKeys<'_>) {
        self.len = input.filled.iter().map(|f| f.len).sum();
        if self.len == 0 {
            return;
        }
        self.order.reserve_zeroed(self.len);
        self.entries.reserve_zeroed(self.len);
        let least = input.filled.iter().map(|f| f.least_key).min().unwrap_or(0);
        let greatest = input
            .filled
            .iter()
            .map(|f| f.greatest_key)
            .max()
            .unwrap_or(0);
        let key_bits = u32::BITS - (greatest - least).leading_zeros();
        let shift = key_bits.saturating_sub(BUCKET_BITS);

        let mut shares = shares(input.filled.len());
        shares.par_iter_mut().for_each(|share| {
            for chunk in share.chunks.clone() {
                for &key in input.chunk(chunk) {
                    share.places[((key - least) >> shift) as usize] += 1;
                }
            }
        });
        let ends = count_to_places(&mut shares);
        let entries = as_atomic_u64(&mut self.entries[..self.len]);
        shares.par_iter_mut().for_each(|share| {
            for chunk in share.chunks.clone() {
                for (slot, &key) in (chunk * CHUNK..).zip(input.chunk(chunk)) {
                    let key = key - least;
                    let place = &mut share.places[(key >> shift) as usize];
                    entries[*place as usize].store(u64::from(key) << 32 | slot as u64, Relaxed);
                    *place += 1;
                }
            }
        });
        finish_buckets(
            &self.entries[..self.len],
            &ends,
            shift,
            &mut self.order[..self.len],
        );
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
    reason = "the low half of an entry is the slot"
)]
/// Sorts every bucket by its remaining `bits` low bits and writes the slots.
fn finish_buckets(entries: &[u64], ends: &[usize], bits: u32, order: &mut [u32]) {
    let mut jobs = Vec::with_capacity(BUCKETS);
    let (mut rest, mut start) = (order, 0);
    for &end in ends {
        let (slots, tail) = rest.split_at_mut(end - start);
        if !slots.is_empty() {
            jobs.push((&entries[start..end], slots));
        }
        (rest, start) = (tail, end);
    }
    jobs.into_par_iter().for_each_init(
        || (Vec::new(), Vec::new()),
        |(from, to), (bucket, slots)| {
            from.clear();
            from.extend_from_slice(bucket);
            sort_bucket(from, to, bits);
            for (slot, &entry) in slots.iter_mut().zip(from.iter()) {
                *slot = (entry & u64::from(u32::MAX)) as u32;
            }
        },
    );
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "only the digit's bits are kept"
)]
/// Sorts one bucket stably by bits 32 to 32 + `bits`; `spare` is scratch.
fn sort_bucket(entries: &mut Vec<u64>, spare: &mut Vec<u64>, bits: u32) {
    if entries.len() <= INSERTION_MAX {
        // Slots ascend within equal keys already, so ordering the whole word is stable.
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
