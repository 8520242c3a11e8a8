//! Results of comparisons, as JSON or as a table.

use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::pairs::PicturePair;
use quadrille_base::error::Error;
use quadrille_base::image::metrics::{Comparison, Protocol};
use quadrille_suite::report::table::{TextTable, shortened};

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

/// A metric besides PSNR: key in JSON, heading, value and format.
type Metric = (
    &'static str,
    &'static str,
    fn(&Comparison) -> f64,
    fn(f64) -> String,
);

const METRICS: [Metric; 6] = [
    ("ssim", "SSIM", |c| c.ssim, six_decimals),
    ("flip", "FLIP", |c| c.flip, six_decimals),
    ("max_abs", "max", |c| c.max_abs, six_decimals),
    ("p99_9_abs", "p99.9", |c| c.p99_9_abs, six_decimals),
    ("mse", "MSE", |c| c.mse, |mse| format!("{mse:.3e}")),
    (
        "alpha_max_abs",
        "alpha max",
        |c| c.alpha_max_abs,
        six_decimals,
    ),
];

fn six_decimals(number: f64) -> String {
    format!("{number:.6}")
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
    /// Names of the pairs with a PSNR below `least_db`.
    pub(super) fn below_psnr(&self, least_db: f64) -> impl Iterator<Item = &str> {
        let pairs = self.pairs.iter();
        let below = pairs.filter(move |p| p.comparison.psnr_db.is_some_and(|db| db < least_db));
        below.map(|pair| pair.name.as_str())
    }

    /// Arithmetic mean over the pairs that have the number.
    fn mean(&self, number: impl Fn(&Comparison) -> Option<f64>) -> Option<f64> {
        let values = self.pairs.iter().filter_map(|p| number(&p.comparison));
        let (sum, count) = values.fold((0.0, 0.0), |(sum, n), value| (sum + value, n + 1.0));
        (count > 0.0).then(|| sum / count)
    }

    /// Means of [`METRICS`].
    fn means(&self) -> [f64; METRICS.len()] {
        METRICS.map(|(_, _, number, _)| self.mean(|c| Some(number(c))).unwrap_or_default())
    }

    /// Number of pairs without a PSNR.
    fn identical(&self) -> usize {
        let pairs = self.pairs.iter();
        pairs.filter(|p| p.comparison.psnr_db.is_none()).count()
    }

    pub(super) fn json(&self) -> Value {
        let mut mean = Map::new();
        mean.insert("psnr_db".to_owned(), json!(self.mean(|c| c.psnr_db)));
        for ((key, ..), value) in METRICS.iter().zip(self.means()) {
            mean.insert((*key).to_owned(), json!(value));
        }
        mean.insert("identical".to_owned(), json!(self.identical()));
        let mut document = json!({
            "protocol": self.protocol,
            "background": self.background,
            "pairs": self.pairs,
            "mean": mean,
        });
        if !self.unmeasured.is_empty() {
            document["not_compared"] = json!(self.unmeasured);
        }
        document
    }

    /// Formats a row per pair, the means of several pairs, and a line about the protocol.
    pub(super) fn table(&self) -> String {
        let headings = METRICS.map(|(_, heading, ..)| heading);
        let mut table = TextTable::new(&[&["<", "PSNR dB"][..], &headings].concat());
        let mut line = |name: &str, psnr_db: Option<f64>, numbers: [f64; METRICS.len()]| {
            let psnr = psnr_db.map_or_else(|| "identical".to_owned(), |db| format!("{db:.3}"));
            let numbers = METRICS.iter().zip(numbers);
            let numbers = numbers.map(|((.., text), number)| text(number));
            table.row([name.to_owned(), psnr].into_iter().chain(numbers));
        };
        for pair in &self.pairs {
            let c = &pair.comparison;
            let numbers = METRICS.map(|(_, _, number, _)| number(c));
            line(&shortened(&pair.name), c.psnr_db, numbers);
        }
        let has_means = self.pairs.len() > 1;
        if has_means {
            line("mean", self.mean(|c| c.psnr_db), self.means());
        }
        for pair in &self.unmeasured {
            table.row([shortened(&pair.name), "not compared".to_owned()]);
        }
        let meaning = match self.protocol {
            Protocol::Inria => "clamped and rounded to 8 bits",
            Protocol::Float => "neither clamped nor rounded",
        };
        let protocol = self.protocol.name();
        let excluded = match self.identical() {
            identical if has_means && identical > 0 => {
                format!("; {identical} identical, left out of the mean PSNR")
            }
            _ => String::new(),
        };
        let background = match self.background {
            [0.0, 0.0, 0.0] => "black".to_owned(),
            [r, g, b] => format!("{r},{g},{b}"),
        };
        let not_compared: String = self
            .unmeasured
            .iter()
            .map(|pair| {
                format!(
                    "{} was not compared: {}\n",
                    shortened(&pair.name),
                    pair.error
                )
            })
            .collect();
        format!(
            "{table}{not_compared}protocol {protocol}: RGB over {background}, {meaning}{excluded}\n"
        )
    }
}
