//! The depth test, as in OpenGL.

use serde::{Deserialize, Serialize};

use super::compare_op::CompareOp;

/// Depth test: comparison, and whether fragments that pass write their depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct DepthTest {
    /// Comparison of the fragment's depth with the stored one.
    pub compare: CompareOp,
    /// Whether a fragment that passes replaces the stored depth.
    pub write: bool,
}

impl Default for DepthTest {
    /// No depth test: always passes, writes nothing.
    fn default() -> Self {
        Self { compare: CompareOp::Always, write: false }
    }
}

impl DepthTest {
    /// Whether depth `fragment` passes against depth `stored`. NaN on either side passes `NotEqual` and `Always` only.
    #[inline]
    pub fn passes(self, fragment: f32, stored: f32) -> bool {
        self.compare.passes(fragment, stored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_as_it_compares() {
        let test = |compare| DepthTest { compare, write: true };
        let less = test(CompareOp::Less);
        assert!(less.passes(0.25, 0.5) && !less.passes(0.5, 0.5));
        assert!(test(CompareOp::LessOrEqual).passes(0.5, 0.5));
        let default = DepthTest::default();
        assert!(default.passes(2.0, 1.0) && default.passes(f32::NAN, 1.0) && !default.write);
    }

    #[test]
    fn reads_configuration() {
        let test: DepthTest = toml::from_str("compare = \"greater-or-equal\"").unwrap();
        assert_eq!(test.compare, CompareOp::GreaterOrEqual);
        assert!(!test.write);
        assert!(toml::from_str::<DepthTest>("comparison = \"less\"").is_err());
    }
}
