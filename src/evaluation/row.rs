//! Rows of a comparison.

use serde::{Deserialize, Serialize};

use quadrille_base::error::Error;
use quadrille_base::image::metrics::Comparison;

use super::lpips::LpipsDistances;
use super::pairing::PairName;

/// The result of a pair of pictures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairRow {
    /// The pair, and the files that it comes from.
    #[serde(flatten)]
    pub pair: PairName,
    /// Metrics of the colours.
    #[serde(flatten)]
    pub comparison: Comparison,
    /// Perceptual distances, as far as they were requested.
    #[serde(flatten)]
    pub lpips: LpipsDistances,
    /// SSIMULACRA 2.1, up to 100, if it was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssimulacra2: Option<f64>,
    /// Share of the pixels that count, 0 to 1; `None` without a mask.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mask_share: Option<f64>,
    /// Path of the difference picture, if it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

impl PairRow {
    /// Mark of numbers that are not of all pixels as the files hold them; `None` if all pixels are finite.
    pub(super) fn mark(&self) -> Option<String> {
        let pixels = self.comparison.non_finite_pixels;
        (pixels > 0).then(|| format!("pixels that are NaN or infinite: {pixels}"))
    }
}

/// A pair that could not be compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnmeasuredRow {
    /// The pair, and the files that it comes from.
    #[serde(flatten)]
    pub pair: PairName,
    /// Reason why the pair could not be compared.
    pub error: String,
    /// Whether the view shows nothing, so that there is nothing to compare.
    #[serde(skip)]
    pub is_blank: bool,
}

impl UnmeasuredRow {
    /// Creates the row of a pair whose comparison ended in `error`.
    pub fn new(pair: &PairName, error: &Error) -> Self {
        Self {
            pair: pair.clone(),
            error: match error {
                Error::Malformed { expected, found, .. } => {
                    format!("expected {expected}, found {found}")
                }
                other => other.to_string(),
            },
            is_blank: false,
        }
    }

    /// Creates the row of a view that shows nothing, with the warning about it.
    pub fn blank(pair: &PairName, warning: String) -> Self {
        Self { pair: pair.clone(), error: warning, is_blank: true }
    }
}
