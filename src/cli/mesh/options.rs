//! The flags of `mesh` that say what is done to a frame, checked.

use std::sync::LazyLock;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::error::{Error, Result};
use crate::math::SimdLevel;
use crate::mesh::frame::{Cull, Faces, FrameSettings};
use crate::mesh::merge::{MergeUnitKind, PmuSettings, QfmSettings};
use crate::mesh::shade::{Albedo, Sampling, ShadeSettings};
use crate::mesh::tessellate::AREA_RANGE_PX;
use crate::raster::samples::SamplePattern;
use crate::scene::Camera;

/// Entries of a merging unit's buffer at most, beside "unbounded".
const MAX_ENTRIES: u32 = 1 << 20;

/// A unit, or Reyes, which shades grid vertices and has no unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UnitChoice {
    pub(super) unit: MergeUnitKind,
    pub(super) is_reyes: bool,
}

impl UnitChoice {
    /// Name on the command line.
    pub(super) fn name(self) -> &'static str {
        if self.is_reyes {
            "reyes"
        } else {
            self.unit.name()
        }
    }
}

/// The values of a flag: name, help and meaning of each.
type Values<T> = [(&'static str, &'static str, T)];

/// A parser of the names of `values`.
pub(super) fn one_of<T: Clone + Send + Sync + 'static>(
    values: &'static Values<T>,
) -> impl TypedValueParser<Value = T> {
    let names = values.iter();
    let names = names.map(|(name, help, _)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(names).try_map(|name| {
        let mut named = values.iter().filter(|value| value.0 == name);
        named.next().map(|value| value.2.clone()).ok_or(name)
    })
}

/// Units that a value of `--unit` stands for.
#[derive(Debug, Clone)]
pub(super) struct Units(Vec<UnitChoice>);

static UNITS: LazyLock<[(&str, &str, Units); 5]> = LazyLock::new(|| {
    let [none, qfm, pmu] = [
        MergeUnitKind::None,
        MergeUnitKind::Qfm(QfmSettings::default()),
        MergeUnitKind::Pmu(PmuSettings::default()),
    ]
    .map(|unit| UnitChoice {
        unit,
        is_reyes: false,
    });
    let reyes = UnitChoice {
        is_reyes: true,
        ..none
    };
    let of = |choice| Units(vec![choice]);
    [
        ("none", "Nothing: every quad is shaded", of(none)),
        ("qfm", "Quad-fragment merging", of(qfm)),
        ("pmu", "Pixel merging", of(pmu)),
        (
            "reyes",
            "No quads: grid vertices are shaded before the raster, as Reyes does",
            of(reyes),
        ),
        ("all", "Each of them", Units(vec![none, qfm, pmu, reyes])),
    ]
});

/// What is done to a frame. Flags that take several values, separated by commas, make a table of
/// all combinations.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Pipeline")]
pub(super) struct PipelineFlags {
    /// The unit between the depth test and the shader
    #[arg(long = "unit", value_name = "UNIT", value_parser = one_of(&*UNITS), value_delimiter = ',', default_value = "none")]
    pub(super) units: Vec<Units>,
    /// Samples per pixel: 1, 2, 4, 8 or 16
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "4")]
    pub(super) msaa: Vec<u32>,
    /// Entries of the unit's buffer, or "unbounded" (qfm alone) [default: 32 of qfm, 512 of pmu]
    #[arg(long = "buffer", value_name = "N", value_delimiter = ',')]
    pub(super) buffers: Vec<String>,
    /// What the depth test culls before shading
    #[arg(long, value_enum, default_value = "quads")]
    cull: Cull,
    /// Sides of triangles to draw
    #[arg(long, value_enum, default_value = "front")]
    faces: Faces,
    /// Shade 2x2 pixels at once, with all their samples (1, 2 or 4 per pixel)
    #[arg(long)]
    pub(super) coarse: bool,
    /// Position in a pixel at which shading inputs are sampled
    #[arg(long, value_enum, default_value = "centre")]
    pub(super) sampling: Sampling,
    /// Colour what has no texture with a checker of this many checks per unit of texture space
    #[arg(long, value_name = "CHECKS")]
    checker: Option<f32>,
}

