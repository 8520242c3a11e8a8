//! Figures 17 and 19: whole frames and energy, both modelled.

use super::motivation::frame_chart;
use super::results::{PAPER_PRESET, Results, ViewResult, largest, least, mean, quotient};
use super::table::{Cell, Column, Table};
use super::{Claim, Content, key_cells, series};
use crate::published::{self, Statistic, derived};
use crate::svg::{Axis, BarChart, BarValue, Group, Mark};

const TOTAL: &str = "frame.total_ms";

/// Speedups of VR-Pipe's frame over software and hardware frames.
pub(super) fn frame_speedups(view: &ViewResult) -> [Option<f64>; 2] {
    ["compute", "baseline"].map(|method| view.ratio(method, "het+qm", TOTAL))
}

/// Share of the hardware frame that is not raster.
pub(super) fn not_raster(view: &ViewResult) -> Option<f64> {
    view.number("baseline", "frame.raster_share")
        .map(|share| 1.0 - share)
}

pub(super) fn figure_17(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "Frames with preprocess and sort. Software is the renderer on the shader cores with early termination, hardware \
         the baseline, VR-Pipe has both additions. The paper measured preprocess and sort on an Orin; here they are \
         modelled as kernels of bytes and instructions.",
    );
    content.table = Table::new(vec![
        Column::new("scene", "scene"),
        Column::new("view", "view"),
        Column::new("over_software", "over software"),
        Column::new("over_hardware", "over hardware"),
        Column::new("software_over_hardware", "software over hardware"),
        Column::share("not_raster", "hardware frame that is not raster"),
        Column::new("vr_pipe_fps", "VR-Pipe (frames per second)"),
        Column::hidden("software_ms"),
        Column::hidden("hardware_ms"),
        Column::hidden("vr_pipe_ms"),
    ]);
    let views = results.first(PAPER_PRESET);
    let mut groups = Vec::new();
    for view in &views {
        let [software, hardware] = frame_speedups(view);
        let mut cells = key_cells(view).to_vec();
        cells.extend([
            software.into(),
            hardware.into(),
            view.ratio("compute", "baseline", TOTAL).into(),
            not_raster(view).into(),
            view.number("het+qm", "frame.fps").into(),
        ]);
        cells.extend(["compute", "baseline", "het+qm"].map(|m| Cell::from(view.number(m, TOTAL))));
        content.table.row(cells);
        groups.push(Group {
            label: view.scene.clone(),
            bars: [software, hardware].map(|n| n.map(BarValue::ours)).to_vec(),
        });
    }
    let mean_of = |at: usize| mean(views.iter().map(|v| frame_speedups(v)[at]));
    let means = [mean_of(0), mean_of(1)];
    let quantities = ["VR-Pipe over software", "VR-Pipe over hardware"];
    if views.len() > 1 {
        groups.push(Group {
            label: "mean".to_owned(),
            bars: means.map(|n| n.map(BarValue::ours)).to_vec(),
        });
    }
    groups.push(Group {
        label: "published".to_owned(),
        bars: quantities
            .map(|q| published::mean("fig17", q).map(BarValue::published))
            .to_vec(),
    });
    let chart = BarChart {
        title: "Speedup of whole frames by VR-Pipe".to_owned(),
        axis: Axis::linear("speedup of the frame (times)"),
        series: series(&["over software", "over hardware"]),
        groups,
        marks: vec![Mark::at(1.0, "")],
        is_stacked: false,
    };
    content.chart(chart.svg(), "Dashed bars are published means.");
    let methods = [("compute", "SW"), ("baseline", "HW"), ("het+qm", "VR-Pipe")];
    let chart = frame_chart("Parts of modelled frames", &views, &methods);
    content.chart(chart.svg(), "Modelled, on the GPU of Table I.");
    for (quantity, mean) in quantities.into_iter().zip(means) {
        content.compare("fig17", quantity, Statistic::Mean, mean);
    }
    let shares: Vec<_> = views
        .iter()
        .map(|v| v.number("baseline", "frame.raster_share"))
        .collect();
    content.compare(
        "fig17",
        "share of the raster",
        Statistic::Above,
        least(shares.clone()),
    );
    let bound = published::number("fig17", "share of the raster", Statistic::Above);
    let raster = shares.into_iter().map(|share| Some(share? > bound?));
    let statement = "The raster takes more than 70 % of the frame (VI-B).";
    content
        .claims
        .push(Claim::count(statement, "scenes", raster));
    content.say(explanation(&views));
    content
}

