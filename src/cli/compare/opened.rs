//! The two sides of a comparison: the kind of their paths, and the source of pairs that they form.

use std::path::Path;

use super::args::Args;
use crate::cli::inputs::load_scene;
use crate::cli::outputs::refuse_given;
use crate::cli::scene_sequence::SceneSequence;
use crate::cli::session::Session;
use crate::cli::views::{JudgingViews, views_of};
use quadrille_base::error::{Error, Result};
use quadrille_base::image::film::is_film_name;
use quadrille_evaluation::PairSource;
use quadrille_evaluation::pairing::{self, Pairs, STDIN};
use quadrille_evaluation::sources::{
    Films, PhotoSettings, PhotoSizes, Pictures, RESIZED_BY, ScenePair, ScenePhotos, SceneSequences,
    Scenes,
};
use quadrille_render::cpu::RenderSettings;
use quadrille_scene::cameras::{ViewSpec, find_camera_file};
use quadrille_scene::formats::scene_file;
use quadrille_scene::{LoadOptions, OutputFormat, Scene, SceneFormat};

const LISTED_UNMATCHED: usize = 10;
const LISTED_MISSING: usize = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Pictures,
    Films,
    Scenes,
    Sequences,
    Photos,
}

impl Kind {
    pub(super) fn in_words(self) -> &'static str {
        match self {
            Self::Pictures => "pictures",
            Self::Films => "films",
            Self::Scenes => "two scenes",
            Self::Sequences => "two sequences of scenes",
            Self::Photos => "a scene and photos",
        }
    }
}

