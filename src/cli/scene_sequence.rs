//! Sequences: numbered scenes that are shown one after the other.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use super::convert::actions::Filters;
use super::film::MAX_FRAMES;
use super::inputs::{has_mesh_extension, load_filtered};
use super::session::Session;
use quadrille_base::error::{Error, Result};
use quadrille_base::image::film::{FrameRate, scene_of_frame};
use quadrille_base::math::index;
use quadrille_scene::cameras::{Views, is_picture_name};
use quadrille_scene::formats::scene_file;
use quadrille_scene::{Camera, LoadOptions, Scene, SceneFormat};

/// Stands for the number in the pattern of a sequence.
const NUMBER: char = '*';
/// Second extension of compressed PLY files, which editors write behind the number.
const COMPRESSED: &str = ".compressed";
const LISTED: usize = 4;

/// Scenes with numbers in their names, in the order of the numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SceneSequence(Vec<PathBuf>);

impl SceneSequence {
    /// Finds the scenes of `path`, a folder of numbered scenes or a pattern such as `anim_*.ply`; `None` for the path of one
    /// scene.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a folder or a pattern without a sequence, and for numbered scenes of several names;
    /// [`Error::Read`] for a folder or a scene that cannot be opened.
    pub(super) fn find(path: &Path) -> Result<Option<Self>> {
        let scenes = if path.is_dir() {
            match scene_file(path) {
                Ok(_) => return Ok(None),
                Err(error) => in_folder(path, error)?,
            }
        } else if !path.exists() && path.to_string_lossy().contains(NUMBER) {
            of_pattern(path)?
        } else {
            return Ok(None);
        };
        let sequence = Self(sorted(path, scenes)?);
        for (at, scene) in sequence.0.iter().enumerate() {
            let opened = scene_file(scene)
                .and_then(|file| File::open(&file).map_err(|reason| Error::read(&file, reason)));
            opened.map_err(|error| sequence.about(at, error))?;
        }
        Ok(Some(sequence))
    }

    /// The sequence of `path`, or the one scene there.
    pub(super) fn find_or_one(path: &Path) -> Result<Self> {
        Ok(Self::find(path)?.unwrap_or_else(|| Self(vec![path.to_owned()])))
    }

    /// Whether `path` is a folder of numbered scenes, and of no pictures, or a pattern.
    pub(super) fn is_named(path: &Path) -> bool {
        let has_numbered = || {
            let (numbered, _) = entries(path).unwrap_or_default();
            let mut names = fs::read_dir(path).into_iter().flatten().flatten();
            let is_picture = |name: &str| is_picture_name(name);
            !numbered.is_empty()
                && !names.any(|entry| entry.file_name().to_str().is_some_and(is_picture))
        };
        match path.is_dir() {
            true => scene_file(path).is_err() && has_numbered(),
            false => !path.exists() && path.to_string_lossy().contains(NUMBER),
        }
    }

    pub(super) fn paths(&self) -> &[PathBuf] {
        &self.0
    }

    /// Adds the number of scene `at` to an error of reading it.
    pub(super) fn about(&self, at: usize, error: Error) -> Error {
        if self.0.len() < 2 {
            return error;
        }
        let place = format!("scene {} of {}", at + 1, self.0.len());
        match error {
            Error::Malformed { path, place: within, expected, found } => {
                Error::Malformed { path, place: format!("{place}: {within}"), expected, found }
            }
            Error::Read { path, reason } => {
                Error::malformed(&path, place, "a file that can be read", reason)
            }
            Error::Limit { what, limit, found } => {
                Error::Limit { what: format!("{place}: {what}"), limit, found }
            }
            other => other,
        }
    }

