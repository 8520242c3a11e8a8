//! Figures 22 and 23: the accelerator, and large scenes.

use super::results::{PAPER_PRESET, Results, ViewResult, mean, quotient};
use super::speedups::{Ratio, draw};
use super::table::{Cell, Column, Table};
use super::{Claim, Content, key_cells, series};
use crate::published::LARGE_SCENES;
use crate::svg::{Axis, BarChart, BarValue, Group, Mark};

/// Ratio of VR-Pipe's time to the accelerator's time: draw over sort and rendering, and frame over frame.
fn over_gscore(view: &ViewResult) -> [Option<f64>; 2] {
    let clock = view.number("gscore", "gscore.clock_mhz");
    let cycles = view.number("gscore", "gscore.frame_cycles");
    let frame = quotient(cycles, clock.map(|mhz| mhz * 1e3));
    [
        view.ratio("het+qm", "gscore", "frame_ms"),
        quotient(view.number("het+qm", "frame.total_ms"), frame),
    ]
}

pub(super) fn figure_22(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "Speed of a model of GSCore over VR-Pipe (HET+QM): sort and rendering against the draw, and frame against frame. \
         The paper does not say which of both it compares, and its bars have no numbers in its text. The accelerator's \
         clock and bandwidth are published; its rates of culling and sorting are assumptions.",
    );
    content.table = Table::new(vec![
        Column::new("scene", "scene"),
        Column::new("view", "view"),
        Column::new("raster", "raster (times)"),
        Column::new("frame", "frame (times)"),
        Column::new("vr_pipe_draw_ms", "VR-Pipe, draw (ms)"),
        Column::new("gscore_raster_ms", "GSCore, sort and rendering (ms)"),
        Column::new("vr_pipe_frame_ms", "VR-Pipe, frame (ms)"),
        Column::new("gscore_frame_ms", "GSCore, frame (ms)"),
    ]);
    let views = results.first(PAPER_PRESET);
    let mut groups = Vec::new();
    for view in &views {
        let ratios = over_gscore(view);
        let frame = view.number("het+qm", "frame.total_ms");
        let mut cells = key_cells(view).to_vec();
        cells.extend(ratios.map(Cell::from));
        cells.extend(
            [
                view.number("het+qm", "frame_ms"),
                view.number("gscore", "frame_ms"),
                frame,
                quotient(frame, ratios[1]),
            ]
            .map(Cell::from),
        );
        content.table.row(cells);
        groups.push(Group {
            label: view.scene.clone(),
            bars: ratios.map(|r| r.map(BarValue::ours)).to_vec(),
        });
    }
    let chart = BarChart {
        title: "Speed of GSCore over VR-Pipe".to_owned(),
        axis: Axis::linear("VR-Pipe's time over GSCore's (times)"),
        series: series(&["raster", "frame"]),
        groups,
        marks: vec![Mark::at(1.0, "")],
        is_stacked: false,
    };
    content.chart(chart.svg(), "Above 1, the accelerator is faster.");
    for (at, name) in ["raster", "frame"].into_iter().enumerate() {
        let faster = views.iter().map(|v| Some(over_gscore(v)[at]? > 1.0));
        let statement = format!("GSCore is faster than VR-Pipe, {name} (VII-C).");
        content
            .claims
            .push(Claim::count(&statement, "scenes", faster));
    }
    content
}

/// Units of the chart of large scenes.
const UNITS: [(&str, &str); 5] = [
    ("coarse", "raster"),
    ("prop", "PROP"),
    ("zrop", "ZROP"),
    ("cores", "SM"),
    ("crop", "CROP"),
];

pub(super) fn figure_23(results: &Results) -> Content {
    let mut content = Content::default();
    let named = LARGE_SCENES.map(|(name, thousands)| {
        format!("{name} ({:.2} million splats)", f64::from(thousands) / 1e3)
    });
    let scenes = results.large();
    if scenes.is_empty() {
        content.say(format!(
            "The paper draws {}. This report has no scene that its suite marks as large: give benches/large.toml as a \
             second suite, whose procedural scenes of 9 and 5 million splats take their place.",
            named.join(" and ")
        ));
        return content;
    }
    content.say(format!(
        "The paper draws {}, which are not at hand; procedural scenes of that size take their place. Their splats cover \
         surfaces evenly and share no statistics with the trained scenes beyond opacity, size and overdraw.",
        named.join(" and ")
    ));
    let title = "Speedup over the baseline in large scenes";
    let chart = draw(
        &mut content,
        "fig23",
        &scenes,
        &Ratio::SPEEDUPS,
        [title, "speedup (times)"],
    );
    let groups = UNITS.map(|(unit, name)| {
        let of = |view: &ViewResult| view.method("baseline")?.throughput(unit);
        Group {
            label: name.to_owned(),
            bars: scenes
                .iter()
                .map(|s| s.mean(of).map(BarValue::ours))
                .collect(),
        }
    });
    let names: Vec<&str> = scenes.iter().map(|s| s.name).collect();
    let units = BarChart {
        title: "Throughput utilisation in large scenes".to_owned(),
        axis: Axis::share("throughput utilisation"),
        series: series(&names),
        groups: groups.to_vec(),
        marks: Vec::new(),
        is_stacked: false,
    };
    content.chart(units.svg(), "(a) Utilisation of the baseline's units.");
    let chart = BarChart {
        // The paper states no number of these scenes.
        groups: chart
            .groups
            .into_iter()
            .filter(|g| g.label != "published")
            .collect(),
        ..chart
    };
    content.chart(
        chart.svg(),
        "(b) Speedup; the paper's bars have no numbers in its text.",
    );
    let limited = scenes.iter().map(|scene| {
        let crop = scene.mean(|v| v.method("baseline")?.throughput("crop"))?;
        let others = UNITS.iter().filter(|(unit, _)| *unit != "crop");
        let mut others =
            others.filter_map(|(unit, _)| scene.mean(|v| v.method("baseline")?.throughput(unit)));
        Some(others.all(|other| other <= crop))
    });
    let statement = "The ROPs stay the bottleneck (VII-C).";
    content
        .claims
        .push(Claim::count(statement, "scenes", limited));
    let gains = scenes
        .iter()
        .map(|s| Some(s.mean(|v| v.speedup("het+qm"))? > 1.0));
    let statement = "VR-Pipe improves large scenes (VII-C).";
    content
        .claims
        .push(Claim::count(statement, "scenes", gains));
    if let Some(both) = mean(scenes.iter().map(|s| s.mean(|v| v.speedup("het+qm")))) {
        content.say(format!("The mean speedup of HET+QM is {both:.2}."));
    }
    content
}
