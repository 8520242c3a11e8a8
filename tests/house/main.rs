//! Rules of the code base beyond its crates' boundaries: no circles between files, sizes, top level.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod imports;
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
/// Names that the repository's top level may hold, beside dot-files and licences.
const TOP_LEVEL: &str = "Cargo.toml Cargo.lock Dockerfile README.md CONTRIBUTING.md CHANGELOG.md CITATION.cff build.rs \
    deny.toml src python scenes reference benches tests examples docs";

/// Paths (with `/`, from the member's root) and texts of the files of each member, by its name.
type Members = BTreeMap<String, Vec<(String, String)>>;

/// The sources of all members, without their integration tests. `cli` is one whose files lie in its folder `cli`.
fn members() -> Members {
    let (src, mut members) = (Path::new(ROOT).join("src"), Members::new());
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
                    let sources = members.entry(member.to_owned()).or_default();
                    sources.push((in_crate.to_owned(), text));
                }
                _ => {}
            }
        }
    }
    members
}

#[test]
fn no_file_imports_itself_through_others() {
    for (member, files) in members() {
        let files = files.iter().map(|(path, text)| (&**path, &**text));
        let circles = imports::circles(files);
        assert!(circles.is_empty(), "{member}: {circles:#?}");
    }
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
    let lib = fs::read_to_string(Path::new(ROOT).join("src/lib.rs")).unwrap();
    let items = imports::public_names("lib.rs", &lib);
    assert!(items.len() > 20, "the re-exports were not read: {items:?}");
    assert!(items.len() <= MAX_FACADE_ITEMS, "{} items", items.len());
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
        let is_exempt = name.starts_with('.') || name.starts_with("LICENSE");
        let mut known = TOP_LEVEL.split_whitespace();
        assert!(is_exempt || known.any(|known| known == name), "{name}");
    }
}
