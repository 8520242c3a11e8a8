//! Comparisons of depth and stencil tests.

use serde::{Deserialize, Serialize};

/// The comparison `incoming <comparison> stored`, as in OpenGL's `glDepthFunc` and `glStencilFunc`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CompareOp {
    /// Never passes.
    Never,
    /// Passes if incoming < stored.
    Less,
    /// Passes if incoming <= stored.
    LessOrEqual,
    /// Passes if incoming > stored.
    Greater,
    /// Passes if incoming >= stored.
    GreaterOrEqual,
    /// Passes if both are equal.
    Equal,
    /// Passes if both differ.
    NotEqual,
    /// Always passes.
    #[default]
    Always,
}

impl CompareOp {
    /// Every comparison.
    pub const ALL: [Self; 8] = [
        Self::Never,
        Self::Less,
        Self::LessOrEqual,
        Self::Greater,
        Self::GreaterOrEqual,
        Self::Equal,
        Self::NotEqual,
        Self::Always,
    ];

    /// Whether `incoming` passes against `stored`. Values without an order (NaN) pass `NotEqual`
    /// and `Always` only.
    #[inline]
    pub fn passes<T: PartialOrd + Copy>(self, incoming: T, stored: T) -> bool {
        match self {
            Self::Never => false,
            Self::Less => incoming < stored,
            Self::LessOrEqual => incoming <= stored,
            Self::Greater => incoming > stored,
            Self::GreaterOrEqual => incoming >= stored,
            Self::Equal => incoming == stored,
            Self::NotEqual => incoming != stored,
            Self::Always => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truth_table() {
        // In the order of `ALL`: 1 against 2, 2 against 2, 3 against 2.
        let table = [
            [false, false, false],
            [true, false, false],
            [true, true, false],
            [false, false, true],
            [false, true, true],
            [false, true, false],
            [true, false, true],
            [true, true, true],
        ];
        for (comparison, row) in CompareOp::ALL.into_iter().zip(table) {
            assert_eq!([1, 2, 3].map(|x| comparison.passes(x, 2)), row);
        }
    }

    #[test]
    fn nan_has_no_order() {
        let passing = CompareOp::ALL.map(|c| c.passes(f32::NAN, 0.5));
        let expected = CompareOp::ALL.map(|c| matches!(c, CompareOp::NotEqual | CompareOp::Always));
        assert_eq!(passing, expected);
    }

    #[test]
    fn configuration_names() {
        let json = serde_json::to_string(&CompareOp::ALL).unwrap();
        assert_eq!(
            json,
            r#"["never","less","less-or-equal","greater","greater-or-equal","equal","not-equal","always"]"#
        );
    }
}
