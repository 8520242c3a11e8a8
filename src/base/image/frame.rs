//! Pictures in memory.

use std::borrow::Cow;

use super::memory::{FRAME_BYTES, check_memory};
use super::srgb::{decode_srgb, encode_srgb};
use crate::error::{Error, Result};
use crate::math::buffer::Buffer;

/// Colour space of a picture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ColourSpace {
    /// Values for a display, on the sRGB curve. Splats are trained on such values and blended without decoding them.
    #[default]
    Srgb,
    /// Linear light with the primaries of sRGB: 1 is white, and highlights may be brighter.
    Linear,
}

/// A picture of premultiplied RGBA in f32, not clamped, with rows from the top.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    width: u32,
    height: u32,
    pixels: Buffer<[f32; 4]>,
    colour_space: ColourSpace,
}

impl Frame {
    /// Creates a transparent black picture in sRGB, of a size that is known to fit in memory.
    ///
    /// # Panics
    /// When memory cannot hold the picture; [`Frame::try_new`] returns an error instead.
    pub fn new(width: u32, height: u32) -> Self {
        Self {
            width,
            height,
            pixels: Buffer::zeroed(width as usize * height as usize),
            colour_space: ColourSpace::Srgb,
        }
    }

    /// As [`Frame::new`], for a size that a user chose.
    ///
    /// # Errors
    /// [`Error::Argument`] for a picture that does not fit in the available memory.
    ///
    /// # Examples
    /// ```
    /// use quadrille_base::image::Frame;
    ///
    /// assert_eq!(Frame::try_new(640, 480)?.pixels().len(), 640 * 480);
    /// assert!(Frame::try_new(u32::MAX, u32::MAX).is_err());
    /// # Ok::<(), quadrille_base::Error>(())
    /// ```
    pub fn try_new(width: u32, height: u32) -> Result<Self> {
        check_memory([width, height], FRAME_BYTES)?;
        Ok(Self::new(width, height))
    }

    /// Replaces the picture by transparent black of another size; keeps the pixels if the size is the same.
    pub fn resize(&mut self, width: u32, height: u32) {
        if [self.width, self.height] != [width, height] {
            *self = Self::new(width, height);
        }
    }

    /// As [`Frame::from_pixels`], for pixels and a size that a user chose.
    ///
    /// # Errors
    /// [`Error::Argument`] when there are not `width * height` pixels.
    pub fn try_from_pixels(width: u32, height: u32, pixels: Vec<[f32; 4]>) -> Result<Self> {
        let count = u64::from(width) * u64::from(height);
        let expected = format_args!("{count} for a picture of {width} x {height}");
        Error::refuse_if(pixels.len() as u64 != count, "pixels", expected, pixels.len())?;
        Ok(Self::from_pixels(width, height, pixels))
    }

    /// Creates a picture in sRGB from its pixels, row by row from the top.
    ///
    /// # Panics
    /// When there are not `width * height` pixels; [`Frame::try_from_pixels`] returns an error instead.
    pub fn from_pixels(width: u32, height: u32, pixels: Vec<[f32; 4]>) -> Self {
        assert_eq!(pixels.len(), width as usize * height as usize, "pixels of {width} x {height}");
        Self { width, height, pixels: pixels.into(), colour_space: ColourSpace::Srgb }
    }

    /// Reinterprets the pixels as colours of another space, without converting them.
    pub fn taken_as(mut self, colour_space: ColourSpace) -> Self {
        self.colour_space = colour_space;
        self
    }

    /// Returns the colour space: sRGB unless [`Frame::taken_as`] has set it.
    pub fn colour_space(&self) -> ColourSpace {
        self.colour_space
    }

    /// The picture in sRGB: itself, or its linear light clamped to 0 to 1 and encoded.
    pub fn to_srgb(&self) -> Cow<'_, Self> {
        if self.colour_space == ColourSpace::Srgb {
            return Cow::Borrowed(self);
        }
        let pixels = self.pixels.iter().map(|&[r, g, b, a]| {
            // The curve applies to straight colours, so alpha is divided out first.
            let straight = if a > 0.0 { [r, g, b].map(|c| c / a) } else { [r, g, b] };
            let alpha = if a > 0.0 { a } else { 1.0 };
            let [r, g, b] = encode_srgb(straight).map(|c| c * alpha);
            [r, g, b, a]
        });
        Cow::Owned(Self::from_pixels(self.width, self.height, pixels.collect()))
    }

    /// The picture in linear light: itself, or its sRGB decoded.
    pub fn to_linear(&self) -> Cow<'_, Self> {
        if self.colour_space == ColourSpace::Linear {
            return Cow::Borrowed(self);
        }
        let pixels = self.pixels.iter().map(|&[r, g, b, a]| {
            let alpha = if a > 0.0 { a } else { 1.0 };
            let [r, g, b] = decode_srgb([r, g, b].map(|c| c / alpha)).map(|c| c * alpha);
            [r, g, b, a]
        });
        let linear = Self::from_pixels(self.width, self.height, pixels.collect());
        Cow::Owned(linear.taken_as(ColourSpace::Linear))
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

    /// Composites over an opaque sRGB background, in the picture's colour space: `C + (1 - a) * background`, alpha 1.
    pub fn over(&self, background: [f32; 3]) -> Self {
        let background = match self.colour_space {
            ColourSpace::Srgb => background,
            ColourSpace::Linear => decode_srgb(background),
        };
        let mut over = self.clone();
        composite_over(&mut over.pixels, background);
        over
    }
}

/// Composites premultiplied pixels over an opaque background in their colour space, as [`Frame::over`].
pub fn composite_over(pixels: &mut [[f32; 4]], background: [f32; 3]) {
    for pixel in pixels {
        let [r, g, b, a] = *pixel;
        let t = 1.0 - a;
        *pixel = [r + t * background[0], g + t * background[1], b + t * background[2], 1.0];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_sizes_are_errors() {
        let error = Frame::try_new(u32::MAX, u32::MAX).unwrap_err().to_string();
        assert!(error.contains("fits in memory"), "{error}");
        let error = Frame::try_from_pixels(3, 2, vec![[0.0; 4]; 5]).unwrap_err();
        let text = "pixels: expected 6 for a picture of 3 x 2, found 5";
        assert_eq!(error.to_string(), text);
        let frame = Frame::try_from_pixels(3, 2, vec![[0.5; 4]; 6]).unwrap();
        assert_eq!(frame, Frame::from_pixels(3, 2, vec![[0.5; 4]; 6]));
    }
}
