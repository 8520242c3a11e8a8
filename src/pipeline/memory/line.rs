//! How memory is divided.

/// Bytes of a cache line.
pub const LINE_BYTES: u64 = 128;
/// Bytes of a sector, the least that is moved.
pub const SECTOR_BYTES: u64 = 32;

/// The line in which byte `address` of memory lies. Lines are fewer than 2^32: pictures have fewer
/// than 2^32 pixels, of at most 128 bytes.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "fewer than 2^32 lines")]
pub fn line_at(address: u64) -> u32 {
    (address / LINE_BYTES) as u32
}

/// Lines that `bytes` take.
pub fn lines_of(bytes: u64) -> u32 {
    line_at(bytes + LINE_BYTES - 1)
}
