//! Figures of the paper's sections I and III-A: specifications, frame times, utilisation.

use super::results::{DESKTOP, ORIN, PAPER_PRESET, Results, ViewResult, largest, mean, quotient};
use super::table::{Column, Table};
use super::{Claim, Content, key_cells, series};
use crate::published::{DESKTOP_GPUS, Statistic, derived, number};
use crate::svg::{Axis, BarChart, BarValue, Group, Mark};
use quadrille_gpu::config::{Config, PRESETS};

/// Lanes of all cores of a configuration, and pixels of RGBA8 that CROP blends per cycle.
fn cores_and_rops(config: &Config) -> [f64; 2] {
    const LANES_OF_WARP: u64 = 32;
    const BYTES_OF_RGBA8: u64 = 4;
    let cores = &config.cores;
    let lanes = cores.cores * cores.schedulers * LANES_OF_WARP / cores.issue_cycles;
    let rops = config.crop.bytes_per_cycle / BYTES_OF_RGBA8;
    [lanes, rops].map(|n| (n * config.gpu.gpcs) as f64)
}

pub(super) fn figure_1(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "The number of shader cores has grown faster than that of the units that blend. The bars are NVIDIA's \
         specifications of the largest GeForce of each generation; the paper draws such a series without numbers in \
         its text. The last rows of the table are the GPUs that this program models.",
    );
    let mut table = Table::new(vec![
        Column::new("gpu", "GPU"),
        Column::new("year", "year"),
        Column::whole("shader_cores", "shader cores"),
        Column::whole("rops", "ROPs"),
        Column::new("cores_per_rop", "cores per ROP"),
    ]);
    let mut groups = Vec::new();
    for gpu in DESKTOP_GPUS {
        let numbers = [gpu.cores, gpu.rops].map(f64::from);
        let year = gpu.year.to_string();
        table.row(vec![
            gpu.name.into(),
            year.into(),
            numbers[0].into(),
            numbers[1].into(),
            (numbers[0] / numbers[1]).into(),
        ]);
        groups.push(Group {
            label: gpu.name.to_owned(),
            bars: numbers.map(|n| Some(BarValue::published(n))).to_vec(),
        });
    }
    for preset in PRESETS {
        let config = match preset.name {
            PAPER_PRESET => Some(results.config.clone()),
            name => Config::preset(name).ok(),
        };
        let Some([cores, rops]) = config.as_ref().map(cores_and_rops) else {
            continue;
        };
        let name = format!("model: {}", preset.name);
        let per_rop = quotient(Some(cores), Some(rops));
        table.row(vec![
            name.as_str().into(),
            "".into(),
            cores.into(),
            rops.into(),
            per_rop.into(),
        ]);
        if [PAPER_PRESET, ORIN, DESKTOP].contains(&preset.name) {
            groups.push(Group {
                label: name,
                bars: [cores, rops].map(|n| Some(BarValue::ours(n))).to_vec(),
            });
        }
    }
    let chart = BarChart {
        title: "Shader cores and ROPs of desktop GPUs and of the modelled ones".to_owned(),
        axis: Axis::log("number, logarithmic"),
        series: series(&["shader cores", "ROPs"]),
        groups,
        marks: Vec::new(),
        is_stacked: false,
    };
    content.chart(
        chart.svg(),
        "Dashed outlines: specifications; filled: modelled GPUs.",
    );
    content.table = table;
    content
}

/// The times of a frame in milliseconds: preprocess, sort, raster.
fn parts(view: &ViewResult, method: &str) -> [Option<f64>; 3] {
    ["preprocess_ms", "sort_ms", "raster_ms"]
        .map(|part| view.number(method, &format!("frame.{part}")))
}

/// A stacked chart of the frame times of methods, for each view.
pub(super) fn frame_chart(
    title: &str,
    views: &[&ViewResult],
    methods: &[(&str, &str)],
) -> BarChart {
    let groups = views.iter().flat_map(|view| {
        methods.iter().map(|(method, short)| Group {
            label: format!("{} {short}", view.scene),
            bars: parts(view, method)
                .map(|ms| ms.map(BarValue::ours))
                .to_vec(),
        })
    });
    BarChart {
        title: title.to_owned(),
        axis: Axis::linear("milliseconds"),
        series: series(&["preprocess", "sort", "raster"]),
        groups: groups.collect(),
        marks: Vec::new(),
        is_stacked: true,
    }
}

