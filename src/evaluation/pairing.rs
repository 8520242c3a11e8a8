//! Pairs of picture files in two folders.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use quadrille_base::error::{Error, Result};
use quadrille_base::image::files;
use quadrille_base::image::film::is_film_name;
use quadrille_scene::cameras::{is_picture_name, view_of_picture};

/// Path of standard input.
pub const STDIN: &str = "-";

/// Name of a pair, and the sources of its pictures.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairName {
    /// Name of the view, or of the first file if two pairs would share the name.
    pub name: String,
    /// File of the first picture, or scene that is drawn.
    pub a: String,
    /// File of the second picture, or scene that is drawn.
    pub b: String,
}

/// Two picture files to compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PicturePair {
    /// Name of the first file's view, or of the file if two pairs would share the name.
    pub name: String,
    /// Path of the first file; `-` is standard input.
    pub a: PathBuf,
    /// Path of the second file; `-` is standard input.
    pub b: PathBuf,
}

impl PicturePair {
    /// Names of the pair and of its files, as text.
    pub fn names(&self) -> PairName {
        PairName {
            name: self.name.clone(),
            a: self.a.display().to_string(),
            b: self.b.display().to_string(),
        }
    }
}

/// Pairs of picture files, and pictures without a partner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairs {
    /// At least one pair, in the order of the names.
    pub pairs: Vec<PicturePair>,
    /// Pictures in one folder without a partner in the other, beside pictures that have one.
    pub unmatched: Vec<PathBuf>,
    /// Pictures in folders without any picture that has a partner, such as thumbnails, or a lost part of a data set.
    pub elsewhere: Vec<PathBuf>,
    /// Films in the folders, which are not compared there.
    pub films: Vec<PathBuf>,
    /// Whether the pairs are from two folders.
    pub are_folders: bool,
}

