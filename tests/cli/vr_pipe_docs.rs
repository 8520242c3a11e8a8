//! Tables of docs/vr-pipe.md: the program computes numbers of the views that take a second or two again.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::page_tables::Table;
use crate::support::program::Place;
use crate::support::shared;

const PAGE: &str = include_str!("../../docs/vr-pipe.md");
/// Passes of the table about several passes.
const PASSES: [&str; 7] = ["1", "2", "4", "8", "16", "32", "64"];

/// The methods of a view of a scene, as `sim` describes them.
struct View(Vec<Value>);

impl View {
    fn new(scene: &Path, cameras: &Path, flags: &str) -> Self {
        let files = [scene.to_str().unwrap(), "--cameras", cameras.to_str().unwrap()];
        let words: Vec<&str> = flags.split_whitespace().collect();
        let document = Place::new().document(&[&["sim"], &files[..], &words, &["--json"]].concat());
        let variants = document["views"][0]["methods"].as_array().unwrap();
        Self(variants.clone())
    }

    /// View 0 of a trained scene; `None` where it is absent.
    fn trained(scene: &str, flags: &str) -> Option<Self> {
        let path = |extension| shared::path(&format!("scenes/{scene}.{extension}"));
        let (splats, cameras): (PathBuf, PathBuf) = (path("ply")?, path("cameras.json")?);
        Some(Self::new(&splats, &cameras, &format!("--view 0 {flags}")))
    }

    fn number(&self, method: &str, pointer: &str) -> f64 {
        let mut methods = self.0.iter();
        let method = methods.find(|m| m["name"] == method).unwrap();
        method.pointer(pointer).and_then(Value::as_f64).unwrap()
    }

    /// A count of the baseline over the count of a method.
    fn ratio(&self, method: &str, pointer: &str) -> f64 {
        self.number("baseline", pointer) / self.number(method, pointer)
    }

    fn speedup(&self, method: &str) -> f64 {
        self.ratio(method, "/cycles")
    }
}

#[test]
fn cycles_and_fragments_of_the_island() {
    let file = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes").join(name);
    let flags = "--view bay --width 640 --method baseline,qm,het,het+qm";
    let bay = View::new(&file("island.ply"), &file("island.cameras.json"), flags);
    let table = Table::new(PAGE, "", 1);
    for (column, method) in
        [("baseline", "baseline"), ("QM", "qm"), ("HET", "het"), ("HET+QM", "het+qm")]
    {
        let millions = |pointer| bay.number(method, pointer) / 1e6;
        table.expect(table.row("cycles"), column, &[millions("/cycles")]);
        table.expect(table.row("fragments blended"), column, &[millions("/fragments/blended")]);
        if method != "baseline" {
            table.expect(table.row("speedup"), column, &[bay.speedup(method)]);
        }
    }
}

#[test]
fn speedups_of_a_small_picture() {
    let passes = PASSES.map(|n| format!("multipass:{n}")).join(",");
    let flags = format!("--width 245 --method baseline,qru,qm,het,het+qru,het+qm,{passes}");
    let Some(truck) = View::trained("truck", &flags) else {
        return;
    };
    let table = Table::new(PAGE, "Sensitivity of the speedups", 1);
    for method in ["QRU", "QM", "HET", "HET+QRU", "HET+QM"] {
        let speedup = truck.speedup(&method.to_lowercase());
        table.expect(table.row("as configured"), method, &[speedup]);
    }
    let table = Table::new(PAGE, "Several passes", 0);
    for passes in PASSES {
        let column = if passes == "1" { "N = 1" } else { passes };
        let speedup = truck.speedup(&format!("multipass:{passes}"));
        table.expect(table.row("truck"), column, &[speedup]);
    }
    table.expect(table.row("truck"), "HET", &[truck.speedup("het")]);
}

#[test]
fn fragments_per_quad_of_a_small_picture() {
    let Some(robot) = View::trained("robot", "--width 122 --method baseline,het") else {
        return;
    };
    let table = Table::new(PAGE, "Fragments per quad", 0);
    let expect = |column, numbers: &[f64]| table.expect(table.row("robot, 122"), column, numbers);
    let [fragments, quads] =
        ["/fragments/blended", "/quads/blended"].map(|pointer| robot.ratio("het", pointer));
    expect("fragments", &[fragments]);
    expect("quads", &[quads]);
    expect("ratio", &[quads / fragments]);
    let per_quad = ["baseline", "het"].map(|method| {
        robot.number(method, "/fragments/blended") / robot.number(method, "/quads/blended")
    });
    expect("fragments per quad: baseline, HET", &per_quad);
    for (method, column) in
        [("baseline", "live 0 to 4 in the baseline (%)"), ("het", "with HET (%)")]
    {
        let live = [0, 1, 2, 3, 4].map(|n| robot.number(method, &format!("/quads/live/{n}")));
        let all: f64 = live.iter().sum();
        expect(column, &live.map(|quads| 100.0 * quads / all));
    }
}

#[test]
fn speedups_over_other_baselines() {
    let settings = [
        ("as configured: RGBA16F, two triangles per splat", ""),
        ("RGBA8: crop.format=rgba8", "--set crop.format=rgba8"),
        (
            "one rectangle per splat: vertex.splat_primitive=fill-rectangle",
            "--set vertex.splat_primitive=fill-rectangle",
        ),
    ];
    let table = Table::new(PAGE, "Other baselines", 0);
    for (row, setting) in settings {
        let flags = format!("--width 490 --method baseline,qm,het,het+qm {setting}");
        let Some(truck) = View::trained("truck", &flags) else { return };
        for (column, method) in [("QM", "qm"), ("HET", "het"), ("HET+QM", "het+qm")] {
            table.expect(table.row(row), column, &[truck.speedup(method)]);
        }
    }
    let flags = "--width 490 --method baseline,imitated:qm,imitated:het,imitated:het+qm";
    let Some(truck) = View::trained("truck", flags) else { return };
    let row = table.row("imitated: imitated:qm, imitated:het, imitated:het+qm");
    for (column, method) in [("QM", "qm"), ("HET", "het"), ("HET+QM", "het+qm")] {
        table.expect(row, column, &[truck.speedup(&format!("imitated:{method}"))]);
    }
}
