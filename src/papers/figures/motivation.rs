//! Figures of the paper's sections I and III-A: specifications, frame times, utilisation.

use super::configuration::presets;
use super::implied::derived;
use super::results::{
    self, DESKTOP, FRAGMENTS, FRAME_MS, Measure, ORIN, PAPER_PRESET, Results, ViewResult,
};
use super::units;
use crate::content::Content;
use crate::paper::{Figure, Statistic};
use crate::sheet::{Sheet, largest, least, mean, quotient};
use quadrille_charts::{Axis, BarChart, BarValue, Drawings, Group};
use quadrille_gpu::config::Config;

/// Lanes of all cores of a configuration, and RGBA8 pixels that CROP blends per cycle.
fn cores_and_rops(config: &Config) -> [f64; 2] {
    const LANES_OF_WARP: u64 = 32;
    const BYTES_OF_RGBA8: u64 = 4;
    let cores = &config.cores;
    let lanes = cores.cores * cores.schedulers * LANES_OF_WARP / cores.issue_cycles;
    [lanes, config.crop.bytes_per_cycle / BYTES_OF_RGBA8].map(|n| (n * config.gpu.gpcs) as f64)
}

pub(super) fn figure_1(figure: &'static Figure, results: &Results) -> Content {
    let keys = ["shader_cores", "rops"];
    let models = presets(results).map(|(name, config)| (name, cores_and_rops(&config)));
    let mut sheet = Sheet::new(figure, models, "GPUs", |(name, _)| format!("model: {name}"));
    sheet
        .text("gpu", "GPU", |(name, _)| format!("model: {name}"))
        .text("year", "year", |_| String::new())
        .whole(keys[0], "shader cores", |(_, numbers)| Some(numbers[0]))
        .whole(keys[1], "ROPs", |(_, numbers)| Some(numbers[1]))
        .ratio("cores_per_rop", "cores per ROP", keys);
    let published = figure.rows.iter().zip(0..).map(|(row, at)| Group {
        label: row.get("gpu").map_or(String::new(), ToString::to_string),
        bars: keys.map(|key| sheet.table.number(at, key).map(BarValue::published)).to_vec(),
    });
    let charted = [PAPER_PRESET, ORIN, DESKTOP].map(|preset| format!("model: {preset}"));
    let models = sheet.groups().into_iter();
    let models = models.filter(|group| charted.iter().any(|label| label == group.label));
    let models = models.map(|group| Group::of(group.label, keys.map(|key| group.of(key))));
    let chart = BarChart::new(
        "Shader cores and ROPs of desktop GPUs and of modelled GPUs",
        Axis::log("number, logarithmic"),
        &["shader cores", "ROPs"],
        published.chain(models),
    );
    sheet.chart(chart.draw(), "Hollow: specifications; filled: modelled GPUs.");
    sheet.finish()
}

/// Parts of a frame in milliseconds.
const PARTS: [(&str, Measure); 3] = [
    ("preprocess_ms", |row| Some(row.details.frame?.preprocess_ms)),
    ("sort_ms", SORT_MS),
    ("raster_ms", RASTER_MS),
];
const PAIRS: Measure = |row| Some(row.counts.compute()?.pairs as f64);
const SORT_MS: Measure = |row| Some(row.details.frame?.sort_ms);
const RASTER_MS: Measure = |row| Some(row.details.frame?.raster_ms);

pub(super) fn frame_chart(title: &str, views: &[&ViewResult], methods: &[[&str; 2]]) -> Drawings {
    let groups = views.iter().flat_map(|view| {
        methods.iter().map(|[method, short]| {
            let parts = PARTS.map(|(_, part)| view.number(method, part));
            Group::of(format!("{} {short}", view.scene()), parts)
        })
    });
    let chart = BarChart {
        is_stacked: true,
        ..BarChart::new(
            title,
            Axis::linear("milliseconds"),
            &["preprocess", "sort", "raster"],
            groups,
        )
    };
    chart.draw()
}

const FPS: &str = "frames per second of hardware, Orin, real scenes";

pub(super) fn figure_5(figure: &'static Figure, results: &Results) -> Content {
    const METHODS: [[&str; 2]; 2] = [["compute", "SW"], ["baseline", "HW"]];
    let views = [ORIN, DESKTOP].map(|preset| results.first(preset)).concat();
    let rows = views.iter().flat_map(|view| METHODS.map(|method| (*view, method)));
    let mut sheet = Sheet::new(figure, rows, "scenes", |(view, [_, short])| {
        format!("{} {short}", view.scene())
    });
    sheet
        .text("gpu", "GPU", |(view, _)| view.preset().to_owned())
        .text("scene", "scene", |(view, _)| view.scene().to_owned())
        .text("view", "view", |(view, _)| view.name().to_owned())
        .text("renderer", "renderer", |(_, [_, short])| (*short).to_owned());
    for (key, of) in PARTS.into_iter().chain([("total_ms", FRAME_MS), ("fps", results::FPS)]) {
        let heading = match key {
            "fps" => "frames per second".to_owned(),
            key => key.replace("_ms", " (ms)"),
        };
        sheet.number(key, &heading, |(view, [method, _])| view.number(method, of));
    }
    for preset in [ORIN, DESKTOP] {
        let title = format!("Modelled frame times on {preset}");
        let chart = frame_chart(&title, &results.first(preset), &METHODS);
        sheet.chart(chart, format!("Preset {preset}, modelled."));
    }
    let orin = results.first(ORIN);
    let fps = orin.iter().map(|view| view.number("baseline", results::FPS));
    sheet.ours(FPS, largest(fps));
    sheet.say(frame_rates(figure, results));
    let statement = "Hardware rendering is generally faster than software on the Orin (III-A).";
    let faster = orin.iter().map(|view| {
        let total = |method| view.number(method, FRAME_MS);
        Some(total("baseline")? < total("compute")?)
    });
    sheet.claim(statement, "scenes", faster);
    tile_lists(results, &mut sheet);
    sheet.finish()
}

