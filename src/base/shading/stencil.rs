//! The stencil test, as in OpenGL. Early termination may reserve the top bit of the stencil byte.

use serde::{Deserialize, Serialize};

use super::compare_op::CompareOp;
use crate::choice;

/// Stencil bit of a terminated pixel, when early termination is enabled.
pub const TERMINATED: u8 = 0x80;

choice! {
    /// Update of the stored value.
    #[derive(Default, Hash)]
    pub enum StencilOperation {
        /// Keeps the value.
        #[default]
        Keep = "keep",
        /// Writes 0.
        Zero = "zero",
        /// Writes the reference.
        Replace = "replace",
        /// Adds one, clamped to the largest value.
        IncrementClamp = "increment-clamp",
        /// Subtracts one, clamped to 0.
        DecrementClamp = "decrement-clamp",
        /// Adds one, wrapping to 0.
        IncrementWrap = "increment-wrap",
        /// Subtracts one, wrapping to the largest value.
        DecrementWrap = "decrement-wrap",
        /// Inverts all bits.
        Invert = "invert",
    }
}

/// Outcome of the stencil and depth tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StencilOutcome {
    /// Failed the stencil test.
    Fail,
    /// Passed the stencil test and failed the depth test.
    DepthFail,
    /// Passed both tests.
    Pass,
}

/// Stencil test: comparison, masks, and updates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct StencilTest {
    /// Comparison of the reference with the stored value, both under the read mask.
    pub compare: CompareOp,
    /// Reference value, which is on the left of the comparison.
    pub reference: u8,
    /// Mask of the bits that are compared.
    pub read_mask: u8,
    /// Mask of the bits that are written.
    pub write_mask: u8,
    /// Update when the stencil test fails.
    pub fail: StencilOperation,
    /// Update when the stencil test passes and the depth test fails.
    pub depth_fail: StencilOperation,
    /// Update when both tests pass.
    pub pass: StencilOperation,
    /// Whether early termination owns the top bit, `TERMINATED`. The application then sees seven bits: references are
    /// clamped to 127, and masks exclude the top bit. Set by the pipeline, not by configuration files.
    #[serde(skip)]
    pub top_bit_taken: bool,
}

impl Default for StencilTest {
    /// No stencil test: always passes and keeps the value.
    fn default() -> Self {
        Self {
            compare: CompareOp::Always,
            reference: 0,
            read_mask: 0xff,
            write_mask: 0xff,
            fail: StencilOperation::Keep,
            depth_fail: StencilOperation::Keep,
            pass: StencilOperation::Keep,
            top_bit_taken: false,
        }
    }
}

impl StencilTest {
    /// Largest value that the application sees, which is also the mask of its bits.
    #[inline]
    pub fn greatest(&self) -> u8 {
        if self.top_bit_taken { !TERMINATED } else { 0xff }
    }

    /// Whether a fragment passes the test against the value `stored`.
    #[inline]
    pub fn passes(&self, stored: u8) -> bool {
        let mask = self.read_mask & self.greatest();
        self.compare.passes(self.reference.min(self.greatest()) & mask, stored & mask)
    }

    /// The value stored after a fragment with this outcome. Bits outside the write mask are kept.
    #[inline]
    pub fn updated(&self, stored: u8, outcome: StencilOutcome) -> u8 {
        let operation = match outcome {
            StencilOutcome::Fail => self.fail,
            StencilOutcome::DepthFail => self.depth_fail,
            StencilOutcome::Pass => self.pass,
        };
        let greatest = self.greatest();
        let seen = stored & greatest;
        let new = match operation {
            StencilOperation::Keep => seen,
            StencilOperation::Zero => 0,
            StencilOperation::Replace => self.reference.min(greatest),
            StencilOperation::IncrementClamp => seen.saturating_add(1).min(greatest),
            StencilOperation::DecrementClamp => seen.saturating_sub(1),
            StencilOperation::IncrementWrap => seen.wrapping_add(1),
            StencilOperation::DecrementWrap => seen.wrapping_sub(1),
            StencilOperation::Invert => !seen,
        };
        let mask = self.write_mask & greatest;
        (stored & !mask) | (new & mask)
    }
}
