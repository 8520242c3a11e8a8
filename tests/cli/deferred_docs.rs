//! Tables of docs/deferred.md: the program computes a column of each again, or all of a cheap one.

use std::path::Path;

use serde_json::Value;

use crate::page_tables::Table;
use crate::support::program::Place;
use crate::support::skipped;

const PAGE: &str = include_str!("../../docs/deferred.md");
const HALL: &str = "arcade --tessellate 200";
const FLIGHT: &str = "--checker 8 --shutter 0.5 --coc-px 4 --traffic";
const DECOUPLED: &str = "--method cached-decoupled,cached-decoupled+z,sds --grid pixel,adaptive";

/// Checks the rows of `column` whose name is a pipeline, or that and ", adaptive grid".
fn expect_pipelines(table: &Table, column: &str, rows: &[Value], number: impl Fn(&Value) -> f64) {
    for row in &table.rows {
        let (pipeline, grid) = match row[0].split_once(", ") {
            None => (&*row[0], "pixel"),
            Some((pipeline, _)) => (pipeline, "adaptive"),
        };
        table.expect(row, column, &[number(find(rows, pipeline, grid))]);
    }
}

fn find<'a>(rows: &'a [Value], pipeline: &str, grid: &str) -> &'a Value {
    let is_it = |row: &&Value| row["pipeline"] == pipeline && row["grid"] == grid;
    rows.iter().find(is_it).unwrap()
}

/// Rows of `deferred` for the flags of all parts.
fn rows(parts: &[&str]) -> Vec<Value> {
    let words = parts.iter().flat_map(|part| part.split(' '));
    let words: Vec<&str> = ["deferred"].into_iter().chain(words).collect();
    let document = Place::new().document(&[&words[..], &["--json"]].concat());
    document["rows"].as_array().unwrap().clone()
}

/// The rows of a view of the hall from its flight.
fn rows_of_flight(view: &str, size: &str) -> Vec<Value> {
    let cameras = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes/arcade.cameras.json");
    let mut parts = vec![HALL, FLIGHT, DECOUPLED, size, "--view", view, "--cameras"];
    parts.push(cameras.to_str().unwrap());
    rows(&parts)
}

fn number(row: &Value, pointer: &str) -> f64 {
    row.pointer(pointer).and_then(Value::as_f64).unwrap()
}

fn per_pixel(row: &Value) -> f64 {
    number(row, "/shading/per_pixel")
}

fn megabytes(row: &Value) -> f64 {
    number(row, "/traffic_bytes/total") / 1e6
}

#[test]
fn shading_by_blur() {
    if skipped::is_slow() {
        return;
    }
    let table = Table::new(PAGE, "Figures 1 and 9", 0);
    let pipelines = "--method msaa,cached-decoupled,cached-decoupled+z,sds --grid pixel,adaptive";
    for (column, blur) in [
        ("sharp", "--samples 16"),
        ("light", "--spin 0,1,0,0.5 --coc-px 1"),
        ("medium", "--spin 0,1,0,2 --coc-px 4"),
        ("heavy", "--spin 0,1,0,5 --coc-px 10"),
    ] {
        let rows = rows(&[HALL, "--width 640 --height 360", blur, pipelines]);
        expect_pipelines(&table, column, &rows, per_pixel);
    }
}

#[test]
fn operations_traffic_and_shading_of_a_scene() {
    if skipped::is_slow() {
        return;
    }
    let rows = rows_of_flight("50", "--width 1280 --height 720");
    let [jrk, jrk_z, sds] =
        ["cached-decoupled", "cached-decoupled+z", "sds"].map(|name| find(&rows, name, "pixel"));
    let [jrk_z_adaptive, sds_adaptive] =
        ["cached-decoupled+z", "sds"].map(|name| find(&rows, name, "adaptive"));
    let gops = |row| number(row, "/raster/gops/total");
    let quads = |row| number(row, "/shading/quads");
    let operations = [
        gops(jrk),
        gops(jrk_z),
        gops(sds),
        gops(jrk_z) / gops(jrk),
        gops(sds) / gops(jrk),
        100.0 * number(sds, "/raster/efficiency"),
    ];
    let traffic_and_shading = [
        megabytes(jrk),
        megabytes(jrk_z),
        megabytes(sds),
        quads(sds) / quads(jrk_z),
        quads(sds_adaptive) / quads(jrk_z_adaptive),
        quads(jrk) / quads(jrk_z),
        quads(sds) / quads(sds_adaptive),
        per_pixel(jrk_z),
        per_pixel(sds),
        per_pixel(jrk_z_adaptive),
        per_pixel(sds_adaptive),
        100.0 * number(sds, "/spid/ratio"),
        number(sds, "/sort/passes_mean"),
        number(sds, "/sort/on_chip_bytes") / 1e6,
    ];
    for (heading, numbers) in [("Table 1", &operations[..]), ("Figure 10", &traffic_and_shading)] {
        let table = Table::new(PAGE, heading, 0);
        assert_eq!(table.rows.len(), numbers.len());
        for (row, number) in table.rows.iter().zip(numbers) {
            table.expect(row, "arcade 50", &[*number]);
        }
    }
}

#[test]
fn traffic_and_shading_of_the_flight() {
    if skipped::is_slow() {
        return;
    }
    let rows = rows_of_flight("60", "--width 640 --height 360");
    let [traffic, shading] = [0, 1].map(|number| Table::new(PAGE, "Figure 11", number));
    expect_pipelines(&traffic, "60", &rows, megabytes);
    expect_pipelines(&shading, "60", &rows, per_pixel);
}

#[test]
fn shading_by_the_size_of_tiles() {
    if skipped::is_slow() {
        return;
    }
    let table = Table::new(PAGE, "Figures 12 and 13", 0);
    let tiles = "--method sds --grid pixel,adaptive --tile 32,64,128,256,whole";
    let blur = "--width 1280 --height 720 --spin 0,1,0,2 --coc-px 4";
    let found = rows(&[HALL, blur, tiles]);
    assert_eq!(table.rows.len(), found.len());
    for (row, found) in table.rows.iter().zip(&found) {
        let tile = match &found["tile_px"] {
            Value::String(whole) => whole.clone(),
            side => side.to_string(),
        };
        assert_eq!((&*row[0], &row[1]), (found["grid"].as_str().unwrap(), &tile));
        table.expect(row, "medium", &[per_pixel(found)]);
    }
}
