//! The house rules that a machine can check: who imports whom, sizes, what lies where.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Which modules of the crate each module may import, beside itself.
const MAY_IMPORT: [(&str, &[&str]); 14] = [
    ("error", &[]),
    // Memory for large arrays; knows nothing of what they hold.
    ("buffer", &[]),
    ("output", &["error"]),
    ("math", &["error"]),
    ("shading", &["error", "math"]),
    ("image", &["error", "buffer", "output", "math"]),
    // Scenes name the profile that they were trained for.
    ("scene", &["error", "buffer", "output", "math", "shading"]),
    (
        "preprocess",
        &["error", "buffer", "math", "shading", "image", "scene"],
    ),
    (
        "cpu",
        &[
            "error",
            "buffer",
            "math",
            "shading",
            "image",
            "scene",
            "preprocess",
        ],
    ),
    (
        "gpu",
        &[
            "error",
            "buffer",
            "output",
            "math",
            "shading",
            "image",
            "scene",
            "preprocess",
        ],
    ),
    (
        "mesh",
        &[
            "error", "output", "math", "shading", "image", "scene", "gpu",
        ],
    ),
    (
        "deferred",
        &[
            "error", "output", "math", "shading", "image", "scene", "gpu",
        ],
    ),
    (
        "report",
        &[
            "error", "output", "math", "image", "gpu", "mesh", "deferred",
        ],
    ),
    (
        "cli",
        &[
            "error",
            "output",
            "math",
            "shading",
            "image",
            "scene",
            "preprocess",
            "cpu",
            "gpu",
            "mesh",
            "deferred",
            "report",
        ],
    ),
];

/// What `lib.rs` re-exports at the crate's root, and whose it is.
const ROOT_ITEMS: [(&str, &str); 3] = [("Error", "error"), ("Fault", "error"), ("Result", "error")];

/// Modules that may use vector lanes.
const MAY_USE_LANES: [&str; 3] = ["math", "preprocess", "cpu"];

/// Files elsewhere that use lanes all the same, with the reason; each is a departure from the rule.
const LANES_ELSEWHERE: [(&str, &str); 6] = [
    (
        "gpu/raster/sampled.rs",
        "64 samples a quad, millions of quads a frame: scalar, coverage alone would take a second",
    ),
    ("gpu/zrop/samples.rs", "as coverage, for the depth test"),
    (
        "mesh/frame/visibility.rs",
        "chooses the level once a bin, not once a quad",
    ),
    (
        "gpu/warp/fragment.rs",
        "every fragment of every emulated frame goes through it: scalar, it would take longer than \
         all timed units together",
    ),
    (
        "scene/activate.rs",
        "one loop over a block, compiled for each level so that loading is not bound by it",
    ),
    ("scene/assemble.rs", "hands the level to activate.rs"),
];

/// Longest source file, in lines, and the files that may be longer, with the reason.
const MAX_LINES: usize = 400;
const LONGER: [(&str, &str); 0] = [];

/// Names that the repository's top level may hold, beside dot-files and licences.
const TOP_LEVEL: [&str; 8] = [
    "Cargo.toml",
    "Cargo.lock",
    "README.md",
    "src",
    "scenes",
    "reference",
    "benches",
    "tests",
];

/// A source file: its path below `src`, with `/`, and its text.
struct Source {
    path: String,
    text: String,
}

impl Source {
    /// The module at the crate's root that the file is part of: `lib` and `main` for those.
    fn module(&self) -> &str {
        let first = self.path.split('/').next().unwrap();
        first.strip_suffix(".rs").unwrap_or(first)
    }

    /// The text without line comments: paths in docs are links, not imports.
    fn code(&self) -> String {
        let lines = self.text.lines();
        let code = lines.map(|line| line.split_once("//").map_or(line, |(code, _)| code));
        code.collect::<Vec<_>>().join("\n")
    }

    fn uses_lanes(&self) -> bool {
        self.code().contains("fearless_simd")
    }

    /// What is wrong with the file, one sentence each.
    fn breaches(&self) -> Vec<String> {
        let module = self.module();
        let mut breaches = Vec::new();
        if module != "lib" && module != "main" {
            match MAY_IMPORT.iter().find(|(name, _)| *name == module) {
                None => breaches.push(format!("{}: {module} has no row in MAY_IMPORT", self.path)),
                Some((_, allowed)) => {
                    let forbidden = imports(&self.code());
                    let forbidden = forbidden
                        .iter()
                        .filter(|i| *i != module && !allowed.contains(&i.as_str()));
                    breaches
                        .extend(forbidden.map(|i| format!("{}: {module} imports {i}", self.path)));
                }
            }
        }
        let excused = LANES_ELSEWHERE.iter().any(|(path, _)| *path == self.path);
        if self.uses_lanes() && !MAY_USE_LANES.contains(&module) && !excused {
            breaches.push(format!("{}: lanes outside {MAY_USE_LANES:?}", self.path));
        }
        let lines = self.text.lines().count();
        if lines > MAX_LINES && !LONGER.iter().any(|(path, _)| *path == self.path) {
            breaches.push(format!("{}: {lines} lines, at most {MAX_LINES}", self.path));
        }
        breaches
    }
}

