//! `render`: pictures of a scene.

mod args;
mod batches;
mod in_place;
pub(super) mod meshes;
mod pictures;
mod probe;
mod rendered;
mod scene_film;
mod sequence;
mod source;

use std::slice;
use std::sync::Arc;

use serde_json::json;

pub(super) use self::args::Args;
use self::args::Job;
use self::pictures::{Pictures, draws_ahead};
use self::rendered::{RenderCall, begin_lines, table};
use self::source::Source;
use super::console::{Exit, print, print_json};
use super::exposures::ViewExposures;
use super::film::{FilmFrames, pictures_or_film};
use super::frames::{Backend, band_rows};
use super::inputs::{warn_if_unseen, warn_of_frames};
use super::outputs::{Output, Outputs, refuse_given};
use super::resume::{Resume, note_of};
use super::session::Session;
use super::view_page::{print_views, write_cameras};
use quadrille_base::error::{Error, Result};
use quadrille_base::image::{FRAME_BYTES, check_memory};
use quadrille_base::shading::Profile;
use quadrille_render::cpu::RenderSettings;
use quadrille_render::viewpoint;
use quadrille_scene::cameras::Views;
use quadrille_scene::{Camera, Scene, Splats};
use quadrille_suite::blur::{Blurs, median_depth};
use quadrille_suite::mesh_input::PlacedMeshes;
use quadrille_suite::report::cameras::reproducing_flags;

fn checked<'a>(args: &'a Args, session: &'a Session) -> Result<Job<'a>> {
    args.views.check()?;
    let (path, flags) = (args.output.as_deref(), &args.flags);
    let placeholders = flags.layers.placeholders();
    let (output, film) = pictures_or_film(path, &args.film, args.quality, placeholders, args.json)?;
    if args.resume && output.as_ref().is_none_or(Output::is_stdout) {
        return Err(Error::needs("--resume", "-o with files of pictures"));
    }
    let layers = flags.layers.settings();
    if film.is_some() && !layers.layers.is_empty() {
        return Err(Error::conflict("--aov", "a film (name a .exr or .npy with -o)"));
    }
    if flags.backend == Backend::Gpu {
        let refused = [
            ("--aov", !layers.layers.is_empty()),
            ("--probe", !args.probe.is_empty()),
            ("--stop", flags.rules.stop.is_some()),
        ];
        let other = "--backend gpu (cpu and reference accept it)";
        refuse_given(refused, |flag| Error::conflict(flag, other))?;
    }
    args.meshes.check()?;
    if args.meshes.is_given() {
        let refused = [
            ("--backend gpu", flags.backend == Backend::Gpu),
            ("--probe", !args.probe.is_empty()),
            ("--distance", layers.is_distance),
        ];
        refuse_given(refused, |flag| Error::conflict(flag, "--mesh"))?;
    }
    args.blur.check()?;
    if args.blur.is_blurred() {
        let refused = [
            ("--backend gpu", flags.backend == Backend::Gpu),
            ("--aov", !layers.layers.is_empty()),
            ("--probe", !args.probe.is_empty()),
        ];
        refuse_given(refused, |flag| Error::conflict(flag, "a blur"))?;
    }
    Ok(Job { args, session, output, film, meshes: None, blurs: None })
}

