//! Limits of a comparison, and the verdict: a pair that was not compared never passes.

use std::fmt::Write;

use serde::Serialize;
use serde_json::{Value, json};

use super::documents::escaped_html;
use super::lpips::LpipsDistances;
use super::row::{PairRow, UnmeasuredRow};

/// Limits that every pair of a comparison must keep.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Limits {
    /// Smallest PSNR in dB. Identical pictures have no PSNR and pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub psnr_db: Option<f64>,
    /// Smallest SSIM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssim: Option<f64>,
    /// Largest FLIP error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flip: Option<f64>,
    /// Largest LPIPS of any network that was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lpips: Option<f64>,
    /// Smallest SSIMULACRA2 score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssimulacra2: Option<f64>,
    /// Whether pictures without a partner pass.
    #[serde(skip)]
    pub allow_missing: bool,
}

/// Limit of one metric, with the text of a failure.
struct Limit {
    bound: Option<f64>,
    is_least: bool,
    metric: &'static str,
    unit: &'static str,
    value: fn(&PairRow) -> Option<f64>,
}

impl Limit {
    fn expected(&self) -> String {
        let side = if self.is_least { "at least" } else { "at most" };
        let Self { metric, unit, bound, .. } = self;
        format!("{metric} of {side} {}{unit}", bound.unwrap_or_default())
    }

    /// How far the value of a row is beyond the limit; `None` if it keeps it. NaN keeps no limit.
    fn excess(&self, row: &PairRow) -> Option<f64> {
        let (bound, value) = (self.bound?, (self.value)(row)?);
        let excess = if self.is_least { bound - value } else { value - bound };
        (excess > 0.0 || excess.is_nan()).then_some(excess)
    }
}

fn largest_lpips(lpips: &LpipsDistances) -> Option<f64> {
    let all = [lpips.lpips_vgg, lpips.lpips_alex, lpips.lpips_vgg_scaled];
    all.into_iter().flatten().max_by(f64::total_cmp)
}

impl Limits {
    fn all(&self) -> [Limit; 5] {
        let limit =
            |bound, is_least, metric, unit, value| Limit { bound, is_least, metric, unit, value };
        [
            limit(self.psnr_db, true, "a PSNR", " dB", |row| row.comparison.psnr_db),
            limit(self.ssim, true, "an SSIM", "", |row| Some(row.comparison.ssim)),
            limit(self.flip, false, "a FLIP error", "", |row| Some(row.comparison.flip)),
            limit(self.lpips, false, "an LPIPS", "", |row| largest_lpips(&row.lpips)),
            limit(self.ssimulacra2, true, "an SSIMULACRA2 score", "", |row| row.ssimulacra2),
        ]
    }

    /// Whether any metric has a limit.
    pub fn are_set(&self) -> bool {
        self.all().iter().any(|limit| limit.bound.is_some())
    }

    /// Judges pairs, each called `what` in messages: those in `rows` by their numbers; those that are `unmeasured`,
    /// `missing` or not finite fail.
    pub fn verdict(
        &self,
        what: &str,
        rows: &[PairRow],
        unmeasured: &[UnmeasuredRow],
        missing: &[String],
    ) -> Verdict {
        let mut verdict = Verdict::default();
        if !self.are_set() {
            return verdict;
        }
        let limits = self.all();
        let set = || limits.iter().filter(|limit| limit.bound.is_some());
        let expected = set().map(Limit::expected).collect::<Vec<_>>().join(" and ");
        verdict.expected.clone_from(&expected);
        let mut add = |name: &str, outcome| {
            verdict.cases.push(Case { what: what.to_owned(), name: name.to_owned(), outcome });
        };
        let others = |count: usize, are: &str| match count {
            1 => String::new(),
            count => format!("; {count} {are}"),
        };
        let mut failures = Vec::new();
        let not_finite = |row: &&PairRow| row.comparison.non_finite_pixels > 0;
        if let Some(row) = rows.iter().find(not_finite) {
            let others = others(rows.iter().filter(not_finite).count(), "are not finite");
            failures.push(format!("{what} \"{}\": {}{others}", row.pair.name, non_finite(row)));
        }
        for row in rows {
            let mut broken: Vec<String> = set()
                .filter(|limit| limit.excess(row).is_some())
                .map(|limit| format!("expected {}, found {}", limit.expected(), found(limit, row)))
                .collect();
            if not_finite(&row) {
                broken.push(non_finite(row));
            }
            add(
                &row.pair.name,
                match broken.is_empty() {
                    true => Outcome::Passed,
                    false => Outcome::Failed(broken.join("; ")),
                },
            );
        }
        for limit in set() {
            let excess = |row: &&PairRow| limit.excess(row).unwrap_or_default();
            let below: Vec<_> = rows.iter().filter(|row| limit.excess(row).is_some()).collect();
            let worst = below.iter().copied().max_by(|a, b| excess(a).total_cmp(&excess(b)));
            failures.extend(worst.map(|row| {
                let (name, found) = (&row.pair.name, found(limit, row));
                let side = if limit.is_least { "below it" } else { "above it" };
                let others = others(below.len(), &format!("of {} are {side}", rows.len()));
                format!("{what} \"{name}\": expected {}, found {found}{others}", limit.expected())
            }));
        }
        let (blank, failed): (Vec<_>, Vec<_>) = unmeasured.iter().partition(|row| row.is_blank);
        for (group, reason, are) in [
            (blank, "no splat to compare", "are blank"),
            (failed, "a pair that was not compared", "were not compared"),
        ] {
            failures.extend(group.first().map(|row| {
                let others = others(group.len(), are);
                format!("{what} \"{}\": expected {expected}, found {reason}{others}", row.pair.name)
            }));
            for row in group {
                add(&row.pair.name, Outcome::NotCompared(row.error.clone()));
            }
        }
        if let Some(first) = missing.first().filter(|_| !self.allow_missing) {
            let others = others(missing.len(), "are missing");
            failures.push(format!(
                "{first}: expected a partner to compare it with, found none{others} (--allow-missing accepts this)"
            ));
        }
        for name in missing {
            let without = "without a partner".to_owned();
            add(
                name,
                match self.allow_missing {
                    true => Outcome::Skipped(without),
                    false => Outcome::Failed(without),
                },
            );
        }
        verdict.failures = failures;
        verdict
    }
}

