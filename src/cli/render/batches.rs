//! `render --memory`: pictures of a scene that is larger than memory.

use std::ops::Range;
use std::path::Path;

use rayon::ThreadPool;
use serde_json::json;

use quadrille_base::bytes::Bytes;
use quadrille_base::error::{Error, Result};
use quadrille_base::image::{FRAME_BYTES, Frame, check_memory};
use quadrille_base::shading::Profile;
use quadrille_base::task::Task;
use quadrille_render::ChunkIndex;
use quadrille_render::cpu::{DrawnView, KEPT_BYTES, RenderSettings, Renderer};
use quadrille_scene::cameras::Views;
use quadrille_scene::formats::{EachBatch, SplatBatches, open_batches, scene_file};
use quadrille_scene::{Camera, Dropped, Splats};
use quadrille_suite::report::cameras::reproducing_flags;

use super::args::Args;
use super::rendered::{RenderCall, Rendered, size_json, table};
use crate::cli::console::{Exit, Verbosity, print, print_json};
use crate::cli::film::{Film, TakeFrame};
use crate::cli::frames::{Backend, FrameTimes};
use crate::cli::inputs::{about_lod, note_file_of_folder, warn_of_dropped};
use crate::cli::interrupt;
use crate::cli::outputs::{Output, colour_behind};
use crate::cli::view_page::write_cameras;

/// Share of the memory for the arrays of a batch.
const BATCH_SHARE: u64 = 8;
/// Fraction of the memory for the splats in view. The rest is for decoded parts of the file and then, when those are
/// dropped, for the lists of the tiles and the pictures.
const KEPT_SHARE: u64 = 2;

/// Draws the views in batches of the scene, if it does not fit in `--memory`; `None` if it does or there is no such flag.
/// `prepare` checks the outputs of the views.
pub(super) fn run(
    args: &Args,
    output: Option<&Output>,
    film: Option<&Film<'_>>,
    prepare: impl FnOnce(&Views) -> Result<()>,
    verbosity: Verbosity,
) -> Result<Option<Exit>> {
    let Some(memory) = args.memory else {
        return Ok(None);
    };
    let path = scene_file(&args.scene)?;
    if path == Path::new("-") || path.exists() && !path.is_file() {
        let needed = "a scene in a file, which can be read several times";
        return Err(Error::needs("--memory", format!("{needed}, not {}", path.display())));
    }
    let mut batches = open_batches(&path, args.reading).map_err(about_lod)?;
    let kept = batches.rows() as u64 * KEPT_BYTES as u64;
    let whole = batches.scene_bytes().saturating_add(kept);
    if whole <= memory.0 {
        return Ok(None);
    }
    refuse(args, output.is_some() || film.is_some(), memory, &batches, whole)?;
    note_file_of_folder(&args.scene, verbosity);
    let none = Splats::from_splats(0, []);
    let views = (args.film.path).views(&args.views, &args.scene, &none, verbosity)?;
    prepare(&views)?;
    if let Some(path) = &args.cameras_out {
        write_cameras(path, &views.cameras)?;
    }
    let profile = (args.flags.draw).profile(batches.profile_hint(), verbosity)?;
    let settings = RenderSettings {
        profile: args.flags.rules.applied(profile),
        level: args.flags.draw.host.level,
    };
    let pool = args.flags.draw.host.pool()?;
    if let Some(seen) =
        pool.install(|| seen_rows(&path, &batches, &views.cameras, &settings.profile, verbosity))
    {
        batches.only(seen);
    }
    let job = BatchJob { args, batches, views, memory, settings, pool, verbosity };
    match (film, output) {
        (Some(film), _) => job.shoot(film)?,
        (None, Some(output)) => job.draw(output)?,
        (None, None) => {}
    }
    Ok(Some(Exit::Done))
}

/// Row ranges with all splats in view of any of `cameras`, if the scene has an index.
pub(super) fn seen_rows(
    path: &Path,
    batches: &SplatBatches,
    cameras: &[Camera],
    profile: &Profile,
    verbosity: Verbosity,
) -> Option<Vec<Range<usize>>> {
    match ChunkIndex::read(path, batches) {
        Ok(index) => {
            let seen = index?.seen(cameras, profile, batches.rows());
            let rows: usize = seen.iter().map(ExactSizeIterator::len).sum();
            let all = batches.rows();
            verbosity.remark(&format!("{}: {rows} of {all} rows may be seen", path.display()));
            Some(seen)
        }
        Err(error) => {
            verbosity.warn(&format!("{error}; the whole scene is read"));
            None
        }
    }
}

fn refuse(
    args: &Args,
    has_output: bool,
    memory: Bytes,
    batches: &SplatBatches,
    whole: u64,
) -> Result<()> {
    let file = args.scene.display();
    let of_output = (!has_output).then_some("no picture");
    if let Some(found) = whole_scene_flag(args).or(of_output) {
        let other = format!(
            "{found}: {file} takes {whole} bytes and is read in batches, which draw pictures (-o) or films of a camera file \
             (--cameras, --view or --path)"
        );
        return Err(Error::conflict(format!("--memory {memory}"), other));
    }
    let working = batches.working_bytes();
    if working > memory.0 - memory.0 / BATCH_SHARE - memory.0 / KEPT_SHARE {
        // The share is 3/8.
        let least =
            Bytes(working.saturating_mul(8).div_ceil(3).div_ceil(1 << 20).saturating_mul(1 << 20));
        let expected = format!(
            "at least {least} for {file}, of which {working} bytes are decoded at once; all of it takes {whole} bytes"
        );
        return Err(Error::argument("--memory", expected, memory));
    }
    Ok(())
}

