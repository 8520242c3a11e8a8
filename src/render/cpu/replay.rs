//! Replays the drawing of a tile and sums the derivatives of a loss by each of its splats.
//!
//! Splats are visited in drawing order, with the fragments and the stop rule of the picture. Going forward, nothing is
//! divided by `1 - alpha` to restore a transmittance. With `g` the derivatives of the loss by the channels of a pixel, and
//! `light` the derivative by the factor on all light that comes from behind the splats visited so far,
//!
//! ```text
//! along  = g . channels of the splat
//! light -= T alpha along
//! d loss / d alpha = T along - light / (1 - alpha)
//! T     *= 1 - alpha
//! ```
//!
//! Splats are replayed one by one, and not block by block as they are drawn, so that the sums of a splat stay in registers.

use fearless_simd::{dispatch, f32x16, prelude::*};

use super::RenderSettings;
use super::blend::{BEFORE, BEFORE_OR_AT, LEAST_TRANSMITTANCE, exponents, offsets, stop_kind};
use super::coverage::Strips;
use super::places::TilePlaces;
use super::raster::{PART, PREFETCH_SPLATS};
use super::runs::slot;
use super::tile::{BLOCK_OFFSETS, SINK, Tile};
use super::tile_cotangents::TileCotangents;
use super::tile_layers::FloatLanes;
use crate::preprocess::{LOG2_ALPHA_CUT, ProjectedSplat};
use quadrille_base::math::buffer::{Line, StreamedLines};
use quadrille_base::math::lanes::{exp2_where, keep};
use quadrille_base::math::prefetch;
use quadrille_base::shading::cap_rounded_down;

/// Places of the sums in the record of a splat, before those of its channels. Each fragment counts with the derivative
/// of the loss by the logarithm of its alpha.
pub(super) mod place {
    /// Sum over the fragments.
    pub(in crate::cpu) const TOTAL: usize = 0;
    /// Sums of u and v.
    pub(in crate::cpu) const OFFSETS: usize = 1;
    /// Sums of u², u v and v².
    pub(in crate::cpu) const MOMENTS: usize = 3;
    /// Sums of the absolute derivatives by the x and y of the centre, in units of 2 ln 2 per pixel.
    pub(in crate::cpu) const ABSOLUTE: usize = 6;
    /// Sums of the derivatives by the channels.
    pub(in crate::cpu) const CHANNELS: usize = 8;
}

const LANES: usize = 16;

/// Number of channels in the first line of a record.
const BESIDE: usize = LANES - place::CHANNELS;

/// Number of lines of a record for pictures of `channels` channels.
#[inline(always)]
pub(super) fn record_lines(channels: usize) -> usize {
    (place::CHANNELS + channels).div_ceil(LANES)
}

/// Splats of a tile, nearest first, and the values of their channels.
#[derive(Clone, Copy)]
pub(super) struct ReplayedTile<'a, V> {
    pub(super) splats: &'a [ProjectedSplat],
    pub(super) list: &'a [u64],
    /// Value of a channel of a splat.
    pub(super) value: V,
    pub(super) channels: usize,
    /// Whether absolute derivatives are summed.
    pub(super) is_absolute: bool,
}

#[derive(Debug, Clone, Copy)]
struct ReplayLimits {
    alpha_cap: f32,
    /// Least transmittance of a pixel that takes a fragment.
    least: f32,
    /// Whether the transmittance behind the fragment decides, not the one in front of it.
    is_behind: bool,
}

impl ReplayLimits {
    fn new(settings: &RenderSettings) -> Self {
        let (kind, stop_at) = stop_kind(settings.profile.stop);
        Self {
            alpha_cap: cap_rounded_down(settings.profile.alpha_cap),
            least: if kind == BEFORE { stop_at } else { stop_at.next_up() },
            is_behind: matches!(kind, BEFORE | BEFORE_OR_AT),
        }
    }
}

