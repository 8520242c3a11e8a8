//! The scenes and traces: Table 1, Figures 10 and 11, and the numbers of section 4.

use super::results::{
    ADAPTIVE, BYTES, COLOUR_BYTES, DEPTH_BYTES, DeferredResults, DeferredRun, EFFICIENCY,
    EXECUTIONS, GOPS, JRK, JRK_Z, Measure, PIPELINES, PIXEL, SDS, SORT_BYTES, SORT_PASSES,
    SPID_RATIO,
};
use crate::content::Content;
use crate::paper::Figure;
use crate::sheet::{Bars, Sheet, quotient};
use quadrille_charts::{Axis, LineChart, LineKind, LineSeries};
use quadrille_suite::rows::{DeferredRow, ShadingGridKind};

const MEGABYTE: f64 = 1e6;
const MEBIBYTE: f64 = 1_048_576.0;
const NAMES: [[&str; 2]; 3] = [["jrk", "JRK"], ["jrk_z", "JRK+Z"], ["sds", "SDS"]];

fn by_scene<'a>(figure: &'static Figure, results: &'a DeferredResults) -> Sheet<&'a DeferredRun> {
    Sheet::labelled(figure, results.of("scene"), "scenes", "scene", |run| run.name())
}

/// Shares of the raster's steps in its operations.
const STEPS: [(&str, &str, Measure); 4] = [
    ("setup_share", "set-up", |row| share(row, row.raster.gops.setup)),
    ("tile_share", "tiles", |row| share(row, row.raster.gops.tile)),
    ("sample_share", "samples", |row| share(row, row.raster.gops.sample)),
    ("hit_share", "hits", |row| share(row, row.raster.gops.hit)),
];

fn share(row: &DeferredRow, gops: f64) -> Option<f64> {
    quotient(Some(gops), Some(row.raster.gops.total))
}

pub(super) fn table_1(figure: &'static Figure, results: &DeferredResults) -> Content {
    let mut sheet = by_scene(figure, results);
    for ([key, name], pipeline) in NAMES.into_iter().zip(PIPELINES) {
        sheet.number(key, name, |run| run.number(pipeline, PIXEL, GOPS));
    }
    sheet
        .ratio("jrk_z_over_jrk", "JRK+Z over JRK", ["jrk_z", "jrk"])
        .ratio("sds_over_jrk", "SDS over JRK", ["sds", "jrk"])
        .share("efficiency", "samples hit", |run| run.number(JRK, PIXEL, EFFICIENCY));
    for (key, heading, share) in STEPS {
        sheet.share(key, heading, |run| run.number(JRK, PIXEL, share));
    }
    sheet.bars(Bars {
        title: "Operations of the raster",
        axis: Axis::linear("Gops per frame"),
        series: &NAMES,
        caption: "The paper's scenes take 4.1 to 6.6 Gops with JRK.",
        ..Bars::default()
    });
    let statement = "A depth prepass has substantially higher cost (Table 1).";
    sheet.judge(statement, |scene| Some((1.8..2.05).contains(&scene.of("jrk_z_over_jrk")?)));
    let statement = "Blended draws increase the cost of set-up slightly (section 6).";
    sheet.judge(statement, |scene| Some(scene.of("sds_over_jrk")? <= 1.03));
    sheet.finish()
}

const GRIDS: [(ShadingGridKind, &str); 2] = [(PIXEL, ""), (ADAPTIVE, "_aas")];

