//! Pairs of pictures to compare.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use quadrille_base::error::{Error, Result};
use quadrille_base::image::Frame;
use quadrille_base::image::files;

/// Path of standard input.
const STDIN: &str = "-";

/// Two pictures to compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PicturePair {
    /// Name of the first file without its extension, or with it if two pairs would share the name.
    pub(super) name: String,
    pub(super) a: PathBuf,
    pub(super) b: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pairs {
    /// At least one pair, in the order of the names.
    pub(super) pairs: Vec<PicturePair>,
    /// Pictures in one folder without a partner in the other.
    pub(super) unmatched: Vec<PathBuf>,
    /// Whether the pairs are from two folders.
    pub(super) are_folders: bool,
}

/// Finds the pair of `a` and `b`, or the pairs in the folders `a` and `b`.
pub(super) fn find(a: &Path, b: &Path) -> Result<Pairs> {
    match (is_folder(a)?, is_folder(b)?) {
        (true, true) => in_folders(a, b),
        (false, false) if a == Path::new(STDIN) && b == Path::new(STDIN) => {
            Err(Error::argument("pictures", "stdin at most once", "- and -"))
        }
        (false, false) => Ok(Pairs {
            pairs: vec![PicturePair {
                name: stem(a),
                a: a.to_path_buf(),
                b: b.to_path_buf(),
            }],
            unmatched: Vec::new(),
            are_folders: false,
        }),
        (first_is_folder, _) => {
            let kind = |folder: bool| if folder { "a folder" } else { "a picture" };
            let expected = format!("{} like the first", kind(first_is_folder));
            let found = format!("{}, {}", b.display(), kind(!first_is_folder));
            Err(Error::argument("second path", expected, found))
        }
    }
}

/// Reads the picture `path` or standard input.
pub(super) fn read(path: &Path) -> Result<Frame> {
    if path == Path::new(STDIN) {
        files::read_from(io::stdin().lock(), Path::new("<stdin>"))
    } else {
        files::read(path)
    }
}

fn is_folder(path: &Path) -> Result<bool> {
    if path == Path::new(STDIN) {
        return Ok(false);
    }
    let there = fs::metadata(path).map_err(|e| Error::read(path, e))?;
    Ok(there.is_dir())
}

fn in_folders(a: &Path, b: &Path) -> Result<Pairs> {
    let (in_a, in_b) = (pictures(a)?, pictures(b)?);
    let mut matched: Vec<(String, String)> = in_a
        .intersection(&in_b)
        .map(|name| (name.clone(), name.clone()))
        .collect();
    // Files without a namesake are matched by the name without its extension, if that is unique.
    let rest_a = by_stem(in_a.difference(&in_b));
    let rest_b = by_stem(in_b.difference(&in_a));
    let is_unique =
        |stem| [&rest_a, &rest_b].map(|rest| rest.get(stem).map(Vec::len)) == [Some(1); 2];
    for (stem, names) in rest_a.iter().filter(|(stem, _)| is_unique(*stem)) {
        matched.push((names[0].clone(), rest_b[stem][0].clone()));
    }
    let mut unmatched = Vec::new();
    for (folder, rest) in [(a, &rest_a), (b, &rest_b)] {
        let others = rest.iter().filter(|(stem, _)| !is_unique(*stem));
        unmatched.extend(
            others
                .flat_map(|(_, names)| names)
                .map(|name| folder.join(name)),
        );
    }
    if matched.is_empty() {
        let expected = format!("pictures with the names of those in {}", b.display());
        let found = format!(
            "none: {} pictures here, {} there (.png, .jpg, .exr and .npy files are compared)",
            in_a.len(),
            in_b.len()
        );
        return Err(Error::malformed(a, "folder", expected, found));
    }
    matched.sort();
    Ok(Pairs {
        pairs: named(a, b, &matched),
        unmatched,
        are_folders: true,
    })
}

fn named(a: &Path, b: &Path, matched: &[(String, String)]) -> Vec<PicturePair> {
    let mut uses: BTreeMap<String, usize> = BTreeMap::new();
    for (name, _) in matched {
        *uses.entry(stem(Path::new(name))).or_default() += 1;
    }
    let pairs = matched.iter().map(|(name_a, name_b)| {
        let stem = stem(Path::new(name_a));
        let shared = uses.get(&stem).is_some_and(|&uses| uses > 1);
        PicturePair {
            name: if shared { name_a.clone() } else { stem },
            a: a.join(name_a),
            b: b.join(name_b),
        }
    });
    pairs.collect()
}

/// Names of the pictures in a folder, recognised by their extension.
fn pictures(folder: &Path) -> Result<BTreeSet<String>> {
    let failed = |e| Error::read(folder, e);
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let is_picture = files::is_readable_name(&entry.path()) && !entry.path().is_dir();
        if let (true, Ok(name)) = (is_picture, entry.file_name().into_string()) {
            names.insert(name);
        }
    }
    Ok(names)
}

fn by_stem<'a>(names: impl Iterator<Item = &'a String>) -> BTreeMap<String, Vec<String>> {
    let mut stems: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in names {
        stems
            .entry(stem(Path::new(name)))
            .or_default()
            .push(name.clone());
    }
    stems
}

fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or(path.as_os_str());
    stem.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            fs::write(folder.path().join(name), b"").unwrap();
        }
        folder
    }

    #[test]
    fn same_name_before_same_stem() {
        let a = folder(&["0.png", "1.png", "1.npy", "2.npy", "3.exr", "notes.txt"]);
        let b = folder(&["0.npy", "1.png", "1.npy", "2.png", "2.exr", "4.png"]);
        let found = find(a.path(), b.path()).unwrap();
        let pairs: Vec<_> = found
            .pairs
            .iter()
            .map(|pair| (pair.name.as_str(), pair.b.strip_prefix(b.path()).unwrap()))
            .collect();
        let expected = [("0", "0.npy"), ("1.npy", "1.npy"), ("1.png", "1.png")];
        assert_eq!(pairs, expected.map(|(name, b)| (name, Path::new(b))));
        let unmatched: Vec<_> = found
            .unmatched
            .iter()
            .map(|path| path.file_name().unwrap().to_str().unwrap())
            .collect();
        assert_eq!(unmatched, ["2.npy", "3.exr", "2.exr", "2.png", "4.png"]);
    }

    #[test]
    fn stdin_only_once() {
        let stdin = Path::new(STDIN);
        assert!(find(stdin, stdin).is_err());
    }
}
