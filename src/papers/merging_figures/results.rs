//! Runs of `mesh` by study, and the measures of their rows.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::studies::{Studies, StudyRun};
use quadrille_base::error::{Error, Result};
pub(super) use quadrille_suite::rows::MergingUnit as Unit;
use quadrille_suite::rows::{BufferEntries, MergingUnit, MeshRow};
use quadrille_suite::{MeshRows, MeshRunRow, unique};

/// Set of assumptions of studies that do not vary them.
const DEFAULT_SET: &str = "bound, rows";
/// Name of the set of assumptions under which runs of the study "random" are listed: triangles in random order.
pub(super) const RANDOM_SET: &str = "bound, random";
pub(super) const ENTRIES: Option<u32> = Some(32);

/// Counts of a row of `mesh`, from which all numbers of the figures are computed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MergingCounts {
    pub(super) unit: MergingUnit,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) buffer: Option<BufferEntries>,
    /// Samples per pixel; kept counts may lack them where the study does not vary them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) msaa: Option<u32>,
    /// Target area of triangles in pixels, if they are tessellated; kept counts may lack it as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) area_px: Option<f64>,
    pub(super) triangles: u64,
    pub(super) mean_px: Option<f64>,
    /// Runs of the shader: four per quad, one per vertex of Reyes.
    pub(super) shaded: u64,
    pub(super) pixels: u64,
    pub(super) rasterized: u64,
    /// Quads without a sample that passes the depth test.
    pub(super) culled: u64,
    /// Quads that reach the unit and have a partially covered pixel.
    pub(super) partial: u64,
    /// PSNR against the unmerged picture over the covered pixels in dB, if it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) psnr_covered_db: Option<f64>,
}

impl From<&MeshRow> for MergingCounts {
    fn from(row: &MeshRow) -> Self {
        Self {
            unit: row.unit,
            buffer: row.buffer,
            msaa: Some(row.msaa),
            area_px: row.triangle_area_px,
            triangles: row.triangles,
            mean_px: row.triangle_area_mean_px,
            shaded: row.fragments_shaded,
            pixels: row.pixels_covered,
            rasterized: row.quads.rasterized,
            culled: row.quads.culled,
            partial: row.quads.partial,
            psnr_covered_db: row.psnr_vs_none_covered_db,
        }
    }
}

impl MergingCounts {
    pub(super) fn per_pixel(&self) -> f64 {
        self.shaded as f64 / self.pixels.max(1) as f64
    }

    fn tested(&self) -> u64 {
        self.rasterized - self.culled
    }

    pub(super) fn reduction(&self) -> f64 {
        4.0 * self.tested() as f64 / self.shaded.max(1) as f64
    }

    fn merged(&self) -> f64 {
        self.tested() as f64 - self.shaded as f64 / 4.0
    }

    pub(super) fn savings(&self) -> f64 {
        self.merged() / self.tested().max(1) as f64
    }

    pub(super) fn partial_share(&self) -> f64 {
        self.partial as f64 / self.tested().max(1) as f64
    }

    pub(super) fn efficiency(&self) -> f64 {
        self.merged() / self.partial.max(1) as f64
    }
}

/// A run of `mesh` with its counts: a line of a file of kept results.
pub type MergingRun = StudyRun<MergingCounts>;

/// All runs of `mesh`.
pub type MergingResults = Studies<MergingCounts>;

impl MergingRun {
    /// Row of a unit; `entries` of `None` is an unbounded buffer.
    pub(super) fn row(&self, unit: Unit, entries: Option<u32>) -> Option<&MergingCounts> {
        let buffer =
            if let Unit::Qfm | Unit::Pmu = unit { Some(BufferEntries(entries)) } else { None };
        self.rows.iter().find(|row| row.unit == unit && row.buffer == buffer)
    }

    pub(super) fn of_unit(
        &self,
        unit: Unit,
        entries: u32,
        of: fn(&MergingCounts) -> f64,
    ) -> Option<f64> {
        self.row(unit, Some(entries)).map(of)
    }
}

/// Scene under one set of assumptions: with quads culled, and with only grids culled if it was run.
#[derive(Clone)]
pub(super) struct Frame {
    pub(super) quads: MergingRun,
    grids: Option<MergingRun>,
}

pub(super) type Measure = fn(&Frame) -> Option<f64>;

impl Frame {
    fn per_pixel(run: &MergingRun, unit: Unit, entries: Option<u32>) -> Option<f64> {
        Some(run.row(unit, entries)?.per_pixel())
    }

