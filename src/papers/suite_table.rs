//! Statistics over the rows of a suite, beside the published figures.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::paper::{self, figures};
use crate::sheet::{largest, least, mean, quotient, standard_deviation};
use crate::table::Cell;
use quadrille_base::choice;
use quadrille_suite::report::table::{TextTable, or_dash, shortened};
use quadrille_suite::sweep_table::{self, configurations, groups};
use quadrille_suite::{MethodRow, Row};

/// A column of the table: the ratio of a count between the methods `from` and `to`, with the published numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Metric {
    measure: Measure,
    from: &'static str,
    to: &'static str,
    published_mean: Option<f64>,
    published_max: Option<f64>,
}

choice! {
    /// Count of a method, compared as a ratio of two methods.
    enum Measure {
        /// Cycles
        Speedup = "speedup",
        /// Blended fragments
        Fragments = "fragments",
        /// Blended quads
        Quads = "quads",
    }
}

/// Measure and methods of each column, with the name of the column in the figures of VR-Pipe.
const METRICS: [(Measure, [&str; 2], &str); 11] = [
    (Measure::Speedup, ["baseline", "qru"], "qru"),
    (Measure::Speedup, ["baseline", "qm"], "qm"),
    (Measure::Speedup, ["baseline", "het"], "het"),
    (Measure::Speedup, ["baseline", "het+qru"], "het_qru"),
    (Measure::Speedup, ["baseline", "het+qm"], "het_qm"),
    (Measure::Speedup, ["baseline", "tgc"], "tgc"),
    (Measure::Fragments, ["baseline", "het"], "fragments_het"),
    (Measure::Fragments, ["het", "het+qm"], "fragments_qm"),
    (Measure::Quads, ["baseline", "het"], "quads_het"),
    (Measure::Quads, ["het", "het+qm"], "quads_qm"),
    (Measure::Quads, ["baseline", "qm"], "quads_qm_alone"),
];

/// Whether a scene has the name of a scene of the VR-Pipe paper.
pub fn is_paper_scene(name: &str) -> bool {
    let table = figures().find(|figure| figure.id == "table2");
    table.into_iter().flat_map(|table| &table.rows).any(
        |row| matches!(row.get("scene"), Some(Cell::Text(one)) if one.eq_ignore_ascii_case(name)),
    )
}

impl Measure {
    fn of(self, method: &MethodRow) -> Option<f64> {
        let count = match self {
            Self::Speedup => method.cycles,
            Self::Fragments => method.counts.fragments_blended(),
            Self::Quads => method.quads_blended()?,
        };
        Some(count as f64)
    }
}

impl Metric {
    fn new(measure: Measure, [from, to]: [&'static str; 2], column: &str) -> Self {
        let id = if measure == Measure::Speedup { "fig16" } else { "fig18" };
        let figure = figures().find(|figure| figure.id == id);
        let published = |statistic| figure?.number_of_column(column, statistic);
        Self {
            measure,
            from,
            to,
            published_mean: published(paper::Statistic::Mean),
            published_max: published(paper::Statistic::Maximum),
        }
    }

    /// Value of the column for a view; `None` if the view shows no splat, or a count is absent or 0.
    fn of(&self, row: &Row) -> Option<f64> {
        let row = row.shown()?;
        let count = |name: &str| self.measure.of(row.method(name)?);
        let ratio = quotient(count(self.from), count(self.to));
        ratio.filter(|ratio| *ratio > 0.0)
    }

    fn label(&self) -> &'static str {
        if self.from == "baseline" { self.to } else { "qm on top" }
    }
}

/// Arithmetic mean, standard deviation, minimum and maximum of a column; `None` if no view has a value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Statistic {
    /// Metric that the values belong to.
    #[serde(flatten)]
    pub metric: Metric,
    /// Arithmetic mean over the views of a scene, or over the means of all scenes.
    pub mean: Option<f64>,
    /// Standard deviation of these values; `None` for a single one.
    pub sd: Option<f64>,
    /// Smallest value of a view.
    pub min: Option<f64>,
    /// Largest value of a view.
    pub max: Option<f64>,
}

/// The statistics of a scene or of all scenes in one configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SceneSummary {
    /// Name of the configuration, if it has one.
    pub configuration: Option<String>,
    /// Preset of the configuration.
    pub preset: String,
    /// Fields whose values differ from the preset.
    pub changed: BTreeMap<String, String>,
    /// Width of the pictures, if the rows have views at several sizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// Name of the scene; `None` for all scenes.
    pub scene: Option<String>,
    /// Number of views.
    pub views: usize,
    /// Statistics by column.
    pub statistics: Vec<Statistic>,
}

