//! Scenes of a suite, with the sources of their splats and views.

use std::io::Write;
use std::path::{Path, PathBuf};

use nalgebra::Vector3;
use serde::Deserialize;

use super::key::Fnv1a;
use super::stencil::StencilSettings;
use super::suite_table::SuiteTable;
use quadrille_base::error::{Error, Result};
use quadrille_base::shading::Profile;
use quadrille_base::task::Task;
use quadrille_gpu::method::Method;
use quadrille_render::synth::{Recipe, Synthetic};
use quadrille_render::viewpoint;
use quadrille_scene::cameras::{Flight, FramingTarget, PictureSize, ViewSpec, fly};
use quadrille_scene::formats::source_files;
use quadrille_scene::{Camera, SceneInput, Splat, Splats, load};

/// Number of splats of a procedural scene without `splats`, and their degree of spherical harmonics
/// without `sh_degree`, the same as in `quadrille synth`.
const DEFAULT_SPLATS: u64 = 200_000;
const DEFAULT_SH_DEGREE: u8 = 3;
/// Frames of a path, as in `render`.
const MAX_FRAMES: u32 = 100_000;

#[derive(Debug, Clone, Deserialize)]
struct RawScene {
    name: String,
    path: Option<PathBuf>,
    recipe: Option<String>,
    splats: Option<u64>,
    sh_degree: Option<u8>,
    seed: Option<u64>,
    splat_scale: Option<f32>,
    profile: Option<String>,
    camera_path: Option<String>,
    frames: Option<u32>,
    #[serde(default)]
    warm: bool,
    #[serde(default)]
    large: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Procedural {
    recipe: Recipe,
    splats: u64,
    sh_degree: u8,
}

impl Procedural {
    fn with_seed(&self, seed: u64) -> Result<Synthetic> {
        Synthetic::new(self.recipe, seed, self.splats, self.sh_degree)
    }
}

#[derive(Debug, Clone)]
pub(super) enum Source {
    File(PathBuf),
    Recipe(Procedural, u64),
}

#[derive(Debug, Clone)]
pub(super) struct SceneEntry {
    pub(super) name: String,
    pub(super) source: Source,
    views: ViewSpec,
    /// Factor on the sizes of the splats, which changes the depth complexity without moving anything.
    splat_scale: Option<f32>,
    /// Name of the profile, if it differs from the scene file's.
    pub(super) profile: Option<String>,
    /// Path through the cameras, and its number of frames.
    flight: Option<(Flight, usize)>,
    /// Stencil test of the draw.
    pub(super) stencil: StencilSettings,
    /// Whether the views are frames that are drawn in their order and keep the caches.
    pub(super) is_warm: bool,
    /// Whether figures show the scene separately, as one of the paper's large scenes.
    pub(super) is_large: bool,
}

pub(super) struct LoadedScene {
    pub(super) splats: Splats,
    pub(super) profile: Profile,
    /// Warnings about the content of the scene's file.
    pub(super) warnings: Vec<String>,
}

impl SceneEntry {
    /// Checks a scene of the suite file `suite`, and makes its paths relative to the working directory.
    pub(super) fn parse(suite: &Path, mut table: SuiteTable<'_>) -> Result<Self> {
        let raw: RawScene = table.take()?;
        let mut views: ViewSpec = table.take()?;
        let mut stencil: StencilSettings = table.take()?;
        table.finish()?;
        let malformed = |key: &str, expected: &str, found: &str| {
            Err(malformed(suite, &raw.name, key, expected, found))
        };
        if let Some(factor) = raw.splat_scale.filter(|factor| !(1e-3..=1e3).contains(factor)) {
            return malformed("splat_scale", "a factor from 0.001 to 1000", &factor.to_string());
        }
        let folder = suite.parent().unwrap_or(Path::new(""));
        if let Some(name) = &raw.profile {
            let named = Profile::named(name).and_then(|profile| profile.refuse_discs());
            named.map_err(|error| in_scene(suite, &raw.name, error))?;
        }
        let source = match (&raw.path, &raw.recipe) {
            (Some(path), None) => {
                let of_recipe = [
                    ("splats", raw.splats.is_some()),
                    ("sh_degree", raw.sh_degree.is_some()),
                    ("seed", raw.seed.is_some()),
                ];
                if let Some((key, _)) = of_recipe.iter().find(|(_, is_given)| *is_given) {
                    return malformed(key, "a scene with a recipe", "a path");
                }
                Source::File(folder.join(path))
            }
            (None, Some(name)) => {
                let named = name.parse::<Recipe>().map_err(|error| error.about("recipe"));
                let recipe = named.map_err(|error| in_scene(suite, &raw.name, error))?;
                let made = Procedural {
                    recipe,
                    splats: raw.splats.unwrap_or(DEFAULT_SPLATS),
                    sh_degree: raw.sh_degree.unwrap_or(DEFAULT_SH_DEGREE),
                };
                // Checks the numbers.
                made.with_seed(0).map_err(|error| in_scene(suite, &raw.name, error))?;
                Source::Recipe(made, raw.seed.unwrap_or(0))
            }
            (Some(_), Some(recipe)) => {
                return malformed("recipe", "either a path or a recipe", recipe);
            }
            (None, None) => {
                let expected = "a scene file, or a recipe of a procedural scene";
                return malformed("path", expected, "neither");
            }
        };
        let files = views.files_mut().chain(stencil.files_mut());
        files.for_each(|file| *file = folder.join(&*file));
        views.check().map_err(|error| in_scene(suite, &raw.name, error))?;
        if raw.warm && raw.large {
            return malformed("warm", "false for a large scene", "true");
        }
        let flight = flight(suite, &raw, &views)?;
        let RawScene { name, splat_scale, profile, warm: is_warm, large: is_large, .. } = raw;
        Ok(Self { name, source, views, splat_scale, profile, flight, stencil, is_warm, is_large })
    }

