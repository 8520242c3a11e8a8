//! `render`: pictures of a scene.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use super::frames::{Backend, FrameTimer, Timed};
use super::output_path::Output;
use super::render_options::{Background, RenderFlags};
use super::views::ViewArgs;
use super::{Outcome, Verbosity, stdout};
use crate::error::{Error, Result};
use crate::image::{Frame, files};
use crate::math::SimdLevel;
use crate::scene::{Camera, Scene, Visibility, load};
use crate::shading::Profile;

/// Render pictures of a scene
///
/// Without camera flags, a view is chosen that shows the scene's main content.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The scene file; "-" for standard input
    scene: PathBuf,
    /// The picture: .png, .exr or .npy (f32, height x width x 4, premultiplied RGBA); "{view}" in
    /// it becomes the view's name; "-" writes a PNG to standard output
    #[arg(short, long, value_name = "OUT", required_unless_present = "repeat")]
    output: Option<PathBuf>,
    #[command(flatten)]
    views: ViewArgs,
    #[command(flatten)]
    flags: RenderFlags,
    /// Time each view: render it N times and write nothing; the median and the minimum of each
    /// stage are printed
    #[arg(long, value_name = "N", conflicts_with = "output", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    repeat: Option<u32>,
    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "Examples:
  quadrille render scene.ply -o picture.png
  quadrille render scene.ply --cameras cameras.json --view all -o 'out/{view}.png'
  quadrille render scene.ply --orbit 36 --width 800 -o 'turn_{view}.png'
  quadrille render scene.ply --cameras cameras.json --view 3 --repeat 20 --json";

/// A view that was rendered.
struct Rendered {
    camera: Camera,
    output: Option<String>,
    timed: Timed,
}

pub(super) fn run(args: &Args, verbosity: Verbosity) -> Result<Outcome> {
    let output = args.output.as_deref().map(Output::parse).transpose()?;
    if args.json && output.as_ref().is_some_and(Output::is_stdout) {
        return Err(Error::caller(
            "-o -",
            "a file beside --json",
            "the picture on stdout as well",
        ));
    }
    let settings = args.flags.check()?;
    let scene = load(&args.scene)?;
    report_dropped(&args.scene, &scene, verbosity);
    let profile = args.flags.profile(scene.profile_hint, verbosity)?;
    let cameras = args.views.views(&scene.splats, verbosity)?;
    if let Some(output) = &output {
        output.check_views(cameras.len())?;
    }
    let pool = settings.pool()?;
    let rendered = pool.install(|| {
        render_all(
            args,
            &scene,
            cameras,
            FrameTimer::new(args.flags.backend, profile, settings.level),
            output.as_ref(),
            verbosity,
        )
    })?;
    let threads = if args.flags.backend == Backend::Reference {
        1
    } else {
        pool.current_num_threads()
    };
    if args.json {
        let document = document(args, &scene, &profile, threads, settings.level, &rendered);
        stdout::write(format!("{document:#}\n").as_bytes())?;
    } else if !output.as_ref().is_some_and(Output::is_stdout) {
        stdout::write(table(&rendered).as_bytes())?;
    }
    Ok(Outcome::Done)
}

pub(super) fn report_dropped(path: &Path, scene: &Scene, verbosity: Verbosity) {
    if scene.dropped.total() > 0 {
        verbosity.warn(&format!(
            "{}: {} rows held no splat and were dropped; `quadrille info` says why",
            path.display(),
            scene.dropped.total()
        ));
    }
    if scene.splats.is_empty() {
        verbosity.warn(&format!("{}: the scene holds no splat", path.display()));
    }
}

