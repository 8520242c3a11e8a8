use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::known_keys::fields;
use super::paths::SuitePaths;
use crate::deferred_runs::{BlurSettings, DeferredRunSettings, PipelineSettings};
use crate::merging_runs::{MergingRunSettings, MergingSettings};
use crate::mesh_input::{Frames, LookSettings, MeshRunSettings, MeshSettings};
use crate::mesh_row::{MeshRunKey, Workload};
use crate::suite_file::not_a_suite;
use quadrille_base::error::{Error, Result};
use quadrille_base::words::did_you_mean;
use quadrille_geometry::surface::ProceduralScene;
use quadrille_scene::cameras::CameraTransform;

const VIEW_KEYS: [&str; 11] = [
    "cameras",
    "transform",
    "view",
    "eye",
    "target",
    "up",
    "fov",
    "camera_model",
    "orbit",
    "width",
    "height",
];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSuite {
    workload: Workload,
    #[serde(default, rename = "mesh")]
    meshes: Vec<RawMesh>,
    #[serde(default, rename = "study")]
    studies: Vec<RawStudy>,
}

#[derive(Debug, Clone, Deserialize)]
struct RawMesh {
    name: String,
    variant: Option<String>,
    #[serde(flatten)]
    settings: Table,
}

#[derive(Debug, Deserialize)]
struct RawStudy {
    name: String,
    meshes: Option<Vec<String>>,
    #[serde(default)]
    heat: bool,
    #[serde(default, rename = "axis")]
    axes: Vec<RawAxis>,
    #[serde(flatten)]
    settings: Table,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAxis {
    name: String,
    points: Vec<RawPoint>,
}

#[derive(Debug, Clone, Deserialize)]
struct RawPoint {
    name: String,
    #[serde(flatten)]
    settings: Table,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum RunSettings {
    Deferred(Box<DeferredRunSettings>),
    Merging(Box<MergingRunSettings>),
}

#[derive(Debug, Clone)]
pub(super) struct MeshJob {
    pub(super) key: MeshRunKey,
    pub(super) settings: RunSettings,
    pub(super) mesh: String,
    pub(super) heat: bool,
    pub(super) is_first: bool,
}

/// A checked suite: at least one job, and no two of the same key.
#[derive(Debug, Clone)]
pub struct MeshSuite {
    pub(super) workload: Workload,
    pub(super) paths: SuitePaths,
    pub(super) jobs: Vec<MeshJob>,
}

impl MeshSuite {
    /// Whether the text of a suite names a workload, as suites of meshes do.
    pub fn is_one(text: &str) -> bool {
        toml::from_str::<Table>(text).is_ok_and(|table| table.contains_key("workload"))
    }

    /// Checks the text of a suite file at `path`. Paths are relative to its folder, or begin with an environment
    /// variable as in `$MESHES/spot.obj`.
    ///
    /// # Errors
    /// [`Error::Malformed`] naming the line, or the study, the mesh and the key that does not fit.
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        let raw: RawSuite = toml::from_str(text).map_err(|e| not_a_suite(path, text, &e))?;
        let mut suite =
            Self { workload: raw.workload, paths: SuitePaths::new(path), jobs: Vec::new() };
        for study in &raw.studies {
            suite.add_study(path, &raw.meshes, study)?;
        }
        if suite.jobs.is_empty() {
            let expected = "at least one [[mesh]] and one [[study]] of it";
            return Err(Error::malformed(path, "study", expected, "none"));
        }
        for (at, job) in suite.jobs.iter().enumerate() {
            let file = job.key.to_string();
            if suite.jobs[..at].iter().any(|other| other.key.to_string() == file) {
                return Err(Error::malformed(path, file, "a name of its own", "one used before"));
            }
        }
        Ok(suite)
    }

    /// The pipelines that the suite runs.
    pub fn workload(&self) -> Workload {
        self.workload
    }

    /// Keys of all jobs, in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &MeshRunKey> {
        self.jobs.iter().map(|job| &job.key)
    }