/// Finds the pair of `a` and `b`, or the pairs in the folders `a` and `b`: files with the same name and, of the rest, files
/// whose names differ only in their extensions.
///
/// # Errors
/// [`Error::Read`] for a path that cannot be read, [`Error::Argument`] for a folder beside a picture, and
/// [`Error::Malformed`] for folders without a pair.
pub fn find(a: &Path, b: &Path) -> Result<Pairs> {
    match (is_folder(a)?, is_folder(b)?) {
        (true, true) => in_folders(a, b),
        (false, false) if a == Path::new(STDIN) && b == Path::new(STDIN) => {
            Err(Error::argument("pictures", "stdin at most once", "- and -"))
        }
        (false, false) => Ok(Pairs {
            pairs: vec![PicturePair {
                name: view_of_picture(&a.file_name().unwrap_or(a.as_os_str()).to_string_lossy()),
                a: a.to_path_buf(),
                b: b.to_path_buf(),
            }],
            unmatched: Vec::new(),
            elsewhere: Vec::new(),
            films: Vec::new(),
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

fn is_folder(path: &Path) -> Result<bool> {
    if path == Path::new(STDIN) {
        return Ok(false);
    }
    Ok(fs::metadata(path).map_err(|e| Error::read(path, e))?.is_dir())
}

fn in_folders(a: &Path, b: &Path) -> Result<Pairs> {
    let (in_a, in_b) = (picture_paths(a)?, picture_paths(b)?);
    let mut matched: Vec<(String, String)> =
        in_a.intersection(&in_b).map(|name| (name.clone(), name.clone())).collect();
    // Files without a namesake are matched by the name of their view, if that is unique.
    let rest_a = by_view(in_a.difference(&in_b));
    let rest_b = by_view(in_b.difference(&in_a));
    let is_unique =
        |view| [&rest_a, &rest_b].map(|rest| rest.get(view).map(Vec::len)) == [Some(1); 2];
    for (view, names) in rest_a.iter().filter(|(view, _)| is_unique(*view)) {
        matched.push((names[0].clone(), rest_b[view][0].clone()));
    }
    let folder_of = |name: &str| name.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let matched_in = |(a, b): &(String, String)| [folder_of(a), folder_of(b)];
    let mut folders: BTreeSet<String> = matched.iter().flat_map(matched_in).collect();
    folders.insert(String::new());
    let (mut unmatched, mut elsewhere) = (Vec::new(), Vec::new());
    for (folder, rest) in [(a, &rest_a), (b, &rest_b)] {
        let others = rest.iter().filter(|(view, _)| !is_unique(*view)).flat_map(|(_, names)| names);
        let (beside, other): (Vec<_>, Vec<_>) =
            others.partition(|name| folders.contains(&folder_of(name)));
        unmatched.extend(beside.into_iter().map(|name| folder.join(name)));
        elsewhere.extend(other.into_iter().map(|name| folder.join(name)));
    }
    if matched.is_empty() {
        let expected = format!("pictures with the same names as in {}", b.display());
        let found = format!(
            "no common name (pictures here: {}, there: {}; .png, .jpg, .exr and .npy files are compared)",
            in_a.len(),
            in_b.len()
        );
        return Err(Error::malformed(a, "folder", expected, found));
    }
    matched.sort();
    let in_folder = |folder: &Path| -> Result<Vec<PathBuf>> {
        Ok(paths(folder, is_film_name)?.iter().map(|name| folder.join(name)).collect())
    };
    let films = [in_folder(a)?, in_folder(b)?].concat();
    Ok(Pairs { pairs: named(a, b, &matched), unmatched, elsewhere, films, are_folders: true })
}

fn named(a: &Path, b: &Path, matched: &[(String, String)]) -> Vec<PicturePair> {
    let mut uses: BTreeMap<String, usize> = BTreeMap::new();
    for (name, _) in matched {
        *uses.entry(view_of_picture(name)).or_default() += 1;
    }
    let pairs = matched.iter().map(|(name_a, name_b)| {
        let view = view_of_picture(name_a);
        let shared = uses.get(&view).is_some_and(|&uses| uses > 1);
        PicturePair {
            name: if shared { name_a.clone() } else { view },
            a: a.join(name_a),
            b: b.join(name_b),
        }
    });
    pairs.collect()
}

/// Paths of the pictures in a folder and below. Those of formats that [`files::read`] refuses by name are left out if a
/// picture that is read has the name of their view.
pub(super) fn picture_paths(folder: &Path) -> Result<BTreeSet<String>> {
    let is_picture =
        |path: &Path| path.to_str().is_some_and(is_picture_name) && !is_film_name(path);
    let mut pictures = paths(folder, is_picture)?;
    let is_readable = |name: &String| files::is_readable_name(Path::new(name));
    let readable = pictures.iter().filter(|name| is_readable(name));
    let views: BTreeSet<String> = readable.map(|name| view_of_picture(name)).collect();
    pictures.retain(|name| is_readable(name) || !views.contains(&view_of_picture(name)));
    Ok(pictures)
}

/// Paths with `/` of the files in a folder and below whose names `accept` takes. Hidden files and folders are left out:
/// programs keep unfinished files and previews there.
fn paths(folder: &Path, accept: fn(&Path) -> bool) -> Result<BTreeSet<String>> {
    let mut paths = BTreeSet::new();
    let mut open = vec![(folder.to_path_buf(), String::new())];
    while let Some((folder, prefix)) = open.pop() {
        let failed = |e| Error::read(&folder, e);
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let (path, Ok(name)) = (entry.path(), entry.file_name().into_string()) else {
                continue;
            };
            if name.starts_with('.') {
                continue;
            }
            // Links to folders are not followed, since they could lead back here.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push((path, format!("{prefix}{name}/")));
            } else if accept(&path) && !path.is_dir() {
                paths.insert(format!("{prefix}{name}"));
            }
        }
    }
    Ok(paths)
}

fn by_view<'a>(names: impl Iterator<Item = &'a String>) -> BTreeMap<String, Vec<String>> {
    let mut stems: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in names {
        stems.entry(view_of_picture(name)).or_default().push(name.clone());
    }
    stems
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
        let a = folder(&["0.png", "1.png", "1.npy", "2.npy", "3.exr", "notes.txt", ".5.png"]);
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
    fn renders_pair_with_photographs_by_the_names_of_views() {
        let renders = folder(&["00001.jpg.png", "00002.png", "cam1_0000.png"]);
        let photos = folder(&["00001.jpg", "00002.JPG"]);
        for below in ["cam1", "thumbnails"] {
            fs::create_dir(photos.path().join(below)).unwrap();
            fs::write(photos.path().join(below).join("0000.jpeg"), b"").unwrap();
        }
        let found = find(renders.path(), photos.path()).unwrap();
        let names: Vec<_> = found.pairs.iter().map(|pair| pair.name.as_str()).collect();
        assert_eq!(names, ["00001", "00002", "cam1_0000"]);
        assert!(found.pairs[2].b.ends_with("cam1/0000.jpeg"));
        assert!(found.unmatched.is_empty(), "{:?}", found.unmatched);
        assert_eq!(found.elsewhere, [photos.path().join("thumbnails/0000.jpeg")]);
    }

    #[test]
    fn stdin_only_once() {
        let stdin = Path::new(STDIN);
        assert!(find(stdin, stdin).is_err());
    }
}