pub(super) fn figure_10(figure: &'static Figure, results: &DeferredResults) -> Content {
    let mut sheet = by_scene(figure, results);
    sheet.number("motion_px", "motion, px", |run| run.blur()[0]).number(
        "coc_px",
        "circle of confusion, px",
        |run| run.blur()[1],
    );
    for (grid, suffix) in GRIDS {
        for ([key, name], pipeline) in NAMES.into_iter().zip(PIPELINES) {
            let key = format!("{key}{suffix}_mb");
            let megabytes = |run: &&DeferredRun| run.number(pipeline, grid, MEGABYTES);
            match suffix {
                "" => sheet.number(&key, &format!("{name}, MB"), megabytes),
                _ => sheet.hidden(&key, megabytes),
            };
        }
    }
    for (grid, suffix) in GRIDS {
        for ([key, name], pipeline) in NAMES.into_iter().zip(PIPELINES) {
            let heading = match suffix {
                "" => format!("{name}, per px"),
                _ => format!("{name}, AAS"),
            };
            sheet.number(&format!("{key}{suffix}_per_px"), &heading, |run| {
                run.number(pipeline, grid, EXECUTIONS)
            });
        }
    }
    sheet.bars(Bars {
        title: "Traffic",
        axis: Axis::linear("MB per frame"),
        series: &[["jrk_mb", "JRK"], ["jrk_z_mb", "JRK+Z"], ["sds_mb", "SDS"]],
        caption: "Depths, headers, colours, identifiers and the resolve.",
        ..Bars::default()
    });
    sheet.bars(Bars {
        title: "Shader executions",
        axis: Axis::linear("executions per pixel"),
        series: &[
            ["jrk_per_px", "JRK"],
            ["jrk_z_per_px", "JRK+Z"],
            ["sds_per_px", "SDS"],
            ["jrk_aas_per_px", "JRK, AAS"],
            ["jrk_z_aas_per_px", "JRK+Z, AAS"],
            ["sds_aas_per_px", "SDS, AAS"],
        ],
        caption: "The excess of SDS over JRK+Z is bin spread.",
        ..Bars::default()
    });
    let statement =
        "Sort-based deferred shading consumes significantly less bandwidth for most scenes.";
    sheet.judge(statement, |scene| {
        Some(scene.of("sds_mb")? < scene.of("jrk_mb")?.min(scene.of("jrk_z_mb")?))
    });
    let statement = "A prepass increases the traffic of depths and reduces the traffic of colours, for a net gain.";
    let wins: Vec<_> = sheet.rows().iter().map(|run| prepass_wins(run)).collect();
    sheet.claim(statement, "scenes", wins);
    sheet.judge("With AAS, the executions of JRK+Z and SDS are even more similar.", |scene| {
        let excess = |grid: &str| {
            let of = |key: &str| scene.of(&format!("{key}{grid}_per_px"));
            Some(of("sds")? - of("jrk_z")?)
        };
        Some(excess("_aas")? <= excess("")?)
    });
    sheet.finish()
}

/// Whether a depth prepass adds depth traffic but saves colour traffic and total traffic.
fn prepass_wins(run: &DeferredRun) -> Option<bool> {
    let change = |measure: Measure| {
        let of = |pipeline| run.number(pipeline, PIXEL, measure);
        Some(of(JRK_Z)? - of(JRK)?)
    };
    Some(change(DEPTH_BYTES)? > 0.0 && change(COLOUR_BYTES)? < 0.0 && change(BYTES)? < 0.0)
}

const BUFFERS: [(&str, &str, Measure); 3] = [
    ("tile_buffer_mib", "tile buffer, MiB", |row| Some(row.sort?.buffer_bytes as f64)),
    ("pairs_mib", "pairs of the picture, MiB", |row| Some(row.sort?.pairs_bytes as f64)),
    ("output_mib", "output buffer, MiB", |row| Some(row.sort?.output_bytes as f64)),
];

pub(super) fn sorting(figure: &'static Figure, results: &DeferredResults) -> Content {
    let mut sheet = by_scene(figure, results);
    sheet
        .share("identifiers", "identifiers", |run| run.number(SDS, PIXEL, SPID_RATIO))
        .number("passes", "passes", |run| run.number(SDS, PIXEL, SORT_PASSES))
        .number("on_chip_mb", "on chip, MB", |run| {
            Some(run.number(SDS, PIXEL, SORT_BYTES)? / MEGABYTE)
        });
    for (key, heading, of) in BUFFERS {
        sheet.number(key, heading, |run| Some(run.number(SDS, PIXEL, of)? / MEBIBYTE));
    }
    sheet.finish()
}