/// The crate's modules that `code` names as `crate::module`, also in groups `crate::{a, b::c}`.
fn imports(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = code[at + "crate::".len()..].trim_start();
        if let Some(group) = rest.strip_prefix('{') {
            found.extend(group_members(group));
        } else {
            found.extend(first_name(rest));
        }
    }
    let owner = |name: String| {
        let owner = ROOT_ITEMS.iter().find(|(item, _)| *item == name);
        owner.map_or(name, |(_, owner)| (*owner).to_owned())
    };
    found.into_iter().map(owner).collect()
}

/// The first name of each member of a group whose `{` has been read.
fn group_members(group: &str) -> Vec<String> {
    let (mut depth, mut member, mut names) = (0, String::new(), Vec::new());
    for c in group.chars() {
        match c {
            '}' if depth == 0 => break,
            ',' if depth == 0 => names.extend(first_name(&std::mem::take(&mut member))),
            '{' => depth += 1,
            '}' => depth -= 1,
            c => member.push(c),
        }
    }
    names.extend(first_name(&member));
    names
}

fn first_name(path: &str) -> Option<String> {
    let name: String = path
        .trim_start()
        .chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect();
    (!name.is_empty()).then_some(name)
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn sources() -> Vec<Source> {
    fn walk(folder: &Path, src: &Path, sources: &mut Vec<Source>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, src, sources);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let parts = path.strip_prefix(src).unwrap().iter();
                let parts: Vec<_> = parts.map(|p| p.to_str().unwrap()).collect();
                let text = fs::read_to_string(&path).unwrap();
                sources.push(Source {
                    path: parts.join("/"),
                    text,
                });
            }
        }
    }
    let (src, mut sources) = (root().join("src"), Vec::new());
    walk(&src, &src, &mut sources);
    sources
}

#[test]
fn sources_keep_the_house_rules() {
    let sources = sources();
    assert!(sources.len() > 10, "src was not read");
    let breaches: Vec<String> = sources.iter().flat_map(Source::breaches).collect();
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
    for (path, _) in LANES_ELSEWHERE {
        let uses = |s: &Source| s.path == path && s.uses_lanes();
        assert!(
            sources.iter().any(uses),
            "{path} needs no exception any more"
        );
    }
    for (path, _) in LONGER {
        let long = |s: &Source| s.path == *path && s.text.lines().count() > MAX_LINES;
        assert!(
            sources.iter().any(long),
            "{path} needs no exception any more"
        );
    }
}

#[test]
fn the_checker_finds_breaches() {
    let of = |path: &str, text: &str| {
        let (path, text) = (path.to_owned(), text.to_owned());
        Source { path, text }.breaches()
    };
    assert_eq!(
        of("cpu/a.rs", "use crate::gpu::X;"),
        ["cpu/a.rs: cpu imports gpu"]
    );
    assert_eq!(
        of("gpu/a/b.rs", "fn f() { crate::cpu::x() }"),
        ["gpu/a/b.rs: gpu imports cpu"]
    );
    let grouped = "use crate::{\n    math::{A, B},\n    cli::{x, y}, error::E};";
    assert_eq!(of("scene/a.rs", grouped), ["scene/a.rs: scene imports cli"]);
    assert_eq!(
        of("math/a.rs", "use crate::Result;\nuse crate::math::X;"),
        <[&str; 0]>::default()
    );
    assert_eq!(
        of("output.rs", "use crate::image::X;"),
        ["output.rs: output imports image"]
    );
    assert_eq!(
        of("cpu/a.rs", "//! [x](crate::cli)\n// crate::cli"),
        <[&str; 0]>::default()
    );
    assert_eq!(
        of("attic/a.rs", ""),
        ["attic/a.rs: attic has no row in MAY_IMPORT"]
    );
    assert_eq!(of("image/a.rs", "use fearless_simd::Simd;").len(), 1);
    assert_eq!(of("cpu/a.rs", &"\n".repeat(401)).len(), 1);
    assert_eq!(of("cpu/a.rs", &"\n".repeat(400)).len(), 0);
}

/// Files that no module names are never compiled, so nothing else would notice them.
#[test]
fn modules_of_the_crate_and_files_match() {
    let sources = sources();
    let lib = &sources.iter().find(|s| s.path == "lib.rs").unwrap().text;
    let declared = lib.lines().filter_map(|l| {
        l.trim_start_matches("pub ")
            .strip_prefix("mod ")?
            .strip_suffix(';')
    });
    let mut declared: Vec<&str> = declared.collect();
    let mut present: Vec<&str> = sources.iter().map(Source::module).collect();
    present.retain(|m| *m != "lib" && *m != "main");
    present.sort_unstable();
    present.dedup();
    declared.sort_unstable();
    assert_eq!(declared, present);
}

#[test]
#[allow(clippy::print_stdout, reason = "a skipped test says why")]
fn the_top_level_holds_nothing_else() {
    let git = Command::new("git")
        .arg("ls-files")
        .current_dir(root())
        .output();
    let Some(listed) = git
        .ok()
        .filter(|o| o.status.success() && !o.stdout.is_empty())
    else {
        println!("skipped: no git repository here");
        return;
    };
    let listed = String::from_utf8(listed.stdout).unwrap();
    let top = listed.lines().map(|path| path.split('/').next().unwrap());
    let strange = top.filter(|name| {
        !(TOP_LEVEL.contains(name) || name.starts_with('.') || name.starts_with("LICENSE"))
    });
    assert_eq!(strange.collect::<Vec<_>>(), <[&str; 0]>::default());
}
