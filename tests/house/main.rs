//! Rules of the code base beyond its crates' boundaries: no circles between files, sizes, top level.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod imports;
#[allow(dead_code, reason = "no test here is slow")]
#[path = "../support/skipped.rs"]
mod skipped;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// Longest source file, in lines.
const MAX_FILE_LINES: usize = 500;
/// Most lines of a member.
const MAX_MEMBER_LINES: usize = 16_000;
/// Most names that the facade re-exports.
const MAX_FACADE_ITEMS: usize = 170;
/// Names that the repository's top level may hold, beside dot-files.
const TOP_LEVEL: &str = "Cargo.toml Cargo.lock Dockerfile README.md CONTRIBUTING.md CHANGELOG.md CITATION.cff LICENSE-APACHE \
    LICENSE-MIT build.rs deny.toml rustfmt.toml src python scenes reference benches tests examples docs";

/// Paths (with `/`, from its root) and texts of each member's files without its tests. `cli` is one, with a folder `cli`.
fn members() -> BTreeMap<String, Vec<(String, String)>> {
    let (src, mut members) = (Path::new(ROOT).join("src"), BTreeMap::new());
    let mut open = vec![src.clone()];
    while let Some(folder) = open.pop() {
        for path in fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
            let in_src = path.strip_prefix(&src).unwrap().to_str().unwrap();
            let in_src = in_src.replace('\\', "/");
            match in_src.split_once('/') {
                _ if path.is_dir() && !path.ends_with("tests") => open.push(path),
                Some((member, in_member)) if in_src.ends_with(".rs") => {
                    let text = fs::read_to_string(&path).unwrap();
                    let in_crate = if member == "cli" { &in_src } else { in_member };
                    let sources: &mut Vec<_> = members.entry(member.to_owned()).or_default();
                    sources.push((in_crate.to_owned(), text));
                }
                _ => {}
            }
        }
    }
    members
}

/// Names and texts of the files of a folder that have an extension.
fn files_in(folder: &str, extension: &str) -> Vec<(String, String)> {
    let files = fs::read_dir(Path::new(ROOT).join(folder)).unwrap().map(|e| e.unwrap().path());
    let sources = files.filter(|path| path.extension().is_some_and(|own| own == extension));
    let named = sources.map(|path| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(path).unwrap())
    });
    named.collect()
}

/// Paths (with `/`, from its root) and texts of the files of a Python package.
fn package_files(root: &Path) -> Vec<(String, String)> {
    let (mut files, mut open) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = open.pop() {
        for path in fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|own| own == "py" || own == "pyi") {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
                files.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    files
}

#[test]
fn no_file_imports_itself_through_others() {
    let python = ("python".to_owned(), files_in("python/src", "rs"));
    for (member, files) in members().into_iter().chain([python]) {
        let circles = imports::circles(files.iter().map(|(path, text)| (&**path, &**text)));
        assert!(circles.is_empty(), "{member}: {circles:#?}");
    }
    let package = package_files(&Path::new(ROOT).join("python/python/quadrille"));
    assert!(!package.is_empty(), "python was not read");
    let circles = imports::circles_of_python(package.iter().map(|(path, text)| (&**path, &**text)));
    assert!(circles.is_empty(), "{circles:#?}");
}

#[test]
fn files_and_members_keep_to_their_sizes() {
    let members = members();
    assert!(members.len() >= 8, "src was not read");
    for (member, files) in members {
        let mut total = 0;
        for (path, text) in &files {
            let lines = text.lines().count();
            assert!(lines <= MAX_FILE_LINES, "{member}/{path}: {lines} lines");
            total += lines;
        }
        assert!(total <= MAX_MEMBER_LINES, "{member}: {total} lines");
    }
}

#[test]
fn the_facade_stays_small() {
    let items = imports::public_names("lib.rs", include_str!("../../src/lib.rs"));
    assert!((20..=MAX_FACADE_ITEMS).contains(&items.len()), "{items:?}");
}

#[test]
fn public_types_have_names_of_their_own() {
    let mut places = BTreeMap::new();
    for (member, files) in members() {
        for (path, text) in files {
            for line in text.lines().map(str::trim_start) {
                let words = Vec::from_iter(line.splitn(4, [' ', '<', '(', ':', ';']));
                if let ["pub", "struct" | "enum" | "trait" | "type", name, ..] = words[..]
                    && !name.starts_with('$')
                {
                    let place = format!("{name} of {member}/{path}");
                    let first = places.entry(name.to_owned()).or_insert(place.clone());
                    assert_eq!(*first, place);
                }
            }
        }
    }
}

#[test]
fn the_top_level_holds_nothing_else() {
    let mut git = Command::new("git");
    let listed = git.arg("ls-files").current_dir(ROOT).output();
    let listed = listed.map_or(Vec::new(), |output| output.stdout);
    if listed.is_empty() {
        return skipped::note("this is no git repository");
    }
    for path in String::from_utf8(listed).unwrap().lines() {
        let name = path.split('/').next().unwrap();
        let is_known = TOP_LEVEL.split_whitespace().any(|known| known == name);
        assert!(is_known || name.starts_with('.'), "{name}");
    }
}