    /// Refuses methods without the scene's stencil test, and methods whose frames do not depend on the frames before them,
    /// if the scene's views are a sequence.
    pub(super) fn check_methods(&self, suite: &Path, methods: &[Method]) -> Result<()> {
        self.stencil.test(methods).map_err(|error| in_scene(suite, &self.name, error))?;
        match methods.iter().find(|method| self.is_warm && !method.keeps_frames()) {
            Some(other) => {
                let found = format!("method {other}, which keeps nothing between frames");
                Err(malformed(suite, &self.name, "warm", "methods that keep caches", &found))
            }
            None => Ok(()),
        }
    }

    pub(super) fn size(&self) -> PictureSize {
        self.views.size()
    }

    pub(super) fn sized(&self, size: PictureSize) -> Self {
        Self { views: self.views.with_size(size), ..self.clone() }
    }

    pub(super) fn seed(&self) -> Option<u64> {
        if let Source::Recipe(_, seed) = self.source { Some(seed) } else { None }
    }

    pub(super) fn with_seed(&self, new: u64) -> Self {
        let mut entry = self.clone();
        if let Source::Recipe(_, seed) = &mut entry.source {
            *seed = new;
        }
        entry
    }

    /// Cameras of the scene for each of `sizes`, and the warnings of their file. Reads the scene only if the
    /// views depend on its content.
    pub(super) fn cameras(
        &self,
        suite: &Path,
        sizes: &[PictureSize],
        task: &Task,
    ) -> Result<(Vec<Camera>, Vec<String>)> {
        let in_scene = |error| in_scene(suite, &self.name, error);
        if let Some(path) = self.views.cameras.as_ref().filter(|path| !path.exists()) {
            let found = format!("none at {}", path.display());
            return Err(malformed(suite, &self.name, "cameras", "a camera file", &found));
        }
        let own = self.own_cameras().map_err(in_scene)?;
        let file = self.file();
        // All views of a file that is named, or that a path needs. Without a selection, the file beside the scene is not
        // looked for otherwise, as in commands.
        let has_all = self.views.cameras.is_some() || self.flight.is_some();
        let described = match has_all {
            true => self.views.with_all_unless_selected(),
            false => self.views.clone(),
        };
        let (mut cameras, mut warnings) = (Vec::new(), Vec::new());
        let unused = file.filter(|_| self.views.view.is_none() && self.flight.is_none());
        let flown = |keys: Vec<Camera>| match self.flight {
            Some((flight, frames)) => fly(flight, &keys, frames).map_err(in_scene),
            None => Ok(keys),
        };
        for &size in sizes {
            let spec = described.with_size(size);
            if let Some(own) = &own {
                let centre = match spec.is_orthographic() {
                    true => FramingTarget::of(&self.load(suite, task)?.splats).centre,
                    false => Vector3::zeros(),
                };
                let sized = own.iter().map(|camera| spec.with_model(size.apply(camera)?, centre));
                cameras.extend(flown(sized.collect::<Result<Vec<_>>>().map_err(in_scene)?)?);
                continue;
            }
            let splats = || self.load(suite, task).map(|scene| scene.splats);
            let views = viewpoint::views(&spec, file, splats, task).map_err(in_scene)?;
            cameras.extend(flown(views.cameras)?);
            // The warnings concern the file; they do not depend on the size.
            warnings = views.warnings;
        }
        if let Some(unused) = unused.and_then(|scene| self.views.camera_file_beside(scene)) {
            warnings.push(format!(
                "{}: scene \"{}\": one automatic view, though {} holds cameras of the scene; view = \"all\" draws all of them",
                suite.display(),
                self.name,
                unused.display()
            ));
        }
        Ok((cameras, warnings))
    }

