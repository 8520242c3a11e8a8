//! Figures 16, 18 and 23: speedups of VR-Pipe, and the work that its additions take off the ROPs.

use super::implied::{per_quad, published_per_quad};
use super::results::{FRAGMENTS, Measure, QUADS, Results, ViewResult, by_view, throughput};
use super::units;
use crate::content::Content;
use crate::paper::{Figure, QUICK_SCENES, Statistic};
use crate::sheet::{Bars, Sheet, largest, least, mean, quotient, standard_deviation};
use quadrille_charts::{Axis, AxisMark, BarChart, Group};

const SPEEDUPS: [[&str; 2]; 3] = [["qm", "QM"], ["het", "HET"], ["het_qm", "HET+QM"]];

/// Columns of merging without tile-grid coalescing, which the paper does not show.
const WITHOUT_GRIDS: [[&str; 2]; 2] = [["qru", "QRU"], ["het_qru", "HET+QRU"]];

fn speedups<'a>(figure: &'static Figure, views: Vec<&'a ViewResult>) -> Sheet<&'a ViewResult> {
    let mut sheet = by_view(figure, views);
    for [key, name] in SPEEDUPS {
        sheet.number(key, name, |view| view.speedup(&name.to_lowercase()));
    }
    sheet
}

pub(super) fn figure_16(figure: &'static Figure, results: &Results) -> Content {
    let mut sheet = speedups(figure, results.all());
    for [key, name] in WITHOUT_GRIDS {
        sheet.number(key, name, |view| view.speedup(&name.to_lowercase()));
    }
    sheet.bars(Bars {
        title: "Speedup over the baseline",
        axis: Axis::linear("speedup (times)"),
        series: &SPEEDUPS,
        has_mean: true,
        has_published: true,
        marks: vec![AxisMark::at(1.0, "")],
        caption: "Dashed bars are published means, dashed lines published maxima; the paper states no mean of QM.",
    });
    sheet.judge("Both additions together are faster than either (VI-B).", |scene| {
        Some(scene.of("het_qm")? >= scene.of("qm")?.max(scene.of("het")?))
    });
    sheet.judge("VR-Pipe improves every scene (VI-B).", |scene| Some(scene.of("het_qm")? > 1.0));
    let gains = [["qm", "qru"], ["het_qm", "het_qru"]].map(|pair| {
        let [with, without] = pair.map(|key| sheet.mean(key));
        Some(100.0 * (with? / without? - 1.0))
    });
    if let [Some(qm), Some(both)] = gains {
        sheet.say(format!(
            "Tile-grid coalescing changes the mean speedup of merging by {qm:+.1} %, and by {both:+.1} % on top of HET \
             (QRU and HET+QRU are without)."
        ));
    }
    let both = sheet.values("het_qm");
    if let (Some(low), Some(high)) = (least(both.clone()), largest(both))
        && low < high
    {
        sheet.say(format!("Over all views, HET+QM ranges from {low:.2} to {high:.2}."));
    }
    let scenes = sheet.groups().len();
    let selections = [("all", scenes), ("the first", QUICK_SCENES)];
    for (name, count) in selections.into_iter().take(1 + usize::from(scenes > QUICK_SCENES)) {
        let of = |[key, heading]: [&str; 2]| {
            let values = || {
                sheet
                    .groups()
                    .into_iter()
                    .take(count)
                    .map(|scene| scene.of(key))
                    .collect::<Vec<_>>()
            };
            let (mean, spread) = (mean(values())?, standard_deviation(values())?);
            Some(format!("{heading} {mean:.2} ± {spread:.2}"))
        };
        let means: Vec<String> = SPEEDUPS.into_iter().filter_map(of).collect();
        if !means.is_empty() {
            sheet.say(format!(
                "Arithmetic mean and standard deviation over {name} {count} scenes: {}.",
                means.join(", ")
            ));
        }
    }
    sheet.spread_rows();
    sheet.finish()
}

/// Ratios of Figure 18: column and name, methods, and measure.
const REDUCTIONS: [([&str; 2], [&str; 2], Measure); 4] = [
    (["fragments_het", "fragments: HET"], ["baseline", "het"], FRAGMENTS),
    (["fragments_qm", "fragments: then QM"], ["het", "het+qm"], FRAGMENTS),
    (["quads_het", "quads: HET"], ["baseline", "het"], QUADS),
    (["quads_qm", "quads: then QM"], ["het", "het+qm"], QUADS),
];

pub(super) fn mean_reductions(results: &Results) -> [Option<f64>; 4] {
    REDUCTIONS.map(|(_, [over, under], of)| results.mean(|view| view.ratio(over, under, of)))
}

