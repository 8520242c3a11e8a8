//! Source of a call's splats: a scene in memory, a file that is drawn while it is read, batches of a file that is
//! larger than memory, or a sequence of scenes.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::args::Job;
use super::batches::Batches;
use super::in_place;
use super::pictures::Pictures;
use super::rendered::Rendered;
use super::scene_film::FilmJob;
use super::sequence::SequenceSource;
use crate::cli::film::FilmFrames;
use crate::cli::frames::{FrameTimer, FrameTimes};
use crate::cli::inputs::load_filtered;
use crate::cli::outputs::colour_behind;
use quadrille_base::error::Result;
use quadrille_base::image::Frame;
use quadrille_render::cpu::{DrawnView, RenderSettings};
use quadrille_scene::cameras::Views;
use quadrille_scene::formats::ply::SplatsInPlace;
use quadrille_scene::{Camera, Scene};

pub(super) enum Source {
    Scene(Scene),
    InPlace(SplatsInPlace),
    Batches(Batches),
    Sequence(SequenceSource),
}

impl Source {
    /// Opens a sequence, or the scene: in batches if it does not fit in `--memory`, in place if neither a flag nor its layout requires
    /// it in memory, else as a whole.
    pub(super) fn open(job: &Job<'_>) -> Result<Self> {
        if let Some(sequence) = SequenceSource::open(job)? {
            return Ok(Self::Sequence(sequence));
        }
        if let Some(batches) = Batches::open(job)? {
            return Ok(Self::Batches(batches));
        }
        in_place::source(job).map_or_else(|| Self::load(job), |file| Ok(Self::InPlace(file)))
    }

    fn load(job: &Job<'_>) -> Result<Self> {
        let (args, session) = (job.args, job.session);
        let load = || load_filtered(&args.scene, args.reading, &args.filters, session);
        session.install(load).map(Self::Scene)
    }

    /// Loads an in-place file into memory, unless there is a single camera whose picture is not drawn in bands.
    pub(super) fn for_views(self, job: &Job<'_>, cameras: &[Camera]) -> Result<Self> {
        match self {
            Self::InPlace(_) if cameras.len() != 1 || job.draws_bands(&cameras[0]) => {
                Self::load(job)
            }
            source => Ok(source),
        }
    }

    /// Path of the scene, or of the first one of a sequence.
    pub(super) fn first_path<'a>(&'a self, path: &'a Path) -> &'a Path {
        self.sequence_files().next().unwrap_or(path)
    }

    /// Files of a sequence.
    pub(super) fn sequence_files(&self) -> impl Iterator<Item = &Path> {
        let files = match self {
            Self::Sequence(sequence) => sequence.files(),
            Self::Scene(_) | Self::InPlace(_) | Self::Batches(_) => &[],
        };
        files.iter().map(PathBuf::as_path)
    }

    pub(super) fn is_sequence(&self) -> bool {
        matches!(self, Self::Sequence(_))
    }

    /// Turns views into the frames of a sequence.
    pub(super) fn show(&mut self, job: &Job<'_>, views: &mut Views) -> Result<()> {
        match self {
            Self::Sequence(sequence) => sequence.show(job, views),
            Self::Scene(_) | Self::InPlace(_) | Self::Batches(_) => Ok(()),
        }
    }

    /// The whole scene, if it is in memory; of a sequence, the scene of the frames that were drawn last, or the first one.
    pub(super) fn scene(&self) -> Option<&Scene> {
        match self {
            Self::Scene(scene) => Some(scene),
            Self::Sequence(sequence) => sequence.scene(),
            Self::InPlace(_) | Self::Batches(_) => None,
        }
    }

