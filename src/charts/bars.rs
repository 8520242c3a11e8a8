//! Bars in groups, side by side or stacked; on a logarithmic axis, where lengths are not ratios, dots.

use crate::axis::{Axis, Scale, measured};
use crate::canvas::Canvas;
use crate::drawing::{Drawing, Drawings, PrintFormat};
use crate::labels::{Anchor, Area, Size};
use crate::plot::Plot;
use crate::style::{SeriesColour, Style};
use crate::{AxisMark, RIGHT, Series};
use quadrille_base::error::Result;

/// Share of a group's width between its bars and the next group's.
const GROUP_GAP: f64 = 0.24;
const WIDEST: f64 = 34.0;
/// Narrowest bar whose absence is marked by a cross.
const NARROWEST_GAP: f64 = 14.0;
const DOT: f64 = 4.0;

/// Values of a bar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BarValue {
    /// Height of the bar, in units of the axis.
    pub value: f64,
    /// Bounds of an uncertain value.
    pub band: Option<[f64; 2]>,
    /// Whether the value is published.
    pub is_published: bool,
    /// Published maximum of the values whose mean is `value`, if any.
    pub most: Option<f64>,
}

impl BarValue {
    /// Creates a bar of our own value.
    pub fn ours(value: f64) -> Self {
        Self { value, band: None, is_published: false, most: None }
    }

    /// Creates a bar of a published value.
    pub fn published(value: f64) -> Self {
        Self { is_published: true, ..Self::ours(value) }
    }

    /// Creates a bar of a published mean and a published maximum; either may be unknown.
    pub fn mean_and_most(mean: Option<f64>, most: Option<f64>) -> Self {
        Self { most, ..Self::published(mean.unwrap_or(f64::NAN)) }
    }
}

/// A group of bars with one label.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Label below the bars.
    pub label: String,
    /// A bar per series; `None` for a value that is missing.
    pub bars: Vec<Option<BarValue>>,
}

impl Group {
    /// Creates a group of our own values.
    pub fn of(label: impl Into<String>, values: impl IntoIterator<Item = Option<f64>>) -> Self {
        let bars = values.into_iter().map(|value| value.map(BarValue::ours));
        Self { label: label.into(), bars: bars.collect() }
    }
}

/// A chart of groups of bars.
#[derive(Debug, Clone, PartialEq)]
pub struct BarChart {
    /// Accessible title (aria-label).
    pub title: String,
    /// Axis of the values, which is vertical.
    pub axis: Axis,
    /// Series, in the order of each group's bars.
    pub series: Vec<Series>,
    /// Groups from left to right.
    pub groups: Vec<Group>,
    /// Labelled lines across the plot.
    pub marks: Vec<AxisMark>,
    /// Whether the bars of a group are stacked.
    pub is_stacked: bool,
}

impl BarChart {
    /// Creates a chart of bars side by side, whose series have the colours 0, 1, ...
    pub fn new(
        title: &str,
        axis: Axis,
        names: &[&str],
        groups: impl IntoIterator<Item = Group>,
    ) -> Self {
        let series = names.iter().zip(0..);
        Self {
            title: title.to_owned(),
            axis,
            series: series.map(|(name, at)| Series::ours(*name, at)).collect(),
            groups: groups.into_iter().collect(),
            marks: Vec::new(),
            is_stacked: false,
        }
    }

    /// Draws the chart for screens.
    pub fn draw(&self) -> Drawings {
        Drawings::draw(&self.title, |canvas| self.paint(canvas))
    }

    /// Draws the chart in a print format.
    ///
    /// # Errors
    /// [`Error::Argument`](quadrille_base::Error::Argument) for a height without room for the plot.
    pub fn on_paper(&self, format: &PrintFormat) -> Result<Drawing> {
        format.draw(&self.title, |canvas| self.paint(canvas))
    }

    pub(crate) fn paint(&self, canvas: &mut Canvas) -> f64 {
        let scale = self.scale();
        canvas.fit_left(&scale);
        let mut trial = Canvas::new(canvas.look.clone());
        trial.left = canvas.left;
        let plot = Plot::new(&trial, 0.0, scale);
        let labels = self.draw_groups(&mut trial, &plot);
        let way = Way::ALL.into_iter().find(|way| way.fits(&labels, &trial));
        let room = way.map_or(0.0, Way::room);
        let plot = Plot::begin(canvas, &self.series, self.has_dots(), &self.axis, scale, room);
        let labels = self.draw_groups(canvas, &plot);
        plot.draw_lines(canvas, &self.marks);
        if let Some(way) = way {
            for label in &labels {
                let (at, angle, anchor) = way.place(label);
                canvas.turned_text(at, angle, anchor, Size::Value, &label.text);
            }
        }
        let (left, width) = (canvas.left, self.width_of_group(canvas));
        let names = self.groups.iter().zip(0..).map(|(group, at)| {
            let left = left + width * f64::from(at);
            (left + width / 2.0, group.label.clone())
        });
        let below = canvas.labels_below(plot.bottom(), Size::Text, &names.collect::<Vec<_>>());
        plot.name_lines(canvas, &self.marks, below)
    }

