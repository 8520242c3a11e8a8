//! Counterparts of the paper's diagrams and timelines.

use super::results::{
    DRAW_MS, FRAGMENTS, Measure, PAPER_PRESET, Results, SCENE_SPLATS, ViewResult, by_view, unit,
};
use super::units;
use crate::content::Content;
use crate::paper::Figure;
use crate::sheet::{Bars, Sheet, mean, quotient};
use quadrille_charts::{ActivityStrip, Axis, BarChart, Group, StripChart, number};
use quadrille_suite::rows::PipelineCounts;

const STAGES: [(&str, &[&str]); 5] = [
    ("vertex shading", &[units::VERTEX]),
    ("vertex post-processing", &[units::VPO]),
    ("rasterization", &[units::SETUP, units::COARSE, units::HI_Z, units::FINE]),
    ("fragment shading", &[units::LAUNCH, units::CORES]),
    ("per-fragment processing", &[units::PROP, units::ZROP, units::CROP]),
];

const MEANS: &str = "Mean over the first views of all scenes.";

fn utilisation(view: &ViewResult, method: &str, unit: &str) -> Option<f64> {
    Some(self::unit(view.method(method)?, unit)?.utilisation)
}

/// Returns a function from a view to a count of a method on the graphics pipeline.
fn counted(method: &str, of: fn(&PipelineCounts) -> u64) -> impl Fn(&&ViewResult) -> Option<f64> {
    move |view| Some(of(view.method(method)?.counts.pipeline()?) as f64)
}

fn mean_utilisation(views: &[&ViewResult], method: &str, unit: &str) -> Option<f64> {
    mean(views.iter().map(|view| utilisation(view, method, unit)))
}

pub(super) fn figure_2(figure: &'static Figure, results: &Results) -> Content {
    let views = results.first(PAPER_PRESET);
    let units = STAGES.iter().flat_map(|(stage, units)| units.iter().map(|unit| (*stage, *unit)));
    let mut sheet = Sheet::new(figure, units, "units", |(_, unit)| (*unit).to_owned());
    sheet
        .text("stage", "stage", |(stage, _)| (*stage).to_owned())
        .text("unit", "unit", |(_, unit)| (*unit).to_owned())
        .share("utilisation", "works in", |(_, unit)| mean_utilisation(&views, "baseline", unit));
    sheet.bars(Bars {
        title: "Work of the stages of the pipeline",
        axis: Axis::share("cycles with work"),
        series: &[["utilisation", "baseline"]],
        caption: MEANS,
        ..Bars::default()
    });
    sheet.finish()
}

