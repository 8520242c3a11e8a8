//! What was measured, as JSON or as a table.

use std::path::Path;

use serde::Serialize;

use super::PicturePair;
use crate::image::metrics::{Comparison, Protocol};

/// One pair's numbers.
#[derive(Debug, Serialize)]
pub(super) struct Measured {
    name: String,
    a: String,
    b: String,
    #[serde(flatten)]
    pub(super) comparison: Comparison,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
}

impl Measured {
    pub(super) fn new(pair: &PicturePair, comparison: Comparison, diff: Option<&Path>) -> Self {
        let text = |path: &Path| path.display().to_string();
        Self {
            name: pair.name.clone(),
            a: text(&pair.a),
            b: text(&pair.b),
            comparison,
            diff: diff.map(text),
        }
    }
}

/// Arithmetic means over the pairs.
#[derive(Debug, Serialize)]
struct Mean {
    /// Over the pairs that have one; null when all are identical.
    psnr_db: Option<f64>,
    ssim: f64,
    flip: f64,
    max_abs: f64,
    p99_9_abs: f64,
    mse: f64,
    alpha_max_abs: f64,
    /// How many pairs have no PSNR, being identical.
    identical: usize,
}

/// All pairs' numbers.
#[derive(Debug, Serialize)]
pub(super) struct Results {
    protocol: Protocol,
    pairs: Vec<Measured>,
    mean: Mean,
}

impl Results {
    /// The results of at least one pair.
    pub(super) fn new(protocol: Protocol, pairs: Vec<Measured>) -> Self {
        let psnrs: Vec<f64> = pairs.iter().filter_map(|p| p.comparison.psnr_db).collect();
        let over_pairs = |number: fn(&Comparison) -> f64| {
            mean(pairs.iter().map(|pair| number(&pair.comparison))).unwrap_or_default()
        };
        let mean = Mean {
            psnr_db: mean(psnrs.iter().copied()),
            ssim: over_pairs(|c| c.ssim),
            flip: over_pairs(|c| c.flip),
            max_abs: over_pairs(|c| c.max_abs),
            p99_9_abs: over_pairs(|c| c.p99_9_abs),
            mse: over_pairs(|c| c.mse),
            alpha_max_abs: over_pairs(|c| c.alpha_max_abs),
            identical: pairs.len() - psnrs.len(),
        };
        Self {
            protocol,
            pairs,
            mean,
        }
    }

    /// The names of the pairs whose PSNR is below `least_db`.
    pub(super) fn under_psnr(&self, least_db: f64) -> impl Iterator<Item = &str> {
        let is_under =
            move |pair: &&Measured| pair.comparison.psnr_db.is_some_and(|db| db < least_db);
        self.pairs
            .iter()
            .filter(is_under)
            .map(|pair| pair.name.as_str())
    }

    /// One JSON document and a line feed.
    pub(super) fn json(&self) -> String {
        // Cannot fail: string keys, and numbers only.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// A table with a row a pair and, for several, one of means; then what the numbers mean.
    pub(super) fn table(&self) -> String {
        let head = [
            "",
            "PSNR dB",
            "SSIM",
            "FLIP",
            "max",
            "p99.9",
            "MSE",
            "alpha max",
        ];
        let mut rows = vec![head.map(str::to_owned)];
        rows.extend(self.pairs.iter().map(|pair| {
            let c = &pair.comparison;
            row(
                &pair.name,
                c.psnr_db,
                [
                    c.ssim,
                    c.flip,
                    c.max_abs,
                    c.p99_9_abs,
                    c.mse,
                    c.alpha_max_abs,
                ],
            )
        }));
        let m = &self.mean;
        if self.pairs.len() > 1 {
            rows.push(row(
                "mean",
                m.psnr_db,
                [
                    m.ssim,
                    m.flip,
                    m.max_abs,
                    m.p99_9_abs,
                    m.mse,
                    m.alpha_max_abs,
                ],
            ));
        }
        let mut text = aligned(&rows);
        let meaning = match self.protocol {
            Protocol::Inria => "clamped and rounded to 8 bits",
            Protocol::Float => "neither clamped nor rounded",
        };
        text += &format!(
            "protocol {}: RGB over black, {meaning}",
            self.protocol.name()
        );
        if self.pairs.len() > 1 && m.identical > 0 {
            text += &format!("; {} identical, left out of the mean PSNR", m.identical);
        }
        text.push('\n');
        text
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    (count > 0.0).then(|| sum / count)
}

/// A row: name, PSNR, then SSIM, FLIP, maximum, percentile, mean square and alpha.
fn row(name: &str, psnr_db: Option<f64>, numbers: [f64; 6]) -> [String; 8] {
    let [ssim, flip, max, percentile, mse, alpha] = numbers;
    [
        name.to_owned(),
        psnr_db.map_or_else(|| "identical".to_owned(), |db| format!("{db:.3}")),
        format!("{ssim:.6}"),
        format!("{flip:.6}"),
        format!("{max:.6}"),
        format!("{percentile:.6}"),
        format!("{mse:.3e}"),
        format!("{alpha:.6}"),
    ]
}

/// Columns two blanks apart, the first to the left, the others to the right.
fn aligned(rows: &[[String; 8]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths = [0, 1, 2, 3, 4, 5, 6, 7].map(|column| width(column).unwrap_or(0));
    let mut text = String::new();
    for row in rows {
        text += &format!("{:<1$}", row[0], widths[0]);
        for (cell, width) in row.iter().zip(widths).skip(1) {
            text += &format!("  {cell:>width$}");
        }
        text.push('\n');
    }
    text
}
