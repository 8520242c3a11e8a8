//! The package as its users meet it: one version, and a reason for every dependency.

use std::fs;
use std::path::Path;

use toml::Table;

/// The text of a file of the repository.
fn text(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

fn manifest(file: &str) -> Table {
    text(file).parse().unwrap()
}

/// The page on the architecture gives a reason for every dependency.
#[test]
fn every_dependency_has_its_reason() {
    let page = text("docs/architecture.md");
    let manifest = manifest("Cargo.toml");
    for name in manifest["workspace"]["dependencies"].as_table().unwrap().keys() {
        let is_given = name.starts_with("quadrille-") || page.contains(&format!("`{name}`"));
        assert!(is_given, "docs/architecture.md, Dependencies: {name}");
    }
}

/// The version of the workspace is the version of its crates among its dependencies, of the citation, of the first release in the
/// changelog, and of the addresses on the page about installation.
#[test]
fn there_is_one_version() {
    let workspace = &manifest("Cargo.toml")["workspace"];
    let version = workspace["package"]["version"].as_str().unwrap();
    for (name, dependency) in workspace["dependencies"].as_table().unwrap() {
        let is_own = name.starts_with("quadrille-");
        assert!(!is_own || dependency["version"].as_str() == Some(version), "{name}");
    }
    for member in workspace["members"].as_array().unwrap() {
        let file = format!("{}/Cargo.toml", member.as_str().unwrap());
        let own = manifest(&file)["package"].get("version").cloned();
        assert!(own.is_none_or(|own| own.is_table()), "{file}");
    }
    let changelog = text("CHANGELOG.md");
    let mut releases = changelog.lines().filter_map(|l| l.strip_prefix("## "));
    let newest = releases.find(|title| *title != "Unreleased");
    assert_eq!(newest.unwrap().split(' ').next(), Some(version));
    assert!(text("CITATION.cff").contains(&format!("\nversion: {version}\n")));
    let address = format!("download/v{version}/quadrille-{version}-x86_64");
    assert!(text("docs/install.md").contains(&address));
}
