//! `figures` with a suite of meshes: the page and files of the paper on sort-based deferred shading.

use std::fs;

use serde_json::Value;

use crate::support::program::{DONE, Place, UNREADABLE, UNWRITABLE, USAGE};

/// Exit code of a report with gaps.
const INCOMPLETE: i32 = 1;

const SUITE: &str = r#"workload = "deferred"
[[mesh]]
name = "plane"
mesh = "plane"
tessellate = 60
width = 96
height = 64
camera_move = [0.2, 0, 0.1]
[[mesh]]
name = "square"
mesh = "square.obj"
width = 64
height = 48
coc_px = 4
[[mesh]]
name = "sharp"
mesh = "plane"
tessellate = 60
width = 96
height = 64
[[mesh]]
name = "blurred"
mesh = "plane"
tessellate = 60
width = 96
height = 64
camera_move = [0.5, 0, 0]
coc_px = 8
[[mesh]]
name = "orbit"
mesh = "plane"
tessellate = 60
width = 48
height = 32
orbit = 3
shutter = 0.1
[[study]]
name = "scene"
meshes = ["plane", "square"]
method = ["cached-decoupled", "cached-decoupled+z", "sds"]
grid = ["pixel", "adaptive"]
traffic = true
[[study]]
name = "blur"
meshes = ["sharp", "blurred"]
method = ["msaa", "cached-decoupled", "cached-decoupled+z", "sds"]
grid = ["pixel", "adaptive"]
tile = [32, 64, 128, 256, "whole"]
memo = [16, 64, 256, 1024]
[[study]]
name = "trace"
meshes = ["orbit"]
method = ["cached-decoupled", "cached-decoupled+z", "sds"]
grid = ["pixel", "adaptive"]
traffic = true
[[study]]
name = "heat"
meshes = ["blurred"]
method = "sds"
grid = ["pixel", "adaptive"]
tile = 32
heat = true
"#;

const FIGURES: [&str; 9] = [
    "sds-sorting",
    "sds-fig6",
    "sds-fig9",
    "sds-table1",
    "sds-fig10",
    "sds-fig11",
    "sds-fig12",
    "sds-fig13",
    "sds-memo",
];

fn place() -> Place {
    let place = Place::new();
    let suites = place.path("suites");
    fs::create_dir_all(&suites).unwrap();
    fs::write(suites.join("suite.toml"), SUITE).unwrap();
    let square = "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nf 1 2 3 4\n";
    fs::write(suites.join("square.obj"), square).unwrap();
    place
}

fn arguments<'a>(folder: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["figures", "suites/suite.toml", "-o", folder, "-q"], more].concat()
}

fn read(place: &Place, folder: &str, name: &str) -> String {
    fs::read_to_string(place.path(folder).join(name)).unwrap()
}

fn document(place: &Place, folder: &str, figure: &str) -> Value {
    serde_json::from_str(&read(place, folder, &format!("{figure}.json"))).unwrap()
}

#[test]
fn shards_give_the_files_of_one_run() {
    let place = place();
    let whole = place.expect(DONE, &arguments("whole", &[]));
    assert!(String::from_utf8_lossy(&whole.stdout).contains("2 scenes, 2 amounts of blur"));
    let page = read(&place, "whole", "index.html");
    assert!(!page.contains("Incomplete.") && page.matches("<section").count() == FIGURES.len());
    assert_eq!(page.matches("data:image/png").count(), 2);
    // The figures have the numbers of `deferred`.
    let flags = ["--camera-move", "0.2,0,0.1", "--method", "jrk,sds", "--traffic"];
    let size = ["--width", "96", "--height", "64", "--tessellate", "60", "--json"];
    let rows = place.document(&[&["deferred", "plane"], &size[..], &flags].concat());
    let figure = document(&place, "whole", "sds-fig10");
    let sds = rows["rows"][1]["traffic_bytes"]["total"].as_f64().unwrap() / 1e6;
    assert_eq!(figure["rows"][0]["sds_mb"].as_f64(), Some(sds));
    let gops = &rows["rows"][0]["raster"]["gops"]["total"];
    let table1 = document(&place, "whole", "sds-table1");
    assert_eq!([&table1["rows"][0]["jrk"], &table1["rows"][6]["jrk"]], [&4.3.into(), gops]);
    assert_eq!(document(&place, "whole", "sds-fig11")["rows"].as_array().unwrap().len(), 3);

    place.expect(INCOMPLETE, &arguments("parts", &["--shard", "2/2"]));
    assert!(read(&place, "parts", "index.html").contains("Incomplete."));
    assert_eq!(document(&place, "parts", "sds-fig11")["missing"][0], "trace orbit");
    // A line that a stopped run left incomplete does not count.
    let torn = place.path("parts").join("results.2-of-2.jsonl");
    let complete = fs::read_to_string(&torn).unwrap();
    let cut = complete.len() - 9;
    fs::write(&torn, &complete[..cut]).unwrap();
    place.expect(INCOMPLETE, &arguments("parts", &["--shard", "1/2"]));
    place.expect(DONE, &arguments("parts", &["--shard", "2/2"]));
    for figure in FIGURES {
        let name = format!("{figure}.csv");
        assert_eq!(read(&place, "parts", &name), read(&place, "whole", &name));
    }
    // Nothing is run again.
    let results = read(&place, "whole", "results.jsonl");
    place.expect(DONE, &arguments("whole", &[]));
    assert_eq!(read(&place, "whole", "results.jsonl"), results);
}

