//! Reading of the files that a mesh names, confined to the mesh's folder.

use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use quadrille_base::error::{Error, Result};

/// Limit on the sum of all files that a mesh names, in bytes.
const LIMIT_BYTES: u64 = 4 << 30;

pub(crate) struct Folder {
    /// The mesh's own file.
    mesh: PathBuf,
    /// Real path of the folder, resolved on first use.
    root: Option<PathBuf>,
    left_bytes: u64,
    /// Paths of all files that were asked for, each once, also of those that could not be read.
    files: Vec<PathBuf>,
}

impl Folder {
    pub(super) fn of(path: &Path) -> Self {
        Self {
            mesh: path.to_path_buf(),
            root: None,
            left_bytes: LIMIT_BYTES,
            files: Vec::new(),
        }
    }

    /// Paths of the files that were asked for, relative to the working directory if the mesh's path is.
    pub(super) fn into_files(self) -> Vec<PathBuf> {
        self.files
    }

    /// Reads the file `name`, a path relative to the folder.
    pub(super) fn read(&mut self, name: &str) -> Result<Vec<u8>> {
        let named = self.mesh.with_file_name(name);
        if !self.files.contains(&named) {
            self.files.push(named);
        }
        let path = self.confined(name)?;
        let mut bytes = Vec::new();
        let file = File::open(&path).map_err(|e| Error::read(&path, e))?;
        file.take(self.left_bytes + 1)
            .read_to_end(&mut bytes)
            .map_err(|e| Error::read(&path, e))?;
        let found = bytes.len() as u64;
        self.left_bytes = self.left_bytes.checked_sub(found).ok_or(Error::Limit {
            what: format!("bytes of files that {} names", self.mesh.display()),
            limit: LIMIT_BYTES,
            found: LIMIT_BYTES - self.left_bytes + found,
        })?;
        Ok(bytes)
    }

    /// Returns the real path of `name`, which must be a plain file in the folder.
    fn confined(&mut self, name: &str) -> Result<PathBuf> {
        let mesh = self.mesh.clone();
        let refuse = |found: &str| {
            let place = format!("file name {name:?}");
            let expected = "a file inside the mesh's folder";
            Err(Error::malformed(&mesh, place, expected, found))
        };
        let relative = Path::new(name);
        let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if name.is_empty() || name.contains('\0') || !relative.components().all(plain) {
            return refuse("a path that may leave it");
        }
        let root = match &self.root {
            Some(root) => root,
            None => self.root.insert(self.resolve_root()?),
        };
        let joined = root.join(relative);
        let path = joined.canonicalize().map_err(|e| Error::read(&joined, e))?;
        if !path.starts_with(root) {
            return refuse("a link that leaves it");
        }
        // A pipe or a device could supply bytes without end.
        if !path.is_file() {
            return refuse("no plain file");
        }
        Ok(path)
    }

    fn resolve_root(&self) -> Result<PathBuf> {
        let parent = self.mesh.parent().filter(|p| !p.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        parent.canonicalize().map_err(|e| Error::read(parent, e))
    }
}
