//! Reading of the files that a mesh names, confined to the folder of the mesh.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use super::build::Warnings;
use quadrille_base::error::{Error, Result};
use quadrille_scene::formats::gltf::percent_decoded;

pub(crate) type ReadFirst<'a> = dyn FnMut(&[&str]) -> Result<Vec<u8>> + 'a;

/// Limit on the total bytes of the files that a mesh names.
const LIMIT_BYTES: u64 = 4 << 30;
/// Entries above which a folder is not searched for names in other spellings.
const MAX_ENTRIES: usize = 1 << 16;

const MAX_PARTS: usize = 16;

pub(crate) struct Folder {
    mesh: PathBuf,
    /// Real path of the folder, resolved on first use.
    root: Option<PathBuf>,
    left_bytes: u64,
    /// Requested files without repetitions, including files that cannot be read.
    files: Vec<PathBuf>,
    /// Entries of the searched folders, by real path: names by their lower case.
    entries: HashMap<PathBuf, BTreeMap<String, Vec<String>>>,
    warnings: Warnings,
}

impl Folder {
    pub(super) fn of(path: &Path) -> Self {
        Self {
            mesh: path.to_path_buf(),
            root: None,
            left_bytes: LIMIT_BYTES,
            files: Vec::new(),
            entries: HashMap::new(),
            warnings: Warnings::default(),
        }
    }

    /// Requested files, relative to the working directory if the mesh's path is, and warnings about replacements.
    pub(super) fn into_files(self) -> (Vec<PathBuf>, Vec<String>) {
        (self.files, self.warnings.into_texts())
    }

    /// Reads the first existing file of `names`, relative to the folder. If there is none, reads the file that
    /// [`Self::meant`] finds for a name, with a warning.
    pub(super) fn read(&mut self, names: &[&str]) -> Result<Vec<u8>> {
        let mut first_error = None;
        for name in names {
            match self.confined(name) {
                Ok(path) => return self.content(&path),
                Err(error) => {
                    first_error.get_or_insert(error);
                }
            }
        }
        let meant = names.iter().find_map(|name| {
            let meant = self.meant(name)?;
            let path = self.confined(&meant).ok()?;
            Some((name, meant, path))
        });
        match (meant, first_error) {
            (Some((name, meant, path)), _) => {
                let warning = format!("{name:?} does not exist: {meant:?} is read instead");
                self.warnings.push(warning);
                self.content(&path)
            }
            (None, Some(error)) => Err(error),
            (None, None) => Err(self.refused("", "an empty name")),
        }
    }

    fn content(&mut self, path: &Path) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(|e| Error::read(path, e))?;
        file.take(self.left_bytes + 1).read_to_end(&mut bytes).map_err(|e| Error::read(path, e))?;
        let found = bytes.len() as u64;
        self.left_bytes = self.left_bytes.checked_sub(found).ok_or(Error::Limit {
            what: format!("bytes of files that {} names", self.mesh.display()),
            limit: LIMIT_BYTES,
            found: LIMIT_BYTES - self.left_bytes + found,
        })?;
        Ok(bytes)
    }

    fn refused(&self, name: &str, found: &str) -> Error {
        let place = format!("file name {name:?}");
        Error::malformed(&self.mesh, place, "a file inside the mesh's folder", found)
    }

    /// Real path of `name`, which must be a plain file in the folder.
    fn confined(&mut self, name: &str) -> Result<PathBuf> {
        let named = self.mesh.with_file_name(name);
        if !self.files.contains(&named) {
            self.files.push(named);
        }
        let relative = Path::new(name);
        let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if name.is_empty() || name.contains('\0') || !relative.components().all(plain) {
            return Err(self.refused(name, "a path that may leave the folder"));
        }
        if name.contains("://") {
            return Err(self.refused(name, "a URI with a scheme"));
        }
        let root = self.root()?;
        let joined = root.join(relative);
        let path = joined.canonicalize().map_err(|e| Error::read(&joined, e))?;
        if !path.starts_with(&root) {
            return Err(self.refused(name, "a link that leaves the folder"));
        }
        // A pipe or a device could supply bytes without end.
        if !path.is_file() {
            return Err(self.refused(name, "a folder or a special file"));
        }
        Ok(path)
    }

    fn root(&mut self) -> Result<PathBuf> {
        if let Some(root) = &self.root {
            return Ok(root.clone());
        }
        let parent = self.mesh.parent().filter(|p| !p.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        Ok(self.root.insert(parent.canonicalize().map_err(|e| Error::read(parent, e))?).clone())
    }

    /// Finds the entry of the folder that a name without a file probably means. Backslashes count as slashes, percent
    /// codes are decoded, a query is cut off, and letter case is ignored. Tried are the ends of the name, longest first, since it may come
    /// from another folder; its last part in the folders that it begins with; and its last part alone.
    fn meant(&mut self, name: &str) -> Option<String> {
        let slashed = name.replace('\\', "/");
        let decoded = percent_decoded(&slashed).ok();
        // A URI may have a query behind the path.
        let bare = |name: &String| name.split_once('?').map(|(path, _)| path.to_owned());
        let bare = decoded.as_ref().or(Some(&slashed)).and_then(bare);
        for whole in [Some(slashed), decoded, bare].into_iter().flatten() {
            let parts: Vec<&str> = whole.split('/').collect();
            let parts = &parts[parts.len().saturating_sub(MAX_PARTS)..];
            let (last, folders) = parts.split_last()?;
            let ends = (0..folders.len()).map(|first| parts[first..].join("/"));
            let begins = (1..folders.len()).rev();
            let begins = begins.map(|count| format!("{}/{last}", folders[..count].join("/")));
            let mut paths = ends.chain(begins).chain([(*last).to_owned()]);
            if let Some(entry) = paths.find_map(|path| self.entry(&path)) {
                return Some(entry);
            }
        }
        None
    }

    /// Finds an entry by a relative path, ignoring case.
    fn entry(&mut self, path: &str) -> Option<String> {
        let root = self.root().ok()?;
        let mut found: Vec<String> = Vec::new();
        for part in path.split('/') {
            match part {
                "" => return None,
                "." => {}
                ".." => drop(found.pop()?),
                part => {
                    let folder = root.join(found.join("/")).canonicalize().ok()?;
                    if !folder.starts_with(&root) {
                        return None;
                    }
                    let entries = self.entries.entry(folder).or_insert_with_key(|f| entries(f));
                    let names = entries.get(&part.to_lowercase())?;
                    found.push(names.iter().find(|name| *name == part).or(names.first())?.clone());
                }
            }
        }
        Some(found.join("/"))
    }
}

/// Sorted names of a folder's entries by their lower case; none if the folder is too large.
fn entries(folder: &Path) -> BTreeMap<String, Vec<String>> {
    let listed = folder.read_dir().into_iter().flatten().flatten().take(MAX_ENTRIES + 1);
    let mut names: Vec<_> = listed.map(|entry| entry.file_name()).collect();
    if names.len() > MAX_ENTRIES {
        return BTreeMap::new();
    }
    names.sort_unstable();
    let mut entries = BTreeMap::<_, Vec<_>>::new();
    for name in names.iter().filter_map(|name| name.to_str()) {
        entries.entry(name.to_lowercase()).or_default().push(name.to_owned());
    }
    entries
}
