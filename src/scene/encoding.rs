//! Storage formats of splats: compression, axes, flags, and losses.

use std::fmt;
use std::str::FromStr;

use nalgebra::{Matrix3, Vector3};

use quadrille_base::choice;
use quadrille_base::error::{Error, Result};
#[cfg(feature = "cli")]
use quadrille_base::parse::whole_number;
use quadrille_base::shading::SplatOrder;

/// Storage format of a file's splats.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SceneEncoding {
    /// Compression in words, with the version of the format.
    pub compression: String,
    /// Axes of the file; the reader turns splats to [`SplatAxes::RDF`].
    pub axes: SplatAxes,
    /// Whether the file states its axes; else the axes of the format's description apply, or [`LoadOptions::axes`].
    pub axes_stated: bool,
    /// Number of levels of detail, of which one is read ([`LoadOptions::lod`]).
    pub lod_levels: u32,
    /// Bytes of the files of the level that was read, with their description; 0 for formats without levels.
    pub level_bytes: u64,
    /// Kind of Gaussians that the scene was trained as, if the file says so.
    pub model: Option<SplatModel>,
    /// Order in which the splats are blended, if the file says so.
    pub order: Option<SplatOrder>,
    /// Properties of a trained scene that no file of the format can hold.
    pub losses: &'static str,
    /// Names of columns that no picture uses, such as normals.
    pub unused_columns: Vec<String>,
    /// Further remarks, such as how other renderers of the format draw it.
    pub notes: Vec<String>,
    /// Warnings about ignored settings and omitted content of the file, one sentence each.
    pub warnings: Vec<String>,
}

impl SceneEncoding {
    /// Encoding with the axes of trained scenes, [`SplatAxes::RDF`], and one level of detail.
    pub(super) fn new(compression: impl Into<String>, losses: &'static str) -> Self {
        Self {
            compression: compression.into(),
            axes: SplatAxes::RDF,
            axes_stated: true,
            lod_levels: 1,
            level_bytes: 0,
            model: None,
            order: None,
            losses,
            unused_columns: Vec::new(),
            notes: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Whether the file says that the scene was trained with antialiasing.
    pub fn antialiased(&self) -> Option<bool> {
        self.model.map(|model| model == SplatModel::Antialiased)
    }

    /// Adds warnings about options without an effect.
    pub(super) fn warn(&mut self, options: LoadOptions) {
        self.warnings.extend(options.unused(self.axes, self.lod_levels));
    }
}

choice! {
    /// Kind of Gaussians that a scene was trained as, with the names of SOG.
    pub enum SplatModel {
        /// 3D Gaussians.
        Plain = "3dgs",
        /// 3D Gaussians with compensation of the low-pass filter.
        Antialiased = "antialiased",
        /// 2D Gaussians (2DGS): discs whose values are taken where rays meet them.
        Discs = "2dgs",
    }
}

impl SplatModel {
    /// Model of a file with a flag of antialiasing.
    pub(super) fn of_flag(antialiased: bool) -> Self {
        if antialiased { Self::Antialiased } else { Self::Plain }
    }
}

/// Options of loading, and flags of commands that load scenes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(next_help_heading = "Reading"))]
#[non_exhaustive]
pub struct LoadOptions {
    /// Axes of a USD or an LCC whose writer kept those of PLY, or of an SPZ, also inside a glTF, that does not state them:
    /// three letters such as RDF (right, down, forward) [default: those of the upAxis of USD; RFU for LCC; RUB for SPZ]
    #[cfg_attr(feature = "cli", arg(long, value_name = "AXES", value_parser = str::parse::<SplatAxes>))]
    pub axes: Option<SplatAxes>,
    /// Level of detail of a streamed SOG, an LCC or an LCC2; 0 is the finest
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = 0, value_parser = whole_number::<u32>))]
    pub lod: u32,
}

impl LoadOptions {
    /// Options with the given axes and level of detail.
    pub fn new(axes: Option<SplatAxes>, lod: u32) -> Self {
        Self { axes, lod }
    }

