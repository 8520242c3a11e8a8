//! Rows of runs of any workload, as results files hold them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::key::{MeshRunKey, RunKey};
use super::row::Row;
use crate::rows::{DeferredRow, MeshRow, MethodRow};
use quadrille_base::choice;
use quadrille_base::error::{Error, Result};

choice! {
    /// Pipelines that a suite of meshes runs.
    pub enum Workload {
        /// Frames with motion and defocus blur, as in `quadrille deferred`
        Deferred = "deferred",
        /// Frames through merging units, as in `quadrille mesh`
        Merging = "merging",
    }
}

/// Results of a run of a mesh.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "workload", content = "rows", rename_all = "lowercase")]
pub enum MeshRows {
    /// Rows of `deferred`.
    Deferred(Vec<DeferredRow>),
    /// Rows of `mesh`.
    Merging(Vec<MeshRow>),
}

/// A run of a mesh.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeshRunRow {
    /// Identification of the run.
    #[serde(flatten)]
    pub key: MeshRunKey,
    /// Commit of the program.
    pub commit: String,
    /// Hash of everything that the rows follow from, and of the outputs.
    pub fingerprint: String,
    /// Time on the host in seconds.
    #[serde(default)]
    pub host_s: f64,
    /// Files that were read, also those that were looked for in vain: relative to the folder of the suite.
    pub files: Vec<PathBuf>,
    /// Hashes of these files by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, String>,
    /// Names of the files that were written into the folder of the results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<String>,
    /// Rows of all views and combinations of settings.
    #[serde(flatten)]
    pub rows: MeshRows,
}

/// A line of a results file: a run of any workload.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum RunRow {
    /// A view of a scene of splats.
    View(Row),
    /// A mesh.
    Mesh(MeshRunRow),
}

impl RunRow {
    /// Identification of the run.
    pub fn key(&self) -> RunKey {
        match self {
            Self::View(row) => RunKey::View(row.key.clone()),
            Self::Mesh(row) => RunKey::Mesh(row.key.clone()),
        }
    }

    /// Hash of everything that the results depend on.
    pub fn fingerprint(&self) -> &str {
        match self {
            Self::View(row) => &row.fingerprint,
            Self::Mesh(row) => &row.fingerprint,
        }
    }

    /// Hashes of the scene and the view, or of the files of the mesh, by their names.
    pub(super) fn inputs(&self) -> &BTreeMap<String, String> {
        match self {
            Self::View(row) => &row.inputs,
            Self::Mesh(row) => &row.inputs,
        }
    }

    /// Whether another row of the same run has other numbers.
    pub(super) fn contradicts(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::View(a), Self::View(b)) => a.methods.iter().any(|method| {
                let same = |other: &&MethodRow| other.name == method.name;
                b.methods.iter().find(same).is_some_and(|other| other.cycles != method.cycles)
            }),
            _ => self.fingerprint() != other.fingerprint(),
        }
    }

    /// Rows of splats, and rows of meshes.
    pub fn split(rows: impl IntoIterator<Item = Self>) -> (Vec<Row>, Vec<MeshRunRow>) {
        let (mut views, mut meshes) = (Vec::new(), Vec::new());
        for row in rows {
            match row {
                Self::View(row) => views.push(row),
                Self::Mesh(row) => meshes.push(row),
            }
        }
        (views, meshes)
    }
}

impl MeshRunRow {
    /// The heat maps as PNG files from the folder of the results, with the names of their pipelines.
    pub fn pictures(&self, folder: &Path) -> Result<Vec<(String, Vec<u8>)>> {
        let start = format!("{}.", self.key);
        let pictures = self.outputs.iter().map(|name| {
            let path = folder.join(name);
            let png = std::fs::read(&path).map_err(|e| Error::read(&path, e))?;
            let pipeline = name.strip_prefix(&start).and_then(|rest| rest.strip_suffix(".png"));
            Ok((pipeline.unwrap_or(name).to_owned(), png))
        });
        pictures.collect()
    }
}
