//! Conversion of plotted points to line, dot, bar and heat-map charts.

use crate::fields::PICTURE_AXES;
use crate::plot::Plot;
use crate::points::{Grid, Key};
use quadrille_charts::{
    Axis, AxisMark, BarChart, BarValue, Group, HeatChart, LineChart, LineKind, LineSeries, number,
};
use quadrille_machine::spec::shown_size;
use quadrille_suite::report::heat::VIRIDIS;
use quadrille_suite::unique;

/// Largest number of values with a tick each; an axis of more values has ticks at round numbers.
const MOST_TICKS: usize = 12;
/// Whole numbers of at least this size are written in three digits.
const LARGE: f64 = 1e5;

#[derive(Debug)]
pub(crate) enum Chart {
    Bars(BarChart),
    Lines(LineChart),
    Heat(HeatChart),
}

#[derive(Debug)]
pub(crate) struct Dot {
    pub(crate) at: [f64; 2],
    pub(crate) series: Key,
}

fn shown(field: &str, key: &Key) -> String {
    shown_size(field, &key.text).unwrap_or_else(|| match key.number {
        None => key.text.clone(),
        Some(value) if value.fract() == 0.0 && value.abs() < LARGE => value.to_string(),
        Some(value) => number(value),
    })
}

fn axis(plot: &Plot, at: usize) -> Axis {
    Axis { is_log: plot.is_log[at], is_fitted: plot.is_fitted[at], ..Axis::linear(&plot.label(at)) }
}

fn marks(plot: &Plot) -> Vec<AxisMark> {
    plot.marks.iter().map(|value| AxisMark::at(*value, "")).collect()
}

pub(crate) fn lines(plot: &Plot, grid: &Grid) -> LineChart {
    let series = grid.series.iter().enumerate().map(|(at, name)| {
        let combined = grid.combined(at, plot.combine);
        let (mut points, mut bands) = (Vec::new(), Vec::new());
        for ((x, cell), y) in grid.x.iter().zip(&grid.cells[at]).zip(combined) {
            if let Some(point) = x.number.zip(y) {
                points.push(point.into());
                bands.push(plot.spread.and_then(|spread| cell.band(spread)));
            }
        }
        LineSeries {
            bands,
            ..LineSeries::ours(plot.series_name(&name.text), at, points, LineKind::Line)
        }
    });
    let has_ticks = grid.x.len() <= MOST_TICKS;
    let ticks = grid.x.iter().filter(|_| has_ticks);
    let ticks = ticks.filter_map(|key| Some((key.number?, shown(&plot.x, key))));
    let x = Axis { is_fitted: true, ..axis(plot, 0) };
    LineChart {
        marks: marks(plot),
        ..LineChart::new(&plot.title(), [x, axis(plot, 1)], ticks.collect(), series)
    }
}

pub(crate) fn scatter(plot: &Plot, dots: &[Dot]) -> LineChart {
    let names = unique(dots.iter().map(|dot| &dot.series));
    let series = names.into_iter().enumerate().map(|(at, name)| {
        let points = dots.iter().filter(|dot| dot.series == *name).map(|dot| dot.at);
        LineSeries::ours(plot.series_name(&name.text), at, points, LineKind::Points)
    });
    LineChart {
        marks: marks(plot),
        ..LineChart::new(&plot.title(), [axis(plot, 0), axis(plot, 1)], Vec::new(), series)
    }
}

pub(crate) fn bars(
    plot: &Plot,
    grid: &Grid,
    summary: Option<&(String, Vec<Option<f64>>)>,
) -> BarChart {
    let combined: Vec<Vec<Option<f64>>> =
        (0..grid.series.len()).map(|series| grid.combined(series, plot.combine)).collect();
    let groups = grid.x.iter().enumerate().map(|(x, key)| {
        let bars = combined.iter().zip(&grid.cells).map(|(combined, cells)| {
            let band = plot.spread.and_then(|spread| cells[x].band(spread));
            combined[x].map(|value| BarValue { band, ..BarValue::ours(value) })
        });
        Group { label: shown(&plot.x, key), bars: bars.collect() }
    });
    let last = summary.map(|(name, values)| Group::of(name, values.iter().copied()));
    let names = grid.series.iter();
    let names: Vec<String> = names.map(|key| plot.series_name(&key.text)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    BarChart {
        marks: marks(plot),
        ..BarChart::new(&plot.title(), axis(plot, 1), &names, groups.chain(last))
    }
}

fn viridis(position: f32) -> [u8; 3] {
    VIRIDIS.ramp()(position)
}

pub(crate) fn heat(plot: &Plot, grid: &Grid) -> HeatChart {
    let rows = grid.series.iter().enumerate().map(|(at, key)| {
        let values = grid.combined(at, plot.combine);
        (shown(&plot.y, key), values)
    });
    let mut rows: Vec<_> = rows.collect();
    let axes = PICTURE_AXES.iter().find(|[_, y]| plot.y == *y);
    // Rows of numbers have the smallest one at the bottom, and rows of a picture the first one at the top.
    if axes.is_none() && grid.series.iter().all(|key| key.number.is_some()) {
        rows.reverse();
    }
    HeatChart {
        title: plot.title(),
        axes: [plot.label(0), plot.label(1)],
        columns: grid.x.iter().map(|key| shown(&plot.x, key)).collect(),
        rows,
        values: Axis { is_log: plot.is_log[1], ..Axis::linear(&plot.label(2)) },
        is_square: axes.is_some_and(|[x, _]| plot.x == *x),
        ramp: viridis,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_whole_numbers_are_exact() {
        for (field, text, expected) in [
            ("l2.bytes", "4194304", "4 MiB"),
            ("crop.cache_bytes", "16384", "16 KiB"),
            ("crop.cache_bytes", "1000", "1000 B"),
            ("tc.bins", "16384", "16384"),
            ("seed", "1234567", "1.23 M"),
            ("scene", "island", "island"),
            ("zrop.threshold", "0.996", "0.996"),
        ] {
            assert_eq!(shown(field, &Key::new(text)), expected);
        }
    }
}