impl PipelineFlags {
    /// Units with their buffers, in the order asked for.
    pub(super) fn choices(&self) -> Result<Vec<UnitChoice>> {
        let mut choices = Vec::new();
        let units = self.units.iter().flat_map(|units| &units.0);
        let units: Vec<UnitChoice> = units.copied().collect();
        let names: Vec<&str> = units.iter().map(|choice| choice.name()).collect();
        each_once("--unit", &names)?;
        each_once("--msaa", &self.msaa)?;
        each_once("--buffer", &self.buffers)?;
        let has_buffer = units.iter().any(|c| c.unit != MergeUnitKind::None);
        if !self.buffers.is_empty() && !has_buffer {
            let found = names.join(",");
            return Err(Error::argument(
                "--buffer",
                "--unit qfm or pmu beside it",
                found,
            ));
        }
        for choice in units {
            if self.buffers.is_empty() || choice.unit == MergeUnitKind::None {
                choices.push(choice);
                continue;
            }
            for buffer in &self.buffers {
                let entries = entries(buffer)?;
                if entries.is_none() && matches!(choice.unit, MergeUnitKind::Pmu(_)) {
                    let expected = "a number of entries: the pixel merge unit's are finite";
                    return Err(Error::argument("--buffer", expected, buffer));
                }
                let unit = choice.unit.with_entries(entries);
                choices.push(UnitChoice { unit, ..choice });
            }
        }
        Ok(choices)
    }

    /// Settings of a frame of `samples` samples per pixel.
    pub(super) fn settings(
        &self,
        camera: &Camera,
        samples: u32,
        level: SimdLevel,
    ) -> Result<FrameSettings> {
        Ok(FrameSettings {
            size: [camera.width, camera.height],
            pattern: self.pattern(samples)?,
            faces: self.faces,
            cull: self.cull,
            level,
        })
    }

    /// The sample pattern of so many samples per pixel.
    pub(super) fn pattern(&self, samples: u32) -> Result<&'static SamplePattern> {
        let pattern = if self.coarse {
            SamplePattern::coarse(samples)
        } else {
            SamplePattern::standard(samples)
        };
        pattern.map(|p| p.shared()).map_err(|e| e.about("--msaa"))
    }

    /// How surfaces are coloured.
    pub(super) fn shade(&self) -> Result<ShadeSettings> {
        let albedo = match self.checker {
            None => Albedo::Plain,
            Some(scale) if scale > 0.0 && scale.is_finite() => Albedo::Checker { scale },
            Some(scale) => {
                return Err(Error::argument(
                    "--checker",
                    "a number above 0",
                    scale.to_string(),
                ));
            }
        };
        Ok(ShadeSettings { albedo })
    }
}

/// Refuses values that come twice: their rows and files would be the same.
pub(super) fn each_once<T: PartialEq + ToString>(flag: &str, values: &[T]) -> Result<()> {
    let twice = values.iter().enumerate();
    let mut twice = twice.filter(|(at, value)| values[..*at].contains(*value));
    match twice.next() {
        None => Ok(()),
        Some((_, value)) => {
            let found = format!("{} twice", value.to_string());
            Err(Error::argument(flag, "each value once", found))
        }
    }
}

/// Entries of a buffer; `None` for "unbounded".
fn entries(text: &str) -> Result<Option<u32>> {
    if text == "unbounded" {
        return Ok(None);
    }
    let entries = text.parse().ok().filter(|n| (1..=MAX_ENTRIES).contains(n));
    entries.map(Some).ok_or_else(|| {
        Error::argument(
            "--buffer",
            format!("a number of entries from 1 to {MAX_ENTRIES}, or unbounded"),
            text,
        )
    })
}

pub(super) fn area(value: f64) -> Result<f64> {
    let (least, most) = AREA_RANGE_PX;
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    Err(Error::argument(
        "--tessellate",
        format!("an area from {least} to {most} pixels"),
        value.to_string(),
    ))
}