    /// Remarks on options that have no effect on a file with these axes and levels of detail.
    pub(super) fn unused(self, own: SplatAxes, levels: u32) -> impl Iterator<Item = String> {
        let axes = self.axes.filter(|axes| *axes != own).map(|axes| {
            format!(
                "its axes are {own}; --axes {axes} is for an SPZ that does not state its own, and changes nothing"
            )
        });
        let lod = (self.lod >= levels).then(|| {
            let lod = self.lod;
            format!("it has no level of detail {lod}, which --lod asks for; only a streamed SOG, an LCC or an LCC2 has several")
        });
        axes.into_iter().chain(lod)
    }
}

/// Directions of the axes x, y, z of a file, as three letters: R or L (right, left), U or D (up, down), F or B (forward,
/// back). The second and the third letter may be exchanged, as in RBU, where z points up or down.
///
/// Files with a vertical z follow the signs of the SPZ library 0.2.3, which maps RBU to `(x, z, y)` in right, down,
/// forward. The letters alone would give a scene that is turned by 180 degrees around x.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplatAxes {
    /// Whether each direction is opposite to right, down, forward.
    flipped: [bool; 3],
    /// True if z is the vertical axis (the third letter is U or D).
    has_vertical_z: bool,
}

impl SplatAxes {
    /// Right, down, forward: PLY files of trainers.
    pub const RDF: Self = Self::signed([false; 3]);
    /// Right, up, back: SPZ, as its specification says.
    pub const RUB: Self = Self::signed([false, true, true]);
    /// Left, up, forward: glTF.
    pub const LUF: Self = Self::signed([true, true, false]);
    /// Right, up, forward: Unity.
    pub const RUF: Self = Self::signed([false, true, false]);
    /// Right, forward, up: USD with z up.
    pub const RFU: Self = Self { flipped: [false, true, false], has_vertical_z: true };

    const fn signed(flipped: [bool; 3]) -> Self {
        Self { flipped, has_vertical_z: false }
    }

    /// Sign of each axis for right, down, forward; with a vertical z, a turn by -90 degrees around x follows.
    pub(crate) fn signs(self) -> [f32; 3] {
        let [x, y, z] = self.flipped;
        [x, y, z != self.has_vertical_z].map(|flipped| if flipped { -1.0 } else { 1.0 })
    }

    /// Matrix from the file's axes to right, down, forward. Its determinant is -1 for left-handed axes.
    pub fn matrix(self) -> Matrix3<f64> {
        let signs: Matrix3<f64> =
            Matrix3::from_diagonal(&Vector3::from(self.signs().map(f64::from)));
        let [y, z]: [Vector3<f64>; 2] = match self.has_vertical_z {
            false => [Vector3::y(), Vector3::z()],
            // A turn by -90 degrees around x.
            true => [-Vector3::z(), Vector3::y()],
        };
        Matrix3::from_columns(&[Vector3::x(), y, z]) * signs
    }

    pub(crate) fn has_vertical_z(self) -> bool {
        self.has_vertical_z
    }
}

impl fmt::Display for SplatAxes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.flipped;
        let letter = |flipped, [no, yes]: [char; 2]| if flipped { yes } else { no };
        let (x, y, z) = (letter(x, ['R', 'L']), letter(y, ['D', 'U']), letter(z, ['F', 'B']));
        match self.has_vertical_z {
            false => write!(f, "{x}{y}{z}"),
            true => write!(f, "{x}{z}{y}"),
        }
    }
}

impl FromStr for SplatAxes {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let letters: Vec<char> = text.to_ascii_uppercase().chars().collect();
        let wrong = || {
            let expected =
                "three letters: R or L, then U or D and F or B in any order, as in RDF, RUB or RBU";
            Error::argument("axes", expected, text)
        };
        let [x, second, third] = letters[..] else { return Err(wrong()) };
        let has_vertical_z = matches!(third, 'U' | 'D');
        let [y, z] = if has_vertical_z { [third, second] } else { [second, third] };
        let flipped = |letter, [no, yes]: [char; 2]| match letter {
            _ if letter == no => Ok(false),
            _ if letter == yes => Ok(true),
            _ => Err(wrong()),
        };
        Ok(Self {
            flipped: [flipped(x, ['R', 'L'])?, flipped(y, ['D', 'U'])?, flipped(z, ['F', 'B'])?],
            has_vertical_z,
        })
    }
}

#[cfg(test)]
#[path = "tests/units/encoding.rs"]
mod tests;
