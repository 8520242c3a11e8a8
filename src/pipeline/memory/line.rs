//! How memory is divided.

/// Bytes of a cache line.
pub const LINE_BYTES: u64 = 128;
/// Bytes of a sector, the least that is moved.
pub const SECTOR_BYTES: u64 = 32;
