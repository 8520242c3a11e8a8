//! A single picture of a PLY, drawn while the file is read: loading the scene would take longer than drawing it.

use std::path::Path;
use std::slice;

use quadrille_base::error::Result;
use quadrille_base::image::Frame;
use quadrille_render::preprocess::InPlace;
use quadrille_render::{Visibility, index_path};
use quadrille_scene::formats::ply::SplatsInPlace;
use quadrille_scene::formats::{open_batches, scene_file};
use quadrille_scene::{Camera, LoadOptions};

use super::args::Job;
use super::batches::{seen_rows, whole_scene_flag};
use super::pictures::Pictures;
use super::rendered::Rendered;
use crate::cli::frames::{FrameTimer, FrameTimes};
use crate::cli::inputs::{note_file_of_folder, remark_unused};

/// Opens the scene file for drawing in place; `None` if a flag or its layout requires the scene in memory.
pub(super) fn source(job: &Job<'_>) -> Option<SplatsInPlace> {
    let args = job.args;
    let has_path = args.film.path.files().next().is_some();
    let needs_scene = job.output.is_none()
        || args.json
        || has_path
        || whole_scene_flag(args).is_some()
        || args.reading != LoadOptions::default();
    let path = scene_file(&args.scene).ok().filter(|_| !needs_scene)?;
    // A file that cannot be drawn in place is read as a whole, and the reader names its fault.
    let is_file = path != Path::new("-") && path.is_file();
    let file = is_file.then(|| SplatsInPlace::open(&path).ok().flatten())??;
    (!file.is_empty()).then_some(file)
}

/// Draws the picture of a view. Returns `None` if the file has invalid rows or almost nothing is in view: the caller
/// then loads the whole scene, which gives the proper warning or error.
pub(super) fn drawn(
    file: &SplatsInPlace,
    camera: &Camera,
    timer: &mut FrameTimer,
    pictures: &Pictures<'_>,
) -> Result<Option<Rendered>> {
    let (args, session) = (pictures.job.args, pictures.job.session);
    let (mut source, settings) = (InPlace::new(file), timer.settings);
    let path = scene_file(&args.scene)?;
    if index_path(&path).is_file() {
        let batches = open_batches(&path, LoadOptions::default())?;
        let cameras = slice::from_ref(camera);
        if let Some(seen) = seen_rows(&path, &batches, cameras, &settings.profile, session) {
            source = source.only(&seen);
        }
    }
    let (mut frame, renderer) = (Frame::new(0, 0), &mut timer.renderer);
    let (counts, times) =
        renderer.render_into(&mut frame, &source, camera, &settings, session.task)?;
    if source.has_invalid() || !Visibility::is_enough(counts.splats_in_frustum, file.len()) {
        return Ok(None);
    }
    note_file_of_folder(&args.scene, session);
    let scene = args.scene.display();
    session.remark(&format!(
        "{scene}: {} splats of degree {}, drawn while they are read",
        file.len(),
        file.sh_degree()
    ));
    remark_unused(&args.scene, file.unused_columns(), session);
    if let Some(warning) = file.rounding_warning() {
        session.warn(&format!("{scene}: {warning}"));
    }
    let times = FrameTimes::once(counts, &times, renderer.used_bytes());
    pictures.take(Rendered::new(camera.clone(), times), &frame, &[], None).map(Some)
}
