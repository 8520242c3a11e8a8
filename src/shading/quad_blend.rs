//! Blending quads: Porter and Duff's "over" of premultiplied colours, seen from the front
//! ("under": the newcomer goes behind what is there), as `glBlendFunc(ONE_MINUS_DST_ALPHA, ONE)`
//! sets it.

/// Premultiplied colours of a 2x2 quad of fragments, channel by channel: red, green, blue, alpha;
/// each the quad's fragments in the order of a mask's bits: top left, top right, bottom left,
/// bottom right.
pub type QuadColour = [[f32; 4]; 4];

/// One channel of one fragment: `front + (1 - front_alpha) * back`, in f32, rounded after the
/// multiplication and after the addition.
///
/// A front of alpha 1 hides whatever is behind, an infinite colour too, which 0 times infinity
/// would turn into NaN. With that, and alphas of 0 to 1, a side that is exactly zero in all
/// channels (a fragment that is not covered) leaves the other side as it is, however large: the
/// factors are 1 for a zero front, and finite for a zero back.
#[inline(always)]
pub(crate) fn under_channel(front: f32, front_alpha: f32, back: f32) -> f32 {
    let left = 1.0 - front_alpha;
    let shows = left * back;
    front + if left == 0.0 { 0.0 } else { shows }
}

/// `front + (1 - front.alpha) * back` in every channel, alpha among them: see `under_channel`.
///
/// The one rule of both the colour unit (front: what the buffer holds) and the shader's merge of
/// two quads (front: the older).
#[must_use]
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
