//! A canvas for maps and charts: rectangles, and text in a bitmap font.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positions on a bar of a few thousand pixels"
)]

use font8x8::{BASIC_FONTS, UnicodeFonts};

use quadrille_base::image::Frame;

pub(super) const CHARACTER_PX: usize = 8;

const GROUND: [u8; 3] = [24, 24, 27];
pub(super) const INK: [u8; 3] = [228, 228, 231];

/// Lit pixels of `text` in a bitmap font, from the origin to the right: column and row of each.
/// Characters beyond ASCII are blank.
fn lit_pixels(text: &str) -> impl Iterator<Item = (usize, usize)> {
    text.chars().enumerate().flat_map(|(index, c)| {
        // The leftmost column is the lowest bit of a row.
        let rows = BASIC_FONTS.get(c).unwrap_or_default();
        (0..CHARACTER_PX * CHARACTER_PX)
            .map(|i| (i % CHARACTER_PX, i / CHARACTER_PX))
            .filter(move |(x, y)| rows[*y] >> x & 1 == 1)
            .map(move |(x, y)| (index * CHARACTER_PX + x, y))
    })
}

pub(super) fn width_px(text: &str) -> usize {
    text.chars().count() * CHARACTER_PX
}

pub(super) struct Canvas {
    pub(super) width: usize,
    height: usize,
    pixels: Vec<[u8; 3]>,
}

impl Canvas {
    pub(super) fn new(width: usize, height: usize) -> Self {
        Self { width, height, pixels: vec![GROUND; width * height] }
    }

    pub(super) fn fill(
        &mut self,
        [x, y]: [usize; 2],
        [width, height]: [usize; 2],
        colour: [u8; 3],
    ) {
        let columns = x.min(self.width)..(x + width).min(self.width);
        for row in y.min(self.height)..(y + height).min(self.height) {
            self.pixels[row * self.width..][columns.clone()].fill(colour);
        }
    }

    pub(super) fn write(&mut self, text: &str, [x, y]: [usize; 2], unit: usize) {
        for (column, row) in lit_pixels(text) {
            self.fill([x + column * unit, y + row * unit], [unit, unit], INK);
        }
    }

    /// Draws a mark below a bar at `position` of it, 0 to 1, with its number centred below.
    pub(super) fn tick(
        &mut self,
        position: f32,
        text: &str,
        [bar_left, bar_width]: [usize; 2],
        y: usize,
        unit: usize,
    ) {
        let x = bar_left + (position * (bar_width - 1) as f32) as usize;
        let mark = unit.div_ceil(2);
        self.fill([x.saturating_sub(mark / 2), y], [mark, 3 * unit], INK);
        self.write(text, [x.saturating_sub(width_px(text) * unit / 2), y + 5 * unit], unit);
    }

    pub(super) fn into_frame(self) -> Frame {
        let size = [self.width, self.height].map(|side| u32::try_from(side).unwrap_or(u32::MAX));
        opaque(size, self.pixels.into_iter())
    }
}

/// The opaque picture of `colours`, row by row.
///
/// # Panics
/// When the number of colours does not match the size.
pub(super) fn opaque([width, height]: [u32; 2], colours: impl Iterator<Item = [u8; 3]>) -> Frame {
    let pixels = colours.map(|colour| {
        let [r, g, b] = colour.map(|c| f32::from(c) / 255.0);
        [r, g, b, 1.0]
    });
    Frame::from_pixels(width, height, pixels.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_stand_side_by_side() {
        let one: Vec<_> = lit_pixels("1").collect();
        assert!(!one.is_empty() && one.iter().all(|(x, y)| *x < 8 && *y < 8));
        let moved: Vec<_> = one.iter().map(|(x, y)| (x + 8, *y)).collect();
        assert_eq!(lit_pixels(" 1").collect::<Vec<_>>(), moved);
        assert_eq!((width_px(""), width_px("12")), (0, 16));
        assert_eq!(lit_pixels("é").count(), 0);
    }
}