impl<V: Fn(&ProjectedSplat, usize) -> f32> ReplayedTile<'_, V> {
    /// Writes the records of the splats that have fragments, in drawing order, and stores their positions in `places`.
    pub(super) fn replay(
        &self,
        tile: &Tile,
        settings: &RenderSettings,
        cotangents: &mut TileCotangents,
        records: &mut StreamedLines<'_>,
        places: &TilePlaces<'_>,
    ) {
        let limits = ReplayLimits::new(settings);
        dispatch!(settings.level.frame_level(), simd => {
            let mut replay = Replay { simd, limits, cotangents, records, places, tile };
            match (self.channels, self.is_absolute) {
                (3, false) => replay.run::<V, InRegisters<_, 3>, false>(self),
                (3, true) => replay.run::<V, InRegisters<_, 3>, true>(self),
                (4, false) => replay.run::<V, InRegisters<_, 4>, false>(self),
                (4, true) => replay.run::<V, InRegisters<_, 4>, true>(self),
                (_, false) => replay.run::<V, InMemory<_>, false>(self),
                (_, true) => replay.run::<V, InMemory<_>, true>(self),
            }
        });
    }
}

struct Replay<'a, 'b, S> {
    simd: S,
    limits: ReplayLimits,
    tile: &'a Tile,
    cotangents: &'a mut TileCotangents,
    records: &'a mut StreamedLines<'b>,
    places: &'a TilePlaces<'a>,
}

impl<S: Simd> Replay<'_, '_, S> {
    #[inline(always)]
    fn run<V, C, const ABSOLUTE: bool>(&mut self, listed: &ReplayedTile<'_, V>)
    where
        V: Fn(&ProjectedSplat, usize) -> f32,
        C: ChannelSums<S>,
    {
        let simd = self.simd;
        let strips = Strips::new(simd, self.tile.origin);
        let first_block = self.tile.first_block(simd);
        let mut batch: [ProjectedSplat; PART] = bytemuck::Zeroable::zeroed();
        let mut channels = C::new(simd, listed.channels);
        let lines = record_lines(listed.channels);
        let mut live = self.tile.live;
        let mut number = 0;
        let mut lists = listed.list.chunks(PART);
        let mut first = 0;
        while live != 0
            && let Some(entries) = lists.next()
        {
            first += entries.len();
            let ahead = listed.list.get(first + PREFETCH_SPLATS..).unwrap_or_default();
            for &entry in ahead.iter().take(PART) {
                prefetch(listed.splats, slot(entry));
                self.places.prefetch(slot(entry));
            }
            for (splat, &entry) in batch.iter_mut().zip(entries) {
                *splat = listed.splats[slot(entry)];
            }
            let mut masks = [0; PART];
            strips.block_masks(simd, &batch[..entries.len()], live, &mut masks);
            for ((splat, &entry), mask) in batch.iter().zip(entries).zip(masks) {
                if mask & live == 0 {
                    self.places.store(slot(entry), None);
                    continue;
                }
                channels.load(
                    simd,
                    #[inline(always)]
                    |channel| (listed.value)(splat, channel),
                );
                let sums = self.visit_blocks::<C, ABSOLUTE>(
                    splat,
                    mask & live,
                    &mut live,
                    first_block,
                    &mut channels,
                );
                store(simd, &sums, &channels, number * lines, self.records);
                self.places.store(slot(entry), Some(number));
                number += 1;
            }
        }
        for &entry in &listed.list[first..] {
            self.places.store(slot(entry), None);
        }
    }

    /// Visits the blocks of a splat; returns its sums without those of the channels.
    #[inline(always)]
    fn visit_blocks<C: ChannelSums<S>, const ABSOLUTE: bool>(
        &mut self,
        splat: &ProjectedSplat,
        mut mask: u64,
        live: &mut u64,
        [first_x, first_y]: [f32x16<S>; 2],
        channels: &mut C,
    ) -> [f32x16<S>; place::CHANNELS] {
        let (simd, limits) = (self.simd, self.limits);
        let lane = |v: f32| f32x16::splat(simd, v);
        let mut sums = [lane(0.0); place::CHANNELS];
        while mask != 0 {
            let block = mask.trailing_zeros() as usize % SINK;
            mask &= mask - 1;
            let [x, y] = BLOCK_OFFSETS[block];
            let position = [first_x + x, first_y + y];
            let [[u], [v]] = offsets(simd, [splat], position);
            let [exponent] = exponents(simd, [splat], [[u], [v]]);
            let over_cut = exponent.simd_ge(lane(LOG2_ALPHA_CUT));
            let [uncapped] = exp2_where(simd, [over_cut], [exponent]);
            let alpha = uncapped.min(lane(limits.alpha_cap));
            // Zero where alpha does not follow its logarithm.
            let free = keep(simd, uncapped.simd_lt(lane(limits.alpha_cap)), uncapped);

            let (pixels, by_channels) = self.cotangents.parts(block);
            let before = f32x16::load_array_ref(simd, &pixels.transmittance.0);
            let light = f32x16::load_array_ref(simd, &pixels.light.0);
            // The lower bound is the one of pictures without a stop rule; under the other rules it changes closed pixels only.
            let after = (-before).mul_add(alpha, before).max(lane(LEAST_TRANSMITTANCE));
            let is_open = after.simd_ge(lane(limits.least));
            let takes = if limits.is_behind { is_open } else { before.simd_ge(lane(limits.least)) };
            let weight = keep(simd, takes, before * alpha);
            let along = channels.add(simd, weight, by_channels, block);
            let light = (-weight).mul_add(along, light);
            after.store_array(&mut pixels.transmittance.0);
            light.store_array(&mut pixels.light.0);
            *live &= !(u64::from(is_open.to_bitmask() == 0) << block);

            let by_alpha = before * along - light / (lane(1.0) - alpha);
            let by_log = keep(simd, takes, by_alpha * free);
            let (by_u, by_v) = (by_log * u, by_log * v);
            sums[place::TOTAL] += by_log;
            sums[place::OFFSETS] += by_u;
            sums[place::OFFSETS + 1] += by_v;
            sums[place::MOMENTS] = by_u.mul_add(u, sums[place::MOMENTS]);
            sums[place::MOMENTS + 1] = by_u.mul_add(v, sums[place::MOMENTS + 1]);
            sums[place::MOMENTS + 2] = by_v.mul_add(v, sums[place::MOMENTS + 2]);
            if ABSOLUTE {
                let by_x = by_u * lane(splat.u_per_x);
                let by_y = by_v * lane(splat.v_per_y) - by_u * lane(splat.u_per_y);
                sums[place::ABSOLUTE] += by_x.abs();
                sums[place::ABSOLUTE + 1] += by_y.abs();
            }
        }
        sums
    }
}

/// Values of the channels of a splat, and the sums of the derivatives by them.
trait ChannelSums<S: Simd> {
    fn new(simd: S, channels: usize) -> Self;

