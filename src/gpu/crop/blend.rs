//! Colour operations of CROP: blend, store and alpha test of a warp.

use fearless_simd::{dispatch, f32x4, f32x16, prelude::*};

use crate::zrop::framebuffer::Framebuffer;
use crate::zrop::termination::{Feedback, Termination};
use quadrille_base::math::SimdLevel;
use quadrille_base::raster::tiles::{TILE_LENGTH, quad_index};
use quadrille_base::shading::{ColourFormat, QuadColour, under_lanes};
use quadrille_machine::{ColourQuad, ShadedWarp, WARP_QUADS};

/// Outcome of blending a quad, as fragment masks. `mask` holds the blended fragments.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Blended {
    pub(crate) mask: u8,
    /// Fragments that ideal termination drops because their pixel is at the threshold.
    pub(crate) dropped: u8,
    /// Fragments that raised their pixel to the threshold.
    pub(crate) reached: u8,
    /// Fragments blended into a pixel that was already at the threshold.
    pub(crate) late: u8,
}

pub(crate) fn blend_warp(level: SimdLevel, framebuffer: &mut Framebuffer, warp: &ShadedWarp) {
    let (format, tile) = colours(framebuffer, warp);
    dispatch!(level.level(), simd => {
        for quad in warp.quads.iter() {
            blend(simd, format, &mut tile[usize::from(quad.position) % TILE_LENGTH], &quad.colour);
        }
    });
}

pub(crate) fn blend_and_terminate(
    level: SimdLevel,
    framebuffer: &mut Framebuffer,
    warp: &ShadedWarp,
    termination: Termination,
) -> [Blended; WARP_QUADS] {
    let mut outcomes = [Blended::default(); WARP_QUADS];
    let (format, tile) = colours(framebuffer, warp);
    dispatch!(level.level(), simd => {
        for (quad, outcome) in warp.quads.iter().zip(&mut outcomes) {
            let stored = &mut tile[usize::from(quad.position) % TILE_LENGTH];
            *outcome = blend_quad(simd, format, stored, quad, termination);
        }
    });
    outcomes
}

#[inline]
fn colours<'f>(
    framebuffer: &'f mut Framebuffer,
    warp: &ShadedWarp,
) -> (ColourFormat, &'f mut [QuadColour]) {
    let first = quad_index(warp.tile, 0);
    (framebuffer.format, &mut framebuffer.colour[first..first + TILE_LENGTH])
}

#[inline(always)]
fn blend_quad<S: Simd>(
    simd: S,
    format: ColourFormat,
    stored: &mut QuadColour,
    quad: &ColourQuad,
    termination: Termination,
) -> Blended {
    let threshold = f32x4::splat(simd, termination.threshold);
    let was = at_least_lanes(simd, stored, threshold) & quad.mask;
    if was != 0 && termination.feedback == Feedback::Ideal {
        let kept = quad.kept(!was);
        blend(simd, format, stored, &kept.colour);
        return Blended {
            mask: kept.mask,
            dropped: was,
            reached: at_least_lanes(simd, stored, threshold) & kept.mask,
            late: 0,
        };
    }
    blend(simd, format, stored, &quad.colour);
    let is = at_least_lanes(simd, stored, threshold) & quad.mask;
    Blended { mask: quad.mask, dropped: 0, reached: is & !was, late: was }
}

pub(crate) fn blend_behind(
    level: SimdLevel,
    format: ColourFormat,
    stored: &mut QuadColour,
    back: &QuadColour,
) {
    dispatch!(level.level(), simd => blend(simd, format, stored, back));
}

#[inline(always)]
fn blend<S: Simd>(simd: S, format: ColourFormat, stored: &mut QuadColour, back: &QuadColour) {
    let front = f32x16::from_slice(simd, stored.as_flattened());
    let sum = under_lanes(simd, front, f32x16::from_slice(simd, back.as_flattened()));
    format.store_lanes(simd, sum).store_slice(stored.as_flattened_mut());
}

pub(crate) fn at_least(level: SimdLevel, colour: &QuadColour, threshold: f32) -> u8 {
    dispatch!(level.level(), simd => at_least_lanes(simd, colour, f32x4::splat(simd, threshold)))
}

#[inline(always)]
fn at_least_lanes<S: Simd>(simd: S, colour: &QuadColour, threshold: f32x4<S>) -> u8 {
    let alpha = f32x4::from_slice(simd, &colour[3]);
    #[allow(clippy::cast_possible_truncation, reason = "four bits")]
    let mask = alpha.simd_ge(threshold).to_bitmask() as u8;
    mask
}
