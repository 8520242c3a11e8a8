//! Colours of samples as words of a colour buffer.

use half::f16;

use crate::memory::codec::BlockFormat;
use quadrille_base::choice;
use quadrille_base::image::srgb::{decode_srgb, encode_srgb};
use quadrille_base::image::{from_8_bit, to_8_bit};
use quadrille_base::math::low;
use quadrille_mesh::frame::picture::over;

choice! {
    /// Format of the colours of samples.
    #[derive(Default)]
    pub enum SampleColour {
        /// 16-bit floats
        #[default]
        Rgba16f = "rgba16f",
        /// 8 bits per channel
        Rgba8 = "rgba8",
    }
}

impl SampleColour {
    /// Format of memory blocks with these colours.
    pub(crate) fn block_format(self) -> BlockFormat {
        match self {
            Self::Rgba16f => BlockFormat::Rgba16F,
            Self::Rgba8 => BlockFormat::Rgba8,
        }
    }

    /// Number of 32-bit words per sample.
    pub fn words(self) -> usize {
        match self {
            Self::Rgba16f => 2,
            Self::Rgba8 => 1,
        }
    }
}

impl SampleColour {
    /// Encodes a linear colour in words; the second word is 0 if the format has one. 8-bit colours are stored in sRGB.
    #[inline]
    pub fn encode(self, colour: [f32; 4]) -> [u32; 2] {
        match self {
            Self::Rgba16f => {
                let [r, g, b, a] = colour.map(|c| u32::from(f16::from_f32(c).to_bits()));
                [r | g << 16, b | a << 16]
            }
            Self::Rgba8 => {
                let [r, g, b, a] = colour;
                let [r, g, b] = encode_srgb([r, g, b]);
                [u32::from_le_bytes([r, g, b, a].map(to_8_bit)), 0]
            }
        }
    }

    /// Decodes words to a colour in linear light.
    #[inline]
    pub fn decode(self, words: [u32; 2]) -> [f32; 4] {
        match self {
            Self::Rgba16f => {
                let half = |word: u32, shift: u32| f16::from_bits(low(word >> shift)).to_f32();
                let [low, high] = words;
                [half(low, 0), half(low, 16), half(high, 0), half(high, 16)]
            }
            Self::Rgba8 => {
                let [r, g, b, a] = words[0].to_le_bytes().map(from_8_bit);
                let [r, g, b] = decode_srgb([r, g, b]);
                [r, g, b, a]
            }
        }
    }

    /// Blends a colour over a stored one and encodes the result. The fourth channel of `colour` is opacity.
    #[inline]
    pub fn blend(self, colour: [f32; 4], stored: [u32; 2]) -> [u32; 2] {
        self.encode(over(colour, self.decode(stored)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_come_back() {
        let colour = [0.0, 0.25, 1.0, 0.5];
        for (format, limit) in [(SampleColour::Rgba16f, 1e-6), (SampleColour::Rgba8, 5e-3)] {
            let words = format.encode(colour);
            let back = format.decode(words);
            assert!((0..4).all(|c| (back[c] - colour[c]).abs() < limit), "{back:?}");
            assert_eq!(format.encode(back), words);
            assert!(format.words() == 2 || words[1] == 0);
        }
    }

    #[test]
    fn blending_weighs_by_opacity() {
        let format = SampleColour::Rgba16f;
        let below = format.encode([1.0, 0.5, 0.0, 1.0]);
        let blended = format.decode(format.blend([0.0, 1.0, 0.0, 0.5], below));
        assert_eq!(blended, [0.5, 0.75, 0.0, 1.0]);
        assert_eq!(format.blend([0.3, 0.2, 0.1, 0.0], below), below);
    }
}
