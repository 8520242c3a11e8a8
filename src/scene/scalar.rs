/// Type of a number in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalar {
    /// Signed, 8 bits.
    I8,
    /// Unsigned, 8 bits.
    U8,
    /// Signed, 16 bits.
    I16,
    /// Unsigned, 16 bits.
    U16,
    /// Signed, 32 bits.
    I32,
    /// Unsigned, 32 bits.
    U32,
    /// Float of 32 bits.
    F32,
    /// Float of 64 bits.
    F64,
}

impl Scalar {
    /// Whether the type holds numbers that f32 rounds.
    pub fn is_finer_than_f32(self) -> bool {
        matches!(self, Self::I32 | Self::U32 | Self::F64)
    }

    pub(crate) fn size_bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }
}
