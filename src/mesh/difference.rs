//! Pictures of a difference that is too small to see.

use crate::error::{Error, Result};
use crate::image::Frame;

/// By how much Figure 1 of "A Pixel Merge Unit" scales its differences.
pub const SHOWN_SCALE: f32 = 100.0;

/// `|a - b| * scale` of red, green and blue, clamped to 0..=1, alpha 1; a difference that is not a
/// number is white.
///
/// # Errors
/// [`Error::Caller`] when the pictures differ in size.
pub fn scaled_difference(a: &Frame, b: &Frame, scale: f32) -> Result<Frame> {
    let size = |frame: &Frame| format!("{} x {}", frame.width(), frame.height());
    if (a.width(), a.height()) != (b.width(), b.height()) {
        return Err(Error::caller("pictures to compare", size(a), size(b)));
    }
    let pixels = a.pixels().iter().zip(b.pixels()).map(|(a, b)| {
        // `min` gives 1 where the difference is not a number.
        let [r, g, b] = [0, 1, 2].map(|c| ((a[c] - b[c]).abs() * scale).min(1.0));
        [r, g, b, 1.0]
    });
    Ok(Frame::from_pixels(a.width(), a.height(), pixels.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_and_clamps() {
        let a = Frame::from_pixels(2, 1, vec![[0.5, 0.25, 0.0, 1.0], [f32::NAN, 0.0, 0.0, 0.0]]);
        let b = Frame::from_pixels(2, 1, vec![[0.5, 0.2578125, 1.0, 0.0], [0.0; 4]]);
        let shown = scaled_difference(&a, &b, 64.0).unwrap();
        assert_eq!(shown.pixels()[0], [0.0, 0.5, 1.0, 1.0]);
        assert_eq!(shown.pixels()[1], [1.0, 0.0, 0.0, 1.0], "stands out");
        assert_eq!(scaled_difference(&b, &a, 64.0).unwrap(), shown);
        assert!(scaled_difference(&a, &Frame::new(1, 2), 1.0).is_err());
    }
}
