use serde::Serialize;

/// Expected value of a measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Expected {
    /// Exactly this value.
    Exactly(f64),
    /// This value within a relative tolerance.
    Within {
        /// Expected value.
        value: f64,
        /// Relative tolerance.
        share: f64,
    },
    /// At most this value.
    AtMost(f64),
    /// Below this value.
    Below(f64),
}

/// Origin of an expected value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// A measurement on a GPU (VR-Pipe, section VII-A).
    Hardware,
    /// A model without latency and conflicts.
    IdealModel,
    /// A field of the configuration, which the measurement reads back: it shows that the unit is wired
    /// correctly, not that its size is right.
    Configured,
    /// A measurement on a GPU that the draw was arranged to reproduce.
    Calibrated,
}

impl Basis {
    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hardware => "hardware",
            Self::IdealModel => "ideal model",
            Self::Configured => "configured",
            Self::Calibrated => "calibrated",
        }
    }
}

/// A measurement with its expected value.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// Description of the measurement.
    pub name: String,
    /// Expected value.
    pub expected: Expected,
    /// Origin of the expected value.
    pub basis: Basis,
    /// Measured value.
    pub measured: f64,
    /// Unit of both values.
    pub unit: &'static str,
}

impl Expected {
    /// The expected number or bound.
    pub fn value(self) -> f64 {
        match self {
            Self::Exactly(v) | Self::AtMost(v) | Self::Below(v) => v,
            Self::Within { value, .. } => value,
        }
    }

    #[allow(clippy::float_cmp, reason = "counts below 2^53, which f64 holds exactly")]
    pub(crate) fn meets(self, measured: f64) -> bool {
        match self {
            Self::Exactly(v) => measured == v,
            Self::Within { value, share } => (measured - value).abs() <= share * value.abs(),
            Self::AtMost(v) => measured <= v,
            Self::Below(v) => measured < v,
        }
    }

    /// Rule as text: `equal`, `within N %`, `at most`, `below`.
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
    /// A measurement that an ideal model predicts within a relative tolerance.
    pub(super) fn ideal(
        name: impl Into<String>,
        value: f64,
        share: f64,
        measured: f64,
        unit: &'static str,
    ) -> Self {
        let expected = Expected::Within { value, share };
        Self { name: name.into(), expected, basis: Basis::IdealModel, measured, unit }
    }

    pub(super) fn count(
        name: impl Into<String>,
        expected: u64,
        measured: u64,
        unit: &'static str,
        basis: Basis,
    ) -> Self {
        Self {
            name: name.into(),
            expected: Expected::Exactly(expected as f64),
            basis,
            measured: measured as f64,
            unit,
        }
    }

    pub(super) fn warps(
        name: impl Into<String>,
        expected: u64,
        measured: u64,
        basis: Basis,
    ) -> Self {
        Self::count(name, expected, measured, "warps", basis)
    }

    /// Whether the measurement is as expected.
    pub fn ok(&self) -> bool {
        self.expected.meets(self.measured)
    }
}

impl Serialize for Check {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Row<'a> {
            name: &'a str,
            expected: f64,
            rule: String,
            basis: Basis,
            measured: f64,
            unit: &'a str,
            ok: bool,
        }
        Row {
            name: &self.name,
            expected: self.expected.value(),
            rule: self.expected.rule(),
            basis: self.basis,
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
        let within = Expected::Within { value: 8.0, share: 0.01 };
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
