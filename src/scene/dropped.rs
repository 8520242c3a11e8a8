//! Rows that a reader left out.

/// Rows of a file that hold no splat, by the first reason that applies; each a count of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[non_exhaustive]
pub struct Dropped {
    /// A value is not a number.
    pub nan: u64,
    /// A value is infinite.
    pub infinite: u64,
    /// The rotation is all zero.
    pub zero_rotation: u64,
    /// A scale exceeds the largest f32 once activated.
    pub scale_overflow: u64,
}

impl Dropped {
    /// All dropped rows.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.nan + self.infinite + self.zero_rotation + self.scale_overflow
    }

    /// Each reason in words, with its count.
    #[must_use]
    pub fn by_reason(&self) -> [(&'static str, u64); 4] {
        [
            ("not a number", self.nan),
            ("infinite", self.infinite),
            ("zero rotation", self.zero_rotation),
            ("scale overflow", self.scale_overflow),
        ]
    }

    /// The counts of two parts of a file together.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            nan: self.nan + other.nan,
            infinite: self.infinite + other.infinite,
            zero_rotation: self.zero_rotation + other.zero_rotation,
            scale_overflow: self.scale_overflow + other.scale_overflow,
        }
    }
}