fn summary(scene: Option<&str>, rows: &[&Row], metrics: &[Metric]) -> SceneSummary {
    let statistic = |metric: &Metric| {
        let of = |rows: &[&Row]| rows.iter().map(|row| metric.of(row)).collect::<Vec<_>>();
        let scenes = groups(rows, |row| row.key.scene.as_str());
        let values = match scene {
            Some(_) => of(rows),
            None => scenes.iter().map(|(_, rows)| mean(of(rows))).collect(),
        };
        let (min, max) = (least(of(rows)), largest(of(rows)));
        let sd = standard_deviation(values.iter().copied());
        Statistic { metric: *metric, mean: mean(values), sd, min, max }
    };
    let key = rows.first().map(|row| &row.key);
    SceneSummary {
        configuration: key.and_then(|key| key.configuration.clone()),
        preset: key.map_or(String::new(), |key| key.preset.clone()),
        changed: key.map_or(BTreeMap::new(), |key| key.changed.clone()),
        width: None,
        scene: scene.map(str::to_owned),
        views: rows.len(),
        statistics: metrics.iter().map(statistic).collect(),
    }
}

/// Returns the statistics of each scene, in order of appearance, and of all scenes, for each configuration.
pub fn summaries(rows: &[Row]) -> Vec<SceneSummary> {
    let fills = |metric: &Metric| rows.iter().any(|row| metric.of(row).is_some());
    let metrics = METRICS.map(|(measure, methods, column)| Metric::new(measure, methods, column));
    let metrics: Vec<_> = metrics.into_iter().filter(fills).collect();
    let of_configuration = |rows: &[&Row]| {
        let scenes = groups(rows, |row| row.key.scene.as_str());
        let mut all: Vec<_> =
            scenes.iter().map(|(scene, rows)| summary(Some(scene), rows, &metrics)).collect();
        all.push(summary(None, rows, &metrics));
        all
    };
    if rows.is_empty() {
        return of_configuration(&[]);
    }
    let rows: Vec<_> = rows.iter().collect();
    let configured = configurations(&rows).into_iter().flat_map(|((.., width), rows)| {
        let summaries = of_configuration(&rows).into_iter();
        summaries.map(move |one| SceneSummary { width, ..one })
    });
    configured.collect()
}

const MEANS: &str = "\
Means are arithmetic, sd is the standard deviation: over the views of a scene, and for all scenes
over the means of the scenes. min and max are of views.
";

const LEGEND: &str = "\
Each column divides a count of the baseline by the same count of the method: cycles for speedup, and
blended fragments or quads (for het the termination ratio, for qm the merge ratio). qm on top divides
het by het+qm. Published numbers: VR-Pipe, section VI, figures 16 and 18.
";

/// Formats mean, standard deviation, minimum and maximum of every scene and of all scenes, and the published figures
/// beside a scene of the paper; rows of several configurations are formatted as a sweep.
pub fn table(rows: &[Row]) -> String {
    if sweep_table::is_sweep(rows) {
        return sweep_table::table(rows, "scene");
    }
    let summaries = summaries(rows);
    if summaries.first().is_none_or(|s| s.statistics.is_empty()) {
        return cycles_table(rows);
    }
    let metrics: Vec<_> = summaries[0].statistics.iter().map(|s| s.metric).collect();
    let columns: Vec<_> = metrics.iter().map(|m| format!("{}\n{}", m.measure, m.label())).collect();
    let columns = columns.iter().map(String::as_str);
    let labels = ["<\nscene", "\nviews", "<"].into_iter();
    let mut table = TextTable::new(&labels.chain(columns).collect::<Vec<_>>());
    let mut line = |name: &str, views: &str, what: &str, values: Vec<Option<f64>>| {
        let values = values.into_iter().map(|v| or_dash(v, |v| format!("{v:.3}")));
        table.row([name, views, what].map(str::to_owned).into_iter().chain(values));
    };
    for summary in &summaries {
        let name = summary.scene.as_deref().unwrap_or("all scenes");
        let values =
            |of: fn(&Statistic) -> Option<f64>| summary.statistics.iter().map(of).collect();
        line(name, &summary.views.to_string(), "mean", values(|s| s.mean));
        line("", "", "sd", values(|s| s.sd));
        line("", "", "min", values(|s| s.min));
        line("", "", "max", values(|s| s.max));
    }
    if !rows.iter().any(|row| is_paper_scene(&row.key.scene)) {
        return format!("{table}{MEANS}");
    }
    let published = |of: fn(&Metric) -> Option<f64>| metrics.iter().map(of).collect();
    line("published", "", "mean", published(|m| m.published_mean));
    line("", "", "max", published(|m| m.published_max));
    format!("{table}{MEANS}{LEGEND}")
}

