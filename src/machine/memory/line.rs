//! Cache lines and sectors.

use quadrille_base::math::fit;

/// Bytes per cache line.
pub const LINE_BYTES: u64 = 128;
/// Bytes per sector, the unit of transfer.
pub const SECTOR_BYTES: u64 = 32;

/// Line of the byte at `address`; fits 32 bits, since pictures have fewer than 2^32 pixels of at most 128 bytes.
#[inline]
pub fn line_at(address: u64) -> u32 {
    fit(address / LINE_BYTES)
}

/// Number of lines for `bytes`, rounded up.
pub fn lines_of(bytes: u64) -> u32 {
    line_at(bytes + LINE_BYTES - 1)
}
