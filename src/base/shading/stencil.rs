//! The stencil test, as in OpenGL. Early termination may reserve the top bit of the stencil byte.

use serde::{Deserialize, Serialize};

use super::compare_op::CompareOp;

/// Stencil bit of a terminated pixel, when early termination is enabled.
pub const TERMINATED: u8 = 0x80;

/// Update of the stored value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StencilOperation {
    /// Keeps the value.
    #[default]
    Keep,
    /// Writes 0.
    Zero,
    /// Writes the reference.
    Replace,
    /// Adds one, clamped to the largest value.
    IncrementClamp,
    /// Subtracts one, clamped to 0.
    DecrementClamp,
    /// Adds one, wrapping to 0.
    IncrementWrap,
    /// Subtracts one, wrapping to the largest value.
    DecrementWrap,
    /// Inverts all bits.
    Invert,
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
    /// Reference value.
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
    /// Whether early termination owns the top bit, `TERMINATED`. The application then sees a stencil of
    /// seven bits: references are clamped to 127, and masks do not include the top bit. Set by the
    /// pipeline, not by configuration files.
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
        if self.top_bit_taken {
            !TERMINATED
        } else {
            0xff
        }
    }

    /// Whether a fragment passes against `stored`.
    #[inline]
    pub fn passes(&self, stored: u8) -> bool {
        let mask = self.read_mask & self.greatest();
        let reference = self.reference.min(self.greatest());
        self.compare.passes(reference & mask, stored & mask)
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

#[cfg(test)]
mod tests {
    use super::*;
    use StencilOperation as Op;

    fn after(pass: Op, top_bit_taken: bool, stored: u8) -> u8 {
        let test = StencilTest {
            pass,
            reference: 0x9c,
            top_bit_taken,
            ..StencilTest::default()
        };
        test.updated(stored, StencilOutcome::Pass)
    }

    #[test]
    fn operations_on_eight_bits() {
        for (operation, stored, expected) in [
            (Op::Keep, 7, 7),
            (Op::Zero, 7, 0),
            (Op::Replace, 7, 0x9c),
            (Op::IncrementClamp, 7, 8),
            (Op::IncrementClamp, 255, 255),
            (Op::DecrementClamp, 7, 6),
            (Op::DecrementClamp, 0, 0),
            (Op::IncrementWrap, 255, 0),
            (Op::DecrementWrap, 0, 255),
            (Op::Invert, 0x0f, 0xf0),
        ] {
            assert_eq!(after(operation, false, stored), expected, "{operation:?}");
        }
    }

    #[test]
    fn operations_on_seven_bits_leave_the_top_one() {
        for (operation, stored, expected) in [
            (Op::Zero, 7, 0),
            (Op::Replace, 7, 127),
            (Op::IncrementClamp, 127, 127),
            (Op::DecrementClamp, 0, 0),
            (Op::IncrementWrap, 127, 0),
            (Op::DecrementWrap, 0, 127),
            (Op::Invert, 0x0f, 0x70),
        ] {
            for top in [0, TERMINATED] {
                let found = after(operation, true, stored | top);
                assert_eq!(found, expected | top, "{operation:?}");
            }
        }
    }

    #[test]
    fn each_outcome_has_its_operation_under_the_write_mask() {
        let test = StencilTest {
            write_mask: 0x0f,
            fail: Op::Zero,
            depth_fail: Op::Invert,
            pass: Op::IncrementClamp,
            ..StencilTest::default()
        };
        assert_eq!(test.updated(0xa5, StencilOutcome::Fail), 0xa0);
        assert_eq!(test.updated(0xa5, StencilOutcome::DepthFail), 0xaa);
        assert_eq!(test.updated(0xa5, StencilOutcome::Pass), 0xa6);
    }

    #[test]
    fn compares_under_the_read_mask() {
        let mut test = StencilTest {
            compare: CompareOp::Equal,
            reference: 0x35,
            read_mask: 0x0f,
            ..StencilTest::default()
        };
        assert!(test.passes(0x05) && test.passes(0xf5) && !test.passes(0x36));
        test.read_mask = 0xff;
        assert!(test.passes(0x35) && !test.passes(0xb5));
        // The reference is on the left, as in OpenGL.
        test.compare = CompareOp::Less;
        assert!(test.passes(0x36) && !test.passes(0x35));
    }

    #[test]
    fn a_closed_pixel_looks_the_same_to_the_application() {
        for compare in CompareOp::ALL {
            for reference in [0, 5, 127, 128, 255] {
                let test = StencilTest {
                    compare,
                    reference,
                    top_bit_taken: true,
                    ..StencilTest::default()
                };
                for stored in 0..128 {
                    assert_eq!(test.passes(stored), test.passes(stored | TERMINATED));
                }
            }
        }
    }

    #[test]
    fn reads_configuration() {
        let text = "compare = \"not-equal\"\nreference = 3\ndepth-fail = \"increment-wrap\"";
        let test: StencilTest = toml::from_str(text).unwrap();
        assert_eq!(test.compare, CompareOp::NotEqual);
        assert_eq!(test.depth_fail, Op::IncrementWrap);
        assert_eq!((test.reference, test.read_mask), (3, 0xff));
        assert!(toml::from_str::<StencilTest>("top-bit-taken = true").is_err());
    }
}
