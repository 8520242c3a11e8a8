//! Colour operations of CROP: blend, store and alpha test of a warp.

use crate::gpu::zrop::framebuffer::Framebuffer;
use crate::gpu::zrop::termination::{Feedback, Termination};
use crate::math::SimdLevel;
use crate::pipeline::packets::{ColourQuad, ShadedWarp, WARP_QUADS};
use crate::raster::tiles::quad_index;
use crate::shading::{QuadColour, under};

/// Fragments of a quad, as masks.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Blended {
    /// Blended.
    pub(super) mask: u8,
    /// Not blended, by an ideal termination.
    pub(super) dropped: u8,
    /// Fragments with which the pixel reached the threshold.
    pub(super) reached: u8,
    /// Fragments blended into a pixel that had already reached the threshold.
    pub(super) late: u8,
}

/// Blends the quads of a warp in order; returns the outcomes of the fragments of each quad.
pub(super) fn blend_warp(
    level: SimdLevel,
    framebuffer: &mut Framebuffer,
    warp: &ShadedWarp,
    termination: Option<Termination>,
) -> [Blended; WARP_QUADS] {
    let mut outcomes = [Blended::default(); WARP_QUADS];
    level.run(
        #[inline(always)]
        || {
            for (quad, outcome) in warp.quads.iter().zip(&mut outcomes) {
                *outcome = blend_quad(framebuffer, warp.tile, quad, termination);
            }
        },
    );
    outcomes
}

#[inline(always)]
fn blend_quad(
    framebuffer: &mut Framebuffer,
    tile: u32,
    quad: &ColourQuad,
    termination: Option<Termination>,
) -> Blended {
    let format = framebuffer.format;
    let stored = &mut framebuffer.colour[quad_index(tile, quad.position)];
    let Some(termination) = termination else {
        *stored = format.store(under(stored, &quad.colour));
        return Blended {
            mask: quad.mask,
            ..Blended::default()
        };
    };
    let was = at_least(stored, termination.threshold) & quad.mask;
    if was != 0 && termination.feedback == Feedback::Ideal {
        let kept = quad.kept(!was);
        *stored = format.store(under(stored, &kept.colour));
        return Blended {
            mask: kept.mask,
            dropped: was,
            reached: at_least(stored, termination.threshold) & kept.mask,
            late: 0,
        };
    }
    *stored = format.store(under(stored, &quad.colour));
    let is = at_least(stored, termination.threshold) & quad.mask;
    Blended {
        mask: quad.mask,
        dropped: 0,
        reached: is & !was,
        late: was,
    }
}

/// Fragments whose alpha has reached the threshold.
#[inline(always)]
fn at_least(colour: &QuadColour, threshold: f32) -> u8 {
    let mut mask = 0;
    for (bit, &alpha) in colour[3].iter().enumerate() {
        mask |= u8::from(alpha >= threshold) << bit;
    }
    mask
}
