//! Consumers of the fragments of a tile, in addition to its colours.

use fearless_simd::{f32x16, mask32x16, prelude::*};

use super::tile::Tile;
use crate::preprocess::ProjectedSplat;

/// Accumulates layers beside the colours. The implementation for `()` does nothing.
///
/// Sinks are selected at compile time: a branch between a group's fragments would serialise their arithmetic.
pub(super) trait LayerSink {
    /// Loads splat `at` of a batch, from `slot`, before it is drawn. It may replace the splat's colour and depth.
    fn load(&mut self, at: usize, slot: usize, splat: &mut ProjectedSplat);

    fn add<S: Simd>(
        &mut self,
        simd: S,
        at: usize,
        splat: &ProjectedSplat,
        block: usize,
        blended: &BlendedLanes<S>,
    );

    /// Adds light that a surface takes from a pixel of a block.
    fn add_surface(&mut self, _block: usize, _lane: usize, _light: TakenLight) {}

    /// Mask of the blocks in which no splat behind a depth is visible.
    #[inline(always)]
    fn hidden(&self, _depth: impl Fn() -> f32) -> u64 {
        0
    }

    /// Ends the drawing of a tile, whose colours it may replace.
    #[inline(always)]
    fn finish(&mut self, _tile: &mut Tile) {}
}

/// Light that a surface takes from a pixel.
#[derive(Debug, Clone, Copy)]
pub(super) struct TakenLight {
    /// Depth of the surface.
    pub(super) depth: f32,
    /// Share of the light of the pixel that the surface takes.
    pub(super) weight: f32,
    /// Share of the light in front of the surface.
    pub(super) before: f32,
}

#[derive(Clone, Copy)]
pub(super) struct BlendedLanes<S: Simd> {
    pub(super) over_cut: mask32x16<S>,
    /// Pixels that took the fragment, if above the cut.
    pub(super) open: mask32x16<S>,
    /// Transmittance in front of the fragment; undefined for closed pixels.
    pub(super) before: f32x16<S>,
    /// Transmittance behind the fragment, also of closed pixels.
    pub(super) after: f32x16<S>,
    /// Transmittance times alpha; 0 where nothing was blended.
    pub(super) weight: f32x16<S>,
    /// Depths of the fragments; `None` if all have the depth of the splat.
    pub(super) depth: Option<f32x16<S>>,
}

impl LayerSink for () {
    #[inline(always)]
    fn load(&mut self, _: usize, _: usize, _: &mut ProjectedSplat) {}

    #[inline(always)]
    fn add<S: Simd>(&mut self, _: S, _: usize, _: &ProjectedSplat, _: usize, _: &BlendedLanes<S>) {}
}
