//! Films: paths, names, and the writing of frames in order.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Instant;

use serde::Serialize;
use serde_json::{Value, json};

use super::console::{joined, print, print_json, take_stdout};
use super::outputs::{
    Background, JSON_ON_STDOUT, Output, Outputs, QualityFlag, is_stdout_name, refuse_given,
    refuse_terminal,
};
use super::session::Session;
use super::view_page::view_json;
use super::views::views_of;
use quadrille_base::image::Frame;
use quadrille_base::image::film::{FilmFacts, FilmFormat, FilmWriter, FrameRate};
use quadrille_base::output::{STDOUT, write_whole};
use quadrille_base::parse::whole_number;
use quadrille_base::{Error, Result, Task};
use quadrille_scene::cameras::{Flight, ViewSpec, Views, fly};
use quadrille_scene::{Camera, Splats};
use quadrille_suite::csv;
use quadrille_suite::report::table::TextTable;

const DEFAULT_FRAMES: u32 = 120;
const DEFAULT_RATE: FrameRate = FrameRate { numerator: 30, denominator: 1 };
pub(super) const MAX_FRAMES: u32 = 100_000;

/// Flags for films.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Film")]
pub(super) struct FilmFlags {
    #[command(flatten)]
    pub(super) path: PathFlags,
    /// Frames per second of a film [default: the rate that the path states, else 30]
    #[arg(long, value_name = "RATE", value_parser = str::parse::<FrameRate>)]
    fps: Option<FrameRate>,
}

/// Flags for camera paths.
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct PathFlags {
    /// Views along a path: a camera_path.json of nerfstudio or another camera file, in which every
    /// camera is a frame; or, from the cameras of --cameras, spiral, ellipse or interpolate
    #[arg(long, value_name = "FILE|spiral|ellipse|interpolate", conflicts_with_all = ["eye", "target", "up", "orbit"])]
    path: Option<PathBuf>,
    /// Frames of a generated path [default: 120]
    #[arg(long, value_name = "N", value_parser = parse_frames)]
    frames: Option<u32>,
}

fn parse_frames(text: &str) -> std::result::Result<u32, String> {
    let count = whole_number(text).ok().filter(|n| (2..=MAX_FRAMES).contains(n));
    count.ok_or_else(|| format!("expected a whole number from 2 to {MAX_FRAMES}"))
}

impl PathFlags {
    fn flight(&self) -> Option<Flight> {
        self.path.as_deref()?.to_str()?.parse().ok()
    }

    pub(super) fn is_flight(&self) -> bool {
        self.flight().is_some()
    }

    pub(super) fn keys(&self, views: &ViewSpec) -> Result<ViewSpec> {
        match &self.path {
            None if self.frames.is_some() => {
                let needed =
                    "--path spiral, ellipse or interpolate; --orbit N itself makes N frames";
                Err(Error::needs("--frames", needed))
            }
            None => Ok(views.clone()),
            Some(_) if self.is_flight() => Ok(views.with_all_unless_selected()),
            Some(_) if self.frames.is_some() => {
                let needed = "--path spiral, ellipse or interpolate; a file has its own frames";
                Err(Error::needs("--frames", needed))
            }
            Some(path) => {
                let others = [
                    ("--cameras", views.cameras.is_some()),
                    ("--propose-views", views.propose_views.is_some()),
                ];
                refuse_given(others, |flag| {
                    let path = path.display();
                    let path = format!("--path {path} (spiral, ellipse and interpolate allow it)");
                    Error::conflict(flag, path)
                })?;
                Ok(views.with_file(path).with_all_unless_selected())
            }
        }
    }

    pub(super) fn flown(&self, keys: Views) -> Result<Views> {
        let Some(flight) = self.flight() else { return Ok(keys) };
        let count = self.frames.unwrap_or(DEFAULT_FRAMES) as usize;
        Ok(Views {
            cameras: fly(flight, &keys.cameras, count)?,
            file: keys.file,
            ..Views::default()
        })
    }

