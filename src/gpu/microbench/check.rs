//! A measurement beside what it should be.

use serde::Serialize;

/// What a measurement should be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Expected {
    /// Just this.
    Exactly(f64),
    /// This, up to a share of it.
    Within {
        /// The value.
        value: f64,
        /// Largest distance from it, as a share of it.
        share: f64,
    },
    /// This or less.
    AtMost(f64),
    /// Less than this.
    Below(f64),
}

/// The outcome of one measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// What was measured.
    pub name: String,
    /// What it should be.
    pub expected: Expected,
    /// What it is.
    pub measured: f64,
    /// Unit of both.
    pub unit: &'static str,
}

impl Expected {
    /// The number that is expected, or the bound.
    pub fn value(self) -> f64 {
        match self {
            Self::Exactly(v) | Self::AtMost(v) | Self::Below(v) => v,
            Self::Within { value, .. } => value,
        }
    }

    /// Whether `measured` meets it; NaN never does.
    #[allow(
        clippy::float_cmp,
        reason = "counts below 2^53, which f64 holds exactly"
    )]
    pub(crate) fn meets(self, measured: f64) -> bool {
        match self {
            Self::Exactly(v) => measured == v,
            Self::Within { value, share } => (measured - value).abs() <= share * value.abs(),
            Self::AtMost(v) => measured <= v,
            Self::Below(v) => measured < v,
        }
    }

    /// How it is to be read: `equal`, `within N %`, `at most`, `below`.
    pub fn rule(self) -> String {
        match self {
            Self::Exactly(_) => "equal".to_owned(),
            Self::Within { share, .. } => format!("within {} %", share * 100.0),
            Self::AtMost(_) => "at most".to_owned(),
            Self::Below(_) => "below".to_owned(),
        }
    }
}

impl Check {
    /// A count that should be just `expected`.
    #[allow(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub(super) fn count(
        name: impl Into<String>,
        expected: u64,
        measured: u64,
        unit: &'static str,
    ) -> Self {
        Self {
            name: name.into(),
            expected: Expected::Exactly(expected as f64),
            measured: measured as f64,
            unit,
        }
    }

    /// A number of warps that should be just `expected`.
    pub(super) fn warps(name: impl Into<String>, expected: u64, measured: u64) -> Self {
        Self::count(name, expected, measured, "warps")
    }

    /// Whether the measurement is as expected.
    pub fn ok(&self) -> bool {
        self.expected.meets(self.measured)
    }
}

impl Serialize for Check {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// As JSON has it.
        #[derive(Serialize)]
        struct Row<'a> {
            name: &'a str,
            expected: f64,
            rule: String,
            measured: f64,
            unit: &'a str,
            ok: bool,
        }
        Row {
            name: &self.name,
            expected: self.expected.value(),
            rule: self.expected.rule(),
            measured: self.measured,
            unit: self.unit,
            ok: self.ok(),
        }
        .serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_meet_what_is_expected_or_do_not() {
        let within = Expected::Within {
            value: 8.0,
            share: 0.01,
        };
        for (expected, measured, meets) in [
            (Expected::Exactly(64.0), 64.0, true),
            (Expected::Exactly(64.0), 65.0, false),
            (within, 7.93, true),
            (within, 7.91, false),
            (within, 8.09, false),
            (Expected::AtMost(16.0), 16.0, true),
            (Expected::AtMost(16.0), 17.0, false),
            (Expected::Below(16.0), 16.0, false),
            (Expected::Below(16.0), 15.0, true),
            (within, f64::NAN, false),
        ] {
            assert_eq!(expected.meets(measured), meets, "{expected:?} {measured}");
        }
    }
}
