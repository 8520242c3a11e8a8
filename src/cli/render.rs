//! `render`: pictures of a scene.

mod args;
mod batches;
mod drawing;
mod in_place;
mod probe;
mod rendered;

use std::path::Path;
use std::slice;

use rayon::ThreadPool;
use serde_json::json;

pub(super) use self::args::Args;
use self::args::RenderFlags;
use self::drawing::{Drawing, draws_ahead};
use self::rendered::{RenderCall, begin_lines, scene_json, table};
use super::console::{Exit, Verbosity, print, print_json};
use super::exposures::ViewExposures;
use super::film::Film;
use super::frames::{Backend, band_rows};
use super::inputs::{load_filtered, warn_if_unseen};
use super::outputs::{Output, Outputs};
use super::resume::{Resume, note_of};
use super::splat_film::{self, FilmSettings};
use super::view_page::{print_views, write_cameras};
use quadrille_base::error::{Error, Result};
use quadrille_base::image::{FRAME_BYTES, check_memory};
use quadrille_base::shading::Profile;
use quadrille_render::cpu::RenderSettings;
use quadrille_scene::cameras::Views;
use quadrille_scene::{Camera, Scene, Splats};
use quadrille_suite::report::cameras::reproducing_flags;

fn checked_output(args: &Args, is_film: bool) -> Result<Option<Output>> {
    let flags = &args.flags;
    let placeholders = flags.layers.placeholders();
    let output = match is_film {
        true => None,
        false => Output::parse(args.output.as_deref(), placeholders, args.json)?,
    };
    let output = args.quality.applied(output)?;
    if args.resume && output.as_ref().is_none_or(Output::is_stdout) {
        return Err(Error::needs("--resume", "-o with files of pictures"));
    }
    let layers = flags.layers.settings();
    if is_film && !layers.layers.is_empty() {
        return Err(Error::conflict("--aov", "a film (-o with a .exr or .npy takes it)"));
    }
    if flags.backend == Backend::Gpu {
        let refused = [
            ("--aov", !layers.layers.is_empty()),
            ("--probe", !args.probe.is_empty()),
            ("--stop", flags.rules.stop.is_some()),
        ];
        if let Some((flag, _)) = refused.iter().find(|(_, is_given)| *is_given) {
            return Err(Error::conflict(flag, "--backend gpu (cpu and reference take it)"));
        }
    }
    Ok(output)
}

pub(super) fn run(args: &Args, verbosity: Verbosity) -> Result<Exit> {
    args.views.check()?;
    let film = args.film.film(args.output.as_deref())?;
    let flags = &args.flags;
    let output = checked_output(args, film.is_some())?;
    let exposures = flags.exposures.load(flags.draw.background, film.is_some())?;
    let prepare = |views: &Views| prepare_outputs(args, output.as_ref(), film.as_ref(), views);
    if let Some(exit) = batches::run(args, output.as_ref(), film.as_ref(), prepare, verbosity)? {
        return Ok(exit);
    }
    // One pool does all the work: starting a second one costs a small scene a millisecond.
    let host = &flags.draw.host;
    let pool = host.pool()?;
    let load =
        || pool.install(|| load_filtered(&args.scene, args.reading, &args.filters, verbosity));
    let in_place = in_place::source(args, output.as_ref());
    let loaded = match in_place {
        Some(_) => None,
        None => Some(load()?),
    };
    let hint = match &in_place {
        Some(file) => file.profile_hint(),
        None => loaded.as_ref().and_then(|scene| scene.profile_hint),
    };
    let profile = flags.draw.profile(hint, verbosity)?;
    let profile = flags.rules.applied(profile);
    let all = args.list_views.then(|| args.views.with_all());
    let chosen = all.as_ref().unwrap_or(&args.views);
    let path = &args.scene;
    // A file that is drawn in place takes its views from a camera file.
    let none = Splats::from_splats(0, []);
    let splats = loaded.as_ref().map_or(&none, |scene| &scene.splats);
    let views = pool.install(|| (args.film.path).views(chosen, path, splats, verbosity))?;
    prepare_outputs(args, output.as_ref(), film.as_ref(), &views)?;
    if let Some(path) = &args.cameras_out {
        write_cameras(path, &views.cameras)?;
    }
    if args.list_views {
        return print_views(&views, args.json);
    }
    let view_flags = reproducing_flags(&views);
    if args.output.is_none() && args.repeat.is_none() && args.probe.is_empty() {
        return Ok(Exit::Done);
    }
    let render = RenderSettings { profile, level: host.level };
    if let (Some(file), Some(output), [camera]) = (&in_place, &output, &views.cameras[..])
        && !flags.draws_bands(output, camera)
        && let Some(rendered) =
            pool.install(|| in_place::drawn(args, file, output, camera, &render, verbosity))?
    {
        return match output.is_stdout() {
            true => Ok(Exit::Done),
            false => {
                print(table(&[rendered], None))?;
                print_flags(view_flags)
            }
        };
    }
    let scene = loaded.map_or_else(load, Ok)?;
    if !args.probe.is_empty() {
        let (probe, cameras) = (&args.probe, views.cameras);
        let views = pool.install(|| probe.probed(&scene, cameras, &render, verbosity))?;
        let facts = json!({
            "scene": scene_json(&args.scene, &scene),
            "profile": profile.name,
            "view_flags": view_flags,
        });
        probe::report(&views, args.json.then_some(facts))?;
        return print_flags(view_flags.filter(|_| !args.json));
    }
    if let Some(film) = &film {
        let settings = FilmSettings {
            backend: flags.backend,
            render,
            background: flags.draw.background,
            threads: pool.current_num_threads(),
        };
        shoot(args, film, &scene, &views, &settings, verbosity)?;
        return Ok(Exit::Done);
    }
    let (output, exposures) = (output.as_ref(), exposures.as_ref());
    draw_views(args, &scene, views, output, exposures, render, &pool, verbosity)
}

