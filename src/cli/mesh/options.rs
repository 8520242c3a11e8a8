//! The flags of `mesh` that say what is done to a frame, checked.

use crate::error::{Error, Result};
use crate::mesh::frame::{Cull, Faces};
use crate::mesh::merge::MergeUnitKind;
use crate::mesh::merge::PmuSettings;
use crate::mesh::merge::QfmSettings;
use crate::mesh::shade::quad::Sampling;
use crate::mesh::shade::{Albedo, ShadeSettings};
use crate::mesh::tessellate::AREA_RANGE_PX;
use crate::raster::samples::SamplePattern;

/// Entries of a merging unit's buffer at most, beside "unbounded".
const MAX_ENTRIES: u32 = 1 << 20;

/// What stands between the depth test and the shader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum UnitName {
    /// Nothing: every quad is shaded
    None,
    /// Quad-fragment merging
    Qfm,
    /// The pixel merge unit
    Pmu,
    /// No quads: grid vertices are shaded before the raster, as Reyes does
    Reyes,
}

/// What is culled before shading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum CullName {
    /// Grids that are hidden wholly
    Grids,
    /// As well, samples that fail the depth test
    Quads,
}

/// Sides drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum FacesName {
    /// Fronts, and both sides of two-sided materials
    Front,
    /// Both
    Both,
}

/// Where shading inputs are sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum SamplingName {
    /// At pixel centres, covered or not
    Centre,
    /// At the covered sample nearest to the centre where the centre is not covered
    Centroid,
}

/// What is done to a frame. Flags that take several values, separated by commas, make a table of
/// all combinations.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Pipeline")]
pub(super) struct PipelineFlags {
    /// The unit between the depth test and the shader
    #[arg(
        long = "unit",
        value_enum,
        value_delimiter = ',',
        default_value = "none"
    )]
    pub(super) units: Vec<UnitName>,
    /// Samples a pixel: 1, 2, 4, 8 or 16
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "4")]
    pub(super) msaa: Vec<u32>,
    /// Entries of the unit's buffer, or "unbounded" (qfm alone) [default: 32 of qfm, 512 of pmu]
    #[arg(long = "buffer", value_name = "N", value_delimiter = ',')]
    pub(super) buffers: Vec<String>,
    /// What depth culls before shading
    #[arg(long, value_enum, default_value = "quads")]
    cull: CullName,
    /// Which sides of triangles are drawn
    #[arg(long, value_enum, default_value = "front")]
    faces: FacesName,
    /// Shade 2x2 pixels at once, with all their samples (1, 2 or 4 a pixel)
    #[arg(long)]
    pub(super) coarse: bool,
    /// Where shading inputs are sampled
    #[arg(long, value_enum, default_value = "centre")]
    sampling: SamplingName,
    /// Colour what has no texture with a checker of this many checks a unit of texture space
    #[arg(long, value_name = "CHECKS")]
    checker: Option<f32>,
}

/// A unit and its buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) name: UnitName,
    /// Entries; `None` for no buffer or an unbounded one.
    pub(super) entries: Option<u32>,
}

impl Choice {
    /// The unit; of Reyes, which has none between raster and shader, none.
    pub(super) fn unit(self) -> MergeUnitKind {
        match self.name {
            UnitName::None | UnitName::Reyes => MergeUnitKind::None,
            UnitName::Qfm => MergeUnitKind::Qfm(QfmSettings {
                entries: self.entries,
                ..QfmSettings::default()
            }),
            UnitName::Pmu => MergeUnitKind::Pmu(PmuSettings {
                entries: self.entries.unwrap_or(PmuSettings::default().entries),
                ..PmuSettings::default()
            }),
        }
    }