pub(super) fn run(args: &Args, session: &Session) -> Result<Exit> {
    let mut job = checked(args, session)?;
    let flags = &args.flags;
    let exposures = flags.exposures.load(flags.draw.background, job.film.is_some())?;
    let mut source = Source::open(&job)?;
    let profile = flags.rules.applied(flags.draw.profile(source.profile_hint(), session)?);
    let all = args.list_views.then(|| args.views.with_all());
    let chosen = all.as_ref().unwrap_or(&args.views);
    // A scene that is not in memory takes its views from a camera file, so it needs no splats here.
    let none = Splats::from_splats(0, []);
    let splats = source.scene().map_or(&none, |scene| &scene.splats);
    let scene = source.first_path(&args.scene);
    let mut views = session.install(|| args.film.path.views(chosen, scene, splats, session))?;
    if !args.list_views {
        source.show(&job, &mut views)?;
    }
    job.prepare_outputs(&views, &source)?;
    if let Some(path) = &args.cameras_out {
        write_cameras(path, &views.cameras)?;
    }
    if args.list_views {
        return print_views(&views, &profile, args.json);
    }
    if args.output.is_none() && args.repeat.is_none() && args.probe.is_empty() {
        return Ok(Exit::Done);
    }
    if let Some(scene) = source.scene().filter(|_| args.blur.rolling_shutter.is_some()) {
        let cameras = views.cameras.clone();
        views.cameras = session.install(|| {
            args.blur.rolled(cameras, &profile, || job.views_in_order(scene, &views, &source))
        })?;
    }
    job.meshes = args.meshes.load(session)?;
    if job.meshes.is_some() {
        views.cameras.iter().try_for_each(PlacedMeshes::check)?;
    }
    let settings = RenderSettings { profile, level: session.level };
    source = source.for_views(&job, &views.cameras)?;
    if let (false, Some(scene)) = (args.probe.is_empty(), source.scene()) {
        return job.probe(scene, &source, views, &settings);
    }
    if let Some(scene) = source.scene().filter(|_| args.blur.is_blurred()) {
        let blurs = || job.blurs(scene, &views, &source, &settings);
        job.blurs = Some(Arc::new(session.install(blurs)?));
    }
    if let Some(film) = &job.film {
        // The first view is judged before the work, the others by their counts.
        if let (Some(scene), Some(camera)) = (source.scene(), views.cameras.first()) {
            warn_if_unseen(scene, camera, &profile, session);
        }
        let cameras = &views.cameras;
        let mut in_view = Vec::new();
        let draw =
            |frames: &FilmFrames| source.film(&job, cameras, &settings, frames, &mut in_view);
        let finished = film.record(&views, flags.draw.background, session, draw)?;
        let scene = source.scene().filter(|_| !source.is_sequence());
        warn_of_frames(scene, cameras, &profile, &in_view, session);
        let call = job.call(&source, &views, &settings)?;
        finished.report(args.json.then(|| call.of_film()), cameras)?;
        return print_flags(call.view_flags.filter(|_| !args.json));
    }
    job.draw(source, &views, exposures.as_ref(), settings)
}

fn print_flags(view_flags: Option<String>) -> Result<Exit> {
    if let Some(flags) = view_flags {
        print(format!("flags of this view: {flags}\n"))?;
    }
    Ok(Exit::Done)
}

