use std::path::PathBuf;
use std::sync::Arc;

use quadrille_base::bytes::Bytes;
use quadrille_base::image::film::FrameRate;
use quadrille_base::parse::whole_number;
use quadrille_render::cpu::{RenderSettings, Renderer};
use quadrille_scene::{Camera, LoadOptions};

use super::meshes::MeshFlags;
use super::probe::ProbeFlags;
use crate::cli::convert::actions::Filters;
use crate::cli::exposures::ExposureFlags;
use crate::cli::film::{Film, FilmFlags};
use crate::cli::frames::{Backend, FrameTimer};
use crate::cli::layers::LayerFlags;
use crate::cli::options::{DrawFlags, RuleFlags};
use crate::cli::outputs::{Output, QualityFlag};
use crate::cli::session::Session;
use quadrille_scene::cameras::ViewSpec;
use quadrille_suite::blur::{BlurSettings, Blurs};
use quadrille_suite::mesh_input::PlacedMeshes;

/// Render pictures of a scene
///
/// The scene is a file or a sequence: a folder of numbered scenes (anim_0001.ply, anim_0002.ply, ...), or a quoted pattern with a
/// * in place of the number. Each frame shows a scene; several views are frames over which the scenes are distributed.
///
/// Without flags about the view, the program chooses a view that shows the main content of the scene, and
/// prints the flags that reproduce it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Args {
    /// Scene file of any format that the README lists, or a sequence; "-" reads standard input
    pub(super) scene: PathBuf,
    /// Picture to write: .png, .jpg, .webp (lossless), .exr or .npy (f32, height x width x 4,
    /// premultiplied RGBA); "{view}" is replaced by the name of the view; missing folders are created;
    /// "-" writes a PNG to standard output. Or a film of all views: .y4m, .apng, or .mp4 (AV1) in a build with the feature
    /// video; "-.y4m" writes to standard output
    #[arg(short, long, value_name = "OUT", allow_hyphen_values = true, required_unless_present_any = ["repeat", "list_views", "cameras_out", "pixels"])]
    pub(super) output: Option<PathBuf>,
    #[command(flatten)]
    pub(super) quality: QualityFlag,
    /// Time each view: render it N times without writing it, and print the median and the minimum of
    /// each stage in ms
    #[arg(long, value_name = "N", conflicts_with_all = ["output", "exposures"], value_parser = repetitions)]
    pub(super) repeat: Option<u32>,
    /// List all views of the camera file, with their names in that file, and render nothing
    #[arg(long, conflicts_with_all = ["output", "repeat", "view"])]
    pub(super) list_views: bool,
    /// Scenes per second of a sequence in a film [default: one scene for each frame, or all scenes in the time of the path]
    #[arg(long, value_name = "RATE", value_parser = str::parse::<FrameRate>)]
    pub(super) sequence_fps: Option<FrameRate>,
    /// Write the cameras of the views as a cameras.json
    #[arg(long, value_name = "FILE.json")]
    pub(super) cameras_out: Option<PathBuf>,
    #[command(flatten)]
    pub(super) probe: ProbeFlags,
    /// Skip pictures that an earlier call with --resume has completed for the same scene, camera and
    /// settings, with the same build. The file PICTURE.resume beside each picture records the inputs of
    /// the picture
    #[arg(long, requires = "output", conflicts_with_all = ["repeat", "list_views", "pixels"])]
    pub(super) resume: bool,
    /// Limit on the memory of the scene and its splats in view, such as 512M or 4G: a PLY, compressed PLY, SOG or .splat
    /// that needs more is read in batches, and only splats in view are kept. Pictures and films do not change.
    /// The views must come from a camera file. The index of `convert --index` avoids reading splats outside all views
    #[arg(long, value_name = "SIZE")]
    pub(super) memory: Option<Bytes>,
    /// Print a JSON document instead of a table
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) reading: LoadOptions,
    #[command(flatten)]
    pub(super) filters: Filters,
    #[command(flatten)]
    pub(super) views: ViewSpec,
    #[command(flatten)]
    pub(super) film: FilmFlags,
    #[command(flatten)]
    pub(super) meshes: MeshFlags,
    #[command(flatten)]
    pub(super) blur: BlurSettings,
    #[command(flatten)]
    pub(in crate::cli) flags: RenderFlags,
}

