//! Types of numbers in files.

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

    /// Reads the little-endian number at the start of `bytes`; of too few bytes, the number is 0.
    pub fn read(self, bytes: &[u8]) -> f64 {
        let mut raw = [0; 8];
        let size = self.size_bytes();
        let Some(source) = bytes.get(..size) else { return 0.0 };
        raw[..size].copy_from_slice(source);
        let [a, b, c, d, ..] = raw;
        match self {
            Self::I8 => f64::from(i8::from_le_bytes([a])),
            Self::U8 => f64::from(a),
            Self::I16 => f64::from(i16::from_le_bytes([a, b])),
            Self::U16 => f64::from(u16::from_le_bytes([a, b])),
            Self::I32 => f64::from(i32::from_le_bytes([a, b, c, d])),
            Self::U32 => f64::from(u32::from_le_bytes([a, b, c, d])),
            Self::F32 => f64::from(f32::from_le_bytes([a, b, c, d])),
            Self::F64 => f64::from_le_bytes(raw),
        }
    }

    /// Size in bytes.
    pub fn size_bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }
}
