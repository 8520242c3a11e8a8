//! The sRGB curve between stored colours and linear light, in which colours are averaged and lit (IEC 61966-2-1).

const SLOPE: f32 = 12.92;
const OFFSET: f32 = 0.055;
const EXPONENT: f32 = 2.4;
const ENCODED_BEND: f32 = 0.040_45;
const LINEAR_BEND: f32 = 0.003_130_8;
/// A base below the bend, where the curve is a line.
const LEAST_BASE: f32 = 0.05;
/// Four fifths of the bits of 1.0: what a fifth of a number's bits lacks to be about the bits of its fifth root.
const FOUR_FIFTHS_OF_ONE: u32 = 0x3f80_0000 / 5 * 4;

/// Luminance of a linear colour, by the weights of Rec. ITU-R BT.709-6.
#[inline]
pub fn luminance([red, green, blue]: [f32; 3]) -> f32 {
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/// Converts linear light, clamped to 0 to 1, to sRGB. The samples of a pixel are averaged in linear light before, as in a
/// render target of an sRGB format.
pub fn encode_srgb(linear: [f32; 3]) -> [f32; 3] {
    encode_unclamped(linear.map(|c| c.clamp(0.0, 1.0)))
}

/// As [`encode_srgb`], with the straight parts of the curve's extension: below 0 its line, above 1 its power.
pub(super) fn encode_unclamped(linear: [f32; 3]) -> [f32; 3] {
    linear.map(|c| {
        if c <= LINEAR_BEND {
            c * SLOPE
        } else {
            let curved = c.powf(1.0 / EXPONENT);
            // (1 + OFFSET) curved - OFFSET, such that 1 stays 1.
            curved + OFFSET * (curved - 1.0)
        }
    })
}

/// Converts sRGB to linear light, both 0 to 1.
pub fn decode_srgb(encoded: [f32; 3]) -> [f32; 3] {
    encoded.map(|c| {
        if c <= ENCODED_BEND { c / SLOPE } else { ((c + OFFSET) / (1.0 + OFFSET)).powf(EXPONENT) }
    })
}

/// As [`decode_srgb`], within 1e-6 of the value, by operations that compilers turn into vector instructions.
#[inline]
pub(super) fn decode_fast(c: f32) -> f32 {
    // The power 2.4 is the square of the number times the square of its fifth root.
    let base = ((c + OFFSET) / (1.0 + OFFSET)).max(LEAST_BASE);
    let root = fifth_root(base);
    let curved = base * base * root * root;
    if c <= ENCODED_BEND { c / SLOPE } else { curved }
}

/// Fifth root of a normal number above 0: a fifth of the exponent, by its bits, and three of Newton's steps, of which each
/// squares the error and doubles it.
#[inline]
fn fifth_root(value: f32) -> f32 {
    let guess = f32::from_bits(value.to_bits() / 5 + FOUR_FIFTHS_OF_ONE);
    (0..3).fold(guess, |root, _| {
        let square = root * root;
        0.8 * root + 0.2 * value / (square * square)
    })
}

/// Linear light of each of the 256 codes of an sRGB channel.
pub fn srgb_decoding_table() -> [f32; 256] {
    let mut values = 0..=u8::MAX;
    std::array::from_fn(|_| {
        decode_srgb([f32::from(values.next().unwrap_or(u8::MAX)) / 255.0; 3])[0]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let table = srgb_decoding_table();
        for (k, &linear) in table.iter().enumerate() {
            let [encoded, ..] = encode_srgb([linear; 3]);
            assert!((encoded - k as f32 / 255.0).abs() < 1e-6, "{k}: {encoded}");
            assert_eq!(decode_srgb([k as f32 / 255.0; 3]), [linear; 3]);
        }
        assert_eq!((table[0], table[255]), (0.0, 1.0));
    }

    #[test]
    fn fast_decoding_and_unclamped_encoding_follow_the_curve() {
        for k in -2_000_i16..=20_000 {
            let c = f32::from(k) / 10_000.0;
            let exact = decode_srgb([c; 3])[0];
            let off = (decode_fast(c) - exact).abs();
            assert!(off <= 1e-6 * exact.abs().max(1.0), "{c}: {} for {exact}", decode_fast(c));
            let back = encode_unclamped([exact; 3])[0];
            assert!((back - c).abs() < 1e-6 * c.abs().max(1.0), "{c}: {back}");
        }
    }

    #[test]
    fn known_values_and_poison() {
        // Half the light is 188 of 255.
        assert!((encode_srgb([0.5; 3])[0] - 0.735_357).abs() < 1e-5);
        assert_eq!(encode_srgb([-1.0, 2.0, 0.0]), [0.0, 1.0, 0.0]);
    }
}
