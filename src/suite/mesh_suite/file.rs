use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::paths::SuitePaths;
use crate::deferred_runs::DeferredRunSettings;
use crate::key::MeshRunKey;
use crate::merging_runs::MergingRunSettings;
use crate::mesh_input::{Frames, MeshRunSettings};
use crate::run_row::Workload;
use crate::suite_table::{SuiteTable, TableParts};
use quadrille_base::error::{Error, Result};
use quadrille_base::words::did_you_mean;
use quadrille_geometry::surface::ProceduralScene;

#[derive(Debug, Clone, Deserialize)]
struct MeshName {
    name: String,
    variant: Option<String>,
}

#[derive(Debug, Deserialize)]
struct RawStudy {
    name: String,
    meshes: Option<Vec<String>>,
    #[serde(default)]
    heat: bool,
    workload: Option<Workload>,
}

#[derive(Debug, Clone, Deserialize)]
struct AxisName {
    name: String,
}

#[derive(Debug, Clone, Deserialize)]
struct MeshPath {
    mesh: String,
}

struct SuiteMeshes<'t>(Vec<(MeshName, SuiteTable<'t>)>);

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RunSettings {
    Deferred(Box<DeferredRunSettings>),
    Merging(Box<MergingRunSettings>),
}

#[derive(Debug, Clone)]
pub(crate) struct MeshJob {
    pub(crate) key: MeshRunKey,
    pub(crate) settings: RunSettings,
    pub(crate) mesh: String,
    pub(crate) heat: bool,
    pub(crate) is_first: bool,
}

/// Jobs of the mesh studies in a suite, with distinct keys.
#[derive(Debug, Clone, Default)]
pub struct MeshSuite {
    pub(crate) paths: SuitePaths,
    pub(crate) jobs: Vec<MeshJob>,
}

impl MeshSuite {
    /// Takes the meshes and studies out of the suite file at `path`. `workload` is the workload of studies without one.
    pub(crate) fn parse(
        path: &Path,
        table: &mut SuiteTable<'_>,
        workload: Option<Workload>,
        remarks: &mut Vec<String>,
    ) -> Result<Self> {
        let meshes = table.take_tables("mesh", remarks)?.into_iter();
        let meshes = meshes.map(|mut mesh| Ok((mesh.take()?, mesh)));
        let meshes = SuiteMeshes(meshes.collect::<Result<_>>()?);
        let mut suite = Self { paths: SuitePaths::new(path), jobs: Vec::new() };
        for study in table.take_tables("study", remarks)? {
            suite.add_study(path, &meshes, study, workload, remarks)?;
        }
        for (at, job) in suite.jobs.iter().enumerate() {
            let file = job.key.to_string();
            let is_wrong = suite.jobs[..at].iter().any(|other| other.key.to_string() == file);
            Error::malformed_if(is_wrong, path, file, "a name of its own", "a name used before")?;
        }
        Ok(suite)
    }

    /// Whether there are no jobs.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Whether a study has this workload.
    pub fn has(&self, workload: Workload) -> bool {
        self.jobs.iter().any(|job| job.settings.workload() == workload)
    }