    /// Frames of `views`, and the scene that each shows. A single view is repeated: for each scene or, at `rates` of scenes
    /// and frames per second, as long as the scenes last. Several views are the frames of a path, over which the scenes are
    /// distributed evenly or, at `rates`, shown until the path ends; the last scene stays.
    ///
    /// # Errors
    /// [`Error::Argument`] for more frames than a film may have.
    pub(super) fn frames(
        &self,
        views: &mut Views,
        rates: Option<[FrameRate; 2]>,
    ) -> Result<Vec<usize>> {
        let scenes = self.0.len() as u64;
        // Scenes per frame, as a fraction.
        let ratio = rates.map_or([1, 1], |[scenes, frames]| {
            [(scenes.numerator, frames.denominator), (scenes.denominator, frames.numerator)]
                .map(|(a, b)| u64::from(a) * u64::from(b))
        });
        let [of_scenes, of_frames] = ratio.map(u128::from);
        if let ([view], true) = (&views.cameras[..], scenes > 1 || rates.is_some()) {
            // Rounded up, so that the last scene has its whole time.
            let count = (u128::from(scenes) * of_frames).div_ceil(of_scenes);
            let most = u128::from(MAX_FRAMES);
            let expected = format_args!("a rate that gives at most {most} frames");
            Error::refuse_if(count > most, "--sequence-fps", expected, count)?;
            let digits = count.saturating_sub(1).to_string().len().max(4);
            let frame = |at: u128| Camera { name: format!("frame_{at:0digits$}"), ..view.clone() };
            views.cameras = (0..count).map(frame).collect();
        }
        let count = views.cameras.len() as u64;
        let of_frame = |frame: u64| match rates {
            None => scene_of_frame(index(frame), index(count), self.0.len()),
            Some(_) => {
                let scene = u128::from(frame) * of_scenes / of_frames;
                index(u64::try_from(scene).unwrap_or(u64::MAX).min(scenes - 1))
            }
        };
        Ok((0..count).map(of_frame).collect())
    }
}

/// Folder of a name, the text before and behind its number, and the number.
type Numbered = ((String, String), u64, PathBuf);

/// Splits a name into the text before its number, the number and the text behind it.
fn split(name: &str) -> Option<(&str, u64, &str)> {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let stem = stem.strip_suffix(COMPRESSED).unwrap_or(stem);
    let before = stem.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = stem[before.len()..].parse().ok()?;
    Some((before, number, &name[stem.len()..]))
}

/// The numbered scenes in a folder, and the names of its other scenes.
fn entries(folder: &Path) -> Result<(Vec<Numbered>, Vec<String>)> {
    let failed = |e| Error::read(folder, e);
    let (mut numbered, mut others) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let name = name.to_owned();
        let extension = path.extension().and_then(|extension| extension.to_str());
        let is_scene = match path.is_dir() {
            true => scene_file(&path).is_ok(),
            false => {
                extension.and_then(SceneFormat::of_extension).is_some()
                    && !has_mesh_extension(&path)
            }
        };
        if name.starts_with('.') || !is_scene {
            continue;
        }
        match split(&name) {
            Some((before, number, behind)) => {
                numbered.push(((before.to_owned(), behind.to_owned()), number, path));
            }
            None => others.push(name),
        }
    }
    others.sort();
    Ok((numbered, others))
}