    fn width_of_group(&self, canvas: &Canvas) -> f64 {
        (canvas.look.width - canvas.left - RIGHT) / self.groups.len().max(1) as f64
    }

    fn has_dots(&self) -> bool {
        self.axis.is_log && !self.is_stacked
    }

    fn scale(&self) -> Scale {
        let bars = self.groups.iter().map(|g| g.bars.iter().flatten());
        let values: Vec<f64> = if self.is_stacked {
            bars.map(|bars| bars.map(|b| b.value).sum()).collect()
        } else {
            let ends = |b: &BarValue| [Some(b.value), b.band.map(|b| b[1]), b.most];
            bars.flatten().flat_map(ends).flatten().collect()
        };
        self.axis.scale(values.into_iter().chain(self.marks.iter().map(|m| m.value)))
    }

    fn draw_groups(&self, canvas: &mut Canvas, plot: &Plot) -> Vec<Label> {
        let width = self.width_of_group(canvas);
        let mut labels = Vec::new();
        for (group, number) in self.groups.iter().zip(0..) {
            let left = canvas.left + width * f64::from(number);
            self.draw_group(canvas, plot, [left, width], group, &mut labels);
        }
        labels
    }

    fn draw_group(
        &self,
        canvas: &mut Canvas,
        plot: &Plot,
        [left, width]: [f64; 2],
        group: &Group,
        labels: &mut Vec<Label>,
    ) {
        let columns = if self.is_stacked { 1 } else { group.bars.len().max(1) };
        let bar = (width * (1.0 - GROUP_GAP) / columns as f64).min(WIDEST);
        let mut x = left + (width - bar * columns as f64) / 2.0;
        let mut base = plot.scale.base();
        for (series, value) in self.series.iter().zip(&group.bars) {
            let middle = x + (bar - 1.0) / 2.0;
            if let Some(most) = value.and_then(|v| v.most) {
                let y = plot.y(most);
                let style = Style::Most(SeriesColour { is_published: true, ..series.colour() });
                canvas.stroke([x, y], [x + bar - 1.0, y], style);
                labels.push(Label { at: [middle, y - 4.0], text: measured(most) });
            }
            let is_stated = value.is_none_or(|v| !v.is_published || v.value.is_finite());
            let Some(value) = value.filter(|v| v.value.is_finite()) else {
                // A published mean that the paper does not state is not marked as missing.
                if !self.is_stacked && is_stated && bar >= NARROWEST_GAP {
                    canvas.text([middle, plot.bottom() - 4.0], Anchor::Middle, Size::Gap, "×");
                }
                x += if self.is_stacked { 0.0 } else { bar };
                continue;
            };
            let end = if self.is_stacked { base + value.value } else { value.value };
            let [y, bottom] = [end, base].map(|v| plot.y(v));
            let is_published = value.is_published || series.is_published;
            let title = format!(
                "{}, {}{}: {}",
                group.label,
                series.name,
                if is_published { ", published" } else { "" },
                plot.scale.text(value.value)
            );
            let style = Style::Fill(SeriesColour { is_published, ..series.colour() });
            if !self.has_dots() {
                canvas.rect([x, y.min(bottom)], [bar - 1.0, (bottom - y).abs()], style, &title);
            } else if value.value > 0.0 {
                canvas.dot([middle, y], DOT, style, &title);
            }
            if let Some(band) = value.band {
                canvas.band(middle, band.map(|v| plot.y(v)), Style::Band);
            }
            if self.is_stacked {
                base = end;
                continue;
            }
            let high = value.band.map_or(y, |band| plot.y(band[1]));
            let above = if self.has_dots() { DOT } else { 0.0 } + 4.0;
            labels.push(Label {
                at: [middle, high - above],
                text: match self.axis.is_share {
                    true => format!("{:.0}%", value.value * 100.0),
                    false => measured(value.value),
                },
            });
            x += bar;
        }
    }
}

struct Label {
    at: [f64; 2],
    text: String,
}