const EXAMPLES: &str = "Examples:
  quadrille render scene.ply -o picture.png
  quadrille render scene.ply --cameras cameras.json --view all \\
    -o 'out/{view}.png'
  quadrille render scene.ply --cameras transforms.json --view ..:8 \\
    --picture-scale 1/4 -o 'test/{view}.png'
  quadrille render scene.ply --orbit 36 --width 800 -o 'turn_{view}.png'
  quadrille render scene.ply --path camera_path.json -o -.y4m | \\
    ffmpeg -i - film.mp4
  quadrille render scene.ply --cameras cameras.json --path ellipse -o turn.apng
  quadrille render frames --cameras cameras.json --view 0 -o capture.apng
  quadrille render scene.ply --cameras cameras.json --view 3 --repeat 20 --json
  quadrille render scene.ply --cameras cameras.json --view 3 --probe 320,180
  quadrille render scene.ply --mesh chair.glb --mesh-move 'translate 0,0,2' \\
    -o furnished.png
  quadrille render scene.ply --f-stop 1.4 --focus-at 0,1,0 -o portrait.png
  quadrille render scene.ply --orbit 120 --shutter 0.5 -o turn.apng
  quadrille render scene.ply --profile gsplat-ut --camera-turn 5,0,0 \\
    --rolling-shutter top-to-bottom -o skewed.png";

/// Flags for rendering of splats.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Rendering")]
pub(in crate::cli) struct RenderFlags {
    #[command(flatten)]
    pub(super) rules: RuleFlags,
    /// Renderer to use; the emulated pipeline (gpu) blends in 16-bit floats and has no stop rule
    #[arg(long, default_value_t = Backend::Cpu)]
    pub(super) backend: Backend,
    #[command(flatten)]
    pub(super) exposures: ExposureFlags,
    #[command(flatten)]
    pub(super) layers: LayerFlags,
    // Last, since it ends with the heading of the host's flags.
    #[command(flatten)]
    pub(in crate::cli) draw: DrawFlags,
}

impl Args {
    pub(super) fn can_draw_bands(&self) -> bool {
        let flags = &self.flags;
        let has_layers = !flags.layers.settings().layers.is_empty();
        flags.backend == Backend::Cpu
            && !has_layers
            && flags.exposures.file().is_none()
            && !self.meshes.is_given()
            && self.blur.is_default()
    }
}

/// A checked call of `render`: its arguments and its output files.
pub(super) struct Job<'a> {
    pub(super) args: &'a Args,
    pub(super) session: &'a Session,
    pub(super) output: Option<Output>,
    pub(super) film: Option<Film<'a>>,
    /// Meshes among the splats; loaded before the first view is drawn.
    pub(super) meshes: Option<Arc<PlacedMeshes>>,
    /// Blur of the views; known before the first view is drawn.
    pub(super) blurs: Option<Arc<Blurs>>,
}

impl Job<'_> {
    pub(super) fn timer(&self, settings: RenderSettings) -> FrameTimer {
        FrameTimer {
            backend: self.args.flags.backend,
            settings,
            task: self.session.task,
            renderer: Renderer::default(),
            layers: self.args.flags.layers.settings(),
            pictures: Vec::new(),
            meshes: self.meshes.clone(),
            blurs: self.blurs.clone(),
        }
    }

    pub(super) fn draws_bands(&self, camera: &Camera) -> bool {
        let background = self.args.flags.draw.background;
        let is_in_bands = |output: &Output| output.is_in_bands(camera, background);
        self.args.can_draw_bands() && self.output.as_ref().is_some_and(is_in_bands)
    }

    pub(super) fn writes_to_stdout(&self) -> bool {
        self.output.as_ref().is_some_and(Output::is_stdout)
    }
}

const MAX_REPEAT: u32 = 100_000;

fn repetitions(text: &str) -> std::result::Result<u32, String> {
    let count = whole_number(text).ok().filter(|n| (1..=MAX_REPEAT).contains(n));
    count.ok_or_else(|| format!("expected a whole number from 1 to {MAX_REPEAT}"))
}
