//! Rows of a picture as 8-bit values, for PNG, JPEG and WebP.

use std::borrow::Cow;

use rayon::prelude::*;

use crate::image::{ColourSpace, Frame, to_8_bit};
use crate::math::SimdLevel;

const BAND_ROWS: usize = 16;
/// Pixels converted together: 1 KiB of floats, which stay in the first-level cache.
const GROUP: usize = 64;

pub(crate) struct ByteRows<'a> {
    frame: Cow<'a, Frame>,
    pixels: Pixels,
    level: SimdLevel,
}

#[derive(Clone, Copy)]
enum Pixels {
    /// RGB of a picture whose every alpha rounds to 255.
    Opaque,
    /// RGB over an opaque background.
    Over([f32; 3]),
    /// RGBA: colour divided by alpha, and alpha.
    Straight,
}

impl<'a> ByteRows<'a> {
    /// Rows composited over `background`, as RGB; without a background, RGB if every alpha rounds to 255, else RGBA.
    pub(crate) fn of(frame: &'a Frame, background: Option<[f32; 3]>) -> Self {
        if let Some(background) = background {
            return Self::over(frame, background);
        }
        let frame = frame.to_srgb();
        let pixels = if is_opaque(&frame) { Pixels::Opaque } else { Pixels::Straight };
        Self::new(frame, pixels)
    }

    pub(crate) fn opaque(frame: &'a Frame) -> Self {
        Self::new(frame.to_srgb(), Pixels::Opaque)
    }

    pub(crate) fn straight(frame: &'a Frame) -> Self {
        Self::new(frame.to_srgb(), Pixels::Straight)
    }

    /// Rows composited over `background`, as RGB. A picture in sRGB is not copied.
    pub(crate) fn over(frame: &'a Frame, background: [f32; 3]) -> Self {
        match frame.colour_space() {
            ColourSpace::Srgb => Self::new(Cow::Borrowed(frame), Pixels::Over(background)),
            ColourSpace::Linear => {
                Self::new(Cow::Owned(frame.over(background).to_srgb().into_owned()), Pixels::Opaque)
            }
        }
    }

    fn new(frame: Cow<'a, Frame>, pixels: Pixels) -> Self {
        Self { frame, pixels, level: SimdLevel::best() }
    }

    pub(super) fn has_alpha(&self) -> bool {
        matches!(self.pixels, Pixels::Straight)
    }

    pub(super) fn size(&self) -> [u32; 2] {
        [self.frame.width(), self.frame.height()]
    }

    pub(super) fn pixel_bytes(&self) -> usize {
        if self.has_alpha() { 4 } else { 3 }
    }

    pub(super) fn row_bytes(&self) -> usize {
        self.frame.width() as usize * self.pixel_bytes()
    }

    pub(super) fn write_row(&self, row: usize, out: &mut [u8]) {
        let width = self.frame.width() as usize;
        let pixels = &self.frame.pixels()[row * width..][..width];
        match self.pixels {
            Pixels::Opaque => self.level.run(
                #[inline(always)]
                || write_opaque(pixels, out),
            ),
            Pixels::Over(background) => self.level.run(
                #[inline(always)]
                || write_over(pixels, background, out),
            ),
            Pixels::Straight => {
                for (pixel, out) in pixels.iter().zip(out.chunks_exact_mut(4)) {
                    out.copy_from_slice(&straight_8_bit(*pixel));
                }
            }
        }
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let row_bytes = self.row_bytes();
        let mut bytes = vec![0; row_bytes * self.frame.height() as usize];
        bytes.par_chunks_mut((BAND_ROWS * row_bytes).max(1)).enumerate().for_each(
            |(band, bytes)| {
                for (row, out) in bytes.chunks_exact_mut(row_bytes).enumerate() {
                    self.write_row(band * BAND_ROWS + row, out);
                }
            },
        );
        bytes
    }
}

pub(super) fn is_opaque(frame: &Frame) -> bool {
    frame.pixels().iter().all(|p| to_8_bit(p[3]) == u8::MAX)
}

/// Colour divided by alpha, and alpha, as 8 bits. Where alpha rounds to 0, colour is 0.
fn straight_8_bit([r, g, b, a]: [f32; 4]) -> [u8; 4] {
    let alpha = to_8_bit(a);
    if alpha == 0 {
        return [0; 4];
    }
    // Alpha above 1 is written as 1.
    let divisor = a.min(1.0);
    let [r, g, b] = [r, g, b].map(|c| to_8_bit(c / divisor));
    [r, g, b, alpha]
}

#[inline(always)]
fn write_opaque(pixels: &[[f32; 4]], out: &mut [u8]) {
    for (pixels, out) in pixels.chunks(GROUP).zip(out.chunks_mut(GROUP * 3)) {
        let mut values = [[0.0; 4]; GROUP];
        values[..pixels.len()].copy_from_slice(pixels);
        write_rgb(&values, out);
    }
}

#[inline(always)]
fn write_over(pixels: &[[f32; 4]], [r, g, b]: [f32; 3], out: &mut [u8]) {
    let background = [r, g, b, 0.0];
    for (pixels, out) in pixels.chunks(GROUP).zip(out.chunks_mut(GROUP * 3)) {
        let mut values = [[0.0; 4]; GROUP];
        for (values, pixel) in values.iter_mut().zip(pixels) {
            let transmittance = 1.0 - pixel[3];
            for channel in 0..4 {
                values[channel] = pixel[channel] + transmittance * background[channel];
            }
        }
        write_rgb(&values, out);
    }
}

/// Rounds a whole group, which fills vectors of any width, and drops the fourth value of each pixel.
#[inline(always)]
fn write_rgb(values: &[[f32; 4]; GROUP], out: &mut [u8]) {
    let mut codes = [[0; 4]; GROUP];
    for (code, value) in codes.as_flattened_mut().iter_mut().zip(values.as_flattened()) {
        *code = to_8_bit(*value);
    }
    for (out, code) in out.chunks_exact_mut(3).zip(&codes) {
        out.copy_from_slice(&code[..3]);
    }
}
