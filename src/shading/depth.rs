//! The depth test, as in OpenGL.

use serde::{Deserialize, Serialize};

use super::comparison::Comparison;

/// When a fragment passes the depth test, and whether it then leaves its depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct DepthTest {
    /// The fragment's depth compared with the stored one.
    pub compare: Comparison,
    /// Whether a fragment that passes replaces the stored depth.
    pub write: bool,
}

impl Default for DepthTest {
    /// Always passes, writes nothing: no depth test.
    fn default() -> Self {
        Self {
            compare: Comparison::Always,
            write: false,
        }
    }
}

impl DepthTest {
    /// Whether a fragment at depth `fragment` passes where `stored` is; same units, any range. NaN
    /// on either side passes `NotEqual` and `Always` only.
    #[must_use]
    #[inline]
    pub fn passes(self, fragment: f32, stored: f32) -> bool {
        self.compare.passes(fragment, stored)
    }

    /// The depth stored after a fragment of depth `fragment` was tested: its own when it passed and
    /// the test writes.
    #[must_use]
    #[inline]
    pub fn updated(self, fragment: f32, stored: f32) -> f32 {
        if self.write && self.passes(fragment, stored) {
            fragment
        } else {
            stored
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_and_writes() {
        let test = DepthTest {
            compare: Comparison::Less,
            write: true,
        };
        assert!(test.passes(0.25, 0.5) && !test.passes(0.5, 0.5));
        assert_eq!(test.updated(0.25, 0.5), 0.25);
        assert_eq!(test.updated(0.75, 0.5), 0.5);
        assert_eq!(test.updated(f32::NAN, 0.5), 0.5);
        let read_only = DepthTest {
            write: false,
            ..test
        };
        assert_eq!(read_only.updated(0.25, 0.5), 0.5);
        let or_equal = DepthTest {
            compare: Comparison::LessOrEqual,
            write: false,
        };
        assert!(or_equal.passes(0.5, 0.5));
    }

    #[test]
    fn the_default_is_no_test() {
        let test = DepthTest::default();
        assert!(test.passes(2.0, 1.0) && test.passes(f32::NAN, 1.0));
        assert_eq!(test.updated(2.0, 1.0), 1.0);
    }

    #[test]
    fn reads_configuration() {
        let test: DepthTest = toml::from_str("compare = \"greater-or-equal\"").unwrap();
        assert_eq!(test.compare, Comparison::GreaterOrEqual);
        assert!(!test.write);
        assert!(toml::from_str::<DepthTest>("comparison = \"less\"").is_err());
    }
}
