//! Columns of the tables: metrics, their number formats, and whether greater numbers are better.

use super::row::PairRow;

/// Column of a metric in tables.
#[derive(Debug, Clone, Copy)]
pub struct MetricColumn {
    /// Key in JSON and CSV.
    pub key: &'static str,
    /// Heading in tables.
    pub heading: &'static str,
    /// Whether greater numbers are better.
    pub is_higher_better: bool,
    /// Whether papers print the metric.
    pub is_in_papers: bool,
    /// Number of the metric in a row; `None` if it was not measured or, for PSNR, if the pictures are identical.
    pub value: fn(&PairRow) -> Option<f64>,
    style: Style,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Decibels,
    Score,
    Unit,
    Exponent,
}

const fn unit(
    key: &'static str,
    heading: &'static str,
    value: fn(&PairRow) -> Option<f64>,
) -> MetricColumn {
    MetricColumn {
        key,
        heading,
        is_higher_better: false,
        is_in_papers: false,
        value,
        style: Style::Unit,
    }
}

const fn printed(column: MetricColumn) -> MetricColumn {
    MetricColumn { is_in_papers: true, ..column }
}

const ALL: [MetricColumn; 11] = [
    MetricColumn {
        is_higher_better: true,
        style: Style::Decibels,
        ..printed(unit("psnr_db", "PSNR dB", |r| r.comparison.psnr_db))
    },
    MetricColumn {
        is_higher_better: true,
        ..printed(unit("ssim", "SSIM", |r| Some(r.comparison.ssim)))
    },
    printed(unit("lpips_vgg", "LPIPS VGG", |r| r.lpips.lpips_vgg)),
    printed(unit("lpips_alex", "LPIPS Alex", |r| r.lpips.lpips_alex)),
    printed(unit("lpips_vgg_scaled", "LPIPS VGG ±1", |r| r.lpips.lpips_vgg_scaled)),
    MetricColumn {
        is_higher_better: true,
        style: Style::Score,
        ..printed(unit("ssimulacra2", "SSIMULACRA2", |r| r.ssimulacra2))
    },
    unit("flip", "FLIP", |r| Some(r.comparison.flip)),
    unit("max_abs", "max", |r| Some(r.comparison.max_abs)),
    unit("p99_9_abs", "p99.9", |r| Some(r.comparison.p99_9_abs)),
    MetricColumn { style: Style::Exponent, ..unit("mse", "MSE", |r| Some(r.comparison.mse)) },
    unit("alpha_max_abs", "alpha max", |r| Some(r.comparison.alpha_max_abs)),
];

impl MetricColumn {
    /// Returns the columns of tables: of LPIPS and SSIMULACRA2 the keys in `requested`, and alpha if `has_alpha`, since photos
    /// have no alpha.
    pub fn shown(requested: &[&str], has_alpha: bool) -> Vec<Self> {
        let is_shown = |column: &Self| match column.key {
            "alpha_max_abs" => has_alpha,
            key if key == "ssimulacra2" || key.starts_with("lpips") => requested.contains(&key),
            _ => true,
        };
        ALL.into_iter().filter(is_shown).collect()
    }

    /// Whether the metric is PSNR, which is undefined for identical pictures.
    pub(crate) fn is_psnr(&self) -> bool {
        self.style == Style::Decibels
    }

    /// Formats a number in the digits of tables.
    pub fn text(&self, value: Option<f64>) -> String {
        match (value, self.style) {
            (None, Style::Decibels) => "identical".to_owned(),
            (None, _) => "-".to_owned(),
            (Some(number), Style::Decibels | Style::Score) => format!("{number:.3}"),
            (Some(number), Style::Unit) => format!("{number:.6}"),
            (Some(number), Style::Exponent) => format!("{number:.3e}"),
        }
    }

    /// Formats a number in the digits of papers.
    pub(crate) fn short_text(&self, value: Option<f64>) -> String {
        match (value, self.style) {
            (Some(number), Style::Decibels | Style::Score) => format!("{number:.2}"),
            (Some(number), Style::Unit) => format!("{number:.4}"),
            _ => self.text(value),
        }
    }
}
