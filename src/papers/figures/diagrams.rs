//! Counterparts of the paper's diagrams and timelines.

use super::results::{PAPER_PRESET, Results, ViewResult, mean, quotient};
use super::table::{Cell, Column, Table};
use super::{Claim, Content, key_cells, series};
use crate::published::{Statistic, number};
use crate::svg::{Axis, BarChart, BarValue, Group, Strip, StripChart};

/// Stages of the OpenGL pipeline with the emulated units that perform them.
const STAGES: [(&str, &[&str]); 5] = [
    ("vertex shading", &["vertex"]),
    ("vertex post-processing", &["vpo"]),
    ("rasterization", &["setup", "coarse", "hi_z", "fine"]),
    ("fragment shading", &["launch", "cores"]),
    ("per-fragment processing", &["prop", "zrop", "crop"]),
];

/// Units in pipeline order, without output ports.
const UNITS: [&str; 16] = [
    "vertex", "vpo", "tgc", "setup", "coarse", "hi_z", "fine", "tc", "prop", "zrop", "qru", "pack",
    "launch", "cores", "crop", "dram",
];

fn utilisation(view: &ViewResult, method: &str, unit: &str) -> Option<f64> {
    view.number(method, &format!("units.{unit}.utilisation"))
}

pub(super) fn figure_2(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "A diagram of the OpenGL pipeline. The emulated pipeline has the same stages; docs/simulator.md draws it with its \
         queues. The bars are the share of cycles in which the units of each stage work, in the baseline.",
    );
    content.table = Table::new(vec![
        Column::new("stage", "stage"),
        Column::new("unit", "unit"),
        Column::share("utilisation", "works in"),
    ]);
    let views = results.first(PAPER_PRESET);
    let of = |unit: &str| mean(views.iter().map(|v| utilisation(v, "baseline", unit)));
    let mut groups = Vec::new();
    for (stage, units) in STAGES {
        for unit in units {
            content
                .table
                .row(vec![stage.into(), (*unit).into(), of(unit).into()]);
            groups.push(Group {
                label: (*unit).to_owned(),
                bars: vec![of(unit).map(BarValue::ours)],
            });
        }
    }
    let chart = BarChart {
        title: "Work of the stages of the pipeline".to_owned(),
        axis: Axis::share("cycles with work"),
        series: series(&["baseline"]),
        groups,
        marks: Vec::new(),
        is_stacked: false,
    };
    content.chart(chart.svg(), "Mean over the first views of all scenes.");
    content
}

pub(super) fn figure_3(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "A diagram of a GPU of the Ampere generation. These are the parts of the modelled ones; \
         quadrille sim --preset NAME --config-dump prints every field with its source.",
    );
    content.table = Table::new(vec![
        Column::new("preset", "preset"),
        Column::whole("gpcs", "GPCs"),
        Column::whole("cores_per_gpc", "cores per GPC"),
        Column::whole("schedulers_per_core", "schedulers per core"),
        Column::whole("clock_mhz", "MHz"),
        Column::whole("raster_tiles_per_cycle", "raster tiles per cycle and GPC"),
        Column::whole("l2_kb", "L2 (KB)"),
        Column::whole("dram_gb_per_s", "DRAM (GB/s)"),
    ]);
    for preset in quadrille_gpu::config::PRESETS {
        let config = match preset.name {
            PAPER_PRESET => results.config.clone(),
            name => match quadrille_gpu::config::Config::preset(name) {
                Ok(config) => config,
                Err(_) => continue,
            },
        };
        content.table.row(vec![
            preset.name.into(),
            config.gpu.gpcs.into(),
            config.cores.cores.into(),
            config.cores.schedulers.into(),
            config.gpu.clock_mhz.into(),
            config.coarse.tiles_per_cycle.in_cycles(1).into(),
            (config.l2.bytes / 1024).into(),
            config.dram.gb_per_s.into(),
        ]);
    }
    content
}

/// Steps of Figure 4: label of the remaining items in the table and in the chart, and their counter.
const STEPS: [[&str; 3]; 7] = [
    ["splats of the scene", "splats", "scene.splats"],
    ["splats in view", "in view", "raster.splats"],
    ["triangles set up", "triangles", "raster.set_up"],
    ["raster tiles", "raster tiles", "raster.tiles"],
    ["quads rasterized", "quads", "quads.rasterized"],
    ["fragments rasterized", "fragments", "fragments.rasterized"],
    ["fragments blended", "blended", "fragments.blended"],
];

