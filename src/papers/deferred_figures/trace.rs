//! A whole trace: Figure 11.

use serde_json::Value;

use super::comparisons::claim;
use super::results::{Kind, Results, Run, is_row, number};
use super::scenes::PIPELINES;
use crate::figures::Content;
use crate::figures::table::{Cell, Column, Table};
use crate::svg::{Axis, LineChart, LineKind, LineSeries, Series};

/// A plot of the figure.
#[derive(Clone, Copy)]
struct Plot {
    /// Name in files.
    key: &'static str,
    title: &'static str,
    grid: &'static str,
    /// JSON pointer of the number.
    path: &'static str,
    divisor: f64,
    unit: &'static str,
}

const PLOTS: [Plot; 4] = [
    Plot {
        key: "mb",
        title: "Traffic",
        grid: "pixel",
        path: "/traffic_bytes/total",
        divisor: 1e6,
        unit: "MB per frame",
    },
    Plot {
        key: "gops",
        title: "Operations of the raster",
        grid: "pixel",
        path: "/raster/gops/total",
        divisor: 1.0,
        unit: "Gops per frame",
    },
    Plot {
        key: "per_px",
        title: "Shader executions",
        grid: "pixel",
        path: "/shading/per_pixel",
        divisor: 1.0,
        unit: "executions per pixel",
    },
    Plot {
        key: "per_px_aas",
        title: "Shader executions with AAS",
        grid: "adaptive",
        path: "/shading/per_pixel",
        divisor: 1.0,
        unit: "executions per pixel",
    },
];

impl Plot {
    /// The value of a view and a pipeline.
    fn value(&self, run: &Run, view: &str, pipeline: &str) -> Option<f64> {
        let is_it = |row: &&Value| row["view"] == view && is_row(row, pipeline, self.grid);
        Some(number(run.rows.iter().find(is_it)?, self.path)? / self.divisor)
    }
}

pub(super) fn figure_11(results: &Results) -> Content {
    let mut content = Content::default();
    content.say("Traffic, operations of the raster and executions of the shader in the views of a camera path.");
    let mut columns = vec![Column::new("trace", "trace"), Column::new("view", "view")];
    for plot in PLOTS {
        for [pipeline, name] in PIPELINES {
            let key = format!("{}_{}", pipeline.replace('+', "_"), plot.key);
            columns.push(match key.ends_with("_mb") {
                true => Column::new(key, format!("{name}, MB")),
                false => Column::hidden(key),
            });
        }
    }
    content.table = Table::new(columns);
    let mut least = Vec::new();
    let mut cheaper = Vec::new();
    for run in results.of(Kind::Trace) {
        let mut views: Vec<&str> = Vec::new();
        for view in run.rows.iter().filter_map(|row| row["view"].as_str()) {
            if !views.contains(&view) {
                views.push(view);
            }
        }
        for view in &views {
            let values =
                PLOTS.map(|plot| PIPELINES.map(|[pipeline, _]| plot.value(run, view, pipeline)));
            let [[jrk, jrk_z, sds], [jrk_ops, _, sds_ops], ..] = values;
            least.push((|| Some(sds? < jrk?.min(jrk_z?)))());
            cheaper.push((|| Some(sds_ops? <= 1.03 * jrk_ops?))());
            let cells = values.into_iter().flatten().map(Cell::from);
            let key = [Cell::from(run.name.as_str()), Cell::from(*view)];
            content.table.row(key.into_iter().chain(cells).collect());
        }
        for plot in PLOTS {
            let series = PIPELINES.iter().zip(0..).map(|([pipeline, name], colour)| {
                let points = views.iter().enumerate();
                LineSeries {
                    series: Series::ours(*name, colour),
                    points: points
                        .filter_map(|(at, view)| {
                            Some([at as f64, plot.value(run, view, pipeline)?])
                        })
                        .collect(),
                    kind: LineKind::Line,
                }
            });
            let chart = LineChart {
                title: format!("{} of {}", plot.title, run.name),
                x: Axis::linear("view"),
                x_labels: Vec::new(),
                y: Axis::linear(plot.unit),
                series: series.filter(|s| !s.points.is_empty()).collect(),
                marks: Vec::new(),
            };
            content.chart(chart.svg(), chart.title.clone());
        }
    }
    let statement = "SDS moves the fewest bytes throughout the trace.";
    claim(&mut content, statement, "views", least);
    let statement = "The raster of SDS costs about as much as that of JRK.";
    claim(&mut content, statement, "views", cheaper);
    content
}
