/// Type of a number in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalar {
    /// Signed integer of 8 bits.
    I8,
    /// Unsigned integer of 8 bits.
    U8,
    /// Signed integer of 16 bits.
    I16,
    /// Unsigned integer of 16 bits.
    U16,
    /// Signed integer of 32 bits.
    I32,
    /// Unsigned integer of 32 bits.
    U32,
    /// Float of 32 bits.
    F32,
    /// Float of 64 bits.
    F64,
}

impl Scalar {
    /// True if the type has numbers that f32 cannot represent.
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
