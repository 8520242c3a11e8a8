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

/// Adds the sources below `folder`. A member's integration tests are no part of it, and `cli` counts
/// as a crate whose files lie in its folder `cli`.
fn read(folder: &Path, member: &str, prefix: &str, members: &mut Members) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && name != "tests" {
            match (member, name) {
                ("", "cli") => read(&path, name, "cli/", members),
                ("", _) => read(&path, name, "", members),
                _ => read(&path, member, &format!("{prefix}{name}/"), members),
            }
        } else if name.ends_with(".rs") && !member.is_empty() {
            let source = (
                format!("{prefix}{name}"),
                fs::read_to_string(&path).unwrap(),
            );
            members.entry(member.to_owned()).or_default().push(source);
        }
    }
}

fn members() -> Members {
    let mut members = Members::new();
    read(&Path::new(ROOT).join("src"), "", "", &mut members);
    members
}

#[test]
fn no_file_imports_itself_through_others() {
    for (member, files) in members() {
        let files = files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()));
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
    let git = git.arg("ls-files").current_dir(ROOT).output();
    let Some(listed) = git
        .ok()
        .filter(|o| o.status.success() && !o.stdout.is_empty())
    else {
        skipped::note("this is no git repository");
        return;
    };
    let listed = String::from_utf8(listed.stdout).unwrap();
    let top = listed.lines().map(|path| path.split('/').next().unwrap());
    let is_listed = |name: &str| TOP_LEVEL.split_whitespace().any(|listed| listed == name);
    let is_exempt = |name: &str| name.starts_with('.') || name.starts_with("LICENSE");
    let strange: Vec<&str> = top
        .filter(|name| !is_listed(name) && !is_exempt(name))
        .collect();
    assert!(strange.is_empty(), "{strange:?}");
}

/// The page on the architecture gives a reason for every dependency.
#[test]
fn every_dependency_has_its_reason() {
    let read = |file: &str| fs::read_to_string(Path::new(ROOT).join(file)).unwrap();
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    let page = read("docs/architecture.md");
    let dependencies = manifest["workspace"]["dependencies"].as_table().unwrap();
    let missing: Vec<_> = dependencies
        .keys()
        .filter(|name| !name.starts_with("quadrille-") && !page.contains(&format!("`{name}`")))
        .collect();
    assert!(
        missing.is_empty(),
        "docs/architecture.md, Dependencies: {missing:?}"
    );
}

/// The version of the workspace is the version of its crates among its dependencies, of the citation, of the first release in the
/// changelog, and of the addresses on the page about installation.
#[test]
fn there_is_one_version() {
    let read = |file: &str| fs::read_to_string(Path::new(ROOT).join(file)).unwrap();
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    let workspace = &manifest["workspace"];
    let version = workspace["package"]["version"].as_str().unwrap();
    for (name, dependency) in workspace["dependencies"].as_table().unwrap() {
        if name.starts_with("quadrille-") {
            assert_eq!(dependency["version"].as_str(), Some(version), "{name}");
        }
    }
    for member in workspace["members"].as_array().unwrap() {
        let file = format!("{}/Cargo.toml", member.as_str().unwrap());
        let member: toml::Table = read(&file).parse().unwrap();
        let own = member["package"].get("version");
        assert!(own.is_none_or(toml::Value::is_table), "{file}");
    }
    let changelog = read("CHANGELOG.md");
    let mut releases = changelog.lines().filter_map(|l| l.strip_prefix("## "));
    let newest = releases.find(|title| *title != "Unreleased");
    assert_eq!(newest.unwrap().split(' ').next(), Some(version));
    let citation = read("CITATION.cff");
    assert!(citation.contains(&format!("\nversion: {version}\n")));
    let install = read("docs/install.md");
    assert!(install.contains(&format!("download/v{version}/quadrille-{version}-x86_64")));
}
