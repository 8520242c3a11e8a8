//! Suite files: scenes with their views, methods and configurations, and meshes with their studies.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::checks::one_or_more;
use super::configuration::Configuration;
use super::matrix::{Matrix, RawConfiguration};
use super::mesh_suite::MeshSuite;
use super::run_row::Workload;
use super::scene_entry::{SceneEntry, malformed};
use super::suite_table::SuiteText;
use quadrille_base::error::{Error, Result};
use quadrille_base::text_file::read_text;
use quadrille_gpu::method::Method;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawSuite {
    #[serde(deserialize_with = "one_or_more")]
    method: Vec<String>,
    #[serde(rename = "configuration")]
    configurations: Vec<RawConfiguration>,
    matrix: toml::Table,
    workload: Option<Workload>,
    relief: bool,
}

/// A checked suite: at least one method, each once, and at least one scene or one study of a mesh.
#[derive(Debug, Clone)]
pub struct Suite {
    pub(super) path: PathBuf,
    pub(super) methods: Vec<Method>,
    pub(super) scenes: Vec<SceneEntry>,
    pub(super) matrix: Matrix,
    /// Whether each run is repeated with every part of the machine relieved.
    pub(super) has_relief: bool,
    pub(super) meshes: MeshSuite,
    pub(super) remarks: Vec<String>,
}

impl Suite {
    /// Reads and checks a suite file of at most 1 MiB, as [`Suite::parse`]; `-` reads standard input.
    pub fn read(path: &Path) -> Result<Self> {
        Self::parse(&read_text(path, "a suite")?, path)
    }

    /// As [`Suite::read`], for configurations based on `base`, as [`Suite::parse_for`].
    pub fn read_for(path: &Path, base: &Configuration) -> Result<Self> {
        Self::parse_for(&read_text(path, "a suite")?, path, base)
    }

    /// Checks the text of a suite file at `path`. Paths are relative to its folder; those of meshes may begin with an
    /// environment variable, as in `$MESHES/spot.obj`.
    ///
    /// # Errors
    /// [`Error::Malformed`] naming the line or the key that does not fit, of meshes also the study and the mesh.
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        Self::parse_for(text, path, &Configuration::default())
    }

    /// As [`Suite::parse`], for configurations based on `base`, whose extensions may have fields and methods in the suite.
    pub fn parse_for(text: &str, path: &Path, base: &Configuration) -> Result<Self> {
        let mut remarks = Vec::new();
        let mut table = SuiteText { path, text }.parse(&mut remarks)?;
        let has_methods = table.has("method");
        let raw: RawSuite = table.take()?;
        let is_wrong = has_methods && raw.method.is_empty();
        Error::malformed_if(is_wrong, path, "method", "at least one method", "none")?;
        let mut scenes: Vec<SceneEntry> = Vec::new();
        for scene in table.take_tables("scene", &mut remarks)? {
            let entry = SceneEntry::parse(path, scene)?;
            if scenes.iter().any(|other| other.name == entry.name) {
                let (name, expected) = (&entry.name, "a name of its own");
                return Err(malformed(path, name, "name", expected, name));
            }
            let excluded =
                [("warm", entry.is_warm), ("stencil_test", entry.stencil.stencil_test.is_some())];
            if let Some((key, _)) = excluded.iter().find(|(_, is_given)| raw.relief && *is_given) {
                let expected = "no such key in a suite with relief, whose runs have neither";
                return Err(malformed(path, &entry.name, key, expected, key));
            }
            scenes.push(entry);
        }
        let meshes = MeshSuite::parse(path, &mut table, raw.workload, &mut remarks)?;
        table.finish()?;
        if scenes.is_empty() && meshes.is_empty() {
            let expected = "at least one [[scene]], or one [[mesh]] and one [[study]] of it";
            return Err(Error::malformed(path, "scene", expected, "none"));
        }
        let suite = Self {
            path: path.to_owned(),
            methods: methods(path, &raw.method, base)?,
            scenes,
            matrix: Matrix::parse(path, raw.configurations, &raw.matrix, base)?,
            has_relief: raw.relief,
            meshes,
            remarks,
        };
        suite.check_matrix()?;
        Ok(suite)
    }

    /// Replaces the methods of the suite, unless there are none.
    #[must_use]
    pub fn with_methods(self, methods: Vec<Method>) -> Self {
        if methods.is_empty() { self } else { Self { methods, ..self } }
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

    /// Keys with old names, one sentence each.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Whether the suite has scenes of splats.
    pub fn has_scenes(&self) -> bool {
        !self.scenes.is_empty()
    }

    /// Whether the views of a scene are a sequence of frames that keep the caches.
    pub fn has_sequences(&self) -> bool {
        self.scenes.iter().any(|scene| scene.is_warm)
    }

    /// The studies of meshes.
    pub fn meshes(&self) -> &MeshSuite {
        &self.meshes
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

fn methods(path: &Path, names: &[String], base: &Configuration) -> Result<Vec<Method>> {
    if names.is_empty() {
        return Ok(Method::defaults());
    }
    let mut methods = Vec::new();
    for name in names {
        let method = Method::parse_of(name, &base.config)
            .map_err(|error| error.in_file(path, |_| "method".to_owned()))?;
        if methods.contains(&method) {
            let (expected, found) = ("each method once", format!("\"{name}\" again"));
            return Err(Error::malformed(path, "method", expected, found));
        }
        methods.push(method);
    }
    Ok(methods)
}