fn in_folder(folder: &Path, error: Error) -> Result<Vec<(u64, PathBuf)>> {
    let (numbered, others) = entries(folder)?;
    if numbered.is_empty() {
        return Err(match error {
            Error::Malformed { path, place, expected, found } => {
                let expected =
                    format!("{expected}, or the numbered scenes of a sequence (anim_0001.ply)");
                Error::Malformed { path, place, expected, found }
            }
            other => other,
        });
    }
    let names: BTreeMap<_, _> = numbered.iter().map(|(name, _, path)| (name, path)).collect();
    if names.len() > 1 || !others.is_empty() {
        let mut found: Vec<String> = names.values().map(|path| name_of(path)).collect();
        found.extend(others);
        let more = if found.len() > LISTED { ", ..." } else { "" };
        found.truncate(LISTED);
        let (before, behind) = names.keys().next().copied().cloned().unwrap_or_default();
        let pattern = folder.join(format!("{before}{NUMBER}{behind}"));
        let expected = format!(
            "scenes whose names differ only in their numbers ('{}' chooses some)",
            pattern.display()
        );
        return Err(Error::malformed(folder, "sequence", expected, found.join(", ") + more));
    }
    Ok(numbered.into_iter().map(|(_, number, path)| (number, path)).collect())
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Scenes whose paths have a number in place of the `*` of `pattern`.
fn of_pattern(pattern: &Path) -> Result<Vec<(u64, PathBuf)>> {
    let parts: Vec<_> = pattern.components().collect();
    let is_number =
        |part: &std::path::Component<'_>| part.as_os_str().to_string_lossy().contains(NUMBER);
    let expected = "numbers in place of a single *";
    let wrong = |found: &str| Error::malformed(pattern, "sequence", expected, found);
    let at = parts.iter().position(is_number).ok_or_else(|| wrong("none"))?;
    let name = parts[at].as_os_str().to_string_lossy().into_owned();
    let (before, behind) = name.split_once(NUMBER).unwrap_or((&name, ""));
    if behind.contains(NUMBER) || parts[at + 1..].iter().any(is_number) {
        return Err(wrong("several"));
    }
    let folder: PathBuf = parts[..at].iter().collect();
    let folder = if at == 0 { PathBuf::from(".") } else { folder };
    let rest: PathBuf = parts[at + 1..].iter().collect();
    let mut scenes = Vec::new();
    let failed = |e| Error::read(&folder, e);
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let found = entry.map_err(failed)?.file_name();
        let number =
            found.to_str().and_then(|name| name.strip_prefix(before)?.strip_suffix(behind));
        let is_whole = |digits: &&str| digits.bytes().all(|byte| byte.is_ascii_digit());
        let Some(number) = number.filter(is_whole).and_then(|digits| digits.parse().ok()) else {
            continue;
        };
        let scene = match at {
            0 => PathBuf::from(&found),
            _ => folder.join(&found),
        };
        let scene = if rest.as_os_str().is_empty() { scene } else { scene.join(&rest) };
        if scene.exists() {
            scenes.push((number, scene));
        }
    }
    if scenes.is_empty() { Err(wrong("no such file")) } else { Ok(scenes) }
}

fn sorted(path: &Path, mut scenes: Vec<(u64, PathBuf)>) -> Result<Vec<PathBuf>> {
    scenes.sort();
    if let Some([(_, first), (_, second)]) = scenes.array_windows().find(|[a, b]| a.0 == b.0) {
        let found = format!("{} and {}", name_of(first), name_of(second));
        return Err(Error::malformed(path, "sequence", "a number for each scene", found));
    }
    Ok(scenes.into_iter().map(|(_, path)| path).collect())
}

/// The scenes of frames in order. While the frames of a scene are drawn, the next scene is read, so that two are in memory.
pub(super) struct ShownScenes {
    sequence: SceneSequence,
    /// Scene of each frame, in ascending order.
    shown: Vec<usize>,
    options: LoadOptions,
    filters: Filters,
    session: Session,
    scene: Option<Scene>,
    at: usize,
    next: Option<(usize, JoinHandle<Result<Scene>>)>,
}

impl ShownScenes {
    /// Reads the first scene of a sequence, the scene of all frames until [`Self::show`].
    pub(super) fn open(
        sequence: SceneSequence,
        options: LoadOptions,
        filters: &Filters,
        session: &Session,
    ) -> Result<Self> {
        let mut scenes = Self {
            sequence,
            shown: Vec::new(),
            options,
            filters: filters.clone(),
            session: session.clone(),
            scene: None,
            at: 0,
            next: None,
        };
        scenes.scene = Some(scenes.read(0)?);
        Ok(scenes)
    }

    pub(super) fn sequence(&self) -> &SceneSequence {
        &self.sequence
    }