    /// Shadings per covered pixel without merging.
    pub(super) fn none(&self) -> Option<f64> {
        Self::per_pixel(&self.quads, Unit::None, None)
    }

    /// Shadings per covered pixel with a buffer of 32 entries.
    pub(super) fn qfm(&self) -> Option<f64> {
        Self::per_pixel(&self.quads, Unit::Qfm, ENTRIES)
    }

    pub(super) fn qfm_grids(&self) -> Option<f64> {
        Self::per_pixel(self.grids.as_ref()?, Unit::Qfm, ENTRIES)
    }

    pub(super) fn reyes(&self) -> Option<f64> {
        Self::per_pixel(&self.quads, Unit::Reyes, None)
    }

    pub(super) fn less(&self) -> Option<f64> {
        Some(self.none()? / self.qfm()?)
    }

    /// Share of an unbounded buffer's merges that a buffer of 32 entries reaches.
    pub(super) fn share(&self) -> Option<f64> {
        let (none, unbounded) = (self.none()?, Self::per_pixel(&self.quads, Unit::Qfm, None)?);
        Some((none - self.qfm()?) / (none - unbounded))
    }

    pub(super) fn over_reyes(&self) -> Option<f64> {
        Some(self.qfm()? / self.reyes()?)
    }

    pub(super) fn over_reyes_grids(&self) -> Option<f64> {
        Some(self.qfm_grids()? / self.reyes()?)
    }

    pub(super) fn mean_px(&self) -> Option<f64> {
        self.quads.rows.first()?.mean_px
    }
}

impl MergingResults {
    /// Takes the counts of the runs of `mesh`.
    pub fn new(rows: &[MeshRunRow]) -> Self {
        let runs = rows.iter().filter_map(|run| match &run.rows {
            MeshRows::Merging(rows) => Some(MergingRun {
                key: run.key.clone(),
                rows: rows.iter().map(MergingCounts::from).collect(),
                heat: Vec::new(),
            }),
            MeshRows::Deferred(_) => None,
        });
        Self(runs.collect())
    }

    /// Writes a file of kept results, with a run per line.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.0.iter().try_for_each(|run| writeln!(out, "{}", serde_json::to_string(run)?))
    }

    /// Reads a file of kept results, with a run per line.
    ///
    /// # Errors
    /// [`Error::Read`], and [`Error::Malformed`] naming the first line that is not a run.
    pub fn read_kept(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).map_err(|e| Error::read(path, e))?;
        let runs = text.lines().zip(1..).map(|(line, number)| {
            serde_json::from_str(line).map_err(|error| {
                let place = format!("line {number}");
                Error::malformed(path, place, "a run of `mesh` with its counts", error)
            })
        });
        Ok(Self(runs.collect::<Result<_>>()?))
    }

    pub(super) fn frames(&self, studies: &[&str], set: &str) -> Vec<Frame> {
        let set_of = |run: &MergingRun| match run.key.study.as_str() {
            "random" => RANDOM_SET.to_owned(),
            _ => run.setting("assumptions").unwrap_or(DEFAULT_SET).to_owned(),
        };
        let runs = studies.iter().flat_map(|study| self.of(study));
        let runs: Vec<&MergingRun> = runs.filter(|run| set_of(run) == set).collect();
        let culls =
            |run: &MergingRun, what: &str| run.setting("culling").unwrap_or("quads") == what;
        let quads = runs.iter().filter(|run| culls(run, "quads"));
        let frames = quads.map(|quads| {
            let grids = runs.iter().find(|run| culls(run, "grids") && run.name() == quads.name());
            Frame { quads: (*quads).clone(), grids: grids.map(|run| (*run).clone()) }
        });
        frames.collect()
    }

    pub(super) fn default_frames(&self) -> Vec<Frame> {
        self.frames(&["merging"], DEFAULT_SET)
    }

    pub(super) fn sets(&self) -> Vec<&str> {
        unique(self.of("merging").filter_map(|run| run.setting("assumptions")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_keys_of_kept_runs_are_refused() {
        let run = |key: &str| {
            let text =
                format!(r#"{{"study":"areas","mesh":"FROG","{key}":{{"area":"1"}},"rows":[]}}"#);
            serde_json::from_str::<MergingRun>(&text)
        };
        assert_eq!(run("settings").unwrap().setting("area"), Some("1"));
        let error = run("setings").unwrap_err().to_string();
        assert!(error.contains("setings"), "{error}");
    }
}
