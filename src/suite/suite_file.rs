//! Suite files: scenes, their views, and variants.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::gpu::variant::Variant;
use crate::scene::Camera;
use crate::scene::cameras::{PictureSize, load_views};
use crate::shading::Profile;

/// The content of a suite file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSuite {
    variants: Option<Vec<String>>,
    #[serde(default, rename = "scene")]
    scenes: Vec<SuiteScene>,
}

/// A scene of a suite.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SuiteScene {
    /// Unique in the suite.
    pub(crate) name: String,
    /// Scene file: in the suite file relative to its folder, in a [`Suite`] to the working directory.
    pub(crate) path: PathBuf,
    cameras: PathBuf,
    views: Option<String>,
    width: Option<u32>,
    height: Option<u32>,
    /// Name of the profile, if it is not that of the scene file.
    pub(crate) profile: Option<String>,
}

/// A checked suite.
#[derive(Debug)]
pub(crate) struct Suite {
    pub(crate) path: PathBuf,
    /// At least one, each once.
    pub(crate) variants: Vec<Variant>,
    /// At least one.
    pub(crate) scenes: Vec<SuiteScene>,
}

impl Suite {
    /// Reads and checks a suite; `-` reads standard input.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = if path == Path::new("-") {
            std::io::read_to_string(std::io::stdin().lock())
        } else {
            std::fs::read_to_string(path)
        };
        let text = text.map_err(|e| Error::read(path, e))?;
        let raw: RawSuite = toml::from_str(&text).map_err(|e| not_a_suite(path, &text, &e))?;
        let mut suite = Self {
            path: path.to_owned(),
            variants: variants(path, raw.variants.as_deref())?,
            scenes: raw.scenes,
        };
        if suite.scenes.is_empty() {
            let expected = "at least one [[scene]]";
            return Err(Error::malformed(path, "scene", expected, "none"));
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        for index in 0..suite.scenes.len() {
            suite.check(index)?;
            let scene = &mut suite.scenes[index];
            scene.path = folder.join(&scene.path);
            scene.cameras = folder.join(&scene.cameras);
        }
        Ok(suite)
    }

    fn check(&self, index: usize) -> Result<()> {
        let scene = &self.scenes[index];
        if self.scenes[..index].iter().any(|s| s.name == scene.name) {
            return Err(self.malformed(scene, "name", "a name of its own", &scene.name));
        }
        let profile = scene.profile.as_deref().map(Profile::named).transpose();
        profile
            .map(drop)
            .map_err(|error| self.in_scene(scene, error))
    }

    fn malformed(&self, scene: &SuiteScene, key: &str, expected: &str, found: &str) -> Error {
        let place = format!("scene \"{}\", {key}", scene.name);
        Error::malformed(&self.path, place, expected, found)
    }

    /// Turns an error about an argument into one about the key of a scene.
    fn in_scene(&self, scene: &SuiteScene, error: Error) -> Error {
        match error {
            Error::Argument {
                what,
                expected,
                found,
            } => {
                let key = if what == "view" { "views" } else { &what };
                self.malformed(scene, key, &expected, &found)
            }
            other => other,
        }
    }

    /// Cameras of a scene with the size of the suite, and the warnings of their file.
    pub(crate) fn cameras(&self, scene: &SuiteScene) -> Result<(Vec<Camera>, Vec<String>)> {
        if !scene.cameras.exists() {
            let found = format!("none at {}", scene.cameras.display());
            return Err(self.malformed(scene, "cameras", "a camera file", &found));
        }
        let size = PictureSize {
            width: scene.width,
            height: scene.height,
        };
        let views = scene.views.as_deref().unwrap_or("all");
        load_views(&scene.cameras, views, size).map_err(|error| self.in_scene(scene, error))
    }

    /// Hash of the content of a scene file.
    pub(crate) fn scene_hash(&self, scene: &SuiteScene) -> Result<u64> {
        let path = &scene.path;
        let mut file = match File::open(path) {
            Err(e) if e.kind() == ErrorKind::NotFound => {
                let found = format!("none at {}", path.display());
                return Err(self.malformed(scene, "path", "a scene file", &found));
            }
            opened => opened.map_err(|e| Error::read(path, e))?,
        };
        let mut hash = Fnv1a::default();
        std::io::copy(&mut file, &mut hash).map_err(|e| Error::read(path, e))?;
        Ok(hash.0)
    }
}

/// 64-bit FNV-1a hash: the same on every machine and in every version.
pub(crate) struct Fnv1a(pub(crate) u64);

impl Default for Fnv1a {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Write for Fnv1a {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn variants(path: &Path, names: Option<&[String]>) -> Result<Vec<Variant>> {
    let Some(names) = names else {
        return Ok(Variant::ALL.to_vec());
    };
    let mut variants = Vec::new();
    for name in names {
        let variant = Variant::parse(name).map_err(|e| match e {
            Error::Argument {
                expected, found, ..
            } => Error::malformed(path, "variants", expected, format!("\"{found}\"")),
            other => other,
        })?;
        if variants.contains(&variant) {
            let (expected, found) = ("each variant once", format!("\"{name}\" again"));
            return Err(Error::malformed(path, "variants", expected, found));
        }
        variants.push(variant);
    }
    if variants.is_empty() {
        return Err(Error::malformed(path, "variants", "at least one", "none"));
    }
    Ok(variants)
}

/// Describes the line that TOML does not accept.
fn not_a_suite(path: &Path, text: &str, error: &toml::de::Error) -> Error {
    let at = error.span().map_or(0, |span| span.start).min(text.len());
    let before = text.get(..at).unwrap_or_default();
    let number = before.matches('\n').count();
    let line = text.lines().nth(number).unwrap_or_default().trim();
    let place = format!("line {}, `{line}`", number + 1);
    Error::malformed(path, place, "keys and values of a suite", error.message())
}
