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
