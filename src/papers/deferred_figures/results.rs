//! Rows of `deferred` by run.

use serde_json::Value;

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
                "jrk,jrk+z,sds",
                "--grid",
                "pixel,adaptive",
                "--traffic",
            ],
            Self::Blur => &[
                "--pipeline",
                "msaa,jrk,jrk+z,sds",
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
    pub rows: Vec<Value>,
    /// Heat maps with their captions.
    pub heat: Vec<(String, Vec<u8>)>,
}

impl Run {
    /// The row of a pipeline with a grid, with tiles of 128 pixels or a memo of 1024 quads.
    pub(crate) fn row(&self, pipeline: &str, grid: &str) -> Option<&Value> {
        self.rows.iter().find(|row| is_row(row, pipeline, grid))
    }

    /// The row of sds with tiles of a size, which is a number of pixels or "whole".
    pub(super) fn tile(&self, grid: &str, tile: &Value) -> Option<&Value> {
        self.rows
            .iter()
            .find(|r| r["pipeline"] == "sds" && r["grid"] == grid && r["tile_px"] == *tile)
    }

    /// The row of jrk with a memo.
    pub(super) fn memo(&self, grid: &str, quads: u64) -> Option<&Value> {
        self.rows
            .iter()
            .find(|r| r["pipeline"] == "jrk" && r["grid"] == grid && r["memo_quads"] == quads)
    }

    /// A number of a pipeline's row.
    pub(super) fn number(&self, pipeline: &str, grid: &str, path: &str) -> Option<f64> {
        number(self.row(pipeline, grid)?, path)
    }

    /// Bytes that a pipeline moves.
    pub(super) fn bytes(&self, pipeline: &str, grid: &str) -> Option<f64> {
        self.number(pipeline, grid, "/traffic_bytes/total")
    }

    /// Median motion and circle of confusion in pixels.
    pub(super) fn blur(&self) -> [Option<f64>; 2] {
        let row = self.rows.first();
        ["/blur/motion_px/median", "/blur/coc_px/median"].map(|path| number(row?, path))
    }
}

/// Whether a row belongs to a pipeline with a grid, with tiles of 128 pixels or a memo of 1024 quads.
pub(super) fn is_row(row: &Value, pipeline: &str, grid: &str) -> bool {
    let (tile, memo) = (&row["tile_px"], &row["memo_quads"]);
    row["pipeline"] == pipeline
        && row["grid"] == grid
        && (tile.is_null() || *tile == TILE_PX)
        && (memo.is_null() || *memo == MEMO_QUADS)
}

/// A number of a row, by its JSON pointer.
pub(super) fn number(row: &Value, path: &str) -> Option<f64> {
    row.pointer(path)?.as_f64()
}

/// The least and the greatest of some numbers.
pub(super) fn range(numbers: impl IntoIterator<Item = f64>) -> Option<[f64; 2]> {
    numbers.into_iter().fold(None, |range, n| match range {
        None => Some([n, n]),
        Some([least, most]) => Some([least.min(n), most.max(n)]),
    })
}

/// The mean of some numbers.
pub(super) fn mean(numbers: &[f64]) -> Option<f64> {
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}

/// All results.
#[derive(Debug)]
pub struct Results {
    runs: Vec<Run>,
    /// Arguments of `quadrille figures` that make the page.
    pub command: String,
}

impl Results {
    /// Collects runs.
    pub fn new(runs: Vec<Run>, command: String) -> Self {
        Self { runs, command }
    }

    /// The runs of a kind that have rows, in the order of the suite.
    pub(crate) fn of(&self, kind: Kind) -> Vec<&Run> {
        let runs = self.runs.iter();
        runs.filter(|run| run.kind == kind && !run.rows.is_empty())
            .collect()
    }
}
