//! The figures of the paper on quad-fragment merging.

use super::results::{ENTRIES, Frame, MergingCounts, MergingResults, MergingRun, RANDOM_SET, Unit};
use crate::content::Content;
use crate::paper::Figure;
use crate::sheet::{Bars, Sheet, largest, mean};
use quadrille_charts::{Axis, AxisMark};

pub(super) type Points = Vec<(String, f64, String)>;

fn by_scene(figure: &'static Figure, results: &MergingResults) -> Sheet<Frame> {
    let scene = |frame: &Frame| frame.quads.key.mesh.clone();
    Sheet::labelled(figure, results.default_frames(), "scenes", "scene", scene)
}

pub(super) fn figure_13(figure: &'static Figure, results: &MergingResults) -> Content {
    let mut sheet = by_scene(figure, results);
    sheet
        .whole("triangles", "triangles", |frame| Some(frame.quads.rows.first()?.triangles as f64))
        .number("mean_px", "mean area, px", Frame::mean_px)
        .number("none", "without merging", Frame::none)
        .number("qfm", "QFM", Frame::qfm)
        .number("less", "times less", Frame::less)
        .share("share", "of an unbounded buffer's merges", Frame::share);
    sheet.bars(Bars {
        title: "Shadings without merging over shadings with merging",
        axis: Axis::linear("times less"),
        series: &[["less", "QFM, 32 entries"]],
        has_mean: true,
        has_published: true,
        marks: vec![AxisMark::at(1.0, "")],
        caption: "The dashed bar is the published mean.",
    });
    let scenes = sheet.groups();
    let [frog, furball] =
        ["FROG", "FURBALL"].map(|name| scenes.iter().find(|s| s.label == name)?.of("less"));
    let hardest = largest([frog, furball]);
    let others = scenes.iter().filter(|s| !["FROG", "FURBALL"].contains(&s.label));
    let gains: Vec<_> = others.map(|s| Some(s.of("less")? > hardest?)).collect();
    sheet.claim("The benefit is the least for FROG and FURBALL (4.1.2).", "other scenes", gains);
    sheet.mean_row();
    sheet.finish()
}

pub(super) fn figure_14(figure: &'static Figure, results: &MergingResults) -> Content {
    let mut sheet = by_scene(figure, results);
    sheet
        .number("reyes", "Reyes", Frame::reyes)
        .number("qfm_grids", "QFM, grids culled", Frame::qfm_grids)
        .number("qfm", "QFM, quads culled", Frame::qfm)
        .number("over_reyes_grids", "QFM over Reyes, grids culled", Frame::over_reyes_grids)
        .number("over_reyes", "QFM over Reyes, quads culled", Frame::over_reyes)
        .ratio("reyes_over_grids", "Reyes over QFM, grids culled", ["reyes", "qfm_grids"])
        .ratio("reyes_over", "Reyes over QFM, quads culled", ["reyes", "qfm"]);
    sheet.bars(Bars {
        title: "Shadings of Reyes over shadings of merging",
        axis: Axis::linear("Reyes over QFM (times)"),
        series: &[["reyes_over_grids", "grids culled"], ["reyes_over", "quads culled"]],
        has_mean: true,
        marks: vec![AxisMark::at(1.0, "")],
        caption: "The text has means of the reciprocals: 1.12 and 0.83.",
        ..Bars::default()
    });
    let statement = "Quads culled before shading save shadings (4.1.3).";
    sheet.judge(statement, |scene| Some(scene.of("qfm")? < scene.of("qfm_grids")?));
    let fine = ["PTCLOUD", "FURBALL"];
    let twice = sheet.groups().into_iter().filter(|scene| fine.contains(&scene.label));
    let twice: Vec<_> = twice.map(|scene| Some(scene.of("reyes_over")? > 2.0)).collect();
    let statement =
        "With fine occlusion (PTCLOUD, FURBALL), Reyes shades over twice as much (Figure 14).";
    sheet.claim(statement, "scenes", twice);
    sheet.mean_row();
    sheet.finish()
}

fn distinct(numbers: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    numbers.dedup();
    numbers
}

