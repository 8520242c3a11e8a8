//! Suite files: scenes with their views, methods, and configurations.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::configuration::Configuration;
use super::matrix::{Matrix, RawConfiguration};
use super::scene_entry::{RawScene, SceneEntry, malformed};
use quadrille_base::error::{Error, Result};
use quadrille_base::text_file::read_text;
use quadrille_base::words::did_you_mean_one_of;
use quadrille_gpu::method::Method;
use quadrille_machine::overlay::line_of;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSuite {
    #[serde(alias = "variants")]
    methods: Option<Vec<String>>,
    #[serde(default, rename = "configuration")]
    configurations: Vec<RawConfiguration>,
    #[serde(default)]
    matrix: toml::Table,
    #[serde(default, rename = "scene")]
    scenes: Vec<RawScene>,
}

/// A checked suite: at least one method, each once, and at least one scene.
#[derive(Debug, Clone)]
pub struct Suite {
    pub(super) path: PathBuf,
    pub(super) methods: Vec<Method>,
    pub(super) scenes: Vec<SceneEntry>,
    pub(super) matrix: Matrix,
}

impl Suite {
    /// Reads and checks a suite file; `-` reads standard input.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::Limit`] for more than 1 MiB, and the errors of [`Suite::parse`].
    pub fn read(path: &Path) -> Result<Self> {
        Self::parse(&read_text(path, "a suite")?, path)
    }

    /// Checks the text of a suite file at `path`. Paths of scenes and cameras are relative to its folder.
    ///
    /// # Errors
    /// [`Error::Malformed`] naming the line or the key that does not fit.
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        Self::parse_for(text, path, &Configuration::default())
    }

    /// As [`Suite::parse`], for configurations based on `base`, whose units from outside may have fields in the
    /// suite.
    pub fn parse_for(text: &str, path: &Path, base: &Configuration) -> Result<Self> {
        let raw: RawSuite = toml::from_str(text).map_err(|e| not_a_suite(path, text, &e))?;
        let mut scenes: Vec<SceneEntry> = Vec::new();
        for scene in raw.scenes {
            let entry = SceneEntry::parse(path, scene)?;
            if scenes.iter().any(|other| other.name == entry.name) {
                let (name, expected) = (&entry.name, "a name of its own");
                return Err(malformed(path, name, "name", expected, name));
            }
            scenes.push(entry);
        }
        if scenes.is_empty() {
            let expected = "at least one [[scene]]";
            return Err(Error::malformed(path, "scene", expected, "none"));
        }
        let suite = Self {
            path: path.to_owned(),
            methods: methods(path, raw.methods.as_deref())?,
            scenes,
            matrix: Matrix::parse(path, raw.configurations, &raw.matrix, base)?,
        };
        suite.check_matrix()?;
        Ok(suite)
    }

    /// Replaces the methods of the suite, unless there are none.
    #[must_use]
    pub fn with_methods(self, methods: Vec<Method>) -> Self {
        if methods.is_empty() {
            return self;
        }
        Self { methods, ..self }
    }

    /// The suite without its matrix and configurations.
    #[must_use]
    pub fn without_configurations(self) -> Self {
        Self { matrix: Matrix::default(), ..self }
    }

    /// Whether the suite has a matrix or configurations.
    pub fn has_configurations(&self) -> bool {
        !self.matrix.is_empty()
    }

    /// The methods to run, each once.
    pub fn methods(&self) -> &[Method] {
        &self.methods
    }

    fn check_matrix(&self) -> Result<()> {
        let has_recipe = self.scenes.iter().any(|scene| scene.seed().is_some());
        if !self.matrix.seeds.is_empty() && !has_recipe {
            let expected = "a scene with a recipe, since only procedural scenes have seeds";
            return Err(Error::malformed(&self.path, "matrix, seed", expected, "none"));
        }
        for scene in &self.scenes {
            let is_sized = scene.size().width.is_some() || scene.size().height.is_some();
            if is_sized && !self.matrix.widths.is_empty() {
                let expected = "no size, since the matrix has a list of widths";
                return Err(malformed(&self.path, &scene.name, "width, height", expected, "one"));
            }
        }
        Ok(())
    }
}

fn methods(path: &Path, names: Option<&[String]>) -> Result<Vec<Method>> {
    let Some(names) = names else {
        return Ok(Method::defaults());
    };
    let mut methods = Vec::new();
    for name in names {
        let method =
            Method::parse(name).map_err(|error| error.in_file(path, |_| "methods".to_owned()))?;
        if methods.contains(&method) {
            let (expected, found) = ("each method once", format!("\"{name}\" again"));
            return Err(Error::malformed(path, "methods", expected, found));
        }
        methods.push(method);
    }
    if methods.is_empty() {
        return Err(Error::malformed(path, "methods", "at least one", "none"));
    }
    Ok(methods)
}

/// Describes the line that TOML rejects.
pub(super) fn not_a_suite(path: &Path, text: &str, error: &toml::de::Error) -> Error {
    let message = error.message();
    let found = format!("{message}{}", did_you_mean_one_of(message));
    Error::malformed(path, line_of(error, text), "keys and values of a suite", found)
}
