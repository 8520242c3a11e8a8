use std::str::FromStr;

use super::header::Encoding;
use super::lines::quoted;
use quadrille_base::error::Mismatch;
use quadrille_base::math::{self, narrow};
use quadrille_base::scalar::Scalar;

#[derive(Clone, Copy)]
pub(super) enum Number<'a> {
    Packed(&'a [u8], Scalar, Encoding),
    Text(&'a [u8], Scalar),
}

impl Number<'_> {
    pub(super) fn exact(self) -> Result<f64, Mismatch> {
        match self {
            Self::Packed(bytes, scalar, encoding) => Ok(read(bytes, scalar, encoding)),
            Self::Text(word, Scalar::F32) => parse_float::<f32>(word).map(f64::from),
            Self::Text(word, Scalar::F64) => parse_float(word),
            Self::Text(word, scalar) => parse_whole(word, scalar),
        }
    }

    /// Value rounded to single precision, as in a `float` property.
    pub(super) fn rounded(self) -> Result<f32, Mismatch> {
        self.exact().map(narrow)
    }
}

/// Reads the number at the start of `bytes`. Callers check the length; of too few bytes the number is 0.
pub(super) fn read(bytes: &[u8], scalar: Scalar, encoding: Encoding) -> f64 {
    let mut raw = [0; 8];
    let size = scalar.size_bytes();
    let Some(source) = bytes.get(..size) else { return 0.0 };
    raw[..size].copy_from_slice(source);
    if encoding == Encoding::BigEndian {
        raw[..size].reverse();
    }
    scalar.read(&raw)
}

/// Converts `value` to a count; `None` unless it is a whole number from 0 to 2^32 - 1.
pub fn to_count(value: f64) -> Option<usize> {
    (value >= 0.0 && value <= f64::from(u32::MAX) && value.fract() == 0.0)
        .then_some(math::whole(value))
}

/// Parses a float. NaN and infinity are accepted, also in the spellings of C and of Microsoft (`nan(ind)`, `1.#INF`).
///
/// # Errors
/// A word that is no number.
pub fn parse_float<T: FromStr + From<f32>>(word: &[u8]) -> Result<T, Mismatch> {
    let text = std::str::from_utf8(word).unwrap_or("");
    match text.parse() {
        Ok(value) => Ok(value),
        Err(_) if text.contains("1.#INF") => Ok(f32::INFINITY.into()),
        Err(_) if text.contains("1.#") || text.contains("nan(") => Ok(f32::NAN.into()),
        Err(_) => Err(("a number".to_owned(), quoted(word))),
    }
}

fn parse_whole(word: &[u8], scalar: Scalar) -> Result<f64, Mismatch> {
    let text = std::str::from_utf8(word).unwrap_or("");
    let range = match scalar {
        Scalar::F32 | Scalar::F64 => (f64::MIN, f64::MAX),
        Scalar::I8 => (f64::from(i8::MIN), f64::from(i8::MAX)),
        Scalar::U8 => (0.0, f64::from(u8::MAX)),
        Scalar::I16 => (f64::from(i16::MIN), f64::from(i16::MAX)),
        Scalar::U16 => (0.0, f64::from(u16::MAX)),
        Scalar::I32 => (f64::from(i32::MIN), f64::from(i32::MAX)),
        Scalar::U32 => (0.0, f64::from(u32::MAX)),
    };
    match text.parse::<f64>() {
        Ok(value) if (range.0..=range.1).contains(&value) => Ok(value),
        _ => Err((format!("a number from {} to {}", range.0, range.1), quoted(word))),
    }
}

#[cfg(test)]
#[path = "tests/number.rs"]
mod tests;
