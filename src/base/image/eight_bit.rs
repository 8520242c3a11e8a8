//! Eight bits per channel: the rounding of picture files and of the `inria` metrics.

use crate::math::whole;

/// The 8-bit value of 1.0.
const MAX_8_BIT: f32 = 255.0;

/// `round(255 clamp(value, 0, 1))`; NaN becomes 0.
///
/// There is no gamma: the trainer of 3D Gaussian splatting compares its colours with the numbers in
/// the photographs' files, so the values of a frame are display values already (Kerbl et al. 2023,
/// `train.py` and `render.py` of the authors' code).
pub fn to_8_bit(value: f32) -> u8 {
    whole((value.clamp(0.0, 1.0) * MAX_8_BIT).round())
}

/// The value that an 8-bit code stands for, 0 to 1.
pub fn from_8_bit(value: u8) -> f32 {
    f32::from(value) / MAX_8_BIT
}