#[test]
fn suites_of_two_papers_make_one_page() {
    let place = place();
    let splats =
        "[[scene]]\nname = \"s\"\npath = \"../scene.ply\"\norbit = 1\nwidth = 16\nheight = 12\n";
    fs::write(place.path("suites").join("splats.toml"), splats).unwrap();
    let only = ["--quick", "--only", "fig16,sds-table1"];
    let suites = ["figures", "suites/splats.toml", "suites/suite.toml", "-o", "out", "-q"];
    place.expect(DONE, &[&suites[..], &only].concat());
    let page = read(&place, "out", "index.html");
    assert_eq!(page.matches("<section").count(), 2, "the chosen figures");
    for text in ["<h2>VR-Pipe</h2>", "<h2>Sort-based deferred shading</h2>", "href=\"#sds-table1\""]
    {
        assert!(page.contains(text), "{text}");
    }
    let summary = read(&place, "out", "summary.csv");
    let ours = |start: &str| {
        let line = summary.lines().find(|line| line.starts_with(start)).unwrap();
        line.split(',').nth(5).unwrap().parse::<f64>().unwrap()
    };
    let fig16 = document(&place, "out", "fig16");
    assert_eq!(ours("vr-pipe,fig16,speedup of HET,"), fig16["ours"][1]);
    let table1 = document(&place, "out", "sds-table1");
    let start = "sort-based-deferred-shading,sds-table1,SDS over JRK,";
    assert_eq!(ours(start), table1["ours"][2]);
}

#[test]
fn chosen_figures_run_their_own_jobs() {
    let place = place();
    place.expect(DONE, &arguments("out", &["--only", "sds-fig12", "--quick"]));
    assert_eq!(read(&place, "out", "results.jsonl").lines().count(), 1);
    assert!(!place.path("out").join("sds-fig10.csv").exists());
    place.expect_error(USAGE, &arguments("out", &["--only", "fig16"]), &["--only", "sds-fig13"]);
}

#[test]
fn the_suite_of_the_repository_is_read() {
    let place = Place::new();
    let suite = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/deferred.toml");
    // A shard without jobs.
    let flags = ["figures", suite, "-o", "out", "-q", "--shard", "99/99"];
    place.expect(INCOMPLETE, &flags);
    let page = read(&place, "out", "index.html");
    assert!(page.contains("trace flight") && page.contains("heat column"));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/mesh.toml");
    let text = fs::read_to_string(path).unwrap();
    let suite = quadrille::suite::Suite::parse(&text, path.as_ref()).unwrap();
    let suite = suite.meshes().clone();
    let names: Vec<_> = suite.keys().map(ToString::to_string).collect();
    assert_eq!(names.len(), 172);
    assert_eq!(names[1], "merging PLANE, bound, rows, grids");
    assert!(names.contains(&"pixels_dense BIGGUY, 0.5 px".to_owned()));
}

