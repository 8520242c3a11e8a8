//! The rules of the code base that a machine can check: who imports whom, sizes, what lies where.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod imports;
#[path = "../support/skipped.rs"]
mod skipped;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use imports::ImportGraph;

/// Which rooms, the folders and files directly below `src`, each room imports beside itself:
/// downwards only. The table holds what is true and nothing else.
const IMPORTS: [(&str, &[&str]); 19] = [
    ("error", &[]),
    ("output", &["error"]),
    ("math", &["error"]),
    ("image", &["error", "output", "math"]),
    ("shading", &["error", "math"]),
    ("raster", &["error", "math"]),
    ("scene", &["error", "output", "math"]),
    ("synth", &["error", "math", "scene"]),
    ("preprocess", &["math", "shading", "scene"]),
    ("cpu", &["math", "image", "shading", "scene", "preprocess"]),
    (
        "viewpoint",
        &[
            "error",
            "math",
            "image",
            "shading",
            "scene",
            "preprocess",
            "cpu",
        ],
    ),
    (
        "convert",
        &[
            "error",
            "math",
            "image",
            "shading",
            "scene",
            "preprocess",
            "cpu",
        ],
    ),
    ("pipeline", &["error", "math", "shading", "raster"]),
    (
        "gpu",
        &[
            "error",
            "math",
            "image",
            "shading",
            "raster",
            "scene",
            "preprocess",
            "pipeline",
        ],
    ),
    (
        "mesh",
        &[
            "error", "math", "image", "shading", "raster", "scene", "pipeline", "gpu",
        ],
    ),
    (
        "deferred",
        &[
            "error", "math", "image", "raster", "scene", "pipeline", "mesh",
        ],
    ),
    (
        "report",
        &[
            "error", "image", "raster", "pipeline", "gpu", "mesh", "deferred",
        ],
    ),
    (
        "suite",
        &[
            "error",
            "output",
            "math",
            "shading",
            "scene",
            "synth",
            "viewpoint",
            "gpu",
            "report",
        ],
    ),
    (
        "cli",
        &[
            "error",
            "output",
            "math",
            "image",
            "shading",
            "raster",
            "scene",
            "synth",
            "cpu",
            "viewpoint",
            "convert",
            "gpu",
            "mesh",
            "deferred",
            "report",
            "suite",
        ],
    ),
];

/// Parts of the emulated pipeline of splats that the mesh path uses: the timed raster, depth, shader
/// and colour units, and what configures them. The comparison of meshes with splats runs all of it.
const MESH_USES_OF_GPU: [&str; 7] = [
    "raster",
    "zrop",
    "warp",
    "crop",
    "geometry",
    "config",
    "tile_owner",
];
const MESH_USES_ALL_OF_GPU: &str = "mesh::versus";

/// Rooms that may use vector lanes.
const MAY_USE_LANES: [&str; 3] = ["math", "preprocess", "cpu"];

/// Files elsewhere that use lanes all the same, with the reason.
const LANES_ELSEWHERE: [(&str, &str); 24] = [
    (
        "raster/sampled.rs",
        "64 samples per quad, millions of quads per frame: scalar coverage takes a second",
    ),
    (
        "raster/sample_depth.rs",
        "the depth test of the same samples",
    ),
    (
        "mesh/frame/visibility.rs",
        "chooses the level once per bin instead of once per quad",
    ),
    (
        "mesh/pipeline/depth.rs",
        "chooses the level of the same depth test in the pipeline in cycles",
    ),
    (
        "deferred/raster/lanes.rs",
        "16 samples at once in five dimensions: a hundred million tests per frame",
    ),
    (
        "deferred/raster/bounds.rs",
        "the tests that cull tiles: the corners against four sides at once",
    ),
    ("deferred/raster/edges.rs", "the same for the edges"),
    (
        "deferred/raster/cull.rs",
        "puts sixteen tiles or blocks into the lanes of both",
    ),
    (
        "deferred/raster/traverse.rs",
        "selects the samples of a group for the same tests",
    ),
    (
        "deferred/shading/grid.rs",
        "maps hits to shading points, beside its definition",
    ),
    (
        "deferred/frame.rs",
        "chooses the level of the same tests once per block",
    ),
    (
        "deferred/raster/sides.rs",
        "bounds of the blocks of a tile by its sides, for the same tests",
    ),
    (
        "deferred/raster_block.rs",
        "the depth test of the same samples",
    ),
    (
        "deferred/hits.rs",
        "keeps the hits of the same groups in the order of their samples",
    ),
    (
        "deferred/backend/forward.rs",
        "the same traversal, for forward draws",
    ),
    (
        "deferred/hit_stream.rs",
        "chooses the level of the same tests once per part of the raster",
    ),
    (
        "gpu/warp/fragment.rs",
        "every fragment of every emulated frame goes through it: scalar, it takes longer than all \
         timed units together",
    ),
    (
        "gpu/compute/block.rs",
        "every lane of every entry of the software renderer: a hundred million per frame",
    ),
    (
        "scene/activate.rs",
        "one loop over a block, compiled for each level so that it does not limit loading",
    ),
    ("scene/assemble.rs", "passes the level to activate.rs"),
    (
        "scene/formats/sog/palette.rs",
        "compares a million rows with thousands of centroids each: scalar, a conversion takes minutes",
    ),
    (
        "gpu/crop/blend.rs",
        "every quad of every emulated frame goes through it: one vector per quad",
    ),
    (
        "shading/quad_blend.rs",
        "the rule of blend.rs in lanes, beside its definition",
    ),
    (
        "shading/colour_format.rs",
        "the rounding of blend.rs in lanes, beside its definition",
    ),
];

