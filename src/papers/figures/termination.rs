//! Figures about early termination: fragments per pixel, software, and viewpoints.

use super::results::{
    CYCLES, FRAGMENTS, FRAME_MS, Measure, PAPER_PRESET, Results, ViewResult, by_view,
};
use crate::content::{Content, Picture};
use crate::paper::{Figure, Statistic};
use crate::sheet::{Bars, quotient};
use quadrille_base::image::files::{PictureFormat, write_to};
use quadrille_charts::{Axis, AxisMark, Drawings, LineChart, LineKind, LineSeries};
use quadrille_suite::details::{PixelCounts, bin_starts};
use quadrille_suite::report::heat::{HeatMap, VIRIDIS, picture};
use quadrille_suite::report::scale::{Curve, Scale};

const PICTURED: usize = 2;

fn pixel_counts<'a>(view: &'a ViewResult, method: &str) -> Option<&'a PixelCounts> {
    view.method(method)?.details.fragments_per_pixel.as_ref()
}

const WARP_ENTRIES: Measure = |row| Some(row.counts.compute()?.warp_entries as f64);

/// Shares of the pixels by bin of the histogram.
fn shares(counts: &PixelCounts) -> impl Iterator<Item = f64> {
    let pixels: u64 = counts.histogram.iter().sum();
    counts.histogram.iter().map(move |n| *n as f64 / pixels.max(1) as f64)
}

pub(super) fn figure_7(figure: &'static Figure, results: &Results) -> Content {
    let views = results.first(PAPER_PRESET);
    let mut sheet = by_view(figure, views.clone());
    sheet
        .number("without", "without", |view| Some(pixel_counts(view, "baseline")?.mean))
        .number("with", "with", |view| Some(pixel_counts(view, "het")?.mean))
        .ratio("ratio", "ratio", ["without", "with"])
        .share("pixels_without_fragments", "pixels without fragments", |view| {
            Some(shares(pixel_counts(view, "baseline")?).next().unwrap_or(0.0))
        });
    let pictured = views.iter().filter_map(|view| {
        let [without, with] = ["baseline", "het"].map(|method| pixel_counts(view, method));
        Some((view, without?, with?))
    });
    for (view, without, with) in pictured.take(PICTURED) {
        if sheet.charts.is_empty() {
            let title = format!("Histogram of fragments per pixel, {}", view.scene());
            let chart = histogram(&title, &[without, with]);
            sheet.chart(chart, format!("{title}."));
        }
        sheet.pictures.extend(maps(view.scene(), without, with));
    }
    sheet.finish()
}

/// Draws the shares of pixels by number of fragments, in two bins per doubling, without and with termination.
fn histogram(title: &str, counts: &[&PixelCounts; 2]) -> Drawings {
    let names = ["without termination", "with termination"];
    let series = counts.iter().zip(names).zip(0..).map(|((counts, name), colour)| {
        let starts: Vec<f64> = bin_starts().map(f64::from).collect();
        let bins = starts.iter().zip(shares(counts).skip(1));
        let mut points: Vec<[f64; 2]> = bins.map(|(start, share)| [*start, share]).collect();
        let used = points.iter().rposition(|p| p[1] > 0.0).map_or(0, |at| at + 1);
        let end = starts.get(used).copied().unwrap_or(f64::from(u32::MAX));
        points.truncate(used);
        points.push([end, 0.0]);
        LineSeries::ours(name, colour, points, LineKind::Steps)
    });
    let y = Axis::small_share("share of the pixels");
    let x = Axis::log("fragments per pixel, two bins per doubling");
    LineChart::new(title, [x, y], Vec::new(), series).draw()
}

fn maps(scene: &str, without: &PixelCounts, with: &PixelCounts) -> Vec<Picture> {
    let cells = [without, with].map(PixelCounts::cells);
    let Some(scale) = cells[0].as_ref().map(|c| Scale::covering(c, Curve::SquareRoot)) else {
        return Vec::new();
    };
    let maps = cells.iter().zip([without, with]).zip(["without", "with"]);
    let pictures = maps.filter_map(|((cells, counts), name)| {
        let frame = picture(&HeatMap {
            title: format!("{name} early termination"),
            nothing: "none",
            size: counts.size,
            counts: cells.as_ref()?,
            scale,
            scale_end: "99.9th percentile",
            palette: VIRIDIS,
        });
        let mut png = Vec::new();
        // Writing to memory cannot fail, as the picture has pixels.
        write_to(&mut png, PictureFormat::Png, &frame).ok()?;
        let caption = format!("{scene}: fragments per pixel {name} early termination");
        Some(Picture { png, caption })
    });
    pictures.collect()
}