fn non_finite(row: &PairRow) -> String {
    format!("expected finite values, found {}", row.mark().unwrap_or_default())
}

fn found(limit: &Limit, row: &PairRow) -> String {
    let value = (limit.value)(row).unwrap_or(f64::NAN);
    match limit.unit {
        "" => format!("{value:.6}"),
        unit => format!("{value:.3}{unit}"),
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Outcome {
    Passed,
    Skipped(String),
    Failed(String),
    NotCompared(String),
}

#[derive(Debug, Clone)]
struct Case {
    what: String,
    name: String,
    outcome: Outcome,
}

/// First bytes of [`Verdict::junit`].
pub const JUNIT_START: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>";

/// Outcome of a comparison under [`Limits`].
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    /// Limits of all pairs in words, those of the first pairs first.
    expected: String,
    /// One sentence per reason; empty if all pairs pass.
    pub failures: Vec<String>,
    cases: Vec<Case>,
}

impl Verdict {
    /// Verdict of a comparison that ended in an error.
    pub fn of_error(error: &str) -> Self {
        let case = Case {
            what: "comparison".to_owned(),
            name: "inputs".to_owned(),
            outcome: Outcome::NotCompared(error.to_owned()),
        };
        Self { failures: vec![error.to_owned()], cases: vec![case], ..Self::default() }
    }

    /// Whether all pairs pass.
    pub fn passed(&self) -> bool {
        self.failures.is_empty()
    }

    /// Adds the verdict about further pairs, which may have other limits.
    pub fn extend(&mut self, other: Self) {
        match self.expected.as_str() {
            "" => self.expected = other.expected,
            expected if other.expected.is_empty() || expected == other.expected => {}
            _ => self.expected = format!("{}, {}", self.expected, other.expected),
        }
        self.failures.extend(other.failures);
        self.cases.extend(other.cases);
    }

    /// Sentence about a comparison that passed.
    pub fn sentence(&self) -> String {
        let accepted = self.cases.iter().filter(|c| matches!(c.outcome, Outcome::Skipped(_)));
        match accepted.count() {
            0 => format!("passed: {} everywhere\n", self.expected),
            missing => {
                format!("passed: {} everywhere; {missing} without a partner\n", self.expected)
            }
        }
    }

    /// Adds the `limit` and whether it was kept to a document of rows.
    pub fn add_to(&self, document: &mut Value, limit: impl Serialize) {
        document["limit"] = json!(limit);
        document["passed"] = self.passed().into();
        if !self.passed() {
            document["failures"] = json!(self.failures);
        }
    }

    /// Formats the verdict as JUnit XML, which services of continuous integration show: a suite with one case per pair.
    pub fn junit(&self, suite: &str) -> String {
        let count =
            |is: fn(&Outcome) -> bool| self.cases.iter().filter(|case| is(&case.outcome)).count();
        let mut text = format!(
            "{JUNIT_START}\n<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" \
             errors=\"{}\" skipped=\"{}\">\n",
            escaped_html(suite),
            self.cases.len(),
            count(|outcome| matches!(outcome, Outcome::Failed(_))),
            count(|outcome| matches!(outcome, Outcome::NotCompared(_))),
            count(|outcome| matches!(outcome, Outcome::Skipped(_))),
        );
        for Case { what, name, outcome } in &self.cases {
            let (what, name) = (escaped_html(what), escaped_html(name));
            let inner = match outcome {
                Outcome::Passed => None,
                Outcome::Skipped(reason) => Some(("skipped", reason)),
                Outcome::Failed(reason) => Some(("failure", reason)),
                Outcome::NotCompared(reason) => Some(("error", reason)),
            };
            let inner =
                inner.map(|(tag, reason)| format!("<{tag} message=\"{}\"/>", escaped_html(reason)));
            // Writing to a text cannot fail.
            let _ = match inner {
                None => writeln!(text, "<testcase classname=\"{what}\" name=\"{name}\"/>"),
                Some(inner) => writeln!(
                    text,
                    "<testcase classname=\"{what}\" name=\"{name}\">{inner}</testcase>"
                ),
            };
        }
        text + "</testsuite>\n</testsuites>\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairing::PairName;
    use quadrille_base::Error;
    use quadrille_base::image::Frame;
    use quadrille_base::image::metrics::{Protocol, compare};

    fn row(name: &str, [a, b]: [f32; 2]) -> PairRow {
        let grey = |value: f32| Frame::from_pixels(8, 8, vec![[value, value, value, 1.0]; 64]);
        PairRow {
            pair: PairName { name: name.to_owned(), ..PairName::default() },
            comparison: compare(&grey(a), &grey(b), Protocol::Float).unwrap(),
            lpips: LpipsDistances { lpips_vgg: Some(0.25), ..LpipsDistances::default() },
            ssimulacra2: Some(60.0),
            mask_share: None,
            diff: None,
        }
    }

    #[test]
    fn only_compared_finite_pairs_within_all_limits_pass() {
        let psnr = Limits { psnr_db: Some(30.0), ..Limits::default() };
        let good = || row("good", [0.5, 0.5]);
        let judge = |limits: &Limits, rows: &[PairRow], missing: &[String]| {
            limits.verdict("pair", rows, &[], missing)
        };
        assert!(judge(&psnr, &[good()], &[]).passed());
        let nan = judge(&psnr, &[good(), row("nan", [f32::NAN; 2])], &[]).failures;
        assert!(nan.iter().any(|text| text.contains("finite values")), "{nan:?}");
        // Equal infinities are identical, but nothing was compared.
        assert!(!judge(&psnr, &[row("inf", [f32::INFINITY; 2])], &[]).passed());
        let lost = ["b/lost.png".to_owned()];
        let missing = judge(&psnr, &[good()], &lost);
        assert!(missing.failures[0].contains("b/lost.png"), "{missing:?}");
        let allowed = Limits { allow_missing: true, ..psnr };
        assert!(judge(&allowed, &[good()], &lost).passed());
        let error = Error::argument("mask", "one", "none");
        let other = UnmeasuredRow::new(&PairName::default(), &error);
        assert!(!allowed.verdict("pair", &[good()], &[other], &[]).passed());
        for limits in [
            Limits { ssim: Some(0.999), ..Limits::default() },
            Limits { flip: Some(0.01), ..Limits::default() },
            Limits { lpips: Some(0.2), ..Limits::default() },
            Limits { ssimulacra2: Some(60.5), ..Limits::default() },
        ] {
            assert!(!judge(&limits, &[row("far", [0.2, 0.8])], &[]).passed(), "{limits:?}");
        }
        let limits = Limits {
            lpips: Some(0.3),
            flip: Some(0.01),
            ssimulacra2: Some(60.0),
            ..Limits::default()
        };
        assert!(judge(&limits, &[good()], &[]).passed());
        // Without a limit, nothing is judged.
        assert!(judge(&Limits::default(), &[row("far", [0.2, 0.8])], &lost).passed());
    }

    #[test]
    fn junit_has_a_case_per_pair() {
        let limits = Limits { psnr_db: Some(30.0), ..Limits::default() };
        let rows = [row("same", [0.5; 2]), row("<far>", [0.2, 0.8])];
        let text = limits.verdict("view", &rows, &[], &["b/lost.png".to_owned()]).junit("a & b");
        for words in [
            "<testsuite name=\"a &amp; b\" tests=\"3\" failures=\"2\" errors=\"0\" skipped=\"0\">",
            "<testcase classname=\"view\" name=\"same\"/>",
            "name=\"&lt;far&gt;\"><failure message=\"expected a PSNR of at least 30 dB, found 4.437 dB\"/>",
            "name=\"b/lost.png\"><failure message=\"without a partner\"/>",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }
}