    pub(super) fn views(
        &self,
        views: &ViewSpec,
        scene: &Path,
        splats: &Splats,
        session: &Session,
    ) -> Result<Views> {
        self.flown(views_of(&self.keys(views)?, scene, splats, session)?)
    }

    pub(super) fn is_given(&self) -> bool {
        self.path.is_some()
    }

    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        self.path.as_deref().into_iter()
    }
}

impl FilmFlags {
    fn film<'a>(&self, path: Option<&'a Path>) -> Result<Option<Film<'a>>> {
        let Some((path, format)) = path.and_then(|p| Some((p, FilmFormat::of_name(p)?))) else {
            if self.fps.is_some() {
                let needed = "-o with a name that ends in .y4m, .apng or .mp4";
                return Err(Error::needs("--fps", needed));
            }
            return Ok(None);
        };
        if !format.is_built() {
            let expected = "a name that ends in .y4m or .apng (.mp4 needs a build with --features video), or a pipe to \
                            ffmpeg: -o -.y4m | ffmpeg -i - film.mp4";
            return Err(Error::argument("-o", expected, path.display()));
        }
        Ok(Some(Film { path, format, rate: self.fps }))
    }
}

/// Form of the rows that a command prints.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct RowsFlags {
    /// Print a JSON document, {"rows": [...]}, instead of a table
    #[arg(long)]
    pub(super) json: bool,
    /// Print comma-separated values instead of a table, one line per row; `plot` reads them, and the JSON document
    /// too
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

impl RowsFlags {
    /// [`pictures_or_film`] beside these rows.
    ///
    /// # Errors
    /// [`Error::Argument`] for CSV beside a film, whose facts are printed.
    pub(super) fn pictures_or_film<'a>(
        self,
        path: Option<&'a Path>,
        flags: &FilmFlags,
        quality: QualityFlag,
        placeholders: &[&str],
    ) -> Result<(Option<Output>, Option<Film<'a>>)> {
        let is_document = self.json || self.csv;
        let (output, film) = pictures_or_film(path, flags, quality, placeholders, is_document)?;
        match film.as_ref().filter(|_| self.csv) {
            Some(_) => Err(Error::conflict("--csv", "a film, with which --json lists the rows")),
            None => Ok((output, film)),
        }
    }
}

/// Parses `-o` as the name of pictures or, by its extension, of a film; at most one of the two is returned.
pub(super) fn pictures_or_film<'a>(
    path: Option<&'a Path>,
    flags: &FilmFlags,
    quality: QualityFlag,
    placeholders: &[&str],
    is_document: bool,
) -> Result<(Option<Output>, Option<Film<'a>>)> {
    let film = flags.film(path)?;
    let pictures = path.filter(|_| film.is_none());
    Ok((quality.applied(Output::parse(pictures, placeholders, is_document)?)?, film))
}

pub(super) fn writes_to_stdout(output: Option<&Output>, film: Option<&Film<'_>>) -> bool {
    output.is_some_and(Output::is_stdout) || film.is_some_and(Film::is_stdout)
}

