//! Bars in groups, side by side or stacked.

use super::axis::{Axis, Scale, measured};
use super::{Anchor, Canvas, LEFT, Mark, PLOT_HEIGHT, RIGHT, Series, WIDTH, class, text_width};

/// Share of a group's width between its bars and the next group's.
const GROUP_GAP: f64 = 0.24;
/// Widest bar.
const WIDEST: f64 = 34.0;
/// Width of a character of the values above bars.
const DIGIT: f64 = 7.0;

/// A bar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BarValue {
    /// Height of the bar, in units of the axis.
    pub(crate) value: f64,
    /// Bounds of an uncertain value.
    pub(crate) band: Option<[f64; 2]>,
    /// Whether the value is published.
    pub(crate) is_published: bool,
    /// Largest of the values whose mean is `value`, if published.
    pub(crate) most: Option<f64>,
}

impl BarValue {
    /// A value of ours.
    pub(crate) fn ours(value: f64) -> Self {
        Self {
            value,
            band: None,
            is_published: false,
            most: None,
        }
    }

    /// A published value.
    pub(crate) fn published(value: f64) -> Self {
        Self {
            is_published: true,
            ..Self::ours(value)
        }
    }

    /// A published mean and a published maximum; one of the two may be unknown.
    pub(crate) fn mean_and_most(mean: Option<f64>, most: Option<f64>) -> Self {
        Self {
            most,
            ..Self::published(mean.unwrap_or(f64::NAN))
        }
    }
}

/// Bars with one label.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Group {
    /// Label below the bars.
    pub(crate) label: String,
    /// A bar per series; `None` for a value that is missing.
    pub(crate) bars: Vec<Option<BarValue>>,
}

impl Group {
    /// Bars of ours.
    pub(crate) fn of(
        label: impl Into<String>,
        values: impl IntoIterator<Item = Option<f64>>,
    ) -> Self {
        let bars = values.into_iter().map(|value| value.map(BarValue::ours));
        Self {
            label: label.into(),
            bars: bars.collect(),
        }
    }
}

/// A chart of groups of bars.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BarChart {
    /// Accessible title (aria-label).
    pub(crate) title: String,
    /// The vertical axis.
    pub(crate) axis: Axis,
    /// Series, in the order of each group's bars.
    pub(crate) series: Vec<Series>,
    /// Groups from left to right.
    pub(crate) groups: Vec<Group>,
    /// Lines across the plot.
    pub(crate) marks: Vec<Mark>,
    /// Whether the bars of a group stand on each other.
    pub(crate) is_stacked: bool,
}

