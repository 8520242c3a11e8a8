//! The flags of `mesh` about the pipeline, and their checks.

use crate::cli::choice::one_of;
use quadrille_base::choice;
use quadrille_base::error::{Error, Result};
use quadrille_base::raster::samples::SamplePattern;
use quadrille_mesh::frame::{Cull, Faces};
use quadrille_mesh::merge::{MergeUnitKind, PmuSettings, QfmSettings};
use quadrille_mesh::shade::Sampling;
use quadrille_mesh::tessellate::AREA_RANGE_PX;

/// Maximum number of entries of a finite buffer of a merging unit.
const MAX_ENTRIES: u32 = 1 << 20;

/// A merging unit or Reyes, which shades grid vertices and has no unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UnitChoice {
    pub(super) unit: MergeUnitKind,
    pub(super) is_reyes: bool,
}

impl UnitChoice {
    pub(super) fn name(self) -> &'static str {
        if self.is_reyes {
            "reyes"
        } else {
            self.unit.name()
        }
    }
}

choice! {
    /// A value of `--unit`.
    pub(super) enum UnitFlag {
        /// No unit: every quad is shaded
        None = "none",
        /// Quad-fragment merging
        Qfm = "qfm",
        /// Pixel merging
        Pmu = "pmu",
        /// No quads: grid vertices are shaded before the raster
        Reyes = "reyes",
        /// All of these
        All = "all",
    }
}

impl UnitFlag {
    fn choices(self) -> Vec<UnitChoice> {
        let unit = match self {
            Self::None | Self::Reyes => MergeUnitKind::None,
            Self::Qfm => MergeUnitKind::Qfm(QfmSettings::default()),
            Self::Pmu => MergeUnitKind::Pmu(PmuSettings::default()),
            Self::All => {
                let all = [Self::None, Self::Qfm, Self::Pmu, Self::Reyes];
                return all.into_iter().flat_map(Self::choices).collect();
            }
        };
        let is_reyes = self == Self::Reyes;
        vec![UnitChoice { unit, is_reyes }]
    }
}

choice! {
    /// A value of `--area-is`.
    pub(super) enum AreaMeaning {
        /// An upper bound for triangles that face the viewer
        Bound = "bound",
        /// The mean of the triangles that are drawn in a view, hidden or not
        Mean = "mean",
    }
}

/// Flags about the pipeline. Several values of a flag, separated by commas, give a row for each
/// combination.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Pipeline")]
pub(super) struct PipelineFlags {
    /// Unit between the depth test and the shader
    #[arg(
        long = "unit",
        visible_alias = "method",
        alias = "variant",
        value_name = "UNIT",
        value_parser = one_of::<UnitFlag>(),
        value_delimiter = ',',
        default_value = "none"
    )]
    pub(super) units: Vec<UnitFlag>,
    /// Samples per pixel: 1, 2, 4, 8 or 16
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "4")]
    pub(super) msaa: Vec<u32>,
    /// Entries of the unit's buffer, or "unbounded", which pmu has no row for [default: 32 for qfm, 512
    /// for pmu]
    #[arg(long = "buffer", value_name = "N", value_delimiter = ',')]
    pub(super) buffers: Vec<String>,
    /// Items that the depth test culls before shading
    #[arg(long, value_parser = one_of::<Cull>(), default_value = "quads")]
    pub(super) cull: Cull,
    /// Sides of triangles to draw
    #[arg(long, value_parser = one_of::<Faces>(), default_value = "material")]
    pub(super) faces: Faces,
    /// Limit on the memory of a frame's triangles and quads, such as 512M or 4G; drawing takes about as
    /// much again
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = parse_memory)]
    pub(super) memory: u64,
    /// Shade 2x2 pixels at once, with all their samples; for 1, 2 or 4 samples per pixel
    #[arg(long)]
    pub(super) coarse: bool,
    /// Meaning of the areas of --tessellate
    #[arg(long, value_name = "MEANING", value_parser = one_of::<AreaMeaning>(), default_value = "bound")]
    pub(super) area_is: AreaMeaning,
    /// Position in a pixel at which shading inputs are sampled
    #[arg(long, value_parser = one_of::<Sampling>(), default_value = "centre")]
    pub(super) sampling: Sampling,
}