    /// The unit's name on the command line.
    pub(super) fn unit_name(self) -> &'static str {
        match self.name {
            UnitName::None => "none",
            UnitName::Qfm => "qfm",
            UnitName::Pmu => "pmu",
            UnitName::Reyes => "reyes",
        }
    }

    /// The buffer as tables have it.
    pub(super) fn buffer(self) -> Option<String> {
        match (self.name, self.entries) {
            (UnitName::None | UnitName::Reyes, _) => None,
            (_, Some(entries)) => Some(entries.to_string()),
            (_, None) => Some("unbounded".to_owned()),
        }
    }
}

impl PipelineFlags {
    /// Units with their buffers, in the order asked for.
    ///
    /// # Errors
    /// [`Error::Caller`] about a buffer that is none.
    pub(super) fn choices(&self) -> Result<Vec<Choice>> {
        let mut choices = Vec::new();
        for &name in &self.units {
            let default = match name {
                UnitName::Qfm => QfmSettings::default().entries,
                UnitName::Pmu => Some(PmuSettings::default().entries),
                UnitName::None | UnitName::Reyes => None,
            };
            let takes_buffer = matches!(name, UnitName::Qfm | UnitName::Pmu);
            if self.buffers.is_empty() || !takes_buffer {
                choices.push(Choice {
                    name,
                    entries: default,
                });
                continue;
            }
            for buffer in &self.buffers {
                let entries = entries(buffer)?;
                if entries.is_none() && name == UnitName::Pmu {
                    return Err(Error::caller(
                        "--buffer",
                        "a number of entries: the pixel merge unit's are finite",
                        buffer,
                    ));
                }
                choices.push(Choice { name, entries });
            }
        }
        Ok(choices)
    }

    /// The sample pattern of so many samples a pixel.
    ///
    /// # Errors
    /// As [`SamplePattern::standard`] and [`SamplePattern::coarse`].
    pub(super) fn pattern(&self, samples: u32) -> Result<&'static SamplePattern> {
        let pattern = if self.coarse {
            SamplePattern::coarse(samples)
        } else {
            SamplePattern::standard(samples)
        };
        pattern.map(|p| p.shared())
    }

    pub(super) fn cull(&self) -> Cull {
        match self.cull {
            CullName::Grids => Cull::Grids,
            CullName::Quads => Cull::Quads,
        }
    }

    pub(super) fn faces(&self) -> Faces {
        match self.faces {
            FacesName::Front => Faces::Front,
            FacesName::Both => Faces::Both,
        }
    }

    pub(super) fn sampling(&self) -> Sampling {
        match self.sampling {
            SamplingName::Centre => Sampling::Centre,
            SamplingName::Centroid => Sampling::Centroid,
        }
    }

    /// How surfaces are coloured.
    ///
    /// # Errors
    /// [`Error::Caller`] about a checker that is not a number above zero.
    pub(super) fn shade(&self) -> Result<ShadeSettings> {
        let albedo = match self.checker {
            None => Albedo::Plain,
            Some(scale) if scale > 0.0 && scale.is_finite() => Albedo::Checker { scale },
            Some(scale) => {
                return Err(Error::caller(
                    "--checker",
                    "a number above 0",
                    scale.to_string(),
                ));
            }
        };
        Ok(ShadeSettings { albedo })
    }
}

/// Entries of a buffer; `None` for "unbounded".
fn entries(text: &str) -> Result<Option<u32>> {
    if text == "unbounded" {
        return Ok(None);
    }
    let entries = text.parse().ok().filter(|n| (1..=MAX_ENTRIES).contains(n));
    entries.map(Some).ok_or_else(|| {
        Error::caller(
            "--buffer",
            format!("a number of entries from 1 to {MAX_ENTRIES}, or unbounded"),
            text,
        )
    })
}

/// A triangle area.
///
/// # Errors
/// [`Error::Caller`] when it is out of range.
pub(super) fn area(value: f64) -> Result<f64> {
    let (least, most) = AREA_RANGE_PX;
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    Err(Error::caller(
        "--tessellate",
        format!("an area from {least} to {most} pixels"),
        value.to_string(),
    ))
}
