//! Memory layout of the raster kernel's arrays, and timed reads and writes of their parts.

use super::block::BLOCK_THREADS;
use quadrille_base::raster::tiles::TILE_PX;
use quadrille_machine::{Client, Cycle, LINE_BYTES, Memory, SECTOR_BYTES, line_at, lines_of};
use quadrille_render::preprocess::ProjectedSplat;

/// Bytes of a list entry, of a pixel in a plane, and of a splat's centre, conic with opacity, and colour.
const ID_BYTES: u64 = 4;
const PIXEL_BYTES: u64 = 4;
const CENTRE_BYTES: u64 = 8;
const CONIC_BYTES: u64 = 16;
const COLOUR_BYTES: u64 = 12;
/// Output planes: red, green, blue, transmittance, last contributing entry.
const PLANES: u64 = 5;
/// Alignment of arrays in bytes, as by `cudaMalloc`.
const ALIGNMENT: u64 = 256;
const LANES: usize = 32;

/// Base addresses of the arrays in bytes. Arrays of splats are indexed by scene index.
#[derive(Debug)]
pub(super) struct Addresses {
    ids: u64,
    centres: u64,
    conics: u64,
    colours: u64,
    planes: u64,
    plane_bytes: u64,
    end: u64,
    size: [u32; 2],
}

impl Addresses {
    pub(super) fn new(pairs: u64, splats: u64, size: [u32; 2]) -> Self {
        let mut end = 0;
        let mut array = |bytes: u64| {
            let first = end;
            end = (first + bytes).next_multiple_of(ALIGNMENT);
            first
        };
        let plane = u64::from(size[0]) * u64::from(size[1]) * PIXEL_BYTES;
        let plane_bytes = plane.next_multiple_of(ALIGNMENT);
        Self {
            ids: array(pairs * ID_BYTES),
            centres: array(splats * CENTRE_BYTES),
            conics: array(splats * CONIC_BYTES),
            colours: array(splats * COLOUR_BYTES),
            planes: array(plane_bytes * PLANES),
            plane_bytes,
            end,
            size,
        }
    }

    pub(super) fn lines(&self) -> u32 {
        lines_of(self.end)
    }

    pub(super) fn read_ids(
        &self,
        memory: &mut Memory,
        first: usize,
        count: usize,
        at: Cycle,
    ) -> Cycle {
        let address = self.ids + first as u64 * ID_BYTES;
        parts(address, count as u64 * ID_BYTES).fold(at, |arrived, (line, sectors)| {
            arrived.max(memory.read(Client::Vertex, line, sectors, at))
        })
    }

    /// Reads centres and conics of up to 32 `entries` like a warp, each sector once. Returns the last arrival.
    pub(super) fn gather(
        &self,
        memory: &mut Memory,
        entries: &[u32],
        splats: &[ProjectedSplat],
        at: Cycle,
    ) -> Cycle {
        let arrays = [(self.centres, CENTRE_BYTES), (self.conics, CONIC_BYTES)];
        let mut arrived = at;
        for (array, bytes) in arrays {
            // No element crosses a sector: element sizes divide the sector size, and arrays begin at a sector.
            let mut sectors = [u64::MAX; LANES];
            for (sector, entry) in sectors.iter_mut().zip(entries) {
                *sector = (array + u64::from(splats[*entry as usize].index) * bytes) / SECTOR_BYTES;
            }
            sectors.sort_unstable();
            let mut last = u64::MAX;
            for sector in sectors.into_iter().take_while(|sector| *sector != u64::MAX) {
                if sector != last {
                    let (line, mask) = part(sector * SECTOR_BYTES);
                    arrived = arrived.max(memory.read(Client::Vertex, line, mask, at));
                }
                last = sector;
            }
        }
        arrived
    }

    pub(super) fn read_colour(
        &self,
        memory: &mut Memory,
        splat: &ProjectedSplat,
        at: Cycle,
    ) -> Cycle {
        let address = self.colours + u64::from(splat.index) * COLOUR_BYTES;
        parts(address, COLOUR_BYTES).fold(at, |arrived, (line, sectors)| {
            arrived.max(memory.read(Client::VertexResults, line, sectors, at))
        })
    }

    pub(super) fn write_tile(&self, memory: &mut Memory, origin: [u32; 2], at: Cycle) -> Cycle {
        let end = |axis: usize| (origin[axis] + TILE_PX).min(self.size[axis]);
        let columns = u64::from(end(0) - origin[0]);
        let mut accepted = at;
        for plane in 0..PLANES {
            for y in origin[1]..end(1) {
                let pixel = u64::from(y) * u64::from(self.size[0]) + u64::from(origin[0]);
                let address = self.planes + plane * self.plane_bytes + pixel * PIXEL_BYTES;
                for (line, sectors) in parts(address, columns * PIXEL_BYTES) {
                    accepted = accepted.max(memory.write(Client::Colour, line, sectors, at));
                }
            }
        }
        accepted
    }
}

fn part(address: u64) -> (u32, u8) {
    let sector = address % LINE_BYTES / SECTOR_BYTES;
    (line_at(address), 1 << sector)
}

fn parts(address: u64, bytes: u64) -> impl Iterator<Item = (u32, u8)> {
    let first = address / SECTOR_BYTES;
    let last = (address + bytes - 1) / SECTOR_BYTES;
    let per_line = LINE_BYTES / SECTOR_BYTES;
    (first / per_line..=last / per_line).map(move |line| {
        let begin = line * per_line;
        let from = first.saturating_sub(begin);
        let to = (last - begin).min(per_line - 1);
        (line_at(begin * SECTOR_BYTES), (from..=to).fold(0, |mask, sector| mask | 1 << sector))
    })
}

const _: () = assert!(BLOCK_THREADS.is_multiple_of(LANES));

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes 100 to 299: sector 3 of line 0, line 1, and sectors 0 and 1 of line 2.
    #[test]
    fn a_span_is_cut_into_lines() {
        let found: Vec<_> = parts(100, 200).collect();
        assert_eq!(found, [(0, 0b1000), (1, 0b1111), (2, 0b0011)]);
        let found: Vec<_> = parts(128, 32).collect();
        assert_eq!(found, [(1, 0b0001)]);
    }

    #[test]
    fn arrays_follow_each_other() {
        let addresses = Addresses::new(100, 10, [16, 16]);
        let Addresses { ids, centres, conics, colours, planes, end, .. } = addresses;
        assert_eq!([ids, centres, conics, colours, planes], [0, 512, 768, 1024, 1280]);
        assert_eq!(end, 1280 + 5 * 1024);
        assert_eq!(addresses.lines(), 50);
    }
}