fn draw_views(
    args: &Args,
    scene: &Scene,
    views: Views,
    output: Option<&Output>,
    exposures: Option<&ViewExposures>,
    render: RenderSettings,
    pool: &ThreadPool,
    verbosity: Verbosity,
) -> Result<Exit> {
    let (flags, profile) = (&args.flags, render.profile);
    let view_flags = reproducing_flags(&views);
    let mut timer = flags.timer(render);
    let resume = args.resume.then(|| resume(args, &profile));
    let is_table = !args.json && !output.is_some_and(Output::is_stdout);
    let by_line = is_table && args.repeat.is_none() && views.cameras.len() > 1;
    let drawing = Drawing {
        layers: &flags.layers,
        background: flags.draw.background,
        can_draw_bands: flags.can_draw_bands(),
        repeat: args.repeat.unwrap_or(1),
        scene,
        verbosity,
        output,
        exposures,
        resume: resume.transpose()?,
        lines: match by_line {
            true => Some(begin_lines(&views.cameras, scene.splats.len())?),
            false => None,
        },
        near: profile.near,
        pool,
    };
    let rendered = drawing.draw_all(views.cameras, &mut timer)?;
    if args.json {
        let call = RenderCall {
            scene: scene_json(&args.scene, scene),
            profile: profile.name,
            backend: flags.backend,
            threads: pool.current_num_threads(),
            level: flags.draw.host.level,
            view_flags,
        };
        print_json(call.document(&rendered, args.repeat.is_some()))?;
    } else if is_table {
        if !by_line {
            print(table(&rendered, args.repeat))?;
        }
        return print_flags(view_flags);
    }
    Ok(Exit::Done)
}

fn print_flags(view_flags: Option<String>) -> Result<Exit> {
    if let Some(flags) = view_flags {
        print(format!("flags of this view: {flags}\n"))?;
    }
    Ok(Exit::Done)
}

fn shoot(
    args: &Args,
    film: &Film<'_>,
    scene: &Scene,
    views: &Views,
    settings: &FilmSettings,
    verbosity: Verbosity,
) -> Result<()> {
    // One warning says it of the whole path.
    if let Some(camera) = views.cameras.first() {
        warn_if_unseen(scene, camera, settings.render.profile.near, verbosity);
    }
    let finished = splat_film::write_film(film, &scene.splats, views, settings, verbosity)?;
    let facts = args.json.then(|| {
        json!({
            "scene": scene_json(&args.scene, scene),
            "profile": settings.render.profile.name,
            "backend": settings.backend,
            "threads": settings.threads,
        })
    });
    finished.report(facts, &views.cameras)
}

fn check_picture_memory(
    flags: &RenderFlags,
    output: Option<&Output>,
    camera: &Camera,
    views: usize,
) -> Result<()> {
    // Films and timings hold a frame alone.
    let mut bytes = output.map_or(FRAME_BYTES, Output::bytes_per_pixel);
    if draws_ahead(camera, views) {
        bytes += FRAME_BYTES;
    }
    let rows = match output.is_some_and(|output| flags.draws_bands(output, camera)) {
        true => band_rows(camera.width),
        false => camera.height,
    };
    check_memory([camera.width, rows], bytes)
}

fn prepare_outputs(
    args: &Args,
    output: Option<&Output>,
    film: Option<&Film<'_>>,
    views: &Views,
) -> Result<()> {
    if args.output.is_some() || args.repeat.is_some() {
        let mut cameras = views.cameras.iter();
        cameras.try_for_each(|camera| {
            check_picture_memory(&args.flags, output, camera, views.cameras.len())
        })?;
    }
    let inputs = [Some(args.scene.as_path()), views.file.as_deref()];
    let inputs = inputs.into_iter().flatten().chain(args.views.files());
    let inputs = inputs.chain(args.flags.exposures.file());
    let mut outputs = Outputs::beside(inputs.chain(args.film.path.files()));
    if let Some(film) = film {
        film.prepare(&mut outputs, args.json)?;
    }
    if let Some(path) = &args.cameras_out {
        Error::refuse_if(path == Path::new("-"), "--cameras-out", "a file", "standard output (-)")?;
        outputs.add("--cameras-out", path)?;
    }
    let Some(output) = output else {
        return Ok(());
    };
    let (background, layers) = (args.flags.draw.background, &args.flags.layers);
    output.check_pictures(&views.cameras, background, args.flags.can_draw_bands())?;
    layers.prepare(output, &mut outputs, &views.cameras)?;
    let noted = views.cameras.iter().filter(|_| args.resume);
    let mut pictures = noted.filter_map(|c| layers.files(output, &c.name).into_iter().next());
    pictures.try_for_each(|picture| outputs.add("--resume", &note_of(&picture)))
}

/// Hash of the scene and of all settings that the pictures depend on, without the cameras.
fn resume(args: &Args, profile: &Profile) -> Result<Resume> {
    let flags = &args.flags;
    let (backend, background, layers) = (flags.backend, flags.draw.background, &flags.layers);
    let level = flags.draw.host.level.name();
    let (reading, filters, quality) = (args.reading, &args.filters, args.quality);
    let exposures = match flags.exposures.file() {
        Some(path) => std::fs::read_to_string(path).map_err(|e| Error::read(path, e))?,
        None => String::new(),
    };
    let settings = format!(
        "{profile:?} {backend} {level} {background:?} {layers:?} {reading:?} {filters:?} {quality:?} {exposures}"
    );
    Resume::new(slice::from_ref(&args.scene), &settings)
}
