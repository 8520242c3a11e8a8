//! The sRGB curve between stored colours and linear light, in which colours are averaged and lit (IEC 61966-2-1).

const SLOPE: f32 = 12.92;
const OFFSET: f32 = 0.055;
const EXPONENT: f32 = 2.4;
const ENCODED_BEND: f32 = 0.040_45;
const LINEAR_BEND: f32 = 0.003_130_8;

/// Luminance of a linear colour, by the weights of Rec. ITU-R BT.709-6.
#[inline]
pub fn luminance([red, green, blue]: [f32; 3]) -> f32 {
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/// Converts linear light, clamped to 0 to 1, to sRGB. The samples of a pixel are averaged in linear light before, as in a
/// render target of an sRGB format.
pub fn encode_srgb(linear: [f32; 3]) -> [f32; 3] {
    linear.map(|c| {
        let c = c.clamp(0.0, 1.0);
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
    fn known_values_and_poison() {
        // Half the light is 188 of 255.
        assert!((encode_srgb([0.5; 3])[0] - 0.735_357).abs() < 1e-5);
        assert_eq!(encode_srgb([-1.0, 2.0, 0.0]), [0.0, 1.0, 0.0]);
    }
}