    /// Selected viewpoints of a procedural scene without described views.
    fn own_cameras(&self) -> Result<Option<Vec<Camera>>> {
        let views = &self.views;
        let is_described = views.cameras.is_some()
            || views.eye.is_some()
            || views.target.is_some()
            || views.up.is_some()
            || views.fov_degrees.is_some()
            || views.orbit.is_some()
            || views.propose_views.is_some();
        match self.source {
            Source::Recipe(made, seed) if !is_described => {
                views.select(made.with_seed(seed)?.cameras().to_vec()).map(Some)
            }
            _ => Ok(None),
        }
    }

    pub(super) fn file(&self) -> Option<&Path> {
        if let Source::File(path) = &self.source { Some(path) } else { None }
    }

    pub(super) fn load(&self, suite: &Path, task: &Task) -> Result<LoadedScene> {
        let mut warnings = Vec::new();
        let (splats, hint) = match &self.source {
            Source::File(path) => {
                let scene = load(SceneInput::file(path).task(task))?;
                let of_file = scene.encoding.warnings.into_iter().chain(scene.dropped.warning());
                warnings.extend(of_file.map(|text| format!("{}: {text}", path.display())));
                (scene.splats, scene.profile_hint)
            }
            Source::Recipe(made, seed) => {
                let made = made.with_seed(*seed);
                let made = made.map_err(|error| in_scene(suite, &self.name, error))?;
                let splats = made.with_task(task).splats();
                task.check()?;
                (splats, None)
            }
        };
        let splats = match self.splat_scale {
            Some(factor) => scaled(&splats, factor),
            None => splats,
        };
        let named = self.profile.as_deref().map(Profile::named).transpose()?;
        let (profile, warning) = Profile::for_ellipsoids(named, hint)?;
        warnings.extend(warning.map(|text| format!("{}: {text}", self.name)));
        Ok(LoadedScene { splats, profile, warnings })
    }

    /// Hash of the file or the recipe of the splats.
    pub(super) fn source_hash(&self, suite: &Path) -> Result<u64> {
        let mut hash = Fnv1a::default();
        match &self.source {
            Source::File(path) => {
                if !path.exists() {
                    let found = format!("none at {}", path.display());
                    return Err(malformed(suite, &self.name, "path", "a scene file", &found));
                }
                for part in source_files(path)? {
                    hash.add_file(&part).map_err(|e| Error::read(&part, e))?;
                }
            }
            recipe @ Source::Recipe(..) => {
                // Writing to a hash cannot fail.
                let _ = write!(hash, "{recipe:?}");
            }
        }
        Ok(hash.0)
    }