fn frame_rates(figure: &Figure, results: &Results) -> String {
    const PIXELS: f64 = 980.0 * 545.0;
    let bound = figure.number(FPS, Statistic::Below).unwrap_or(f64::NAN);
    let config = Config::preset(ORIN).unwrap_or_default();
    let pixels_per_cycle = (config.gpu.gpcs * config.crop.bytes_per_cycle) as f64 / 8.0;
    let per_second = config.gpu.clock_mhz * 1e6 * pixels_per_cycle;
    let raster = 1.0 - derived().not_raster;
    let fragments = raster / bound * per_second / PIXELS;
    let per_pixel =
        |view: &&ViewResult| quotient(view.number("baseline", FRAGMENTS), Some(view.pixels()));
    let ours = results.first(PAPER_PRESET);
    let ours = mean(ours.iter().map(per_pixel)).map_or_else(String::new, |n| {
        format!(" The scenes here have {n:.0} on average, and the modelled GPUs reach their peak rates: both raise the frame rates.")
    });
    format!(
        "At {bound:.0} frames per second, with the raster at {:.0} % of a frame, the preset {ORIN} could blend {fragments:.0} \
         fragments per pixel of 980x545.{ours}",
        raster * 100.0
    )
}

fn tile_lists(results: &Results, content: &mut Content) {
    let views = results.first(PAPER_PRESET);
    let ratios = [PAIRS, SORT_MS, RASTER_MS]
        .map(|of| views.iter().map(|v| v.ratio("compute-aabb", "compute", of)).collect::<Vec<_>>());
    let statement = "Oriented boxes list fewer pairs of splats and tiles than squares (III-A).";
    content.claim(statement, "scenes", ratios[0].iter().map(|pairs| Some((*pairs)? > 1.0)));
    if let [Some(pairs), Some(sort), Some(raster)] = ratios.map(mean) {
        content.say(format!(
            "On the GPU of Table I, lists by squares have {pairs:.2} times the pairs of lists by oriented boxes; the sort \
             takes {sort:.2} times and the raster {raster:.2} times as long (means over the scenes)."
        ));
    }
}

const UNITS: [[&str; 2]; 9] = [
    [units::VERTEX, "vertex"],
    [units::COARSE, "raster"],
    [units::TC, "tile bins"],
    [units::PROP, "PROP"],
    [units::ZROP, "ZROP"],
    [units::PACK, "PROP out"],
    [units::CORES, "SM"],
    [units::CROP, "CROP"],
    [units::DRAM, "DRAM"],
];

/// Units that dictate the performance of the paper's GPU, with their ports: PROP has one from tile coalescing and one
/// to the cores.
const DICTATING: [(&str, &[&str]); 2] =
    [("PROP", &[units::PROP, units::PACK]), ("CROP", &[units::CROP])];

fn throughput(view: &ViewResult, unit: &str) -> Option<f64> {
    results::throughput(view.method("baseline")?, unit)
}

pub(super) fn figure_6(figure: &'static Figure, results: &Results) -> Content {
    let presets = [PAPER_PRESET, ORIN];
    let rows = presets.iter().flat_map(|preset| UNITS.map(|unit| (*preset, unit)));
    let mut sheet = Sheet::new(figure, rows, "units", |(_, [_, name])| (*name).to_owned());
    let of = |(preset, [unit, _]): &(&str, [&str; 2])| {
        results.first(preset).into_iter().map(|view| throughput(view, unit)).collect::<Vec<_>>()
    };
    sheet
        .text("gpu", "GPU", |(preset, _)| (*preset).to_owned())
        .text("unit", "unit", |(_, [_, name])| (*name).to_owned())
        .share("mean", "mean", |row| mean(of(row)))
        .share("least", "least", |row| least(of(row)))
        .share("most", "most", |row| largest(of(row)));
    let means = sheet.values("mean");
    let groups = UNITS.iter().enumerate();
    let groups =
        groups.map(|(at, [_, name])| Group::of(*name, [means[at], means[at + UNITS.len()]]));
    let axis = Axis::share("throughput utilisation");
    let chart = BarChart::new("Throughput utilisation of the units", axis, &presets, groups);
    sheet.chart(chart.draw(), "Means over the first views of all scenes.");
    let views = results.first(PAPER_PRESET);
    for (name, ports) in DICTATING {
        let highest = views.iter().map(|view| {
            let is_other = |unit: &str| !DICTATING.iter().any(|(_, ports)| ports.contains(&unit));
            let others = UNITS.iter().filter(|[unit, _]| is_other(unit));
            let most = largest(others.map(|[unit, _]| throughput(view, unit)))?;
            Some(largest(ports.iter().map(|port| throughput(view, port)))? > most)
        });
        let rows = match ports {
            [_] => name.to_owned(),
            _ => format!("The busier of {name} and {name} out"),
        };
        let statement = format!(
            "{rows} has a higher utilisation than every row other than those of PROP and CROP (III-B)."
        );
        sheet.claim(&statement, "scenes", highest);
    }
    let idle = views
        .iter()
        .map(|view| Some(throughput(view, units::CORES)? < throughput(view, units::CROP)? / 2.0));
    let statement =
        "The shader cores have less than half of the utilisation of CROP (shape of the figure).";
    sheet.claim(statement, "scenes", idle);
    sheet.finish()
}
