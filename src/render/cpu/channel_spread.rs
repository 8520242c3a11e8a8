//! Spread of the last channel over the fragments of a pixel: median and distortion.

use fearless_simd::{Simd, f32x16, prelude::*};

use super::layer_sink::{BlendedLanes, LayerSink};
use super::layers::MEDIAN_TRANSMITTANCE;
use super::runs::BATCH;
use super::tile::{BLOCK_PX, TILE_BLOCKS};
use super::tile_layers::{BLOCKS, FloatLanes, accumulate, load};
use crate::preprocess::ProjectedSplat;
use quadrille_base::math::narrow;

/// Number of channels of a spread: the median and the distortion.
pub(super) const SPREAD_CHANNELS: usize = 2;

/// Spread of a channel in a tile.
pub(super) struct ChannelSpread<F> {
    /// Value of the channel for a splat.
    value: F,
    values: [f32; BATCH],
    /// Sums of the weighted values.
    sums: [FloatLanes; BLOCKS],
    medians: [FloatLanes; BLOCKS],
    distortions: [FloatLanes; BLOCKS],
}

impl<F: Fn(&ProjectedSplat) -> f32> ChannelSpread<F> {
    pub(super) fn new(value: F) -> Self {
        let [sums, medians, distortions] = [[FloatLanes::ZERO; BLOCKS]; 3];
        Self { value, values: [0.0; BATCH], sums, medians, distortions }
    }

    /// Stores the spread in the last of the `channels` of the rows of a tile.
    pub(super) fn store(&self, channels: usize, rows: &mut [&mut [f32]]) {
        for (y, row) in rows.iter_mut().enumerate() {
            for (x, pixel) in row.chunks_exact_mut(channels).enumerate() {
                let block = y / BLOCK_PX * TILE_BLOCKS + x / BLOCK_PX;
                let lane = y % BLOCK_PX * BLOCK_PX + x % BLOCK_PX;
                let spread = [&self.medians, &self.distortions].map(|lanes| lanes[block].0[lane]);
                pixel[channels - SPREAD_CHANNELS..].copy_from_slice(&spread);
            }
        }
    }
}

impl<F: Fn(&ProjectedSplat) -> f32> LayerSink for ChannelSpread<F> {
    #[inline(always)]
    fn load(&mut self, at: usize, _: usize, splat: &mut ProjectedSplat) {
        self.values[at] = (self.value)(splat);
    }

    #[inline(always)]
    fn add<S: Simd>(
        &mut self,
        simd: S,
        at: usize,
        _: &ProjectedSplat,
        block: usize,
        blended: &BlendedLanes<S>,
    ) {
        let lane = |v: f32| f32x16::splat(simd, v);
        let (value, half) = (lane(self.values[at]), lane(narrow(MEDIAN_TRANSMITTANCE)));
        let is_last = blended.before.simd_gt(half) & blended.over_cut & blended.open;
        let median = &mut self.medians[block].0;
        is_last.select(value, f32x16::load_array_ref(simd, median)).store_array(median);
        // Twice the sum of weight times weight times the difference of the values, over all pairs of fragments.
        let ahead = value.mul_add(lane(1.0) - blended.before, -load(simd, &self.sums[block]));
        accumulate(simd, blended.weight, ahead + ahead, &mut self.distortions[block]);
        accumulate(simd, blended.weight, value, &mut self.sums[block]);
    }
}