pub(super) fn figure_4(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "A diagram of the steps from splats to blended fragments. These are the numbers of items behind each step, in the \
         baseline; quadrille sim --trace FILE writes the draw as a trace for Perfetto.",
    );
    let columns = STEPS.map(|[name, _, path]| Column::whole(path.replace('.', "_"), name));
    content.table = Table::new(
        [
            vec![Column::new("scene", "scene"), Column::new("view", "view")],
            columns.to_vec(),
        ]
        .concat(),
    );
    let views = results.first(PAPER_PRESET);
    for view in &views {
        let counts = STEPS.map(|[.., path]| Cell::from(view.number("baseline", path)));
        content
            .table
            .row([key_cells(view).to_vec(), counts.to_vec()].concat());
    }
    let groups = STEPS.map(|[_, name, path]| Group {
        label: name.to_owned(),
        bars: vec![mean(views.iter().map(|v| v.number("baseline", path))).map(BarValue::ours)],
    });
    let chart = BarChart {
        title: "Items behind each step".to_owned(),
        axis: Axis::log("items, logarithmic"),
        series: series(&["baseline"]),
        groups: groups.to_vec(),
        marks: Vec::new(),
        is_stacked: false,
    };
    content.chart(chart.svg(), "Mean over the first views of all scenes.");
    content
}

pub(super) fn figure_12(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "A diagram of the units, with VR-Pipe's additions: tile-grid coalescing (tgc), quad reordering (qru) and early \
         termination in zrop and crop. The bars are the share of cycles in which each emulated unit works.",
    );
    content.table = Table::new(vec![
        Column::new("unit", "unit"),
        Column::share("baseline", "baseline"),
        Column::share("het_qm", "HET+QM"),
    ]);
    let views = results.first(PAPER_PRESET);
    let mut groups = Vec::new();
    for unit in UNITS {
        let means = ["baseline", "het+qm"]
            .map(|method| mean(views.iter().map(|v| utilisation(v, method, unit))));
        content
            .table
            .row(vec![unit.into(), means[0].into(), means[1].into()]);
        // The baseline lacks two units, whose bars are missing for that reason.
        let bars = means.map(|m| Some(BarValue::ours(m?)));
        let bars = match unit {
            "tgc" | "qru" => [Some(BarValue::ours(0.0)), bars[1]],
            _ => bars,
        };
        groups.push(Group {
            label: unit.to_owned(),
            bars: bars.to_vec(),
        });
    }
    let chart = BarChart {
        title: "Work of the units without and with VR-Pipe".to_owned(),
        axis: Axis::share("cycles with work"),
        series: series(&["baseline", "HET+QM"]),
        groups,
        marks: Vec::new(),
        is_stacked: false,
    };
    content.chart(chart.svg(), "Mean over the first views of all scenes.");
    content
}

pub(super) fn figure_13(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "A diagram of the termination test in ZROP, the alpha test in CROP and the update between them. The counters say \
         what passes through each: a pixel is updated once, and fragments that are in flight behind it are blended late.",
    );
    content.table = Table::new(vec![
        Column::new("scene", "scene"),
        Column::new("view", "view"),
        Column::whole("rasterized", "fragments tested"),
        Column::whole("terminated", "of them terminated"),
        Column::whole("blended", "blended"),
        Column::whole("late", "of them late"),
        Column::whole("updates", "termination updates"),
        Column::whole("pixels", "pixels"),
    ]);
    let views = results.first(PAPER_PRESET);
    for view in &views {
        let het = |path: &str| Cell::from(view.number("het", path));
        let pixels = u64::from(view.size[0]) * u64::from(view.size[1]);
        let mut cells = key_cells(view).to_vec();
        cells.extend(
            [
                "fragments.rasterized",
                "fragments.terminated",
                "fragments.blended",
                "fragments.late",
                "termination_updates",
            ]
            .map(het),
        );
        cells.push(pixels.into());
        content.table.row(cells);
    }
    let once = views.iter().map(|v| {
        let pixels = u64::from(v.size[0]) * u64::from(v.size[1]);
        Some(v.number("het", "termination_updates")? <= pixels as f64)
    });
    let statement = "A pixel sends one update at most (V-B).";
    content.claims.push(Claim::count(statement, "scenes", once));
    content
}

