//! The `info` command: its page, its JSON, its exit codes.
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::support::program::{DONE, Place, UNREADABLE};
use crate::support::shared;
use quadrille::PlyWriter;
use quadrille::Splat;
use quadrille::load;

fn info(arguments: &[&str], stdin: Stdio) -> Output {
    Command::new(env!("CARGO_BIN_EXE_quadrille"))
        .arg("info")
        .args(arguments)
        .stdin(stdin)
        .output()
        .unwrap()
}

/// Twenty splats of degree 1, the last with an infinite mean.
fn scene(folder: &Path) -> PathBuf {
    let path = folder.join("small.ply");
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = PlyWriter::new(file, 20, 1, &["antialiased 1"]).unwrap();
    for i in 0..20u8 {
        let x = if i == 19 { f32::INFINITY } else { f32::from(i) };
        writer
            .push(&Splat {
                mean: [x, 0.0, 1.0],
                scale: [0.1, 0.2, 0.4],
                rotation: [1.0, 0.0, 0.0, 0.0],
                opacity: f32::from(i) / 20.0,
                sh: [[0.5; 3]; 25],
            })
            .unwrap();
    }
    writer.finish().unwrap();
    path
}

#[test]
fn json_is_one_document_with_the_facts() {
    let folder = tempfile::tempdir().unwrap();
    let path = scene(folder.path());
    let name = path.to_str().unwrap();
    let piped = Stdio::from(std::fs::File::open(&path).unwrap());
    for (argument, stdin) in [(name, Stdio::null()), ("-", piped)] {
        let output = info(&[argument, "--json"], stdin);
        assert!(output.status.success(), "{output:?}");
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["splats"], 19);
        assert_eq!(json["sh_degree"], 1);
        assert_eq!(json["format"], "PLY");
        assert_eq!(json["profile_hint"], "inria-aa");
        assert_eq!(json["dropped"]["infinite"], 1);
        assert_eq!(json["dropped"]["total"], 1);
        assert_eq!(json["bounds"]["max"][0], 18.0);
        assert_eq!(json["file_bytes"], std::fs::metadata(&path).unwrap().len());
    }
}

#[test]
fn the_page_fits_a_screen() {
    let folder = tempfile::tempdir().unwrap();
    let path = scene(folder.path());
    let output = info(&[path.to_str().unwrap()], Stdio::null());
    let page = String::from_utf8(output.stdout).unwrap();
    assert!(page.lines().count() <= 40 && page.lines().all(|l| l.len() <= 120), "{page}");
    assert!(page.contains("1 row: 1 infinite"), "{page}");
}

#[test]
fn what_cannot_be_read_exits_with_3() {
    let folder = tempfile::tempdir().unwrap();
    let odd = folder.path().join("odd.splat");
    std::fs::write(&odd, [0; 33]).unwrap();
    for path in [&odd, &folder.path().join("missing.ply"), &folder.path().to_path_buf()] {
        let output = info(&[path.to_str().unwrap()], Stdio::null());
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        assert!(output.stdout.is_empty());
    }
}

/// The same scene in two formats, where the shared scenes are present.
#[test]
fn a_dot_splat_file_holds_the_same_scene_as_its_ply() {
    let paths =
        ["truck.ply", "formats/truck.splat"].map(|name| shared::path(&format!("scenes/{name}")));
    let [Some(ply), Some(splat)] = paths else {
        return;
    };
    let sorted = |path: &Path| {
        let mut splats: Vec<Splat> = load(path).unwrap().splats.iter().collect();
        splats.sort_by(|a, b| {
            let mean = |s: &Splat| s.mean.map(|m| m + 0.0);
            mean(a).partial_cmp(&mean(b)).unwrap()
        });
        splats
    };
    let (a, b) = (sorted(&ply), sorted(&splat));
    assert_eq!(a.len(), b.len());
    let mut off = 0;
    for (a, b) in a.iter().zip(&b) {
        let dot: f32 = a.rotation.iter().zip(b.rotation).map(|(a, b)| a * b).sum();
        // Half a step of 8 bits in colour and opacity; a step of 1/128 in each of 4 components.
        let near = a.mean == b.mean
            && (a.opacity - b.opacity).abs() < 0.6 / 255.0
            && a.scale.iter().zip(b.scale).all(|(a, b)| (a - b).abs() <= 1e-4 * a)
            && dot.abs() > 0.999;
        off += u32::from(!near);
    }
    assert!(off < 10, "{off} of {} splats differ", a.len());
}

