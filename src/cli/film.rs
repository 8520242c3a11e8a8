//! Films of `render`: paths, frames rendered at the same time, and their writing in order.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Instant;

use indicatif::ProgressBar;
use serde_json::{Value, json};

use super::console::{Verbosity, print};
use super::frames::{Backend, FrameTimer};
use super::outputs::Background;
use super::views::ViewArgs;
use quadrille_base::error::{Error, Result};
use quadrille_base::image::Frame;
use quadrille_base::image::film::{FilmFacts, FilmFormat, FilmWriter, FrameRate};
use quadrille_base::output::write_whole_task;
use quadrille_base::parse::{parsed, whole_number};
use quadrille_base::task::Steps;
use quadrille_render::cpu::{LayerSettings, RenderSettings, Renderer};
use quadrille_scene::cameras::{Flight, Views, fly};
use quadrille_scene::{Camera, Splats};
use quadrille_suite::report::cameras::camera_json;
use quadrille_suite::report::table::TextTable;

/// Frames of a generated path.
const DEFAULT_FRAMES: u32 = 120;
/// Frames per second of a film whose path states none.
const DEFAULT_RATE: FrameRate = FrameRate {
    numerator: 30,
    denominator: 1,
};
/// Maximum of `--frames`.
const MAX_FRAMES: u32 = 100_000;
/// Memory for frames that are rendered at the same time, in bytes: pictures and working arrays.
const MEMORY: usize = 4 << 30;

/// Flags about films.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Film")]
pub(super) struct FilmFlags {
    #[command(flatten)]
    pub(super) path: PathFlags,
    /// Frames per second of a film [default: the rate that the path states, else 30]
    #[arg(long, value_name = "RATE", value_parser = str::parse::<FrameRate>)]
    fps: Option<FrameRate>,
}

/// Flags about camera paths.
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct PathFlags {
    /// Views along a path: a camera_path.json of nerfstudio or another camera file, all of whose cameras
    /// are frames; or, from the cameras of --cameras, spiral, ellipse or interpolate
    #[arg(long, value_name = "FILE|spiral|ellipse|interpolate", conflicts_with_all = ["eye", "target", "up", "orbit"])]
    path: Option<PathBuf>,
    /// Frames of a generated path [default: 120]
    #[arg(long, value_name = "N", requires = "path", value_parser = parse_frames)]
    frames: Option<u32>,
}

fn parse_frames(text: &str) -> std::result::Result<u32, String> {
    let count = whole_number(text)
        .ok()
        .filter(|n| (2..=MAX_FRAMES).contains(n));
    count.ok_or_else(|| format!("expected a whole number from 2 to {MAX_FRAMES}"))
}

impl PathFlags {
    /// The views that these flags and `views` choose for a scene.
    pub(super) fn views(
        &self,
        views: &ViewArgs,
        scene: &Path,
        splats: &Splats,
        verbosity: Verbosity,
    ) -> Result<Views> {
        let Some(path) = &self.path else {
            return views.of_scene(scene, splats, verbosity);
        };
        let name = path.to_str().unwrap_or_default();
        let Ok(flight) = parsed(name, str::parse::<Flight>) else {
            if self.frames.is_some() {
                let expected = "spiral, ellipse or interpolate, whose frames --frames counts";
                return Err(Error::argument("--path", expected, name));
            }
            return views.of_file(path)?.of_scene(scene, splats, verbosity);
        };
        let keys = views
            .of_all_unless_chosen()
            .of_scene(scene, splats, verbosity)?;
        let count = self.frames.unwrap_or(DEFAULT_FRAMES) as usize;
        Ok(Views {
            cameras: fly(flight, &keys.cameras, count)?,
            file: keys.file,
            ..Views::default()
        })
    }

    /// All files that are read.
    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        self.path.as_deref().into_iter()
    }
}

impl FilmFlags {
    /// The film to write to `path`, if the extension names a film format.
    pub(super) fn film<'a>(&self, path: Option<&'a Path>) -> Result<Option<Film<'a>>> {
        let Some((path, format)) = path.and_then(|p| Some((p, FilmFormat::of_name(p)?))) else {
            if self.fps.is_some() {
                let expected = "-o with a name that ends in .y4m, .apng or .mp4 beside it";
                return Err(Error::argument("--fps", expected, "none"));
            }
            return Ok(None);
        };
        if !format.is_built() {
            let expected = "a name that ends in .y4m or .apng (.mp4 needs a build with --features video), or ffmpeg beside \
                            it: -o -.y4m | ffmpeg -i - film.mp4";
            return Err(Error::argument("-o", expected, path.display().to_string()));
        }
        Ok(Some(Film {
            path,
            format,
            rate: self.fps,
        }))
    }
}

/// A film to write.
#[derive(Debug, Clone, Copy)]
pub(super) struct Film<'a> {
    path: &'a Path,
    format: FilmFormat,
    /// The rate that a flag chooses.
    rate: Option<FrameRate>,
}

