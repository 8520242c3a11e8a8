//! Specification of the caches, headers and bus of the modelled memory.

use quadrille_machine::spec;

spec! {
    /// Configuration of the caches and the bus between the pipelines and memory.
    MemorySpec in "memory" {
        /// Bytes of the cache of depth blocks.
        depth_cache_bytes: u64 = 64 << 10, 256..=1 << 40, Published "section 5.3, after Andersson and others 2011";
        /// Bytes of the cache of colour blocks, which also holds blocks of shading point identifiers.
        colour_cache_bytes: u64 = 128 << 10, 256..=1 << 40, Published "section 5.3";
        /// Bytes of the cache of the headers of depth blocks.
        header_cache_bytes: u64 = 32 << 10, 64..=1 << 40, Published "section 5.3";
        /// Bytes of a line of the header cache.
        header_line_bytes: u64 = 64, 16..=4096, Published "section 5.3";
        /// Bytes of the header of a depth block: far depth, control bits and a clear bit per sample.
        header_bytes: u64 = 16, 13..=4096, Assumed "section 5.3 names the contents; 4 + 1 + 8 bytes, rounded up to a power of two";
        /// Width of the memory bus in bytes; sizes of packed blocks are multiples of this width.
        bus_bytes: u64 = 64, 64..=256, Published "section 5.3, at most 4:1";
        /// Bytes of a resolved pixel in memory.
        resolved_pixel_bytes: u64 = 4, 1..=16, Assumed "all pipelines write RGBA8; section 5.3 does not name the format";
    }
}

impl MemorySpec {
    /// Bytes that a packed block of `bits` moves over the bus: whole transfers.
    #[inline]
    pub(crate) fn bus_bytes_of(&self, bits: u32) -> u64 {
        u64::from(bits).div_ceil(8).next_multiple_of(self.bus_bytes)
    }
}
