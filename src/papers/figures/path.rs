//! Cycles of the frames of camera paths, which the paper does not have.

use super::results::{CYCLES, Results, by_view};
use crate::content::Content;
use crate::paper::Figure;
use crate::sheet::{Rows, largest, least};
use quadrille_charts::{Axis, Drawings, LineChart, LineKind, LineSeries};

/// Column, name and method of each line.
const LINES: [[&str; 3]; 4] = [
    ["baseline", "baseline", "baseline"],
    ["het_qm", "HET+QM", "het+qm"],
    ["gscore", "GSCore", "gscore"],
    ["tile_gpu", "tile-based GPU", "tile-gpu"],
];

pub(super) fn figure(figure: &'static Figure, results: &Results) -> Content {
    let frames = results.frames();
    if frames.is_empty() {
        let mut content = Content::default();
        content.say(
            "This report has no scene whose views are frames of a sequence: a suite gives it one with warm = true, as in \
             benches/figures-island.toml.",
        );
        return content;
    }
    let mut sheet = by_view(figure, frames);
    sheet.whole("frame", "frame", |view| Some(view.frame()? as f64));
    for [key, name, method] in LINES {
        sheet.whole(key, name, |view| view.number(method, CYCLES));
    }
    sheet.number("speedup", "speedup of HET+QM", |view| view.speedup("het+qm"));
    let charts = sheet.groups().into_iter().map(|scene| (chart(&scene), reach(&scene)));
    for (chart, reach) in charts.collect::<Vec<_>>() {
        sheet.chart(chart, reach);
    }
    sheet.finish()
}

fn chart(scene: &Rows<'_>) -> Drawings {
    let frames = scene.values("frame");
    let series = LINES.iter().enumerate().map(|(colour, [key, name, _])| {
        let points = frames.iter().zip(scene.values(key));
        let points = points.filter_map(|(frame, cycles)| Some([(*frame)?, cycles?]));
        LineSeries::ours(*name, colour, points, LineKind::Line)
    });
    let axes = [Axis::linear("frame"), Axis::linear("cycles")];
    let title = format!("Cycles per frame over a path through {}", scene.label);
    LineChart::new(&title, axes, Vec::new(), series).draw()
}

/// Caption of a chart: the scene, and how far the speedup changes over the path.
fn reach(scene: &Rows<'_>) -> String {
    let speedups = || scene.values("speedup");
    match least(speedups()).zip(largest(speedups())) {
        Some((least, most)) => format!(
            "{}: the speedup of HET+QM over the baseline is {least:.2} to {most:.2}.",
            scene.label
        ),
        None => format!("{}.", scene.label),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::results::tests::view;
    use crate::paper::figures;
    use quadrille_gpu::config::Config;

    /// Frames of a sequence are in this figure alone, and a chart has a line per method.
    #[test]
    fn frames_are_in_this_figure_alone() {
        let methods = [
            ("baseline", 2000, 30),
            ("het+qm", 900, 9),
            ("gscore", 300, 9),
            ("tile-gpu", 2200, 30),
        ];
        let mut views = vec![view("still", &methods)];
        for frame in 0..3 {
            let mut view = view("path", &methods);
            view.row.key.frame = Some(frame);
            view.is_first = frame == 0;
            views.push(view);
        }
        let results = Results { views, config: Config::default() };
        assert_eq!((results.all().len(), results.scenes().len()), (1, 1));
        let of_path = figures().find(|one| one.id == "path").unwrap();
        let content = figure(of_path, &results);
        assert_eq!((content.table.rows.len(), content.charts.len()), (3, 1));
        assert!(content.charts[0].caption.contains("2.22 to 2.22"));
        let chart = content.charts[0].drawings.inline();
        for [_, name, _] in LINES {
            assert!(chart.contains(name), "{name}");
        }
        let none = figure(of_path, &Results { views: Vec::new(), ..results });
        assert!(none.is_empty() && none.text[0].contains("warm = true"));
    }
}
