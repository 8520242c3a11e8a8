//! Blending in the fragment shader from the tile buffer (framebuffer fetch), in the order of each pixel.
//!
//! A warp with a surviving fragment waits until the stores of the last fragments at the positions of its quads are done
//! (assumption: order is kept by quads of 2x2 pixels). It then reads their colours from the tile buffer, blends, and writes
//! them back. Requests pass ports of their own in both directions. A waiting warp keeps its slot and issues nothing.
//! Flushes of tile coalescing hold a pixel at most once, as with critical sections, so that no warp waits for itself.

use quadrille_base::raster::tiles::TILE_LENGTH;
use quadrille_machine::{
    Calendar, Cycle, Rate, SECTOR_BYTES, ShadedWarp, Visitor, spec, statistics,
};

spec! {
    /// Access of the shader cores to the tile buffer of a tile-based GPU.
    TileFetchSpec in "tile_fetch" {
        /// Bytes per cycle from the tile buffer to the cores and, separately, to it.
        bytes_per_cycle: u64 = 128, 1..=4096, Assumed "four quads of RGBA16F, the largest rate of the tile buffer's blends";
        /// Latency of a read and of a write in cycles.
        latency_cycles: u64 = 20, 0..=10_000, Assumed "as a hit in the first-level cache or shared memory";
    }
}

impl TileFetchSpec {
    /// Upper bound, in cycles, on how far requests are out of time order when `slots` warps wait for each other, each with
    /// `latency` from its colours to its stores.
    pub(crate) fn reordered(&self, slots: u64, latency: u64) -> Cycle {
        2 * slots * (2 * self.latency_cycles + latency)
    }
}

statistics! {
    /// Waits of the blends in the shader for earlier fragments of their pixels.
    pub struct TileFetchCounters {
        /// Sectors of colour read from the tile buffer; as many are written.
        pub sectors: u64,
        /// Warps that waited for earlier fragments.
        pub warps_waited: u64,
        /// Cycles in which warps occupied their slots while waiting for them, over all warps.
        pub wait_cycles: u64,
    }
}

#[derive(Debug)]
pub(crate) struct TileFetch {
    latency: u64,
    bytes_per_quad: u64,
    read: Calendar,
    write: Calendar,
    counters: TileFetchCounters,
}

impl TileFetch {
    /// Creates idle ports. Requests are up to `reordered` cycles out of time order.
    pub(crate) fn new(spec: &TileFetchSpec, bytes_per_quad: u64, reordered: Cycle) -> Self {
        let port = || Calendar::spanning(Rate::of(spec.bytes_per_cycle, 1), reordered);
        Self {
            latency: spec.latency_cycles,
            bytes_per_quad,
            read: port(),
            write: port(),
            counters: TileFetchCounters::default(),
        }
    }

    /// Blends a warp that is shaded at `shaded`, with `latency` from its colours to its stores. `blended_at` holds the cycle
    /// of the last store at each position. Returns the cycle at which its stores are done, and whether it waited.
    pub(super) fn blend(
        &mut self,
        warp: &ShadedWarp,
        shaded: Cycle,
        latency: u64,
        blended_at: &mut [Cycle],
    ) -> (Cycle, bool) {
        let places = || warp.quads.iter().map(|quad| usize::from(quad.position) % TILE_LENGTH);
        let entered = places().fold(shaded, |at, place| at.max(blended_at[place]));
        let wait = entered - shaded;
        self.counters.warps_waited += u64::from(wait > 0);
        self.counters.wait_cycles += wait;
        let bytes = warp.quads.len() as u64 * self.bytes_per_quad;
        let loaded = self.read.book(bytes, entered) + self.latency;
        let stored = self.write.book(bytes, loaded + latency) + self.latency;
        places().for_each(|place| blended_at[place] = stored);
        (stored, wait > 0)
    }

    /// Sectors read, as many as are written.
    pub(super) fn sectors(&self) -> u64 {
        self.read.bytes.div_ceil(SECTOR_BYTES)
    }

    pub(super) fn visit(&self, visitor: &mut dyn Visitor) {
        for (name, port) in [("tile_read", &self.read), ("tile_store", &self.write)] {
            visitor.cache_port(name, port.rate(), port.bytes);
        }
        let counters = TileFetchCounters { sectors: self.sectors(), ..self.counters.clone() };
        visitor.statistics(TileFetchSpec::UNIT, &counters);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadrille_machine::ColourQuad;

    /// A quad of 32 bytes passes each port in its cycle: read at 100, loaded at 110, blended at 134, stored at 144. The
    /// second warp shares a position and waits for that; the third does not.
    #[test]
    fn a_warp_waits_for_the_stores_at_its_positions() {
        let spec = TileFetchSpec { bytes_per_cycle: 32, latency_cycles: 10 };
        let mut fetch = TileFetch::new(&spec, 32, 1000);
        let warp = |position| ShadedWarp {
            tile: 0,
            quads: [ColourQuad { mask: 1, position, ..ColourQuad::default() }]
                .into_iter()
                .collect(),
        };
        let mut blended_at = [0; TILE_LENGTH];
        let mut blend = |position, at| fetch.blend(&warp(position), at, 24, &mut blended_at);
        assert_eq!(blend(3, 100), (144, false));
        assert_eq!(blend(3, 110), (188, true));
        assert_eq!(blend(4, 120), (164, false));
        assert_eq!((fetch.counters.warps_waited, fetch.counters.wait_cycles), (1, 34));
    }
}
