//! Figures of the paper's section IV: blending in the shader, and early termination in several passes.

use super::results::{PAPER_PRESET, Results, ViewResult, largest, mean};
use super::table::{Cell, Column, Table};
use super::{Claim, Content, key_cells, series};
use crate::published::Statistic;
use crate::svg::{Axis, BarChart, BarValue, Group, LineChart, LineKind, LineSeries, Mark, Series};

/// Numbers of passes of Figure 11 beside 1, which is the baseline.
pub(super) const PASSES: [u32; 6] = [2, 4, 8, 16, 32, 64];

pub(super) fn figure_10(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "Time of the draw with blending in the fragment shader, over that with blending in the ROPs: without a lock, \
         where fragments of one pixel may overtake each other, and with a critical section in the order of the fragments \
         (interlock).",
    );
    content.table = Table::new(vec![
        Column::new("scene", "scene"),
        Column::new("view", "view"),
        Column::whole("rop_cycles", "ROP (cycles)"),
        Column::new("shader_blend", "shader, no lock (times)"),
        Column::new("interlock", "shader, interlock (times)"),
    ]);
    let views = results.first(PAPER_PRESET);
    let over = |view: &ViewResult, method: &str| view.ratio(method, "baseline", "cycles");
    let mut groups = Vec::new();
    for view in &views {
        let [unlocked, locked] = ["shader-blend", "interlock"].map(|m| over(view, m));
        let [scene, name] = key_cells(view);
        let rop = view.number("baseline", "cycles");
        content.table.row(vec![
            scene,
            name,
            rop.into(),
            unlocked.into(),
            locked.into(),
        ]);
        let bars = [rop.map(|_| 1.0), unlocked, locked].map(|n| n.map(BarValue::ours));
        groups.push(Group {
            label: view.scene.clone(),
            bars: bars.to_vec(),
        });
    }
    let chart = BarChart {
        title: "Normalised time of blending in the ROPs and in the shader".to_owned(),
        axis: Axis::log("time over ROP-based blending, logarithmic"),
        series: series(&["ROP", "shader, no lock", "shader, interlock"]),
        groups,
        marks: Vec::new(),
        is_stacked: false,
    };
    content.chart(chart.svg(), "The paper's bars have no numbers in its text.");
    let slower = views.iter().map(|v| Some(over(v, "interlock")? > 1.0));
    let statement = "With interlock, blending in the shader is slower than in the ROPs (IV-A).";
    content
        .claims
        .push(Claim::count(statement, "scenes", slower));
    let close = views.iter().map(|v| Some(over(v, "shader-blend")? <= 1.1));
    let statement =
        "Without a lock, it is close to the ROPs (at most 10 % slower) or faster (IV-A).";
    content
        .claims
        .push(Claim::count(statement, "scenes", close));
    let order = views
        .iter()
        .map(|v| Some(over(v, "interlock")? > over(v, "shader-blend")?));
    let statement = "The lock costs more than the blending (IV-A).";
    content
        .claims
        .push(Claim::count(statement, "scenes", order));
    content
}

/// Speedups over the baseline by number of passes: 1, then each of [`PASSES`].
fn speedups(view: &ViewResult) -> Vec<(u32, Option<f64>)> {
    let one = view.method("baseline").map(|_| 1.0);
    let more = PASSES.map(|n| (n, view.speedup(&format!("multipass:{n}"))));
    [(1, one)].into_iter().chain(more).collect()
}

pub(super) fn figure_11(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "Speedup over the baseline of the same draw in N batches of splats with a stencil update between two of them, \
         which terminates pixels. A single pass is the baseline itself. The dots at the right are the hardware's early \
         termination.",
    );
    let columns = [
        vec![
            Column::new("scene", "scene"),
            Column::new("view", "view"),
            Column::new("n_1", "N = 1"),
        ],
        PASSES
            .map(|n| Column::new(format!("n_{n}"), n.to_string()))
            .to_vec(),
        vec![Column::new("het", "HET"), Column::whole("best_n", "best N")],
    ];
    content.table = Table::new(columns.concat());
    let views = results.first(PAPER_PRESET);
    let end = f64::from(2 * PASSES[PASSES.len() - 1]);
    let mut lines = Vec::new();
    for (view, colour) in views.iter().zip(0..) {
        let speedups = speedups(view);
        let known = speedups.iter().filter_map(|(n, s)| Some((*n, (*s)?)));
        let best = known
            .clone()
            .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        let het = view.speedup("het");
        let [scene, name] = key_cells(view);
        let mut cells = vec![scene, name];
        cells.extend(speedups.iter().map(|(_, s)| Cell::from(*s)));
        cells.extend([het.into(), best.map(|(n, _)| f64::from(n)).into()]);
        content.table.row(cells);
        lines.push(LineSeries {
            series: Series::ours(&view.scene, colour),
            points: known.map(|(n, s)| [f64::from(n).log2(), s]).collect(),
            kind: LineKind::Line,
        });
        lines.push(LineSeries {
            series: Series::ours("", colour),
            points: het.map(|s| [end.log2(), s]).into_iter().collect(),
            kind: LineKind::Points,
        });
    }
    let all = [1].into_iter().chain(PASSES).map(f64::from);
    let labels = all.map(|n| (n.log2(), n.to_string()));
    let chart = LineChart {
        title: "Speedup of rendering in several passes".to_owned(),
        x: Axis::linear("number of passes N"),
        x_labels: labels.chain([(end.log2(), "HET".to_owned())]).collect(),
        y: Axis::linear("speedup over the baseline (times)"),
        series: lines,
        marks: vec![Mark::at(1.0, "baseline")],
    };
    content.chart(
        chart.svg(),
        "The paper's curves have no numbers in its text.",
    );
    let quantity = "alpha at which a pixel terminates";
    content.compare(
        "fig11",
        quantity,
        Statistic::Value,
        Some(results.config.zrop.threshold),
    );
    let most = |view: &ViewResult| largest(speedups(view).into_iter().map(|(_, s)| s));
    let never = views.iter().map(|v| Some(most(v)? <= v.speedup("het")?));
    let statement = "Passes gain less than early termination in hardware (IV-B).";
    content
        .claims
        .push(Claim::count(statement, "scenes", never));
    let falls = views.iter().map(|v| {
        let last = v.speedup(&format!("multipass:{}", PASSES[PASSES.len() - 1]))?;
        Some(last < most(v)?)
    });
    let statement = "Too many passes cost more than they save (IV-B).";
    content
        .claims
        .push(Claim::count(statement, "scenes", falls));
    if let Some(mean) = mean(views.iter().map(|v| most(v))) {
        content.say(format!("At the best N, the mean speedup is {mean:.2}."));
    }
    content
}
