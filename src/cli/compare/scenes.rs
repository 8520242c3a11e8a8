//! Comparison of scenes: pictures of the same views.

use std::path::Path;

use super::pairs::{PicturePair, STDIN};
use super::results::{Measured, Results};
use crate::cli::console::{Exit, Verbosity, print, print_json};
use crate::cli::inputs::{SceneFlags, load_scene};
use crate::cli::outputs::{NAME, Outputs, Template};
use crate::cli::views::ViewArgs;
use quadrille_base::error::{Error, Result};
use quadrille_base::image::difference::heat_picture;
use quadrille_base::image::files;
use quadrille_base::image::metrics::Protocol;
use quadrille_base::shading::Profile;
use quadrille_render::convert::ViewComparison;
use quadrille_render::cpu::RenderSettings;
use quadrille_scene::formats::scene_file;
use quadrille_scene::{Scene, SceneFormat};

/// Whether both paths are scenes: files with the extension of one, the `meta.json` or `lod-meta.json` of a SOG, or a
/// folder with one. Standard input is a scene beside another one.
///
/// # Errors
/// [`Error::Argument`] for a scene beside something else.
pub(super) fn are_scenes(a: &Path, b: &Path) -> Result<bool> {
    let is_stdin = [a, b].map(|path| path == Path::new(STDIN));
    match [a, b].map(is_scene) {
        [false, false] => Ok(false),
        [first, second] if (first || is_stdin[0]) && (second || is_stdin[1]) => Ok(true),
        [first, _] => {
            let [scene, other] = if first { [a, b] } else { [b, a] };
            let expected = format!("a scene to compare {} with", scene.display());
            let found = format!("{}, which is none by its name", other.display());
            let place = if first { "second path" } else { "first path" };
            Err(Error::argument(place, expected, found))
        }
    }
}

fn is_scene(path: &Path) -> bool {
    if path.is_dir() {
        return scene_file(path).is_ok();
    }
    let extension = path.extension().and_then(|extension| extension.to_str());
    let is_known = extension.and_then(SceneFormat::of_extension).is_some();
    is_known
        || path
            .file_name()
            .is_some_and(|name| name == "meta.json" || name == "lod-meta.json")
}

/// Scenes to compare, and how.
pub(super) struct ComparedScenes<'a> {
    pub(super) paths: [&'a Path; 2],
    pub(super) views: &'a ViewArgs,
    pub(super) reading: SceneFlags,
    /// Profile of both scenes instead of their own ones.
    pub(super) profile: Option<Profile>,
    pub(super) protocol: Protocol,
    /// Colour behind both pictures.
    pub(super) background: [f32; 3],
    /// Name of the difference pictures.
    pub(super) diff: Option<Template>,
    pub(super) json: bool,
    pub(super) fail_under_psnr: Option<f64>,
}

/// Compares scenes from the views of the flags, which belong to the first scene; the worst view comes first.
pub(super) fn compare(args: &ComparedScenes<'_>, verbosity: Verbosity) -> Result<Exit> {
    let [first, second] = args.paths;
    let views = args.views.judging(first, None, verbosity)?;
    let load = |path: &Path| load_scene(path, args.reading, verbosity);
    let scenes = [load(first)?, load(second)?];
    let cameras = views.cameras(first, &scenes[0].splats, verbosity)?;
    let pair = |name: &str| PicturePair {
        name: name.to_owned(),
        a: first.to_owned(),
        b: second.to_owned(),
    };
    if let Some(diff) = &args.diff {
        diff.require(NAME, cameras.len(), "views")?;
        let mut outputs = Outputs::beside([first, second].into_iter().chain(views.files()));
        for camera in &cameras {
            outputs.add("--diff", &diff.filled(&[(NAME, &camera.name)]))?;
        }
    }
    let settings = |scene: &Scene| RenderSettings {
        profile: args.profile.unwrap_or_else(|| scene.profile()),
        ..RenderSettings::default()
    };
    let comparison = ViewComparison {
        scenes: [&scenes[0].splats, &scenes[1].splats],
        settings: scenes.each_ref().map(settings),
        protocol: args.protocol,
        background: args.background,
    };
    let progress = verbosity.progress("views");
    let mut pairs = Vec::new();
    comparison.run(&cameras, &progress.task, |camera, found, errors| {
        let path = args
            .diff
            .as_ref()
            .map(|diff| diff.filled(&[(NAME, &camera.name)]));
        if let Some(path) = &path {
            files::write(path, &heat_picture([camera.width, camera.height], errors))?;
        }
        pairs.push(Measured::new(
            &pair(&camera.name),
            found.comparison,
            path.as_deref(),
        ));
        Ok(())
    })?;
    drop(progress);
    let psnr = |pair: &Measured| pair.comparison.psnr_db.unwrap_or(f64::INFINITY);
    pairs.sort_by(|a, b| psnr(a).total_cmp(&psnr(b)));
    let results = Results {
        protocol: args.protocol,
        background: args.background,
        pairs,
        unmeasured: Vec::new(),
    };
    if args.json {
        let mut document = results.json();
        document["views_from"] = views.source.into();
        document["profiles"] = comparison.settings.map(|s| s.profile.name).to_vec().into();
        print_json(document)?;
    } else {
        print(results.table())?;
    }
    Ok(results.summary().check_psnr("view", args.fail_under_psnr))
}
