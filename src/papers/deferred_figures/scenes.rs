//! The scenes: Table 1, Figure 10, and the numbers of section 4.

use super::comparisons::{claim, compare};
use super::results::{Kind, Results, Run, mean, range};
use crate::figures::table::{Cell, Column, Table};
use crate::figures::{Content, series};
use crate::published::Statistic;
use crate::svg::{Axis, BarChart, BarValue, Group};

/// Pipelines by name on the command line and on the page.
pub(super) const PIPELINES: [[&str; 2]; 3] = [["jrk", "JRK"], ["jrk+z", "JRK+Z"], ["sds", "SDS"]];
const MEGABYTE: f64 = 1e6;
const EXECUTIONS: &str = "/shading/per_pixel";
const GOPS: &str = "/raster/gops/total";

/// A value of each pipeline of a run.
fn of_pipelines(run: &Run, grid: &str, path: &str) -> [Option<f64>; 3] {
    PIPELINES.map(|[pipeline, _]| run.number(pipeline, grid, path))
}

fn quotient(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    Some(a? / b?)
}

/// A chart with a group of bars per scene.
fn bars(
    title: &str,
    unit: &str,
    names: &[&str],
    groups: Vec<(String, Vec<Option<f64>>)>,
) -> String {
    let groups = groups.into_iter().map(|(label, values)| Group {
        label,
        bars: values.into_iter().map(|v| v.map(BarValue::ours)).collect(),
    });
    BarChart {
        title: title.to_owned(),
        axis: Axis::linear(unit),
        series: series(names),
        groups: groups.collect(),
        marks: Vec::new(),
        is_stacked: false,
    }
    .svg()
}

const NAMES: [&str; 3] = [PIPELINES[0][1], PIPELINES[1][1], PIPELINES[2][1]];

pub(super) fn table_1(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "Billions of arithmetic operations of the raster per frame: set-up of triangles, tests of tiles and samples, and \
         the interpolation of hits.",
    );
    let scenes = results.of(Kind::Scene);
    content.table = Table::new(vec![
        Column::new("scene", "scene"),
        Column::new("jrk", "JRK"),
        Column::new("jrk_z", "JRK+Z"),
        Column::new("sds", "SDS"),
        Column::new("jrk_z_over_jrk", "JRK+Z over JRK"),
        Column::new("sds_over_jrk", "SDS over JRK"),
        Column::share("efficiency", "samples hit"),
    ]);
    let mut ratios = [Vec::new(), Vec::new()];
    let mut efficiencies = Vec::new();
    let mut groups = Vec::new();
    for run in &scenes {
        let gops = of_pipelines(run, "pixel", GOPS);
        let [jrk, jrk_z, sds] = gops;
        let over = [quotient(jrk_z, jrk), quotient(sds, jrk)];
        let efficiency = run.number("jrk", "pixel", "/raster/efficiency");
        for (all, ratio) in ratios.iter_mut().zip(over) {
            all.extend(ratio);
        }
        efficiencies.extend(efficiency);
        let numbers = gops.into_iter().chain(over).chain([efficiency]);
        let name = Cell::from(run.name.as_str());
        content
            .table
            .row([name].into_iter().chain(numbers.map(Cell::from)).collect());
        groups.push((run.name.clone(), gops.to_vec()));
    }
    content.chart(
        bars("Operations of the raster", "Gops per frame", &NAMES, groups),
        "The paper's scenes take 4.1 to 6.6 Gops with JRK.",
    );
    let [prepass, sorted] = ratios;
    let bounds = range(prepass.clone());
    compare(
        &mut content,
        "table1",
        "JRK+Z over JRK",
        Statistic::Above,
        bounds.map(|b| b[0]),
    );
    compare(
        &mut content,
        "table1",
        "JRK+Z over JRK",
        Statistic::Below,
        bounds.map(|b| b[1]),
    );
    let most = range(sorted.clone()).map(|b| b[1]);
    compare(
        &mut content,
        "table1",
        "SDS over JRK",
        Statistic::Below,
        most,
    );
    let quantity = "samples hit over samples tested";
    compare(
        &mut content,
        "table1",
        quantity,
        Statistic::Value,
        mean(&efficiencies),
    );
    let statement = "A depth prepass has substantially higher cost (Table 1).";
    let doubled = prepass.iter().map(|r| Some((1.8..2.05).contains(r)));
    claim(&mut content, statement, "scenes", doubled);
    let statement = "Blended draws increase the cost of set-up slightly (section 6).";
    claim(
        &mut content,
        statement,
        "scenes",
        sorted.iter().map(|r| Some(*r <= 1.03)),
    );
    content
}

/// Grids, and the ends of their names in files.
const GRIDS: [[&str; 2]; 2] = [["pixel", ""], ["adaptive", "_aas"]];

fn figure_10_columns() -> Vec<Column> {
    let mut columns = vec![
        Column::new("scene", "scene"),
        Column::new("motion_px", "motion, px"),
        Column::new("coc_px", "circle of confusion, px"),
    ];
    for [_, suffix] in GRIDS {
        for [_, name] in PIPELINES {
            let key = name.to_lowercase().replace('+', "_");
            columns.push(match suffix {
                "" => Column::new(format!("{key}_mb"), format!("{name}, MB")),
                _ => Column::hidden(format!("{key}{suffix}_mb")),
            });
        }
    }
    for [_, suffix] in GRIDS {
        for [_, name] in PIPELINES {
            let key = name.to_lowercase().replace('+', "_");
            let heading = match suffix {
                "" => format!("{name}, per px"),
                _ => format!("{name}, AAS"),
            };
            columns.push(Column::new(format!("{key}{suffix}_per_px"), heading));
        }
    }
    columns
}