pub(super) fn figure_5(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "The paper measures frame times on a Jetson AGX Orin and an RTX 3090. Neither is at hand: all times here are \
         modelled, for the presets orin and rtx-a6000 (a whole GA102, the chip of the RTX 3090). Software (SW) is the \
         renderer on the shader cores, hardware (HW) the graphics pipeline without VR-Pipe's additions, both with tile \
         lists and boxes by oriented bounding boxes.",
    );
    content.table = Table::new(
        [
            vec![
                Column::new("gpu", "GPU"),
                Column::new("scene", "scene"),
                Column::new("view", "view"),
                Column::new("renderer", "renderer"),
            ],
            ["preprocess_ms", "sort_ms", "raster_ms", "total_ms"]
                .map(|key| Column::new(key, key.replace("_ms", " (ms)")))
                .to_vec(),
            vec![Column::new("fps", "frames per second")],
        ]
        .concat(),
    );
    let methods = [("compute", "SW"), ("baseline", "HW")];
    for preset in [ORIN, DESKTOP] {
        let views = results.first(preset);
        let title = format!("Modelled frame times on {preset}");
        let chart = frame_chart(&title, &views, &methods);
        content.chart(chart.svg(), format!("Preset {preset}, modelled."));
        for view in &views {
            for (method, short) in methods {
                let [scene, name] = key_cells(view);
                let number = |key: &str| view.number(method, &format!("frame.{key}")).into();
                let mut cells = vec![preset.into(), scene, name, short.into()];
                cells.extend(
                    ["preprocess_ms", "sort_ms", "raster_ms", "total_ms", "fps"].map(number),
                );
                content.table.row(cells);
            }
        }
    }
    let orin = results.first(ORIN);
    let fps = orin.iter().map(|view| view.number("baseline", "frame.fps"));
    let quantity = "frames per second of hardware, Orin, real scenes";
    content.compare("fig5", quantity, Statistic::Below, largest(fps));
    content.say(frame_rates(results));
    let faster = |view: &&ViewResult| {
        let total = |method| view.number(method, "frame.total_ms");
        Some(total("baseline")? < total("compute")?)
    };
    let statement = "Hardware rendering is generally faster than software on the Orin (III-A).";
    content
        .claims
        .push(Claim::count(statement, "scenes", orin.iter().map(faster)));
    tile_lists(results, &mut content);
    content
}

/// Compares the published bound on the frame rate with a GPU that blends at its peak.
fn frame_rates(results: &Results) -> String {
    const PIXELS: f64 = 980.0 * 545.0;
    let quantity = "frames per second of hardware, Orin, real scenes";
    let bound = number("fig5", quantity, Statistic::Below).unwrap_or(f64::NAN);
    let config = &results.config;
    let per_second = config.gpu.clock_mhz * 1e6 * config.crop.bytes_per_cycle as f64 / 8.0;
    let raster = 1.0 - derived().not_raster;
    let fragments = raster / bound * per_second / PIXELS;
    let ours = results.first(PAPER_PRESET);
    let per_pixel = ours.iter().map(|view| {
        let pixels = f64::from(view.size[0]) * f64::from(view.size[1]);
        quotient(view.number("baseline", "fragments.blended"), Some(pixels))
    });
    let ours = mean(per_pixel).map_or_else(String::new, |n| {
        format!(" The scenes here have {n:.0} on average, and the modelled GPUs reach their peak rates: both raise the frame rates.")
    });
    format!(
        "At {bound:.0} frames per second, with the raster at {:.0} % of a frame, the GPU of Table I could blend {fragments:.0} \
         fragments per pixel of 980x545.{ours}",
        raster * 100.0
    )
}

