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

    /// Whether `incoming` passes against `stored`. Values without an order (NaN) pass `NotEqual` and `Always` only.
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