/// Longest source file, in lines, and the files that may be longer, with the reason.
const MAX_LINES: usize = 500;
const LONGER: [(&str, &str); 0] = [];
/// Length that no file exceeds, for any reason.
const NEVER_LONGER: usize = 800;

/// Most items that the crate root re-exports.
const MAX_ROOT_ITEMS: usize = 170;

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

/// A source file: its path below `src`, with `/`, and its text.
struct Source {
    path: String,
    text: String,
}

impl Source {
    /// The room that the file is part of: `lib` and `main` for those files.
    fn room(&self) -> &str {
        let first = self.path.split('/').next().unwrap();
        first.strip_suffix(".rs").unwrap_or(first)
    }

    fn uses_lanes(&self) -> bool {
        let lines = self.text.lines();
        let mut code = lines.map(|line| line.split_once("//").map_or(line, |(code, _)| code));
        code.any(|line| line.contains("fearless_simd"))
    }

    /// What is wrong with the file by itself, one sentence each.
    fn breaches(&self) -> Vec<String> {
        let mut breaches = Vec::new();
        let is_listed = |list: &[(&str, &str)]| list.iter().any(|(path, _)| *path == self.path);
        let may_use_lanes = MAY_USE_LANES.contains(&self.room()) || is_listed(&LANES_ELSEWHERE);
        if self.uses_lanes() && !may_use_lanes {
            breaches.push(format!("{}: lanes outside {MAY_USE_LANES:?}", self.path));
        }
        let lines = self.text.lines().count();
        let limit = if is_listed(&LONGER) {
            NEVER_LONGER
        } else {
            MAX_LINES
        };
        if lines > limit {
            breaches.push(format!("{}: {lines} lines, at most {limit}", self.path));
        }
        breaches
    }
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
    assert!(sources.len() > 10, "src was not read");
    sources
}

fn graph() -> ImportGraph {
    let sources = sources();
    let sources = sources.iter().map(|s| (s.path.as_str(), s.text.as_str()));
    ImportGraph::of(sources)
}

#[test]
fn no_file_imports_itself_through_others() {
    let circles = graph().circles();
    assert!(circles.is_empty(), "circles of imports: {circles:#?}");
}

#[test]
fn rooms_import_downwards_and_the_table_is_true() {
    let graph = graph();
    let mut wrong = BTreeSet::new();
    let mut found = BTreeSet::new();
    for (file, room, target) in graph.between_rooms() {
        found.insert((room, target[0].as_str()));
        match IMPORTS.iter().find(|(name, _)| *name == room) {
            None => wrong.insert(format!("{room} has no row in IMPORTS")),
            Some((_, allowed)) if !allowed.contains(&target[0].as_str()) => {
                wrong.insert(format!("{file} imports {}", target.join("::")))
            }
            Some(_) => false,
        };
        let is_mesh_to_gpu =
            room == "mesh" && target[0] == "gpu" && !file.starts_with(MESH_USES_ALL_OF_GPU);
        if is_mesh_to_gpu && !MESH_USES_OF_GPU.contains(&target[1].as_str()) {
            wrong.insert(format!("{file} imports {}", target.join("::")));
        }
    }
    for (at, (room, allowed)) in IMPORTS.iter().enumerate() {
        for target in *allowed {
            let is_below = IMPORTS[..at].iter().any(|(below, _)| below == target);
            if !is_below {
                wrong.insert(format!("{target} does not stand above {room} in IMPORTS"));
            }
            if !found.contains(&(*room, *target)) {
                wrong.insert(format!("{room} does not import {target} any longer"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn sources_keep_to_lanes_and_sizes() {
    let sources = sources();
    let breaches: Vec<String> = sources.iter().flat_map(Source::breaches).collect();
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
    let needs = |path: &str, test: fn(&Source) -> bool| {
        let needs = sources.iter().any(|s| s.path == path && test(s));
        assert!(needs, "{path} no longer needs its exception");
    };
    for (path, _) in LANES_ELSEWHERE {
        needs(path, Source::uses_lanes);
    }
    for (path, _) in LONGER {
        needs(path, |s| s.text.lines().count() > MAX_LINES);
    }
}

#[test]
fn the_checker_finds_breaches() {
    let of = |path: &str, text: &str| {
        let (path, text) = (path.to_owned(), text.to_owned());
        Source { path, text }.breaches().len()
    };
    assert_eq!(of("image/a.rs", "use fearless_simd::Simd;"), 1);
    assert_eq!(of("image/a.rs", "// fearless_simd"), 0);
    assert_eq!(of("cpu/a.rs", "use fearless_simd::Simd;"), 0);
    assert_eq!(of("cpu/a.rs", &"\n".repeat(MAX_LINES + 1)), 1);
    assert_eq!(of("cpu/a.rs", &"\n".repeat(MAX_LINES)), 0);
}

/// Files that no module names are never compiled, so nothing else would notice them.
#[test]
fn modules_of_the_crate_and_files_match() {
    let sources = sources();
    let lib = &sources.iter().find(|s| s.path == "lib.rs").unwrap().text;
    let declared = lib.lines().filter_map(|line| {
        line.trim_start_matches("pub ")
            .strip_prefix("mod ")?
            .strip_suffix(';')
    });
    let declared: BTreeSet<&str> = declared.collect();
    let mut present: BTreeSet<&str> = sources.iter().map(Source::room).collect();
    present.retain(|room| *room != "lib" && *room != "main");
    assert_eq!(declared, present);
}

#[test]
fn the_crate_root_stays_small() {
    let lib = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let items = imports::public_names(&lib);
    assert!(items.len() > 20, "the re-exports were not read: {items:?}");
    assert!(
        items.len() <= MAX_ROOT_ITEMS,
        "{} items at the crate root",
        items.len()
    );
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
