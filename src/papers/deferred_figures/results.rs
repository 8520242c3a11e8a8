//! Rows of `deferred` by run.

use std::path::Path;

use crate::studies::{Studies, StudyRun};
use quadrille_base::error::Result;
use quadrille_suite::rows::{
    DeferredPipeline, DeferredRow, MemoQuads, ShadingGridKind, TileSide, TrafficRow,
};
use quadrille_suite::{MeshRows, MeshRunRow};

pub(super) type Measure = fn(&DeferredRow) -> Option<f64>;

pub(super) const EXECUTIONS: Measure = |row| Some(row.shading.per_pixel);
pub(super) const QUADS: Measure = |row| Some(row.shading.quads as f64);
pub(super) const GOPS: Measure = |row| Some(row.raster.gops.total);
pub(super) const EFFICIENCY: Measure = |row| Some(row.raster.efficiency);
pub(super) const BYTES: Measure = |row| Some(row.traffic_bytes?.total as f64);
pub(super) const DEPTH_BYTES: Measure = |row| bytes(row, |t| t.buffers.depth.bytes());
pub(super) const COLOUR_BYTES: Measure = |row| bytes(row, |t| t.buffers.colour.bytes());
pub(super) const SPID_RATIO: Measure = |row| Some(row.spid?.ratio);
pub(super) const SORT_PASSES: Measure = |row| Some(row.sort?.passes_mean);
pub(super) const SORT_BYTES: Measure = |row| Some(row.sort?.on_chip_bytes? as f64);

fn bytes(row: &DeferredRow, of: fn(&TrafficRow) -> u64) -> Option<f64> {
    Some(of(&row.traffic_bytes?) as f64)
}

pub(super) const MSAA: DeferredPipeline = DeferredPipeline::Msaa;
pub(super) const JRK: DeferredPipeline = DeferredPipeline::CachedDecoupled;
pub(super) const JRK_Z: DeferredPipeline = DeferredPipeline::CachedDecoupledZ;
pub(super) const SDS: DeferredPipeline = DeferredPipeline::Sds;
pub(super) const PIPELINES: [DeferredPipeline; 3] = [JRK, JRK_Z, SDS];

pub(super) const PIXEL: ShadingGridKind = ShadingGridKind::Pixel;
pub(super) const ADAPTIVE: ShadingGridKind = ShadingGridKind::Adaptive;

/// Tile side and memo size of the compared rows, as in the paper.
const TILE: TileSide = TileSide(Some(128));
const MEMO: MemoQuads = MemoQuads(Some(1024));

/// A run of `deferred` with its results.
pub type DeferredRun = StudyRun<DeferredRow>;

/// All runs of `deferred` in a report.
pub type DeferredResults = Studies<DeferredRow>;

impl DeferredRun {
    pub(super) fn number(
        &self,
        pipeline: DeferredPipeline,
        grid: ShadingGridKind,
        of: Measure,
    ) -> Option<f64> {
        self.find(of, |row| {
            row.pipeline == pipeline
                && row.grid == grid
                && row.tile_px.is_none_or(|tile| tile == TILE)
                && row.memo_quads.is_none_or(|memo| memo == MEMO)
        })
    }

    /// A measure of SDS with tiles of `tile` pixels per side, or with the whole screen as one tile.
    pub(super) fn tile(
        &self,
        grid: ShadingGridKind,
        tile: Option<u32>,
        of: Measure,
    ) -> Option<f64> {
        let tile = Some(TileSide(tile));
        self.find(of, |r| r.pipeline == SDS && r.grid == grid && r.tile_px == tile)
    }

    pub(super) fn memo(&self, grid: ShadingGridKind, quads: u32, of: Measure) -> Option<f64> {
        let memo = Some(MemoQuads(Some(quads)));
        self.find(of, |r| r.pipeline == JRK && r.grid == grid && r.memo_quads == memo)
    }

    fn find(&self, of: Measure, is_it: impl Fn(&DeferredRow) -> bool) -> Option<f64> {
        of(self.rows.iter().find(|row| is_it(row))?)
    }

    pub(super) fn blur(&self) -> [Option<f64>; 2] {
        let blur = self.rows.first().map(|row| row.blur);
        [blur.map(|b| b.motion_px.median), blur.map(|b| b.coc_px.median)]
    }

    pub(super) fn view(&self) -> &str {
        self.rows.first().map_or("", |row| &row.view)
    }

    pub(super) fn views(&self) -> Vec<Self> {
        let mut views: Vec<Self> = Vec::new();
        for row in &self.rows {
            match views.iter_mut().find(|run| row.view == run.view()) {
                Some(run) => run.rows.push(row.clone()),
                None => {
                    views.push(Self { rows: vec![row.clone()], heat: Vec::new(), ..self.clone() });
                }
            }
        }
        views
    }
}

impl DeferredResults {
    /// Takes the runs of `deferred` that have rows, whose heat maps lie in `folder`.
    ///
    /// # Errors
    /// Errors of reading the heat maps.
    pub fn new(rows: &[MeshRunRow], folder: &Path) -> Result<Self> {
        let runs = rows.iter().filter_map(|run| match &run.rows {
            MeshRows::Deferred(rows) if !rows.is_empty() => Some((run, rows)),
            _ => None,
        });
        let runs = runs.map(|(run, rows)| {
            Ok(DeferredRun {
                key: run.key.clone(),
                rows: rows.clone(),
                heat: run.pictures(folder)?,
            })
        });
        Ok(Self(runs.collect::<Result<_>>()?))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use quadrille_suite::MeshRunKey;

    #[test]
    fn runs_without_rows_are_left_out() {
        let key = MeshRunKey {
            study: "blur".to_owned(),
            mesh: "arcade".to_owned(),
            variant: None,
            settings: [].into(),
        };
        let empty = MeshRunRow {
            key,
            commit: String::new(),
            fingerprint: String::new(),
            host_s: 0.0,
            files: Vec::new(),
            inputs: BTreeMap::new(),
            outputs: Vec::new(),
            rows: MeshRows::Deferred(Vec::new()),
        };
        let results = DeferredResults::new(&[empty], Path::new("")).unwrap();
        assert_eq!(results.of("blur").count(), 0);
    }
}
