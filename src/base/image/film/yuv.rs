//! Y'CbCr of BT.709 in limited range, 4:2:0, 8 bits.
//!
//! Rec. ITU-R BT.709-6, sections 3 and 4: Y' = 0.2126 R' + 0.7152 G' + 0.0722 B', with 16 to 235 for Y' and
//! 16 to 240 for Cb and Cr. Colours are the 8-bit values of the PNG of the same frame. A chroma sample stands
//! at the left one of two columns, between two rows, as MPEG-2 and its successors have it; it is filtered
//! by 1 2 1 across and 1 1 down.

use crate::image::{Frame, to_8_bit};

/// Bits behind the point of the factors.
const FRACTION_BITS: u32 = 16;

/// Factors of R', G', B' in Y': 219/255 of the weights. They add up to 219/255, so white is 235.
const LUMA: [i32; 3] = [11_966, 40_254, 4_064];
/// Factors in Cb and Cr: 224/255 of (B' - Y') / 1.8556 and (R' - Y') / 1.5748. They add up to 0, so greys
/// have none.
const CHROMA: [[i32; 3]; 2] = [[-6_596, -22_188, 28_784], [28_784, -26_145, -2_639]];

const BLACK: i32 = 16;
const NEUTRAL: i32 = 128;

/// Bits of the weights of the chroma filter, which add up to 8.
const FILTER_BITS: u32 = 3;

/// The planes Y', Cb, Cr of a picture without alpha; chroma planes have half the sides, rounded up.
pub(super) fn planes(frame: &Frame) -> Vec<u8> {
    let frame = frame.to_srgb();
    let [width, height] = [frame.width(), frame.height()].map(|side| side as usize);
    let rgb = frame.pixels().iter();
    let rgb: Vec<[i32; 3]> = rgb
        .map(|p| [p[0], p[1], p[2]].map(|c| i32::from(to_8_bit(c))))
        .collect();
    let mut planes: Vec<u8> = rgb
        .iter()
        .map(|rgb| code(LUMA, *rgb, FRACTION_BITS, BLACK))
        .collect();
    for factors in CHROMA {
        for y in (0..height).step_by(2) {
            let rows = [y, (y + 1).min(height - 1)];
            planes.extend((0..width).step_by(2).map(|x| {
                let columns = [x.saturating_sub(1), x, x, (x + 1).min(width - 1)];
                let mut sum = [0; 3];
                for row in rows {
                    for column in columns {
                        let pixel = rgb[row * width + column];
                        sum = [0, 1, 2].map(|c| sum[c] + pixel[c]);
                    }
                }
                code(factors, sum, FRACTION_BITS + FILTER_BITS, NEUTRAL)
            }));
        }
    }
    planes
}

/// `offset` plus the rounded product of factors and colours.
fn code(factors: [i32; 3], rgb: [i32; 3], bits: u32, offset: i32) -> u8 {
    let sum: i32 = factors.iter().zip(rgb).map(|(f, c)| f * c).sum();
    let rounded = offset + ((sum + (1 << (bits - 1))) >> bits);
    u8::try_from(rounded.clamp(0, 255)).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(width: u32, height: u32, pixel: impl Fn(u32, u32) -> [f32; 3]) -> Frame {
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let pixels = pixels.map(|(x, y)| {
            let [r, g, b] = pixel(x, y);
            [r, g, b, 1.0]
        });
        Frame::from_pixels(width, height, pixels.collect())
    }

    /// BT.709-6, 3.5 and 4.6, in f64.
    fn expected([r, g, b]: [f64; 3]) -> [f64; 3] {
        let y = 0.2126 * r + 0.7152 * g + 0.0722 * b;
        [
            16.0 + 219.0 * y,
            128.0 + 224.0 * (b - y) / 1.8556,
            128.0 + 224.0 * (r - y) / 1.5748,
        ]
    }

    #[test]
    fn colours_are_those_of_the_standard() {
        for r in 0..6_u8 {
            for g in 0..6_u8 {
                for b in 0..6_u8 {
                    let rgb = [r, g, b].map(|c| f32::from(c) / 5.0);
                    let planes = planes(&frame(2, 2, |_, _| rgb));
                    let exact = expected(rgb.map(f64::from));
                    for (code, exact) in [planes[0], planes[4], planes[5]].into_iter().zip(exact) {
                        assert!(
                            (f64::from(code) - exact).abs() < 0.51,
                            "{rgb:?}: {code} {exact}"
                        );
                    }
                }
            }
        }
        assert_eq!(planes(&frame(1, 1, |_, _| [1.0; 3])), [235, 128, 128]);
        assert_eq!(planes(&frame(1, 1, |_, _| [0.0; 3])), [16, 128, 128]);
    }

    #[test]
    fn odd_sides_round_chroma_up_and_the_filter_is_1_2_1() {
        let planes = planes(&frame(5, 3, |x, y| {
            if x == 1 && y == 0 {
                [0.0, 0.0, 1.0]
            } else {
                [0.0; 3]
            }
        }));
        assert_eq!(planes.len(), 15 + 2 * 6);
        // A blue pixel at column 1 gives a quarter of a row, an eighth of the samples beside it.
        let eighth = 128.0 + 224.0 * (1.0 - 0.0722) / 1.8556 / 8.0;
        let cb = &planes[15..21];
        assert!(
            (f64::from(cb[0]) - eighth).abs() < 0.51 && cb[0] == cb[1],
            "{cb:?}"
        );
        assert_eq!(cb[2..], [128; 4]);
    }
}