    /// Starts the sums of a splat with these values.
    fn load(&mut self, simd: S, value: impl Fn(usize) -> f32);

    /// Adds a splat's weight in each pixel of a block, given the derivatives by the channels of all blocks; returns the
    /// derivatives of the loss by it.
    fn add(
        &mut self,
        simd: S,
        weight: f32x16<S>,
        by_channels: &[FloatLanes],
        block: usize,
    ) -> f32x16<S>;

    /// Sums of the channels of the first line of a record, and zeros.
    fn first(&self, simd: S) -> [f32x16<S>; BESIDE];

    /// Sums of the other channels.
    fn others(&self) -> &[f32x16<S>];
}

/// A known number of channels.
struct InRegisters<S: Simd, const N: usize> {
    values: [f32; N],
    sums: [f32x16<S>; N],
}

impl<S: Simd, const N: usize> ChannelSums<S> for InRegisters<S, N> {
    #[inline(always)]
    fn new(simd: S, _: usize) -> Self {
        Self { values: [0.0; N], sums: [f32x16::splat(simd, 0.0); N] }
    }

    #[inline(always)]
    fn load(&mut self, simd: S, value: impl Fn(usize) -> f32) {
        for channel in 0..N {
            self.values[channel] = value(channel);
            self.sums[channel] = f32x16::splat(simd, 0.0);
        }
    }

    #[inline(always)]
    fn add(
        &mut self,
        simd: S,
        weight: f32x16<S>,
        by_channels: &[FloatLanes],
        block: usize,
    ) -> f32x16<S> {
        let mut along = f32x16::splat(simd, 0.0);
        // An array, so that the loop is unrolled and the sums stay in registers.
        if let Some(by_channels) = by_channels.as_chunks::<N>().0.get(block) {
            #[expect(clippy::needless_range_loop, reason = "a zip would be called, not inlined")]
            for channel in 0..N {
                let by = f32x16::load_array_ref(simd, &by_channels[channel].0);
                along = by.mul_add(f32x16::splat(simd, self.values[channel]), along);
                self.sums[channel] = weight.mul_add(by, self.sums[channel]);
            }
        }
        along
    }

