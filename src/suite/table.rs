//! A suite of views: a row of results a view, and the table over all of them beside the published
//! figures.

use serde::Serialize;

use super::row::Row;
use crate::gpu::variant::Variant;
use crate::report::ratios::ratio;
use crate::report::table::{TextTable, or_dash};

/// VR-Pipe, section VI: figures 16 (speedups) and 18 (fragments and quads blended).
pub(crate) mod published {
    /// Mean speedup of early termination.
    pub(crate) const HET_SPEEDUP: f64 = 1.80;
    /// Greatest speedup of quad merging.
    pub(crate) const QM_SPEEDUP_MAX: f64 = 1.49;
    /// Mean speedup of both.
    pub(crate) const HET_QM_SPEEDUP: f64 = 2.07;
    /// Greatest speedup of both (abstract).
    pub(crate) const HET_QM_SPEEDUP_MAX: f64 = 2.78;
    /// Fragments blended: baseline over early termination.
    pub(crate) const FRAGMENTS_HET: f64 = 2.52;
    /// Fragments blended: early termination over both.
    pub(crate) const FRAGMENTS_QM_ON_TOP: f64 = 1.30;
    /// Quads blended: baseline over early termination.
    pub(crate) const QUADS_HET: f64 = 1.90;
    /// Quads blended: early termination over both.
    pub(crate) const QUADS_QM_ON_TOP: f64 = 1.32;
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measure {
    Cycles,
    FragmentCounts,
    QuadCounts,
}

/// A column of the table: what `from` needs over what `to` needs.
#[derive(Debug, Clone)]
struct Metric {
    of: Measure,
    from: String,
    to: String,
}

impl Metric {
    fn new(of: Measure, from: Variant, to: Variant) -> Self {
        Self {
            of,
            from: from.to_string(),
            to: to.to_string(),
        }
    }

    /// Its value for a view.
    fn of(&self, row: &Row) -> Option<f64> {
        let count = |name: &str| {
            row.variant(name).map(|v| match self.of {
                Measure::Cycles => v.cycles,
                Measure::FragmentCounts => v.fragments.blended,
                Measure::QuadCounts => v.quads.blended,
            })
        };
        ratio(count(&self.from)?, count(&self.to)?)
    }

    /// The published mean and maximum.
    fn published(&self) -> [Option<f64>; 2] {
        use published as p;
        match (self.of, self.from.as_str(), self.to.as_str()) {
            (Measure::Cycles, "baseline", "het") => [Some(p::HET_SPEEDUP), None],
            (Measure::Cycles, "baseline", "qm") => [None, Some(p::QM_SPEEDUP_MAX)],
            (Measure::Cycles, "baseline", "het+qm") => {
                [Some(p::HET_QM_SPEEDUP), Some(p::HET_QM_SPEEDUP_MAX)]
            }
            (Measure::FragmentCounts, "baseline", "het") => [Some(p::FRAGMENTS_HET), None],
            (Measure::FragmentCounts, "het", "het+qm") => [Some(p::FRAGMENTS_QM_ON_TOP), None],
            (Measure::QuadCounts, "baseline", "het") => [Some(p::QUADS_HET), None],
            (Measure::QuadCounts, "het", "het+qm") => [Some(p::QUADS_QM_ON_TOP), None],
            _ => [None, None],
        }
    }

    fn group(&self) -> &'static str {
        match self.of {
            Measure::Cycles => "speedup",
            Measure::FragmentCounts => "fragments",
            Measure::QuadCounts => "quads",
        }
    }

    fn label(&self) -> String {
        if self.from == "baseline" {
            self.to.clone()
        } else {
            "qm on top".to_owned()
        }
    }
}

/// Mean, minimum and maximum of a column over the views of a scene.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Statistic {
    /// `speedup`, `fragments` or `quads`.
    pub measure: &'static str,
    /// The variant whose need is divided by `to`'s.
    pub from: String,
    /// See `from`.
    pub to: String,
    /// Arithmetic mean; `None`, as the others, where no view has the ratio.
    pub mean: Option<f64>,
    /// Minimum.
    pub min: Option<f64>,
    /// Maximum.
    pub max: Option<f64>,
    /// The published mean.
    pub published_mean: Option<f64>,
    /// The published maximum.
    pub published_max: Option<f64>,
}

/// The statistics of a scene, or of all.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Summary {
    /// The scene; `None` for all views of all scenes.
    pub scene: Option<String>,
    /// Views.
    pub views: usize,
    /// A statistic a column.
    pub statistics: Vec<Statistic>,
}

