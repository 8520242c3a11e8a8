//! Comparisons of depth and stencil tests.

use crate::choice;

choice! {
    /// The comparison `incoming <comparison> stored`, as in OpenGL's `glDepthFunc` and `glStencilFunc`.
    #[derive(Default, Hash)]
    pub enum CompareOp {
        /// Never passes.
        Never = "never",
        /// Passes if incoming < stored.
        Less = "less",
        /// Passes if incoming <= stored.
        LessOrEqual = "less-or-equal",
        /// Passes if incoming > stored.
        Greater = "greater",
        /// Passes if incoming >= stored.
        GreaterOrEqual = "greater-or-equal",
        /// Passes if both are equal.
        Equal = "equal",
        /// Passes if both differ.
        NotEqual = "not-equal",
        /// Always passes.
        #[default]
        Always = "always",
    }
}

impl CompareOp {
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