    /// Hash of everything that is drawn in each view; `source` is the hash of the splats.
    pub(super) fn content_hash(&self, source: u64) -> Result<u64> {
        let mut hash = Fnv1a(source);
        if let Some(factor) = self.splat_scale {
            let _ = write!(hash, "{factor}");
        }
        if self.stencil != StencilSettings::default() {
            let _ = write!(hash, "{:?}", self.stencil);
        }
        for file in self.stencil.files() {
            hash.add_file(file).map_err(|e| Error::read(file, e))?;
        }
        Ok(hash.0)
    }
}

/// The path that `camera_path` names, and its number of frames.
fn flight(suite: &Path, raw: &RawScene, views: &ViewSpec) -> Result<Option<(Flight, usize)>> {
    let malformed = |key: &str, expected: &str, found: &str| {
        Err(malformed(suite, &raw.name, key, expected, found))
    };
    let (name, frames) = match (&raw.camera_path, raw.frames) {
        (None, None) => return Ok(None),
        (Some(name), Some(frames)) => (name, frames),
        (Some(_), None) => return malformed("frames", "the number of frames of the path", "none"),
        (None, Some(_)) => {
            return malformed("camera_path", "a path with these frames", "none");
        }
    };
    let is_described = [views.eye, views.target, views.up].iter().any(Option::is_some);
    if is_described || views.orbit.is_some() {
        let expected = "cameras of the scene for a path through them";
        return malformed("camera_path", expected, "a description by eye, target, up or orbit");
    }
    if frames > MAX_FRAMES {
        return malformed("frames", &format!("at most {MAX_FRAMES}"), &frames.to_string());
    }
    let flight = name.parse::<Flight>().map_err(|error| error.about("camera_path"));
    Ok(Some((flight.map_err(|error| in_scene(suite, &raw.name, error))?, frames as usize)))
}

fn scaled(splats: &Splats, factor: f32) -> Splats {
    let all = splats.iter();
    let all = all.map(|splat| Splat { scale: splat.scale.map(|side| side * factor), ..splat });
    Splats::from_splats(splats.sh_degree(), all)
        .with_origin(splats.origin())
        .with_order(splats.order())
}

pub(super) fn malformed(
    suite: &Path,
    scene: &str,
    key: &str,
    expected: &str,
    found: &str,
) -> Error {
    Error::malformed(suite, format!("scene \"{scene}\", {key}"), expected, found)
}

fn in_scene(suite: &Path, scene: &str, error: Error) -> Error {
    error.in_file(suite, |what| {
        let key = match what.as_str() {
            "number of splats" => "splats",
            "SH degree" => "sh_degree",
            other => other,
        };
        format!("scene \"{scene}\", {key}")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::Suite;

    const CASES: &str = include_str!("../../tests/support/views.json");

    fn assert_camera(camera: &Camera, case: &Value) {
        let rows: [[f64; 4]; 3] = serde_json::from_value(case["world_to_camera"].clone()).unwrap();
        for (row, expected) in rows.iter().enumerate() {
            let found = camera.view_from_world.row(row);
            let found = found.iter().chain([&camera.translation_in_view[row]]);
            assert!(found.zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{case}");
        }
        let focal = case["focal_px"].as_f64().unwrap();
        assert!(camera.focal_px.iter().all(|px| (px - focal).abs() < 1e-9), "{case}");
        let size = [&case["width"], &case["height"]].map(|n| n.as_u64().unwrap());
        assert_eq!([camera.width, camera.height].map(u64::from), size);
    }

    #[test]
    fn sizes_of_splats_are_scaled() {
        let parse = |line: &str| {
            let text = format!("[[scene]]\nname = 's'\nrecipe = 'room'\nsplats = 1000\n{line}");
            Suite::parse(&text, Path::new("suite.toml"))
        };
        let [plain, half] = ["", "splat_scale = 0.5"].map(|line| {
            let scene = &parse(line).unwrap().scenes[0];
            let path = Path::new("suite.toml");
            let splats = scene.load(path, &Task::NEVER).unwrap().splats;
            let source = scene.source_hash(path).unwrap();
            (splats.splat(7), scene.content_hash(source).unwrap())
        });
        assert_eq!(plain.0.scale.map(|side| side * 0.5), half.0.scale);
        assert_eq!((plain.0.mean, plain.0.opacity), (half.0.mean, half.0.opacity));
        assert_ne!(plain.1, half.1);
        assert!(parse("splat_scale = 0").unwrap_err().to_string().contains("splat_scale"));
    }

    #[test]
    fn cameras_beside_a_scene_that_are_not_used_are_named() {
        let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../suite.toml"));
        let warnings = |lines: &str| {
            let text = format!("[[scene]]\nname = 's'\npath = 'scenes/island.ply'\n{lines}");
            let suite = Suite::parse(&text, path).unwrap();
            let scene = &suite.scenes[0];
            scene.cameras(path, &[scene.size()], &Task::NEVER).unwrap().1
        };
        let [warning] = &warnings("width = 32")[..] else { panic!("another number of warnings") };
        assert!(warning.contains("island.cameras.json") && warning.contains("view = \"all\""));
        for lines in ["view = '0'", "eye = [9, 0, 0]", "cameras = 'scenes/island.cameras.json'"] {
            assert_eq!(warnings(lines), [""; 0], "{lines}");
        }
    }

    /// Links of the viewer and Python give the same cameras, by tests of their own over the same list.
    #[test]
    fn suites_and_flags_give_the_cameras_of_the_list() {
        let cases: Vec<Value> = serde_json::from_str(CASES).unwrap();
        for case in cases {
            let keys = ["eye", "target", "up", "fov", "width", "height"];
            let keys = keys.map(|key| format!("{key} = {}", case[key]));
            let text = format!("[[scene]]\nname = 's'\nrecipe = 'room'\n{}", keys.join("\n"));
            let suite = Suite::parse(&text, Path::new("suite.toml")).unwrap();
            let (scene, path) = (&suite.scenes[0], Path::new("suite.toml"));
            let (cameras, _) = scene.cameras(path, &[scene.size()], &Task::NEVER).unwrap();
            assert_eq!(cameras.len(), 1);
            assert_camera(&cameras[0], &case);
            #[cfg(feature = "cli")]
            assert_eq!(of_flags(&case), cameras[0]);
        }
    }

    #[cfg(feature = "cli")]
    fn of_flags(case: &Value) -> Camera {
        #[derive(clap::Parser)]
        struct Program {
            #[command(flatten)]
            views: ViewSpec,
        }

        let flags = ["eye", "target", "up", "fov", "width", "height"].into_iter();
        let flags =
            flags.map(|key| format!("--{key}={}", case[key].to_string().replace(['[', ']'], "")));
        let words = std::iter::once("program".to_owned()).chain(flags);
        let program = <Program as clap::Parser>::try_parse_from(words).unwrap();
        program.views.camera().unwrap()
    }
}