/// The columns that `rows` can fill.
fn metrics(rows: &[Row]) -> Vec<Metric> {
    use Measure::{Cycles, FragmentCounts, QuadCounts};
    use Variant as V;
    let mut all: Vec<_> = V::ALL[1..]
        .iter()
        .map(|v| Metric::new(Cycles, V::BASELINE, *v))
        .collect();
    all.extend([
        Metric::new(FragmentCounts, V::BASELINE, V::HET),
        Metric::new(FragmentCounts, V::HET, V::HET_QM),
        Metric::new(QuadCounts, V::BASELINE, V::HET),
        Metric::new(QuadCounts, V::HET, V::HET_QM),
        Metric::new(QuadCounts, V::BASELINE, V::QM),
    ]);
    all.retain(|metric| rows.iter().any(|row| metric.of(row).is_some()));
    all
}

#[allow(clippy::cast_precision_loss, reason = "a number of views")]
fn summary(scene: Option<&str>, rows: &[&Row], metrics: &[Metric]) -> Summary {
    let statistic = |metric: &Metric| {
        let values: Vec<f64> = rows.iter().filter_map(|row| metric.of(row)).collect();
        let some = !values.is_empty();
        let [published_mean, published_max] = metric.published();
        Statistic {
            measure: metric.group(),
            from: metric.from.clone(),
            to: metric.to.clone(),
            mean: some.then(|| values.iter().sum::<f64>() / values.len() as f64),
            min: values.iter().copied().reduce(f64::min),
            max: values.iter().copied().reduce(f64::max),
            published_mean,
            published_max,
        }
    };
    Summary {
        scene: scene.map(str::to_owned),
        views: rows.len(),
        statistics: metrics.iter().map(statistic).collect(),
    }
}

/// The statistics of each scene, in order of appearance, and of all views together.
pub(crate) fn summaries(rows: &[Row]) -> Vec<Summary> {
    let metrics = metrics(rows);
    let mut scenes: Vec<&str> = Vec::new();
    for row in rows {
        if !scenes.contains(&row.scene.as_str()) {
            scenes.push(&row.scene);
        }
    }
    let mut all: Vec<_> = scenes
        .iter()
        .map(|scene| {
            let rows: Vec<_> = rows.iter().filter(|r| r.scene == *scene).collect();
            summary(Some(scene), &rows, &metrics)
        })
        .collect();
    all.push(summary(None, &rows.iter().collect::<Vec<_>>(), &metrics));
    all
}

/// Below the table.
const LEGEND: &str = "speedup: cycles of the baseline over the variant's. fragments het: blended by the baseline over by
het, the termination ratio; quads qm: the merge ratio; qm on top: het over het+qm. published:
VR-Pipe, section VI, figures 16 and 18.
";

/// The table: mean, minimum and maximum of every scene, of all views, and what was published.
pub(crate) fn table(rows: &[Row]) -> String {
    let (metrics, summaries) = (metrics(rows), summaries(rows));
    let columns: Vec<_> = metrics
        .iter()
        .map(|m| format!("{}\n{}", m.group(), m.label()))
        .collect();
    let columns = columns.iter().map(String::as_str);
    let headings: Vec<_> = ["<\nscene", "\nviews", "<"]
        .into_iter()
        .chain(columns)
        .collect();
    let mut table = TextTable::new(&headings);
    let mut line = |name: &str, views: &str, what: &str, values: Vec<Option<f64>>| {
        let values = values
            .into_iter()
            .map(|v| or_dash(v, |v| format!("{v:.3}")));
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
    for (i, what) in ["mean", "max"].into_iter().enumerate() {
        let values = metrics.iter().map(|m| m.published()[i]).collect();
        line(if i == 0 { "published" } else { "" }, "", what, values);
    }
    format!("{table}{LEGEND}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::outcome_counts::{FragmentCounts, QuadCounts};
    use crate::suite::row::{RowKey, VariantRow};
    use std::time::Duration;

    fn row(scene: &str, view: &str, cycles: [u64; 3]) -> Row {
        let key = RowKey {
            scene: scene.to_owned(),
            view: view.to_owned(),
            width: 8,
            height: 8,
            variants: Vec::new(),
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
            limit: None,
        });
        Row::new(&key, 1, variants.collect(), Duration::ZERO)
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
        assert_eq!(het.published_mean, Some(published::HET_SPEEDUP));
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
