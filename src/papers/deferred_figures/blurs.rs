//! Figures over amounts of blur: 9, 12 and 13, and the memo with adaptive shading.

use super::results::{
    ADAPTIVE, DeferredResults, DeferredRun, EXECUTIONS, JRK, JRK_Z, MSAA, PIXEL, QUADS, SDS,
};
use crate::content::{Content, Picture};
use crate::paper::Figure;
use crate::sheet::{Sheet, quotient};
use quadrille_charts::{Axis, LineChart, LineKind, LineSeries};
use quadrille_suite::rows::{DeferredPipeline, ShadingGridKind};

const AMOUNTS: &str = "amounts of blur";
const GRIDS: [(ShadingGridKind, &str); 2] = [(PIXEL, ""), (ADAPTIVE, ", AAS")];

/// Columns of Figure 9 with their names, pipeline and grid.
const LINES: [([&str; 2], DeferredPipeline, ShadingGridKind); 7] = [
    (["msaa", "MSAA"], MSAA, PIXEL),
    (["jrk", "JRK"], JRK, PIXEL),
    (["jrk_z", "JRK+Z"], JRK_Z, PIXEL),
    (["sds", "SDS"], SDS, PIXEL),
    (["jrk_aas", "JRK, AAS"], JRK, ADAPTIVE),
    (["jrk_z_aas", "JRK+Z, AAS"], JRK_Z, ADAPTIVE),
    (["sds_aas", "SDS, AAS"], SDS, ADAPTIVE),
];

fn add_blur<R>(sheet: &mut Sheet<R>, run: impl Fn(&R) -> &DeferredRun) {
    sheet
        .text("blur", "blur", |row| run(row).name())
        .number("motion_px", "motion, px", |row| run(row).blur()[0])
        .number("coc_px", "circle of confusion, px", |row| run(row).blur()[1]);
}

fn by_grid<'a>(
    figure: &'static Figure,
    results: &'a DeferredResults,
) -> Sheet<(&'a DeferredRun, (ShadingGridKind, &'static str))> {
    let rows = results.of("blur").flat_map(|run| GRIDS.map(|grid| (run, grid)));
    let mut sheet =
        Sheet::new(figure, rows, AMOUNTS, |(run, (_, end))| format!("{}{end}", run.name()));
    add_blur(&mut sheet, |(run, _)| run);
    sheet.text("grid", "grid", |(_, (grid, _))| grid.to_string());
    sheet
}

pub(super) fn figure_9(figure: &'static Figure, results: &DeferredResults) -> Content {
    let mut sheet = Sheet::new(figure, results.of("blur"), AMOUNTS, |run| run.name());
    add_blur(&mut sheet, |run| run);
    for ([key, name], pipeline, grid) in LINES {
        sheet.number(key, name, |run| run.number(pipeline, grid, EXECUTIONS));
    }
    sheet.ratio("msaa_over_jrk", "MSAA over JRK", ["msaa", "jrk"]);
    let series = LINES.iter().zip(0..).map(|(([key, name], ..), colour)| {
        let values = sheet.values(key).into_iter().zip(0_u32..);
        let points = values.filter_map(|(value, at)| Some([f64::from(at), value?]));
        LineSeries::ours(*name, colour, points, LineKind::Line)
    });
    let labels = sheet.rows().iter().zip(0_u32..);
    let labels = labels.map(|(run, at)| (f64::from(at), run.name())).collect();
    let axes = [Axis::linear("amount of blur"), Axis::log("executions per pixel")];
    let chart = LineChart::new("Shader executions by blur", axes, labels, series).draw();
    let caption = "MSAA rises with the blur; decoupled sampling stays near the sharp picture.";
    sheet.chart(chart, caption);
    let statement = "MSAA shades much more than decoupled sampling (at least 1.3 times here).";
    sheet.judge(statement, |run| {
        let blur = [run.of("motion_px"), run.of("coc_px")];
        let is_blurred = blur.into_iter().flatten().any(|px| px > 1.0);
        is_blurred.then_some(run.of("msaa")? / run.of("jrk")? >= 1.3)
    });
    let statement = "SDS is almost on par with JRK+Z (at most 1.3 times here).";
    sheet.judge(statement, |run| Some(run.of("sds")? / run.of("jrk_z")? <= 1.3));
    sheet.finish()
}