    fn add_study(&mut self, path: &Path, meshes: &[RawMesh], study: &RawStudy) -> Result<()> {
        let is_wanted = |mesh: &RawMesh| match &study.meshes {
            None => mesh.variant.is_none(),
            Some(names) => names.contains(&mesh_key(study, mesh).mesh_name()),
        };
        let all = meshes.iter().map(|mesh| mesh_key(study, mesh).mesh_name());
        let all: Vec<String> = all.collect();
        for name in study.meshes.iter().flatten() {
            if !all.contains(name) {
                let place = format!("study \"{}\", meshes", study.name);
                let expected = format!("one of {}", all.join(", "));
                let similar = did_you_mean(name, all.iter().map(String::as_str));
                return Err(Error::malformed(path, place, expected, format!("{name}{similar}")));
            }
        }
        let before = self.jobs.len();
        for mesh in meshes.iter().filter(|mesh| is_wanted(mesh)) {
            let mut tables = vec![(mesh_key(study, mesh), mesh.settings.clone())];
            tables[0].1.extend(study.settings.clone());
            for axis in &study.axes {
                let pairs = tables
                    .iter()
                    .flat_map(|table| axis.points.iter().map(move |point| (table, point)));
                tables = pairs
                    .map(|((key, table), point)| {
                        let (mut key, mut table) = (key.clone(), table.clone());
                        key.settings.insert(axis.name.clone(), point.name.clone());
                        table.extend(point.settings.clone());
                        (key, table)
                    })
                    .collect();
            }
            for (key, table) in tables {
                let is_first = self.jobs.len() == before;
                self.add_job(path, key, table, (study.heat, is_first))?;
            }
        }
        Ok(())
    }

    fn add_job(
        &mut self,
        path: &Path,
        key: MeshRunKey,
        table: Table,
        (heat, is_first): (bool, bool),
    ) -> Result<()> {
        let is_plain = |c: char| c.is_alphanumeric() || " -_.+,()".contains(c);
        let name = key.to_string();
        if key.mesh.is_empty() || key.study.is_empty() || !name.chars().all(is_plain) {
            let expected = "names of letters, digits, spaces and -_.+,()";
            return Err(Error::malformed(path, name, expected, "another"));
        }
        let mesh = table.get("mesh").and_then(Value::as_str).unwrap_or_default();
        let mesh = mesh.to_owned();
        let settings = match self.workload {
            Workload::Deferred => {
                let own = [fields::<BlurSettings>(), fields::<PipelineSettings>()];
                let mut settings: DeferredRunSettings = self.read(path, &name, table, own)?;
                let motion = settings.frames.blur.motion.iter_mut();
                motion.for_each(|motion| self.resolve_file(motion));
                RunSettings::Deferred(Box::new(settings))
            }
            Workload::Merging => {
                let own = [fields::<MergingSettings>(), &[]];
                RunSettings::Merging(Box::new(self.read(path, &name, table, own)?))
            }
        };
        self.jobs.push(MeshJob { key, settings, mesh, heat, is_first });
        Ok(())
    }

    fn read<F: Frames + Default + DeserializeOwned>(
        &mut self,
        path: &Path,
        name: &str,
        table: Table,
        own: [&[&str]; 2],
    ) -> Result<MeshRunSettings<F>> {
        check_keys(path, name, &table, own)?;
        let mut settings = MeshRunSettings::<F>::deserialize(Value::Table(table))
            .map_err(|e| Error::malformed(path, name, "values of its keys", e.message()))?;
        let in_suite = |error: Error| error.in_file(path, |what| format!("{name}, {what}"));
        settings.check().map_err(in_suite)?;
        let mesh = &mut settings.mesh;
        if ProceduralScene::from_name(&mesh.to_string_lossy()).is_err() {
            self.resolve_file(mesh);
        }
        let views = &mut settings.views;
        let transform = match &mut views.transform {
            Some(CameraTransform::File(path)) => Some(path),
            _ => None,
        };
        let files = settings.input.files_mut();
        let files = files.chain(&mut views.cameras).chain(transform);
        files.for_each(|file| self.resolve_file(file));
        Ok(settings)
    }

    fn resolve_file(&mut self, file: &mut PathBuf) {
        self.paths.learn(file);
        *file = self.paths.resolved(file);
    }
}

fn mesh_key(study: &RawStudy, mesh: &RawMesh) -> MeshRunKey {
    MeshRunKey {
        study: study.name.clone(),
        mesh: mesh.name.clone(),
        variant: mesh.variant.clone(),
        settings: BTreeMap::new(),
    }
}

