//! Storage formats of splats: compression, axes, flags, and losses.

use std::fmt;
use std::str::FromStr;

use quadrille_base::error::{Error, Result};

/// Storage format of a file's splats.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SceneEncoding {
    /// Compression in words, with the version of the format.
    pub compression: String,
    /// Axes of the file; the reader turns splats to [`SplatAxes::RDF`].
    pub axes: SplatAxes,
    /// Whether the file says by itself which axes it has. If not, the axes of the format's description apply,
    /// or [`LoadOptions::axes`].
    pub axes_stated: bool,
    /// Whether the file says that the scene was trained with antialiasing.
    pub antialiased: Option<bool>,
    /// Properties of a trained scene that no file of the format can hold.
    pub losses: &'static str,
    /// Further remarks: what was left out, and how other renderers of the format draw it.
    pub notes: Vec<String>,
}

impl SceneEncoding {
    /// The encoding of a format with the axes of trained scenes.
    pub(super) fn new(compression: impl Into<String>, losses: &'static str) -> Self {
        Self {
            compression: compression.into(),
            axes: SplatAxes::RDF,
            axes_stated: true,
            antialiased: None,
            losses,
            notes: Vec::new(),
        }
    }
}

/// Options of loading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LoadOptions {
    /// Axes of an SPZ file that does not state them [default: RUB, as its description says].
    pub axes: Option<SplatAxes>,
    /// Level of detail of a streamed SOG; 0, the default, is the finest.
    pub lod: u32,
}

impl LoadOptions {
    /// Options with the given axes and level of detail.
    pub fn new(axes: Option<SplatAxes>, lod: u32) -> Self {
        Self { axes, lod }
    }
}

/// Directions of the axes x, y, z of a file, as three letters: R or L (right, left), U or D (up, down),
/// F or B (forward, back). They differ from each other by the signs of axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplatAxes {
    /// Whether each axis is the opposite of right, down, forward.
    flipped: [bool; 3],
}

impl SplatAxes {
    /// Right, down, forward: trained scenes as PLY.
    pub const RDF: Self = Self {
        flipped: [false; 3],
    };
    /// Right, up, back: SPZ by its description.
    pub const RUB: Self = Self {
        flipped: [false, true, true],
    };
    /// Left, up, forward: glTF.
    pub const LUF: Self = Self {
        flipped: [true, true, false],
    };
    /// Right, up, forward: Unity.
    pub const RUF: Self = Self {
        flipped: [false, true, false],
    };

    /// The sign by which each axis is multiplied to get right, down, forward.
    pub(crate) fn signs(self) -> [f32; 3] {
        self.flipped.map(|flipped| if flipped { -1.0 } else { 1.0 })
    }
}

impl fmt::Display for SplatAxes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.flipped;
        let letter = |flipped, [no, yes]: [char; 2]| if flipped { yes } else { no };
        let (x, y, z) = (letter(x, ['R', 'L']), letter(y, ['D', 'U']), z);
        write!(f, "{x}{y}{}", letter(z, ['F', 'B']))
    }
}

impl FromStr for SplatAxes {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let letters: Vec<char> = text.to_ascii_uppercase().chars().collect();
        let wrong = || {
            let expected = "three letters: R or L, U or D, F or B, as in RDF or RUB";
            Error::argument("axes", expected, text)
        };
        let [x, y, z] = letters[..] else {
            return Err(wrong());
        };
        let flipped = |letter, [no, yes]: [char; 2]| match letter {
            _ if letter == no => Ok(false),
            _ if letter == yes => Ok(true),
            _ => Err(wrong()),
        };
        Ok(Self {
            flipped: [
                flipped(x, ['R', 'L'])?,
                flipped(y, ['D', 'U'])?,
                flipped(z, ['F', 'B'])?,
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_three_letters() {
        for text in ["RDF", "RUB", "LUF", "RUF", "LDB"] {
            assert_eq!(text.parse::<SplatAxes>().unwrap().to_string(), text);
        }
        assert_eq!("rub".parse::<SplatAxes>().unwrap(), SplatAxes::RUB);
        for text in ["", "RD", "RDFF", "DRF", "XYZ"] {
            assert!(text.parse::<SplatAxes>().is_err(), "{text}");
        }
    }
}
