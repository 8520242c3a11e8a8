//! Derivatives of a loss by the pixels of a tile.

use super::layers::LEAST_ALPHA;
use super::tile::{BLOCK_PX, SINK, TILE_BLOCKS, TileArea};
use super::tile_layers::{Aligned, FloatLanes};
use quadrille_base::math::narrow;

/// State of the pixels of a block while their drawing is replayed.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReplayedPixels {
    /// Transmittance in front of the next fragment; negative outside the picture.
    pub(super) transmittance: FloatLanes,
    /// Derivative of the loss by a factor on the light from behind the fragments so far.
    pub(super) light: FloatLanes,
}

/// Derivatives of a loss by the pixels of a tile, block by block.
#[derive(Debug)]
pub(super) struct TileCotangents {
    pixels: [ReplayedPixels; SINK],
    /// Derivatives by the channels of each block.
    by_channels: Vec<FloatLanes>,
}

/// Rows of a picture, and the derivatives of a loss by it.
#[derive(Debug, Clone, Copy)]
pub(super) struct PictureRows<'a> {
    pub(super) values: &'a [f32],
    pub(super) transmittances: &'a [f32],
    pub(super) by_values: &'a [f32],
    pub(super) by_alphas: &'a [f32],
    pub(super) channels: usize,
    /// Whether the last channel is a mean depth.
    pub(super) has_mean: bool,
}

const OUTSIDE: ReplayedPixels =
    ReplayedPixels { transmittance: Aligned([-1.0; 16]), light: FloatLanes::ZERO };

impl Default for TileCotangents {
    fn default() -> Self {
        Self { pixels: [OUTSIDE; SINK], by_channels: Vec::new() }
    }
}

impl TileCotangents {
    /// Loads the pixels of a tile; adds the derivatives by the background of each channel to `background`.
    pub(super) fn load(
        &mut self,
        area: TileArea,
        picture: &PictureRows<'_>,
        background: &mut [f64],
    ) {
        let channels = picture.channels;
        self.pixels = [OUTSIDE; SINK];
        self.by_channels.clear();
        self.by_channels.resize(SINK * channels, FloatLanes::ZERO);
        for y in 0..area.size_px[1] {
            let first = (area.first_px[1] + y) * area.picture_px[0] + area.first_px[0];
            for x in 0..area.size_px[0] {
                let (block, lane) = (
                    y / BLOCK_PX * TILE_BLOCKS + x / BLOCK_PX,
                    y % BLOCK_PX * BLOCK_PX + x % BLOCK_PX,
                );
                let at = first + x;
                let values = &picture.values[at * channels..][..channels];
                let by_values = &picture.by_values[at * channels..][..channels];
                let by_channels = &mut self.by_channels[block * channels..][..channels];
                let (transmittance, mut by_alpha) =
                    (picture.transmittances[at], picture.by_alphas[at]);
                let alpha = 1.0 - transmittance;
                // All that follows is a difference from this sum, so it is rounded once.
                let mut light = 0.0;
                for ((by_channel, by_value), value) in
                    by_channels.iter_mut().zip(by_values).zip(values)
                {
                    by_channel.0[lane] = *by_value;
                    light += f64::from(*by_value) * f64::from(*value);
                }
                for (sum, by_value) in background.iter_mut().zip(by_values) {
                    *sum += f64::from(transmittance * by_value);
                }
                if let (true, [.., by_depth], Some(depth)) =
                    (picture.has_mean, by_channels, values.last())
                {
                    let by_sum = &mut by_depth.0[lane];
                    *by_sum /= alpha.max(LEAST_ALPHA);
                    if alpha > LEAST_ALPHA {
                        by_alpha -= *by_sum * depth;
                    }
                }
                let pixels = &mut self.pixels[block];
                pixels.transmittance.0[lane] = 1.0;
                pixels.light.0[lane] =
                    narrow(light - f64::from(transmittance) * f64::from(by_alpha));
            }
        }
    }

    /// State of the pixels of a block, and the derivatives by the channels of all blocks, block by block.
    #[inline(always)]
    pub(super) fn parts(&mut self, block: usize) -> (&mut ReplayedPixels, &[FloatLanes]) {
        (&mut self.pixels[block], &self.by_channels)
    }
}
