//! Figures about early termination: fragments per pixel, software, and viewpoints.

use super::results::{
    PAPER_PRESET, Results, SceneViews, ViewResult, largest, least, mean, quotient,
};
use super::table::{Cell, Column, Table};
use super::{Claim, Content, Picture, key_cells, series};
use crate::published::Statistic;
use crate::svg::{Axis, BarChart, BarValue, Group, LineChart, LineKind, LineSeries, Mark, Series};
use quadrille_base::image::files::{PictureFormat, write_to};
use quadrille_suite::details::{PixelCounts, bin_starts};
use quadrille_suite::report::heat::{HeatMap, VIRIDIS, picture};
use quadrille_suite::report::scale::{Curve, Scale};

/// Scenes whose maps are shown.
const PICTURED: usize = 2;

fn pixel_counts(view: &ViewResult, method: &str) -> Option<PixelCounts> {
    let value = view.method(method)?.value("fragments_per_pixel")?;
    serde_json::from_value(value.clone()).ok()
}

pub(super) fn figure_7(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "Fragments that CROP blends per pixel, without early termination (baseline) and with it (HET). The paper shows \
         maps of the scene Bonsai; both maps of a scene here have one scale. The histogram is of the first scene.",
    );
    content.table = Table::new(vec![
        Column::new("scene", "scene"),
        Column::new("view", "view"),
        Column::new("without", "without"),
        Column::new("with", "with"),
        Column::new("ratio", "ratio"),
        Column::share("pixels_without_fragments", "pixels without fragments"),
    ]);
    let views = results.first(PAPER_PRESET);
    for view in &views {
        let counts = ["baseline", "het"].map(|method| pixel_counts(view, method));
        let means = counts.each_ref().map(|c| c.as_ref().map(|c| c.mean));
        let [scene, name] = key_cells(view);
        let empty = counts[0].as_ref().map(|counts| {
            let pixels: u64 = counts.histogram.iter().sum();
            counts.histogram.first().copied().unwrap_or(0) as f64 / pixels.max(1) as f64
        });
        content.table.row(vec![
            scene,
            name,
            means[0].into(),
            means[1].into(),
            quotient(means[0], means[1]).into(),
            empty.into(),
        ]);
    }
    let pictured = views.iter().filter_map(|view| {
        let [without, with] = ["baseline", "het"].map(|method| pixel_counts(view, method));
        Some((view, without?, with?))
    });
    for (view, without, with) in pictured.take(PICTURED) {
        if content.charts.is_empty() {
            let title = format!("Histogram of fragments per pixel, {}", view.scene);
            content.chart(histogram(&title, &[&without, &with]), format!("{title}."));
        }
        content.pictures.extend(maps(&view.scene, &without, &with));
    }
    content
}

/// The histogram of both counts: share of the pixels by fragments, in bins of two per doubling.
fn histogram(title: &str, counts: &[&PixelCounts; 2]) -> String {
    let names = ["without termination", "with termination"];
    let all = counts.iter().zip(names).zip(0..);
    let series = all.map(|((counts, name), colour)| {
        let pixels: u64 = counts.histogram.iter().sum();
        let starts: Vec<f64> = bin_starts().map(f64::from).collect();
        let bins = starts.iter().zip(counts.histogram.iter().skip(1));
        let mut points: Vec<[f64; 2]> = bins
            .map(|(start, count)| [*start, *count as f64 / pixels.max(1) as f64])
            .collect();
        let used = points
            .iter()
            .rposition(|p| p[1] > 0.0)
            .map_or(0, |at| at + 1);
        let end = starts.get(used).copied().unwrap_or(f64::from(u32::MAX));
        points.truncate(used);
        points.push([end, 0.0]);
        LineSeries {
            series: Series::ours(name, colour),
            points,
            kind: LineKind::Steps,
        }
    });
    let chart = LineChart {
        title: title.to_owned(),
        x: Axis::log("fragments per pixel, two bins per doubling"),
        x_labels: Vec::new(),
        y: Axis {
            reaches: None,
            ..Axis::share("share of the pixels")
        },
        series: series.collect(),
        marks: Vec::new(),
    };
    chart.svg()
}

