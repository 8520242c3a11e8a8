//! Runs of meshes: jobs whose rows are kept in a results file with a fingerprint of everything they follow from.
//!
//! The files that a run reads are known only once its mesh is loaded, since a mesh names materials, textures and
//! buffers. A row therefore lists them, and is used again only while all of them have the same content. A file that
//! is not listed cannot matter: to be read, it must be named by a file that is listed, which then has changed.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::key::Fnv1a;
use super::program::Program;
use super::results_file::{LineContent, Lines, ResultsFile};
use quadrille_base::error::Result;

/// Identification of a run in its suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeshRunKey {
    /// Kind of the run, which is its list in the suite.
    pub kind: String,
    /// Name of the run, unique in its kind.
    pub name: String,
    /// Arguments of `deferred`, without outputs.
    pub arguments: Vec<String>,
}

/// Result of a run that is not kept yet.
#[derive(Debug, Default)]
pub struct MeshRunOutcome {
    /// Rows of the document of `deferred --json`.
    pub rows: Vec<Value>,
    /// Files that were read.
    pub files: Vec<PathBuf>,
    /// Names of the files that were written into the folder of the results.
    pub outputs: Vec<String>,
}

/// A line of a results file: a run with its rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeshRunRow {
    /// Identification of the run.
    #[serde(flatten)]
    pub key: MeshRunKey,
    /// Commit of the program.
    pub commit: String,
    /// Hash of everything that the rows follow from, and of the outputs.
    pub fingerprint: String,
    /// Files that were read, also those that were looked for in vain.
    pub files: Vec<PathBuf>,
    /// Names of the files that were written into the folder of the results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<String>,
    /// Rows of the document of `deferred --json`.
    pub rows: Vec<Value>,
}

/// The rows of all results files in a folder, as seen by one build of the program.
pub struct MeshRuns {
    program: Program,
    folder: PathBuf,
    rows: Vec<MeshRunRow>,
    /// Hashes of input files, each of which is read once.
    hashes: HashMap<PathBuf, Option<u64>>,
    /// The results file that rows are kept in, from the first of them on.
    file: Option<ResultsFile>,
}

impl MeshRuns {
    /// Reads the rows in `files`, which lie in `folder`. Incomplete lines and lines of other commands are left out.
    ///
    /// # Errors
    /// Errors of reading the files, and [`Error::Malformed`](quadrille_base::error::Error::Malformed) for lines that
    /// are no JSON objects.
    pub fn read(program: Program, folder: &Path, files: &[PathBuf]) -> Result<Self> {
        let mut runs = Self {
            program,
            folder: folder.to_owned(),
            rows: Vec::new(),
            hashes: HashMap::new(),
            file: None,
        };
        for file in files {
            for line in Lines::of_file(file)?.lines {
                if let LineContent::Other(value) = line.content {
                    runs.rows
                        .extend(serde_json::from_value::<MeshRunRow>(value));
                }
            }
        }
        Ok(runs)
    }

    /// Returns the row of a run if this build would compute it again from files with the same content. `cameras`
    /// returns all numbers of the camera file.
    pub fn current(
        &mut self,
        key: &MeshRunKey,
        cameras: &dyn Fn() -> Result<String>,
    ) -> Option<MeshRunRow> {
        let own: Vec<_> = self.rows.iter().filter(|row| row.key == *key).collect();
        let own: Vec<MeshRunRow> = own.into_iter().rev().cloned().collect();
        if own.is_empty() {
            return None;
        }
        // A camera file that cannot be read is an error of the run that follows.
        let cameras = cameras().ok()?;
        own.into_iter()
            .find(|row| row.fingerprint == self.fingerprint(key, &cameras, row))
    }

    /// Keeps the result of a run in the results file at `path`, which is the same for all of them.
    ///
    /// # Errors
    /// Errors of `cameras`, and of writing the file, also when another process is writing it.
    pub fn keep(
        &mut self,
        path: &Path,
        key: &MeshRunKey,
        cameras: &dyn Fn() -> Result<String>,
        outcome: MeshRunOutcome,
    ) -> Result<()> {
        let mut row = MeshRunRow {
            key: key.clone(),
            commit: self.program.commit.to_owned(),
            fingerprint: String::new(),
            files: Vec::new(),
            outputs: outcome.outputs,
            rows: outcome.rows,
        };
        for file in outcome.files {
            if !row.files.contains(&file) {
                row.files.push(file);
            }
        }
        row.fingerprint = self.fingerprint(key, &cameras()?, &row);
        let file = match self.file.take() {
            Some(file) => file,
            None => ResultsFile::open(path)?,
        };
        self.file.insert(file).append(&row)?;
        self.rows.push(row);
        Ok(())
    }

    fn fingerprint(&mut self, key: &MeshRunKey, cameras: &str, row: &MeshRunRow) -> String {
        let mut hash = Fnv1a::default();
        let sources = self.program.sources;
        // Writing to a hash cannot fail.
        let _ = write!(hash, "{sources}\n{key:?}\n{cameras}\n");
        for file in &row.files {
            let content = self
                .hashes
                .entry(file.clone())
                .or_insert_with(|| content_hash(file));
            let _ = writeln!(hash, "{} {content:x?}", file.display());
        }
        for output in &row.outputs {
            let content = content_hash(&self.folder.join(output));
            let _ = writeln!(hash, "{output} {content:x?}");
        }
        format!("{:016x}", hash.0)
    }
}

/// Hash of the content of a file; `None` if it cannot be read.
fn content_hash(path: &Path) -> Option<u64> {
    let mut hash = Fnv1a::default();
    hash.add_file(path).ok()?;
    Some(hash.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: Program = Program {
        version: "1.0",
        commit: "unknown",
        sources: "1",
    };

    #[test]
    fn rows_are_current_until_program_cameras_or_files_change() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("mesh.obj"), "v 0 0 0").unwrap();
        let key = MeshRunKey {
            kind: "scene".to_owned(),
            name: "a".to_owned(),
            arguments: vec!["mesh.obj".to_owned()],
        };
        let results = path("results.jsonl");
        let read = |program| {
            let files = [results.clone()];
            MeshRuns::read(program, folder.path(), &files).unwrap()
        };
        let cameras = |text: &'static str| move || Ok(text.to_owned());
        std::fs::write(&results, "").unwrap();
        let outcome = MeshRunOutcome {
            rows: vec![serde_json::json!({"quads": 3})],
            files: vec![path("mesh.obj"), path("absent.mtl")],
            outputs: Vec::new(),
        };
        let mut runs = read(PROGRAM);
        assert_eq!(runs.current(&key, &cameras("c")), None);
        runs.keep(&results, &key, &cameras("c"), outcome).unwrap();
        let is_current = |program, text| read(program).current(&key, &cameras(text)).is_some();
        assert!(is_current(PROGRAM, "c"));
        assert!(!is_current(PROGRAM, "other"), "cameras");
        let other = Program {
            sources: "2",
            ..PROGRAM
        };
        assert!(!is_current(other, "c"), "program");
        std::fs::write(path("absent.mtl"), "newmtl a").unwrap();
        assert!(!is_current(PROGRAM, "c"), "a file that was absent");
        std::fs::remove_file(path("absent.mtl")).unwrap();
        assert!(is_current(PROGRAM, "c"));
        std::fs::write(path("mesh.obj"), "v 0 0 1").unwrap();
        assert!(!is_current(PROGRAM, "c"), "mesh");
    }
}