pub(super) fn figure_14(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "A diagram of quad merging: bins of a tile grid gather primitives, bins of a screen tile gather quads, the reorder \
         unit pairs quads at one place, and the shader merges them.",
    );
    content.table = Table::new(vec![
        Column::new("scene", "scene"),
        Column::new("view", "view"),
        Column::new("primitives_per_flush", "primitives per TGC flush"),
        Column::new("quads_per_flush", "quads per TC flush"),
        Column::share("paired", "quads paired"),
        Column::share("merged", "quads merged away"),
    ]);
    let views = results.first(PAPER_PRESET);
    for view in &views {
        let number = |path: &str| view.number("qm", path);
        let paired = quotient(number("qru.pairs").map(|n| 2.0 * n), number("qru.quads_in"));
        let merged = quotient(number("quads.merged_pairs"), number("quads.shaded"));
        let mut cells = key_cells(view).to_vec();
        cells.extend(
            ["flushes.tgc.mean_items", "flushes.tc.mean_items"].map(|p| Cell::from(number(p))),
        );
        cells.extend([paired.into(), merged.into()]);
        content.table.row(cells);
    }
    let window = results.config.qru.window as f64;
    content.compare(
        "fig14",
        "quads that the reorder unit examines",
        Statistic::Value,
        Some(window),
    );
    let places = f64::from(quadrille_base::raster::tiles::QUADS_PER_TILE);
    content.compare(
        "fig14",
        "registers of relative quad locations",
        Statistic::Value,
        Some(places),
    );
    content
}

pub(super) fn figure_15(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "The paper draws the time of one warp that merges two quads. The program traces whole draws: the strips show how \
         much each unit works over the draw of the first scene, without and with VR-Pipe, on one scale of time.",
    );
    content.table = Table::new(vec![
        Column::new("scene", "scene"),
        Column::new("view", "view"),
        Column::new("variant", "variant"),
        Column::new("unit", "unit"),
        Column::share("busy", "works in"),
    ]);
    let views = results.first(PAPER_PRESET);
    for view in &views {
        for method in ["baseline", "het+qm"] {
            for unit in UNITS {
                let Some(busy) = utilisation(view, method, unit) else {
                    continue;
                };
                let mut cells = key_cells(view).to_vec();
                cells.extend([method.into(), unit.into(), busy.into()]);
                content.table.row(cells);
            }
        }
    }
    // The strips are of the first scene; the table of all is in the files.
    for column in &mut content.table.columns {
        column.heading = None;
    }
    if let Some(view) = views.first() {
        let strips = ["baseline", "het+qm"].map(|method| strips(view, method));
        let ms = view.number("baseline", "frame_ms").unwrap_or(0.0);
        let chart = StripChart {
            title: format!("Work of the units over the draw of {}", view.scene),
            strips: strips.concat(),
            end: format!("{} ms", crate::svg::number(ms)),
        };
        let caption = format!(
            "{} {}: the stronger the colour, the busier. quadrille sim --trace FILE writes this for Perfetto, with the stall reasons.",
            view.scene, view.view
        );
        content.chart(chart.svg(), caption);
    }
    let merge = number(
        "fig14",
        "quads that the reorder unit examines",
        Statistic::Value,
    );
    if let Some(quads) = merge {
        content.say(format!(
            "The shader of a merging warp has {} more instructions; a bin of {quads} quads fills 16 warps.",
            results.config.cores.merge_instructions
        ));
    }
    content
}

/// The strips of a run, one per unit in pipeline order.
fn strips(view: &ViewResult, method: &str) -> Vec<(String, Strip)> {
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
    let found = UNITS.iter().filter_map(|unit| Some((*unit, shares(unit)?)));
    let strips = found.enumerate().map(|(at, (unit, shares))| {
        let heading = if at == 0 {
            method.to_owned()
        } else {
            String::new()
        };
        let strip = Strip {
            name: unit.to_owned(),
            shares,
            length: run.cycles as f64,
        };
        (heading, strip)
    });
    strips.collect()
}