/// Heat maps of both counts on one scale.
fn maps(scene: &str, without: &PixelCounts, with: &PixelCounts) -> Vec<Picture> {
    let cells = [without, with].map(PixelCounts::cells);
    let Some(scale) = cells[0]
        .as_ref()
        .map(|c| Scale::covering(c, Curve::SquareRoot))
    else {
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
        // Writing to memory fails for no picture that has pixels.
        write_to(&mut png, PictureFormat::Png, &frame).ok()?;
        let caption = format!("{scene}: fragments per pixel {name} early termination");
        Some(Picture { png, caption })
    });
    pictures.collect()
}

pub(super) fn figure_8(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "Software rendering with the stop rule of the scene's profile, compared with rendering that never stops. A warp \
         goes on until the last of its 32 pixels has stopped, so that the raster kernel gains less than the number of \
         fragments falls.",
    );
    content.table = Table::new(vec![
        Column::new("scene", "scene"),
        Column::new("view", "view"),
        Column::new("fragments", "reduction of fragments"),
        Column::new("warp_entries", "reduction of warp entries"),
        Column::new("raster", "speedup of the raster kernel"),
        Column::new("frame", "speedup of the frame"),
    ]);
    let views = results.first(PAPER_PRESET);
    let of = |view: &ViewResult, path: &str| view.ratio("compute:none", "compute", path);
    let paths = [
        "fragments.blended",
        "compute.warp_entries",
        "cycles",
        "frame.total_ms",
    ];
    let mut groups = Vec::new();
    for view in &views {
        let numbers = paths.map(|path| of(view, path));
        let [scene, name] = key_cells(view);
        content
            .table
            .row([vec![scene, name], numbers.map(Cell::from).to_vec()].concat());
        groups.push(Group {
            label: view.scene.clone(),
            bars: [numbers[0], numbers[2], numbers[3]]
                .map(|n| n.map(BarValue::ours))
                .to_vec(),
        });
    }
    let chart = BarChart {
        title: "Early termination in software: fragments and time".to_owned(),
        axis: Axis::linear("without over with termination (times)"),
        series: series(&["fragments", "raster kernel", "frame"]),
        groups,
        marks: vec![Mark::at(1.0, "")],
        is_stacked: false,
    };
    content.chart(chart.svg(), "Above 1, termination saves.");
    let below = views.iter().map(|view| {
        let (fragments, speedup) = (of(view, paths[0])?, of(view, paths[2])?);
        (fragments > 1.005).then_some(speedup < fragments)
    });
    let statement = "Where termination saves fragments, the speedup is below the reduction of fragments (III-B).";
    content
        .claims
        .push(Claim::count(statement, "scenes", below));
    content
}

pub(super) fn figure_9(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "Lanes that blend, as a share of all lanes of the entries that a warp of 16x2 pixels visits, and of only those \
         entries in which any lane of the warp blends. The paper does not say which of the two it counts.",
    );
    content.table = Table::new(vec![
        Column::new("scene", "scene"),
        Column::new("view", "view"),
        Column::share("of_visited", "of visited entries"),
        Column::share("of_blending", "of entries that blend"),
        Column::whole("fragments", "fragments"),
        Column::hidden("warp_entries"),
        Column::hidden("warp_entries_blending"),
    ]);
    let views = results.first(PAPER_PRESET);
    let share = |view: &ViewResult, entries: &str| {
        let number = |path: &str| view.number("compute", path);
        let lanes = number(entries).map(|n| 32.0 * n);
        quotient(number("compute.lanes.blended"), lanes)
    };
    const ENTRIES: [&str; 2] = ["compute.warp_entries", "compute.warp_entries_blending"];
    let mut groups = Vec::new();
    for view in &views {
        let shares = ENTRIES.map(|entries| share(view, entries));
        let counts = ENTRIES.map(|entries| Cell::from(view.number("compute", entries)));
        let [scene, name] = key_cells(view);
        let fragments = view.number("compute", "fragments.blended").into();
        let cells = [
            vec![scene, name],
            shares.map(Cell::from).to_vec(),
            vec![fragments],
        ];
        content
            .table
            .row([cells.concat(), counts.to_vec()].concat());
        groups.push(Group {
            label: view.scene.clone(),
            bars: shares.map(|s| s.map(BarValue::ours)).to_vec(),
        });
    }
    let quantity = "lanes of a warp that blend";
    let of_visited: Vec<_> = views.iter().map(|v| share(v, ENTRIES[0])).collect();
    content.compare(
        "fig9",
        quantity,
        Statistic::Below,
        largest(of_visited.clone()),
    );
    let bound = super::published::number("fig9", quantity, Statistic::Below);
    let chart = BarChart {
        title: "Share of the lanes of a warp that blend".to_owned(),
        axis: Axis::share("lanes that blend"),
        series: series(&["of visited entries", "of entries that blend"]),
        groups,
        marks: Mark::published(bound, "below 40 % in all scenes")
            .into_iter()
            .collect(),
        is_stacked: false,
    };
    content.chart(chart.svg(), "Software rendering with early termination.");
    for (entries, name) in ENTRIES
        .into_iter()
        .zip(["visited entries", "entries that blend"])
    {
        let outcomes = views.iter().map(|v| Some(share(v, entries)? < bound?));
        let statement = format!("Less than 40 % of the lanes blend, of {name} (III-B).");
        content
            .claims
            .push(Claim::count(&statement, "scenes", outcomes));
    }
    content.say(
        "A scene above the line shows few, large splats: an ellipse that fills most of a warp's 16x2 pixels leaves few \
         lanes without a fragment, whatever the renderer.",
    );
    content
}

