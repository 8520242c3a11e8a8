//! Amounts of blur: Figures 9, 12 and 13, and the memo with adaptive shading.

use serde_json::{Value, json};

use super::comparisons::{claim, compare};
use super::results::{Kind, Results, Run, number};
use crate::figures::table::{Cell, Column, Table};
use crate::figures::{Content, Picture};
use crate::published::Statistic;
use crate::svg::{Axis, LineChart, LineKind, LineSeries, Series};

const EXECUTIONS: &str = "/shading/per_pixel";
const QUADS: &str = "/shading/quads";
/// Memo sizes of the comparison: the size for the pixel grid, and a sixteenth of it.
const MEMO: u64 = 256;
const SMALL_MEMO: u64 = 16;

/// Rows of Figure 9: name in files, on the page, pipeline and grid.
const ROWS: [[&str; 4]; 7] = [
    ["msaa", "MSAA", "msaa", "pixel"],
    ["jrk", "JRK", "jrk", "pixel"],
    ["jrk_z", "JRK+Z", "jrk+z", "pixel"],
    ["sds", "SDS", "sds", "pixel"],
    ["jrk_aas", "JRK, AAS", "jrk", "adaptive"],
    ["jrk_z_aas", "JRK+Z, AAS", "jrk+z", "adaptive"],
    ["sds_aas", "SDS, AAS", "sds", "adaptive"],
];

/// A chart of lines over labelled places.
fn lines(
    title: &str,
    [x, y]: [Axis; 2],
    labels: Vec<String>,
    series: Vec<(String, Vec<Option<f64>>)>,
) -> String {
    let at = |k: usize| k as f64;
    let series = series.into_iter().zip(0..).map(|((name, values), colour)| {
        let values = values.into_iter().enumerate();
        LineSeries {
            series: Series::ours(name, colour),
            points: values.filter_map(|(k, v)| Some([at(k), v?])).collect(),
            kind: LineKind::Line,
        }
    });
    let labels = labels.into_iter().enumerate();
    LineChart {
        title: title.to_owned(),
        x,
        x_labels: labels.map(|(k, label)| (at(k), label)).collect(),
        y,
        series: series.filter(|s| !s.points.is_empty()).collect(),
        marks: Vec::new(),
    }
    .svg()
}

/// The first cells of a run's row: name and blur.
fn key(run: &Run) -> Vec<Cell> {
    let [motion, coc] = run.blur();
    vec![run.name.as_str().into(), motion.into(), coc.into()]
}

fn key_columns() -> Vec<Column> {
    vec![
        Column::new("blur", "blur"),
        Column::new("motion_px", "motion, px"),
        Column::new("coc_px", "circle of confusion, px"),
    ]
}

pub(super) fn figure_9(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "Executions of the shader per pixel by amount of blur. Multisampling shades a quad of pixels for each triangle that \
         it shows; the others shade at points that do not move with the blur.",
    );
    let runs = results.of(Kind::Blur);
    let columns = ROWS.iter().map(|[key, name, ..]| Column::new(*key, *name));
    content.table = Table::new(key_columns().into_iter().chain(columns).collect());
    let of = |run: &Run, [_, _, pipeline, grid]: [&str; 4]| run.number(pipeline, grid, EXECUTIONS);
    for run in &runs {
        let numbers = ROWS.iter().map(|row| Cell::from(of(run, *row)));
        content
            .table
            .row(key(run).into_iter().chain(numbers).collect());
    }
    let labels = || runs.iter().map(|run| run.name.clone()).collect();
    let series = ROWS.iter().map(|row| {
        let values = runs.iter().map(|run| of(run, *row)).collect();
        (row[1].to_owned(), values)
    });
    let axes = [
        Axis::linear("amount of blur"),
        Axis::log("executions per pixel"),
    ];
    content.chart(
        lines(
            "Shader executions by blur",
            axes,
            labels(),
            series.collect(),
        ),
        "MSAA rises with the blur; decoupled sampling stays near the sharp picture.",
    );
    let blurred: Vec<_> = runs
        .iter()
        .filter(|run| run.blur().iter().flatten().any(|px| *px > 1.0))
        .collect();
    let ratio = |run: &Run, a: [&str; 4], b: [&str; 4]| Some(of(run, a)? / of(run, b)?);
    let statement = "MSAA shades much more than decoupled sampling (at least 1.3 times here).";
    let more = blurred
        .iter()
        .map(|run| Some(ratio(run, ROWS[0], ROWS[1])? >= 1.3));
    claim(&mut content, statement, "amounts of blur", more);
    let statement = "SDS is almost on par with JRK+Z (at most 1.3 times here).";
    let near = runs
        .iter()
        .map(|run| Some(ratio(run, ROWS[3], ROWS[2])? <= 1.3));
    claim(&mut content, statement, "amounts of blur", near);
    content
}

