//! Crops of pictures, enlarged by whole factors.

use crate::error::{Error, Result};
use crate::image::Frame;

/// Largest side of an enlarged crop, and of a camera's picture.
const MAX_SIDE_PX: u32 = 1 << 15;

/// A rectangle of pixels, and the factor by which it is enlarged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CropArea {
    /// Column and row of the top left pixel.
    pub corner: [u32; 2],
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Side of an enlarged pixel in pixels.
    pub zoom: u32,
}

impl CropArea {
    /// Parses `X,Y,W,H` or `X,Y,W,H,ZOOM`.
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
        let numbers: Option<Vec<u32>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
        let (x, y, w, h, zoom) = match numbers.as_deref() {
            Some(&[x, y, w, h]) => (x, y, w, h, 1),
            Some(&[x, y, w, h, zoom]) => (x, y, w, h, zoom),
            _ => return Err("expected four or five whole numbers as in 10,20,64,40,8".to_owned()),
        };
        let fits =
            |side: u32| side > 0 && u64::from(side) * u64::from(zoom) <= u64::from(MAX_SIDE_PX);
        if zoom == 0 || !fits(w) || !fits(h) {
            return Err(format!("expected an enlarged size of 1 to {MAX_SIDE_PX} pixels per side"));
        }
        Ok(Self { corner: [x, y], size: [w, h], zoom })
    }

    /// Cuts the area out of `frame` and enlarges it.
    ///
    /// # Errors
    /// [`Error::Argument`] when the area extends beyond the frame.
    pub fn of(&self, frame: &Frame) -> Result<Frame> {
        let (pixels, [width, height]) =
            self.of_values(frame.pixels(), [frame.width(), frame.height()])?;
        Ok(Frame::from_pixels(width, height, pixels).taken_as(frame.colour_space()))
    }

    /// Cuts the area out of values per pixel, row by row, of a picture of `size`, and enlarges it. Returns the values with their
    /// size.
    ///
    /// # Errors
    /// [`Error::Argument`] when the area extends beyond the picture.
    pub fn of_values<T: Copy>(&self, values: &[T], size: [u32; 2]) -> Result<(Vec<T>, [u32; 2])> {
        let ([x0, y0], [w, h]) = (self.corner, self.size);
        let is_inside = |axis: usize| {
            u64::from(self.corner[axis]) + u64::from(self.size[axis]) <= u64::from(size[axis])
        };
        if !is_inside(0) || !is_inside(1) {
            return Err(Error::argument(
                "crop",
                format!("a rectangle inside the {} by {} pixels", size[0], size[1]),
                format!("{x0},{y0},{w},{h}"),
            ));
        }
        let (width, height) = (w * self.zoom, h * self.zoom);
        let source = |x: u32, y: u32| {
            let at = (y0 + y / self.zoom) * size[0] + x0 + x / self.zoom;
            values[at as usize]
        };
        let rows = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        Ok((rows.map(|(x, y)| source(x, y)).collect(), [width, height]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_enlarged() {
        let pixel = |v: u8| [f32::from(v), 0.0, 0.0, 1.0];
        let frame = Frame::from_pixels(3, 2, (0..6).map(pixel).collect());
        let part = CropArea::parse("1,0,2,2,2").unwrap().of(&frame).unwrap();
        assert_eq!((part.width(), part.height()), (4, 4));
        let reds: Vec<_> = part.pixels().iter().map(|p| p[0]).collect();
        assert_eq!(reds[..8], [1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0, 2.0]);
        assert_eq!(reds[12..], [4.0, 4.0, 5.0, 5.0]);
        assert!(CropArea::parse("2,0,2,2").unwrap().of(&frame).is_err());
        for wrong in ["", "1,2,3", "0,0,0,1", "0,0,1,1,0", "0,0,9,9,99999"] {
            assert!(CropArea::parse(wrong).is_err(), "{wrong}");
        }
    }
}
