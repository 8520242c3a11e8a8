//! Orientation of a photo: how the stored rows and columns are turned to show the scene upright.

use std::path::Path;

use super::Frame;
use crate::error::{Error, Result};

/// Orientation of the EXIF standard (CIPA DC-008, tag 0x0112), 1 to 8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExifOrientation {
    is_transposed: bool,
    /// Whether columns and rows of the upright picture run opposite to the stored ones.
    is_mirrored: [bool; 2],
}

impl ExifOrientation {
    /// The stored picture is upright: rows from the top, columns from the left.
    pub const UPRIGHT: Self = Self { is_transposed: false, is_mirrored: [false; 2] };

    /// Orientation of a number of the standard; unknown numbers count as upright, as in photo readers.
    pub(crate) fn of_exif(number: u8) -> Self {
        let (is_transposed, is_mirrored) = match number {
            2 => (false, [true, false]),
            3 => (false, [true, true]),
            4 => (false, [false, true]),
            5 => (true, [false, false]),
            6 => (true, [true, false]),
            7 => (true, [true, true]),
            8 => (true, [false, true]),
            _ => (false, [false, false]),
        };
        Self { is_transposed, is_mirrored }
    }

    /// Size (width, height) of the upright picture of a stored size.
    pub(crate) fn upright_size(self, [width, height]: [u32; 2]) -> [u32; 2] {
        if self.is_transposed { [height, width] } else { [width, height] }
    }

    /// Turns a stored picture upright.
    pub fn upright(self, stored: Frame) -> Frame {
        if self == Self::UPRIGHT {
            return stored;
        }
        let size = [stored.width(), stored.height()];
        let [width, height] = self.upright_size(size);
        let mut pixels = Vec::with_capacity(stored.pixels().len());
        for y in 0..height {
            for x in 0..width {
                let x = if self.is_mirrored[0] { width - 1 - x } else { x };
                let y = if self.is_mirrored[1] { height - 1 - y } else { y };
                let [x, y] = if self.is_transposed { [y, x] } else { [x, y] };
                pixels.push(stored.pixels()[y as usize * size[0] as usize + x as usize]);
            }
        }
        Frame::from_pixels(width, height, pixels).taken_as(stored.colour_space())
    }
}

/// Whether two sizes (width, height) can be one picture at two scales: for some scale, the sides of the larger size are
/// within a pixel of the smaller size, since programs round sides up, down or to the nearest.
pub fn have_equal_proportions(a: [u32; 2], b: [u32; 2]) -> bool {
    let [large, small] = if a[0] >= b[0] { [a, b] } else { [b, a] };
    let scales = [0, 1].map(|side| {
        let at = |pixels: f64| (f64::from(small[side]) + pixels) / f64::from(large[side]);
        [at(-1.0), at(1.0)]
    });
    let [[least, most], [other_least, other_most]] = scales;
    least <= other_most && other_least <= most
}

/// Refuses the picture of a file, of `found` pixels, that has other proportions than `size`.
pub fn check_proportions(path: &Path, found: [u32; 2], size: [u32; 2]) -> Result<()> {
    if have_equal_proportions(found, size) {
        return Ok(());
    }
    let expected = format!("the proportions of {} x {} pixels", size[0], size[1]);
    Err(Error::malformed(path, "picture size", expected, format!("{} x {}", found[0], found[1])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_stored_row_and_column_lie_where_the_standard_says() {
        // Corners of the stored picture: row 0 is a b, row 2 is c d.
        let stored = [1.0, 2.0, 5.0, 6.0, 3.0, 4.0].map(|value| [value; 4]);
        let stored = Frame::from_pixels(2, 3, stored.to_vec());
        // Number of the standard, and the corners of the upright picture, row by row.
        let expected = [
            (1, [1.0, 2.0, 3.0, 4.0]),
            (2, [2.0, 1.0, 4.0, 3.0]),
            (3, [4.0, 3.0, 2.0, 1.0]),
            (4, [3.0, 4.0, 1.0, 2.0]),
            (5, [1.0, 3.0, 2.0, 4.0]),
            (6, [3.0, 1.0, 4.0, 2.0]),
            (7, [4.0, 2.0, 3.0, 1.0]),
            (8, [2.0, 4.0, 1.0, 3.0]),
        ];
        for (number, corners) in expected {
            let orientation = ExifOrientation::of_exif(number);
            let upright = orientation.upright(stored.clone());
            let [width, height] = orientation.upright_size([2, 3]);
            assert_eq!([upright.width(), upright.height()], [width, height]);
            let at = |x: u32, y: u32| upright.pixels()[(y * width + x) as usize][0];
            let (right, bottom) = (width - 1, height - 1);
            let found = [at(0, 0), at(right, 0), at(0, bottom), at(right, bottom)];
            assert_eq!(found, corners, "orientation {number}");
        }
    }

    #[test]
    fn proportions_agree_to_a_pixel() {
        for (a, b, expected) in [
            ([5025, 3312], [1256, 828], true),
            ([1957, 1091], [980, 545], true),
            ([980, 545], [980, 546], true),
            ([980, 545], [545, 980], false),
            ([640, 480], [640, 360], false),
            ([100, 100], [1000, 1030], false),
        ] {
            assert_eq!(have_equal_proportions(a, b), expected, "{a:?} {b:?}");
        }
    }
}