pub(super) fn figure_21(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "Fragments that the baseline blends over those that HET blends, for every view of every scene of the suite. A \
         dot is a view, in the order of the suite from left to right within its scene.",
    );
    content.table = Table::new(vec![
        Column::new("scene", "scene"),
        Column::new("view", "view"),
        Column::new("termination_ratio", "termination ratio"),
    ]);
    let scenes = results.all();
    let ratio = |view: &ViewResult| view.ratio("baseline", "het", "fragments.blended");
    let mut dots = Vec::new();
    let mut means = Vec::new();
    for (at, scene) in scenes.iter().enumerate() {
        let count = scene.views.len() as f64;
        for (number, view) in scene.views.iter().enumerate() {
            let [name, view_name] = key_cells(view);
            content.table.row(vec![name, view_name, ratio(view).into()]);
            if let Some(ratio) = ratio(view) {
                let offset = (number as f64 + 0.5) / count - 0.5;
                dots.push([at as f64 + 0.7 * offset, ratio]);
            }
        }
        if let Some(mean) = scene.mean(ratio) {
            means.push([at as f64, mean]);
        }
    }
    let all = || scenes.iter().flat_map(|s| s.views.iter().map(|v| ratio(v)));
    let scene_means: Vec<_> = scenes.iter().map(|s| s.mean(ratio)).collect();
    let (above, any) = (
        "early termination ratio, mean of a scene",
        "early termination ratio, any view",
    );
    content.compare("fig21", above, Statistic::Above, least(scene_means.clone()));
    content.compare("fig21", any, Statistic::Maximum, largest(all()));
    let published = |quantity, statistic| super::published::number("fig21", quantity, statistic);
    let bound = published(above, Statistic::Above);
    let marks = [
        Mark::published(bound, "means of all scenes above 1.5"),
        Mark::published(published(any, Statistic::Maximum), "up to 4.4 (Train)"),
    ];
    let chart = LineChart {
        title: "Early termination ratio by view".to_owned(),
        x: Axis::linear("scene"),
        x_labels: scene_labels(&scenes),
        y: Axis::linear("termination ratio (times)"),
        series: vec![
            LineSeries {
                series: Series::ours("view", 0),
                points: dots,
                kind: LineKind::Points,
            },
            LineSeries {
                series: Series::ours("mean of the scene", 1),
                points: means,
                kind: LineKind::Points,
            },
        ],
        marks: marks.into_iter().flatten().collect(),
    };
    content.chart(
        chart.svg(),
        "Higher ratios promise more from early termination.",
    );
    let outcomes = scene_means.iter().map(|m| Some((*m)? > bound?));
    let statement = "The mean ratio of every scene is above 1.5 (VII-B).";
    content
        .claims
        .push(Claim::count(statement, "scenes", outcomes));
    if let Some(mean) = mean(scene_means) {
        content.say(format!("The mean over the scenes is {mean:.2}."));
    }
    content
}

/// Names of scenes at whole numbers, with room at both ends.
fn scene_labels(scenes: &[SceneViews<'_>]) -> Vec<(f64, String)> {
    let names = scenes.iter().enumerate();
    let mut labels: Vec<(f64, String)> = names
        .map(|(at, scene)| (at as f64, scene.name.to_owned()))
        .collect();
    let end = scenes.len() as f64 - 0.5;
    labels.extend([(-0.5, String::new()), (end.max(0.5), String::new())]);
    labels
}
