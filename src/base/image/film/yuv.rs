//! Y'CbCr of BT.709 in limited range, 4:2:0, 8 bits.
//!
//! Rec. ITU-R BT.709-6, sections 3 and 4: Y' = 0.2126 R' + 0.7152 G' + 0.0722 B', with 16 to 235 for Y' and 16 to 240 for
//! Cb and Cr. Colours are the 8-bit values of the PNG of the same frame. A chroma sample lies on the left one of two
//! columns, between two rows, as in MPEG-2 and its successors; it is filtered by 1 2 1 across and 1 1 down.

use crate::image::Frame;
use crate::image::files::ByteRows;

const FRACTION_BITS: u32 = 16;

/// Factors of R', G', B' in Y': 219/255 of the weights. They add up to 219/255, so white is 235.
const LUMA: [i32; 3] = [11_966, 40_254, 4_064];
/// Factors in Cb and Cr: 224/255 of (B' - Y') / 1.8556 and (R' - Y') / 1.5748. They add up to 0, so greys have no chroma.
const CHROMA: [[i32; 3]; 2] = [[-6_596, -22_188, 28_784], [28_784, -26_145, -2_639]];

const BLACK: i32 = 16;
const NEUTRAL: i32 = 128;

/// Bits of the weights of the chroma filter, which add up to 8.
const FILTER_BITS: u32 = 3;

/// Planes Y', Cb, Cr of a picture, over a background if there is one; chroma planes have half the sides, rounded up.
pub(super) fn planes(frame: &Frame, background: Option<[f32; 3]>) -> Vec<u8> {
    let [width, height] = [frame.width(), frame.height()].map(|side| side as usize);
    let bytes = match background {
        Some(background) => ByteRows::over(frame, background),
        None => ByteRows::opaque(frame),
    };
    let bytes = bytes.to_bytes();
    let (rgb, _) = bytes.as_chunks::<3>();
    let rgb: Vec<_> = rgb.iter().map(|rgb| rgb.map(i32::from)).collect();
    let mut planes: Vec<u8> =
        rgb.iter().map(|rgb| code(LUMA, *rgb, FRACTION_BITS, BLACK)).collect();
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

fn code(factors: [i32; 3], rgb: [i32; 3], bits: u32, offset: i32) -> u8 {
    let sum: i32 = factors.iter().zip(rgb).map(|(f, c)| f * c).sum();
    let rounded = offset + ((sum + (1 << (bits - 1))) >> bits);
    u8::try_from(rounded.clamp(0, 255)).unwrap_or(u8::MAX)
}

/// Number of pixels that share a chroma sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subsampling {
    /// No chroma samples: greys.
    Mono,
    /// One sample per pixel.
    None,
    /// One sample per two columns.
    Columns,
    /// One sample per two columns and two rows.
    Both,
}

impl Subsampling {
    fn chroma_size(self, [width, height]: [u32; 2]) -> [u32; 2] {
        match self {
            Self::Mono => [0, 0],
            Self::None => [width, height],
            Self::Columns => [width.div_ceil(2), height],
            Self::Both => [width.div_ceil(2), height.div_ceil(2)],
        }
    }

    pub(super) fn bytes(self, size: [u32; 2]) -> u64 {
        let area = |[width, height]: [u32; 2]| u64::from(width) * u64::from(height);
        area(size) + 2 * area(self.chroma_size(size))
    }
}

struct CodeRange {
    black: f32,
    luma: f32,
    chroma: f32,
}

const LIMITED: CodeRange = CodeRange { black: 16.0, luma: 219.0, chroma: 224.0 };
const FULL: CodeRange = CodeRange { black: 0.0, luma: 255.0, chroma: 255.0 };

/// Picture of the planes Y', Cb, Cr, by BT.709, since YUV4MPEG2 has no tag for it. Chroma samples are replicated.
pub(super) fn frame_of_planes(
    planes: &[u8],
    size: [u32; 2],
    subsampling: Subsampling,
    is_full_range: bool,
) -> Frame {
    let range = if is_full_range { FULL } else { LIMITED };
    let [width, height] = size.map(|side| side as usize);
    let chroma = subsampling.chroma_size(size).map(|side| side as usize);
    let (luma, rest) = planes.split_at(width * height);
    let (cb, cr) = rest.split_at(chroma[0] * chroma[1]);
    let shift = |own: usize, all: usize| usize::from(own < all);
    let shifts = [shift(chroma[0], width), shift(chroma[1], height)];
    let mut pixels = Vec::with_capacity(luma.len());
    for y in 0..height {
        for x in 0..width {
            let grey = (f32::from(luma[y * width + x]) - range.black) / range.luma;
            let at = (y >> shifts[1]) * chroma[0] + (x >> shifts[0]);
            let centred = |plane: &[u8]| {
                let code = plane.get(at).map_or(NEUTRAL as f32, |&code| f32::from(code));
                (code - NEUTRAL as f32) / range.chroma
            };
            let (blue, red) = match subsampling {
                Subsampling::Mono => (0.0, 0.0),
                _ => (1.8556 * centred(cb), 1.5748 * centred(cr)),
            };
            let green = (0.2126 * red + 0.0722 * blue) / 0.7152;
            let rgb = [grey + red, grey - green, grey + blue].map(|c| c.clamp(0.0, 1.0));
            pixels.push([rgb[0], rgb[1], rgb[2], 1.0]);
        }
    }
    Frame::from_pixels(size[0], size[1], pixels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_give_the_colours_back_where_chroma_is_even() {
        let colours = [[0.1, 0.7, 0.3, 1.0], [1.0, 0.0, 0.0, 1.0], [0.5, 0.5, 0.5, 1.0]];
        for colour in colours {
            let planes = planes(&Frame::from_pixels(5, 3, vec![colour; 15]), None);
            assert_eq!(planes.len() as u64, Subsampling::Both.bytes([5, 3]));
            for pixel in frame_of_planes(&planes, [5, 3], Subsampling::Both, false).pixels() {
                for (a, b) in pixel.iter().zip(&colour) {
                    // Half a code of luma, plus half a code of chroma times 1.8556.
                    assert!((a - b).abs() < 1.5 / 219.0, "{pixel:?} {colour:?}");
                }
            }
        }
    }

    #[test]
    fn a_chroma_sample_stands_for_two_columns() {
        // Two rows of four pixels; 4:2:2.
        let planes = [&[126; 8][..], &[128; 4], &[240, 128, 128, 16]].concat();
        let frame = frame_of_planes(&planes, [4, 2], Subsampling::Columns, false);
        let reds: Vec<bool> = frame.pixels().iter().map(|p| p[0] > p[1] + 0.1).collect();
        let greens: Vec<bool> = frame.pixels().iter().map(|p| p[1] > p[0] + 0.1).collect();
        assert_eq!(reds, [true, true, false, false, false, false, false, false]);
        assert_eq!(greens, [false, false, false, false, false, false, true, true]);
    }
}
