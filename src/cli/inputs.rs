//! Reading of scenes, with warnings about splats that are not visible.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Instant;

use super::convert::actions::Filters;
use super::session::Session;
use quadrille_base::error::{Error, Result};
use quadrille_base::shading::Profile;
use quadrille_base::units::milliseconds;
use quadrille_render::{Sight, Visibility};
use quadrille_scene::formats::{scene_file, trained_on_white};
use quadrille_scene::{Camera, Dropped, LoadOptions, Scene, SceneEncoding};

const MESHES: [&str; 2] = ["obj", "bpt"];

pub(super) fn load_scene(path: &Path, options: LoadOptions, session: &Session) -> Result<Scene> {
    load_filtered(path, options, &Filters::default(), session)
}

pub(super) fn about_lod(error: Error) -> Error {
    match &error {
        Error::Argument { what, .. } if what == "level of detail" => error.about("--lod"),
        _ => error,
    }
}

pub(super) fn note_file_of_folder(path: &Path, session: &Session) {
    if let Some(file) = scene_file(path).ok().filter(|file| file != path) {
        session.note(&format!("{}: reading {}", path.display(), file.display()));
    }
}

pub(super) fn has_mesh_extension(path: &Path) -> bool {
    let is_mesh = |e: &OsStr| MESHES.iter().any(|m| e.eq_ignore_ascii_case(m));
    path.extension().is_some_and(is_mesh)
}

pub(super) fn load_filtered(
    path: &Path,
    options: LoadOptions,
    filters: &Filters,
    session: &Session,
) -> Result<Scene> {
    let found = "a mesh, which `quadrille mesh` draws";
    Error::malformed_if(has_mesh_extension(path), path, "format", "a scene of splats", found)?;
    note_file_of_folder(path, session);
    let start = Instant::now();
    let scene = filters.load(path, options, session.task).map_err(about_lod)?;
    let file = path.display();
    session.remark(&format!(
        "{file}: {}, {} splats of degree {}, read in {:.0} ms",
        scene.format.name(),
        scene.splats.len(),
        scene.splats.sh_degree(),
        milliseconds(start.elapsed())
    ));
    remark_unused(path, &scene.encoding.unused_columns, session);
    if let Some(file) = trained_on_white(path) {
        session.note(&format!(
            "{}: the scene was trained on a white background, which --background 1,1,1 draws",
            file.display()
        ));
    }
    warn_of_encoding(path, &scene.encoding, session);
    warn_of_dropped(path, scene.dropped, session);
    if scene.splats.is_empty() {
        session.warn(&format!("{file}: the scene contains no splats"));
    }
    Ok(scene)
}

pub(super) fn remark_unused(path: &Path, columns: &[String], session: &Session) {
    if !columns.is_empty() {
        session.remark(&format!("{}: columns not drawn: {}", path.display(), columns.join(", ")));
    }
}

pub(super) fn warn_of_dropped(path: &Path, dropped: Dropped, session: &Session) {
    if let Some(warning) = dropped.warning() {
        session.warn(&format!("{}: {warning}", path.display()));
    }
}

pub(super) fn warn_of_encoding(path: &Path, encoding: &SceneEncoding, session: &Session) {
    for warning in &encoding.warnings {
        session.warn(&format!("{}: {warning}", path.display()));
    }
}

/// Warns of a drawn view that shows almost nothing. Without the scene in memory, it warns only of a view without a splat.
pub(super) fn warn_if_few(
    scene: Option<&Scene>,
    camera: &Camera,
    profile: &Profile,
    in_view: u64,
    session: &Session,
) {
    match scene {
        Some(scene) => {
            let sight = Sight::of(in_view, &scene.splats, camera, profile);
            warn_unseen(scene, sight.warning(), session);
        }
        None if Sight::is_nothing(in_view) => {
            session.warn(&format!("view \"{}\": no splat is in view", camera.name));
        }
        None => {}
    }
}

/// Warns once of the frames of a film that show almost nothing, with the reason for the first one. That of frame 0 is
/// left out, since [`warn_if_unseen`] gives it before the film is drawn. Without the scene in memory, only frames without
/// a splat are known.
pub(super) fn warn_of_frames(
    scene: Option<&Scene>,
    cameras: &[Camera],
    profile: &Profile,
    in_view: &[u64],
    session: &Session,
) {
    let mut why = None;
    let mut frames: Vec<usize> = Vec::new();
    for (frame, (camera, in_view)) in cameras.iter().zip(in_view).enumerate() {
        let sight = scene.map(|scene| Sight::of(*in_view, &scene.splats, camera, profile));
        let is_few = sight.as_ref().map_or(Sight::is_nothing(*in_view), |s| *s != Sight::Enough);
        if is_few {
            if frames.is_empty() && frame > 0 {
                why = sight.and_then(|sight| sight.warning().map(str::to_owned));
            }
            frames.push(frame);
        }
    }
    if frames.iter().any(|frame| *frame > 0 || scene.is_none()) {
        let runs = frames.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
            [first, .., last] => format!("{first} to {last}"),
            run => run.iter().map(usize::to_string).collect(),
        });
        let text = format!(
            "{} of {} frames show no splat or almost none: {}",
            frames.len(),
            cameras.len(),
            runs.collect::<Vec<_>>().join(", ")
        );
        let why = why.map_or(String::new(), |why| format!("; {why}"));
        session.warn(&(text + &why));
    }
}

/// Warns of a view whose picture is not drawn as a whole, by the positions of the splats.
pub(super) fn warn_if_unseen(scene: &Scene, camera: &Camera, profile: &Profile, session: &Session) {
    let warning = Visibility::of(&scene.splats, camera, profile).warning(&camera.name);
    warn_unseen(scene, warning.as_deref(), session);
}

fn warn_unseen(scene: &Scene, warning: Option<&str>, session: &Session) {
    if let Some(warning) = warning {
        session.warn(warning);
        if !scene.encoding.axes_stated {
            session.warn(&format!(
                "the scene's file does not state its axes, which are taken as {}; --axes RDF reads them \
                 as in a PLY",
                scene.encoding.axes
            ));
        }
    }
}