    /// Keys of all jobs, in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &MeshRunKey> {
        self.jobs.iter().map(|job| &job.key)
    }

    fn add_study(
        &mut self,
        path: &Path,
        meshes: &SuiteMeshes<'_>,
        mut table: SuiteTable<'_>,
        workload: Option<Workload>,
        remarks: &mut Vec<String>,
    ) -> Result<()> {
        let study: RawStudy = table.take()?;
        let place = |key: &str| format!("study \"{}\", {key}", study.name);
        let Some(workload) = study.workload.or(workload) else {
            let expected =
                "merging or deferred, in the study or, for all studies, before the first table";
            return Err(Error::malformed(path, place("workload"), expected, "none"));
        };
        let mut axes = Vec::new();
        for mut axis in table.take_tables("axis", remarks)? {
            let AxisName { name } = axis.take()?;
            let points = axis.take_tables("points", remarks)?.into_iter();
            let points = points.map(|mut point| Ok((point.take::<AxisName>()?.name, point)));
            let points: Vec<_> = points.collect::<Result<_>>()?;
            axis.finish()?;
            axes.push((name, points));
        }
        let all: Vec<String> =
            meshes.0.iter().map(|(mesh, _)| mesh.key(&study).mesh_name()).collect();
        for name in study.meshes.iter().flatten() {
            if !all.contains(name) {
                let expected = format!("one of {}", all.join(", "));
                let similar = did_you_mean(name, all.iter().map(String::as_str));
                let found = format!("{name}{similar}");
                return Err(Error::malformed(path, place("meshes"), expected, found));
            }
        }
        let before = self.jobs.len();
        for (mesh, settings) in &meshes.0 {
            let key = mesh.key(&study);
            let is_wanted = match &study.meshes {
                None => mesh.variant.is_none(),
                Some(names) => names.contains(&key.mesh_name()),
            };
            if !is_wanted {
                continue;
            }
            let mut settings = settings.clone();
            settings.extend(&table);
            let mut tables = vec![(key, settings)];
            for (axis, points) in &axes {
                let mut product = Vec::new();
                for (key, table) in &tables {
                    for (name, point) in points {
                        let (mut key, mut table) = (key.clone(), table.clone());
                        key.settings.insert(axis.clone(), name.clone());
                        table.extend(point);
                        product.push((key, table));
                    }
                }
                tables = product;
            }
            for (key, table) in tables {
                let is_first = self.jobs.len() == before;
                let table = table.named(key.to_string());
                self.add_job(path, key, table, workload, study.heat, is_first)?;
            }
        }
        Ok(())
    }

    fn add_job(
        &mut self,
        path: &Path,
        key: MeshRunKey,
        mut table: SuiteTable<'_>,
        workload: Workload,
        heat: bool,
        is_first: bool,
    ) -> Result<()> {
        let is_plain = |c: char| c.is_alphanumeric() || " -_.+,()".contains(c);
        let name = key.to_string();
        if key.mesh.is_empty() || key.study.is_empty() || !name.chars().all(is_plain) {
            let expected = "names of letters, digits, spaces and -_.+,()";
            let is_empty = key.mesh.is_empty() || key.study.is_empty();
            let found = if is_empty { "an empty name" } else { "other characters" };
            return Err(Error::malformed(path, name, expected, found));
        }
        if !table.has("mesh") {
            let expected = "a mesh file, or the name of a procedural mesh";
            return Err(Error::malformed(path, format!("{name}, mesh"), expected, table.keys()));
        }
        let MeshPath { mesh } = table.take()?;
        let settings = match workload {
            Workload::Deferred => {
                let mut settings: DeferredRunSettings = self.read(path, &name, &mesh, table)?;
                let motion = settings.frames.mesh.motion.iter_mut();
                motion.for_each(|motion| self.resolve_file(motion));
                RunSettings::Deferred(Box::new(settings))
            }
            Workload::Merging => {
                RunSettings::Merging(Box::new(self.read(path, &name, &mesh, table)?))
            }
        };
        self.jobs.push(MeshJob { key, settings, mesh, heat, is_first });
        Ok(())
    }

    /// Reads and checks the settings of a job, refuses unknown keys, and resolves the paths of the mesh and its views.
    fn read<F: Frames + TableParts>(
        &mut self,
        path: &Path,
        name: &str,
        mesh: &str,
        mut table: SuiteTable<'_>,
    ) -> Result<MeshRunSettings<F>> {
        let mut settings = MeshRunSettings::<F> {
            mesh: mesh.into(),
            input: table.take()?,
            look: table.take()?,
            frames: F::take_from(&mut table)?,
            views: table.take()?,
        };
        table.finish()?;
        let in_suite = |error: Error| error.in_file(path, |what| format!("{name}, {what}"));
        settings.check().map_err(in_suite)?;
        if ProceduralScene::from_name(mesh).is_err() {
            self.resolve_file(&mut settings.mesh);
        }
        let files = settings.input.files_mut().chain(settings.views.files_mut());
        files.for_each(|file| self.resolve_file(file));
        Ok(settings)
    }

    fn resolve_file(&mut self, file: &mut PathBuf) {
        self.paths.learn(file);
        *file = self.paths.resolved(file);
    }
}

impl RunSettings {
    fn workload(&self) -> Workload {
        match self {
            Self::Deferred(_) => Workload::Deferred,
            Self::Merging(_) => Workload::Merging,
        }
    }
}

impl MeshName {
    /// Returns the key of the mesh in a study, before any axis adds its point.
    fn key(&self, study: &RawStudy) -> MeshRunKey {
        MeshRunKey {
            study: study.name.clone(),
            mesh: self.name.clone(),
            variant: self.variant.clone(),
            settings: BTreeMap::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Suite;
    use quadrille_base::bytes::Bytes;

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
        method = ['none', 'qfm']
        buffer = [4, 'unbounded']
        memory = '2G'
        [[study.axis]]
        name = 'culling'
        points = [{ name = 'quads' }, { name = 'grids', cull = 'grids', width = 32 }]
        [[study]]
        name = 'seeds'
        meshes = ['plane (seed 2)']";

    fn parse(text: &str) -> Result<MeshSuite> {
        Ok(Suite::parse(text, Path::new("folder/suite.toml"))?.meshes().clone())
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
    fn old_keys_are_read_with_a_remark() {
        let old = SUITE
            .replace("method = [", "unit = [")
            .replace("'plane'\n        width", "'plane'\n        views = '0'\n        width");
        let suite = Suite::parse(&old, Path::new("suite.toml")).unwrap();
        let [view, method] = suite.remarks() else {
            panic!("{:?}", suite.remarks());
        };
        assert!(view.contains("line 5: `views` is now `view`"), "{view}");
        assert!(method.contains("`unit` is now `method`"), "{method}");
        assert_eq!(suite.meshes().jobs[0].key, parse(SUITE).unwrap().jobs[0].key);
        let error = parse(&old.replace("width = 48", "view = '1'")).unwrap_err().to_string();
        assert!(error.contains("expected the key view once"), "{error}");
    }

    #[test]
    fn wrong_suites_name_the_job_and_the_key() {
        for (before, after, words) in [
            ("'merging'", "'meshes'", ["line 1", "merging"]),
            ("width = 48", "widht = 48", ["units plane, quads, line 5", "did you mean width"]),
            ("width = 48", "width = 'x'", ["units plane, quads, line 5", "x"]),
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
