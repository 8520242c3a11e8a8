//! Blending of quads, front to back: Porter and Duff's "over" of premultiplied colours with the new colour
//! behind the stored one ("under"), as with `glBlendFunc(ONE_MINUS_DST_ALPHA, ONE)`.

use fearless_simd::{f32x4, f32x16, prelude::*};

/// Premultiplied colours of a quad by channel (red, green, blue, alpha). Each channel holds the four
/// fragments in the order of a coverage mask: top left, top right, bottom left, bottom right.
pub type QuadColour = [[f32; 4]; 4];

/// One channel of one fragment: `front + (1 - front_alpha) * back` in f32, rounded after each operation.
///
/// A front of alpha 1 hides everything behind it, even an infinite colour, for which the product would be NaN. For alphas
/// of 0 to 1, a side that is zero in all channels (a fragment without coverage) therefore leaves the other side unchanged.
#[inline(always)]
pub fn under_channel(front: f32, front_alpha: f32, back: f32) -> f32 {
    let left = 1.0 - front_alpha;
    let shows = left * back;
    front + if left == 0.0 { 0.0 } else { shows }
}

/// `front + (1 - front.alpha) * back` in every channel, including alpha.
///
/// The colour unit (front: the stored colour) and quad merging in the shader (front: the older quad) use the same rule.
#[inline(always)]
pub fn under(front: &QuadColour, back: &QuadColour) -> QuadColour {
    let mut sum = *front;
    for channel in 0..4 {
        for i in 0..4 {
            sum[channel][i] = under_channel(front[channel][i], front[3][i], back[channel][i]);
        }
    }
    sum
}

/// [`under`] with a quad in the lanes of a vector, channel by channel, in the same operations.
#[inline(always)]
pub fn under_lanes<S: Simd>(simd: S, front: f32x16<S>, back: f32x16<S>) -> f32x16<S> {
    let alpha: f32x4<S> = front.split().1.split().1;
    let alphas = alpha.combine(alpha);
    let left = f32x16::splat(simd, 1.0) - alphas.combine(alphas);
    let zero = f32x16::splat(simd, 0.0);
    front + left.simd_eq(zero).select(zero, left * back)
}
