//! The stencil test, as in OpenGL, on bytes of which early termination may claim the top bit.

use serde::{Deserialize, Serialize};

use super::comparison::Comparison;

/// The stencil bit that marks a pixel closed, when early termination is on.
pub(crate) const TERMINATED: u8 = 0x80;

/// What happens to the stored value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StencilOperation {
    /// It stays.
    #[default]
    Keep,
    /// It becomes 0.
    Zero,
    /// It becomes the reference.
    Replace,
    /// One more, at most the greatest value.
    IncrementClamp,
    /// One less, at least 0.
    DecrementClamp,
    /// One more; 0 after the greatest value.
    IncrementWrap,
    /// One less; the greatest value after 0.
    DecrementWrap,
    /// Every bit the other way.
    Invert,
}

/// What became of a fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StencilOutcome {
    /// It failed the stencil test.
    Fail,
    /// It passed that and failed the depth test.
    DepthFail,
    /// It passed both.
    Pass,
}

/// When a fragment passes the stencil test, and what it leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct StencilTest {
    /// The reference compared with the stored value, both under the read mask.
    pub compare: Comparison,
    /// The value that fragments bring.
    pub reference: u8,
    /// Bits that are compared.
    pub read_mask: u8,
    /// Bits that are written.
    pub write_mask: u8,
    /// Done when the stencil test fails.
    pub fail: StencilOperation,
    /// Done when the stencil test passes and the depth test fails.
    pub depth_fail: StencilOperation,
    /// Done when both pass.
    pub pass: StencilOperation,
    /// Whether the top bit, `TERMINATED`, belongs to early termination. The application then
    /// sees a stencil of seven bits: the greatest value is 127, references above it count as it,
    /// and no mask reaches the top bit. Set by the pipeline, not by configuration files.
    #[serde(skip)]
    pub top_bit_taken: bool,
}

impl Default for StencilTest {
    /// Always passes and keeps what is stored: no stencil test.
    fn default() -> Self {
        Self {
            compare: Comparison::Always,
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
    /// The greatest value that the application sees; also the mask of its bits.
    #[must_use]
    #[inline]
    pub fn greatest(&self) -> u8 {
        if self.top_bit_taken {
            !TERMINATED
        } else {
            0xff
        }
    }

    /// Whether a fragment passes where `stored` is.
    #[must_use]
    #[inline]
    pub fn passes(&self, stored: u8) -> bool {
        let mask = self.read_mask & self.greatest();
        let reference = self.reference.min(self.greatest());
        self.compare.passes(reference & mask, stored & mask)
    }

    /// What is stored after a fragment of this outcome; bits outside the write mask stay.
    #[inline]
    pub(crate) fn updated(&self, stored: u8, outcome: StencilOutcome) -> u8 {
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
            compare: Comparison::Equal,
            reference: 0x35,
            read_mask: 0x0f,
            ..StencilTest::default()
        };
        assert!(test.passes(0x05) && test.passes(0xf5) && !test.passes(0x36));
        test.read_mask = 0xff;
        assert!(test.passes(0x35) && !test.passes(0xb5));
        // The reference is on the left, as in OpenGL.
        test.compare = Comparison::Less;
        assert!(test.passes(0x36) && !test.passes(0x35));
    }

    #[test]
    fn a_closed_pixel_looks_the_same_to_the_application() {
        for compare in Comparison::ALL {
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
        assert_eq!(test.compare, Comparison::NotEqual);
        assert_eq!(test.depth_fail, Op::IncrementWrap);
        assert_eq!((test.reference, test.read_mask), (3, 0xff));
        assert!(toml::from_str::<StencilTest>("top-bit-taken = true").is_err());
    }
}