pub(super) fn figure_12(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "Executions of the shader per pixel of SDS by the side of the tiles. The text of the paper does not name the axis of \
         its figure; growth is relative to one tile for the whole screen.",
    );
    let tiles = [json!(32), json!(64), json!(128), json!(256), json!("whole")];
    let label = |tile: &Value| match tile.as_u64() {
        Some(px) => px.to_string(),
        None => "whole".to_owned(),
    };
    let mut columns = key_columns();
    columns.push(Column::new("grid", "grid"));
    columns.extend(tiles.iter().map(|tile| {
        let label = label(tile);
        Column::new(format!("per_px_{label}"), label)
    }));
    columns.push(Column::new("growth_32", "32 over whole"));
    content.table = Table::new(columns);
    let runs = results.of(Kind::Blur);
    let mut series = Vec::new();
    let mut claims = Vec::new();
    for run in &runs {
        let mut added = Vec::new();
        for (grid, name) in [("pixel", ""), ("adaptive", ", AAS")] {
            let values = tiles
                .each_ref()
                .map(|tile| number(run.tile(grid, tile)?, EXECUTIONS));
            let growth = values[0].zip(values[4]).map(|(small, whole)| small / whole);
            added.push(values[0].zip(values[4]).map(|(small, whole)| small - whole));
            let cells = values.into_iter().chain([growth]).map(Cell::from);
            let key = key(run).into_iter().chain([Cell::from(grid)]);
            content.table.row(key.chain(cells).collect());
            series.push((format!("{}{name}", run.name), values.to_vec()));
        }
        claims.push((|| Some(added[1]? <= added[0]?))());
    }
    let axes = [
        Axis::linear("side of the tiles, px"),
        Axis::linear("executions per pixel"),
    ];
    let labels = tiles.iter().map(label).collect();
    content.chart(
        lines("Shader executions by tile", axes, labels, series),
        "The cost rises for small tiles due to bin spread, and hardly with AAS.",
    );
    let statement = "With AAS, tiles of 32 pixels add fewer executions than without.";
    claim(&mut content, statement, "amounts of blur", claims);
    content
}

pub(super) fn figure_13(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "Executions of the shader per pixel with tiles of 32 pixels, without and with AAS, on the paper's scale of 1 to 64. \
         Bin spread shows as lines along the borders of tiles.",
    );
    content.table = Table::new(vec![
        Column::new("view", "view"),
        Column::new("per_px", "SDS, per px"),
        Column::new("per_px_aas", "SDS, AAS"),
    ]);
    let mut claims = Vec::new();
    for run in results.of(Kind::Heat) {
        let of = |grid: &str| number(run.tile(grid, &json!(32))?, EXECUTIONS);
        let [pixel, adaptive] = [of("pixel"), of("adaptive")];
        let cells = vec![run.name.as_str().into(), pixel.into(), adaptive.into()];
        content.table.row(cells);
        claims.push(pixel.zip(adaptive).map(|(p, a)| a < p));
        content
            .pictures
            .extend(run.heat.iter().map(|(name, png)| Picture {
                png: png.clone(),
                caption: format!("{}, {name}", run.name),
            }));
    }
    let statement = "AAS shades surfaces most sparsely that contribute most to bin spread.";
    claim(&mut content, statement, "views", claims);
    content
}

pub(super) fn memo(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "Quads that JRK shades with a memo of some quads. Vaidyanathan and others report half of the quads and a memo of a \
         sixteenth.",
    );
    let memos = [16, 64, 256, 1024];
    let mut columns = key_columns();
    columns.push(Column::new("grid", "grid"));
    columns.extend(
        memos.map(|quads| Column::whole(format!("memo_{quads}"), format!("memo of {quads}"))),
    );
    content.table = Table::new(columns);
    let runs = results.of(Kind::Blur);
    let quads = |run: &Run, grid: &str, memo: u64| number(run.memo(grid, memo)?, QUADS);
    for run in &runs {
        for grid in ["pixel", "adaptive"] {
            let cells = memos.map(|memo| Cell::from(quads(run, grid, memo)));
            let key = key(run).into_iter().chain([Cell::from(grid)]);
            content.table.row(key.chain(cells).collect());
        }
    }
    // The strongest blur, where shading can be sparsest.
    let last = runs.last();
    let fewer =
        last.and_then(|run| Some(quads(run, "pixel", 1024)? / quads(run, "adaptive", 1024)?));
    let quantity = "quads of the pixel grid over the adaptive grid";
    compare(&mut content, "memo", quantity, Statistic::Value, fewer);
    // The smallest memo with which the adaptive grid shades no more than the pixel grid with one of 256 quads.
    let saving = last.and_then(|run| {
        let limit = quads(run, "pixel", MEMO)?;
        let mut memos = memos.into_iter();
        let small = memos.find(|memo| quads(run, "adaptive", *memo).is_some_and(|q| q <= limit))?;
        Some(MEMO as f64 / small as f64)
    });
    let quantity = "memo of the pixel grid over the adaptive grid";
    compare(&mut content, "memo", quantity, Statistic::Value, saving);
    let statement = "A memo of a sixteenth suffices with AAS.";
    let suffices = runs
        .iter()
        .map(|run| Some(quads(run, "adaptive", SMALL_MEMO)? <= quads(run, "pixel", MEMO)?));
    claim(&mut content, statement, "amounts of blur", suffices);
    content
}