fn check_keys(path: &Path, name: &str, table: &Table, own: [&[&str]; 2]) -> Result<()> {
    let shared = [&["mesh"], &VIEW_KEYS[..], fields::<MeshSettings>(), fields::<LookSettings>()];
    let mut known = shared.into_iter().chain(own).flatten();
    if let Some(key) = table.keys().find(|key| !known.clone().any(|known| known == key)) {
        let keys: Vec<_> = known.by_ref().copied().collect();
        let expected = format!("one of {}", keys.join(", "));
        let found = format!("{key}{}", did_you_mean(key, keys));
        let place = format!("{name}, keys");
        return Err(Error::malformed(path, place, expected, found));
    }
    if !table.contains_key("mesh") {
        let expected = "a mesh file, or the name of a procedural mesh";
        return Err(Error::malformed(path, format!("{name}, mesh"), expected, "none"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadrille_base::bytes::Bytes;
    use quadrille_scene::cameras::ViewSpec;

    const SUITE: &str = "workload = 'merging'
        [[mesh]]
        name = 'plane'
        mesh = 'plane'
        width = 48
        [[mesh]]
        name = 'plane'
        variant = 'seed 2'
        mesh = 'plane'
        seed = 2
        [[study]]
        name = 'units'
        tessellate = 40
        unit = ['none', 'qfm']
        buffer = [4, 'unbounded']
        memory = '2G'
        [[study.axis]]
        name = 'culling'
        points = [{ name = 'quads' }, { name = 'grids', cull = 'grids', width = 32 }]
        [[study]]
        name = 'seeds'
        meshes = ['plane (seed 2)']";

    fn parse(text: &str) -> Result<MeshSuite> {
        MeshSuite::parse(text, Path::new("folder/suite.toml"))
    }

    #[test]
    fn points_of_axes_replace_settings_of_the_study_and_of_the_mesh() {
        let suite = parse(SUITE).unwrap();
        let names: Vec<String> = suite.keys().map(ToString::to_string).collect();
        let expected = ["units plane, quads", "units plane, grids", "seeds plane (seed 2)"];
        assert_eq!(names, expected);
        let RunSettings::Merging(settings) = &suite.jobs[1].settings else {
            panic!("{:?}", suite.jobs[1]);
        };
        assert_eq!(settings.input.tessellate, [40.0]);
        assert_eq!(settings.views.width, Some(32));
        assert_eq!(settings.frames.rows_per_view().unwrap(), 3);
        assert_eq!(settings.input.memory, Some(Bytes(2 << 30)));
    }

    #[test]
    fn all_keys_of_views_are_known() {
        for key in VIEW_KEYS {
            let text = format!("{key} = {{}}");
            let error = toml::from_str::<ViewSpec>(&text);
            assert!(error.is_err(), "{key} is not a key");
        }
    }

    #[test]
    fn wrong_suites_name_the_job_and_the_key() {
        for (before, after, words) in [
            ("'merging'", "'meshes'", ["line 1", "merging"]),
            ("width = 48", "widht = 48", ["units plane, quads, keys", "widht"]),
            ("width = 48", "width = 'x'", ["units plane", "x"]),
            ("seed = 2", "near = 0", ["seeds plane (seed 2), near", "above 0"]),
            ("cull = 'grids'", "cull = 'all'", ["units plane, grids", "quads"]),
            ("(seed 2)'", "(seed 3)'", ["study \"seeds\", meshes", "seed 3"]),
            ("'grids', cull", "'quads', cull", ["units plane, quads", "its own"]),
            ("buffer = [4", "buffer = [0", ["units plane", "1048576"]),
            ("4, 'unbounded'", "4, 4", ["units plane, quads, buffer", "4 twice"]),
            ("name = 'units'", "name = '../units'", ["../units", "letters"]),
        ] {
            let text = SUITE.replace(before, after);
            assert_ne!(text, SUITE);
            let error = parse(&text).unwrap_err().to_string();
            assert!(error.starts_with("folder/suite.toml: "), "{error}");
            assert!(words.iter().all(|word| error.contains(word)), "{after}: {error}");
        }
        let error = parse("workload = 'deferred'").unwrap_err().to_string();
        assert!(error.contains("at least one"), "{error}");
    }
}
