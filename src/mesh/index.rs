//! Checked casts to narrow indices.

/// An index of 32 bits: a frame holds fewer than 2^31 quads, a mesh fewer than 2^32 vertices.
#[inline]
#[allow(
    clippy::cast_possible_truncation,
    reason = "checked where items are created"
)]
pub fn index32(v: usize) -> u32 {
    debug_assert!(u32::try_from(v).is_ok());
    v as u32
}

/// An index of 16 bits: a grid has at most 512 triangles, a picture at most 2^15 pixels per side.
#[inline]
#[allow(
    clippy::cast_possible_truncation,
    reason = "checked where items are created"
)]
pub fn index16(v: usize) -> u16 {
    debug_assert!(u16::try_from(v).is_ok());
    v as u16
}
