//! Runs of studies of meshes, with the rows from which figures are drawn.

use serde::{Deserialize, Serialize};

use quadrille_suite::{MeshRunKey, unique};

/// A run of a study with its rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyRun<R> {
    #[serde(flatten)]
    pub(crate) key: MeshRunKey,
    pub(crate) rows: Vec<R>,
    /// Heat maps as PNG files, with their captions.
    #[serde(skip)]
    pub(crate) heat: Vec<(String, Vec<u8>)>,
}

/// Runs with rows of one workload, in the order of the suite.
#[derive(Debug)]
pub struct Studies<R>(pub(crate) Vec<StudyRun<R>>);

impl<R> StudyRun<R> {
    pub(crate) fn setting(&self, axis: &str) -> Option<&str> {
        self.key.settings.get(axis).map(String::as_str)
    }

    /// Name of the mesh, with its version.
    pub(crate) fn name(&self) -> String {
        self.key.mesh_name()
    }
}

impl<R> Studies<R> {
    pub(crate) fn of(&self, study: &str) -> impl Iterator<Item = &StudyRun<R>> {
        self.0.iter().filter(move |run| run.key.study == study)
    }

    /// Names of the meshes of a study, without their versions.
    pub(crate) fn meshes(&self, study: &str) -> Vec<&str> {
        unique(self.of(study).map(|run| &*run.key.mesh))
    }
}
