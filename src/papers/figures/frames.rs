//! Figures 17, 19 and 22: whole frames, energy and the accelerator, all modelled.

use super::implied::derived;
use super::motivation::frame_chart;
use super::results::{
    DRAW_MS, ENERGY_MJ, FPS, FRAME_MS, PAPER_PRESET, Results, ViewResult, by_view,
};
use crate::content::Content;
use crate::paper::{Figure, Statistic};
use crate::sheet::{Bars, Sheet, largest, least, quotient};
use quadrille_base::units::cycles_to_ms;
use quadrille_charts::{Axis, AxisMark};

/// Raster's share of the time of a hardware frame.
pub(super) fn raster_share(view: &ViewResult) -> Option<f64> {
    view.number("baseline", |row| row.details.frame?.raster_share)
}

pub(super) fn frame_speedup(view: &ViewResult, method: &str) -> Option<f64> {
    view.ratio(method, "het+qm", FRAME_MS)
}

pub(super) fn figure_17(figure: &'static Figure, results: &Results) -> Content {
    const METHODS: [[&str; 2]; 3] = [["compute", "SW"], ["baseline", "HW"], ["het+qm", "VR-Pipe"]];
    let views = results.first(PAPER_PRESET);
    let mut sheet = by_view(figure, views.clone());
    sheet
        .number("over_software", "over software", |view| frame_speedup(view, "compute"))
        .number("over_hardware", "over hardware", |view| frame_speedup(view, "baseline"))
        .number("software_over_hardware", "software over hardware", |view| {
            view.ratio("compute", "baseline", FRAME_MS)
        })
        .share("not_raster", "hardware frame that is not raster", |view| {
            raster_share(view).map(|share| 1.0 - share)
        })
        .number("vr_pipe_fps", "VR-Pipe (frames per second)", |view| view.number("het+qm", FPS));
    for (key, [method, _]) in ["software_ms", "hardware_ms", "vr_pipe_ms"].into_iter().zip(METHODS)
    {
        sheet.hidden(key, |view| view.number(method, FRAME_MS));
    }
    sheet
        .hidden("raster_share", |view| raster_share(view))
        .hidden("draw_speedup", |view| view.speedup("het+qm"));
    sheet.bars(Bars {
        title: "Speedup of whole frames by VR-Pipe",
        axis: Axis::linear("speedup of the frame (times)"),
        series: &[["over_software", "over software"], ["over_hardware", "over hardware"]],
        has_mean: true,
        has_published: true,
        marks: vec![AxisMark::at(1.0, "")],
        caption: "Dashed bars are published means.",
    });
    let chart = frame_chart("Parts of modelled frames", &views, &METHODS);
    sheet.chart(chart, "Modelled, on the GPU of Table I.");
    let statement = "The raster takes more than 70 % of the frame (VI-B).";
    let bound = figure.number_of_column("raster_share", Statistic::Above);
    sheet.judge(statement, |scene| Some(scene.of("raster_share")? > bound?));
    let text = explanation(&sheet);
    sheet.say(text);
    sheet.finish()
}

