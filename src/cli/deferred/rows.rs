//! The combinations of settings of `deferred`.

use super::args::{PipelineFlag, PipelineFlags};
use quadrille_base::error::Result;
use quadrille_deferred::simulate::PipelineRun;

/// A pipeline with its tile or memo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PipelineChoice {
    pub(super) pipeline: PipelineFlag,
    pub(super) run: PipelineRun,
}

impl PipelineChoice {
    /// The choices, in the order of the flags.
    pub(super) fn all(flags: &PipelineFlags) -> Result<Vec<Self>> {
        let (tiles, memos) = (flags.tiles()?, flags.memos()?);
        let choices = flags.pipelines.iter().flat_map(|&pipeline| {
            let runs: Vec<_> = match pipeline {
                PipelineFlag::Sds => {
                    let tiles = tiles.iter();
                    tiles.map(|&tile_px| PipelineRun::Sds { tile_px }).collect()
                }
                PipelineFlag::CachedDecoupled | PipelineFlag::CachedDecoupledZ => {
                    let has_prepass = pipeline == PipelineFlag::CachedDecoupledZ;
                    let memos = memos.iter();
                    let run = |&memo_quads| PipelineRun::CachedDecoupled {
                        memo_quads,
                        has_prepass,
                    };
                    memos.map(run).collect()
                }
                PipelineFlag::Msaa => vec![PipelineRun::Msaa],
            };
            runs.into_iter().map(move |run| Self { pipeline, run })
        });
        Ok(choices.collect())
    }

    /// Side of the tiles, or "whole".
    pub(super) fn tile(self) -> Option<String> {
        match self.run {
            PipelineRun::Sds { tile_px } => Some(or(tile_px, "whole")),
            _ => None,
        }
    }

    /// Quads of the memo, or "unbounded".
    pub(super) fn memo(self) -> Option<String> {
        match self.run {
            PipelineRun::CachedDecoupled { memo_quads, .. } => Some(or(memo_quads, "unbounded")),
            _ => None,
        }
    }

    /// Name in file names.
    pub(super) fn name(self, grid: &str, area: Option<f64>) -> String {
        let mut name = self.pipeline.name().to_owned();
        for part in [self.tile(), self.memo()].into_iter().flatten() {
            name += &format!("-{part}");
        }
        if grid != "pixel" {
            name += &format!("-{grid}");
        }
        if let Some(area) = area {
            name += &format!("-{area}px");
        }
        name
    }
}

fn or(number: Option<u32>, none: &str) -> String {
    number.map_or(none.to_owned(), |n| n.to_string())
}
