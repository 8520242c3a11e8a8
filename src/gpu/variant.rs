//! Variants of the pipeline: which of VR-Pipe's additions are on.

use std::fmt;

use crate::error::{Error, Result};

/// VR-Pipe's additions, each on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "three switches that are on or off each on its own"
)]
pub struct Variant {
    /// Tile-grid coalescing.
    pub tgc: bool,
    /// Quad reordering, with merging in the shader.
    pub qru: bool,
    /// Hardware early termination.
    pub het: bool,
}

impl Variant {
    /// The conventional pipeline.
    pub const BASELINE: Self = Self {
        tgc: false,
        qru: false,
        het: false,
    };
    /// Quad merging: tile-grid coalescing, quad reordering, shader merge.
    pub const QM: Self = Self {
        tgc: true,
        qru: true,
        het: false,
    };
    /// Early termination.
    pub const HET: Self = Self {
        tgc: false,
        qru: false,
        het: true,
    };
    /// Both.
    pub const HET_QM: Self = Self {
        tgc: true,
        qru: true,
        het: true,
    };
    /// Tile-grid coalescing alone.
    pub const TGC: Self = Self {
        tgc: true,
        qru: false,
        het: false,
    };
    /// The variants of the paper, and tile-grid coalescing alone.
    pub const ALL: [Self; 5] = [Self::BASELINE, Self::QM, Self::HET, Self::HET_QM, Self::TGC];

    /// Parses switches joined by `+`: `baseline`, `tgc`, `qru`, `qm` (both of these), `het`.
    ///
    /// # Errors
    /// [`Error::Caller`] naming the switch that is none.
    pub fn parse(text: &str) -> Result<Self> {
        let mut variant = Self::BASELINE;
        for switch in text.split('+') {
            match switch {
                "baseline" => {}
                "tgc" => variant.tgc = true,
                "qru" => variant.qru = true,
                "qm" => (variant.tgc, variant.qru) = (true, true),
                "het" => variant.het = true,
                other => {
                    return Err(Error::caller(
                        "--variant",
                        "baseline, qm, het, het+qm, tgc, all, or switches joined by + (tgc, qru, qm, het)",
                        other,
                    ));
                }
            }
        }
        Ok(variant)
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let merging = match (self.tgc, self.qru) {
            (true, true) => Some("qm"),
            (true, false) => Some("tgc"),
            (false, true) => Some("qru"),
            (false, false) => None,
        };
        match (self.het, merging) {
            (true, Some(merging)) => write!(f, "het+{merging}"),
            (true, None) => f.write_str("het"),
            (false, Some(merging)) => f.write_str(merging),
            (false, None) => f.write_str("baseline"),
        }
    }
}
