//! Counts of shaded fragments as a heat picture, in the colours of Figure 11 of "Reducing Shading
//! on GPUs using Quad-Fragment Merging".

use crate::image::Frame;

/// Colours, sRGB, of 1 to 8 fragments a pixel. The paper names three: dark blue is 1, bright green
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

/// The colour, sRGB, of so many shaded fragments a pixel.
#[must_use]
pub fn shading_rate_colour(fragments: u32) -> [f32; 3] {
    match fragments {
        0 => NOTHING,
        n => COLOURS[COLOURS.len().min(n as usize) - 1],
    }
}

/// A picture of the fragments shaded for each pixel: dark blue is 1, bright green 4, dark red 8 or
/// more, dark grey none.
///
/// `size_px` is width and height; counts come row by row from the top. Pixels without a count are
/// drawn as none.
#[must_use]
pub fn shading_rate_picture(size_px: [u32; 2], fragments_per_pixel: &[u32]) -> Frame {
    let mut frame = Frame::new(size_px[0], size_px[1]);
    let counts = fragments_per_pixel.iter().copied();
    let counts = counts.chain(std::iter::repeat(0));
    for (pixel, count) in frame.pixels_mut().iter_mut().zip(counts) {
        let [r, g, b] = shading_rate_colour(count);
        *pixel = [r, g, b, 1.0];
    }
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_colours() {
        let picture = shading_rate_picture([3, 2], &[0, 1, 4, 8, 1000]);
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
        let colours: Vec<_> = (0..=8).map(shading_rate_colour).collect();
        for (i, a) in colours.iter().enumerate() {
            assert!(colours[..i].iter().all(|b| a != b), "{i}");
        }
    }
}
