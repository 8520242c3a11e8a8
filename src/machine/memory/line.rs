//! Cache lines and sectors.

use quadrille_base::math::fit;

/// Bytes of a cache line.
pub const LINE_BYTES: u64 = 128;
/// Bytes of a sector, the unit of transfer.
pub const SECTOR_BYTES: u64 = 32;

/// Number of the line of byte `address`; fits 32 bits, as pictures have fewer than 2^32 pixels of at most 128 bytes.
#[inline]
pub fn line_at(address: u64) -> u32 {
    fit(address / LINE_BYTES)
}

/// Number of lines that hold `bytes`.
pub fn lines_of(bytes: u64) -> u32 {
    line_at(bytes + LINE_BYTES - 1)
}