/// A step of Figure 4: column, labels of the remaining items in the table and in the chart, and their count.
type Step = ([&'static str; 3], Measure);

const STEPS: [Step; 7] = [
    (["scene_splats", "splats of the scene", "splats"], SCENE_SPLATS),
    (["raster_splats", "splats in view", "in view"], |row| {
        Some(row.counts.pipeline()?.raster.splats as f64)
    }),
    (["raster_set_up", "triangles set up", "triangles"], |row| {
        Some(row.counts.pipeline()?.raster.set_up as f64)
    }),
    (["raster_tiles", "raster tiles", "raster tiles"], |row| {
        Some(row.counts.pipeline()?.raster.tiles as f64)
    }),
    (["quads_rasterized", "quads rasterized", "quads"], |row| {
        Some(row.counts.pipeline()?.quads.rasterized as f64)
    }),
    (["fragments_rasterized", "fragments rasterized", "fragments"], |row| {
        Some(row.counts.pipeline()?.fragments.rasterized as f64)
    }),
    (["fragments_blended", "fragments blended", "blended"], FRAGMENTS),
];

pub(super) fn figure_4(figure: &'static Figure, results: &Results) -> Content {
    let mut sheet = by_view(figure, results.first(PAPER_PRESET));
    for ([key, heading, _], of) in STEPS {
        sheet.whole(key, heading, |view| view.number("baseline", of));
    }
    let groups = STEPS.map(|([key, _, name], _)| Group::of(name, [sheet.mean(key)]));
    let axis = Axis::log("items, logarithmic");
    let chart = BarChart::new("Items after each step", axis, &["baseline"], groups);
    sheet.chart(chart.draw(), MEANS);
    sheet.finish()
}

pub(super) fn figure_12(figure: &'static Figure, results: &Results) -> Content {
    let views = results.first(PAPER_PRESET);
    let mut sheet = Sheet::labelled(figure, units::ALL, "units", "unit", |unit| (*unit).to_owned());
    sheet.share("baseline", "baseline", |unit| mean_utilisation(&views, "baseline", unit)).share(
        "het_qm",
        "HET+QM",
        |unit| mean_utilisation(&views, "het+qm", unit),
    );
    let groups = sheet.groups().into_iter().map(|unit| {
        // The baseline lacks two units: they do no work, and no value is missing.
        let without = match unit.label {
            units::TGC | units::QRU => Some(0.0),
            _ => unit.of("baseline"),
        };
        Group::of(unit.label, [without, unit.of("het_qm")])
    });
    let chart = BarChart::new(
        "Work of the units without and with VR-Pipe",
        Axis::share("cycles with work"),
        &["baseline", "HET+QM"],
        groups,
    );
    sheet.chart(chart.draw(), MEANS);
    sheet.finish()
}

pub(super) fn figure_13(figure: &'static Figure, results: &Results) -> Content {
    let het = |of: fn(&PipelineCounts) -> u64| counted("het", of);
    let mut sheet = by_view(figure, results.first(PAPER_PRESET));
    sheet
        .whole("rasterized", "fragments tested", het(|counts| counts.fragments.rasterized))
        .whole("terminated", "of them terminated", het(|counts| counts.fragments.terminated))
        .whole("blended", "blended", het(|counts| counts.fragments.blended))
        .whole("late", "of them late", het(|counts| counts.fragments.late))
        .whole("updates", "termination updates", het(|counts| counts.termination_updates))
        .whole("pixels", "pixels", |view| Some(view.pixels()));
    for count in 0..=4 {
        sheet.share(&format!("live_{count}"), &format!("quads with {count} live"), |view| {
            let live = view.method("het")?.counts.pipeline()?.quads.live;
            quotient(Some(live[count] as f64), Some(live.iter().sum::<u64>() as f64))
        });
    }
    sheet.judge("A pixel sends one update at most (V-B).", |scene| {
        Some(scene.of("updates")? <= scene.of("pixels")?)
    });
    sheet.finish()
}

pub(super) fn figure_14(figure: &'static Figure, results: &Results) -> Content {
    let qm = |of: fn(&PipelineCounts) -> Option<f64>| {
        move |view: &&ViewResult| of(view.method("qm")?.counts.pipeline()?)
    };
    fn share(part: u64, whole: u64) -> Option<f64> {
        quotient(Some(part as f64), Some(whole as f64))
    }
    let mut sheet = by_view(figure, results.first(PAPER_PRESET));
    sheet
        .number(
            "primitives_per_flush",
            "primitives per TGC flush",
            qm(|c| c.flushes.tgc.mean_items),
        )
        .number("quads_per_flush", "quads per TC flush", qm(|c| c.flushes.tc.mean_items))
        .share("paired", "quads paired", qm(|c| share(2 * c.qru.pairs, c.qru.quads_in)))
        .share("merged", "quads merged away", qm(|c| share(c.quads.merged_pairs, c.quads.shaded)));
    sheet.ours("quads that the reorder unit examines", Some(results.config.qru.window as f64));
    let places = f64::from(quadrille_base::raster::tiles::QUADS_PER_TILE);
    sheet.ours("registers of relative quad locations", Some(places));
    sheet.finish()
}

pub(super) fn figure_15(figure: &'static Figure, results: &Results) -> Content {
    const METHODS: [&str; 2] = ["baseline", "het+qm"];
    let views = results.first(PAPER_PRESET);
    let rows = views.iter().flat_map(|view| {
        METHODS.into_iter().flat_map(|method| units::ALL.map(|unit| (method, unit))).filter_map(
            |(method, unit)| Some((*view, method, unit, utilisation(view, method, unit)?)),
        )
    });
    let mut sheet =
        Sheet::labelled(figure, rows, "scenes", "scene", |(view, ..)| view.scene().to_owned());
    sheet
        .text("view", "view", |(view, ..)| view.name().to_owned())
        .text("method", "method", |(_, method, ..)| (*method).to_owned())
        .text("unit", "unit", |(_, _, unit, _)| (*unit).to_owned())
        .share("busy", "works in", |(.., busy)| Some(*busy));
    // The page shows strips of the first scene; the files contain the table of all scenes.
    sheet.table.hide();
    if let Some(view) = views.first() {
        let ms = view.number("baseline", DRAW_MS).unwrap_or(0.0);
        let chart = StripChart {
            title: format!("Work of the units over the draw of {}", view.scene()),
            strips: METHODS.map(|method| strips(view, method)).concat(),
            end: format!("{} ms", number(ms)),
        };
        let caption = format!(
            "{} {}: stronger colours are busier units. quadrille sim --trace FILE writes the same for Perfetto, with the stall reasons.",
            view.scene(),
            view.name()
        );
        sheet.chart(chart.draw(), caption);
    }
    sheet.say(format!(
        "The shader of a merging warp has {} more instructions; a bin of 128 quads fills 16 warps.",
        results.config.cores.merge_instructions
    ));
    sheet.finish()
}

fn strips(view: &ViewResult, method: &str) -> Vec<(String, ActivityStrip)> {
    let run = view.method(method);
    let Some((run, units)) = run.and_then(|run| Some((run, run.details.timeline.as_ref()?))) else {
        return Vec::new();
    };
    let known = units::ALL.iter().filter_map(|name| units.iter().find(|unit| unit.unit == *name));
    let strips = known.filter(|unit| !unit.busy_per_mille.is_empty()).enumerate();
    let strips = strips.map(|(at, unit)| {
        let heading = if at == 0 { method } else { "" };
        let shares = unit.busy_per_mille.iter().map(|n| *n as f64 / 1000.0).collect();
        let strip = ActivityStrip { name: unit.unit.clone(), shares, length: run.cycles as f64 };
        (heading.to_owned(), strip)
    });
    strips.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadrille_base::task::Task;
    use quadrille_suite::{
        Configuration, JobKey, MethodChoice, Program, RunOptions, RunRow, Suite, ViewWork,
    };

    /// A unit with several ports has one port with the name of its specification.
    #[test]
    fn a_run_has_all_units_that_figures_name() {
        let text = "method = ['het+qm']
            [[scene]]
            name = 'vase'
            recipe = 'object'
            splats = 200
            view = '0'
            width = 32";
        let suite = Suite::parse(text, "suite.toml".as_ref()).unwrap();
        let program = Program { version: "1", commit: "c", sources: "s" };
        let base = [Configuration::default()];
        let plan = suite.plan(&base, program, &Task::NEVER, &mut |_| {}).unwrap();
        let choose = |_: &JobKey, work: &ViewWork| MethodChoice {
            methods: work.methods.clone(),
            has_details: true,
        };
        let plan = plan.by_method(choose);
        let rows = plan.run(&RunOptions::default(), &mut |_| {}).unwrap();
        let (mut rows, _) = RunRow::split(rows);
        let missing =
            units::ALL.map(|name| unit(&rows[0].methods[0], name).is_none().then_some(name));
        assert_eq!(missing, [None; units::ALL.len()]);
        let view = ViewResult { row: rows.swap_remove(0), is_first: true, is_large: false };
        let drawn = strips(&view, "het+qm");
        assert!(drawn.iter().any(|(_, strip)| strip.name == units::CORES));
        for (_, strip) in drawn {
            let drawn = strip.shares.iter().sum::<f64>() / strip.shares.len() as f64;
            let tabled = utilisation(&view, "het+qm", &strip.name).unwrap();
            // The last window may be shorter than the others.
            let rounding = 1.0 / strip.shares.len() as f64 + 0.001;
            assert!((drawn - tabled).abs() <= rounding, "{}: {drawn} {tabled}", strip.name);
        }
    }
}