/// A film that is written.
pub(super) struct FinishedFilm {
    output: String,
    rate: FrameRate,
    frames: usize,
    size: [u32; 2],
    seconds: f64,
    at_once: usize,
}

/// Renderer and settings of the frames.
#[derive(Debug, Clone, Copy)]
pub(super) struct FilmSettings {
    pub(super) backend: Backend,
    pub(super) render: RenderSettings,
    pub(super) background: Option<Background>,
    /// Number of threads.
    pub(super) threads: usize,
}

impl Film<'_> {
    /// Whether the film goes to standard output.
    pub(super) fn is_stdout(&self) -> bool {
        let is_bare = self.path.parent() == Some(Path::new(""));
        is_bare && self.path.file_stem().is_some_and(|stem| stem == "-")
    }

    /// The file that is written, unless it is standard output.
    pub(super) fn file(&self) -> Option<&Path> {
        (!self.is_stdout()).then_some(self.path)
    }

    /// Renders `views` as the frames of the film.
    pub(super) fn write(
        &self,
        splats: &Splats,
        views: &Views,
        settings: &FilmSettings,
        verbosity: Verbosity,
    ) -> Result<FinishedFilm> {
        let size = same_size(&views.cameras)?;
        if settings.background == Some(Background::Transparent) && !self.format.has_alpha() {
            let expected = "a colour, or -o with a name that ends in .apng";
            return Err(Error::argument("--background", expected, "transparent"));
        }
        let stated = views.frame_rate.and_then(FrameRate::of);
        let facts = FilmFacts {
            size,
            frames: u32::try_from(views.cameras.len()).unwrap_or(u32::MAX),
            rate: self.rate.or(stated).unwrap_or(DEFAULT_RATE),
        };
        let start = Instant::now();
        let progress = verbosity.progress("frames");
        let task = &progress.task;
        let job = Job {
            format: self.format,
            splats,
            cameras: &views.cameras,
            settings,
            bar: &progress.bar,
            steps: task.steps(views.cameras.len() as u64),
        };
        let mut at_once = 1;
        let mut shoot = |out: &mut dyn Write| {
            let mut writer = FilmWriter::begin(self.format, out, facts)?;
            at_once = job.shoot(&mut writer)?;
            writer.finish()
        };
        if self.is_stdout() {
            let stdout = std::io::stdout();
            let written = shoot(&mut std::io::BufWriter::new(stdout.lock()));
            // A reader that has seen enough is no error.
            if let Err(error) = written.or_else(|e| match e.kind() {
                ErrorKind::BrokenPipe => Ok(()),
                _ => Err(e),
            }) {
                return task
                    .check()
                    .and(Err(Error::write(Path::new("<stdout>"), error)));
            }
        } else {
            write_whole_task(self.path, task, shoot)?;
        }
        Ok(FinishedFilm {
            output: self.path.display().to_string(),
            rate: facts.rate,
            frames: views.cameras.len(),
            size,
            seconds: start.elapsed().as_secs_f64(),
            at_once,
        })
    }
}

fn same_size(cameras: &[Camera]) -> Result<[u32; 2]> {
    let size = cameras.first().map_or([0; 2], |c| [c.width, c.height]);
    match cameras.iter().find(|c| [c.width, c.height] != size) {
        None => Ok(size),
        Some(other) => {
            let expected = format!(
                "frames of one size, {} x {} (--width and --height give them one)",
                size[0], size[1]
            );
            let found = format!(
                "{} x {} of view \"{}\"",
                other.width, other.height, other.name
            );
            Err(Error::argument("-o", expected, found))
        }
    }
}

/// The frames of a film.
struct Job<'a> {
    format: FilmFormat,
    splats: &'a Splats,
    cameras: &'a [Camera],
    settings: &'a FilmSettings,
    bar: &'a ProgressBar,
    steps: Steps<'a>,
}

type Prepared = std::io::Result<Vec<u8>>;

