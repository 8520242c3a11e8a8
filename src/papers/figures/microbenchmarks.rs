//! Figure 20: microbenchmarks on the emulated pipeline.

use super::results::{Results, largest};
use super::table::{Cell, Column, Table};
use super::{Claim, Content, series};
use crate::published::{self, Statistic};
use crate::svg::{Axis, BarChart, BarValue, Group, LineChart, LineKind, LineSeries, Mark, Series};
use quadrille_suite::microbench::series::Series as Measured;

/// Bytes of a KB.
const KB: f64 = 1024.0;

pub(super) fn figure_20(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "The paper's microbenchmarks, drawn on the emulated GPC: rectangles that test how much colour the CROP cache \
         holds, how many pixels it blends per cycle, that it works on quads, and how many screen tiles are binned at once. \
         The capacity, the rates and the bins are fields of the configuration that the model reads back; time by quads \
         and the steps of the warps are its behaviour. quadrille microbench has more.",
    );
    let measured = Measured::measure(&results.config);
    content.table = table(&measured);
    content.chart(
        footprints(&measured),
        "(a) Colour drawn without reads from the L2; a dot is an arrangement.",
    );
    content.chart(
        rates(&measured),
        "(b) Pixels per cycle; dashed bars are published.",
    );
    content.chart(
        times(&measured),
        "(c) Time at the same number of pixels, over that at 1/4.",
    );
    content.chart(bins(&measured), "Warps of ten rectangles on each screen tile; the paper reads 32 bins from 67 and 330 warps.");
    let all = measured
        .footprints
        .iter()
        .chain(&measured.aligned_footprints);
    let held = largest(all.map(|[_, held]| Some(*held as f64 / KB)));
    content.compare(
        "fig20",
        "capacity of the CROP cache",
        Statistic::Value,
        held,
    );
    for (quantity, format) in [
        ("pixels per cycle, RGBA8", "rgba8"),
        ("pixels per cycle, RGBA16F", "rgba16f"),
    ] {
        let rate = measured
            .pixels_per_cycle
            .iter()
            .find(|(name, _)| *name == format);
        content.compare(
            "fig20",
            quantity,
            Statistic::Value,
            rate.map(|(_, rate)| *rate),
        );
    }
    let gathered = measured
        .warps_by_tiles
        .iter()
        .take_while(|[n, warps]| *warps == 2 * n);
    let most = gathered.map(|[tiles, _]| *tiles as f64).last();
    content.compare("fig20", "tile bins", Statistic::Value, most);
    let by_quads = measured.times_by_quads.iter().zip(1..);
    let proportional =
        by_quads.map(|((_, time), n)| Some((time - f64::from(n)).abs() < 0.01 * time));
    let statement = "Time follows quads, not pixels (VII-A).";
    content
        .claims
        .push(Claim::count(statement, "quads per pixel", proportional));
    content
}

fn table(measured: &Measured) -> Table {
    let mut table = Table::new(vec![
        Column::new("benchmark", "benchmark"),
        Column::new("parameter", "parameter"),
        Column::new("value", "value"),
        Column::new("unit", "unit"),
    ]);
    let mut row = |benchmark: &str, parameter: String, value: f64, unit: &str| {
        table.row(vec![
            benchmark.into(),
            Cell::Text(parameter),
            value.into(),
            unit.into(),
        ]);
    };
    for [size, held] in &measured.footprints {
        row("footprint", format!("{size} B"), *held as f64, "B");
    }
    for [size, held] in &measured.aligned_footprints {
        row("footprint in rows", format!("{size} B"), *held as f64, "B");
    }
    for (format, rate) in &measured.pixels_per_cycle {
        row("rate", (*format).to_owned(), *rate, "px/cycle");
    }
    for (quads, time) in &measured.times_by_quads {
        row(
            "time by quads per pixel",
            (*quads).to_owned(),
            *time,
            "times",
        );
    }
    for [tiles, warps] in &measured.warps_by_tiles {
        row(
            "warps by screen tiles",
            tiles.to_string(),
            *warps as f64,
            "warps",
        );
    }
    // The charts show all of it.
    for column in &mut table.columns {
        column.heading = None;
    }
    table
}