/// Compares oriented boxes with squares in tile lists, on the GPU of the paper.
fn tile_lists(results: &Results, content: &mut Content) {
    let views = results.first(PAPER_PRESET);
    let pairs = |view: &&ViewResult| view.ratio("compute-aabb", "compute", "compute.pairs");
    let part =
        |key: &'static str| move |view: &&ViewResult| view.ratio("compute-aabb", "compute", key);
    let outcomes = views
        .iter()
        .map(|view| pairs(view).map(|ratio| ratio > 1.0));
    let statement = "Oriented boxes list fewer pairs of splats and tiles than squares (III-A).";
    content
        .claims
        .push(Claim::count(statement, "scenes", outcomes));
    let means = [
        mean(views.iter().map(pairs)),
        mean(views.iter().map(part("frame.sort_ms"))),
        mean(views.iter().map(part("frame.raster_ms"))),
    ];
    if let [Some(pairs), Some(sort), Some(raster)] = means {
        content.say(format!(
            "On the GPU of Table I, lists by squares have {pairs:.2} times the pairs of lists by oriented boxes; the sort \
             takes {sort:.2} times and the raster {raster:.2} times as long (means over the scenes)."
        ));
    }
}

/// Units of Figure 6 with their names there, in pipeline order.
const UNITS: [(&str, &str); 8] = [
    ("vertex", "vertex"),
    ("coarse", "raster"),
    ("tc", "tile bins"),
    ("prop", "PROP"),
    ("zrop", "ZROP"),
    ("cores", "SM"),
    ("crop", "CROP"),
    ("dram", "DRAM"),
];

pub(super) fn figure_6(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "Items that passed a unit as a share of those that could have passed in the time of the draw; of the shader \
         cores, the share of issue cycles. The paper measures a real Orin, which is not at hand; the bars are the baseline \
         on the emulated GPU of Table I and on the preset orin, as means over the scenes.",
    );
    content.table = Table::new(vec![
        Column::new("gpu", "GPU"),
        Column::new("unit", "unit"),
        Column::share("mean", "mean"),
        Column::share("least", "least"),
        Column::share("most", "most"),
    ]);
    let presets = [PAPER_PRESET, ORIN];
    let mut means = Vec::new();
    for preset in presets {
        let views = results.first(preset);
        for (unit, name) in UNITS {
            let of = |view: &&ViewResult| view.method("baseline")?.throughput(unit);
            let values: Vec<_> = views.iter().map(of).collect();
            let average = mean(values.clone());
            means.push(average);
            let least = super::results::least(values.clone());
            content.table.row(vec![
                preset.into(),
                name.into(),
                average.into(),
                least.into(),
                largest(values).into(),
            ]);
        }
    }
    let groups = UNITS.iter().enumerate().map(|(at, (_, name))| Group {
        label: (*name).to_owned(),
        bars: [means[at], means[at + UNITS.len()]]
            .map(|m| m.map(BarValue::ours))
            .to_vec(),
    });
    let chart = BarChart {
        title: "Throughput utilisation of the units".to_owned(),
        axis: Axis::share("throughput utilisation"),
        series: series(&presets),
        groups: groups.collect(),
        marks: Vec::<Mark>::new(),
        is_stacked: false,
    };
    content.chart(chart.svg(), "Means over the first views of all scenes.");
    let views = results.first(PAPER_PRESET);
    let highest_is_crop = |view: &&ViewResult| {
        let baseline = view.method("baseline")?;
        let crop = baseline.throughput("crop")?;
        let others = UNITS.iter().filter(|(unit, _)| *unit != "crop");
        let most = largest(others.map(|(unit, _)| baseline.throughput(unit)))?;
        Some(crop >= most)
    };
    let statement = "The ROPs are the unit with the highest utilisation (III-B).";
    content.claims.push(Claim::count(
        statement,
        "scenes",
        views.iter().map(highest_is_crop),
    ));
    let cores_idle = |view: &&ViewResult| {
        let baseline = view.method("baseline")?;
        Some(baseline.throughput("cores")? < baseline.throughput("crop")? / 2.0)
    };
    let statement = "The shader cores have less than half of the utilisation of the ROPs (shape of the figure).";
    content.claims.push(Claim::count(
        statement,
        "scenes",
        views.iter().map(cores_idle),
    ));
    content
}
