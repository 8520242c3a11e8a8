//! The rules of the code base that a machine can check beyond the boundaries of its crates: no circles
//! between files, sizes, and what lies where.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod imports;
#[path = "../support/skipped.rs"]
mod skipped;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use imports::ImportGraph;

/// Longest source file, in lines.
const MAX_FILE_LINES: usize = 500;
/// Most lines of a member.
const MAX_MEMBER_LINES: usize = 16_000;
/// Most names that the facade re-exports.
const MAX_FACADE_ITEMS: usize = 170;

/// Names that the repository's top level may hold, beside dot-files and licences.
const TOP_LEVEL: [&str; 15] = [
    "Cargo.toml",
    "Cargo.lock",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "CITATION.cff",
    "build.rs",
    "deny.toml",
    "src",
    "scenes",
    "reference",
    "benches",
    "tests",
    "examples",
    "docs",
];

/// A crate below `src`: its name, and the paths (with `/`, below its folder) and texts of its files.
struct Member {
    name: String,
    files: Vec<(String, String)>,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(folder: &Path, prefix: &str, files: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        // Integration tests of a member are no part of it.
        if entry.path().is_dir() && name != "tests" {
            read(&entry.path(), &format!("{name}/"), files);
        } else if name.ends_with(".rs") && name != "tests" {
            files.push((name, fs::read_to_string(entry.path()).unwrap()));
        }
    }
}

/// All members, and the program: its `cli` folder is a crate of its own for this purpose.
fn members() -> Vec<Member> {
    let folders = fs::read_dir(root().join("src")).unwrap();
    let folders = folders.map(|entry| entry.unwrap().path());
    let members = folders.filter(|folder| folder.is_dir()).map(|folder| {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let prefix = if name == "cli" { "cli/" } else { "" };
        let mut files = Vec::new();
        read(&folder, prefix, &mut files);
        Member { name, files }
    });
    let members: Vec<Member> = members.collect();
    assert!(members.len() >= 8, "src was not read");
    members
}

#[test]
fn no_file_imports_itself_through_others() {
    for member in members() {
        let files = member.files.iter();
        let graph = ImportGraph::of(files.map(|(path, text)| (path.as_str(), text.as_str())));
        let circles = graph.circles();
        assert!(circles.is_empty(), "{}: {circles:#?}", member.name);
    }
}

#[test]
fn files_and_members_keep_to_their_sizes() {
    for Member { name, files } in members() {
        let mut lines = 0;
        for (path, text) in &files {
            let of_file = text.lines().count();
            assert!(of_file <= MAX_FILE_LINES, "{name}/{path}: {of_file} lines");
            lines += of_file;
        }
        assert!(lines <= MAX_MEMBER_LINES, "{name}: {lines} lines");
    }
}

#[test]
fn the_facade_stays_small() {
    let lib = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let items = imports::public_names(&lib);
    assert!(items.len() > 20, "the re-exports were not read: {items:?}");
    assert!(items.len() <= MAX_FACADE_ITEMS, "{} items", items.len());
}

#[test]
fn the_top_level_holds_nothing_else() {
    let git = Command::new("git")
        .arg("ls-files")
        .current_dir(root())
        .output();
    let Some(listed) = git
        .ok()
        .filter(|o| o.status.success() && !o.stdout.is_empty())
    else {
        skipped::note("this is no git repository");
        return;
    };
    let listed = String::from_utf8(listed.stdout).unwrap();
    let top = listed.lines().map(|path| path.split('/').next().unwrap());
    let strange = top.filter(|name| {
        !(TOP_LEVEL.contains(name) || name.starts_with('.') || name.starts_with("LICENSE"))
    });
    assert_eq!(strange.collect::<Vec<_>>(), <[&str; 0]>::default());
}