fn footprints(measured: &Measured) -> String {
    let dots = |pairs: &[[u64; 2]]| {
        let dots = pairs.iter();
        let dots = dots.map(|[size, held]| [(*size as f64 / KB).log2(), *held as f64 / KB]);
        dots.collect()
    };
    let sizes = [0.5_f64, 1.0, 2.0, 4.0, 8.0];
    let capacity = published::number("fig20", "capacity of the CROP cache", Statistic::Value);
    let chart = LineChart {
        title: "Data that fits the CROP cache".to_owned(),
        x: Axis::linear("size of a rectangle (KB)"),
        x_labels: sizes.map(|kb| (kb.log2(), kb.to_string())).to_vec(),
        y: Axis::linear("drawn without L2 reads (KB)"),
        series: vec![
            LineSeries {
                series: Series::ours("random positions", 0),
                points: dots(&measured.footprints),
                kind: LineKind::Points,
            },
            LineSeries {
                series: Series::ours("positions in rows of the size", 1),
                points: dots(&measured.aligned_footprints),
                kind: LineKind::Points,
            },
        ],
        marks: Mark::published(capacity, "never more than 16 KB")
            .into_iter()
            .collect(),
    };
    chart.svg()
}

fn rates(measured: &Measured) -> String {
    let stated = |format: &str| match format {
        "rgba8" => published::number("fig20", "pixels per cycle, RGBA8", Statistic::Value),
        "rgba16f" => published::number("fig20", "pixels per cycle, RGBA16F", Statistic::Value),
        _ => None,
    };
    // The paper has no third format.
    let formats = measured
        .pixels_per_cycle
        .iter()
        .filter(|(name, _)| stated(name).is_some());
    let groups = formats.map(|(name, rate)| Group {
        label: name.to_uppercase(),
        bars: vec![
            Some(BarValue::ours(*rate)),
            stated(name).map(BarValue::published),
        ],
    });
    let mut names = series(&["ours", "published"]);
    names[1] = Series {
        is_published: true,
        ..Series::ours("published", 0)
    };
    let chart = BarChart {
        title: "Pixels blended per cycle by colour format".to_owned(),
        axis: Axis::linear("pixels per cycle"),
        series: names,
        groups: groups.collect(),
        marks: Vec::new(),
        is_stacked: false,
    };
    chart.svg()
}

fn times(measured: &Measured) -> String {
    let groups = measured.times_by_quads.iter().map(|(quads, time)| Group {
        label: (*quads).to_owned(),
        bars: vec![Some(BarValue::ours(*time))],
    });
    let chart = BarChart {
        title: "Time by quads per pixel".to_owned(),
        axis: Axis::linear("time (times), by quads per pixel"),
        series: series(&["time"]),
        groups: groups.collect(),
        marks: Vec::new(),
        is_stacked: false,
    };
    chart.svg()
}

fn bins(measured: &Measured) -> String {
    let points = measured
        .warps_by_tiles
        .iter()
        .map(|pair| pair.map(|n| n as f64));
    let chart = LineChart {
        title: "Warps by number of screen tiles".to_owned(),
        x: Axis::linear("screen tiles"),
        x_labels: (0..=6)
            .map(|n| (f64::from(8 * n), (8 * n).to_string()))
            .collect(),
        y: Axis::linear("warps"),
        series: vec![LineSeries {
            series: Series::ours("warps", 0),
            points: points.collect(),
            kind: LineKind::Line,
        }],
        marks: vec![
            Mark {
                value: 330.0,
                label: "published: 330 warps on 33 tiles".to_owned(),
                is_published: true,
                is_left: true,
            },
            Mark {
                value: 67.0,
                label: "published: 67 warps on 32 tiles".to_owned(),
                is_published: true,
                is_left: true,
            },
        ],
    };
    chart.svg()
}