pub(super) fn figure_10(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "Bytes between pipeline and memory with the pixel grid, and executions of the shader per pixel with the pixel grid \
         and with adaptive anisotropic shading (AAS).",
    );
    let scenes = results.of(Kind::Scene);
    content.table = Table::new(figure_10_columns());
    let (mut traffic, mut executions) = (Vec::new(), Vec::new());
    for run in &scenes {
        let bytes = GRIDS.map(|[grid, _]| {
            of_pipelines(run, grid, "/traffic_bytes/total").map(|b| b.map(|b| b / MEGABYTE))
        });
        let shaded = GRIDS.map(|[grid, _]| of_pipelines(run, grid, EXECUTIONS));
        let numbers = run.blur().into_iter().chain(bytes.into_iter().flatten());
        let numbers = numbers.chain(shaded.into_iter().flatten()).map(Cell::from);
        let name = Cell::from(run.name.as_str());
        content
            .table
            .row([name].into_iter().chain(numbers).collect());
        traffic.push((run.name.clone(), bytes[0].to_vec()));
        executions.push((run.name.clone(), shaded.into_iter().flatten().collect()));
    }
    content.chart(
        bars("Traffic", "MB per frame", &NAMES, traffic),
        "Depths, headers, colours, identifiers and the resolve.",
    );
    let names = [
        NAMES[0],
        NAMES[1],
        NAMES[2],
        "JRK, AAS",
        "JRK+Z, AAS",
        "SDS, AAS",
    ];
    content.chart(
        bars(
            "Shader executions",
            "executions per pixel",
            &names,
            executions,
        ),
        "The excess of SDS over JRK+Z is bin spread.",
    );
    let of = |run: &Run, pipeline: &str, path: &str| run.number(pipeline, "pixel", path);
    let total = "/traffic_bytes/total";
    let least = scenes.iter().map(|run| {
        let [jrk, jrk_z, sds] = of_pipelines(run, "pixel", total);
        Some(sds? < jrk?.min(jrk_z?))
    });
    let statement =
        "Sort-based deferred shading consumes significantly less bandwidth for most scenes.";
    claim(&mut content, statement, "scenes", least);
    let statement =
        "A prepass increases the traffic of depths and reduces that of colours, for a net win.";
    let wins = scenes.iter().map(|run| {
        let change = |buffer: &str| {
            let bytes = |pipeline: &str| {
                let of_way =
                    |way: &str| of(run, pipeline, &format!("/traffic_bytes/{buffer}/{way}"));
                Some(of_way("read")? + of_way("write")?)
            };
            Some(bytes("jrk+z")? - bytes("jrk")?)
        };
        let net = of(run, "jrk+z", total)? < of(run, "jrk", total)?;
        Some(change("depth")? > 0.0 && change("colour")? < 0.0 && net)
    });
    claim(&mut content, statement, "scenes", wins);
    let excess = |run: &Run, grid: &str| {
        let [_, jrk_z, sds] = of_pipelines(run, grid, EXECUTIONS);
        Some(sds? - jrk_z?)
    };
    let statement = "With AAS, the executions of JRK+Z and SDS are even more similar.";
    let closer = scenes
        .iter()
        .map(|run| Some(excess(run, "adaptive")? <= excess(run, "pixel")?));
    claim(&mut content, statement, "scenes", closer);
    content
}

pub(super) fn sorting(results: &Results) -> Content {
    let mut content = Content::default();
    content.say(
        "Identifiers in memory as a share of their 64 bits, passes of the radix sort as the mean over all tiles of 128 pixels, \
         and bytes that the sort moves on chip with packed values. Tiles of the background take no pass.",
    );
    content.table = Table::new(vec![
        Column::new("scene", "scene"),
        Column::share("identifiers", "identifiers"),
        Column::new("passes", "passes"),
        Column::new("on_chip_mb", "on chip, MB"),
    ]);
    let mut all = [Vec::new(), Vec::new(), Vec::new()];
    for run in results.of(Kind::Scene) {
        let of = |path: &str| run.number("sds", "pixel", path);
        let bytes = of("/sort/on_chip_bytes").map(|b| b / MEGABYTE);
        let numbers = [of("/spid/ratio"), of("/sort/passes_mean"), bytes];
        for (all, number) in all.iter_mut().zip(numbers) {
            all.extend(number);
        }
        let name = Cell::from(run.name.as_str());
        let cells = numbers.into_iter().map(Cell::from);
        content.table.row([name].into_iter().chain(cells).collect());
    }
    let [ratio, passes, bytes] = all;
    for statistic in [Statistic::Above, Statistic::Below] {
        compare(
            &mut content,
            "sorting",
            "size of the identifiers",
            statistic,
            mean(&ratio),
        );
        // The maximum over scenes belongs to the scene that fills most of the screen.
        let most = range(passes.clone()).map(|r| r[1]);
        compare(
            &mut content,
            "sorting",
            "passes of the sort per tile",
            statistic,
            most,
        );
    }
    let most = range(bytes).map(|r| r[1]);
    compare(
        &mut content,
        "sorting",
        "bytes of the sort on chip",
        Statistic::Value,
        most,
    );
    content
}