pub(super) fn figure_18(figure: &'static Figure, results: &Results) -> Content {
    let mut sheet = by_view(figure, results.all());
    for ([key, name], [over, under], of) in REDUCTIONS {
        sheet.number(key, name, |view| view.ratio(over, under, of));
    }
    for (key, heading, method) in [
        ("per_quad_baseline", "fragments per quad: baseline", "baseline"),
        ("per_quad_het", "HET", "het"),
    ] {
        sheet.number(key, heading, |view| {
            quotient(view.number(method, FRAGMENTS), view.number(method, QUADS))
        });
    }
    sheet.bars(Bars {
        title: "Reduction of blended fragments and quads",
        axis: Axis::linear("reduction (times)"),
        series: &REDUCTIONS.map(|(series, ..)| series),
        has_mean: true,
        has_published: true,
        marks: vec![AxisMark::at(1.0, "")],
        caption: "Dashed bars are published means.",
    });
    sheet.judge("HET reduces quads less than fragments (VI-C).", |scene| {
        Some(scene.of("quads_het")? <= scene.of("fragments_het")?)
    });
    let per_quad_means = ["per_quad_baseline", "per_quad_het"].map(|key| sheet.mean(key));
    let published =
        ["quads, HET", "fragments, HET"].map(|quantity| figure.number(quantity, Statistic::Mean));
    if let ([Some(baseline), Some(het)], [Some(quads), Some(fragments)]) =
        (per_quad_means, published)
    {
        sheet.say(format!(
            "A quad that is blended has {baseline:.2} fragments in the baseline and {het:.2} with HET: the reduction of quads \
             is {:.2} of the reduction of fragments, {:.2} from the published means. The ratio falls with the size of the splats in pixels; \
             docs/vr-pipe.md has it at several sizes.",
            het / baseline,
            quads / fragments
        ));
    }
    if let [Some(het), Some(both)] = per_quad(results) {
        let [published_het, published_both] = published_per_quad();
        sheet.say(format!(
            "The speedup as a share of the reduction of quads does not depend on the size of the splats: {het:.2} for HET \
             and {both:.2} for HET+QM here, {published_het:.2} and {published_both:.2} from the published means. It is 1 \
             where the ROPs limit the draw with and without the additions."
        ));
    }
    sheet.finish()
}

const UNITS: [[&str; 2]; 5] = [
    [units::COARSE, "raster"],
    [units::PROP, "PROP"],
    [units::ZROP, "ZROP"],
    [units::CORES, "SM"],
    [units::CROP, "CROP"],
];

pub(super) fn figure_23(figure: &'static Figure, results: &Results) -> Content {
    let views = results.large();
    if views.is_empty() {
        let mut content = Content::default();
        content.say(
            "The paper draws Building (9.06 million splats) and Rubble (5.21 million splats). This report has no scene that \
             its suite marks as large: give benches/large.toml as a second suite, whose procedural scenes of 9 and 5 million \
             splats take their place.",
        );
        return content;
    }
    let mut sheet = speedups(figure, views);
    for [unit, _] in UNITS {
        sheet.hidden(unit, |view| throughput(view.method("baseline")?, unit));
    }
    let scenes = sheet.groups();
    let units = UNITS.map(|[unit, name]| Group::of(name, scenes.iter().map(|s| s.of(unit))));
    let names: Vec<&str> = scenes.iter().map(|scene| scene.label).collect();
    let axis = Axis::share("throughput utilisation");
    let chart = BarChart::new("Throughput utilisation in large scenes", axis, &names, units).draw();
    sheet.chart(chart, "(a) Utilisation of the baseline's units.");
    sheet.bars(Bars {
        title: "Speedup over the baseline in large scenes",
        axis: Axis::linear("speedup (times)"),
        series: &SPEEDUPS,
        has_mean: true,
        marks: vec![AxisMark::at(1.0, "")],
        caption: "(b) Speedup; the paper's bars have no numbers in its text.",
        ..Bars::default()
    });
    sheet.judge("The ROPs stay the bottleneck (VII-C).", |scene| {
        let crop = scene.of(units::CROP)?;
        Some(UNITS.iter().filter_map(|[unit, _]| scene.of(unit)).all(|other| other <= crop))
    });
    sheet.judge("VR-Pipe improves large scenes (VII-C).", |scene| Some(scene.of("het_qm")? > 1.0));
    if let Some(both) = sheet.mean("het_qm") {
        let word = sheet.mean_word();
        sheet.say(format!("The {word}speedup of HET+QM is {both:.2}."));
    }
    sheet.finish()
}
