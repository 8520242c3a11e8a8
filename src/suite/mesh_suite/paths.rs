//! Paths in suites and results, which are valid on any machine.

use std::env;
use std::path::{Component, Path, PathBuf};

/// Paths relative to the folder of a suite, or to an environment variable at the start, as in `$MESHES/spot.obj`.
#[derive(Debug, Clone, Default)]
pub(crate) struct SuitePaths {
    folder: PathBuf,
    variables: Vec<(PathBuf, PathBuf)>,
}

impl SuitePaths {
    pub(crate) fn new(suite: &Path) -> Self {
        Self { folder: suite.parent().unwrap_or(Path::new("")).to_owned(), variables: Vec::new() }
    }

    pub(crate) fn learn(&mut self, path: &Path) {
        let Some(Component::Normal(first)) = path.components().next() else { return };
        let value = first.to_str().and_then(|first| first.strip_prefix('$')).and_then(env::var_os);
        self.variables.extend(value.map(|value| (first.into(), value.into())));
    }

    /// Path from the working directory. Paths of a variable without a value stay unchanged.
    pub(crate) fn resolved(&self, path: &Path) -> PathBuf {
        for (name, value) in &self.variables {
            if let Ok(rest) = path.strip_prefix(name) {
                return value.join(rest);
            }
        }
        match path.starts_with("$") || path.to_string_lossy().starts_with('$') {
            true => path.to_owned(),
            false => self.folder.join(path),
        }
    }

    /// Inverse of [`Self::resolved`].
    pub(crate) fn portable(&self, path: &Path) -> PathBuf {
        for (name, value) in &self.variables {
            if let Ok(rest) = path.strip_prefix(value) {
                return name.join(rest);
            }
        }
        path.strip_prefix(&self.folder).unwrap_or(path).to_owned()
    }
}
