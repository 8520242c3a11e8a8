//! A single picture of a PLY, drawn while the file is read: a scene in memory would take longer to fill than to draw.

use std::path::Path;

use quadrille_base::error::Result;
use quadrille_base::image::Frame;
use quadrille_render::cpu::{RenderSettings, Renderer};
use quadrille_render::preprocess::InPlace;
use quadrille_render::{Visibility, index_path};
use quadrille_scene::formats::ply::SplatsInPlace;
use quadrille_scene::formats::{open_batches, scene_file};
use quadrille_scene::{Camera, LoadOptions};

use super::args::Args;
use super::batches::{seen_rows, whole_scene_flag};
use super::rendered::Rendered;
use crate::cli::console::Verbosity;
use crate::cli::frames::FrameTimes;
use crate::cli::inputs::note_file_of_folder;
use crate::cli::interrupt;
use crate::cli::outputs::Output;

/// File of the scene, if neither a flag nor its layout needs the scene in memory.
pub(super) fn source(args: &Args, output: Option<&Output>) -> Option<SplatsInPlace> {
    let has_path = args.film.path.files().next().is_some();
    let needs_scene = output.is_none()
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

/// Draws and writes the picture of a view; `None` if only a read of the whole scene can name the fault: it has invalid
/// rows, or almost nothing of it is in view.
pub(super) fn drawn(
    args: &Args,
    file: &SplatsInPlace,
    output: &Output,
    camera: &Camera,
    settings: &RenderSettings,
    verbosity: Verbosity,
) -> Result<Option<Rendered>> {
    let (mut source, mut renderer) = (InPlace::new(file), Renderer::default());
    let path = scene_file(&args.scene)?;
    if index_path(&path).is_file() {
        let batches = open_batches(&path, LoadOptions::default())?;
        if let Some(seen) =
            seen_rows(&path, &batches, std::slice::from_ref(camera), &settings.profile, verbosity)
        {
            source = source.only(&seen);
        }
    }
    let mut frame = Frame::new(0, 0);
    let task = interrupt::task();
    let (counts, times) = renderer.render_into(&mut frame, &source, camera, settings, task)?;
    if source.has_invalid() || !Visibility::is_enough(counts.splats_in_frustum, file.len()) {
        return Ok(None);
    }
    note_file_of_folder(&args.scene, verbosity);
    let scene = args.scene.display();
    verbosity.remark(&format!(
        "{scene}: {} splats of degree {}, drawn while they are read",
        file.len(),
        file.sh_degree()
    ));
    if let Some(warning) = file.rounding_warning() {
        verbosity.warn(&format!("{scene}: {warning}"));
    }
    let background = args.flags.draw.background;
    let path = (args.flags.layers).save(output, &frame, &[], &camera.name, background)?;
    Ok(Some(Rendered {
        camera: camera.clone(),
        output: Some(path),
        timed: Some(FrameTimes::once(counts, &times, renderer.used_bytes())),
    }))
}
