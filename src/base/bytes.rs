//! Sizes in bytes, as users write them.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::parse::exact;

/// Units of 1, 1024, 1024^2, ... bytes.
const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];

/// A size in bytes.
///
/// Users write a number with a unit: `512M`, `512MB` and `512 MiB` are the same, since memories are measured in powers of
/// 1024; `K`, `G` and `T` likewise. A number without a unit counts bytes. Case does not matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Written")]
pub struct Bytes(pub u64);

impl Bytes {
    /// Description of valid sizes for messages and help texts.
    pub const EXPECTED: &str = "a size such as 512M, 64KiB or 1.5GB";
}

impl FromStr for Bytes {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let lower = text.trim().to_ascii_lowercase();
        let number = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let power = match &lower[number.len()..] {
            "" | "b" => Some(0),
            "k" | "kb" | "kib" => Some(1),
            "m" | "mb" | "mib" => Some(2),
            "g" | "gb" | "gib" => Some(3),
            "t" | "tb" | "tib" => Some(4),
            _ => None,
        };
        let number = number.trim_end().parse::<f64>().ok();
        let bytes = number.zip(power).and_then(|(n, power)| exact(n * 1024_f64.powi(power)));
        bytes.map(Self).ok_or_else(|| Error::argument("size", Self::EXPECTED, text))
    }
}

/// Formats the size in the largest unit of which it is a whole number: `1 GiB`, `1536 MiB`, `96 B`.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let powers = if self.0 == 0 { 0 } else { self.0.trailing_zeros() / 10 };
        let power = (powers as usize).min(UNITS.len() - 1);
        write!(f, "{} {}", self.0 >> (10 * power), UNITS[power])
    }
}

/// A size in a file: a number of bytes, or a text with a unit.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a size such as 512M, 64KiB or 1.5GB")]
enum Written<'a> {
    Number(u64),
    Text(Cow<'a, str>),
}

impl TryFrom<Written<'_>> for Bytes {
    type Error = Error;

    fn try_from(written: Written<'_>) -> Result<Self> {
        match written {
            Written::Number(bytes) => Ok(Self(bytes)),
            Written::Text(text) => text.parse(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_of_1024() {
        for (text, bytes) in [
            ("512M", 512 << 20),
            ("512MB", 512 << 20),
            ("512MiB", 512 << 20),
            ("512 MiB", 512 << 20),
            ("512mb", 512 << 20),
            ("4G", 4 << 30),
            ("1.5GB", 3 << 29),
            ("2T", 2 << 40),
            ("64 kB", 64 << 10),
            ("0.5K", 512),
            ("12B", 12),
            (" 1e3 ", 1000),
            ("0", 0),
        ] {
            assert_eq!(text.parse::<Bytes>().unwrap(), Bytes(bytes), "{text}");
        }
        for text in
            ["", "M", "0.3B", "-1KB", "4 bytes", "4 m b", "nanB", "inf", "1e30GB", "4é", "1PB"]
        {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_displayed_whole_and_read_back() {
        for (bytes, text) in [
            (0, "0 B"),
            (96, "96 B"),
            (1000, "1000 B"),
            (16_384, "16 KiB"),
            (3 << 29, "1536 MiB"),
            (1 << 30, "1 GiB"),
            (1 << 52, "4096 TiB"),
        ] {
            assert_eq!(Bytes(bytes).to_string(), text);
            assert_eq!(text.parse::<Bytes>().unwrap(), Bytes(bytes));
        }
    }

    #[test]
    fn files_have_numbers_or_texts() {
        for text in ["4096", "\"4K\"", "\"4096\""] {
            assert_eq!(serde_json::from_str::<Bytes>(text).unwrap(), Bytes(4096), "{text}");
        }
        assert_eq!(serde_json::to_string(&Bytes(4096)).unwrap(), "4096");
        for text in ["-1", "1.5", "\"four\"", "[4]"] {
            let error = serde_json::from_str::<Bytes>(text).unwrap_err().to_string();
            assert!(error.contains(Bytes::EXPECTED), "{error}");
        }
    }
}
