//! Shadings per pixel as a heat map, in the colours of Figure 11 of "Reducing Shading
//! on GPUs using Quad-Fragment Merging".

use crate::image::Frame;

/// Colours, sRGB, of 1 to 8 fragments per pixel. The paper names three: dark blue is 1, bright green
/// 4, dark red 8 or more; the others are our choice, on the way from blue to red.
const COLOURS: [[f32; 3]; 8] = [
    [0.0, 0.0, 0.5],
    [0.0, 0.25, 1.0],
    [0.0, 0.85, 1.0],
    [0.0, 1.0, 0.0],
    [1.0, 1.0, 0.0],
    [1.0, 0.5, 0.0],
    [1.0, 0.0, 0.0],
    [0.5, 0.0, 0.0],
];
/// Colour of a pixel that nothing was shaded for: dark grey, our choice.
const NOTHING: [f32; 3] = [0.1; 3];

/// Shadings per pixel that have the last colour of Figure 11.
pub(crate) const DEFAULT_MOST: u32 = 8;

/// The colour, sRGB, of a number of shadings per pixel, where `most` (at least 2) or more have the
/// last colour.
pub(crate) fn shading_rate_colour(shadings: u32, most: u32) -> [f32; 3] {
    if shadings == 0 {
        return NOTHING;
    }
    // In whole numbers, so that the default scale has exactly the colours of the figure.
    let steps = u64::from(shadings.min(most) - 1) * (COLOURS.len() as u64 - 1);
    let range = u64::from(most.max(2) - 1);
    let low = usize::try_from(steps / range).unwrap_or(0);
    let share = (steps % range) as f32 / range as f32;
    let [a, b] = [COLOURS[low], COLOURS[(low + 1).min(COLOURS.len() - 1)]];
    std::array::from_fn(|c| a[c] + share * (b[c] - a[c]))
}

/// A picture of the shadings per pixel: dark blue is 1, dark red `most` or more, dark grey none;
/// bright green is 4 where `most` is [`DEFAULT_MOST`].
///
/// `size_px` is width and height; counts come row by row from the top. Pixels without a count are
/// drawn as none.
pub(crate) fn shading_rate_picture(size_px: [u32; 2], shadings: &[u32], most: u32) -> Frame {
    let mut frame = Frame::new(size_px[0], size_px[1]);
    let counts = shadings.iter().copied().chain(std::iter::repeat(0));
    for (pixel, count) in frame.pixels_mut().iter_mut().zip(counts) {
        let [r, g, b] = shading_rate_colour(count, most);
        *pixel = [r, g, b, 1.0];
    }
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_colours() {
        let picture = shading_rate_picture([3, 2], &[0, 1, 4, 8, 1000], DEFAULT_MOST);
        let of = |k: usize| picture.pixels()[k];
        let [r, g, b, a] = of(0);
        assert!(
            r < 0.2 && r.to_bits() == g.to_bits() && g.to_bits() == b.to_bits(),
            "dark grey"
        );
        assert!(a.to_bits() == 1.0_f32.to_bits(), "opaque");
        assert_eq!(of(1), [0.0, 0.0, 0.5, 1.0], "dark blue");
        assert_eq!(of(2), [0.0, 1.0, 0.0, 1.0], "bright green");
        assert_eq!(of(3), [0.5, 0.0, 0.0, 1.0], "dark red");
        assert_eq!(of(4), of(3), "8 or more");
        assert_eq!(of(5), of(0), "no count");
    }

    #[test]
    fn counts_up_to_eight_are_told_apart() {
        let colours: Vec<_> = (0..=8)
            .map(|n| shading_rate_colour(n, DEFAULT_MOST))
            .collect();
        for (i, a) in colours.iter().enumerate() {
            assert!(colours[..i].iter().all(|b| a != b), "{i}");
        }
    }

    #[test]
    fn a_wider_scale_is_interpolated() {
        let of = |count| shading_rate_colour(count, 15);
        assert_eq!(of(15), COLOURS[7]);
        assert_eq!(of(3), COLOURS[1]);
        assert_eq!(of(2), [0.0, 0.125, 0.75]);
        assert_eq!(of(99), of(15));
    }
}