#[test]
fn wrong_suites_are_errors() {
    let place = place();
    let cases = [
        ("\"deferred\"", "\"other\"", "workload"),
        ("mesh = \"plane\"", "mash = \"plane\"", "mash"),
        ("name = \"square\"", "name = \"plane\"", "square"),
        ("\"plane\", \"square\"", "\"plane\", \"plain\"", "plain"),
        ("\"orbit\"", "\"../orbit\"", "letters"),
        ("orbit = 3", "orbits = 3", "orbits"),
        ("shutter = 0.1", "shutter = 2", "shutter"),
        ("memo = [16", "memo = [0", "16777216"),
        ("name = \"blur\"", "name = \"scene\"", "name of its own"),
    ];
    for (before, after, word) in cases {
        let mut text = SUITE.replace(before, after);
        assert_ne!(text, SUITE);
        if word == "name of its own" {
            text = text.replace("\"sharp\", \"blurred\"", "\"plane\", \"square\"");
        }
        fs::write(place.path("suites").join("suite.toml"), text).unwrap();
        place.expect_error(UNREADABLE, &arguments("out", &[]), &["suite.toml", word]);
    }
    fs::write(place.path("suites").join("suite.toml"), "workload = \"deferred\"").unwrap();
    place.expect_error(UNREADABLE, &arguments("out", &[]), &["at least one"]);
}

/// A square with a texture, seen by cameras of a file.
const INPUTS: &str = r#"workload = "deferred"
[[mesh]]
name = "square"
mesh = "square.obj"
width = 48
height = 32
[[study]]
name = "scene"
cameras = "cameras.json"
view = "0"
method = ["cached-decoupled", "cached-decoupled+z", "sds"]
grid = ["pixel", "adaptive"]
traffic = true
[[study]]
name = "heat"
coc_px = 8
grid = ["pixel", "adaptive"]
tile = 32
heat = true
"#;

const TEXTURED: &str = "mtllib square.mtl\nusemtl painted\nv -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\n\
    vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nf 1/1 2/2 3/3 4/4\n";

/// One camera in front of the square, at a distance.
fn cameras(distance: f64) -> String {
    format!(
        r#"[{{"id": 0, "img_name": "front", "width": 48, "height": 32, "position": [0, 0, {distance}],
            "rotation": [[1, 0, 0], [0, -1, 0], [0, 0, -1]], "fx": 40, "fy": 40}}]"#
    )
}

fn texture(place: &Place, name: &str, colour: [u8; 4]) {
    let picture = image::RgbaImage::from_pixel(4, 4, image::Rgba(colour));
    picture.save(place.path("suites").join(name)).unwrap();
}

/// A folder whose suite has been run once.
fn inputs() -> Place {
    let place = place();
    let write = |name: &str, text: &str| fs::write(place.path("suites").join(name), text).unwrap();
    write("suite.toml", INPUTS);
    write("square.obj", TEXTURED);
    write("square.mtl", "newmtl painted\nmap_Kd square.png\n");
    write("cameras.json", &cameras(4.0));
    texture(&place, "square.png", [255, 0, 0, 255]);
    place.expect(DONE, &arguments("out", &[]));
    assert_eq!(results(&place).len(), 2);
    // Unchanged inputs: nothing is run.
    place.expect(DONE, &arguments("out", &[]));
    assert_eq!(results(&place).len(), 2);
    place
}