pub(super) fn figure_6(figure: &'static Figure, results: &DeferredResults) -> Content {
    let mut sheet = by_scene(figure, results);
    let positions: Measure = |row| Some(row.vertices.positions as f64);
    let attributes: Measure = |row| Some(row.vertices.attributes as f64);
    let skipped: Measure =
        |row| quotient(Some(row.draws_skipped? as f64), Some(row.sort?.tiles as f64));
    sheet.number("positions", "positions", |run| run.number(SDS, PIXEL, positions));
    for ([key, name], pipeline) in NAMES.into_iter().zip(PIPELINES) {
        let key = format!("{key}_attributes");
        sheet.number(&key, &format!("attributes, {name}"), |run| {
            run.number(pipeline, PIXEL, attributes)
        });
    }
    sheet.ratio("sds_over_jrk", "SDS over JRK", ["sds_attributes", "jrk_attributes"]).number(
        "draws_skipped",
        "draws skipped per tile",
        |run| run.number(SDS, PIXEL, skipped),
    );
    let statement = "The second pass shades the attributes of visible primitives only, fewer than a pass in submission order.";
    sheet.judge(statement, |scene| Some(scene.of("sds_over_jrk")? < 1.0));
    sheet.finish()
}

struct Plot {
    key: &'static str,
    title: &'static str,
    grid: ShadingGridKind,
    of: Measure,
    unit: &'static str,
}

const MEGABYTES: Measure = |row| Some(BYTES(row)? / MEGABYTE);
const PER_PX: &str = "executions per pixel";

const PLOTS: [Plot; 4] = [
    Plot { key: "mb", title: "Traffic", grid: PIXEL, of: MEGABYTES, unit: "MB per frame" },
    Plot {
        key: "gops",
        title: "Operations of the raster",
        grid: PIXEL,
        of: GOPS,
        unit: "Gops per frame",
    },
    Plot { key: "per_px", title: "Shader executions", grid: PIXEL, of: EXECUTIONS, unit: PER_PX },
    Plot {
        key: "per_px_aas",
        title: "Shader executions with AAS",
        grid: ADAPTIVE,
        of: EXECUTIONS,
        unit: PER_PX,
    },
];

pub(super) fn figure_11(figure: &'static Figure, results: &DeferredResults) -> Content {
    let traces: Vec<_> = results.of("trace").collect();
    let views = traces.iter().flat_map(|run| run.views());
    let label = |run: &DeferredRun| format!("{} {}", run.name(), run.view());
    let mut sheet = Sheet::new(figure, views, "views", label);
    sheet
        .text("trace", "trace", |run| run.name())
        .text("view", "view", |run| run.view().to_owned());
    for plot in PLOTS {
        for ([key, name], pipeline) in NAMES.into_iter().zip(PIPELINES) {
            let key = format!("{key}_{}", plot.key);
            let value = |run: &DeferredRun| run.number(pipeline, plot.grid, plot.of);
            match plot.key {
                "mb" => sheet.number(&key, &format!("{name}, MB"), value),
                _ => sheet.hidden(&key, value),
            };
        }
    }
    for trace in &traces {
        for plot in PLOTS {
            let series = NAMES.iter().zip(0..).map(|([key, name], colour)| {
                let values = sheet.values(&format!("{key}_{}", plot.key)).into_iter();
                let of_trace = values.zip(sheet.rows()).filter(|(_, run)| run.key == trace.key);
                let points = of_trace.zip(0_u32..);
                let points = points.filter_map(|((value, _), at)| Some([f64::from(at), value?]));
                LineSeries::ours(*name, colour, points, LineKind::Line)
            });
            let title = format!("{} of {}", plot.title, trace.name());
            let axes = [Axis::linear("view"), Axis::linear(plot.unit)];
            let chart = LineChart::new(&title, axes, Vec::new(), series).draw();
            sheet.chart(chart, title);
        }
    }
    sheet.judge("SDS moves the fewest bytes throughout the trace.", |view| {
        Some(view.of("sds_mb")? < view.of("jrk_mb")?.min(view.of("jrk_z_mb")?))
    });
    let statement = "The raster of SDS costs about as much as the raster of JRK.";
    sheet.judge(statement, |view| Some(view.of("sds_gops")? <= 1.03 * view.of("jrk_gops")?));
    sheet.finish()
}
