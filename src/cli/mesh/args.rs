use std::path::{Path, PathBuf};

use super::aov::AovFlags;
use crate::cli::film::{FilmFlags, RowsFlags};
use crate::cli::options::GpuFlags;
use crate::cli::outputs::{Background, QualityFlag, parse_background};
use crate::cli::session::HostFlags;
use quadrille_base::error::Result;
use quadrille_base::image::crop::CropArea;
use quadrille_scene::cameras::ViewSpec;
use quadrille_suite::merging_runs::{MergingRunSettings, MergingSettings};
use quadrille_suite::mesh_input::{LookSettings, MeshSettings};
use quadrille_suite::report::overlay::Overlay;

/// Draw meshes with multi-sampling, and merge quads before they are shaded
///
/// A mesh is tessellated, rasterized and depth-tested per sample. Then a unit merges quads of
/// adjacent triangles before they are shaded: quad-fragment merging (qfm), the pixel merge unit
/// (pmu), or none.
///
/// The table leaves out columns without information; below it, a list explains the columns.
///
/// --tessellate, --method, --buffer and --msaa take several values, separated by commas; each
/// combination is a row.
#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "flags that are given or not")]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Mesh to draw: .obj, .ply, .gltf, .glb, a file of Bezier patches (.bpt or no extension), or a
    /// procedural one: plane, sinewave, frog, ptcloud, furball, arcade
    #[arg(required_unless_present = "config_dump")]
    pub(super) mesh: Option<PathBuf>,
    /// Picture to write: .png, .jpg, .webp (lossless), .exr or .npy; "{view}" is replaced by the name
    /// of the view, "{method}" by the combination of settings; "-" writes a PNG to standard output. Or a film of
    /// all views: .y4m, .apng, or .mp4 (AV1) in a build with the feature video; "-.y4m" writes to standard output
    #[arg(short, long, value_name = "OUT", allow_hyphen_values = true)]
    pub(super) output: Option<PathBuf>,
    #[command(flatten)]
    pub(super) quality: QualityFlag,
    /// Write the number of shadings of each pixel (for reyes, of vertices in the pixel) as a picture with
    /// a legend: dark blue for 1, green for 4, dark red for 8 or more. The counts go into a
    /// .npy file of the same name (u32, height x width)
    #[arg(long, value_name = "OUT.png")]
    pub(super) heat: Option<PathBuf>,
    /// Lowest number of shadings that --heat and --overlay quads draw dark red [default: 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    pub(super) heat_max: Option<u32>,
    /// Write the difference to the unmerged picture, multiplied by 100
    #[arg(long, value_name = "OUT")]
    pub(super) diff_unmerged: Option<PathBuf>,
    /// Write only the W x H pixels of the picture and of the heat map from column X and row Y, each enlarged to
    /// ZOOM x ZOOM pixels
    #[arg(long, value_name = "X,Y,W,H[,ZOOM]", allow_hyphen_values = true, value_parser = CropArea::parse, conflicts_with = "versus")]
    pub(super) crop: Option<CropArea>,
    /// Draw over the picture, enlarged so that quads and samples can be seen: by the ZOOM of --crop, or up to 16 times.
    /// Several drawings are separated by commas. The picture is opaque, and quads have a legend below it
    #[arg(
        long,
        value_name = "DRAWINGS",
        value_delimiter = ',',
        requires = "output",
        conflicts_with_all = ["layers", "versus"]
    )]
    pub(super) overlay: Vec<Overlay>,
    /// Background colour, R,G,B from 0 to 1, or "transparent" [default: 0,0,0 for .png, transparent
    /// for .exr and .npy]
    #[arg(long, value_name = "R,G,B|transparent", allow_hyphen_values = true, value_parser = parse_background)]
    pub(super) background: Option<Background>,
    /// Print the whole configuration as TOML with an explanation of each field, and draw nothing
    #[arg(long)]
    pub(super) config_dump: bool,
    #[command(flatten)]
    pub(super) rows: RowsFlags,
    #[command(flatten)]
    pub(super) input: MeshSettings,
    #[command(flatten)]
    frames: MergingSettings,
    #[command(flatten)]
    pub(super) aov: AovFlags,
    #[command(flatten)]
    look: LookSettings,
    #[command(flatten)]
    pub(super) versus: VersusFlags,
    #[command(flatten)]
    pub(super) views: ViewSpec,
    #[command(flatten)]
    pub(super) film: FilmFlags,
    #[command(flatten)]
    pub(super) gpu: GpuFlags,
    #[command(flatten)]
    pub(in crate::cli) host: HostFlags,
}

const EXAMPLES: &str = "Examples:
  quadrille mesh helmet.gltf -o helmet.png
  quadrille mesh cage.obj --tessellate 0.5 --msaa 16 --method none,qfm \\
    --heat 'heat.{method}.png'
  quadrille mesh cage.obj --method qfm --width 40 --height 30 \\
    --overlay quads,edges -o quads.png
  quadrille mesh cage.obj --tessellate 0.5 --method qfm --buffer 4,32,unbounded
  quadrille mesh helmet.gltf --method pmu --buffer 64,512 --psnr --json
  quadrille mesh frog --tessellate 100,10,1 --method none,qfm --csv > frog.csv
  quadrille mesh sinewave --tessellate 0.5 --msaa 16 --method none,qfm,reyes
  quadrille mesh cage.obj --tessellate 10 --method none,qfm,pmu --cycles \\
    --set qfm.quads_per_cycle=2
  quadrille mesh spot.obj --to-splats spot.ply
  quadrille mesh spot.obj --versus spot.ply --msaa 4";

/// Flags for splats of the same subject.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Splats")]
pub(super) struct VersusFlags {
    /// Compare with splats of the same subject from the same camera: quads saved and PSNR of each
    /// merging unit on both, with one sample per pixel and with the samples of --msaa
    #[arg(
        long,
        value_name = "SPLATS",
        conflicts_with_all = ["output", "heat", "diff_unmerged", "psnr", "psnr_supersampled", "method", "buffer", "coarse", "area_is", "csv"]
    )]
    pub(super) versus: Option<PathBuf>,
    /// Write the mesh as splats: one flat Gaussian per triangle, with its lit colour in the view
    #[arg(long, value_name = "OUT.ply")]
    pub(super) to_splats: Option<PathBuf>,
}

impl Args {
    pub(super) fn mesh(&self) -> &Path {
        self.mesh.as_deref().unwrap_or(Path::new("-"))
    }

    pub(super) fn settings(&self) -> Result<MergingRunSettings> {
        Ok(MergingRunSettings {
            mesh: self.mesh().to_path_buf(),
            input: self.input.clone(),
            look: self.look.clone(),
            frames: MergingSettings { hardware: self.gpu.mesh_config()?, ..self.frames.clone() },
            views: self.film.path.keys(&self.views)?,
        })
    }

    pub(super) fn other_files(&self) -> impl Iterator<Item = &Path> {
        self.versus.versus.as_deref().into_iter().chain(self.gpu.files())
    }
}