pub(super) struct Opened {
    pub(super) counted: &'static str,
    pub(super) one: &'static str,
    pub(super) sides: [&'static str; 2],
    pub(super) clauses: Vec<String>,
    pub(super) views_from: Option<String>,
    pub(super) profiles: Vec<&'static str>,
    /// Pictures, frames and views without a partner.
    pub(super) missing: Vec<String>,
}

/// Classifies two paths by name: films and scenes by extension, scenes also by the `meta.json` or `lod-meta.json`
/// of a SOG or its folder, and sequences of scenes by the content of a folder or by a pattern. Standard input counts as a film or a scene if the other path is one.
pub(super) fn kind_of(a: &Path, b: &Path) -> Result<Kind> {
    let is_stdin = [a, b].map(|path| path == Path::new(STDIN));
    let place = |first: bool| if first { "first path" } else { "second path" };
    match [a, b].map(is_film_name) {
        [false, false] => {}
        [true, true] => return Ok(Kind::Films),
        [true, false] if is_stdin[1] => return Ok(Kind::Films),
        [false, true] if is_stdin[0] => return Ok(Kind::Films),
        [first, _] => {
            let film = if first { a } else { b };
            let other = if first { b } else { a };
            let expected = format!("a film (.y4m or .apng) to compare {} with", film.display());
            let found = format!("{}, whose name does not end so", other.display());
            return Err(Error::argument(place(!first), expected, found));
        }
    }
    match [a, b].map(SceneSequence::is_named) {
        [false, false] => {}
        [true, true] => return Ok(Kind::Sequences),
        [first, _] => {
            let [sequence, other] = if first { [a, b] } else { [b, a] };
            let expected = format!("a sequence of scenes to compare {} with", sequence.display());
            let found = format!("{}, which is none", other.display());
            return Err(Error::argument(place(!first), expected, found));
        }
    }
    match [a, b].map(is_scene) {
        [false, false] => Ok(Kind::Pictures),
        [true, false] if b.is_dir() => Ok(Kind::Photos),
        [false, true] if a.is_dir() => {
            let expected = "the scene first, then the folder of its photos";
            Err(Error::argument("first path", expected, a.display()))
        }
        [first, second] if (first || is_stdin[0]) && (second || is_stdin[1]) => Ok(Kind::Scenes),
        [first, _] => {
            let [scene, other] = if first { [a, b] } else { [b, a] };
            let expected = match first {
                true => {
                    format!("a scene or a folder of photos to compare {} with", scene.display())
                }
                false => format!("a scene to compare {} with", scene.display()),
            };
            let found = format!("{}, which is neither a scene nor a folder", other.display());
            Err(Error::argument(place(!first), expected, found))
        }
    }
}

fn is_scene(path: &Path) -> bool {
    if path.is_dir() {
        return scene_file(path).is_ok();
    }
    let extension = path.extension().and_then(|extension| extension.to_str());
    let is_known = extension.and_then(SceneFormat::of_extension).is_some();
    is_known || path.file_name().is_some_and(|name| name == "meta.json" || name == "lod-meta.json")
}

/// Whether a scene is a streamed SOG, by its name.
fn has_levels(path: &Path) -> bool {
    let file = scene_file(path).unwrap_or_else(|_| path.to_owned());
    OutputFormat::of_name(&file).is_some_and(OutputFormat::has_levels)
}

pub(super) fn with<T>(
    args: &Args,
    kind: Kind,
    session: &Session,
    then: impl FnOnce(&mut dyn PairSource, &Opened) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let mut opened = Opened {
        counted: "pairs",
        one: "pair",
        sides: ["first", "second"],
        clauses: Vec::new(),
        views_from: None,
        profiles: Vec::new(),
        missing: Vec::new(),
    };
    match kind {
        Kind::Pictures => {
            let pairs = pairing::find(&args.a, &args.b)?;
            warn_unmatched(&pairs, session);
            opened.missing = missing_pictures(&pairs);
            if args.sizes.resize {
                opened.clauses.push(resized("second pictures"));
            }
            let has_background = args.background.0 != [0.0; 3];
            then(&mut Pictures::new(pairs, args.sizes.resize, has_background), &opened)
        }
        Kind::Films => {
            let (mut films, missing, warning) = Films::open([&args.a, &args.b])?;
            opened.missing = missing;
            warning.iter().for_each(|text| session.warn(text));
            (opened.counted, opened.one) = ("frames", "frame");
            then(&mut films, &opened)
        }
        Kind::Scenes => with_scenes(args, opened, session, then),
        Kind::Sequences => with_sequences(args, opened, session, then),
        Kind::Photos => with_photos(args, opened, session, then),
    }
}

fn resized(what: &str) -> String {
    format!("{what} of other sizes resized, {RESIZED_BY}")
}

fn with_scenes<T>(
    args: &Args,
    mut opened: Opened,
    session: &Session,
    then: impl FnOnce(&mut dyn PairSource, &Opened) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let views = JudgingViews::new(&args.views, &args.a, None, session)?;
    // A level of detail is for scenes that have several, if any of the two has.
    let have_levels = [&args.a, &args.b].map(|path| has_levels(path));
    let load = |path: &Path, is_of_levels: bool| {
        let lod = if is_of_levels || have_levels == [false; 2] { args.reading.lod } else { 0 };
        load_scene(path, LoadOptions::new(args.reading.axes, lod), session)
    };
    let scenes = [load(&args.a, have_levels[0])?, load(&args.b, have_levels[1])?];
    let cameras = views.cameras(&args.a, &scenes[0].splats, session)?;
    let settings = scenes.each_ref().map(|scene| settings(args, scene));
    (opened.counted, opened.one) = ("views", "view");
    opened.views_from = Some(views.source.clone());
    opened.profiles = settings.map(|settings| settings.profile.name).to_vec();
    opened.clauses.push(match &opened.profiles[..] {
        [a, b] if a != b => format!("drawn by the profiles {a} and {b}"),
        profiles => format!("drawn by the profile {}", profiles[0]),
    });
    let mut source = Scenes::new(
        [&args.a, &args.b],
        [&scenes[0].splats, &scenes[1].splats],
        settings,
        &cameras,
        args.outputs.resume,
    )?;
    then(&mut source, &opened)
}

/// Opens two sequences. The views are chosen from the first scene, and one scene of each is in memory.
fn with_sequences<T>(
    args: &Args,
    mut opened: Opened,
    session: &Session,
    then: impl FnOnce(&mut dyn PairSource, &Opened) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let [a, b] = [&args.a, &args.b].map(|path| SceneSequence::find_or_one(path));
    let sequences = [a?, b?];
    let [a, b] = sequences.each_ref().map(SceneSequence::paths);
    if a.len() != b.len() {
        let expected = format!("{} scenes as in {}", a.len(), args.a.display());
        return Err(Error::malformed(&args.b, "sequence", expected, b.len()).into());
    }
    let load = |at: usize| {
        let side = |sequence: &SceneSequence| {
            let scene = load_scene(&sequence.paths()[at], args.reading, session);
            let scene = scene.map_err(|error| sequence.about(at, error))?;
            let settings = settings(args, &scene);
            Ok((scene, settings))
        };
        Ok([side(&sequences[0])?, side(&sequences[1])?])
    };
    let views = JudgingViews::new(&args.views, &a[0], None, session)?;
    let first: ScenePair = load(0)?;
    let cameras = views.cameras(&a[0], &first[0].0.splats, session)?;
    (opened.counted, opened.one) = ("frames", "frame");
    opened.views_from = Some(views.source.clone());
    opened.profiles = first.each_ref().map(|(_, settings)| settings.profile.name).to_vec();
    let scenes = a.len();
    opened.clauses.push(match args.profile {
        Some(profile) => {
            format!("{scenes} scenes of each sequence, drawn by the profile {}", profile.name)
        }
        None => format!("{scenes} scenes of each sequence, each drawn by its own profile"),
    });
    let resumes = args.outputs.resume;
    then(&mut SceneSequences::new([a, b], first, load, &cameras, resumes), &opened)
}

fn settings(args: &Args, scene: &Scene) -> RenderSettings {
    RenderSettings {
        profile: args.depth.applied(args.profile.unwrap_or_else(|| scene.profile())),
        ..RenderSettings::default()
    }
}

fn with_photos<T>(
    args: &Args,
    mut opened: Opened,
    session: &Session,
    then: impl FnOnce(&mut dyn PairSource, &Opened) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let (from, chosen) = photo_views(args)?;
    let exposures = args.exposures.read()?;
    let scene = load_scene(&args.a, args.reading, session)?;
    let views = views_of(&chosen, &args.a, &scene.splats, session)?;
    let render = settings(args, &scene);
    let settings = PhotoSettings {
        render,
        background: args.background.0,
        exposures,
        sizes: match (args.sizes.resize, args.sizes.photo_size) {
            (true, _) => PhotoSizes::ResizePhotos,
            (_, true) => PhotoSizes::DrawAtPhotos,
            _ => PhotoSizes::Equal,
        },
    };
    let with_exposures = settings.exposures.is_some();
    let (path, resumes) = (args.a.as_path(), args.outputs.resume);
    let (mut source, missing) =
        ScenePhotos::new(path, &scene.splats, &views, &args.b, settings, resumes)?;
    if !missing.is_empty() {
        session.warn(&missing_photos(&args.b, &missing, views.cameras.len()));
    }
    opened.missing = missing.iter().map(|name| format!("view \"{name}\"")).collect();
    (opened.counted, opened.one) = ("views", "view");
    opened.sides = ["render", "photo"];
    let selected = args.views.view.as_ref().map(|view| format!(" (--view {view})"));
    opened.clauses.push(format!(
        "{} of {} views of {from}{}, drawn by the profile {}",
        source.pairs().len(),
        views.cameras.len(),
        selected.unwrap_or_default(),
        render.profile.name
    ));
    opened.views_from = Some(from);
    opened.profiles = vec![render.profile.name];
    if args.sizes.resize {
        opened.clauses.push(resized("photos"));
    }
    if args.sizes.photo_size {
        opened.clauses.push("views drawn in the sizes of their photos".to_owned());
    }
    if with_exposures {
        opened.clauses.push("renders with the exposures of their photos".to_owned());
    }
    then(&mut source, &opened)
}

/// Camera file of the views, and the flags that choose views: without a choice, all views of the file.
fn photo_views(args: &Args) -> Result<(String, ViewSpec)> {
    let chosen = [
        ("--propose-views", args.views.propose_views.is_some()),
        ("--orbit, --eye, --target, --radius or --elevation", args.views.is_described()),
    ];
    refuse_given(chosen, |flag| {
        Error::conflict(flag, "photos, whose views have the names of a camera file")
    })?;
    let file = args.views.cameras.clone();
    let Some(file) = file.or_else(|| find_camera_file(&args.a)) else {
        let needed = "--cameras FILE, or a camera file beside the scene, whose views have the names of photos";
        return Err(Error::needs("a comparison with photos", needed));
    };
    Ok((file.display().to_string(), args.views.with_file(&file).with_all_unless_selected()))
}

fn missing_photos(folder: &Path, missing: &[String], of: usize) -> String {
    let named: Vec<&str> = missing.iter().take(LISTED_MISSING).map(String::as_str).collect();
    let more = if missing.len() > named.len() { ", ..." } else { "" };
    format!(
        "{}: {} of {of} views have no photo of their name ({}{more})",
        folder.display(),
        missing.len(),
        named.join(", ")
    )
}

/// Paths of all pictures without a partner, and of films.
pub(super) fn missing_pictures(pairs: &Pairs) -> Vec<String> {
    let missing = pairs.unmatched.iter().chain(&pairs.elsewhere).chain(&pairs.films);
    missing.map(|path| path.display().to_string()).collect()
}

pub(super) fn warn_unmatched(Pairs { unmatched, films, .. }: &Pairs, session: &Session) {
    for path in films.iter().take(LISTED_UNMATCHED) {
        session.warn(&format!(
            "{}: films in folders are not compared; a comparison of two films names both files",
            path.display()
        ));
    }
    for path in unmatched.iter().take(LISTED_UNMATCHED) {
        session.warn(&format!("{}: the other folder has no file of this name", path.display()));
    }
    if unmatched.len() > LISTED_UNMATCHED {
        let more = unmatched.len() - LISTED_UNMATCHED;
        session.warn(&format!("files without a partner that are not listed: {more}"));
    }
}