fn render_all(
    args: &Args,
    scene: &Scene,
    cameras: Vec<Camera>,
    mut timer: FrameTimer,
    output: Option<&Output>,
    verbosity: Verbosity,
) -> Result<Vec<Rendered>> {
    let bar = progress_bar(cameras.len(), verbosity);
    let mut frame = Frame::new(0, 0);
    let rendered = cameras.into_iter().map(|camera| {
        if let Some(complaint) =
            Visibility::of(&scene.splats, &camera, timer.profile().near).complaint(&camera.name)
        {
            verbosity.warn(&complaint);
        }
        let timed = timer.render(&mut frame, &scene.splats, &camera, args.repeat.unwrap_or(1));
        let output = output
            .map(|output| {
                save(
                    output,
                    &frame,
                    [&camera.name, ""],
                    args.flags.shared.background,
                )
            })
            .transpose()?;
        bar.inc(1);
        Ok(Rendered {
            camera,
            output,
            timed,
        })
    });
    let rendered = rendered.collect();
    bar.finish_and_clear();
    rendered
}

pub(super) fn progress_bar(views: usize, verbosity: Verbosity) -> ProgressBar {
    if views < 2 || !verbosity.progress() || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} views, {eta} left");
    ProgressBar::new(views as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Writes the picture of a view, by a variant where there are such; returns where.
pub(super) fn save(
    output: &Output,
    frame: &Frame,
    [view, variant]: [&str; 2],
    background: Option<Background>,
) -> Result<String> {
    let over;
    let frame = match background.unwrap_or_else(|| output.default_background()) {
        Background::Transparent => frame,
        Background::Opaque(rgb) => {
            over = frame.over(rgb);
            &over
        }
    };
    if output.is_stdout() {
        let mut bytes = Vec::new();
        files::write_to(&mut bytes, files::Format::Png, frame)
            .map_err(|e| Error::write(Path::new("<stdout>"), e))?;
        stdout::write(&bytes)?;
        return Ok("-".to_owned());
    }
    let path = output.path(view, variant);
    files::write(&path, frame)?;
    Ok(path.display().to_string())
}

fn document(
    args: &Args,
    scene: &Scene,
    profile: &Profile,
    threads: usize,
    level: SimdLevel,
    rendered: &[Rendered],
) -> serde_json::Value {
    let views: Vec<_> = rendered
        .iter()
        .map(|r| {
            let mut view = json!({
                "name": r.camera.name,
                "width": r.camera.width,
                "height": r.camera.height,
                "output": r.output,
                "splats_in_frustum": r.timed.counts.splats_in_frustum,
                "fragments_blended": r.timed.counts.fragments_blended,
                "frame_bytes": r.timed.frame_bytes,
                "ms": r.timed.median_ms.json(),
            });
            if args.repeat.is_some() {
                view["ms_min"] = r.timed.least_ms.json();
            }
            view
        })
        .collect();
    json!({
        "scene": {
            "path": args.scene.display().to_string(),
            "splats": scene.splats.len(),
            "sh_degree": scene.splats.sh_degree(),
            "bytes": scene.splats.size_bytes(),
        },
        "profile": profile.name,
        "backend": args.flags.backend.name(),
        "threads": threads,
        "simd": if args.flags.backend == Backend::Reference { "none" } else { level.name() },
        "peak_rss_bytes": super::frames::peak_rss_bytes(),
        "views": views,
    })
}

/// The same for people: a line a view.
fn table(rendered: &[Rendered]) -> String {
    use std::fmt::Write;
    let width = rendered
        .iter()
        .map(|r| r.camera.name.chars().count())
        .max()
        .unwrap_or(0)
        .max(4);
    let mut text = format!(
        "{:width$}  {:>11}  {:>9}  {:>9}  {:>8} {:>7} {:>7} {:>8} {:>8}  output\n",
        "view", "pixels", "splats", "fragments", "preproc", "sort", "bin", "raster", "total ms"
    );
    for r in rendered {
        let size = format!("{}x{}", r.camera.width, r.camera.height);
        #[allow(
            clippy::cast_precision_loss,
            reason = "shown in millions with two digits"
        )]
        let fragments = r.timed.counts.fragments_blended as f64 / 1e6;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{:width$}  {size:>11}  {:>9}  {fragments:>8.2}M  {}  {}",
            r.camera.name,
            r.timed.counts.splats_in_frustum,
            r.timed.median_ms,
            r.output.as_deref().unwrap_or("(timed)"),
        );
    }
    text
}
