//! Statistics over the rows of a suite, beside the published figures.

use std::collections::BTreeMap;

use serde::Serialize;

use super::row::Row;
use super::sweep_table::{self, configuration_of, groups};
use crate::report::ratios::ratio;
use crate::report::table::{TextTable, or_dash, shortened};

/// A column of the table: the ratio of a count between the variants `from` and `to`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Metric {
    /// `speedup` (cycles), `fragments` or `quads` (both blended).
    measure: &'static str,
    from: &'static str,
    to: &'static str,
    /// VR-Pipe, section VI, figures 16 (speedups) and 18 (fragments and quads).
    published_mean: Option<f64>,
    /// As the mean; the maximum speedup of het+qm is from the abstract.
    published_max: Option<f64>,
}

const fn metric(
    measure: &'static str,
    from: &'static str,
    to: &'static str,
    [published_mean, published_max]: [Option<f64>; 2],
) -> Metric {
    Metric { measure, from, to, published_mean, published_max }
}

const METRICS: [Metric; 11] = [
    metric("speedup", "baseline", "qru", [None; 2]),
    metric("speedup", "baseline", "qm", [None, Some(1.49)]),
    metric("speedup", "baseline", "het", [Some(1.80), None]),
    metric("speedup", "baseline", "het+qru", [None; 2]),
    metric("speedup", "baseline", "het+qm", [Some(2.07), Some(2.78)]),
    metric("speedup", "baseline", "tgc", [None; 2]),
    metric("fragments", "baseline", "het", [Some(2.52), None]),
    metric("fragments", "het", "het+qm", [Some(1.30), None]),
    metric("quads", "baseline", "het", [Some(1.90), None]),
    metric("quads", "het", "het+qm", [Some(1.32), None]),
    metric("quads", "baseline", "qm", [None; 2]),
];

/// VR-Pipe, Table II.
const PAPER_SCENES: [&str; 6] = ["kitchen", "bonsai", "train", "truck", "lego", "palace"];

/// Whether a scene has the name of a scene of the VR-Pipe paper.
pub fn is_paper_scene(name: &str) -> bool {
    PAPER_SCENES.iter().any(|scene| scene.eq_ignore_ascii_case(name))
}

impl Metric {
    fn of(&self, row: &Row) -> Option<f64> {
        let count = |name: &str| {
            row.method(name)?.count(match self.measure {
                "fragments" => "fragments.blended",
                "quads" => "quads.blended",
                _ => "cycles",
            })
        };
        ratio(count(self.from)?, count(self.to)?)
    }

    fn label(&self) -> &'static str {
        if self.from == "baseline" { self.to } else { "qm on top" }
    }
}

/// Arithmetic mean, minimum and maximum of a column; `None` if no view has a value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Statistic {
    /// Metric that the values belong to.
    #[serde(flatten)]
    pub metric: Metric,
    /// Arithmetic mean over views.
    pub mean: Option<f64>,
    /// Least value.
    pub min: Option<f64>,
    /// Greatest value.
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
    /// Name of the scene; `None` for all views of all scenes.
    pub scene: Option<String>,
    /// Number of views.
    pub views: usize,
    /// Statistics by column.
    pub statistics: Vec<Statistic>,
}

fn summary(scene: Option<&str>, rows: &[&Row], metrics: &[Metric]) -> SceneSummary {
    let statistic = |metric: &Metric| {
        let values: Vec<f64> = rows.iter().filter_map(|row| metric.of(row)).collect();
        let sum = values.iter().sum::<f64>();
        Statistic {
            metric: *metric,
            mean: (!values.is_empty()).then(|| sum / values.len() as f64),
            min: values.iter().copied().reduce(f64::min),
            max: values.iter().copied().reduce(f64::max),
        }
    };
    let key = rows.first().map(|row| &row.key);
    SceneSummary {
        configuration: key.and_then(|key| key.configuration.clone()),
        preset: key.map_or(String::new(), |key| key.preset.clone()),
        changed: key.map_or(BTreeMap::new(), |key| key.changed.clone()),
        scene: scene.map(str::to_owned),
        views: rows.len(),
        statistics: metrics.iter().map(statistic).collect(),
    }
}