    /// Sets the scene of each frame, in ascending order from scene 0 on, and begins to read ahead.
    pub(super) fn show(&mut self, shown: Vec<usize>) {
        self.shown = shown;
        let (drawn, all) = (self.shown.chunk_by(|a, b| a == b).count(), self.sequence.0.len());
        if drawn < all {
            let frames = self.shown.len();
            self.session.note(&format!(
                "{drawn} of {all} scenes of the sequence are shown, since there are {frames} frames"
            ));
        }
        self.read_ahead();
    }

    /// Path of the scene of each frame.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.shown.iter().map(|scene| self.sequence.0[*scene].as_path())
    }

    /// Number of frames from `frame` on that show its scene.
    pub(super) fn run_length(&self, frame: usize) -> usize {
        let frames = &self.shown[frame..];
        frames.iter().take_while(|scene| **scene == frames[0]).count()
    }

    /// The scene in memory.
    pub(super) fn current(&self) -> Option<&Scene> {
        self.scene.as_ref()
    }

    /// Returns the scene of a frame, with its path. Frames must be taken in order, and not by a worker of the pool: the reader
    /// of the next scene shares the pool, and a worker that sleeps until the scene is there may have begun a part of the
    /// reading itself.
    pub(super) fn of_frame(&mut self, frame: usize) -> Result<(&Scene, &Path)> {
        assert!(rayon::current_thread_index().is_none(), "a worker of the pool waits for a scene");
        let at = self.shown.get(frame).copied().unwrap_or(self.at);
        // The old scene is dropped before a third one could be read.
        let scene = match self.scene.take().filter(|_| at == self.at) {
            Some(scene) => scene,
            None => {
                let scene = self.read(at)?;
                self.at = at;
                self.read_ahead();
                scene
            }
        };
        Ok((self.scene.insert(scene), &self.sequence.0[at]))
    }

    fn read(&mut self, at: usize) -> Result<Scene> {
        let read = match self.next.take().filter(|(ahead, _)| *ahead == at) {
            Some((_, thread)) => {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            }
            None => load_numbered(&self.sequence.0[at], self.options, &self.filters, &self.session),
        };
        read.map_err(|error| self.sequence.about(at, error))
    }

    fn read_ahead(&mut self) {
        let at = self.shown.iter().copied().find(|scene| *scene > self.at);
        self.next = at.map(|at| {
            let (path, options) = (self.sequence.0[at].clone(), self.options);
            let (filters, session) = (self.filters.clone(), self.session.clone());
            let read = move || load_numbered(&path, options, &filters, &session);
            (at, std::thread::spawn(read))
        });
    }
}

