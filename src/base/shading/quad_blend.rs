//! Blending of quads, front to back: Porter and Duff's "over" of premultiplied colours with the new colour
//! behind the stored one ("under"), as with `glBlendFunc(ONE_MINUS_DST_ALPHA, ONE)`.

use fearless_simd::{f32x4, f32x16, prelude::*};

/// Premultiplied colours of a quad by channel (red, green, blue, alpha). Each channel holds the four
/// fragments in the order of a coverage mask: top left, top right, bottom left, bottom right.
pub type QuadColour = [[f32; 4]; 4];

/// One channel of one fragment: `front + (1 - front_alpha) * back`, in f32, rounded after the
/// multiplication and after the addition.
///
/// A front of alpha 1 hides everything behind it, even an infinite colour, for which the product would
/// be NaN. For alphas of 0 to 1, a side that is zero in all channels (a fragment without coverage)
/// therefore leaves the other side unchanged.
#[inline(always)]
pub fn under_channel(front: f32, front_alpha: f32, back: f32) -> f32 {
    let left = 1.0 - front_alpha;
    let shows = left * back;
    front + if left == 0.0 { 0.0 } else { shows }
}

/// `front + (1 - front.alpha) * back` in every channel, including alpha.
///
/// The colour unit (front: the stored colour) and quad merging in the shader (front: the older quad) use
/// the same rule.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::SimdLevel;
    use fearless_simd::dispatch;

    const NONE: QuadColour = [[0.0; 4]; 4];

    /// Halves and quarters, which are exact.
    #[test]
    fn worked_by_hand() {
        let front = [[0.5; 4], [0.0; 4], [0.25; 4], [0.5; 4]];
        let back = [[0.0; 4], [0.75; 4], [0.5; 4], [0.75; 4]];
        let expected = [[0.5; 4], [0.375; 4], [0.5; 4], [0.875; 4]];
        assert_eq!(under(&front, &back), expected);
    }

    #[test]
    fn fragments_keep_their_places() {
        let front = std::array::from_fn(|c| std::array::from_fn(|i| (c * 4 + i) as f32 / 16.0));
        let back = std::array::from_fn(|c| std::array::from_fn(|i| (c + 4 * i) as f32 / 16.0));
        let both = under(&front, &back);
        for c in 0..4 {
            for i in 0..4 {
                let left = 1.0 - front[3][i];
                let product = left * back[c][i];
                assert_eq!(both[c][i], front[c][i] + product);
            }
        }
    }

    #[test]
    fn nothing_leaves_the_other_side_unchanged() {
        let large = [f32::MAX, f32::INFINITY, 1e-40, 0.1];
        for alpha in [0.0, 1e-40, 0.004, 0.5, 0.99, 1.0_f32.next_down(), 1.0] {
            let some = [large, large, large, [alpha; 4]];
            assert_eq!(under(&NONE, &some), some);
            assert_eq!(under(&some, &NONE), some);
        }
    }

    #[test]
    fn an_opaque_front_hides_anything() {
        let front = [[0.25; 4], [0.5; 4], [0.75; 4], [1.0; 4]];
        let back = [[f32::INFINITY; 4], [f32::NAN; 4], [f32::MAX; 4], [0.5; 4]];
        assert_eq!(under(&front, &back), front);
    }

    /// Zeros, denormals, infinities and NaN among random numbers, on every level.
    #[test]
    fn lanes_give_the_same_bits() {
        let special = [
            0.0,
            -0.0,
            1.0,
            1e-40,
            f32::INFINITY,
            f32::NAN,
            f32::MAX,
            0.5,
        ];
        let mut random = 1_u32;
        let mut value = || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            match random >> 29 {
                0 => special[(random >> 8 & 7) as usize],
                _ => (random >> 8) as f32 / 16_777_216.0,
            }
        };
        for _ in 0..2000 {
            let [front, back]: [QuadColour; 2] =
                std::array::from_fn(|_| std::array::from_fn(|_| std::array::from_fn(|_| value())));
            let expected = under(&front, &back);
            for level in SimdLevel::all() {
                let mut found = NONE;
                dispatch!(level.level(), simd => {
                    let lanes = |q: &QuadColour| f32x16::from_slice(simd, q.as_flattened());
                    let sum = under_lanes(simd, lanes(&front), lanes(&back));
                    sum.store_slice(found.as_flattened_mut());
                });
                for (a, b) in found.as_flattened().iter().zip(expected.as_flattened()) {
                    let same = a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
                    assert!(same, "{}: {found:?}, not {expected:?}", level.name());
                }
            }
        }
    }
}