pub(super) fn figure_8(figure: &'static Figure, results: &Results) -> Content {
    let of =
        |number: Measure| move |view: &&ViewResult| view.ratio("compute:none", "compute", number);
    let mut sheet = by_view(figure, results.first(PAPER_PRESET));
    sheet
        .number("fragments", "reduction of fragments", of(FRAGMENTS))
        .number("warp_entries", "reduction of warp entries", of(WARP_ENTRIES))
        .number("raster", "speedup of the raster kernel", of(CYCLES))
        .number("frame", "speedup of the frame", of(FRAME_MS));
    sheet.bars(Bars {
        title: "Early termination in software: fragments and time",
        axis: Axis::linear("without over with termination (times)"),
        series: &[["fragments", "fragments"], ["raster", "raster kernel"], ["frame", "frame"]],
        marks: vec![AxisMark::at(1.0, "")],
        caption: "Above 1, termination saves work.",
        ..Bars::default()
    });
    let statement = "Where termination saves fragments, the speedup is below the reduction of fragments (III-B).";
    sheet.judge(statement, |scene| {
        let (fragments, speedup) = (scene.of("fragments")?, scene.of("raster")?);
        (fragments > 1.005).then_some(speedup < fragments)
    });
    sheet.finish()
}

pub(super) fn figure_9(figure: &'static Figure, results: &Results) -> Content {
    const BLENDING: Measure = |row| Some(row.counts.compute()?.warp_entries_blending as f64);
    const LANES: Measure = |row| Some(row.counts.compute()?.lanes.blended as f64);
    let share = |entries: Measure| {
        move |view: &&ViewResult| {
            let lanes = view.number("compute", entries).map(|n| 32.0 * n);
            quotient(view.number("compute", LANES), lanes)
        }
    };
    let mut sheet = by_view(figure, results.first(PAPER_PRESET));
    sheet
        .share("of_visited", "of visited entries", share(WARP_ENTRIES))
        .share("of_blending", "of entries that blend", share(BLENDING))
        .whole("fragments", "fragments", |view| view.number("compute", FRAGMENTS));
    sheet
        .hidden("warp_entries", |view| view.number("compute", WARP_ENTRIES))
        .hidden("warp_entries_blending", |view| view.number("compute", BLENDING));
    let bound = figure.number_of_column("of_visited", Statistic::Below);
    sheet.bars(Bars {
        title: "Share of the lanes of a warp that blend",
        axis: Axis::share("lanes that blend"),
        series: &[["of_visited", "of visited entries"], ["of_blending", "of entries that blend"]],
        marks: Vec::from_iter(AxisMark::published(bound, "below 40 % in all scenes")),
        caption: "Software rendering with early termination.",
        ..Bars::default()
    });
    for (key, name) in [("of_visited", "visited entries"), ("of_blending", "entries that blend")] {
        let statement = format!("Of {name}, less than 40 % of the lanes blend (III-B).");
        sheet.judge(&statement, |scene| Some(scene.of(key)? < bound?));
    }
    sheet.say(
        "A scene above the line shows few, large splats: an ellipse that fills most of a warp's 16x2 pixels leaves few \
         lanes without a fragment, whatever the renderer.",
    );
    sheet.finish()
}

pub(super) fn figure_21(figure: &'static Figure, results: &Results) -> Content {
    const KEY: &str = "termination_ratio";
    let mut sheet = by_view(figure, results.all());
    sheet.number(KEY, "termination ratio", |view| view.ratio("baseline", "het", FRAGMENTS));
    let groups = sheet.groups();
    let at = |scene: usize| scene as f64;
    let means = groups.iter().enumerate();
    let means = means.filter_map(|(scene, group)| Some([at(scene), group.of(KEY)?]));
    let dots = groups.iter().enumerate().flat_map(|(scene, group)| {
        let values = group.values(KEY);
        let count = values.len() as f64;
        let dots = values.into_iter().enumerate().filter_map(move |(number, ratio)| {
            let offset = (number as f64 + 0.5) / count - 0.5;
            Some([at(scene) + 0.7 * offset, ratio?])
        });
        dots.collect::<Vec<_>>()
    });
    let series = [
        LineSeries::ours("view", 0, dots, LineKind::Points),
        LineSeries::ours("mean of the scene", 1, means, LineKind::Points),
    ];
    // Names of scenes at whole numbers, with room at both ends.
    let names = groups.iter().enumerate();
    let mut labels: Vec<_> = names.map(|(at, g)| (at as f64, g.label.to_owned())).collect();
    labels.extend([(-0.5, String::new()), ((groups.len() as f64 - 0.5).max(0.5), String::new())]);
    let axes = [Axis::linear("scene"), Axis::linear("termination ratio (times)")];
    let bound = |statistic| figure.number_of_column(KEY, statistic);
    let marks = [
        AxisMark::published(bound(Statistic::Above), "means of all scenes above 1.5"),
        AxisMark::published(bound(Statistic::Maximum), "up to 4.4 (Train)"),
    ];
    let chart = LineChart {
        marks: marks.into_iter().flatten().collect(),
        ..LineChart::new("Early termination ratio by view", axes, labels, series)
    };
    sheet.chart(chart.draw(), "Higher ratios promise more from early termination.");
    sheet.judge("The mean ratio of every scene is above 1.5 (VII-B).", |scene| {
        Some(scene.of(KEY)? > bound(Statistic::Above)?)
    });
    if let Some(mean) = sheet.mean(KEY) {
        let word = sheet.mean_word();
        sheet.say(format!("The {word}termination ratio is {mean:.2}."));
    }
    sheet.finish()
}