fn cycles_table(rows: &[Row]) -> String {
    let methods = rows.first().into_iter().flat_map(|row| &row.methods);
    let names: Vec<_> = methods.map(|v| format!("cycles\n{}", v.name)).collect();
    let names = names.iter().map(String::as_str);
    let headings: Vec<_> = ["<\nscene", "<\nview"].into_iter().chain(names).collect();
    let mut table = TextTable::new(&headings);
    for row in rows {
        let labels = [row.key.scene.clone(), shortened(&row.key.view.name)];
        table.row(labels.into_iter().chain(row.methods.iter().map(|v| v.cycles.to_string())));
    }
    format!("{table}Ratios need the method baseline in addition to the others.\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::results::tests;

    /// A row of three methods with these cycles, and two blended fragments per cycle.
    fn row(scene: &str, view: &str, [baseline, het, both]: [u64; 3]) -> Row {
        let methods = [("baseline", baseline), ("het", het), ("het+qm", both)];
        let methods = methods.map(|(name, cycles)| (name, cycles, 2 * cycles));
        let mut row = tests::view(scene, &methods).row;
        row.key.view.name = view.to_owned();
        row
    }

    #[test]
    fn statistics_worked_by_hand() {
        let rows = [row("a", "0", [600, 300, 200]), row("a", "1", [600, 150, 150])];
        let all = summaries(&rows);
        assert_eq!(all.len(), 2);
        let het = &all[0].statistics[0];
        assert_eq!((het.mean, het.min, het.max), (Some(3.0), Some(2.0), Some(4.0)));
        assert_eq!(het.sd, Some(2.0_f64.sqrt()));
        assert_eq!(het.metric.published_mean, Some(1.80));
        let text = table(&rows);
        for word in ["speedup", "qm on top", "3.000"] {
            assert!(text.contains(word), "{word}: {text}");
        }
        assert!(!text.contains("published") && !text.contains("1.800"), "{text}");
        let text = table(&rows.map(|one| row("Truck", &one.key.view.name, [600, 300, 200])));
        for word in ["published", "1.800", "2.780", "divides a count of the baseline"] {
            assert!(text.contains(word), "{word}: {text}");
        }
    }

    /// Each scene counts once, however many views it has: scenes of 3 and 1 have a mean of 2, their four views of 2.5.
    #[test]
    fn all_scenes_are_a_mean_of_scenes() {
        let mut rows = vec![row("b", "0", [600, 600, 600])];
        rows.extend(["0", "1", "2"].map(|view| row("a", view, [600, 200, 200])));
        let all = summaries(&rows);
        let het = &all[2].statistics[0];
        assert_eq!((all[2].views, het.mean, het.sd), (4, Some(2.0), Some(2.0_f64.sqrt())));
        assert_eq!((het.min, het.max), (Some(1.0), Some(3.0)));
        assert_eq!(all[1].statistics[0].sd, Some(0.0));
    }

    #[test]
    fn configurations_have_summaries_of_their_own() {
        let mut rows = [row("a", "0", [600, 300, 200]), row("a", "0", [600, 600, 200])];
        rows[1].key.preset = "orin".to_owned();
        let all = summaries(&rows);
        let named: Vec<_> = all
            .iter()
            .map(|s| (s.preset.as_str(), s.scene.as_deref(), s.statistics[0].mean))
            .collect();
        assert_eq!(
            named,
            [
                ("vr-pipe", Some("a"), Some(2.0)),
                ("vr-pipe", None, Some(2.0)),
                ("orin", Some("a"), Some(1.0)),
                ("orin", None, Some(1.0)),
            ]
        );
    }

    #[test]
    fn rows_of_two_sizes_are_not_averaged() {
        let mut rows = [row("a", "0", [600, 300, 200]), row("a", "0", [600, 600, 200])];
        rows[1].key.view.width *= 2;
        let all = summaries(&rows);
        let found: Vec<_> = all.iter().map(|s| (s.width, s.statistics[0].mean)).collect();
        let [narrow, wide] = [(Some(64), Some(2.0)), (Some(128), Some(1.0))];
        assert_eq!(found, [narrow, narrow, wide, wide]);
        let text = table(&rows);
        assert!(text.contains("width") && text.contains("128"), "{text}");
        // Scenes with pictures of different sizes are comparable by their ratios.
        rows[1].key.scene = "b".to_owned();
        assert!(summaries(&rows).iter().all(|summary| summary.width.is_none()));
    }
}
