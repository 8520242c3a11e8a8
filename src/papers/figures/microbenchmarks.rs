//! Figure 20: microbenchmarks on the emulated pipeline.

use super::results::Results;
use crate::content::Content;
use crate::paper::{Figure, Statistic};
use crate::sheet::{Sheet, largest};
use quadrille_charts::{
    Axis, AxisMark, BarChart, BarValue, Drawings, Group, LineChart, LineKind, LineSeries, Series,
};
use quadrille_suite::microbench::series::GpcSeries;

const KB: f64 = 1024.0;
const CAPACITY: &str = "capacity of the CROP cache, ours from aligned rows";
const RANDOM: &str = "rectangles of 1 KB without reads of the L2, random positions";
const RANDOM_LINES: &str = "the same, ours at random multiples of 4 pixels";
const BINS: &str = "tile bins";
const RATES: [[&str; 2]; 2] =
    [["rgba8", "pixels per cycle, RGBA8"], ["rgba16f", "pixels per cycle, RGBA16F"]];

pub(super) fn figure_20(figure: &'static Figure, results: &Results) -> Content {
    let measured = GpcSeries::measure(&results.config);
    let stated = |quantity: &str| figure.number(quantity, Statistic::Value);
    let mut sheet =
        Sheet::labelled(figure, rows(&measured), "benchmarks", "benchmark", |row| row.0.to_owned());
    sheet
        .text("parameter", "parameter", |row| row.1.clone())
        .number("value", "value", |row| Some(row.2))
        .text("unit", "unit", |row| row.3.to_owned());
    // The charts show the whole table.
    sheet.table.hide();
    let caption = "(a) Colour drawn without reads from the L2; each dot is one arrangement.";
    sheet.chart(footprints(&measured, stated(CAPACITY)), caption);
    let published = RATES.map(|[_, quantity]| stated(quantity));
    let caption = "(b) Pixels per cycle; dashed bars are published.";
    sheet.chart(rates(&measured, published), caption);
    let caption = "(c) Time at the same number of pixels, over the time at 1/4 quad per pixel.";
    sheet.chart(times(&measured), caption);
    let caption = "Warps of ten rectangles on each screen tile; the paper reads 32 bins from 67 and 330 warps.";
    sheet.chart(bins(&measured), caption);
    let most = |pairs: &[[u64; 2]]| largest(pairs.iter().map(|[_, held]| Some(*held as f64 / KB)));
    sheet.ours(CAPACITY, most(&measured.aligned_footprints));
    for (quantity, footprints) in
        [(RANDOM, &measured.footprints), (RANDOM_LINES, &measured.line_footprints)]
    {
        let of_1_kb = footprints.iter().filter(|[size, _]| *size as f64 == KB);
        sheet.ours(quantity, most(&of_1_kb.copied().collect::<Vec<_>>()));
    }
    for [format, quantity] in RATES {
        sheet.ours(quantity, rate(&measured, format));
    }
    let gathered = measured.warps_by_tiles.iter().take_while(|[n, warps]| *warps == 2 * n);
    sheet.ours(BINS, gathered.map(|[tiles, _]| *tiles as f64).last());
    let by_quads = measured.times_by_quads.iter().zip(1..);
    let proportional =
        by_quads.map(|((_, time), n)| Some((time - f64::from(n)).abs() < 0.01 * time));
    sheet.claim("Time follows quads, not pixels (VII-A).", "quads per pixel", proportional);
    sheet.finish()
}

fn rate(measured: &GpcSeries, format: &str) -> Option<f64> {
    measured.pixels_per_cycle.iter().find(|(name, _)| *name == format).map(|(_, rate)| *rate)
}

type Row = (&'static str, String, f64, &'static str);

fn rows(measured: &GpcSeries) -> Vec<Row> {
    let bytes = |name, pairs: &[[u64; 2]]| -> Vec<Row> {
        pairs.iter().map(|[size, held]| (name, format!("{size} B"), *held as f64, "B")).collect()
    };
    let named = |name, pairs: &[(&str, f64)], unit| -> Vec<Row> {
        let rows = pairs.iter();
        rows.map(|(parameter, value)| (name, (*parameter).to_owned(), *value, unit)).collect()
    };
    let warps = measured
        .warps_by_tiles
        .iter()
        .map(|[tiles, warps]| ("warps by screen tiles", tiles.to_string(), *warps as f64, "warps"));
    [
        bytes("footprint", &measured.footprints),
        bytes("footprint at lines", &measured.line_footprints),
        bytes("footprint in rows", &measured.aligned_footprints),
        named("rate", &measured.pixels_per_cycle, "px/cycle"),
        named("time by quads per pixel", &measured.times_by_quads, "times"),
        warps.collect(),
    ]
    .concat()
}

fn footprints(measured: &GpcSeries, capacity: Option<f64>) -> Drawings {
    let dots = |name, colour, pairs: &[[u64; 2]]| {
        let dots = pairs.iter().map(|[size, held]| [(*size as f64 / KB).log2(), *held as f64 / KB]);
        LineSeries::ours(name, colour, dots, LineKind::Points)
    };
    let sizes = [0.5_f64, 1.0, 2.0, 4.0, 8.0];
    let axes =
        [Axis::linear("size of a rectangle (KB)"), Axis::linear("drawn without L2 reads (KB)")];
    let labels = sizes.map(|kb| (kb.log2(), kb.to_string())).to_vec();
    let series = [
        dots("random positions", 0, &measured.footprints),
        dots("multiples of 4 pixels", 2, &measured.line_footprints),
        dots("aligned rows", 1, &measured.aligned_footprints),
    ];
    let chart = LineChart {
        marks: Vec::from_iter(AxisMark::published(capacity, "never more than 16 KB")),
        ..LineChart::new("Data that fits the CROP cache", axes, labels, series)
    };
    chart.draw()
}

fn rates(measured: &GpcSeries, published: [Option<f64>; 2]) -> Drawings {
    let groups = RATES.iter().zip(published).map(|([format, _], published)| Group {
        label: format.to_uppercase(),
        bars: vec![rate(measured, format).map(BarValue::ours), published.map(BarValue::published)],
    });
    let title = "Pixels blended per cycle by colour format";
    let mut chart = BarChart::new(title, Axis::linear("pixels per cycle"), &["ours"], groups);
    chart.series.push(Series { is_published: true, ..Series::ours("published", 0) });
    chart.draw()
}

fn times(measured: &GpcSeries) -> Drawings {
    let groups = measured.times_by_quads.iter();
    let groups = groups.map(|(quads, time)| Group::of(*quads, [Some(*time)]));
    let axis = Axis::linear("time (times), by quads per pixel");
    BarChart::new("Time by quads per pixel", axis, &["time"], groups).draw()
}

fn bins(measured: &GpcSeries) -> Drawings {
    let points = measured.warps_by_tiles.iter().map(|pair| pair.map(|n| n as f64));
    let labels = (0..=6).map(|n| (f64::from(8 * n), (8 * n).to_string()));
    let axes = [Axis::linear("screen tiles"), Axis::linear("warps")];
    let mark = |warps, tiles| AxisMark {
        value: f64::from(warps),
        label: format!("published: {warps} warps on {tiles} tiles"),
        is_published: true,
        is_left: true,
    };
    let warps = LineSeries::ours("warps", 0, points, LineKind::Line);
    let chart = LineChart {
        marks: vec![mark(330, 33), mark(67, 32)],
        ..LineChart::new("Warps by number of screen tiles", axes, labels.collect(), [warps])
    };
    chart.draw()
}
