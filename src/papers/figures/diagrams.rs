//! Counterparts of the paper's diagrams and timelines.

use super::results::{PAPER_PRESET, Results, ViewResult, by_view};
use crate::content::Content;
use crate::paper::Figure;
use crate::sheet::{Bars, Sheet, mean, quotient};
use quadrille_charts::{ActivityStrip, Axis, BarChart, Group, StripChart, number};

const STAGES: [(&str, &[&str]); 5] = [
    ("vertex shading", &["vertex"]),
    ("vertex post-processing", &["vpo"]),
    ("rasterization", &["setup", "coarse", "hi_z", "fine"]),
    ("fragment shading", &["launch", "cores"]),
    ("per-fragment processing", &["prop", "zrop", "crop"]),
];

const UNITS: [&str; 16] = [
    "vertex", "vpo", "tgc", "setup", "coarse", "hi_z", "fine", "tc", "prop", "zrop", "qru", "pack",
    "launch", "cores", "crop", "dram",
];

const MEANS: &str = "Mean over the first views of all scenes.";

fn utilisation(view: &ViewResult, method: &str, unit: &str) -> Option<f64> {
    view.number(method, &format!("units.{unit}.utilisation"))
}

fn mean_utilisation(views: &[&ViewResult], method: &str, unit: &str) -> Option<f64> {
    mean(views.iter().map(|view| utilisation(view, method, unit)))
}

pub(super) fn figure_2(figure: &'static Figure, results: &Results) -> Content {
    let views = results.first(PAPER_PRESET);
    let units = STAGES.iter().flat_map(|(stage, units)| units.iter().map(|unit| (*stage, *unit)));
    let mut sheet = Sheet::new(figure, units, "units", |(_, unit)| (*unit).to_owned());
    sheet
        .text("stage", "stage", |(stage, _)| (*stage).to_owned())
        .text("unit", "unit", |(_, unit)| (*unit).to_owned())
        .share("utilisation", "works in", |(_, unit)| mean_utilisation(&views, "baseline", unit));
    sheet.bars(Bars {
        title: "Work of the stages of the pipeline",
        axis: Axis::share("cycles with work"),
        series: &[["utilisation", "baseline"]],
        caption: MEANS,
        ..Bars::default()
    });
    sheet.finish()
}

/// Steps of Figure 4: label of the remaining items in table and chart, and counter.
const STEPS: [[&str; 3]; 7] = [
    ["splats of the scene", "splats", "scene.splats"],
    ["splats in view", "in view", "raster.splats"],
    ["triangles set up", "triangles", "raster.set_up"],
    ["raster tiles", "raster tiles", "raster.tiles"],
    ["quads rasterized", "quads", "quads.rasterized"],
    ["fragments rasterized", "fragments", "fragments.rasterized"],
    ["fragments blended", "blended", "fragments.blended"],
];

pub(super) fn figure_4(figure: &'static Figure, results: &Results) -> Content {
    let mut sheet = by_view(figure, results.first(PAPER_PRESET));
    let key = |path: &str| path.replace('.', "_");
    for [heading, _, path] in STEPS {
        sheet.whole(&key(path), heading, |view| view.number("baseline", path));
    }
    let groups = STEPS.map(|[_, name, path]| Group::of(name, [sheet.mean(&key(path))]));
    let axis = Axis::log("items, logarithmic");
    let chart = BarChart::new("Items behind each step", axis, &["baseline"], groups);
    sheet.chart(chart.draw(), MEANS);
    sheet.finish()
}

pub(super) fn figure_12(figure: &'static Figure, results: &Results) -> Content {
    let views = results.first(PAPER_PRESET);
    let mut sheet = Sheet::new(figure, UNITS, "units", |unit| (*unit).to_owned());
    sheet
        .text("unit", "unit", |unit| (*unit).to_owned())
        .share("baseline", "baseline", |unit| mean_utilisation(&views, "baseline", unit))
        .share("het_qm", "HET+QM", |unit| mean_utilisation(&views, "het+qm", unit));
    let groups = sheet.groups().into_iter().map(|unit| {
        // The baseline lacks two units, whose bars are missing for that reason.
        let without = match unit.label {
            "tgc" | "qru" => Some(0.0),
            _ => unit.of("baseline"),
        };
        Group::of(unit.label, [without, unit.of("het_qm")])
    });
    let chart = BarChart::new(
        "Work of the units without and with VR-Pipe",
        Axis::share("cycles with work"),
        &["baseline", "HET+QM"],
        groups,
    );
    sheet.chart(chart.draw(), MEANS);
    sheet.finish()
}