/// Reads a scene of a sequence in the pool of the session.
pub(super) fn load_numbered(
    path: &Path,
    options: LoadOptions,
    filters: &Filters,
    session: &Session,
) -> Result<Scene> {
    session.install(|| load_filtered(path, options, filters, session))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, b"").unwrap();
        }
        folder
    }

    fn found(path: &Path, below: &Path) -> std::result::Result<Vec<String>, String> {
        let found = SceneSequence::find(path).map_err(|error| error.to_string())?;
        let name = |path: &PathBuf| path.strip_prefix(below).unwrap().display().to_string();
        Ok(found.map_or_else(Vec::new, |sequence| sequence.0.iter().map(name).collect()))
    }

    #[test]
    fn scenes_are_ordered_by_their_numbers() {
        let place =
            folder(&["a_10.ply", "a_9.ply", "a_0011.ply", "cameras.json", ".a_1.ply", "x.png"]);
        let in_order = ["a_9.ply", "a_10.ply", "a_0011.ply"].map(str::to_owned);
        assert_eq!(found(place.path(), place.path()).unwrap(), in_order);
        let place = folder(&["f2.compressed.ply", "f1.compressed.ply"]);
        let in_order = ["f1.compressed.ply", "f2.compressed.ply"].map(str::to_owned);
        assert_eq!(found(place.path(), place.path()).unwrap(), in_order);
        let place = folder(&["t/iteration_30/p.ply", "t/iteration_7/p.ply", "t/iteration_x/p.ply"]);
        let in_order = ["t/iteration_7/p.ply", "t/iteration_30/p.ply"].map(str::to_owned);
        assert_eq!(
            found(&place.path().join("t/iteration_*/p.ply"), place.path()).unwrap(),
            in_order
        );
        let place = folder(&["f_1/meta.json", "f_0/meta.json"]);
        assert_eq!(found(place.path(), place.path()).unwrap(), ["f_0", "f_1"].map(str::to_owned));
    }

    /// Folders that are one scene stay so, and files are no sequence.
    #[test]
    fn folders_of_one_scene_are_no_sequence() {
        for names in [
            &["meta.json", "a_1.ply"][..],
            &["point_cloud/iteration_7/point_cloud.ply", "a_1.ply"],
            &["ply/point_cloud_7.ply", "a_1.ply"],
        ] {
            let place = folder(names);
            assert_eq!(SceneSequence::find(place.path()).unwrap(), None);
            assert_eq!(SceneSequence::find(&place.path().join("a_1.ply")).unwrap(), None);
        }
    }

    #[test]
    fn other_folders_are_refused() {
        for (names, expected) in [
            (&[][..], "an empty folder"),
            (&["scene.ply"], "a folder with scene.ply"),
            (&["a_1.ply", "b_1.ply", "b_2.ply"], "a_*.ply' chooses some), found a_1.ply, b_"),
            (&["a_1.ply", "scene.ply"], "found a_1.ply, scene.ply"),
            (&["a_1.ply", "a_01.ply"], "a number for each scene, found a_01.ply and a_1.ply"),
        ] {
            let place = folder(names);
            let error = found(place.path(), place.path()).unwrap_err();
            assert!(error.contains(expected), "{names:?}: {error}");
        }
        let place = folder(&["a_1.ply"]);
        for (pattern, expected) in [("b_*.ply", "no such file"), ("*_*.ply", "several")] {
            let error = found(&place.path().join(pattern), place.path()).unwrap_err();
            assert!(error.contains(expected), "{pattern}: {error}");
        }
    }

    #[test]
    fn scenes_are_distributed_over_frames() {
        let view = Camera::look_at(
            "view",
            quadrille_scene::Intrinsics::from_vertical_fov(8, 8, 1.0),
            [0.0, 0.0, -1.0].into(),
            [0.0; 3].into(),
            [0.0, -1.0, 0.0].into(),
        );
        let view = view.unwrap();
        let of = |views: usize, scenes: usize, rates: Option<[&str; 2]>| {
            let mut views = Views { cameras: vec![view.clone(); views], ..Views::default() };
            let sequence = SceneSequence(vec![PathBuf::new(); scenes]);
            let rates = rates.map(|rates| rates.map(|rate| rate.parse().unwrap()));
            let shown = sequence.frames(&mut views, rates).unwrap();
            assert_eq!(shown.len(), views.cameras.len());
            shown
        };
        assert_eq!(of(3, 3, None), [0, 1, 2]);
        assert_eq!(of(5, 2, None), [0, 0, 0, 1, 1]);
        assert_eq!(of(2, 5, None), [0, 2]);
        assert_eq!(of(1, 3, None), [0, 1, 2]);
        // Scenes and frames per second.
        assert_eq!(of(1, 3, Some(["10", "20"])), [0, 0, 1, 1, 2, 2]);
        assert_eq!(of(1, 3, Some(["20", "30"])), [0, 0, 1, 2, 2]);
        assert_eq!(of(6, 2, Some(["15", "30"])), [0, 0, 1, 1, 1, 1]);
        assert_eq!(of(2, 9, Some(["30000/1001", "30000/1001"])), [0, 1]);
    }
}
