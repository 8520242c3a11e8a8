//! Rows of suites of meshes: one per job.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::rows::{DeferredRow, MeshRow};
use quadrille_base::choice;

choice! {
    /// The pipelines that a suite of meshes runs.
    pub enum Workload {
        /// Frames with motion and defocus blur, as of `quadrille deferred`
        Deferred = "deferred",
        /// Frames through merging units, as of `quadrille mesh`
        Merging = "merging",
    }
}

/// Identification of a job in its suite.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MeshRunKey {
    /// Name of the study.
    pub study: String,
    /// Name of the mesh.
    pub mesh: String,
    /// Name of the version of the mesh, if it is not the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Name of the point on each axis of the study.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
}

impl MeshRunKey {
    /// Name of the mesh, with its version.
    pub fn mesh_name(&self) -> String {
        match &self.variant {
            None => self.mesh.clone(),
            Some(variant) => format!("{} ({variant})", self.mesh),
        }
    }
}

impl fmt::Display for MeshRunKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.study, self.mesh_name())?;
        let mut points = self.settings.values();
        points.try_for_each(|point| write!(f, ", {point}"))
    }
}

/// The rows of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "workload", content = "rows", rename_all = "lowercase")]
pub enum MeshRows {
    /// Rows of `deferred`.
    Deferred(Vec<DeferredRow>),
    /// Rows of `mesh`.
    Merging(Vec<MeshRow>),
}

/// A line of a results file: a job with its rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeshRunRow {
    /// Identification of the job.
    #[serde(flatten)]
    pub key: MeshRunKey,
    /// Commit of the program.
    pub commit: String,
    /// Hash of everything that the rows follow from, and of the outputs.
    pub fingerprint: String,
    /// Files that were read, also those that were looked for in vain: relative to the folder of the suite.
    pub files: Vec<PathBuf>,
    /// Names of the files that were written into the folder of the results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<String>,
    /// The rows.
    #[serde(flatten)]
    pub rows: MeshRows,
}