impl Job<'_> {
    /// Renders all frames and appends them in order; returns how many were rendered at once.
    ///
    /// A frame on one thread costs less work than on several, so each thread renders frames of its own as
    /// far as memory allows, which the first frame tells. Frame `i` is rendered by worker `i % workers`,
    /// whose channel holds one frame: writing in order never waits for a frame that nobody renders, and
    /// no worker runs far ahead. Pictures do not depend on the number of threads, so neither does the film.
    fn shoot<W: Write>(&self, writer: &mut FilmWriter<W>) -> std::io::Result<usize> {
        let threads = self.settings.threads;
        let Some((first, rest)) = self.cameras.split_first() else {
            return Ok(1);
        };
        let mut worker = Worker::new(self, threads)?;
        writer.push(&worker.frame(first)?)?;
        self.step()?;
        let bytes = worker.bytes();
        drop(worker);
        let workers = (MEMORY / bytes.max(1))
            .clamp(1, threads)
            .min(rest.len().max(1));
        let failed = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let channels: Vec<Receiver<Prepared>> = (0..workers)
                .map(|index| {
                    let (sender, receiver) = sync_channel(1);
                    let failed = &failed;
                    scope.spawn(move || {
                        let mine = rest.iter().skip(index).step_by(workers);
                        self.work(mine, threads / workers, &sender, failed);
                    });
                    receiver
                })
                .collect();
            let written: std::io::Result<()> = (0..rest.len()).try_for_each(|frame| {
                let prepared = channels[frame % workers].recv();
                writer.push(&prepared.map_err(std::io::Error::other)??)?;
                self.step()
            });
            // Workers that still render end at their next frame.
            failed.store(1, Ordering::Relaxed);
            drop(channels);
            written
        })?;
        Ok(workers)
    }

    /// Renders `cameras` one after the other, until the receiver is gone.
    fn work<'c>(
        &self,
        cameras: impl Iterator<Item = &'c Camera>,
        threads: usize,
        sender: &SyncSender<Prepared>,
        failed: &AtomicUsize,
    ) {
        let mut worker = match Worker::new(self, threads) {
            Ok(worker) => worker,
            Err(error) => {
                let _ = sender.send(Err(error));
                return;
            }
        };
        for camera in cameras {
            let is_over = failed.load(Ordering::Relaxed) != 0;
            if is_over || sender.send(worker.frame(camera)).is_err() {
                return;
            }
        }
    }

    fn step(&self) -> std::io::Result<()> {
        self.steps.advance(1).map_err(std::io::Error::other)?;
        let elapsed = self.bar.elapsed().as_secs_f64();
        let rate = self.bar.position() as f64 / elapsed.max(1e-9);
        self.bar.set_message(format!("{rate:.1} frames/s"));
        Ok(())
    }
}

/// Renders frames on threads of its own.
struct Worker<'a> {
    job: &'a Job<'a>,
    pool: rayon::ThreadPool,
    timer: FrameTimer,
    frame: Frame,
    used_bytes: usize,
}

impl<'a> Worker<'a> {
    fn new(job: &'a Job<'a>, threads: usize) -> std::io::Result<Self> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.max(1));
        Ok(Self {
            job,
            pool: pool.build().map_err(std::io::Error::other)?,
            timer: FrameTimer {
                backend: job.settings.backend,
                settings: job.settings.render,
                renderer: Renderer::default(),
                layers: LayerSettings::default(),
                pictures: Vec::new(),
            },
            frame: Frame::new(0, 0),
            used_bytes: 0,
        })
    }

    /// Renders a frame as the bytes that the film takes.
    fn frame(&mut self, camera: &Camera) -> Prepared {
        let Self {
            job, timer, frame, ..
        } = self;
        let times = self
            .pool
            .install(|| timer.render(frame, job.splats, camera, 1))
            .map_err(std::io::Error::other)?;
        self.used_bytes = times.frame_bytes;
        let over;
        let black = Background::Opaque([0.0; 3]);
        let shown = match job.settings.background.unwrap_or(black) {
            Background::Transparent => &*frame,
            Background::Opaque(rgb) => {
                over = frame.over(rgb);
                &over
            }
        };
        job.format.prepare(shown)
    }

    /// Memory of a frame: working arrays, the picture twice, and its bytes as RGB integers.
    fn bytes(&self) -> usize {
        self.used_bytes + 3 * size_of_val(self.frame.pixels())
    }
}

impl FinishedFilm {
    fn frames_per_second(&self) -> f64 {
        self.frames as f64 / self.seconds.max(1e-9)
    }

    /// Prints a table, unless the film is on standard output.
    pub(super) fn print(&self) -> Result<()> {
        let columns = [
            "<film", "frames", "pixels", "rate", "seconds", "frames/s", "at once",
        ];
        let mut table = TextTable::new(&columns);
        table.row([
            self.output.clone(),
            self.frames.to_string(),
            format!("{}x{}", self.size[0], self.size[1]),
            self.rate.to_string(),
            format!("{:.2}", self.seconds),
            format!("{:.1}", self.frames_per_second()),
            self.at_once.to_string(),
        ]);
        print(table.to_string())
    }

    pub(super) fn json(&self, cameras: &[Camera]) -> Value {
        let views = cameras.iter().map(|camera| {
            json!({
                "name": camera.name,
                "width": camera.width,
                "height": camera.height,
                "camera": camera_json(camera),
            })
        });
        json!({
            "film": {
                "output": self.output,
                "frames": self.frames,
                "width": self.size[0],
                "height": self.size[1],
                "frame_rate": self.rate.per_second(),
                "host_s": self.seconds,
                "frames_per_second": self.frames_per_second(),
                "frames_at_once": self.at_once,
            },
            "views": views.collect::<Vec<_>>(),
        })
    }
}
