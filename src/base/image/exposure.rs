//! Exposures: affine maps of the colours of a picture.

use super::frame::Frame;

/// Applies an exposure that the reference trainer learned for a picture: `c` becomes `c[0] rows[0][k] + c[1] rows[1][k] +
/// c[2] rows[2][k] + rows[k][3]`, clamped to 0 to 1, as its renderer does. The input is composited over its background
/// already; the result is opaque.
pub fn exposed(picture: &Frame, rows: &[[f32; 4]; 3]) -> Frame {
    let pixel = |&[r, g, b, _]: &[f32; 4]| {
        let channel = |k: usize| r * rows[0][k] + g * rows[1][k] + b * rows[2][k] + rows[k][3];
        let [r, g, b] = [0, 1, 2].map(|k| channel(k).clamp(0.0, 1.0));
        [r, g, b, 1.0]
    };
    let pixels = picture.pixels().iter().map(pixel).collect();
    Frame::from_pixels(picture.width(), picture.height(), pixels).taken_as(picture.colour_space())
}
