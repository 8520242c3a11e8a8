//! `render --memory`: pictures of a scene that is larger than memory.

use std::path::Path;

use quadrille_base::error::{Error, Result};
use quadrille_base::image::{FRAME_BYTES, Frame, check_memory};
use quadrille_render::cpu::{Counts, EachBatch, KEPT_BYTES, RenderSettings, RenderTimes, Renderer};
use quadrille_scene::Splats;
use quadrille_scene::cameras::Views;
use quadrille_scene::formats::ply::SplatBatches;
use quadrille_scene::formats::scene_file;
use quadrille_suite::mesh_input::MemorySize;

use super::args::Args;
use super::rendered::{Rendered, table};
use crate::cli::console::{Exit, Verbosity, print};
use crate::cli::frames::{Backend, FrameTimes};
use crate::cli::inputs::{note_file_of_folder, warn_of_dropped};
use crate::cli::interrupt;
use crate::cli::outputs::Output;
use crate::cli::view_page::write_cameras;

/// Fraction of the memory for the arrays of a batch.
const BATCH_SHARE: u64 = 8;
/// Fraction of the memory for the splats in view. The rest is for the lists of the tiles and the pictures.
const KEPT_SHARE: u64 = 2;

/// Draws the views in batches of the scene, if it does not fit in `--memory`; `None` if it does or there is no such flag.
/// `prepare` checks the outputs of the views.
pub(super) fn run(
    args: &Args,
    (output, is_film): (Option<&Output>, bool),
    prepare: impl FnOnce(&Views) -> Result<()>,
    verbosity: Verbosity,
) -> Result<Option<Exit>> {
    let Some(memory) = args.memory else {
        return Ok(None);
    };
    let path = scene_file(&args.scene)?;
    if path == Path::new("-") || path.exists() && !path.is_file() {
        let expected = "a file, which can be read several times, beside it";
        let found = path.display().to_string();
        return Err(Error::argument("--memory", expected, found));
    }
    let batches = SplatBatches::open(&path)?;
    let row_bytes = batches.splat_bytes() + KEPT_BYTES;
    let whole = batches.rows() as u64 * row_bytes as u64;
    if whole <= memory.0 {
        return Ok(None);
    }
    let first = is_film
        .then_some("a film")
        .or_else(|| whole_scene_flag(args));
    let (Some(output), None) = (output, first) else {
        let file = args.scene.display();
        let expected = format!(
            "-o with pictures of a camera file (--cameras or --view) for {file}, which takes {whole} bytes and is read in \
             batches"
        );
        let found = first.unwrap_or("no picture");
        return Err(Error::argument(
            "--memory",
            expected,
            format!("{found} beside {memory}"),
        ));
    };
    note_file_of_folder(&args.scene, verbosity);
    let views = args
        .views
        .of_scene(&args.scene, &Splats::from_splats(0, []), verbosity)?;
    prepare(&views)?;
    if let Some(path) = &args.cameras_out {
        write_cameras(path, &views.cameras)?;
    }
    draw(args, output, &batches, (&views, memory), verbosity).map(Some)
}

/// The first flag that needs the whole scene.
pub(super) fn whole_scene_flag(args: &Args) -> Option<&'static str> {
    let flags = &args.flags;
    let views = &args.views;
    let needs = [
        (
            !views.are_of_file(&args.scene),
            "views that the scene decides",
        ),
        (args.film.path.files().next().is_some(), "--path"),
        (args.repeat.is_some(), "--repeat"),
        (args.list_views, "--list-views"),
        (!args.probe.is_empty(), "--probe"),
        (args.resume, "--resume"),
        (args.json, "--json"),
        (!args.filters.is_empty(), "filters of splats"),
        (flags.backend != Backend::Cpu, "another renderer than cpu"),
        (!flags.layers.settings().layers.is_empty(), "--aov"),
        (flags.exposures.file().is_some(), "--exposures"),
    ];
    let first = needs.into_iter().find(|(is_given, _)| *is_given);
    first.map(|(_, what)| what)
}

fn draw(
    args: &Args,
    output: &Output,
    batches: &SplatBatches,
    (views, memory): (&Views, MemorySize),
    verbosity: Verbosity,
) -> Result<Exit> {
    let flags = &args.flags;
    let profile = flags.draw.profile(batches.profile_hint(), verbosity)?;
    let settings = RenderSettings {
        profile: flags.rules.applied(profile),
        level: flags.draw.host.level,
    };
    let cameras = &views.cameras;
    let mut sizes = cameras.iter().map(|camera| [camera.width, camera.height]);
    sizes.try_for_each(|size| check_memory(size, FRAME_BYTES))?;
    let rows = memory.0 / BATCH_SHARE / (batches.splat_bytes() + KEPT_BYTES) as u64;
    let rows = usize::try_from(rows).unwrap_or(usize::MAX);
    let progress = verbosity.progress("views");
    let steps = progress.task.steps(cameras.len() as u64);
    let task = interrupt::task();
    let coarse = batches.rounding_warning()?;
    let mut passes = 0;
    let pass = |each: EachBatch<'_>| {
        passes += 1;
        let dropped = batches.for_each(rows, task, each)?;
        if passes == 1 {
            warn_of_dropped(&args.scene, dropped, verbosity);
            if let Some(warning) = &coarse {
                verbosity.warn(&format!("{}: {warning}", args.scene.display()));
            }
        }
        Ok(())
    };
    let mut rendered = Vec::new();
    let save = |index: usize, frame: &Frame, (counts, times): (Counts, RenderTimes)| {
        let camera = cameras[index].clone();
        let (layers, background) = (&flags.layers, flags.draw.background);
        let path = layers.save(output, frame, &[], &camera.name, background)?;
        rendered.push(Rendered {
            camera,
            output: Some(path),
            timed: Some(FrameTimes::once(counts, &times, 0)),
        });
        steps.advance(1)
    };
    let limits = (memory.0 / KEPT_SHARE, task);
    let mut renderer = Renderer::default();
    let pool = flags.draw.host.pool()?;
    pool.install(|| renderer.render_batches(pass, cameras, &settings, limits, save))?;
    drop(progress);
    verbosity.remark(&format!(
        "{}: batches of {rows} splats, passes over the file: {passes}",
        args.scene.display()
    ));
    if !output.is_stdout() {
        print(table(&rendered, None))?;
    }
    Ok(Exit::Done)
}
