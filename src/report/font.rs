//! Text in pictures: a bitmap font of 8 x 8 pixels.

use font8x8::{BASIC_FONTS, UnicodeFonts};

/// Rows and columns of a character.
const SIDE_PX: usize = 8;

/// The lit pixels of `text` set from the origin to the right: column and row of each. Characters
/// beyond ASCII are left blank.
pub(crate) fn pixels(text: &str) -> impl Iterator<Item = (usize, usize)> {
    text.chars().enumerate().flat_map(|(index, c)| {
        // The leftmost column is the lowest bit of a row.
        let rows = BASIC_FONTS.get(c).unwrap_or_default();
        (0..SIDE_PX * SIDE_PX)
            .map(|i| (i % SIDE_PX, i / SIDE_PX))
            .filter(move |(x, y)| rows[*y] >> x & 1 == 1)
            .map(move |(x, y)| (index * SIDE_PX + x, y))
    })
}

/// Columns that `text` takes.
pub(crate) fn width_px(text: &str) -> usize {
    text.chars().count() * SIDE_PX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_stand_side_by_side() {
        let one: Vec<_> = pixels("1").collect();
        assert!(!one.is_empty() && one.iter().all(|(x, y)| *x < 8 && *y < 8));
        let moved: Vec<_> = one.iter().map(|(x, y)| (x + 8, *y)).collect();
        assert_eq!(pixels(" 1").collect::<Vec<_>>(), moved);
        assert_eq!((width_px(""), width_px("12")), (0, 16));
        assert_eq!(pixels("é").count(), 0);
    }
}
