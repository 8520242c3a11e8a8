use std::path::PathBuf;

use super::blur::BlurFlags;
use crate::cli::film::FilmFlags;
use crate::cli::mesh::input::{LookFlags, MeshInputFlags};
use crate::cli::options::HostFlags;
use crate::cli::outputs::{Background, QualityFlag, parse_background};
use crate::cli::usage::number;
use quadrille_base::error::Result;
use quadrille_base::parse::whole_number;
use quadrille_deferred::config::DeferredConfig;
use quadrille_deferred::forward::colour::SampleColour;
use quadrille_deferred::memory::depth_buffer::DepthFormat;
use quadrille_deferred::sample::pattern::PixelPattern;
use quadrille_machine::overlay::{ASSIGNMENT, as_toml, overlaid};
use quadrille_mesh::frame::Faces;
use quadrille_scene::cameras::ViewSpec;
use quadrille_suite::deferred_runs::{DeferredFrames, DeferredRunSettings, PipelineSettings};
use quadrille_suite::rows::{DeferredPipeline, MemoQuads, ShadingGridKind, TileSide};

/// Draw meshes with motion and defocus blur, and compare pipelines that shade them
///
/// A mesh is rasterized in five dimensions: columns and rows of the picture, two of the lens, and time.
/// Samples are mapped to points of shading grids. Sort-based deferred shading (sds) sorts the
/// identifiers of the points that samples show, tile by tile, and shades each 2x2 points once. It is
/// compared with decoupled sampling through a memo during the raster (cached-decoupled), the same behind
/// a depth prepass (cached-decoupled+z), and multisampling (msaa). All pipelines draw the same picture:
/// msaa counts its own shading, and its picture takes the colours of the shading points.
///
/// Columns of the table: Gops, arithmetic operations of the raster; STE, samples hit over samples
/// tested; quads, 2x2 points shaded; per px, shader executions per pixel; MB, bytes between pipeline
/// and memory.
///
/// --pipeline, --tile, --memo, --grid and --tessellate take several values, separated by commas; each
/// combination is a row.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Mesh to draw: .obj, .ply, .gltf, .glb, a file of Bezier patches (.bpt or no extension), or a
    /// procedural one: plane, sinewave, frog, ptcloud, furball, arcade
    pub(super) mesh: PathBuf,
    /// Picture to write: .png, .jpg, .webp (lossless), .exr or .npy; "{view}" is replaced by the name
    /// of the view, "{variant}" by the combination of settings; "-" writes a PNG to standard output. Or a film of
    /// all views: .y4m, .apng, or .mp4 (AV1) in a build with the feature video; "-.y4m" writes to standard output
    #[arg(short, long, value_name = "OUT", allow_hyphen_values = true)]
    pub(super) output: Option<PathBuf>,
    #[command(flatten)]
    pub(super) quality: QualityFlag,
    /// Write the shader executions of each pixel as a picture with a legend, on a logarithmic scale from
    /// 1 to 64
    #[arg(long, value_name = "OUT.png")]
    pub(super) heat: Option<PathBuf>,
    /// Write the bytes between pipelines and memory as a picture of bars, one per row, stacked by buffer;
    /// "{view}" is replaced by the name of the view
    #[arg(long, value_name = "OUT.png", requires = "traffic")]
    pub(super) bars: Option<PathBuf>,
    /// Print the PSNR of each picture against the mean of this many frames with other samples, shaded on
    /// the pixel grid, in dB
    #[arg(long, value_name = "SEEDS", value_parser = whole_number::<u32>)]
    pub(super) truth: Option<u32>,
    /// Background colour, R,G,B from 0 to 1, or "transparent" [default: 0,0,0 for .png, transparent
    /// for .exr and .npy]
    #[arg(long, value_name = "R,G,B|transparent", allow_hyphen_values = true, value_parser = parse_background)]
    pub(super) background: Option<Background>,
    /// Print a JSON document, {"rows": [...]}, instead of a table
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) input: MeshInputFlags,
    #[command(flatten)]
    pub(super) look: LookFlags,
    #[command(flatten)]
    pub(super) blur: BlurFlags,
    #[command(flatten)]
    pub(super) pipeline: PipelineFlags,
    #[command(flatten)]
    pub(super) views: ViewSpec,
    #[command(flatten)]
    pub(super) film: FilmFlags,
    #[command(flatten)]
    pub(super) host: HostFlags,
}