    pub(super) fn profile_hint(&self) -> Option<&'static str> {
        match self {
            Self::Scene(scene) => scene.profile_hint,
            Self::Sequence(sequence) => sequence.scene().and_then(|scene| scene.profile_hint),
            Self::InPlace(file) => file.profile_hint(),
            Self::Batches(batches) => batches.file.profile_hint(),
        }
    }

    /// Path and size of the scene as JSON; null for a file in place, which is not used with `--json`.
    pub(super) fn json(&self, path: &Path) -> Value {
        let (splats, sh_degree, bytes) = match self {
            Self::Scene(Scene { splats, .. }) => {
                (splats.len(), splats.sh_degree(), splats.size_bytes() as u64)
            }
            Self::InPlace(_) => return Value::Null,
            Self::Batches(batches) => batches.size(),
            Self::Sequence(sequence) => return sequence.json(path),
        };
        json!({
            "path": path.display().to_string(),
            "splats": splats,
            "sh_degree": sh_degree,
            "bytes": bytes,
        })
    }

    /// Draws the views for `pictures`.
    pub(super) fn draw(
        &mut self,
        cameras: Vec<Camera>,
        timer: &mut FrameTimer,
        pictures: &Pictures<'_>,
    ) -> Result<Vec<Rendered>> {
        match self {
            Self::Scene(scene) => pictures.draw_all(scene, cameras, timer),
            Self::Sequence(sequence) => {
                let (mut rendered, settings) = (Vec::new(), timer.settings);
                sequence.each_scene(
                    pictures.job,
                    &cameras,
                    &settings,
                    |scene, cameras, settings| {
                        timer.settings = settings;
                        rendered.extend(pictures.draw_all(scene, cameras.to_vec(), timer)?);
                        Ok(())
                    },
                )?;
                Ok(rendered)
            }
            Self::InPlace(file) => {
                let draw = || in_place::drawn(file, &cameras[0], timer, pictures);
                if let Some(view) = pictures.job.session.install(draw)? {
                    return Ok(vec![view]);
                }
                *self = Self::load(pictures.job)?;
                self.draw(cameras, timer, pictures)
            }
            Self::Batches(batches) => {
                let mut rendered = Vec::new();
                let save = |index: usize, frame: &Frame, (counts, times, used_bytes): DrawnView| {
                    let times = FrameTimes::once(counts, &times, used_bytes);
                    let view = Rendered::new(cameras[index].clone(), times);
                    rendered.push(pictures.take(view, frame, &[], None)?);
                    Ok(())
                };
                batches.draw(pictures.job, &cameras, &timer.settings, save)?;
                Ok(rendered)
            }
        }
    }

    /// Draws the frames of a film of the views, and appends their numbers of splats in view to `in_view`; returns how many
    /// frames are drawn at once.
    pub(super) fn film(
        &mut self,
        job: &Job<'_>,
        cameras: &[Camera],
        settings: &RenderSettings,
        film: &FilmFrames,
        in_view: &mut Vec<u64>,
    ) -> Result<usize> {
        match self {
            Self::Batches(batches) => {
                let background = colour_behind(job.args.flags.draw.background, None);
                let take = |_: usize, frame: &Frame, (counts, ..): DrawnView| {
                    in_view.push(counts.splats_in_frustum);
                    film.take(frame, background)
                };
                batches.draw(job, cameras, settings, take).map(|()| 1)
            }
            Self::Scene(scene) => shoot(job, scene, (cameras, settings), film, in_view),
            Self::Sequence(sequence) => {
                let mut at_once = 1;
                sequence.each_scene(job, cameras, settings, |scene, cameras, settings| {
                    let drawn = shoot(job, scene, (cameras, &settings), film, in_view)?;
                    at_once = at_once.max(drawn);
                    Ok(())
                })?;
                Ok(at_once)
            }
            Self::InPlace(_) => {
                *self = Self::load(job)?;
                self.film(job, cameras, settings, film, in_view)
            }
        }
    }
}

/// Draws frames of a scene in memory for a film; returns how many are drawn at once.
fn shoot(
    job: &Job<'_>,
    scene: &Scene,
    (cameras, settings): (&[Camera], &RenderSettings),
    film: &FilmFrames,
    in_view: &mut Vec<u64>,
) -> Result<usize> {
    let film = FilmJob {
        film,
        splats: &scene.splats,
        cameras,
        timer: || job.timer(*settings),
        background: colour_behind(job.args.flags.draw.background, None),
        threads: job.session.pool()?.current_num_threads(),
    };
    film.shoot(in_view)
}