pub(super) fn whole_scene_flag(args: &Args) -> Option<&'static str> {
    let flags = &args.flags;
    let keys = args.film.path.keys(&args.views);
    let needs = [
        (
            !keys.is_ok_and(|keys| keys.beside(&args.scene).cameras.is_some()),
            "views that the scene decides",
        ),
        (args.repeat.is_some(), "--repeat"),
        (args.list_views, "--list-views"),
        (!args.probe.is_empty(), "--probe"),
        (args.resume, "--resume"),
        (!args.filters.is_empty(), "filters of splats"),
        (flags.backend != Backend::Cpu, "another renderer than cpu"),
        (!flags.layers.settings().layers.is_empty(), "--aov"),
        (flags.exposures.file().is_some(), "--exposures"),
    ];
    let first = needs.into_iter().find(|(is_given, _)| *is_given);
    first.map(|(_, what)| what)
}

struct BatchJob<'a> {
    args: &'a Args,
    batches: SplatBatches,
    views: Views,
    memory: Bytes,
    settings: RenderSettings,
    pool: ThreadPool,
    verbosity: Verbosity,
}

impl BatchJob<'_> {
    fn draw(&self, output: &Output) -> Result<()> {
        let flags = &self.args.flags;
        let progress = self.verbosity.progress("views");
        let steps = progress.task.steps(self.views.cameras.len() as u64);
        let mut rendered = Vec::new();
        let save = |index: usize, frame: &Frame, (counts, times, used_bytes): DrawnView| {
            let camera = self.views.cameras[index].clone();
            let (layers, background) = (&flags.layers, flags.draw.background);
            let path = layers.save(output, frame, &[], &camera.name, background)?;
            rendered.push(Rendered {
                camera,
                output: Some(path),
                timed: Some(FrameTimes::once(counts, &times, used_bytes)),
            });
            steps.advance(1)
        };
        let dropped = self.pool.install(|| self.render(interrupt::task(), save))?;
        drop(progress);
        if self.args.json {
            let call = self.call(dropped);
            return print_json(call.document(&rendered, false));
        }
        match output.is_stdout() {
            true => Ok(()),
            false => print(table(&rendered, None)),
        }
    }

    fn shoot(&self, film: &Film<'_>) -> Result<()> {
        let background = self.args.flags.draw.background;
        let draw = |take: &mut TakeFrame<'_>| {
            let each = |_: usize, frame: &Frame, _: DrawnView| match colour_behind(background, None)
            {
                Some(colour) => take(&frame.over(colour)),
                None => take(frame),
            };
            let dropped = self.pool.install(|| self.render(interrupt::task(), each))?;
            Ok(vec![dropped])
        };
        let (finished, dropped) =
            film.record_drawn(&self.views, background, self.verbosity, draw)?;
        let facts = self.args.json.then(|| {
            let call = self.call(dropped.first().copied().unwrap_or_default());
            json!({
                "scene": call.scene,
                "profile": call.profile,
                "backend": call.backend,
                "threads": call.threads,
            })
        });
        finished.report(facts, &self.views.cameras)
    }

    fn call(&self, dropped: Dropped) -> RenderCall {
        let splats = self.batches.rows() - quadrille_base::math::index(dropped.total());
        let (degree, bytes) = (self.batches.sh_degree(), self.batches.size_bytes(splats));
        RenderCall {
            scene: size_json(&self.args.scene, splats, degree, bytes),
            profile: self.settings.profile.name,
            backend: self.args.flags.backend,
            threads: self.pool.current_num_threads(),
            level: self.settings.level,
            view_flags: reproducing_flags(&self.views),
        }
    }

    fn render(
        &self,
        task: &Task,
        each: impl FnMut(usize, &Frame, DrawnView) -> Result<()>,
    ) -> Result<Dropped> {
        let (scene, cameras) = (self.args.scene.display(), &self.views.cameras);
        let mut sizes = cameras.iter().map(|camera| [camera.width, camera.height]);
        sizes.try_for_each(|size| check_memory(size, FRAME_BYTES))?;
        let of_many = self.batches.size_bytes(1 << 20) >> 20;
        let rows = self.memory.0 / BATCH_SHARE / (of_many + KEPT_BYTES as u64);
        let rows = usize::try_from(rows).unwrap_or(usize::MAX);
        let (mut passes, mut dropped) = (0, Dropped::default());
        let pass = |each: EachBatch<'_>| {
            passes += 1;
            let notes = self.batches.for_each(rows, task, each)?;
            if passes == 1 {
                dropped = notes.dropped;
                warn_of_dropped(&self.args.scene, dropped, self.verbosity);
                for warning in notes.warnings {
                    self.verbosity.warn(&format!("{scene}: {warning}"));
                }
            }
            Ok(())
        };
        let limits = (self.memory.0 / KEPT_SHARE, task);
        let mut renderer = Renderer::default();
        renderer.render_batches(pass, cameras, &self.settings, limits.0, limits.1, each)?;
        self.verbosity
            .remark(&format!("{scene}: batches of {rows} splats, passes over the file: {passes}"));
        Ok(dropped)
    }
}