impl Job<'_> {
    /// Views among which the view after each is found: the frames of a path or of a sequence, else all views of the call's
    /// file or circle.
    fn views_in_order(&self, scene: &Scene, views: &Views, source: &Source) -> Result<Vec<Camera>> {
        let args = self.args;
        if args.film.path.is_given() || source.is_sequence() {
            return Ok(views.cameras.clone());
        }
        let (all, splats) = (args.views.with_all(), || Ok(&scene.splats));
        let all = viewpoint::views(&all, Some(&args.scene), splats, self.session.task)?;
        Ok(all.cameras)
    }

    fn blurs(
        &self,
        scene: &Scene,
        views: &Views,
        source: &Source,
        settings: &RenderSettings,
    ) -> Result<Blurs> {
        let all = || self.views_in_order(scene, views, source);
        let focus = |camera: &Camera| median_depth(&scene.splats, camera, settings);
        self.args.blur.of_views(&views.cameras, all, focus)
    }

    fn probe(
        &self,
        scene: &Scene,
        source: &Source,
        views: Views,
        settings: &RenderSettings,
    ) -> Result<Exit> {
        let (args, session) = (self.args, self.session);
        let view_flags = reproducing_flags(&views, &settings.profile);
        let probe = || args.probe.probed(scene, views.cameras, settings, session);
        let probed = session.install(probe)?;
        let facts = json!({
            "scene": source.json(&args.scene),
            "profile": settings.profile.name,
            "view_flags": view_flags,
        });
        probe::report(&probed, args.json.then_some(facts))?;
        print_flags(view_flags.filter(|_| !args.json))
    }

    fn draw(
        &self,
        mut source: Source,
        views: &Views,
        exposures: Option<&ViewExposures>,
        settings: RenderSettings,
    ) -> Result<Exit> {
        let args = self.args;
        let cameras = views.cameras.clone();
        let is_table = !args.json && !self.writes_to_stdout();
        let by_line = is_table && args.repeat.is_none() && cameras.len() > 1;
        let resume = args.resume.then(|| self.resume(&settings.profile)).transpose()?;
        let lines = source.scene().filter(|_| by_line);
        let lines = lines.map(|scene| begin_lines(&cameras, scene.splats.len())).transpose()?;
        let has_lines = lines.is_some();
        let progress = match has_lines {
            true => self.session.progress("views"),
            false => self.session.progress_in_lines("views"),
        };
        let pictures = Pictures {
            job: self,
            exposures,
            resume,
            lines,
            profile: settings.profile,
            progress: &progress,
            steps: progress.task.steps(cameras.len() as u64),
        };
        let rendered = source.draw(cameras, &mut self.timer(settings), &pictures)?;
        drop(pictures);
        drop(progress);
        if args.json {
            let call = self.call(&source, views, &settings)?;
            print_json(call.document(&rendered, args.repeat.is_some()))?;
        } else if is_table {
            if !has_lines {
                print(table(&rendered, args.repeat))?;
            }
            return print_flags(reproducing_flags(views, &settings.profile));
        }
        Ok(Exit::Done)
    }

    fn call(
        &self,
        source: &Source,
        views: &Views,
        settings: &RenderSettings,
    ) -> Result<RenderCall> {
        Ok(RenderCall {
            scene: source.json(&self.args.scene),
            profile: settings.profile.name,
            backend: self.args.flags.backend,
            threads: self.session.pool()?.current_num_threads(),
            level: settings.level,
            view_flags: reproducing_flags(views, &settings.profile),
        })
    }

    fn check_picture_memory(&self, camera: &Camera, views: usize) -> Result<()> {
        // Films and timings need only the frame; pictures also need the copies made for writing.
        let mut bytes = self.output.as_ref().map_or(FRAME_BYTES, Output::bytes_per_pixel);
        if draws_ahead(camera, views) {
            bytes += FRAME_BYTES;
        }
        let rows = if self.draws_bands(camera) { band_rows(camera.width) } else { camera.height };
        check_memory([camera.width, rows], bytes)
    }

    fn prepare_outputs(&self, views: &Views, source: &Source) -> Result<()> {
        let (args, cameras) = (self.args, &views.cameras);
        if args.output.is_some() || args.repeat.is_some() {
            let check = |camera| self.check_picture_memory(camera, cameras.len());
            cameras.iter().try_for_each(check)?;
        }
        let inputs = [Some(args.scene.as_path()), views.file.as_deref()];
        let inputs = inputs.into_iter().flatten().chain(args.views.files());
        let inputs = inputs.chain(args.flags.exposures.file()).chain(args.meshes.files());
        let inputs = inputs.chain(source.sequence_files());
        let mut outputs = Outputs::beside(inputs.chain(args.film.path.files()));
        if let Some(film) = &self.film {
            film.prepare(&mut outputs, args.json)?;
        }
        if let Some(path) = &args.cameras_out {
            outputs.add("--cameras-out", path)?;
        }
        let Some(output) = &self.output else { return Ok(()) };
        let (background, layers) = (args.flags.draw.background, &args.flags.layers);
        output.check_pictures(cameras, background, args.can_draw_bands())?;
        layers.prepare(output, &mut outputs, cameras)?;
        let noted = cameras.iter().filter(|_| args.resume);
        let mut pictures = noted.filter_map(|c| layers.files(output, &c.name).into_iter().next());
        pictures.try_for_each(|picture| outputs.add("--resume", &note_of(&picture)))
    }

    /// Hashes the scene and all settings that affect the pictures, except the camera.
    fn resume(&self, profile: &Profile) -> Result<Resume> {
        let (args, flags) = (self.args, &self.args.flags);
        let (backend, background, layers) = (flags.backend, flags.draw.background, &flags.layers);
        let level = self.session.level.name();
        let (reading, filters, quality) = (args.reading, &args.filters, args.quality);
        let exposures = match flags.exposures.file() {
            Some(path) => std::fs::read_to_string(path).map_err(|e| Error::read(path, e))?,
            None => String::new(),
        };
        let settings = format!(
            "{profile:?} {backend} {level} {background:?} {layers:?} {reading:?} {filters:?} {quality:?} {exposures} {:?}",
            args.meshes
        );
        let named = self.meshes.iter().flat_map(|meshes| meshes.files());
        let files = args.meshes.files().chain(named).filter(|path| path.is_file());
        Resume::new(slice::from_ref(&args.scene), &settings)?.with(files)
    }
}
