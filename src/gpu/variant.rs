//! Variants of the pipeline, each of which is a set of VR-Pipe's additions.

use std::fmt;

use serde::{Serialize, Serializer};

use quadrille_base::error::{Error, Result};

/// Variant of the pipeline: a set of VR-Pipe's additions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Variant(u8);

/// Bits of a [`Variant`]: tile-grid coalescing, quad reordering, early termination.
const TGC: u8 = 1;
const QRU: u8 = 2;
const HET: u8 = 4;

const NAMES: [&str; 8] = ["baseline", "tgc", "qru", "qm", "het", "het+tgc", "het+qru", "het+qm"];

impl Variant {
    /// The conventional pipeline, without extensions.
    pub const BASELINE: Self = Self(0);
    /// Quad merging: tile-grid coalescing, quad reordering, and merging in the shader.
    pub const QM: Self = Self(TGC | QRU);
    /// Hardware early termination.
    pub const HET: Self = Self(HET);
    /// Early termination and quad merging.
    pub const HET_QM: Self = Self(HET | TGC | QRU);
    /// Tile-grid coalescing alone.
    pub const TGC: Self = Self(TGC);
    /// Quad reordering alone: merging without tile-grid coalescing.
    pub const QRU: Self = Self(QRU);
    /// Early termination, and merging without tile-grid coalescing.
    pub const HET_QRU: Self = Self(HET | QRU);
    /// The paper's variants, merging without tile-grid coalescing, and tile-grid coalescing alone.
    pub const ALL: [Self; 7] =
        [Self::BASELINE, Self::QRU, Self::QM, Self::HET, Self::HET_QRU, Self::HET_QM, Self::TGC];

    /// Parses switches joined by `+`: `baseline`, `tgc`, `qru`, `qm` (`tgc` and `qru`), `het`.
    ///
    /// # Errors
    /// [`Error::Argument`] for an unknown switch; it lists the known variants.
    pub fn parse(text: &str) -> Result<Self> {
        let mut bits = 0;
        for switch in text.split('+') {
            bits |= NAMES[..=usize::from(HET)].iter().position(|n| *n == switch).ok_or_else(|| {
                Error::argument(
                    "variant",
                    "baseline, qru, qm, het, het+qru, het+qm, tgc, all, or switches joined by + (tgc, qru, qm, het)",
                    switch,
                )
            })?;
        }
        Ok(Self(bits.to_le_bytes()[0]))
    }

    /// Whether tile-grid coalescing is on.
    pub const fn tgc(self) -> bool {
        self.0 & TGC != 0
    }

    /// Whether quad reordering is on, with merging in the shader.
    pub const fn qru(self) -> bool {
        self.0 & QRU != 0
    }

    /// Whether hardware early termination is on.
    pub const fn het(self) -> bool {
        self.0 & HET != 0
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAMES[usize::from(self.0 & 7)])
    }
}

impl Serialize for Variant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