/// The statistics of each scene, in order of appearance, and of all views, for each configuration.
pub fn summaries(rows: &[Row]) -> Vec<SceneSummary> {
    let fills = |metric: &Metric| rows.iter().any(|row| metric.of(row).is_some());
    let metrics: Vec<_> = METRICS.into_iter().filter(fills).collect();
    let of_configuration = |rows: &[&Row]| {
        let scenes = groups(rows, |row| row.key.scene.as_str());
        let scenes = scenes.iter();
        let mut all: Vec<_> =
            scenes.map(|(scene, rows)| summary(Some(scene), rows, &metrics)).collect();
        all.push(summary(None, rows, &metrics));
        all
    };
    if rows.is_empty() {
        return of_configuration(&[]);
    }
    let rows: Vec<_> = rows.iter().collect();
    let configurations = groups(&rows, configuration_of);
    let all = configurations.iter().flat_map(|(_, rows)| of_configuration(rows));
    all.collect()
}

const LEGEND: &str = "\
Each column divides a count of the baseline by that of the variant: speedup, cycles; fragments and
quads, those blended (of het, the termination ratio; of qm, the merge ratio). qm on top divides het
by het+qm. Published figures: VR-Pipe, section VI, figures 16 and 18.
";

/// Formats mean, minimum and maximum of every scene and of all views, and the published figures beside a scene of the
/// paper; rows of several configurations are formatted as a sweep.
pub fn table(rows: &[Row]) -> String {
    if sweep_table::is_sweep(rows) {
        return sweep_table::table(rows, "scene");
    }
    let summaries = summaries(rows);
    if summaries.first().is_none_or(|s| s.statistics.is_empty()) {
        return cycles_table(rows);
    }
    let metrics: Vec<_> = summaries[0].statistics.iter().map(|s| s.metric).collect();
    let columns = metrics.iter();
    let columns: Vec<_> = columns.map(|m| format!("{}\n{}", m.measure, m.label())).collect();
    let columns = columns.iter().map(String::as_str);
    let labels = ["<\nscene", "\nviews", "<"].into_iter();
    let mut table = TextTable::new(&labels.chain(columns).collect::<Vec<_>>());
    let mut line = |name: &str, views: &str, what: &str, values: Vec<Option<f64>>| {
        let values = values.into_iter();
        let values = values.map(|v| or_dash(v, |v| format!("{v:.3}")));
        let labels = [name, views, what].map(str::to_owned);
        table.row(labels.into_iter().chain(values));
    };
    for summary in &summaries {
        let name = summary.scene.as_deref().unwrap_or("all views");
        let values =
            |of: fn(&Statistic) -> Option<f64>| summary.statistics.iter().map(of).collect();
        line(name, &summary.views.to_string(), "mean", values(|s| s.mean));
        line("", "", "min", values(|s| s.min));
        line("", "", "max", values(|s| s.max));
    }
    if !rows.iter().any(|row| is_paper_scene(&row.key.scene)) {
        return table.to_string();
    }
    let published = |of: fn(&Metric) -> Option<f64>| metrics.iter().map(of).collect();
    line("published", "", "mean", published(|m| m.published_mean));
    line("", "", "max", published(|m| m.published_max));
    format!("{table}{LEGEND}")
}

fn cycles_table(rows: &[Row]) -> String {
    let variants = rows.first().into_iter().flat_map(|row| &row.variants);
    let names: Vec<_> = variants.map(|v| format!("cycles\n{}", v.name)).collect();
    let names = names.iter().map(String::as_str);
    let headings: Vec<_> = ["<\nscene", "<\nview"].into_iter().chain(names).collect();
    let mut table = TextTable::new(&headings);
    for row in rows {
        let labels = [row.key.scene.clone(), shortened(&row.key.view.name)];
        let cycles = row.variants.iter().map(|v| v.cycles.to_string());
        table.row(labels.into_iter().chain(cycles));
    }
    format!("{table}Ratios need the variant baseline besides the others.\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::row;

    #[test]
    fn statistics_worked_by_hand() {
        let rows = [row("a", "0", [600, 300, 200]), row("a", "1", [600, 150, 150])];
        let all = summaries(&rows);
        assert_eq!(all.len(), 2);
        let het = &all[0].statistics[0];
        assert_eq!((het.mean, het.min, het.max), (Some(3.0), Some(2.0), Some(4.0)));
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
}