pub(super) fn figure_9(figure: &'static Figure, results: &MergingResults) -> Content {
    let rows: Vec<&MergingCounts> = results.of("areas").flat_map(|run| &run.rows).collect();
    let areas = distinct(rows.iter().filter_map(|row| row.area_px));
    let samples = distinct(rows.iter().filter_map(|row| Some(f64::from(row.msaa?))));
    let units = [(Unit::None, "without merging"), (Unit::Qfm, "QFM")];
    let of = |unit: Unit, msaa: f64, area: f64| {
        let row = rows.iter().find(|row| {
            let is_it = row.unit == unit && row.msaa.map(f64::from) == Some(msaa);
            is_it && row.area_px == Some(area)
        });
        Some(row?.per_pixel())
    };
    let lines = samples.iter().rev().flat_map(|msaa| units.map(|unit| (*msaa, unit)));
    let mut sheet = Sheet::new(figure, lines, "lines", |(msaa, (_, name))| {
        format!("{name}, {msaa} sample{}", if *msaa > 1.0 { "s" } else { "" })
    });
    sheet.text("pipeline", "pipeline", |(_, (_, name))| (*name).to_owned()).whole(
        "samples",
        "samples",
        |(msaa, _)| Some(*msaa),
    );
    let mut points = Points::new();
    for area in areas {
        let key = format!("area_{area}");
        sheet.number(&key, &format!("{area} px"), |(msaa, (unit, _))| of(*unit, *msaa, area));
        points.push((key, area.log2(), area.to_string()));
    }
    let axes =
        [Axis::linear("target area of a triangle, px"), Axis::linear("shadings per covered pixel")];
    let caption = "BIGGUY; the paper's lines have three numbers in its text.";
    sheet.lines(["Shadings per pixel by size of triangles", caption], axes, &points);
    let [none, merged] = [Unit::None, Unit::Qfm];
    sheet.ours("shadings per pixel without merging, 0.5 px", of(none, 16.0, 0.5));
    sheet.ours("shadings per pixel with merging, 0.5 px", of(merged, 16.0, 0.5));
    sheet.ours("shadings per pixel without merging, 10 px", of(none, 16.0, 10.0));
    let halved = (|| Some(of(none, 16.0, 10.0)? >= 1.9 * of(merged, 16.0, 10.0)?))();
    let statement =
        "At ten pixels, merging shades about half (at least 1.9 times less here, 4.1.1).";
    sheet.claim(statement, "scenes", [halved]);
    sheet.finish()
}

pub(super) fn figure_12(figure: &'static Figure, results: &MergingResults) -> Content {
    let entries = [1, 2, 4, 8, 16, 32, 64].map(Some);
    let gain = |run: &MergingRun, entries: Option<u32>| {
        run.row(Unit::Qfm, entries).map(MergingCounts::reduction)
    };
    let mut sheet = Sheet::labelled(figure, results.of("entries"), "scenes", "scene", |run| {
        run.key.mesh.clone()
    });
    let mut points = Points::new();
    for (entries, at) in entries.into_iter().chain([None]).zip(0_u32..) {
        let label = entries.map_or("unbounded".to_owned(), |n| n.to_string());
        let key = format!("entries_{label}");
        sheet.number(&key, &label, |run| gain(run, entries));
        points.push((key, f64::from(at), label));
    }
    sheet.share("share", "of all merges with 32", |run| {
        let [some, all] = [ENTRIES, None].map(|entries| Some(1.0 - 1.0 / gain(run, entries)?));
        Some(some? / all?)
    });
    sheet.mean_row();
    let axes = [Axis::linear("entries of the merge buffer"), Axis::linear("times less")];
    let caption = "The paper's lines have no numbers in its text.";
    sheet.lines(["Gain by entries of the merge buffer", caption], axes, &points);
    let statement = "32 entries find over 90 % of the merges of an unbounded buffer (4.1.2).";
    sheet.judge(statement, |scene| Some(scene.of("share")? > 0.9));
    sheet.finish()
}

pub(super) fn quality(figure: &'static Figure, results: &MergingResults) -> Content {
    let db = |scene: &str, unit: Unit, look: &str| {
        let mut runs = results.of("quality");
        let run = runs.find(|run| run.key.mesh == scene && run.setting("look") == Some(look))?;
        run.row(unit, ENTRIES)?.psnr_covered_db
    };
    let scenes = results.meshes("quality");
    let mut sheet = Sheet::labelled(figure, scenes, "scenes", "scene", |scene| (*scene).to_owned());
    for (unit, key, name) in [(Unit::Qfm, "qfm", "QFM"), (Unit::Reyes, "reyes", "Reyes")] {
        sheet.number(key, &format!("{name}, dB"), |scene| db(scene, unit, "plain"));
        sheet.number(&format!("{key}_checker"), &format!("{name}, checker, dB"), |scene| {
            db(scene, unit, "checker")
        });
    }
    sheet.judge("Merging changes the picture less than Reyes (4.2).", |scene| {
        Some(scene.of("qfm")? > scene.of("reyes")?)
    });
    sheet.finish()
}

pub(super) fn assumptions(figure: &'static Figure, results: &MergingResults) -> Content {
    let studies = ["merging", "random"];
    let sets = results.sets().into_iter().chain([RANDOM_SET]);
    let sets = sets.map(|set| (set, results.frames(&studies, set)));
    let sets = sets.filter(|(_, frames)| !frames.is_empty());
    let mut sheet = Sheet::new(figure, sets, "sets", |(set, _)| (*set).to_owned());
    sheet.text("assumptions", "area, order", |(set, _)| (*set).to_owned());
    let over = |of: fn(&Frame) -> Option<f64>| {
        move |(_, frames): &(&str, Vec<Frame>)| mean(frames.iter().map(of))
    };
    sheet
        .number("mean_px", "mean area, px", over(Frame::mean_px))
        .number("none", "without merging", over(Frame::none))
        .number("qfm", "QFM", over(Frame::qfm))
        .number("less", "times less", over(Frame::less))
        .share("share", "of an unbounded buffer's merges", over(Frame::share))
        .number("over_reyes", "QFM over Reyes", over(Frame::over_reyes))
        .number("over_reyes_grids", "the same, grids culled", over(Frame::over_reyes_grids));
    sheet.finish()
}
