use std::path::Path;

use serde::Deserialize;

use super::blur::BlurSettings;
use crate::checks::{each_once, one_or_more, within};
use crate::mesh_input::Frames;
use crate::rows::{DeferredPipeline, MemoQuads, ShadingGridKind, TileSide};
use quadrille_base::error::Result;
use quadrille_base::math::SimdLevel;
use quadrille_deferred::config::DeferredConfig;
use quadrille_deferred::forward::colour::SampleColour;
use quadrille_deferred::memory::depth_buffer::DepthFormat;
use quadrille_deferred::sample::pattern::PixelPattern;
use quadrille_deferred::settings::DeferredSettings;
use quadrille_deferred::shading::grid_view::GridRule;
use quadrille_deferred::simulate::PipelineRun;
use quadrille_mesh::frame::Faces;

const MAX_SEEDS: u32 = 4096;

/// Settings of the pipelines. Several values of a setting give a row for each combination.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct PipelineSettings {
    /// Pipelines to run.
    #[serde(deserialize_with = "one_or_more")]
    pub pipeline: Vec<DeferredPipeline>,
    /// Samples per pixel: 1, 2, 4, 8 or 16.
    pub samples: u32,
    /// Positions of the samples in the pixel.
    pub pattern: PixelPattern,
    /// Seed of the samples.
    pub sample_seed: u64,
    /// Sides of the tiles of sort-based deferred shading.
    #[serde(deserialize_with = "one_or_more")]
    pub tile: Vec<TileSide>,
    /// Capacities of the memo of cached decoupled sampling.
    #[serde(deserialize_with = "one_or_more")]
    pub memo: Vec<MemoQuads>,
    /// Cells of the shading grids.
    #[serde(deserialize_with = "one_or_more")]
    pub grid: Vec<ShadingGridKind>,
    /// Size of adaptive cells: about a cell's side over the width of the blur.
    pub aas_quality: f64,
    /// Whether the bytes between pipelines and memory are measured.
    pub traffic: bool,
    /// Format of the colours of samples in memory.
    pub colour: SampleColour,
    /// Format of depths in memory.
    pub depth: DepthFormat,
    /// The modelled hardware.
    pub hardware: DeferredConfig,
    /// Sides of triangles to draw.
    pub faces: Faces,
    /// Frames with other samples whose mean each picture is compared with.
    pub truth: Option<u32>,
}

impl Default for PipelineSettings {
    /// Sort-based deferred shading of 16 Sobol samples per pixel on the pixel grid, with tiles of 128 pixels.
    fn default() -> Self {
        Self {
            pipeline: vec![DeferredPipeline::Sds],
            samples: 16,
            pattern: PixelPattern::Sobol,
            sample_seed: 0,
            tile: vec![TileSide(Some(128))],
            memo: vec![MemoQuads(Some(1024))],
            grid: vec![ShadingGridKind::Pixel],
            aas_quality: 0.5,
            traffic: false,
            colour: SampleColour::default(),
            depth: DepthFormat::default(),
            hardware: DeferredConfig::default(),
            faces: Faces::Material,
            truth: None,
        }
    }
}

impl PipelineSettings {
    fn check(&self) -> Result<()> {
        each_once("pipeline", &self.pipeline)?;
        each_once("grid", &self.grid)?;
        each_once("tile", &self.tile)?;
        each_once("memo", &self.memo)?;
        let quality = f64::MIN_POSITIVE..=16.0;
        let expected = "a number above 0, at most 16";
        within("aas_quality", Some(self.aas_quality), quality, expected)?;
        let expected = format!("a number from 1 to {MAX_SEEDS}");
        within("truth", self.truth, 1..=MAX_SEEDS, &expected)?;
        self.hardware.validate()
    }

    /// The pipelines with their tiles or memos.
    pub fn runs(&self) -> Vec<PipelineRun> {
        let jrk = |has_prepass| {
            let memos = self.memo.iter();
            let run = move |&MemoQuads(memo_quads): &MemoQuads| PipelineRun::CachedDecoupled {
                memo_quads,
                has_prepass,
            };
            memos.map(run).collect()
        };
        let runs = self.pipeline.iter().flat_map(|pipeline| match pipeline {
            DeferredPipeline::Sds => {
                let tiles = self.tile.iter();
                let run = |&TileSide(tile_px): &TileSide| PipelineRun::Sds { tile_px };
                tiles.map(run).collect()
            }
            DeferredPipeline::CachedDecoupled => jrk(false),
            DeferredPipeline::CachedDecoupledZ => jrk(true),
            DeferredPipeline::Msaa => vec![PipelineRun::Msaa],
        });
        runs.collect()
    }

    pub(super) fn frame(&self, grid: ShadingGridKind, level: SimdLevel) -> DeferredSettings {
        DeferredSettings {
            samples: self.samples,
            pattern: self.pattern,
            seed: self.sample_seed,
            grid: match grid {
                ShadingGridKind::Pixel => GridRule::Pixel,
                ShadingGridKind::Adaptive => GridRule::Adaptive { quality: self.aas_quality },
            },
            faces: self.faces,
            keeps_depths: false,
            level,
        }
    }
}

/// Frames with motion and defocus blur.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct DeferredFrames {
    /// Motion and lens.
    #[serde(flatten)]
    pub blur: BlurSettings,
    /// The pipelines.
    #[serde(flatten)]
    pub pipeline: PipelineSettings,
}

impl Frames for DeferredFrames {
    fn check(&self) -> Result<()> {
        self.blur.check()?;
        self.pipeline.check()
    }

    fn files(&self) -> impl Iterator<Item = &Path> {
        self.blur.motion.as_deref().into_iter()
    }
}