impl PipelineFlags {
    /// Units with their buffers, in the order of the flags.
    pub(super) fn choices(&self) -> Result<Vec<UnitChoice>> {
        let mut choices = Vec::new();
        let units: Vec<_> = self.units.iter().flat_map(|unit| unit.choices()).collect();
        let names: Vec<&str> = units.iter().map(|choice| choice.name()).collect();
        each_once("--unit", &names)?;
        each_once("--msaa", &self.msaa)?;
        each_once("--buffer", &self.buffers)?;
        let has_buffer = units.iter().any(|c| c.unit != MergeUnitKind::None);
        if !self.buffers.is_empty() && !has_buffer {
            let expected = "--unit qfm or pmu beside it";
            return Err(Error::argument("--buffer", expected, names.join(",")));
        }
        let buffers = self.buffers.iter().map(|buffer| entries(buffer));
        let buffers: Vec<Option<u32>> = buffers.collect::<Result<_>>()?;
        for choice in units {
            if buffers.is_empty() || choice.unit == MergeUnitKind::None {
                choices.push(choice);
                continue;
            }
            let is_finite = matches!(choice.unit, MergeUnitKind::Pmu(_));
            let fitting = buffers.iter().filter(|b| !is_finite || b.is_some());
            let before = choices.len();
            choices.extend(fitting.map(|&entries| UnitChoice {
                unit: choice.unit.with_entries(entries),
                ..choice
            }));
            if choices.len() == before {
                let expected = "a number of entries, since the buffer of pmu is finite";
                return Err(Error::argument("--buffer", expected, "unbounded"));
            }
        }
        Ok(choices)
    }

    /// The pattern of `samples` samples per pixel.
    pub(super) fn pattern(&self, samples: u32) -> Result<&'static SamplePattern> {
        let pattern = if self.coarse {
            SamplePattern::coarse(samples)
        } else {
            SamplePattern::standard(samples)
        };
        pattern.map(|p| p.shared()).map_err(|e| e.about("--msaa"))
    }
}

/// Refuses repeated values, whose rows and files would be the same.
pub(in crate::cli) fn each_once<T: PartialEq + ToString>(flag: &str, values: &[T]) -> Result<()> {
    match (1..values.len()).find(|&at| values[..at].contains(&values[at])) {
        None => Ok(()),
        Some(at) => {
            let found = format!("{} twice", values[at].to_string());
            Err(Error::argument(flag, "each value once", found))
        }
    }
}

/// Parses the entries of a buffer; `None` for "unbounded".
fn entries(text: &str) -> Result<Option<u32>> {
    if text == "unbounded" {
        return Ok(None);
    }
    let entries = text.parse().ok().filter(|n| (1..=MAX_ENTRIES).contains(n));
    entries.map(Some).ok_or_else(|| {
        let expected = format!("a number of entries from 1 to {MAX_ENTRIES}, or unbounded");
        Error::argument("--buffer", expected, text)
    })
}

/// Parses a number of MiB or GiB.
fn parse_memory(text: &str) -> std::result::Result<u64, String> {
    let unit = |suffix, shift: u32| {
        let number = text.strip_suffix(suffix)?.parse::<u64>().ok()?;
        number.checked_mul(1 << shift).filter(|bytes| *bytes > 0)
    };
    let bytes = unit('M', 20).or_else(|| unit('G', 30));
    bytes.ok_or_else(|| "expected a whole number of M or G, as in 512M or 4G".to_owned())
}

pub(in crate::cli) fn parse_checker(text: &str) -> std::result::Result<f32, String> {
    let checks = text
        .parse()
        .ok()
        .filter(|n: &f32| *n > 0.0 && n.is_finite());
    checks.ok_or_else(|| "expected a number above 0".to_owned())
}

/// Parses an area of `--tessellate`.
pub(super) fn parse_area(text: &str) -> std::result::Result<f64, String> {
    let (least, most) = AREA_RANGE_PX;
    let area = text
        .parse()
        .ok()
        .filter(|area| (least..=most).contains(area));
    area.ok_or_else(|| format!("expected an area from {least} to {most} pixels"))
}