#[test]
fn several_scenes_are_described_and_failures_told() {
    let place = Place::new();
    fs::copy(place.path("scene.ply"), place.path("b.ply")).unwrap();
    let page =
        String::from_utf8(place.expect(DONE, &["info", "scene.ply", "b.ply"]).stdout).unwrap();
    let scenes: Vec<&str> = page.lines().filter(|line| line.starts_with("scene ")).collect();
    assert_eq!(scenes, ["scene      scene.ply", "scene      b.ply"]);
    assert!(page.contains("cameras.json, beside the scene"), "{page}");
    let arguments = ["info", "none.ply", "scene.ply", "lost.ply", "b.ply", "--json"];
    let output = place.expect(UNREADABLE, &arguments);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("none.ply") && errors.contains("lost.ply"), "{errors}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let all = document.as_array().unwrap();
    let splats: Vec<Option<u64>> = all.iter().map(|one| one["splats"].as_u64()).collect();
    assert_eq!(splats, [None, Some(300), None, Some(300)]);
    assert!(all[0]["error"].as_str().unwrap().contains("cannot read"));
    assert!(all[1]["quadrille"]["version"].is_string());
    assert_eq!(all[1]["cameras_beside"], "cameras.json");
}

/// Names of files and their content do not reach the terminal as control characters.
#[test]
#[cfg(unix)]
fn control_characters_of_names_are_escaped() {
    let place = Place::new();
    let name = "a\u{1b}[31m.ply";
    fs::copy(place.path("scene.ply"), place.path(name)).unwrap();
    for arguments in [
        &["info", name][..],
        &["render", name, "-o", "p.png", "--width", "32", "-v"],
        &["convert", name, "-o", "b.ply", "--report", "r.json", "-v"],
        &["compare", name, "scene.ply", "--width", "32", "-v"],
    ] {
        let output = place.expect(DONE, arguments);
        for text in [output.stdout, output.stderr] {
            assert!(!text.contains(&0x1b), "{}", String::from_utf8_lossy(&text));
        }
    }
    let page = place.expect(DONE, &["info", name]).stdout;
    assert!(String::from_utf8(page).unwrap().contains("a\\u{1b}[31m.ply"));
}

/// The numbers of `--overdraw` are those of the layer that counts fragments, with and without the stop rule.
#[test]
fn overdraw_counts_the_fragments_of_views() {
    let place = Place::new();
    let views = ["--cameras", "cameras.json", "--view", "0,1", "--width", "40"];
    let call = [&["info", "scene.ply", "--overdraw", "--json"], &views[..]].concat();
    let document = place.document(&call);
    let found = document["overdraw"].as_array().unwrap().clone();
    assert_eq!(found.len(), 2);
    let counts = |name: &str, flags: &[&str]| -> Vec<u32> {
        let output = ["--aov", "count", "-o", "{view}.{aov}.npy"];
        place.expect(DONE, &[&["render", "scene.ply"], &views[..], &output, flags].concat());
        let bytes = fs::read(place.path(&format!("{name}.count.npy"))).unwrap();
        let data = usize::from(u16::from_le_bytes([bytes[8], bytes[9]])) + 10;
        bytes[data..].chunks_exact(4).map(|c| u32::from_le_bytes(c.try_into().unwrap())).collect()
    };
    for view in found {
        let name = view["view"].as_str().unwrap();
        let all = counts(name, &["--stop", "none"]);
        let blended = counts(name, &[]);
        let size = ["width", "height"].map(|side| view[side].as_u64().unwrap());
        assert_eq!(size[0] * size[1], all.len() as u64);
        let pixels = all.len() as f64;
        let mean = |counts: &[u32]| counts.iter().map(|c| f64::from(*c)).sum::<f64>() / pixels;
        let filled = all.iter().filter(|count| **count > 0).count() as f64 / pixels;
        assert_eq!(view["fill"], filled);
        assert_eq!(view["overdraw"], mean(&all));
        assert_eq!(view["overdraw_blended"], mean(&blended));
        assert_eq!(view["overdraw_most"].as_u64(), all.iter().max().map(|most| u64::from(*most)));
        assert!(filled > 0.0 && view["profile"] == "inria", "{view}");
    }
    let page = place.expect(DONE, &[&["info", "scene.ply", "--overdraw"], &views[..]].concat());
    let page = String::from_utf8(page.stdout).unwrap();
    assert!(page.contains("\nview ") && page.contains("fill: share of the pixels"), "{page}");
    assert!(document.get("overdraw").is_some());
    assert!(place.document(&["info", "scene.ply", "--json"]).get("overdraw").is_none());
    let usage = crate::support::program::USAGE;
    place.expect_error(usage, &["info", "scene.ply", "--view", "0"], &["--overdraw"]);
}
