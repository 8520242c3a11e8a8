use std::path::PathBuf;

use super::aov::AovFlags;
use crate::cli::film::{FilmFlags, RowsFlags};
use crate::cli::outputs::{Background, QualityFlag, parse_background};
use crate::cli::session::HostFlags;
use quadrille_base::error::Result;
use quadrille_deferred::config::DeferredConfig;
use quadrille_machine::overlay::{ASSIGNMENT, as_toml, overlaid};
use quadrille_scene::cameras::ViewSpec;
use quadrille_suite::blur::{CameraMotionSettings, LensSettings};
use quadrille_suite::deferred_runs::{
    DeferredFrames, DeferredRunSettings, MeshMotionSettings, PipelineSettings,
};
use quadrille_suite::mesh_input::{LookSettings, MeshSettings};

/// Draw meshes with motion and defocus blur, and compare pipelines that shade them
///
/// A mesh is rasterized in five dimensions: two of the picture, two of the lens, and time.
/// Samples are mapped to points of shading grids. Sort-based deferred shading (sds) sorts the
/// identifiers of the points that samples show, tile by tile, and shades each quad of 2x2 points once. It is
/// compared with decoupled sampling with a memo during the raster, without a depth prepass
/// (cached-decoupled) and with one (cached-decoupled+z), and with multisampling (msaa). All pipelines draw
/// the same picture: msaa counts its own shading, but takes the colours of the shading points.
///
/// Columns of the table: Gops, arithmetic operations of the raster; STE, samples hit over samples
/// tested; quads, groups of 2x2 points shaded; per px, shader executions per pixel; MB, bytes between pipeline
/// and memory.
///
/// --method, --tile, --memo, --grid and --tessellate take several values, separated by commas; each
/// combination is a row.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Mesh to draw: .obj, .ply, .gltf, .glb, a file of Bezier patches (.bpt or no extension), or a
    /// procedural one: plane, sinewave, frog, ptcloud, furball, arcade
    pub(super) mesh: PathBuf,
    /// Picture to write: .png, .jpg, .webp (lossless), .exr or .npy; "{view}" is replaced by the name
    /// of the view, "{method}" by the combination of settings; "-" writes a PNG to standard output. Or a film of
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
    /// Write the mean of the frames of --truth: a picture without the noise of few samples; "{view}" is replaced by the
    /// name of the view
    #[arg(long, value_name = "OUT", requires = "truth")]
    pub(super) truth_out: Option<PathBuf>,
    /// Background colour, R,G,B from 0 to 1, or "transparent" [default: 0,0,0 for .png, transparent
    /// for .exr and .npy]
    #[arg(long, value_name = "R,G,B|transparent", allow_hyphen_values = true, value_parser = parse_background)]
    pub(super) background: Option<Background>,
    #[command(flatten)]
    pub(super) rows: RowsFlags,
    #[command(flatten)]
    pub(super) aov: AovFlags,
    #[command(flatten)]
    input: MeshSettings,
    #[command(flatten)]
    look: LookSettings,
    #[command(flatten)]
    camera_motion: CameraMotionSettings,
    #[command(flatten)]
    mesh_motion: MeshMotionSettings,
    #[command(flatten)]
    lens: LensSettings,
    #[command(flatten)]
    pipeline: PipelineSettings,
    #[command(flatten)]
    hardware: HardwareFlags,
    #[command(flatten)]
    pub(super) views: ViewSpec,
    #[command(flatten)]
    pub(super) film: FilmFlags,
    #[command(flatten)]
    pub(in crate::cli) host: HostFlags,
}

const EXAMPLES: &str = "Examples:
  quadrille deferred plane --coc-px 12 --camera-move 0.2,0,0 -o plane.png
  quadrille deferred helmet.gltf --spin 0,1,0,8 \\
    --method msaa,cached-decoupled,sds --heat 'heat.{method}.png'
  quadrille deferred sponza.obj --cameras sponza.json --view all \\
    --shutter 0.5 --traffic --json
  quadrille deferred cage.obj --tessellate 10 --tile 32,64,128,whole \\
    --grid pixel,adaptive --spin 0,1,0,8";

/// Flags for the modelled hardware.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Hardware")]
pub(super) struct HardwareFlags {
    /// Set one field of the modelled hardware, as in memory.depth_cache_bytes=32768; may be repeated. The
    /// units are memory, raster and vertex_cache
    #[arg(long, value_name = "unit.field=value")]
    set: Vec<String>,
}

impl Args {
    pub(super) fn settings(&self) -> Result<DeferredRunSettings> {
        let hardware = self.hardware.config()?;
        Ok(DeferredRunSettings {
            mesh: self.mesh.clone(),
            input: self.input.clone(),
            look: self.look.clone(),
            frames: DeferredFrames {
                camera: self.camera_motion.clone(),
                mesh: self.mesh_motion.clone(),
                lens: self.lens.clone(),
                pipeline: PipelineSettings { hardware, ..self.pipeline.clone() },
            },
            views: self.film.path.keys(&self.views)?,
        })
    }
}

impl HardwareFlags {
    fn config(&self) -> Result<DeferredConfig> {
        let with = |config: DeferredConfig, assignment: &String| {
            let config: DeferredConfig = overlaid(&config, &as_toml(assignment)?, ASSIGNMENT)?;
            config.validate()?;
            Ok(config)
        };
        self.set.iter().try_fold(DeferredConfig::default(), with)
    }
}
