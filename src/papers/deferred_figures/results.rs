//! Rows of `deferred` by run.

use serde_json::Value;

/// A row of the document of `deferred --json`.
pub(super) type Row = Value;
/// A number of a row.
pub(super) type Measure = fn(&Row) -> Option<f64>;

pub(super) const EXECUTIONS: Measure = |row| row.pointer("/shading/per_pixel")?.as_f64();
pub(super) const QUADS: Measure = |row| row.pointer("/shading/quads")?.as_f64();
pub(super) const GOPS: Measure = |row| row.pointer("/raster/gops/total")?.as_f64();
pub(super) const EFFICIENCY: Measure = |row| row.pointer("/raster/efficiency")?.as_f64();
pub(super) const BYTES: Measure = |row| row.pointer("/traffic_bytes/total")?.as_f64();
pub(super) const DEPTH_BYTES: Measure = |row| both_ways(row, "depth");
pub(super) const COLOUR_BYTES: Measure = |row| both_ways(row, "colour");
pub(super) const SPID_RATIO: Measure = |row| row.pointer("/spid/ratio")?.as_f64();
pub(super) const SORT_PASSES: Measure = |row| row.pointer("/sort/passes_mean")?.as_f64();
pub(super) const SORT_BYTES: Measure = |row| row.pointer("/sort/on_chip_bytes")?.as_f64();
const MOTION_PX: Measure = |row| row.pointer("/blur/motion_px/median")?.as_f64();
const COC_PX: Measure = |row| row.pointer("/blur/coc_px/median")?.as_f64();

fn both_ways(row: &Row, buffer: &str) -> Option<f64> {
    let buffer = row.get("traffic_bytes")?.get(buffer)?;
    Some(buffer.get("read")?.as_f64()? + buffer.get("write")?.as_f64()?)
}

pub(super) const MSAA: &str = "msaa";
pub(super) const JRK: &str = "cached-decoupled";
pub(super) const JRK_Z: &str = "cached-decoupled+z";
pub(super) const SDS: &str = "sds";
/// Pipelines that are compared by traffic.
pub(super) const PIPELINES: [&str; 3] = [JRK, JRK_Z, SDS];

pub(super) const PIXEL: &str = "pixel";
pub(super) const ADAPTIVE: &str = "adaptive";

/// What a run is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A scene with traffic.
    Scene,
    /// An amount of blur, with tiles of several sizes and memos of several sizes.
    Blur,
    /// Views along a camera path, with traffic.
    Trace,
    /// A view with heat maps.
    Heat,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Scene, Self::Blur, Self::Trace, Self::Heat];

    /// Name in suites and results files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scene => "scene",
            Self::Blur => "blur",
            Self::Trace => "trace",
            Self::Heat => "heat",
        }
    }

    /// Flags of `deferred` that the figures of the kind need.
    pub fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Scene | Self::Trace => &[
                "--pipeline",
                "cached-decoupled,cached-decoupled+z,sds",
                "--grid",
                "pixel,adaptive",
                "--traffic",
            ],
            Self::Blur => &[
                "--pipeline",
                "msaa,cached-decoupled,cached-decoupled+z,sds",
                "--grid",
                "pixel,adaptive",
                "--tile",
                "32,64,128,256,whole",
                "--memo",
                "16,64,256,1024",
            ],
            Self::Heat => &[
                "--pipeline",
                "sds",
                "--grid",
                "pixel,adaptive",
                "--tile",
                "32",
            ],
        }
    }
}

/// Side of the tiles and quads of the memo of rows that are compared, as in the paper.
const TILE_PX: u64 = 128;
const MEMO_QUADS: u64 = 1024;

/// A run of `deferred` with its results.
#[derive(Debug, Clone)]
pub struct Run {
    /// Purpose of the run.
    pub kind: Kind,
    /// Name in the suite.
    pub name: String,
    /// Rows of the document of `deferred --json`.
    pub rows: Vec<Row>,
    /// Heat maps with their captions.
    pub heat: Vec<(String, Vec<u8>)>,
}

impl Run {
    /// A number of a pipeline with a grid, with tiles of 128 pixels or a memo of 1024 quads.
    pub(super) fn number(&self, pipeline: &str, grid: &str, of: Measure) -> Option<f64> {
        of(self.rows.iter().find(|row| {
            let (tile, memo) = (&row["tile_px"], &row["memo_quads"]);
            row["pipeline"] == pipeline
                && row["grid"] == grid
                && (tile.is_null() || *tile == TILE_PX)
                && (memo.is_null() || *memo == MEMO_QUADS)
        })?)
    }

    /// A number of sds with tiles of a size in pixels, or with one tile for the whole screen.
    pub(super) fn tile(&self, grid: &str, tile: Option<u32>, of: Measure) -> Option<f64> {
        let tile = tile.map_or(Value::from("whole"), Value::from);
        of(self
            .rows
            .iter()
            .find(|r| r["pipeline"] == SDS && r["grid"] == grid && r["tile_px"] == tile)?)
    }

    /// A number of cached decoupled sampling with a memo of some quads.
    pub(super) fn memo(&self, grid: &str, quads: u32, of: Measure) -> Option<f64> {
        of(self
            .rows
            .iter()
            .find(|r| r["pipeline"] == JRK && r["grid"] == grid && r["memo_quads"] == quads)?)
    }

    /// Median motion and circle of confusion in pixels.
    pub(super) fn blur(&self) -> [Option<f64>; 2] {
        [MOTION_PX, COC_PX].map(|of| of(self.rows.first()?))
    }

    /// Name of the view of the first row.
    pub(super) fn view(&self) -> &str {
        let view = self.rows.first().and_then(|row| row["view"].as_str());
        view.unwrap_or_default()
    }

    /// The run view by view.
    pub(super) fn views(&self) -> Vec<Self> {
        let mut views: Vec<Self> = Vec::new();
        for row in &self.rows {
            match views.iter_mut().find(|run| row["view"] == run.view()) {
                Some(run) => run.rows.push(row.clone()),
                None => views.push(Self {
                    rows: vec![row.clone()],
                    heat: Vec::new(),
                    ..self.clone()
                }),
            }
        }
        views
    }
}

/// All results.
#[derive(Debug)]
pub struct Results {
    /// Runs in the order of the suite.
    pub runs: Vec<Run>,
}

impl Results {
    /// The runs of a kind that have rows, in the order of the suite.
    pub(super) fn of(&self, kind: &str) -> Vec<&Run> {
        let runs = self.runs.iter();
        runs.filter(|run| run.kind.name() == kind && !run.rows.is_empty())
            .collect()
    }
}