    #[inline(always)]
    fn first(&self, simd: S) -> [f32x16<S>; BESIDE] {
        let mut first = [f32x16::splat(simd, 0.0); BESIDE];
        first[..N].copy_from_slice(&self.sums);
        first
    }

    #[inline(always)]
    fn others(&self) -> &[f32x16<S>] {
        &[]
    }
}

/// Any number of channels.
struct InMemory<S: Simd> {
    values: Vec<f32>,
    sums: Vec<f32x16<S>>,
}

impl<S: Simd> ChannelSums<S> for InMemory<S> {
    #[inline(always)]
    fn new(simd: S, channels: usize) -> Self {
        Self { values: vec![0.0; channels], sums: vec![f32x16::splat(simd, 0.0); channels] }
    }

    #[inline(always)]
    fn load(&mut self, simd: S, value: impl Fn(usize) -> f32) {
        for (channel, (loaded, sum)) in self.values.iter_mut().zip(&mut self.sums).enumerate() {
            *loaded = value(channel);
            *sum = f32x16::splat(simd, 0.0);
        }
    }

    #[inline(always)]
    fn add(
        &mut self,
        simd: S,
        weight: f32x16<S>,
        by_channels: &[FloatLanes],
        block: usize,
    ) -> f32x16<S> {
        let mut along = f32x16::splat(simd, 0.0);
        let count = self.values.len();
        let by_channels = &by_channels[block * count..][..count];
        let (values, sums) = (&self.values[..], &mut self.sums[..count]);
        // Indices: a zip would be called, not inlined.
        for channel in 0..count {
            let by = f32x16::load_array_ref(simd, &by_channels[channel].0);
            along = by.mul_add(f32x16::splat(simd, values[channel]), along);
            sums[channel] = weight.mul_add(by, sums[channel]);
        }
        along
    }

    #[inline(always)]
    fn first(&self, simd: S) -> [f32x16<S>; BESIDE] {
        let mut first = [f32x16::splat(simd, 0.0); BESIDE];
        for (first, sum) in first.iter_mut().zip(&self.sums) {
            *first = *sum;
        }
        first
    }

    #[inline(always)]
    fn others(&self) -> &[f32x16<S>] {
        self.sums.get(BESIDE..).unwrap_or_default()
    }
}

/// Writes a record from the sums of the lanes, from line `first_line` on.
#[inline(always)]
fn store<S: Simd, C: ChannelSums<S>>(
    simd: S,
    sums: &[f32x16<S>; place::CHANNELS],
    channels: &C,
    first_line: usize,
    records: &mut StreamedLines<'_>,
) {
    let mut first = [f32x16::splat(simd, 0.0); LANES];
    first[..place::CHANNELS].copy_from_slice(sums);
    first[place::CHANNELS..].copy_from_slice(&channels.first(simd));
    records.store(first_line, Line(lane_sums(simd, &first).to_array()));
    for (line, part) in (first_line + 1..).zip(channels.others().chunks(LANES)) {
        let mut all = [f32x16::splat(simd, 0.0); LANES];
        all[..part.len()].copy_from_slice(part);
        records.store(line, Line(lane_sums(simd, &all).to_array()));
    }
}

/// Sums of the lanes of each vector.
#[inline(always)]
fn lane_sums<S: Simd>(simd: S, vectors: &[f32x16<S>; LANES]) -> f32x16<S> {
    // Each pass adds the halves of two vectors while it interleaves them. The last vector holds the sums in the order of
    // reversed bits.
    const REVERSED: [usize; LANES] = [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15];
    let mut v = [f32x16::splat(simd, 0.0); LANES];
    // A map of the array would be called, not inlined.
    for i in 0..LANES {
        v[i] = vectors[REVERSED[i]];
    }
    for left in [8, 4, 2, 1] {
        for i in 0..left {
            let (a, b) = (v[2 * i], v[2 * i + 1]);
            v[i] = a.zip_low(b) + a.zip_high(b);
        }
    }
    v[0]
}

#[cfg(test)]
#[path = "tests/replay.rs"]
mod tests;
