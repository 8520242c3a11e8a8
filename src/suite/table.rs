//! Statistics over the rows of a suite, beside the published figures.

use serde::Serialize;

use super::row::Row;
use crate::report::ratios::ratio;
use crate::report::table::{TextTable, or_dash, shortened};

/// A column of the table: a count of the variant `from` divided by that of `to`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Metric {
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
    Metric {
        measure,
        from,
        to,
        published_mean,
        published_max,
    }
}

const METRICS: [Metric; 9] = [
    metric("speedup", "baseline", "qm", [None, Some(1.49)]),
    metric("speedup", "baseline", "het", [Some(1.80), None]),
    metric("speedup", "baseline", "het+qm", [Some(2.07), Some(2.78)]),
    metric("speedup", "baseline", "tgc", [None; 2]),
    metric("fragments", "baseline", "het", [Some(2.52), None]),
    metric("fragments", "het", "het+qm", [Some(1.30), None]),
    metric("quads", "baseline", "het", [Some(1.90), None]),
    metric("quads", "het", "het+qm", [Some(1.32), None]),
    metric("quads", "baseline", "qm", [None; 2]),
];

impl Metric {
    /// Value of the column for a view.
    fn of(&self, row: &Row) -> Option<f64> {
        let count = |name: &str| {
            row.variant(name).map(|v| match self.measure {
                "fragments" => v.fragments.blended,
                "quads" => v.quads.blended,
                _ => v.cycles,
            })
        };
        ratio(count(self.from)?, count(self.to)?)
    }

    fn label(&self) -> &'static str {
        if self.from == "baseline" {
            self.to
        } else {
            "qm on top"
        }
    }
}

/// Arithmetic mean, minimum and maximum of a column; `None` if no view has a value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Statistic {
    #[serde(flatten)]
    pub metric: Metric,
    pub mean: Option<f64>,
    pub min: Option<f64>,
    pub max: Option<f64>,
}

/// The statistics of a scene or of all scenes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Summary {
    /// Name of the scene; `None` for all views of all scenes.
    pub scene: Option<String>,
    /// Number of views.
    pub views: usize,
    /// Statistics by column.
    pub statistics: Vec<Statistic>,
}

fn summary(scene: Option<&str>, rows: &[&Row], metrics: &[Metric]) -> Summary {
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
    Summary {
        scene: scene.map(str::to_owned),
        views: rows.len(),
        statistics: metrics.iter().map(statistic).collect(),
    }
}

/// The statistics of each scene, in order of appearance, and of all views.
pub(crate) fn summaries(rows: &[Row]) -> Vec<Summary> {
    let fills = |metric: &Metric| rows.iter().any(|row| metric.of(row).is_some());
    let metrics: Vec<_> = METRICS.into_iter().filter(fills).collect();
    let mut scenes: Vec<&str> = Vec::new();
    for row in rows {
        if !scenes.contains(&row.key.scene.as_str()) {
            scenes.push(&row.key.scene);
        }
    }
    let mut all: Vec<_> = scenes
        .iter()
        .map(|scene| {
            let rows: Vec<_> = rows.iter().filter(|r| r.key.scene == *scene).collect();
            summary(Some(scene), &rows, &metrics)
        })
        .collect();
    all.push(summary(None, &rows.iter().collect::<Vec<_>>(), &metrics));
    all
}

const LEGEND: &str = "\
Each column divides a count of the baseline by that of the variant: speedup, cycles; fragments and
quads, those blended (of het, the termination ratio; of qm, the merge ratio). qm on top divides het
by het+qm. Published figures: VR-Pipe, section VI, figures 16 and 18.
";

/// Formats mean, minimum and maximum of every scene and of all views, and the published figures.
pub(crate) fn table(rows: &[Row]) -> String {
    let summaries = summaries(rows);
    if summaries.first().is_none_or(|s| s.statistics.is_empty()) {
        return cycles_table(rows);
    }
    let metrics: Vec<_> = summaries[0].statistics.iter().map(|s| s.metric).collect();
    let columns = metrics.iter();
    let columns: Vec<_> = columns
        .map(|m| format!("{}\n{}", m.measure, m.label()))
        .collect();
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
    let published = |of: fn(&Metric) -> Option<f64>| metrics.iter().map(of).collect();
    line("published", "", "mean", published(|m| m.published_mean));
    line("", "", "max", published(|m| m.published_max));
    format!("{table}{LEGEND}")
}

/// Formats the cycles of every view, for variants without a ratio.
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
    use crate::gpu::outcome_counts::{FragmentCounts, QuadCounts};
    use crate::suite::row::{RowKey, RowSettings, VariantRow, ViewKey};
    use std::time::Duration;

    fn row(scene: &str, view: &str, cycles: [u64; 3]) -> Row {
        let key = RowKey {
            scene: scene.to_owned(),
            view: ViewKey {
                name: view.to_owned(),
                width: 8,
                height: 8,
            },
            fingerprint: String::new(),
        };
        let variants = ["baseline", "het", "het+qm"].iter().zip(cycles);
        let variants = variants.map(|(name, cycles)| VariantRow {
            name: (*name).to_owned(),
            cycles,
            frame_ms: 0.0,
            fragments: FragmentCounts {
                blended: cycles * 2,
                ..FragmentCounts::default()
            },
            quads: QuadCounts::default(),
            warps: 0,
            critical_unit: None,
            critical_occupancy: None,
        });
        Row::new(
            &key,
            &RowSettings::default(),
            1,
            variants.collect(),
            Duration::ZERO,
        )
    }

    #[test]
    fn ratios_and_statistics_worked_by_hand() {
        let rows = [
            row("a", "0", [600, 300, 200]),
            row("a", "1", [600, 150, 150]),
        ];
        assert_eq!(rows[0].ratios["het"].speedup, Some(2.0));
        assert_eq!(rows[0].ratios["het+qm"].quads, None);
        assert_eq!(rows[1].termination_ratio, Some(4.0));
        assert_eq!(rows[1].merge_ratio, None);
        let all = summaries(&rows);
        assert_eq!(all.len(), 2);
        let het = &all[0].statistics[0];
        assert_eq!(
            (het.mean, het.min, het.max),
            (Some(3.0), Some(2.0), Some(4.0))
        );
        assert_eq!(het.metric.published_mean, Some(1.80));
        let text = table(&rows);
        for word in ["published", "1.800", "2.780", "qm on top", "3.000"] {
            assert!(text.contains(word), "{word}: {text}");
        }
    }

    #[test]
    fn rows_read_back() {
        let row = row("a", "0", [600, 300, 200]);
        let text = serde_json::to_string(&row).unwrap();
        assert_eq!(serde_json::from_str::<Row>(&text).unwrap(), row);
    }
}