pub(super) fn figure_13(figure: &'static Figure, results: &Results) -> Content {
    let het = |path: &'static str| move |view: &&ViewResult| view.number("het", path);
    let mut sheet = by_view(figure, results.first(PAPER_PRESET));
    sheet
        .whole("rasterized", "fragments tested", het("fragments.rasterized"))
        .whole("terminated", "of them terminated", het("fragments.terminated"))
        .whole("blended", "blended", het("fragments.blended"))
        .whole("late", "of them late", het("fragments.late"))
        .whole("updates", "termination updates", het("termination_updates"))
        .whole("pixels", "pixels", |view| Some(view.pixels()));
    for count in 0..=4 {
        sheet.share(&format!("live_{count}"), &format!("quads with {count} live"), |view| {
            let quads = |count: usize| view.number("het", &format!("quads.live.{count}"));
            let all = (0..=4).map(quads).sum::<Option<f64>>();
            quotient(quads(count), all)
        });
    }
    sheet.judge("A pixel sends one update at most (V-B).", |scene| {
        Some(scene.of("updates")? <= scene.of("pixels")?)
    });
    sheet.finish()
}

pub(super) fn figure_14(figure: &'static Figure, results: &Results) -> Content {
    let qm = |path: &'static str| move |view: &&ViewResult| view.number("qm", path);
    let mut sheet = by_view(figure, results.first(PAPER_PRESET));
    sheet
        .number("primitives_per_flush", "primitives per TGC flush", qm("flushes.tgc.mean_items"))
        .number("quads_per_flush", "quads per TC flush", qm("flushes.tc.mean_items"))
        .share("paired", "quads paired", |view| {
            let pairs = view.number("qm", "qru.pairs").map(|n| 2.0 * n);
            quotient(pairs, view.number("qm", "qru.quads_in"))
        })
        .share("merged", "quads merged away", |view| {
            let number = |path: &str| view.number("qm", path);
            quotient(number("quads.merged_pairs"), number("quads.shaded"))
        });
    let window = results.config.qru.window as f64;
    sheet.ours("quads that the reorder unit examines", Some(window));
    let places = f64::from(quadrille_base::raster::tiles::QUADS_PER_TILE);
    sheet.ours("registers of relative quad locations", Some(places));
    sheet.finish()
}

pub(super) fn figure_15(figure: &'static Figure, results: &Results) -> Content {
    const METHODS: [&str; 2] = ["baseline", "het+qm"];
    let views = results.first(PAPER_PRESET);
    let rows = views.iter().flat_map(|view| {
        let methods = METHODS.into_iter();
        let units = methods.flat_map(|method| UNITS.map(|unit| (method, unit)));
        units.filter_map(|(method, unit)| {
            Some((*view, method, unit, utilisation(view, method, unit)?))
        })
    });
    let mut sheet = Sheet::new(figure, rows, "scenes", |(view, ..)| view.scene.clone());
    sheet
        .text("scene", "scene", |(view, ..)| view.scene.clone())
        .text("view", "view", |(view, ..)| view.view.clone())
        .text("variant", "variant", |(_, method, ..)| (*method).to_owned())
        .text("unit", "unit", |(_, _, unit, _)| (*unit).to_owned())
        .share("busy", "works in", |(.., busy)| Some(*busy));
    // The strips are of the first scene; the table of all is in the files.
    sheet.table.hide();
    if let Some(view) = views.first() {
        let ms = view.number("baseline", "frame_ms").unwrap_or(0.0);
        let chart = StripChart {
            title: format!("Work of the units over the draw of {}", view.scene),
            strips: METHODS.map(|method| strips(view, method)).concat(),
            end: format!("{} ms", number(ms)),
        };
        let caption = format!(
            "{} {}: the stronger the colour, the busier. quadrille sim --trace FILE writes this for Perfetto, with the stall reasons.",
            view.scene, view.view
        );
        sheet.chart(chart.draw(), caption);
    }
    sheet.say(format!(
        "The shader of a merging warp has {} more instructions; a bin of 128 quads fills 16 warps.",
        results.config.cores.merge_instructions
    ));
    sheet.finish()
}

fn strips(view: &ViewResult, method: &str) -> Vec<(String, ActivityStrip)> {
    let Some(run) = view.method(method) else {
        return Vec::new();
    };
    let Some(units) = run.value("timeline").and_then(|t| t.as_array()) else {
        return Vec::new();
    };
    let shares = |name: &str| {
        let mut units = units.iter();
        let unit = units.find(|u| u["unit"].as_str() == Some(name))?;
        let busy = unit["busy_per_mille"].as_array()?.iter();
        let shares: Vec<f64> = busy.filter_map(|n| Some(n.as_f64()? / 1000.0)).collect();
        (!shares.is_empty()).then_some(shares)
    };
    let known = UNITS.iter().filter_map(|unit| Some((*unit, shares(unit)?)));
    let strips = known.enumerate().map(|(at, (unit, shares))| {
        let heading = if at == 0 { method } else { "" };
        let strip = ActivityStrip { name: unit.to_owned(), shares, length: run.cycles as f64 };
        (heading.to_owned(), strip)
    });
    strips.collect()
}
