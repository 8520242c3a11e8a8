//! What was measured, as JSON or as a table.

use std::path::Path;

use serde::Serialize;

use super::pairs::PicturePair;
use crate::image::metrics::{Comparison, Protocol};
use crate::report::table::{TextTable, shortened};

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

    /// A table with a row a pair and, for several, one of means; then what the numbers mean.
    pub(super) fn table(&self) -> String {
        let mut table = TextTable::new(&[
            "<",
            "PSNR dB",
            "SSIM",
            "FLIP",
            "max",
            "p99.9",
            "MSE",
            "alpha max",
        ]);
        for pair in &self.pairs {
            let c = &pair.comparison;
            let middle = [c.ssim, c.flip, c.max_abs, c.p99_9_abs];
            table.row(row(
                &shortened(&pair.name),
                c.psnr_db,
                middle,
                c.mse,
                c.alpha_max_abs,
            ));
        }
        let m = &self.mean;
        if self.pairs.len() > 1 {
            let middle = [m.ssim, m.flip, m.max_abs, m.p99_9_abs];
            table.row(row("mean", m.psnr_db, middle, m.mse, m.alpha_max_abs));
        }
        let mut text = table.to_string();
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

/// A row: name, PSNR, then SSIM, FLIP, maximum and percentile, mean square, alpha.
fn row(name: &str, psnr_db: Option<f64>, middle: [f64; 4], mse: f64, alpha: f64) -> [String; 8] {
    let psnr = psnr_db.map_or_else(|| "identical".to_owned(), |db| format!("{db:.3}"));
    let [ssim, flip, max, percentile] = middle.map(|number| format!("{number:.6}"));
    let (mse, alpha) = (format!("{mse:.3e}"), format!("{alpha:.6}"));
    [
        name.to_owned(),
        psnr,
        ssim,
        flip,
        max,
        percentile,
        mse,
        alpha,
    ]
}
