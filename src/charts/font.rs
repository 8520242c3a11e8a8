//! The font of charts: Liberation Sans, which has the widths of Arial and Helvetica.

use crate::widths::WIDTHS;

/// Font file embedded in pages and PDF files: the characters of Windows-1252, made by `font/make.py`. Its licence is
/// OFL-1.1, in `font/OFL.txt`.
pub(crate) const FILE: &[u8] = include_bytes!("font/charts-sans.ttf");
/// Fonts of SVG files, in order of preference; all have the same widths.
pub(crate) const FAMILIES: &str = "Liberation Sans, Arial, Helvetica, sans-serif";
pub(crate) const FIRST: u8 = 32;
/// Ascent, descent, capital height and box, in thousandths of the size (tables hhea, OS/2 and head of the font file).
pub(crate) const ASCENT: f32 = 905.0;
pub(crate) const DESCENT: f32 = -212.0;
pub(crate) const CAP_HEIGHT: f32 = 688.0;
pub(crate) const BOX: [f32; 4] = [-544.0, -303.0, 1302.0, 980.0];
/// Replacement of characters that the font lacks.
const REPLACEMENT: u8 = b'?';
/// Width of a missing character relative to the text size, as of an ideograph.
const WIDEST: f64 = 1.0;

/// Characters 0x80 to 0x9f of Windows-1252; undefined codes have a space.
const HIGH: &str = "€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ";

/// Code in Windows-1252, PDF's `WinAnsiEncoding`; `None` if the font lacks the character.
fn code(character: char) -> Option<u8> {
    match u32::from(character) {
        code @ (0x20..=0x7e | 0xa0..=0xff) => u8::try_from(code).ok(),
        _ => u8::try_from(0x80 + HIGH.chars().position(|c| c == character)?).ok(),
    }
}

pub(crate) fn codes(text: &str) -> Vec<u8> {
    text.chars().map(|c| code(c).unwrap_or(REPLACEMENT)).collect()
}

pub(crate) fn lacking(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| code(*c).is_none())
}

/// Width of a text divided by its font size.
pub(crate) fn width(text: &str) -> f64 {
    let widths = text.chars().map(|c| match code(c) {
        Some(code) => f64::from(WIDTHS[usize::from(code - FIRST)]) / 1000.0,
        None => WIDEST,
    });
    widths.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The widths and the sizes in this file agree with the font file.
    #[test]
    fn widths_are_those_of_the_font() {
        let face = ttf_parser::Face::parse(FILE, 0).unwrap();
        let scale = 1000.0 / f64::from(face.units_per_em());
        let mut seen = 0;
        for character in (' '..='ÿ').chain(HIGH.chars()) {
            let Some(glyph) = face.glyph_index(character) else {
                assert_eq!(code(character), None, "{character:?}");
                continue;
            };
            let advance = f64::from(face.glyph_hor_advance(glyph).unwrap()) * scale;
            let width = width(&character.to_string()) * 1000.0;
            assert!((width - advance).abs() <= 0.5, "{character:?}");
            seen += 1;
        }
        assert!(seen > 200, "{seen}");
        let scaled = |units: i16| quadrille_base::math::narrow((f64::from(units) * scale).round());
        assert_eq!([scaled(face.ascender()), scaled(face.descender())], [ASCENT, DESCENT]);
        assert_eq!(face.capital_height().map(scaled), Some(CAP_HEIGHT));
    }

    #[test]
    fn characters_have_their_codes() {
        assert_eq!(codes("a×µ…–€Ÿ"), [b'a', 0xd7, 0xb5, 0x85, 0x96, 0x80, 0x9f]);
        assert_eq!(codes("山−"), b"??");
        assert_eq!(lacking("a山−b").collect::<String>(), "山−");
        assert!((width("10") - 1.112).abs() < 1e-9);
    }
}
