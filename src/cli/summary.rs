//! Tables of compared pictures: a row per picture, the means, and the check of the least PSNR.

use super::console::{Exit, fail};
use quadrille_base::image::metrics::{Comparison, MeanComparison, Protocol};
use quadrille_suite::report::table::{TextTable, shortened};

/// A metric besides PSNR: heading, its value and its mean, and format.
type Metric = (
    &'static str,
    fn(&Comparison) -> f64,
    fn(&MeanComparison) -> f64,
    fn(f64) -> String,
);

const METRICS: [Metric; 6] = [
    ("SSIM", |c| c.ssim, |m| m.ssim, six_decimals),
    ("FLIP", |c| c.flip, |m| m.flip, six_decimals),
    ("max", |c| c.max_abs, |m| m.max_abs, six_decimals),
    ("p99.9", |c| c.p99_9_abs, |m| m.p99_9_abs, six_decimals),
    ("MSE", |c| c.mse, |m| m.mse, |mse| format!("{mse:.3e}")),
    (
        "alpha max",
        |c| c.alpha_max_abs,
        |m| m.alpha_max_abs,
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

    /// The means.
    pub(super) fn mean(&self) -> MeanComparison {
        MeanComparison::of(self.0.iter().map(|(_, comparison)| *comparison))
    }

    /// Formats a row per picture, the means of several pictures, the rows `others`, and a line about the
    /// protocol.
    pub(super) fn table<'o>(
        &self,
        (protocol, background): (Protocol, [f32; 3]),
        others: impl Iterator<Item = [&'o str; 2]>,
    ) -> String {
        let headings = METRICS.map(|(heading, ..)| heading);
        let mut table = TextTable::new(&[&["<", "PSNR dB"][..], &headings].concat());
        let mut line = |name: &str, psnr_db: Option<f64>, numbers: [f64; METRICS.len()]| {
            let psnr = psnr_db.map_or_else(|| "identical".to_owned(), |db| format!("{db:.3}"));
            let numbers = METRICS.iter().zip(numbers);
            let numbers = numbers.map(|((.., text), number)| text(number));
            table.row([name.to_owned(), psnr].into_iter().chain(numbers));
        };
        for (name, comparison) in &self.0 {
            let numbers = METRICS.map(|(_, number, ..)| number(comparison));
            line(&shortened(name), comparison.psnr_db, numbers);
        }
        let (has_means, mean) = (self.0.len() > 1, self.mean());
        if has_means {
            let numbers = METRICS.map(|(_, _, number, _)| number(&mean));
            line("mean", mean.psnr_db, numbers);
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
        let excluded = match mean.identical {
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
