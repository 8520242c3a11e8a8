//! Results of comparisons, as JSON or as a table.

use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};

use super::pairs::PicturePair;
use crate::cli::summary::Summary;
use quadrille_base::error::Error;
use quadrille_base::image::metrics::{Comparison, Protocol};

/// The result of a pair.
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

/// A pair that could not be compared.
#[derive(Debug, Serialize)]
pub(super) struct Unmeasured {
    name: String,
    a: String,
    b: String,
    error: String,
}

impl Unmeasured {
    pub(super) fn new(pair: &PicturePair, error: &Error) -> Self {
        let text = |path: &Path| path.display().to_string();
        Self {
            name: pair.name.clone(),
            a: text(&pair.a),
            b: text(&pair.b),
            error: match error {
                Error::Malformed {
                    expected, found, ..
                } => format!("expected {expected}, found {found}"),
                other => other.to_string(),
            },
        }
    }
}

/// The results of at least one pair.
#[derive(Debug)]
pub(super) struct Results {
    pub(super) protocol: Protocol,
    /// Colour behind both pictures.
    pub(super) background: [f32; 3],
    pub(super) pairs: Vec<Measured>,
    pub(super) unmeasured: Vec<Unmeasured>,
}

impl Results {
    pub(super) fn summary(&self) -> Summary<'_> {
        let pairs = self.pairs.iter();
        pairs
            .map(|pair| (pair.name.as_str(), &pair.comparison))
            .collect()
    }

    pub(super) fn json(&self) -> Value {
        let mut document = json!({
            "protocol": self.protocol,
            "background": self.background,
            "pairs": self.pairs,
            "mean": self.summary().mean(),
        });
        if !self.unmeasured.is_empty() {
            document["not_compared"] = json!(self.unmeasured);
        }
        document
    }

    /// Formats a row per pair, the means of several pairs, and a line about the protocol.
    pub(super) fn table(&self) -> String {
        let others = self.unmeasured.iter();
        let others = others.map(|pair| [pair.name.as_str(), pair.error.as_str()]);
        self.summary()
            .table((self.protocol, self.background), others)
    }
}
