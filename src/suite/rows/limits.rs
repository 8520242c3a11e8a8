//! Numbers that may be without a limit, which a word says.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use quadrille_base::error::{Error, Result};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum NumberOrWord {
    Number(u32),
    Word(String),
}

/// Declares a number from 1 to a maximum that may also be a word for no limit.
macro_rules! limit {
    ($(#[$meta:meta])* $name:ident, $word:literal, $most:expr) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name(pub Option<u32>);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.0 {
                    Some(number) => write!(f, "{number}"),
                    None => f.write_str($word),
                }
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self> {
                if text == $word {
                    return Ok(Self(None));
                }
                let number = text.parse().ok().filter(|n| (1..=$most).contains(n));
                number.map(|number| Self(Some(number))).ok_or_else(|| {
                    let expected = format!("a number from 1 to {}, or {}", $most, $word);
                    Error::argument(stringify!($name), expected, text)
                })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
                match self.0 {
                    Some(number) => NumberOrWord::Number(number),
                    None => NumberOrWord::Word($word.to_owned()),
                }
                .serialize(to)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
                let text = match NumberOrWord::deserialize(from)? {
                    NumberOrWord::Number(number) => number.to_string(),
                    NumberOrWord::Word(word) => word,
                };
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

limit! {
    /// Side of the tiles of sort-based deferred shading in pixels; `None`, in text "whole", for one tile.
    TileSide, "whole", 1_u32 << 15
}

limit! {
    /// Capacity of a memo in quads; `None`, in text "unbounded", for no limit.
    MemoQuads, "unbounded", 1_u32 << 24
}

limit! {
    /// Number of entries in the buffer of a merging unit; `None`, in text "unbounded", for no limit.
    BufferEntries, "unbounded", 1_u32 << 20
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_words_are_read_back() {
        for (side, json) in [(TileSide(Some(32)), "32"), (TileSide(None), "\"whole\"")] {
            assert_eq!(serde_json::to_string(&side).unwrap(), json);
            assert_eq!(serde_json::from_str::<TileSide>(json).unwrap(), side);
            assert_eq!(side.to_string().parse::<TileSide>().unwrap(), side);
        }
        for wrong in ["0", "unbounded", "-1", "1.5", ""] {
            let error = wrong.parse::<TileSide>().unwrap_err().to_string();
            assert!(error.contains("1 to 32768, or whole"), "{error}");
        }
        assert!(serde_json::from_str::<MemoQuads>("0").is_err());
    }
}