const EXAMPLES: &str = "Examples:
  quadrille deferred plane --coc-px 12 --camera-move 0.2,0,0 -o plane.png
  quadrille deferred helmet.gltf --spin 0,1,0,8 \\
    --pipeline msaa,cached-decoupled,sds --heat 'heat.{variant}.png'
  quadrille deferred sponza.obj --cameras sponza.json --view all \\
    --shutter 0.5 --traffic --json
  quadrille deferred cage.obj --tessellate 10 --tile 32,64,128,whole \\
    --grid pixel,adaptive --spin 0,1,0,8";

/// Flags about the pipelines.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Pipeline")]
pub(super) struct PipelineFlags {
    /// Pipelines to run
    #[arg(
        long = "pipeline",
        visible_alias = "method",
        value_name = "PIPELINE",
        value_delimiter = ',',
        default_value = "sds"
    )]
    pub(super) pipelines: Vec<DeferredPipeline>,
    /// Samples per pixel: 1, 2, 4, 8 or 16
    #[arg(long, value_name = "N", default_value_t = 16)]
    samples: u32,
    /// Positions of the samples in the pixel
    #[arg(long, default_value = "sobol")]
    pattern: PixelPattern,
    /// Seed of the samples
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) sample_seed: u64,
    /// Side of the tiles of sds in pixels, or "whole" for one tile
    #[arg(
        long = "tile",
        value_name = "N|whole",
        value_parser = str::parse::<TileSide>,
        value_delimiter = ',',
        default_value = "128"
    )]
    tiles: Vec<TileSide>,
    /// Capacity of the memo of cached-decoupled and cached-decoupled+z in quads, or "unbounded"
    #[arg(
        long = "memo",
        value_name = "N|unbounded",
        value_parser = str::parse::<MemoQuads>,
        value_delimiter = ',',
        default_value = "1024"
    )]
    memos: Vec<MemoQuads>,
    /// Cells of the shading grids
    #[arg(long = "grid", value_delimiter = ',', default_value = "pixel")]
    pub(super) grids: Vec<ShadingGridKind>,
    /// Size of adaptive cells: about a cell's side over the width of the blur
    #[arg(long, value_name = "Q", default_value_t = 0.5, value_parser = number::<f64>)]
    aas_quality: f64,
    /// Measure the bytes between pipelines and memory
    #[arg(long)]
    pub(super) traffic: bool,
    /// Format of the colours of samples in memory
    #[arg(long, default_value = "rgba16f")]
    pub(super) colour: SampleColour,
    /// Format of depths in memory
    #[arg(long, default_value = "d24")]
    pub(super) depth: DepthFormat,
    /// Set one field of the modelled hardware, as in memory.depth_cache_bytes=32768; may be repeated. Tables
    /// are memory, raster and vertex_cache
    #[arg(long, value_name = "unit.field=value")]
    set: Vec<String>,
    /// Sides of triangles to draw
    #[arg(long, default_value = "material")]
    faces: Faces,
}

impl Args {
    pub(super) fn settings(&self) -> Result<DeferredRunSettings> {
        let pipeline = &self.pipeline;
        Ok(DeferredRunSettings {
            mesh: self.mesh.clone(),
            input: self.input.settings(),
            look: self.look.settings(),
            frames: DeferredFrames {
                blur: self.blur.settings(),
                pipeline: PipelineSettings {
                    pipeline: pipeline.pipelines.clone(),
                    samples: pipeline.samples,
                    pattern: pipeline.pattern,
                    sample_seed: pipeline.sample_seed,
                    tile: pipeline.tiles.clone(),
                    memo: pipeline.memos.clone(),
                    grid: pipeline.grids.clone(),
                    aas_quality: pipeline.aas_quality,
                    traffic: pipeline.traffic,
                    colour: pipeline.colour,
                    depth: pipeline.depth,
                    hardware: pipeline.hardware()?,
                    faces: pipeline.faces,
                    truth: self.truth,
                },
            },
            views: self.film.path.keys(&self.views)?,
        })
    }
}

impl PipelineFlags {
    fn hardware(&self) -> Result<DeferredConfig> {
        let with = |config: DeferredConfig, assignment: &String| {
            let config: DeferredConfig = overlaid(&config, &as_toml(assignment)?, ASSIGNMENT)?;
            config.validate()?;
            Ok(config)
        };
        self.set.iter().try_fold(DeferredConfig::default(), with)
    }
}