/// Explains how the share of preprocess and sort limits the speedup of frames.
fn explanation(sheet: &Sheet<&ViewResult>) -> String {
    let derived = derived();
    let means = ["not_raster", "software_over_hardware", "draw_speedup"].map(|key| sheet.mean(key));
    let [Some(share), Some(ratio), Some(draw)] = means else {
        return "No scene has complete frames.".to_owned();
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
    let ratio = view.ratio("baseline", method, ENERGY_MJ)?;
    let energy = |method: &str| view.method(method)?.details.energy_mj.as_ref();
    let (over, under) = (energy("baseline")?, energy(method)?);
    let ratios =
        || over.corners.iter().zip(&under.corners).map(|(a, b)| quotient(Some(*a), Some(*b)));
    Some([ratio, least(ratios())?, largest(ratios())?])
}

pub(super) fn figure_19(figure: &'static Figure, results: &Results) -> Content {
    let of = |method: &'static str, at: usize| {
        move |view: &&ViewResult| Some(energy_ratio(view, method)?[at])
    };
    let total = |method: &'static str| move |view: &&ViewResult| view.number(method, ENERGY_MJ);
    let mut sheet = by_view(figure, results.first(PAPER_PRESET));
    sheet
        .number("qm", "QM", of("qm", 0))
        .number("het", "HET", of("het", 0))
        .number("het_qm", "HET+QM", of("het+qm", 0))
        .number("het_qm_low", "band from", of("het+qm", 1))
        .number("het_qm_high", "to", of("het+qm", 2))
        .number("imitated", "HET+QM, imitated", of("imitated:het+qm", 0))
        .number("baseline_mj", "baseline (mJ)", total("baseline"))
        .hidden("het_qm_mj", total("het+qm"))
        .hidden("qm_low", of("qm", 1))
        .hidden("qm_high", of("qm", 2))
        .hidden("het_low", of("het", 1))
        .hidden("het_high", of("het", 2))
        .hidden("imitated_low", of("imitated:het+qm", 1))
        .hidden("imitated_high", of("imitated:het+qm", 2))
        .hidden("speedup", |view| view.speedup("het+qm"));
    sheet.bars(Bars {
        title: "Energy efficiency of VR-Pipe",
        axis: Axis::linear("energy of the baseline over (times)"),
        series: &[
            ["qm", "QM"],
            ["het", "HET"],
            ["het_qm", "HET+QM"],
            ["imitated", "HET+QM, imitated"],
        ],
        has_published: true,
        marks: vec![AxisMark::at(1.0, "")],
        caption: "Modelled; the dashed bar is the published mean of imitated HET+QM, the dashed line its maximum.",
        ..Bars::default()
    });
    let statement = "The energy falls less than the time (means of Figures 16 and 19).";
    sheet.judge(statement, |scene| Some(scene.of("het_qm")? < scene.of("speedup")?));
    sheet.finish()
}

pub(super) fn figure_22(figure: &'static Figure, results: &Results) -> Content {
    let mut sheet = by_view(figure, results.first(PAPER_PRESET));
    let vr_pipe_frame = |view: &ViewResult| view.number("het+qm", FRAME_MS);
    let gscore_frame = |view: &ViewResult| {
        let gscore = view.method("gscore")?.counts.gscore()?;
        Some(cycles_to_ms(gscore.frame_cycles, gscore.clock_mhz))
    };
    sheet
        .number("raster", "raster (times)", |view| view.ratio("het+qm", "gscore", DRAW_MS))
        .number("frame", "frame (times)", |view| quotient(vr_pipe_frame(view), gscore_frame(view)))
        .number("vr_pipe_draw_ms", "VR-Pipe, draw (ms)", |view| view.number("het+qm", DRAW_MS))
        .number("gscore_raster_ms", "GSCore, sort and rendering (ms)", |view| {
            view.number("gscore", DRAW_MS)
        })
        .number("vr_pipe_frame_ms", "VR-Pipe, frame (ms)", |view| vr_pipe_frame(view))
        .number("gscore_frame_ms", "GSCore, frame (ms)", |view| gscore_frame(view))
        .number("vr_pipe_mj", "VR-Pipe, draw (mJ)", |view| view.number("het+qm", ENERGY_MJ))
        .number("gscore_mj", "GSCore, sort and rendering (mJ)", |view| {
            view.number("gscore", |row| Some(row.counts.gscore()?.raster_mj))
        })
        .number("gscore_mm2", "GSCore (mm2)", |view| {
            view.number("gscore", |row| Some(row.counts.gscore()?.area_mm2))
        });
    let series = [["raster", "raster"], ["frame", "frame"]];
    sheet.bars(Bars {
        title: "Speed of GSCore over VR-Pipe",
        axis: Axis::linear("VR-Pipe's time over GSCore's (times)"),
        series: &series,
        marks: vec![AxisMark::at(1.0, "")],
        caption: "Above 1, the accelerator is faster.",
        ..Bars::default()
    });
    for [key, name] in series {
        let statement = format!("GSCore has a shorter {name} time than VR-Pipe (VII-C).");
        sheet.judge(&statement, |scene| Some(scene.of(key)? > 1.0));
    }
    sheet.finish()
}
