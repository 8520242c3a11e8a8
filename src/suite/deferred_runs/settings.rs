use std::path::Path;

use serde::Deserialize;

use super::mesh_motion::MeshMotionSettings;
use crate::blur::{CameraMotionSettings, LensSettings};
use crate::checks::{each_once, one_or_more, within};
#[cfg(feature = "cli")]
use crate::merging_runs::MEASUREMENTS;
use crate::mesh_input::Frames;
use crate::rows::{DeferredPipeline, MemoQuads, ShadingGridKind, TileSide};
use crate::suite_table::{SuiteTable, TableParts};
use quadrille_base::error::Result;
use quadrille_base::math::SimdLevel;
#[cfg(feature = "cli")]
use quadrille_base::parse::{number, whole_number};
use quadrille_deferred::config::DeferredConfig;
use quadrille_deferred::forward::colour::SampleColour;
use quadrille_deferred::memory::depth_buffer::DepthFormat;
use quadrille_deferred::sample::pattern::PixelPattern;
use quadrille_deferred::settings::DeferredSettings;
use quadrille_deferred::shading::grid_view::GridRule;
use quadrille_deferred::simulate::PipelineRun;
use quadrille_mesh::frame::Faces;

const MAX_SEEDS: u32 = 4096;

/// Settings of the pipelines: keys of suites, and flags of `deferred`. Several values of a setting give a row for each
/// combination.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(next_help_heading = "Pipeline"))]
pub struct PipelineSettings {
    /// Pipelines to run
    #[serde(deserialize_with = "one_or_more")]
    #[cfg_attr(feature = "cli", arg(
        long, aliases = ["pipeline", "variant"], value_name = "PIPELINE", value_delimiter = ',',
        default_values_t = Self::default().method
    ))]
    pub method: Vec<DeferredPipeline>,
    /// Samples per pixel: 1, 2, 4, 8 or 16
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = Self::default().samples))]
    pub samples: u32,
    /// Positions of the samples in the pixel
    #[cfg_attr(feature = "cli", arg(long, default_value_t = Self::default().pattern))]
    pub pattern: PixelPattern,
    /// Seed of the sample positions
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = Self::default().sample_seed))]
    pub sample_seed: u64,
    /// Side of the tiles of sds in pixels, or "whole" for one tile
    #[serde(deserialize_with = "one_or_more")]
    #[cfg_attr(feature = "cli", arg(
        long, value_name = "N|whole", value_delimiter = ',', default_values_t = Self::default().tile
    ))]
    pub tile: Vec<TileSide>,
    /// Capacity of the memo of cached-decoupled and cached-decoupled+z in quads, or "unbounded"
    #[serde(deserialize_with = "one_or_more")]
    #[cfg_attr(feature = "cli", arg(
        long, value_name = "N|unbounded", value_delimiter = ',', default_values_t = Self::default().memo
    ))]
    pub memo: Vec<MemoQuads>,
    /// Size of the cells of the shading grids
    #[serde(deserialize_with = "one_or_more")]
    #[cfg_attr(feature = "cli", arg(long, value_delimiter = ',', default_values_t = Self::default().grid))]
    pub grid: Vec<ShadingGridKind>,
    /// Side of adaptive cells, as a factor on the width of the blur
    #[cfg_attr(feature = "cli", arg(
        long, value_name = "Q", value_parser = number::<f64>, default_value_t = Self::default().aas_quality
    ))]
    pub aas_quality: f64,
    /// Format of the colours of samples in memory
    #[cfg_attr(feature = "cli", arg(long, default_value_t))]
    pub colour: SampleColour,
    /// Format of depths in memory
    #[cfg_attr(feature = "cli", arg(long, default_value_t))]
    pub depth: DepthFormat,
    /// Configuration of the modelled hardware.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub hardware: DeferredConfig,
    /// Sides of triangles to draw
    #[cfg_attr(feature = "cli", arg(long, default_value_t = Self::default().faces))]
    pub faces: Faces,
    /// Measure the bytes between pipelines and memory
    #[cfg_attr(feature = "cli", arg(long, help_heading = MEASUREMENTS))]
    pub traffic: bool,
    /// Measure the PSNR of each picture against the mean of this many frames with other seeds, shaded on
    /// the pixel grid, in dB
    #[cfg_attr(feature = "cli", arg(
        long, help_heading = MEASUREMENTS, value_name = "SEEDS", value_parser = whole_number::<u32>
    ))]
    pub truth: Option<u32>,
}

impl Default for PipelineSettings {
    /// Sort-based deferred shading of 16 Sobol samples per pixel on the pixel grid, with tiles of 128 pixels.
    fn default() -> Self {
        Self {
            method: vec![DeferredPipeline::Sds],
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
        each_once("method", &self.method)?;
        each_once("grid", &self.grid)?;
        each_once("tile", &self.tile)?;
        each_once("memo", &self.memo)?;
        let quality = f64::MIN_POSITIVE..=16.0;
        within("aas_quality", Some(self.aas_quality), quality, "a number above 0, at most 16")?;
        within("truth", self.truth, 1..=MAX_SEEDS, &format!("a number from 1 to {MAX_SEEDS}"))?;
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
        let runs = self.method.iter().flat_map(|pipeline| match pipeline {
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
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct DeferredFrames {
    /// Settings of the motion of the camera.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub camera: CameraMotionSettings,
    /// Settings of the motion of the mesh.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub mesh: MeshMotionSettings,
    /// Settings of the lens.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub lens: LensSettings,
    /// Settings of the pipelines.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub pipeline: PipelineSettings,
}

impl TableParts for DeferredFrames {
    fn take_from(table: &mut SuiteTable<'_>) -> Result<Self> {
        Ok(Self {
            camera: table.take()?,
            mesh: table.take()?,
            lens: table.take()?,
            pipeline: table.take()?,
        })
    }
}

impl Frames for DeferredFrames {
    fn check(&self) -> Result<()> {
        self.camera.check()?;
        self.mesh.check()?;
        self.lens.check()?;
        self.pipeline.check()
    }

    fn files(&self) -> impl Iterator<Item = &Path> {
        self.mesh.motion.as_deref().into_iter()
    }
}