/// Refuses a measurement, whose table is printed, beside a picture or film on standard output.
pub(super) fn refuse_measures(flag: Option<&str>, is_stdout: bool) -> Result<()> {
    match flag.filter(|_| is_stdout) {
        Some(flag) => {
            let other = format!("{flag}, whose table is printed there (name a file)");
            Err(Error::conflict("-o -", other))
        }
        None => Ok(()),
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Film<'a> {
    path: &'a Path,
    pub(super) format: FilmFormat,
    rate: Option<FrameRate>,
}

pub(super) struct FinishedFilm {
    output: String,
    is_stdout: bool,
    facts: FilmFacts,
    seconds: f64,
    at_once: usize,
}

impl Film<'_> {
    pub(super) fn is_stdout(&self) -> bool {
        is_stdout_name(self.path)
    }

    pub(super) fn file(&self) -> Option<&Path> {
        (!self.is_stdout()).then_some(self.path)
    }

    pub(super) fn rate(&self, views: &Views) -> FrameRate {
        let stated = views.frame_rate.and_then(FrameRate::of);
        self.rate.or(stated).unwrap_or(DEFAULT_RATE)
    }

    pub(super) fn check_variants(&self, count: usize) -> Result<()> {
        if count < 2 {
            return Ok(());
        }
        let expected = format!(
            "pictures, since there are {count} combinations of settings (a film shows one: call the command once for each)"
        );
        Err(Error::argument("-o", expected, self.path.display()))
    }

    pub(super) fn prepare(&self, outputs: &mut Outputs<'_>, is_json: bool) -> Result<()> {
        match self.file() {
            Some(path) => outputs.add("-o", path),
            None if is_json => Err(Error::conflict("-o -", JSON_ON_STDOUT)),
            None => refuse_terminal("a film").and_then(|()| take_stdout("-o -")),
        }
    }

    /// Records `film` as [`Self::record`]; without one, only calls `draw`.
    pub(super) fn record_if(
        film: Option<Self>,
        views: &Views,
        background: Option<Background>,
        session: &Session,
        draw: impl FnOnce(Option<&FilmFrames>) -> Result<usize> + Send,
    ) -> Result<Option<FinishedFilm>> {
        match film {
            Some(film) => {
                film.record(views, background, session, |frames| draw(Some(frames))).map(Some)
            }
            None => draw(None).map(|_| None),
        }
    }

    /// Writes the film of `views` from the frames that `draw` passes to its argument in order. `draw` runs on another
    /// thread, so the next frame is drawn while one is written, and returns the number of frames drawn at once. If the
    /// reader of a pipe closes it early, drawing stops.
    pub(super) fn record(
        &self,
        views: &Views,
        background: Option<Background>,
        session: &Session,
        draw: impl FnOnce(&FilmFrames) -> Result<usize> + Send,
    ) -> Result<FinishedFilm> {
        let size = same_size(&views.cameras)?;
        if background == Some(Background::Transparent) && !self.format.has_alpha() {
            let needed = "-o with a name that ends in .apng";
            return Err(Error::needs("a film with --background transparent", needed));
        }
        let facts = FilmFacts {
            size,
            frames: u32::try_from(views.cameras.len()).unwrap_or(u32::MAX),
            rate: self.rate(views),
        };
        let start = Instant::now();
        let progress = session.progress_in_lines("frames");
        let steps = progress.task.steps(views.cameras.len() as u64);
        let bar = &progress.bar;
        let (sender, prepared) = sync_channel::<Prepared>(1);
        let mut drawn = Ok(1);
        let written = std::thread::scope(|scope| {
            // If the writer fails, it closes the channel, which also ends `draw`; the writer's error is reported.
            scope.spawn(|| drawn = draw(&FilmFrames { format: self.format, sender }));
            self.write(&progress.task, move |out| {
                let mut writer = FilmWriter::begin(self.format, out, facts)?;
                for _ in &views.cameras {
                    writer.push(&prepared.recv().map_err(std::io::Error::other)??)?;
                    steps.advance(1).map_err(std::io::Error::other)?;
                    let rate = bar.position() as f64 / bar.elapsed().as_secs_f64().max(1e-9);
                    bar.set_message(format!("{rate:.1} frames/s"));
                }
                writer.finish()
            })
        });
        let at_once = match (written, drawn) {
            (Ok(()), Ok(at_once)) => at_once,
            (Ok(()), Err(Error::Cancelled)) => session.task.check().map(|()| 1)?,
            (Err(error), Ok(_) | Err(Error::Cancelled)) | (_, Err(error)) => return Err(error),
        };
        Ok(FinishedFilm {
            output: self.path.display().to_string(),
            is_stdout: self.is_stdout(),
            facts,
            seconds: start.elapsed().as_secs_f64(),
            at_once,
        })
    }

    fn write(
        &self,
        task: &Task,
        write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<()> {
        write_whole(self.file().unwrap_or(Path::new(STDOUT)), task, write)
    }
}

/// A frame encoded for the film writer, or the error of encoding it.
pub(super) type Prepared = std::io::Result<Vec<u8>>;

/// Queue of encoded frames to the thread that writes the film.
pub(super) struct FilmFrames {
    pub(super) format: FilmFormat,
    sender: SyncSender<Prepared>,
}

impl FilmFrames {
    /// Queues the picture of a view, if a film is recorded.
    pub(super) fn take_if(film: Option<&Self>, picture: Option<&Frame>) -> Result<()> {
        film.zip(picture).map_or(Ok(()), |(film, picture)| film.take(picture, None))
    }

    /// Queues the next frame for the writer, composited over the background if there is one.
    pub(super) fn take(&self, frame: &Frame, background: Option<[f32; 3]>) -> Result<()> {
        self.push(self.format.prepare(frame, background))
    }

    pub(super) fn push(&self, prepared: Prepared) -> Result<()> {
        self.sender.send(prepared).map_err(|_| Error::Cancelled)
    }
}

/// Reports the rows of drawn views: beside their film if there is one, as JSON, as CSV, or as the text of `table`. A film
/// has the table below it if frames are measured.
pub(super) fn report_rows(
    film: Option<FinishedFilm>,
    rows: &impl Serialize,
    cameras: &[Camera],
    format: RowsFlags,
    is_measured: bool,
    table: impl FnOnce() -> Option<String>,
) -> Result<()> {
    if format.csv {
        return print(csv::columns_of(&json!(rows)).text());
    }
    let document = format.json.then(|| json!({ "rows": rows }));
    match (film, document) {
        (Some(film), None) if is_measured => {
            film.report(None, cameras)?;
            table().map_or(Ok(()), |table| print(format!("\n{table}")))
        }
        (Some(film), document) => film.report(document, cameras),
        (None, Some(document)) => print_json(document),
        (None, None) => table().map_or(Ok(()), print),
    }
}

fn same_size(cameras: &[Camera]) -> Result<[u32; 2]> {
    let size = cameras.first().map_or([0; 2], |c| [c.width, c.height]);
    match cameras.iter().find(|c| [c.width, c.height] != size) {
        None => Ok(size),
        Some(other) => {
            let expected = format!(
                "frames of one size, {} x {} (--width and --height set one size for all)",
                size[0], size[1]
            );
            let found = format!("{} x {} of view \"{}\"", other.width, other.height, other.name);
            Err(Error::argument("-o", expected, found))
        }
    }
}

impl FinishedFilm {
    fn frames_per_second(&self) -> f64 {
        f64::from(self.facts.frames) / self.seconds.max(1e-9)
    }

    pub(super) fn report(&self, facts: Option<Value>, cameras: &[Camera]) -> Result<()> {
        match facts {
            Some(facts) => print_json(joined([facts, self.json(cameras)])),
            None if self.is_stdout => Ok(()),
            None => print(self.table()),
        }
    }

    fn table(&self) -> String {
        let columns = ["<film", "frames", "pixels", "rate", "seconds", "frames/s", "at once"];
        let mut table = TextTable::new(&columns);
        table.row([
            self.output.clone(),
            self.facts.frames.to_string(),
            format!("{}x{}", self.facts.size[0], self.facts.size[1]),
            self.facts.rate.to_string(),
            format!("{:.2}", self.seconds),
            format!("{:.1}", self.frames_per_second()),
            self.at_once.to_string(),
        ]);
        table.to_string()
    }

    fn json(&self, cameras: &[Camera]) -> Value {
        let views = cameras.iter().map(view_json);
        json!({
            "film": {
                "output": self.output,
                "frames": self.facts.frames,
                "width": self.facts.size[0],
                "height": self.facts.size[1],
                "frame_rate": self.facts.rate.per_second(),
                "host_s": self.seconds,
                "frames_per_second": self.frames_per_second(),
                "frames_at_once": self.at_once,
            },
            "views": views.collect::<Vec<_>>(),
        })
    }
}
