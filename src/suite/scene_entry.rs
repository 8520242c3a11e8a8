//! Scenes of a suite: where their splats and their views come from.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::key::Fnv1a;
use quadrille_base::error::{Error, Result};
use quadrille_base::shading::Profile;
use quadrille_base::task::Task;
use quadrille_render::synth::{Recipe, Synthetic};
use quadrille_render::viewpoint::framing;
use quadrille_scene::cameras::{
    DescribedViews, Framing, FramingTarget, PictureSize, load_views, select,
};
use quadrille_scene::formats::source_files;
use quadrille_scene::{Camera, LoadOptions, Splats, load_task};

/// Number of splats of a procedural scene without `splats`, and their degree of spherical harmonics
/// without `sh_degree`, as of `quadrille synth`.
const DEFAULT_SPLATS: u64 = 200_000;
const DEFAULT_SH_DEGREE: u8 = 3;

/// A scene of the suite file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawScene {
    name: String,
    path: Option<PathBuf>,
    recipe: Option<String>,
    splats: Option<u64>,
    sh_degree: Option<u8>,
    seed: Option<u64>,
    cameras: Option<PathBuf>,
    views: Option<String>,
    eye: Option<[f64; 3]>,
    target: Option<[f64; 3]>,
    up: Option<[f64; 3]>,
    fov: Option<f64>,
    orbit: Option<u32>,
    width: Option<u32>,
    height: Option<u32>,
    profile: Option<String>,
    #[serde(default)]
    large: bool,
}

/// A procedural scene of any seed.
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

/// Source of the splats of a scene.
#[derive(Debug, Clone)]
pub(super) enum Source {
    /// A scene file.
    File(PathBuf),
    /// A procedural scene and its seed.
    Recipe(Procedural, u64),
}

/// Source of the views of a scene.
#[derive(Debug, Clone)]
enum Views {
    /// A camera file.
    File(PathBuf),
    /// The viewpoints of a procedural scene.
    Recipe(Procedural),
    /// Eye and target, an orbit, or the main content of the scene. The size is set later.
    Described(Box<DescribedViews>),
}

/// A scene of a suite.
#[derive(Debug, Clone)]
pub(super) struct SceneEntry {
    /// Unique in the suite.
    pub(super) name: String,
    pub(super) source: Source,
    views: Views,
    /// Selected views, as of `quadrille render --view`.
    selected: String,
    pub(super) size: PictureSize,
    /// Name of the profile, if it differs from the scene file's.
    pub(super) profile: Option<String>,
    /// Whether figures show the scene apart, as one of the paper's large scenes.
    pub(super) is_large: bool,
}

/// The splats of a scene and their profile.
pub(super) struct LoadedScene {
    pub(super) splats: Splats,
    pub(super) profile: Profile,
}

