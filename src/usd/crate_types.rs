//! Types of values in binary layers, numbered as in the format, and words that hold a value or its place.

pub(crate) const BOOL: u8 = 1;
pub(crate) const UCHAR: u8 = 2;
pub(crate) const INT: u8 = 3;
pub(crate) const UINT: u8 = 4;
pub(crate) const INT64: u8 = 5;
pub(crate) const UINT64: u8 = 6;
pub(crate) const HALF: u8 = 7;
pub(crate) const FLOAT: u8 = 8;
pub(crate) const DOUBLE: u8 = 9;
pub(crate) const STRING: u8 = 10;
pub(crate) const TOKEN: u8 = 11;
/// Matrices of double precision with 2, 3 and 4 rows.
pub(crate) const MATRICES: std::ops::RangeInclusive<u8> = 13..=15;
pub(crate) const MATRIX4D: u8 = 15;
pub(crate) const QUATF: u8 = 17;
pub(crate) const VEC2H: u8 = 21;
pub(crate) const VEC3F: u8 = 24;
pub(crate) const TOKEN_LIST_OP: u8 = 32;
pub(crate) const STRING_LIST_OP: u8 = 33;
pub(crate) const REFERENCE_LIST_OP: u8 = 35;
pub(crate) const TOKEN_VECTOR: u8 = 41;
pub(crate) const SPECIFIER: u8 = 42;
pub(crate) const VARIABILITY: u8 = 44;
pub(crate) const TIME_SAMPLES: u8 = 46;
pub(crate) const PAYLOAD: u8 = 47;
pub(crate) const STRING_VECTOR: u8 = 50;
pub(crate) const VALUE_BLOCK: u8 = 51;
pub(crate) const PAYLOAD_LIST_OP: u8 = 55;
pub(crate) const TIME_CODE: u8 = 56;

/// Components and bytes per component of vectors, quaternions and matrices.
pub(crate) fn shape(kind: u8) -> Option<(usize, usize)> {
    Some(match kind {
        HALF => (1, 2),
        FLOAT => (1, 4),
        DOUBLE => (1, 8),
        13 => (4, 8),
        14 => (9, 8),
        MATRIX4D => (16, 8),
        // Quaternions and vectors are numbered from double to half, and vectors end with integers.
        16..=18 => (4, 8 >> (kind - 16)),
        19..=30 => {
            let component = (kind - 19) % 4;
            (usize::from((kind - 19) / 4) + 2, if component == 3 { 4 } else { 8 >> component })
        }
        _ => return None,
    })
}

pub(crate) fn has_integers(kind: u8) -> bool {
    matches!(kind, 22 | 26 | 30)
}

/// Type of a value.
pub(crate) fn kind_of(value: u64) -> u8 {
    value.to_le_bytes()[6]
}

/// Content of a value, or the position of its content.
pub(crate) fn payload_of(value: u64) -> u64 {
    value & ((1 << 48) - 1)
}