impl BarChart {
    /// Creates a chart of bars side by side, of series in colours from 0.
    pub(crate) fn new(
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

    /// Draws the chart.
    pub(crate) fn svg(&self) -> String {
        let mut canvas = Canvas::new();
        let top = canvas.legend(4.0, &self.series) + 4.0 + 26.0;
        let scale = self.scale();
        let frame = Plot {
            top,
            scale,
            axis: &self.axis,
        };
        frame.draw(&mut canvas);
        let width = (WIDTH - LEFT - RIGHT) / self.groups.len().max(1) as f64;
        let longest = self.groups.iter().map(|g| text_width(&g.label));
        let is_slanted = longest.fold(0.0, f64::max) > width - 4.0;
        let mut labels = Vec::new();
        for (number, group) in self.groups.iter().enumerate() {
            let left = LEFT + width * number as f64;
            self.draw_group(&mut canvas, &frame, [left, width], group, &mut labels);
            let below = top + PLOT_HEIGHT;
            if is_slanted {
                let at = [left + width / 2.0 + 5.0, below + 14.0];
                canvas.slanted_text(at, "t", &group.label);
            } else {
                let at = [left + width / 2.0, below + 17.0];
                canvas.text(at, Anchor::Middle, "t", &group.label);
            }
        }
        if !overlap(&labels) {
            for label in &labels {
                canvas.text(label.at, Anchor::Middle, "v", &label.text);
            }
        }
        frame.draw_marks(&mut canvas, &self.marks);
        let labels = self.groups.iter().map(|g| text_width(&g.label));
        let below = if is_slanted {
            20.0 + labels.fold(0.0, f64::max) * 0.6
        } else {
            24.0
        };
        canvas.finish(&self.title, top + PLOT_HEIGHT + below)
    }

    fn scale(&self) -> Scale {
        let bars = self.groups.iter().map(|g| g.bars.iter().flatten());
        let values: Vec<f64> = if self.is_stacked {
            bars.map(|bars| bars.map(|b| b.value).sum()).collect()
        } else {
            let ends = |b: &BarValue| [Some(b.value), b.band.map(|b| b[1]), b.most];
            bars.flatten().flat_map(ends).flatten().collect()
        };
        let marks = self.marks.iter().map(|m| m.value);
        self.axis.scale(values.into_iter().chain(marks))
    }

    fn draw_group(
        &self,
        canvas: &mut Canvas,
        plot: &Plot<'_>,
        [left, width]: [f64; 2],
        group: &Group,
        labels: &mut Vec<Label>,
    ) {
        let columns = if self.is_stacked {
            1
        } else {
            group.bars.len().max(1)
        };
        let bar = (width * (1.0 - GROUP_GAP) / columns as f64).min(WIDEST);
        let mut x = left + (width - bar * columns as f64) / 2.0;
        let mut base = plot.scale.from;
        for (series, value) in self.series.iter().zip(&group.bars) {
            if let Some(most) = value.and_then(|v| v.most) {
                let y = plot.y(most);
                let class = format!("most {}", class(series.colour, true));
                canvas.line([x, y], [x + bar - 1.0, y], &class);
                labels.push(Label {
                    at: [x + bar / 2.0, y - 4.0],
                    text: format!("max {}", measured(most)),
                });
            }
            let is_stated = value.is_none_or(|v| !v.is_published || v.value.is_finite());
            let Some(value) = value.filter(|v| v.value.is_finite()) else {
                // Published numbers that no text states are not missing.
                if !self.is_stacked && is_stated {
                    let at = [x + bar / 2.0, plot.top + PLOT_HEIGHT - 4.0];
                    canvas.text(at, Anchor::Middle, "gap", "×");
                }
                x += if self.is_stacked { 0.0 } else { bar };
                continue;
            };
            let end = if self.is_stacked {
                base + value.value
            } else {
                value.value
            };
            let [y, bottom] = [end, base].map(|v| plot.y(v));
            let is_published = value.is_published || series.is_published;
            let title = format!(
                "{}, {}{}: {}",
                group.label,
                series.name,
                if is_published { ", published" } else { "" },
                plot.scale.text(value.value)
            );
            let class = format!("fill {}", class(series.colour, is_published));
            canvas.rect([x, y], [bar - 1.0, bottom - y], &class, &title);
            if let Some(band) = value.band {
                let middle = x + (bar - 1.0) / 2.0;
                let [low, high] = band.map(|v| plot.y(v));
                canvas.line([middle, low], [middle, high], "band");
                for y in [low, high] {
                    canvas.line([middle - 4.0, y], [middle + 4.0, y], "band");
                }
            }
            if self.is_stacked {
                base = end;
                continue;
            }
            let high = value.band.map_or(y, |band| plot.y(band[1]));
            labels.push(Label {
                at: [x + bar / 2.0, high - 4.0],
                text: match self.axis.is_share {
                    true => format!("{:.0}%", value.value * 100.0),
                    false => measured(value.value),
                },
            });
            x += bar;
        }
    }
}

/// The value of a bar, centred above it.
struct Label {
    at: [f64; 2],
    text: String,
}

/// Whether any two neighbours would be written over each other. Then no bar has its value above it, since some
/// without the others would mislead.
fn overlap(labels: &[Label]) -> bool {
    const HEIGHT: f64 = 12.0;
    let half = |label: &Label| label.text.chars().count() as f64 * DIGIT / 2.0;
    labels.windows(2).any(|pair| {
        let is_near = pair[1].at[0] - pair[0].at[0] < half(&pair[0]) + half(&pair[1]);
        is_near && (pair[1].at[1] - pair[0].at[1]).abs() < HEIGHT
    })
}

/// The area of a plot with its vertical axis.
pub(super) struct Plot<'a> {
    pub(super) top: f64,
    pub(super) scale: Scale,
    pub(super) axis: &'a Axis,
}

