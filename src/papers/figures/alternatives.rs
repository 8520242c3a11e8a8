//! Figures of the paper's section IV: blending in the shader, and early termination in several passes.

use super::results::{CYCLES, PAPER_PRESET, Results, ViewResult, by_view};
use crate::content::Content;
use crate::paper::Figure;
use crate::sheet::{Bars, Rows, largest, mean};
use quadrille_charts::{Axis, AxisMark, Drawings, LineChart, LineKind, LineSeries};

/// Numbers of passes besides 1, which is the baseline.
pub(super) const PASSES: [u32; 6] = [2, 4, 8, 16, 32, 64];

pub(super) fn figure_10(figure: &'static Figure, results: &Results) -> Content {
    let over =
        |method: &'static str| move |view: &&ViewResult| view.ratio(method, "baseline", CYCLES);
    let mut sheet = by_view(figure, results.first(PAPER_PRESET));
    sheet
        .whole("rop_cycles", "ROP (cycles)", |view| view.number("baseline", CYCLES))
        .number("shader_blend", "shader, no lock (times)", over("shader-blend"))
        .number("interlock", "shader, interlock (times)", over("interlock"))
        .hidden("rop", over("baseline"));
    sheet.bars(Bars {
        title: "Normalised time of blending in the ROPs and in the shader",
        axis: Axis::log("time over ROP-based blending, logarithmic"),
        series: &[
            ["rop", "ROP"],
            ["shader_blend", "shader, no lock"],
            ["interlock", "shader, interlock"],
        ],
        caption: "The paper's bars have no numbers in its text.",
        ..Bars::default()
    });
    let statement = "With interlock, blending in the shader is slower than in the ROPs (IV-A).";
    sheet.judge(statement, |scene| Some(scene.of("interlock")? > 1.0));
    let statement =
        "Without a lock, it is close to the ROPs (at most 10 % slower) or faster (IV-A).";
    sheet.judge(statement, |scene| Some(scene.of("shader_blend")? <= 1.1));
    sheet.judge("The lock costs more than the blending (IV-A).", |scene| {
        Some(scene.of("interlock")? > scene.of("shader_blend")?)
    });
    sheet.finish()
}

fn speedup(view: &ViewResult, passes: u32) -> Option<f64> {
    match passes {
        1 => view.method("baseline").map(|_| 1.0),
        n => view.speedup(&format!("multipass:{n}")),
    }
}

fn passes() -> impl Iterator<Item = u32> {
    [1].into_iter().chain(PASSES)
}

pub(super) fn figure_11(figure: &'static Figure, results: &Results) -> Content {
    let mut sheet = by_view(figure, results.first(PAPER_PRESET));
    for n in passes() {
        let heading = if n == 1 { "N = 1".to_owned() } else { n.to_string() };
        sheet.number(&format!("n_{n}"), &heading, |view| speedup(view, n));
    }
    sheet.number("het", "HET", |view| view.speedup("het")).whole("best_n", "best N", |view| {
        let known = passes().filter_map(|n| Some((n, speedup(view, n)?)));
        known.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))).map(|(n, _)| f64::from(n))
    });
    let chart = passes_chart(&sheet.groups());
    sheet.chart(chart, "The paper's curves have no numbers in its text.");
    sheet.ours("alpha at which a pixel terminates", Some(results.config.zrop.threshold));
    let most = |scene: &Rows<'_>| largest(passes().map(|n| scene.of(&format!("n_{n}"))));
    let statement = "Passes gain less than early termination in hardware (IV-B).";
    sheet.judge(statement, |scene| Some(most(scene)? <= scene.of("het")?));
    let last = format!("n_{}", PASSES[PASSES.len() - 1]);
    let statement = "Too many passes cost more than they save (IV-B).";
    sheet.judge(statement, |scene| Some(scene.of(&last)? < most(scene)?));
    if let Some(mean) = mean(sheet.groups().iter().map(most)) {
        let word = sheet.mean_word();
        sheet.say(format!("At the best N, the {word}speedup is {mean:.2}."));
    }
    sheet.finish()
}

fn passes_chart(scenes: &[Rows<'_>]) -> Drawings {
    let end = f64::from(2 * PASSES[PASSES.len() - 1]).log2();
    let series = scenes.iter().zip(0..).flat_map(|(scene, colour)| {
        let points =
            passes().filter_map(|n| Some([f64::from(n).log2(), scene.of(&format!("n_{n}"))?]));
        let het = scene.of("het").map(|speedup| [end, speedup]);
        [
            LineSeries::ours(scene.label, colour, points, LineKind::Line),
            LineSeries::ours("", colour, het, LineKind::Points),
        ]
    });
    let axes =
        [Axis::linear("number of passes N"), Axis::linear("speedup over the baseline (times)")];
    let labels = passes().map(|n| (f64::from(n).log2(), n.to_string()));
    let labels = labels.chain([(end, "HET".to_owned())]).collect();
    let chart = LineChart {
        marks: vec![AxisMark::at(1.0, "baseline")],
        ..LineChart::new("Speedup of rendering in several passes", axes, labels, series)
    };
    chart.draw()
}