/// Explains how the share of preprocess and sort limits the speedup of frames.
fn explanation(views: &[&ViewResult]) -> String {
    let derived = derived();
    let share = mean(views.iter().map(|v| not_raster(v)));
    let ratio = mean(views.iter().map(|v| v.ratio("compute", "baseline", TOTAL)));
    let draw = mean(views.iter().map(|v| v.speedup("het+qm")));
    let (Some(share), Some(ratio), Some(draw)) = (share, ratio, draw) else {
        return "The frames of no scene are complete.".to_owned();
    };
    let with_share = 1.0 / (derived.not_raster + (1.0 - derived.not_raster) / draw);
    format!(
        "The published means imply that {:.1} % of the hardware frame are not raster, and that a software frame takes {:.2} \
         hardware frames; here it is {:.1} % and {ratio:.2}. With the published share, the mean speedup of the draws here, \
         {draw:.2}, would make hardware frames {with_share:.2} times as fast.",
        derived.not_raster * 100.0,
        derived.software_over_hardware,
        share * 100.0,
    )
}

/// Energy of the baseline's draw divided by the energy of a method's draw: as configured, and the minimum and
/// maximum with the constants at their bounds. Both draws share the constants.
pub(super) fn energy_ratio(view: &ViewResult, method: &str) -> Option<[f64; 3]> {
    let ratio = view.ratio("baseline", method, "energy_mj.total")?;
    let corners = |method: &str| {
        let value = view.method(method)?.value("energy_mj.corners")?;
        let numbers = value.as_array()?.iter().map(serde_json::Value::as_f64);
        numbers.collect::<Option<Vec<f64>>>()
    };
    let (over, under) = (corners("baseline")?, corners(method)?);
    let ratios = || {
        over.iter()
            .zip(&under)
            .map(|(a, b)| quotient(Some(*a), Some(*b)))
    };
    Some([ratio, least(ratios())?, largest(ratios())?])
}

pub(super) fn figure_19(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "Energy of the baseline's draw over that with VR-Pipe. The paper imitated the additions in shaders of a real Orin \
         and measured its power; here events of the emulated draw have assumed energies. The whiskers are the band of the \
         two constants that no publication settles: static power, and the energy of a bit of DRAM.",
    );
    content.table = Table::new(vec![
        Column::new("scene", "scene"),
        Column::new("view", "view"),
        Column::new("qm", "QM"),
        Column::new("het", "HET"),
        Column::new("het_qm", "HET+QM"),
        Column::new("het_qm_low", "band from"),
        Column::new("het_qm_high", "to"),
        Column::new("baseline_mj", "baseline (mJ)"),
        Column::hidden("het_qm_mj"),
    ]);
    let views = results.first(PAPER_PRESET);
    let methods = ["qm", "het", "het+qm"];
    let mut groups = Vec::new();
    for view in &views {
        let ratios = methods.map(|method| energy_ratio(view, method));
        let mut cells = key_cells(view).to_vec();
        cells.extend(ratios.map(|r| Cell::from(r.map(|r| r[0]))));
        cells.extend([1, 2].map(|at: usize| Cell::from(ratios[2].map(|r| r[at]))));
        cells.extend(["baseline", "het+qm"].map(|m| Cell::from(view.number(m, "energy_mj.total"))));
        content.table.row(cells);
        let bar = |[value, low, high]: [f64; 3]| BarValue {
            band: Some([low, high]),
            ..BarValue::ours(value)
        };
        groups.push(Group {
            label: view.scene.clone(),
            bars: ratios.map(|r| r.map(bar)).to_vec(),
        });
    }
    let both: Vec<_> = views
        .iter()
        .map(|v| Some(energy_ratio(v, "het+qm")?[0]))
        .collect();
    let stated = |statistic| published::number("fig19", "energy efficiency", statistic);
    groups.push(Group {
        label: "published".to_owned(),
        bars: vec![
            Some(BarValue::mean_and_most(None, None)),
            Some(BarValue::mean_and_most(None, None)),
            Some(BarValue::mean_and_most(
                stated(Statistic::Mean),
                stated(Statistic::Maximum),
            )),
        ],
    });
    let chart = BarChart {
        title: "Energy efficiency of VR-Pipe".to_owned(),
        axis: Axis::linear("energy of the baseline over (times)"),
        series: series(&["QM", "HET", "HET+QM"]),
        groups,
        marks: vec![Mark::at(1.0, "")],
        is_stacked: false,
    };
    content.chart(
        chart.svg(),
        "Modelled; the dashed bar is the published mean of HET+QM, the dashed line its maximum.",
    );
    content.compare(
        "fig19",
        "energy efficiency",
        Statistic::Mean,
        mean(both.clone()),
    );
    content.compare(
        "fig19",
        "energy efficiency",
        Statistic::Maximum,
        largest(both),
    );
    let less = views
        .iter()
        .map(|v| Some(energy_ratio(v, "het+qm")?[0] < v.speedup("het+qm")?));
    let statement = "The energy falls less than the time (means of Figures 16 and 19).";
    content.claims.push(Claim::count(statement, "scenes", less));
    content
}
