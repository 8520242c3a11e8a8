//! Pictures in memory.

use crate::math::buffer::Buffer;

/// A picture of premultiplied RGBA in f32, not clamped, with rows from the top.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    width: u32,
    height: u32,
    pixels: Buffer<[f32; 4]>,
}

impl Frame {
    /// Creates a transparent black picture.
    pub fn new(width: u32, height: u32) -> Self {
        Self {
            width,
            height,
            pixels: Buffer::zeroed(width as usize * height as usize),
        }
    }

    /// Creates a picture from its pixels, row by row from the top.
    ///
    /// # Panics
    /// When there are not `width * height` pixels.
    pub fn from_pixels(width: u32, height: u32, pixels: Vec<[f32; 4]>) -> Self {
        assert_eq!(
            pixels.len(),
            width as usize * height as usize,
            "pixels of {width} x {height}"
        );
        Self {
            width,
            height,
            pixels: pixels.into(),
        }
    }

    /// Width in pixels.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Height in pixels.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// The pixels, premultiplied RGBA, row by row from the top.
    pub fn pixels(&self) -> &[[f32; 4]] {
        &self.pixels
    }

    /// The pixels, mutable, in the same order.
    pub fn pixels_mut(&mut self) -> &mut [[f32; 4]] {
        &mut self.pixels
    }

    /// Composites the picture over an opaque background: `C + (1 - a) * background`, with alpha 1.
    pub fn over(&self, background: [f32; 3]) -> Self {
        let pixels = self.pixels.iter().map(|&[r, g, b, a]| {
            let t = 1.0 - a;
            [
                r + t * background[0],
                g + t * background[1],
                b + t * background[2],
                1.0,
            ]
        });
        Self::from_pixels(self.width, self.height, pixels.collect())
    }
}
