//! Tables of compared pictures: a row per picture, the means, and the check of the least PSNR.

use serde_json::{Map, Value, json};

use super::console::{Exit, fail};
use quadrille_base::image::metrics::{Comparison, Protocol};
use quadrille_suite::report::table::{TextTable, shortened};

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

/// Compared pictures by their names.
#[derive(Debug, Default)]
pub(super) struct Summary<'a>(Vec<(&'a str, &'a Comparison)>);

impl<'a> FromIterator<(&'a str, &'a Comparison)> for Summary<'a> {
    fn from_iter<T: IntoIterator<Item = (&'a str, &'a Comparison)>>(rows: T) -> Self {
        Self(rows.into_iter().collect())
    }
}

impl Summary<'_> {
    /// The rows in the order of their PSNR, lowest first; identical pictures are last.
    pub(super) fn worst_first(mut self) -> Self {
        let psnr = |comparison: &Comparison| comparison.psnr_db.unwrap_or(f64::INFINITY);
        self.0.sort_by(|(_, a), (_, b)| psnr(a).total_cmp(&psnr(b)));
        self
    }

    /// Arithmetic mean over the pictures that have the number.
    fn mean_of(&self, number: impl Fn(&Comparison) -> Option<f64>) -> Option<f64> {
        let values = self.0.iter().filter_map(|(_, c)| number(c));
        let (sum, count) = values.fold((0.0, 0.0), |(sum, n), value| (sum + value, n + 1.0));
        (count > 0.0).then(|| sum / count)
    }

    /// Means of [`METRICS`].
    fn means(&self) -> [f64; METRICS.len()] {
        METRICS.map(|(_, _, number, _)| self.mean_of(|c| Some(number(c))).unwrap_or_default())
    }

    /// Number of pictures without a PSNR.
    fn identical(&self) -> usize {
        self.0.iter().filter(|(_, c)| c.psnr_db.is_none()).count()
    }

    /// The means as JSON.
    pub(super) fn mean(&self) -> Value {
        let mut mean = Map::new();
        mean.insert("psnr_db".to_owned(), json!(self.mean_of(|c| c.psnr_db)));
        for ((key, ..), value) in METRICS.iter().zip(self.means()) {
            mean.insert((*key).to_owned(), json!(value));
        }
        mean.insert("identical".to_owned(), json!(self.identical()));
        Value::Object(mean)
    }

    /// Formats a row per picture, the means of several pictures, the rows `others`, and a line about the
    /// protocol.
    pub(super) fn table<'o>(
        &self,
        (protocol, background): (Protocol, [f32; 3]),
        others: impl Iterator<Item = [&'o str; 2]>,
    ) -> String {
        let headings = METRICS.map(|(_, heading, ..)| heading);
        let mut table = TextTable::new(&[&["<", "PSNR dB"][..], &headings].concat());
        let mut line = |name: &str, psnr_db: Option<f64>, numbers: [f64; METRICS.len()]| {
            let psnr = psnr_db.map_or_else(|| "identical".to_owned(), |db| format!("{db:.3}"));
            let numbers = METRICS.iter().zip(numbers);
            let numbers = numbers.map(|((.., text), number)| text(number));
            table.row([name.to_owned(), psnr].into_iter().chain(numbers));
        };
        for (name, comparison) in &self.0 {
            let numbers = METRICS.map(|(_, _, number, _)| number(comparison));
            line(&shortened(name), comparison.psnr_db, numbers);
        }
        let has_means = self.0.len() > 1;
        if has_means {
            line("mean", self.mean_of(|c| c.psnr_db), self.means());
        }
        let mut reasons = String::new();
        for [name, reason] in others {
            let name = shortened(name);
            table.row([name.clone(), "not compared".to_owned()]);
            reasons += &format!("{name} was not compared: {reason}\n");
        }
        let meaning = match protocol {
            Protocol::Inria => "clamped and rounded to 8 bits",
            Protocol::Float => "neither clamped nor rounded",
        };
        let protocol = protocol.name();
        let excluded = match self.identical() {
            identical if has_means && identical > 0 => {
                format!("; {identical} identical, left out of the mean PSNR")
            }
            _ => String::new(),
        };
        let background = match background {
            [0.0, 0.0, 0.0] => "black".to_owned(),
            [r, g, b] => format!("{r},{g},{b}"),
        };
        format!("{table}{reasons}protocol {protocol}: RGB over {background}, {meaning}{excluded}\n")
    }

    /// Reports as an error that the PSNR of any picture is below `least_db`. `what` is what a name names.
    pub(super) fn check_psnr(&self, what: &str, least_db: Option<f64>) -> Exit {
        let Some(least_db) = least_db else {
            return Exit::Done;
        };
        let psnr = |(name, c): &(&'_ str, &Comparison)| Some((name.to_string(), c.psnr_db?));
        let below = self.0.iter().filter_map(psnr);
        let below: Vec<_> = below.filter(|(_, db)| *db < least_db).collect();
        let Some((name, worst_db)) = below.iter().min_by(|a, b| a.1.total_cmp(&b.1)) else {
            return Exit::Done;
        };
        let others = match below.len() {
            1 => String::new(),
            count => format!("; {count} of {} are below it", self.0.len()),
        };
        fail(&format!(
            "{what} \"{name}\": expected a PSNR of at least {least_db} dB, found {worst_db:.3} dB{others}"
        ));
        Exit::CheckFailed
    }
}
