//! Lines and sectors of memory that hold stencil and depth values.

use quadrille_base::raster::tiles::QUADS_PER_TILE;
use quadrille_machine::{LINE_BYTES, Quad, SECTOR_BYTES, line_at};

/// Sectors of a line, as a mask.
pub(super) type LineSectors = (u32, u8);

/// Sectors of a line.
const LINE_SECTORS: u32 = (LINE_BYTES / SECTOR_BYTES) as u32;
/// Lines of a tile whose quads have a sector each.
const LINES: u32 = QUADS_PER_TILE / LINE_SECTORS;

/// The lines and sectors that hold `bytes` bytes from `address` on.
pub(super) fn sectors_at(address: u64, bytes: u64) -> impl Iterator<Item = LineSectors> {
    let sectors = address / SECTOR_BYTES..=(address + bytes - 1) / SECTOR_BYTES;
    sectors.map(line_sector)
}

/// The line of a sector, and the sector in it.
#[inline]
pub(super) fn line_sector(sector: u64) -> LineSectors {
    let line = line_at(sector * SECTOR_BYTES);
    (line, 1 << (sector % (LINE_BYTES / SECTOR_BYTES)))
}

/// The line of a tile, counted from its first, and the sectors in it that hold the values of `quads`, of `per_quad`
/// bytes each, if all lie in one line and each in one sector. Most beats are of one raster tile, whose values do.
#[allow(clippy::cast_possible_truncation, reason = "four bits")]
#[inline(always)]
pub(super) fn one_line(quads: &[Quad], per_quad: u64) -> Option<LineSectors> {
    if !per_quad.is_power_of_two() || per_quad > SECTOR_BYTES {
        return None;
    }
    let shift = SECTOR_BYTES.trailing_zeros() - per_quad.trailing_zeros();
    let sectors = quads.iter().fold(0_u64, |sectors, quad| {
        sectors | u64::from(quad.mask != 0) << (quad.position >> shift)
    });
    let line = sectors.trailing_zeros() / LINE_SECTORS % LINES;
    let sectors = sectors >> (line * LINE_SECTORS);
    (sectors < 1 << LINE_SECTORS).then_some((line, sectors as u8))
}