fn results(place: &Place) -> Vec<Value> {
    let text = read(place, "out", "results.jsonl");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Runs the suite again, expects `added` rows, and that the page shows what a run in a fresh folder shows.
fn expect_run_again(place: &Place, added: usize) {
    let before = results(place).len();
    place.expect(DONE, &arguments("out", &[]));
    assert_eq!(results(place).len(), before + added);
    place.expect(DONE, &arguments("fresh", &[]));
    for figure in FIGURES {
        let name = format!("{figure}.csv");
        assert_eq!(read(place, "out", &name), read(place, "fresh", &name));
    }
    let page = |folder: &str| {
        let page = read(place, folder, "index.html");
        page.replace(&format!("-o {folder}"), "-o DIR")
    };
    assert_eq!(page("out"), page("fresh"));
    // Only once.
    place.expect(DONE, &arguments("out", &[]));
    assert_eq!(results(place).len(), before + added);
}

#[test]
fn a_changed_mesh_is_run_again() {
    let place = inputs();
    let before = read(&place, "out", "sds-fig10.csv");
    let square = place.path("suites").join("square.obj");
    fs::write(&square, TEXTURED.replace("v 1 1 0", "v 0.5 0.5 0")).unwrap();
    expect_run_again(&place, 2);
    assert_ne!(read(&place, "out", "sds-fig10.csv"), before);
    // Numbers of the first mesh are still in the file, but its heat maps are overwritten.
    fs::write(&square, TEXTURED).unwrap();
    place.expect(DONE, &arguments("out", &[]));
    assert_eq!(results(&place).len(), 5);
    assert_eq!(read(&place, "out", "sds-fig10.csv"), before);
}

#[test]
fn a_changed_material_or_texture_is_run_again() {
    let place = inputs();
    texture(&place, "square.png", [0, 0, 255, 255]);
    expect_run_again(&place, 2);
    let material = "newmtl painted\nmap_Kd square.png\nd 0.5\n";
    fs::write(place.path("suites").join("square.mtl"), material).unwrap();
    expect_run_again(&place, 2);
    // A texture that is named but absent, and then appears.
    fs::remove_file(place.path("suites").join("square.png")).unwrap();
    place.expect(DONE, &arguments("out", &[]));
    let rows = results(&place).len();
    texture(&place, "square.png", [0, 255, 0, 255]);
    place.expect(DONE, &arguments("out", &[]));
    assert_eq!(results(&place).len(), rows + 2);
}

#[test]
fn a_changed_camera_file_is_run_again() {
    let place = inputs();
    let before = read(&place, "out", "sds-fig10.csv");
    fs::write(place.path("suites").join("cameras.json"), cameras(2.5)).unwrap();
    expect_run_again(&place, 1);
    assert_ne!(read(&place, "out", "sds-fig10.csv"), before);
}

#[test]
fn a_changed_heat_map_is_run_again() {
    let place = inputs();
    let map = place.path("out").join("heat square.sds-32.png");
    fs::remove_file(&map).unwrap();
    place.expect(DONE, &arguments("out", &[]));
    assert_eq!(results(&place).len(), 3);
    assert!(map.exists());
}

#[test]
fn rows_of_another_program_are_run_again() {
    let place = inputs();
    let path = place.path("out").join("results.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let first = results(&place)[0]["fingerprint"].as_str().unwrap().to_owned();
    // The row of another build has another fingerprint.
    fs::write(&path, text.replace(&first, "0123456789abcdef")).unwrap();
    expect_run_again(&place, 1);
    // A row without a fingerprint, as earlier versions wrote it, is not used.
    let mut row = results(&place)[1].clone();
    row.as_object_mut().unwrap().remove("fingerprint");
    fs::write(&path, format!("{row}\n")).unwrap();
    place.expect(DONE, &arguments("out", &[]));
    assert_eq!(results(&place).len(), 3);
}

#[test]
fn a_changed_displacement_map_is_run_again() {
    let place = inputs();
    let cameras = "cameras = \"cameras.json\"\nview = \"0\"\n";
    let displaced = "tessellate = 20\ndisplace = \"heights.png\"\ndisplace_by = 1\n";
    let suite = INPUTS.replace(cameras, displaced);
    assert!(suite.contains("heights.png") && !suite.contains("cameras.json"));
    fs::write(place.path("suites").join("suite.toml"), suite).unwrap();
    texture(&place, "heights.png", [0, 0, 0, 255]);
    place.expect(DONE, &arguments("out", &[]));
    let before = read(&place, "out", "sds-fig10.csv");
    texture(&place, "heights.png", [255, 255, 255, 255]);
    expect_run_again(&place, 1);
    // The default view frames the surface; what it covers depends on its place.
    let rows = results(&place);
    let [old, new] = [rows.len() - 2, rows.len() - 1].map(|at| &rows[at]);
    assert_ne!(old["fingerprint"], new["fingerprint"]);
    assert_eq!(read(&place, "out", "sds-fig10.csv").lines().count(), before.lines().count());
}

/// The suite of merging units over the square, whose texture it names itself.
const MERGING: &str = r#"workload = "merging"
[[mesh]]
name = "square"
mesh = "square.obj"
[[study]]
name = "merging"
width = 48
height = 32
cameras = "cameras.json"
view = "0"
method = ["none", "qfm"]
buffer = [4, "unbounded"]
psnr = true
[[study.axis]]
name = "culling"
points = [{ name = "quads" }, { name = "grids", cull = "grids" }]
"#;

/// Runs the suite of merging units as `bench` does, and returns its rows.
fn bench_merging(place: &Place) -> Vec<Value> {
    place.expect(DONE, &["bench", "suites/suite.toml", "-o", "rows.jsonl", "-q"]);
    let text = fs::read_to_string(place.path("rows.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn runs_of_merging_units_follow_mesh_texture_cameras_and_program() {
    let place = inputs();
    let write = |name: &str, text: &str| fs::write(place.path("suites").join(name), text).unwrap();
    write("suite.toml", MERGING);
    let rows = bench_merging(&place);
    let names: Vec<_> = rows.iter().map(|row| &row["settings"]["culling"]).collect();
    assert_eq!(names, ["quads", "grids"]);
    assert_eq!(bench_merging(&place).len(), 2, "nothing is run again");
    // The rows equal the rows of `mesh`.
    let flags = "--cameras suites/cameras.json --view 0 --width 48 --height 32 --psnr --json";
    let units = "--method none,qfm --buffer 4,unbounded --cull grids";
    let words = ["mesh", "suites/square.obj"].into_iter();
    let words = words.chain(flags.split(' ')).chain(units.split(' '));
    let document = place.document(&words.collect::<Vec<_>>());
    let of_mesh = document["rows"].as_array().unwrap();
    for (ours, theirs) in rows[1]["rows"].as_array().unwrap().iter().zip(of_mesh) {
        let (mut ours, mut theirs) = (ours.clone(), theirs.clone());
        for row in [&mut ours, &mut theirs] {
            let row = row.as_object_mut().unwrap();
            row.shift_remove("host_ms");
            row.shift_remove("mesh");
        }
        assert_eq!(ours, theirs);
    }
    write("square.obj", &TEXTURED.replace("v 1 1 0", "v 0.5 0.5 0"));
    assert_eq!(bench_merging(&place).len(), 4, "mesh");
    texture(&place, "square.png", [0, 0, 255, 255]);
    assert_eq!(bench_merging(&place).len(), 6, "texture");
    write("cameras.json", &cameras(2.5));
    let rows = bench_merging(&place);
    assert_eq!(rows.len(), 8, "camera file");
    let last = rows[7]["fingerprint"].as_str().unwrap();
    let text = fs::read_to_string(place.path("rows.jsonl")).unwrap();
    let of_another = text.replace(last, "0123456789abcdef");
    fs::write(place.path("rows.jsonl"), of_another).unwrap();
    assert_eq!(bench_merging(&place).len(), 9, "program");
    // Two shards, merged.
    let bench = |more: &[&str]| {
        let command = ["bench", "suites/suite.toml", "-o", "parts.jsonl", "-q"];
        place.expect(DONE, &[&command[..], more].concat())
    };
    bench(&["--shard", "1/2"]);
    bench(&["--shard", "2/2"]);
    bench(&["--merge"]);
    let merged = fs::read_to_string(place.path("parts.jsonl")).unwrap();
    assert_eq!(merged.lines().count(), 2);
    let printed = place.document(&["bench", "parts.jsonl", "--json"]);
    assert_eq!(printed["rows"].as_array().unwrap().len(), 2);
    let csv = place.expect(DONE, &["bench", "parts.jsonl", "--csv"]);
    let csv = String::from_utf8(csv.stdout).unwrap();
    assert!(csv.starts_with("study,mesh,") && csv.lines().count() == 1 + 6, "{csv}");
}

#[test]
fn a_results_file_is_written_by_one_run_at_a_time() {
    let place = inputs();
    let file = fs::File::open(place.path("out").join("results.jsonl")).unwrap();
    file.lock().unwrap();
    let words = ["results.jsonl", "another run is writing this file"];
    place.expect_error(UNWRITABLE, &arguments("out", &[]), &words);
}

#[test]
fn heat_maps_of_names_with_points_stay_apart() {
    let place = inputs();
    let suite = INPUTS.replace("name = \"square\"", "name = \"a\"");
    let other =
        "[[mesh]]\nname = \"a.b\"\nmesh = \"plane\"\ntessellate = 60\nwidth = 48\nheight = 32\n";
    let suite = suite.replacen("[[study]]", &format!("{other}[[study]]"), 1);
    fs::write(place.path("suites").join("suite.toml"), suite).unwrap();
    place.expect(DONE, &arguments("out", &["--only", "sds-fig13"]));
    let page = read(&place, "out", "index.html");
    for caption in
        ["a, sds-32", "a, sds-32-adaptive", "a.b, sds-32-60px", "a.b, sds-32-adaptive-60px"]
    {
        assert_eq!(page.matches(&format!("{caption}<")).count(), 1, "{caption}");
    }
}