impl Plot<'_> {
    /// Height of a value.
    pub(super) fn y(&self, value: f64) -> f64 {
        self.top + PLOT_HEIGHT * (1.0 - self.scale.position(value))
    }

    /// Draws the axis with its ticks and its label.
    pub(super) fn draw(&self, canvas: &mut Canvas) {
        canvas.text([4.0, self.top - 13.0], Anchor::Start, "m", &self.axis.label);
        for tick in self.scale.ticks() {
            let y = self.y(tick);
            canvas.line([LEFT, y], [WIDTH - RIGHT, y], "grid");
            let text = self.scale.text(tick);
            canvas.text([LEFT - 6.0, y + 4.0], Anchor::End, "m", &text);
        }
        let bottom = self.top + PLOT_HEIGHT;
        canvas.line([LEFT, bottom], [WIDTH - RIGHT, bottom], "axis");
    }

    /// Draws lines across the plot, with their labels at its right end; labels of near lines do not overlap.
    pub(super) fn draw_marks(&self, canvas: &mut Canvas, marks: &[Mark]) {
        const LINE: f64 = 14.0;
        let mut marks: Vec<&Mark> = marks.iter().collect();
        marks.sort_by(|a, b| a.value.total_cmp(&b.value));
        let mut above = f64::INFINITY;
        for mark in marks {
            let y = self.y(mark.value);
            let class = if mark.is_published {
                "mark pub"
            } else {
                "mark"
            };
            canvas.line([LEFT, y], [WIDTH - RIGHT, y], class);
            let at = (y - 4.0).min(above - LINE);
            if mark.label.is_empty() {
                continue;
            }
            above = at;
            if mark.is_left {
                canvas.text([LEFT + 4.0, at], Anchor::Start, "l", &mark.label);
            } else {
                canvas.text([WIDTH - RIGHT, at], Anchor::End, "l", &mark.label);
            }
        }
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
            marks: vec![Mark::at(1.0, "baseline")],
            is_stacked,
            ..BarChart::new("a < b", Axis::linear("times"), &["HET", "QM"], groups)
        }
    }

    #[test]
    fn bars_are_as_high_as_their_values() {
        let svg = chart(false).svg();
        // Two swatches and three bars; the missing one is a cross.
        assert_eq!(svg.matches("<rect").count(), 2 + 3);
        assert_eq!(svg.matches("class=\"gap\"").count(), 1);
        // 2.0 of 2.5 and 1.0 of 2.5.
        for height in ["height=\"152.0\"", "height=\"76.0\""] {
            assert!(svg.contains(height), "{height}: {svg}");
        }
        assert!(svg.contains("published, HET, published: 1.8") && svg.contains("s0 pub"));
        assert!(svg.contains("aria-label=\"a &lt; b\""));
    }

    #[test]
    fn stacked_bars_stand_on_each_other() {
        let svg = chart(true).svg();
        // 3.0 at most: 2/4 and 1/4 of 4.0 or the like; the second begins where the first ends.
        let rects: Vec<_> = svg.split("<rect").skip(3).take(2).collect();
        let value = |rect: &str, key: &str| -> f64 {
            let (_, after) = rect.split_once(&format!(" {key}=\"")).unwrap();
            after.split('"').next().unwrap().parse().unwrap()
        };
        let below = value(rects[1], "y") + value(rects[1], "height");
        assert!((below - value(rects[0], "y")).abs() < 0.11, "{svg}");
    }
}