/// Placement of values above bars. If values would overlap in every way, none is written, since a subset would mislead;
/// browsers show them as tooltips.
#[derive(Debug, Clone, Copy)]
enum Way {
    Level,
    Upright,
}

impl Way {
    const ALL: [Self; 2] = [Self::Level, Self::Upright];

    fn room(self) -> f64 {
        match self {
            Self::Level => 8.0,
            Self::Upright => 40.0,
        }
    }

    fn place(self, label: &Label) -> ([f64; 2], f64, Anchor) {
        let [x, y] = label.at;
        match self {
            Self::Level => ([x, y], 0.0, Anchor::Middle),
            Self::Upright => ([x + 0.33 * Size::Value.pixels(), y], -90.0, Anchor::Start),
        }
    }

    fn fits(self, labels: &[Label], canvas: &Canvas) -> bool {
        let areas: Vec<Area> = labels
            .iter()
            .map(|label| {
                let (at, angle, anchor) = self.place(label);
                Size::Value.area(at, angle, anchor, &label.text)
            })
            .collect();
        areas.iter().enumerate().all(|(at, area)| {
            canvas.is_free(area) && areas[..at].iter().all(|other| !area.overlaps(other))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(is_stacked: bool) -> BarChart {
        let published = Group {
            label: "published".to_owned(),
            bars: vec![Some(BarValue::published(1.8)), None],
        };
        let groups = [Group::of("truck", [Some(2.0), Some(1.0)]), published];
        BarChart {
            marks: vec![AxisMark::at(1.0, "baseline")],
            is_stacked,
            ..BarChart::new("a < b", Axis::linear("times"), &["HET", "QM"], groups)
        }
    }

    /// The drawing for wide screens, in a page.
    fn page(chart: &BarChart) -> String {
        chart.draw().inline().split("</svg>").next().unwrap().to_owned()
    }

    #[test]
    fn bars_are_as_high_as_their_values() {
        let svg = page(&chart(false));
        // Two swatches and three bars; a cross stands for the missing bar.
        assert_eq!(svg.matches("<rect").count(), 2 + 3);
        assert_eq!(svg.matches("class=\"gap\"").count(), 1);
        // Values 2.0 and 1.0 on an axis that ends at 2.5.
        for height in ["height=\"152.0\"", "height=\"76.0\""] {
            assert!(svg.contains(height), "{height}: {svg}");
        }
        assert!(svg.contains("published, HET, published: 1.8") && svg.contains("s0 pub"));
        assert!(svg.contains("aria-label=\"a &lt; b\""));
    }

    #[test]
    fn stacked_bars_stand_on_each_other() {
        let svg = page(&chart(true));
        // The bars have 2/4 and 1/4 of an axis to 4.0; the second begins where the first ends.
        let rects: Vec<_> = svg.split("<rect").skip(3).take(2).collect();
        let value = |rect: &str, key: &str| -> f64 {
            let (_, after) = rect.split_once(&format!(" {key}=\"")).unwrap();
            after.split('"').next().unwrap().parse().unwrap()
        };
        let below = value(rects[1], "y") + value(rects[1], "height");
        assert!((below - value(rects[0], "y")).abs() < 0.11, "{svg}");
    }

    /// A bar below 0 hangs from the axis, which stands at 0.
    #[test]
    fn negative_bars_hang() {
        let groups = [Group::of("a", [Some(-1.0)]), Group::of("b", [Some(3.0)])];
        let chart = BarChart::new("gain", Axis::linear("dB"), &["ours"], groups);
        // The axis from -1 to 3 has 190 pixels.
        let svg = page(&chart);
        assert!(svg.contains("height=\"47.5\"") && svg.contains("height=\"142.5\""), "{svg}");
        let y = |rect: &str| -> f64 {
            let (_, after) = rect.split_once(" y=\"").unwrap();
            after.split('"').next().unwrap().parse().unwrap()
        };
        let rects: Vec<_> = svg.split("<rect").skip(1).map(y).collect();
        assert!((rects[0] - (rects[1] + 142.5)).abs() < 0.11, "{svg}");
    }

    /// Lengths on a logarithmic axis would be read as ratios.
    #[test]
    fn logarithmic_axes_have_dots() {
        let mut chart = chart(false);
        chart.axis = Axis::log("times");
        chart.groups[0].bars[1] = Some(BarValue::ours(0.0));
        let svg = page(&chart);
        assert_eq!(svg.matches("<rect").count(), 0, "{svg}");
        // The legend has a dot of each series; HET has two values, and 0 has no place.
        assert_eq!(["<circle", "<polygon"].map(|dot| svg.matches(dot).count()), [3, 1], "{svg}");
    }
}