pub(super) fn figure_12(figure: &'static Figure, results: &DeferredResults) -> Content {
    let tiles = [Some(32), Some(64), Some(128), Some(256), None];
    let label = |tile: Option<u32>| tile.map_or("whole".to_owned(), |px| px.to_string());
    let mut sheet = by_grid(figure, results);
    for tile in tiles {
        let label = label(tile);
        sheet.number(&format!("per_px_{label}"), &label, |(run, (grid, _))| {
            run.tile(*grid, tile, EXECUTIONS)
        });
    }
    let ends = ["per_px_32", "per_px_whole"];
    sheet.ratio("growth_32", "32 over whole", ends);
    let columns = tiles.iter().zip(0_u32..).map(|(tile, at)| {
        let label = label(*tile);
        (format!("per_px_{label}"), f64::from(at), label)
    });
    let axes = [Axis::linear("side of the tiles, px"), Axis::linear("executions per pixel")];
    let caption = "The cost rises for small tiles due to bin spread, and hardly with AAS.";
    sheet.lines(["Shader executions by tile", caption], axes, &columns.collect::<Vec<_>>());
    let [small, whole] = ends.map(|key| sheet.values(key));
    let added = small.into_iter().zip(whole).map(|(small, whole)| Some(small? - whole?));
    let added: Vec<_> = added.collect();
    let fewer = added.chunks(GRIDS.len()).map(|added| Some(added[1]? <= added[0]?));
    sheet.claim("With AAS, tiles of 32 pixels add fewer executions than without.", AMOUNTS, fewer);
    sheet.finish()
}

pub(super) fn figure_13(figure: &'static Figure, results: &DeferredResults) -> Content {
    let mut sheet = Sheet::labelled(figure, results.of("heat"), "views", "view", |run| run.name());
    sheet.number("per_px", "SDS, per px", |run| run.tile(PIXEL, Some(32), EXECUTIONS)).number(
        "per_px_aas",
        "SDS, AAS",
        |run| run.tile(ADAPTIVE, Some(32), EXECUTIONS),
    );
    for run in results.of("heat") {
        let maps = run.heat.iter().map(|(name, png)| Picture {
            png: png.clone(),
            caption: format!("{}, {name}", run.name()),
        });
        sheet.pictures.extend(maps);
    }
    let statement = "AAS shades surfaces most sparsely that contribute most to bin spread.";
    sheet.judge(statement, |run| Some(run.of("per_px_aas")? < run.of("per_px")?));
    sheet.finish()
}

const MEMOS: [u32; 4] = [16, 64, 256, 1024];
/// Quads of the memo for the pixel grid; the adaptive grid needs a sixteenth.
const MEMO: u32 = 256;

pub(super) fn memo(figure: &'static Figure, results: &DeferredResults) -> Content {
    let mut sheet = by_grid(figure, results);
    for memo in MEMOS {
        sheet.whole(&format!("memo_{memo}"), &format!("memo of {memo}"), |(run, (grid, _))| {
            run.memo(*grid, memo, QUADS)
        });
    }
    let runs: Vec<_> = results.of("blur").collect();
    let quads = |run: &DeferredRun, grid: ShadingGridKind, memo: u32| run.memo(grid, memo, QUADS);
    // The strongest blur, where shading can be sparsest.
    let last = runs.last();
    let fewer = last.and_then(|run| quotient(quads(run, PIXEL, 1024), quads(run, ADAPTIVE, 1024)));
    sheet.ours("quads of the pixel grid over the adaptive grid", fewer);
    // The smallest memo with which the adaptive grid shades no more than the pixel grid with one of 256 quads.
    let saving = last.and_then(|run| {
        let limit = quads(run, PIXEL, MEMO)?;
        let mut memos = MEMOS.into_iter();
        let small = memos.find(|memo| quads(run, ADAPTIVE, *memo).is_some_and(|q| q <= limit))?;
        Some(f64::from(MEMO) / f64::from(small))
    });
    sheet.ours("memo of the pixel grid over the adaptive grid", saving);
    let suffices =
        runs.iter().map(|run| Some(quads(run, ADAPTIVE, MEMO / 16)? <= quads(run, PIXEL, MEMO)?));
    sheet.claim("A memo of a sixteenth suffices with AAS.", AMOUNTS, suffices);
    sheet.finish()
}