impl SceneEntry {
    /// Checks a scene of the suite file `suite`, and makes its paths relative to the working directory.
    pub(super) fn parse(suite: &Path, raw: RawScene) -> Result<Self> {
        let malformed = |key: &str, expected: &str, found: &str| {
            Err(malformed(suite, &raw.name, key, expected, found))
        };
        let folder = suite.parent().unwrap_or(Path::new(""));
        if let Some(name) = &raw.profile {
            let found = Profile::named(name);
            found.map_err(|error| in_scene(suite, &raw.name, error))?;
        }
        if let Some(fov) = raw.fov.filter(|fov| !(*fov > 0.0 && *fov < 180.0)) {
            return malformed("fov", "degrees between 0 and 180", &fov.to_string());
        }
        for (key, point) in [("eye", raw.eye), ("target", raw.target), ("up", raw.up)] {
            let is_finite = |p: [f64; 3]| p.iter().all(|n| n.is_finite());
            if let Some(point) = point.filter(|p| !is_finite(*p)) {
                return malformed(key, "three finite numbers", &format!("{point:?}"));
            }
        }
        if raw.up == Some([0.0; 3]) {
            return malformed("up", "a direction such as [0, 0, 1]", "[0, 0, 0]");
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
                let recipe = name.parse::<Recipe>().map_err(|error| {
                    in_scene(suite, &raw.name, error.about("recipe"))
                })?;
                let made = Procedural {
                    recipe,
                    splats: raw.splats.unwrap_or(DEFAULT_SPLATS),
                    sh_degree: raw.sh_degree.unwrap_or(DEFAULT_SH_DEGREE),
                };
                // Checks the numbers.
                let checked = made.with_seed(0);
                checked.map_err(|error| in_scene(suite, &raw.name, error))?;
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
        let is_described = raw.eye.is_some()
            || raw.target.is_some()
            || raw.up.is_some()
            || raw.fov.is_some()
            || raw.orbit.is_some();
        let views = match (&raw.cameras, &source) {
            (Some(_), _) if is_described => {
                let expected = "either a camera file or eye, target, up, fov and orbit";
                return malformed("cameras", expected, "both");
            }
            (Some(cameras), _) => Views::File(folder.join(cameras)),
            (None, Source::Recipe(made, _)) if !is_described => Views::Recipe(*made),
            (None, _) => Views::Described(Box::new(DescribedViews {
                eye: raw.eye,
                target: raw.target,
                up: raw.up,
                fov_degrees: raw.fov,
                orbit: raw.orbit,
                size: PictureSize::default(),
            })),
        };
        Ok(Self {
            name: raw.name,
            source,
            views,
            selected: raw.views.unwrap_or_else(|| "all".to_owned()),
            size: PictureSize {
                width: raw.width,
                height: raw.height,
                scale: None,
            },
            profile: raw.profile,
            is_large: raw.large,
        })
    }

    /// The seed of a procedural scene.
    pub(super) fn seed(&self) -> Option<u64> {
        match self.source {
            Source::File(_) => None,
            Source::Recipe(_, seed) => Some(seed),
        }
    }

    /// The scene with another seed; a scene file has none and stays as it is.
    pub(super) fn with_seed(&self, new: u64) -> Self {
        let mut entry = self.clone();
        if let Source::Recipe(_, seed) = &mut entry.source {
            *seed = new;
        }
        entry
    }

    /// Cameras of the scene with pictures of each of `sizes`, and the warnings of their file. Reads the
    /// scene only if the views depend on its content.
    pub(super) fn cameras(
        &self,
        suite: &Path,
        sizes: &[PictureSize],
    ) -> Result<(Vec<Camera>, Vec<String>)> {
        let in_scene = |error| in_scene(suite, &self.name, error);
        let (mut cameras, mut warnings) = (Vec::new(), Vec::new());
        match &self.views {
            Views::File(path) => {
                if !path.exists() {
                    let found = format!("none at {}", path.display());
                    let expected = "a camera file";
                    return Err(malformed(suite, &self.name, "cameras", expected, &found));
                }
                for size in sizes {
                    let (sized, more) =
                        load_views(path, &self.selected, *size).map_err(in_scene)?;
                    cameras.extend(sized);
                    // The warnings concern the file; they do not depend on the size.
                    warnings = more;
                }
            }
            Views::Recipe(made) => {
                let all = made.with_seed(self.seed().unwrap_or(0)).map_err(in_scene)?;
                let chosen = select(all.cameras().to_vec(), &self.selected).map_err(in_scene)?;
                for size in sizes {
                    let sized = chosen.iter().map(|camera| size.apply(camera));
                    cameras.extend(sized.collect::<Result<Vec<_>>>().map_err(in_scene)?);
                }
            }
            Views::Described(views) => {
                let framing = if views.are_fixed() {
                    // Not used, since eye and target are given.
                    Framing::of_splats(FramingTarget {
                        centre: nalgebra::Vector3::zeros(),
                        radius: 1.0,
                    })
                } else {
                    framing(&self.load(suite, &Task::NEVER)?.splats, views)
                };
                for size in sizes {
                    let mut views = views.clone();
                    views.size = *size;
                    let described = views.cameras(&framing).map_err(in_scene)?;
                    cameras.extend(select(described, &self.selected).map_err(in_scene)?);
                }
            }
        }
        Ok((cameras, warnings))
    }

    /// Loads the scene, with the profile that the suite or its file names.
    pub(super) fn load(&self, suite: &Path, task: &Task) -> Result<LoadedScene> {
        let (splats, hint) = match &self.source {
            Source::File(path) => {
                let scene = load_task(path, LoadOptions::default(), task)?;
                (scene.splats, scene.profile_hint)
            }
            Source::Recipe(made, seed) => {
                let made = made.with_seed(*seed);
                let made = made.map_err(|error| in_scene(suite, &self.name, error))?;
                (made.splats(), None)
            }
        };
        let name = self.profile.as_deref().or(hint);
        let profile = name.and_then(|name| Profile::named(name).ok());
        Ok(LoadedScene {
            splats,
            profile: profile.unwrap_or_default(),
        })
    }

    /// Hash of the content of the scene: of its files or of its recipe.
    pub(super) fn content_hash(&self, suite: &Path) -> Result<u64> {
        let mut hash = Fnv1a::default();
        match &self.source {
            Source::File(path) => {
                if !path.exists() {
                    let found = format!("none at {}", path.display());
                    let expected = "a scene file";
                    return Err(malformed(suite, &self.name, "path", expected, &found));
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
}

/// The error that a key of a scene has a wrong value.
pub(super) fn malformed(
    suite: &Path,
    scene: &str,
    key: &str,
    expected: &str,
    found: &str,
) -> Error {
    let place = format!("scene \"{scene}\", {key}");
    Error::malformed(suite, place, expected, found)
}

/// Turns an error about an argument into one about the key of a scene.
fn in_scene(suite: &Path, scene: &str, error: Error) -> Error {
    match error {
        Error::Argument {
            what,
            expected,
            found,
        } => {
            let key = match what.as_str() {
                "view" => "views",
                "number of splats" => "splats",
                "SH degree" => "sh_degree",
                other => other,
            };
            malformed(suite, scene, key, &expected, &found)
        }
        other => other,
    }
}
