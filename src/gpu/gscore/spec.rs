//! Configuration of GSCore: numbers and rates of its units, memory bandwidth, power and area.

use serde::{Deserialize, Serialize};

use crate::optional_parts::KEPT_ORDER;
use quadrille_machine::spec;

/// Order in which the accelerator blends the splats of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SortOrder {
    /// The exact order: all pairs are sorted in every frame.
    Sorted,
    /// The order of the last frame of a sequence, updated.
    Kept,
}

spec! {
    /// Configuration of the accelerator GSCore.
    GscoreSpec in "gscore" {
        /// Clock in MHz.
        clock_mhz: f64 = 1000.0, 1.0..=100_000.0, Published "GSCore (ASPLOS 2024): 1 GHz in 28 nm";
        /// Bandwidth of DRAM in GB/s (10^9 bytes per second).
        gb_per_s: f64 = 51.2, 0.001..=1_000_000.0, Published "GSCore (ASPLOS 2024)";
        /// Power in W, without DRAM.
        power_w: f64 = 0.87, 0.0..=1e4, Published "GSCore (ASPLOS 2024), in 28 nm";
        /// Area in mm2.
        area_mm2: f64 = 3.95, 0.0..=1e6, Published "GSCore (ASPLOS 2024), in 28 nm";
        /// Number of culling and conversion units.
        culling_units: u64 = 4, 1..=1_024, Assumed "four, as later work lists GSCore's units";
        /// Cycles per splat in a culling unit.
        culling_cycles: u64 = 1, 1..=1_024, Assumed "a pipeline that takes a splat per cycle";
        /// Number of quick-sort units, which sort the pairs of a tile coarsely into chunks.
        quick_sort_units: u64 = 8, 1..=1_024, Assumed "eight, as later work lists GSCore's units";
        /// Pairs that a quick-sort unit processes per cycle in each pass.
        quick_sort_pairs: u64 = 1, 1..=1_024, Assumed "a comparison with the pivot per cycle";
        /// Pairs per chunk.
        chunk: u64 = 256, 2..=65_536, Assumed "the size that a bitonic unit sorts on the chip";
        /// Number of bitonic units, which sort chunks exactly.
        bitonic_units: u64 = 4, 1..=1_024, Assumed "four, as later work lists GSCore's units";
        /// Pairs that a bitonic unit compares and exchanges per cycle.
        bitonic_width: u64 = 16, 2..=65_536, Assumed "as later work lists GSCore's units";
        /// Bytes per pair: depth, splat and bitmap.
        pair_bytes: u64 = 12, 1..=1_024, Assumed "32 bits each";
        /// Whether each pass of the quick-sort units reads its pairs from memory and writes them back.
        passes_in_memory: bool = false, .., Assumed "the pairs of a tile stay on the chip between passes";
        /// Order of blending: `sorted`, or `kept`, which updates the order of the last frame of a sequence.
        order: SortOrder = SortOrder::Sorted, SortOrder::Sorted..=SortOrder::Kept, Published "GSCore (ASPLOS 2024); `kept` is the order of Neo (arXiv 2511.12930)", only_if KEPT_ORDER;
        /// Bytes of a depth that rendering cores write back per entry, in a kept order.
        depth_bytes: u64 = 4, 0..=64, Assumed "32 bits", only_if KEPT_ORDER;
        /// Bytes per projected splat that state its tiles in the last frame, read and written, in a kept order.
        span_bytes: u64 = 8, 0..=64, Assumed "four bounds of 16 bits, by which incoming and outgoing pairs are found", only_if KEPT_ORDER;
        /// Number of rendering cores; each draws one tile at a time.
        cores: u64 = 4, 1..=1_024, Assumed "64 rendering units in four groups";
        /// Rendering units per core, one pixel per cycle each.
        units_per_core: u64 = 16, 1..=64, Assumed "64 rendering units in four groups";
        /// Bytes read per list entry: centre, conic, opacity and colour.
        entry_bytes: u64 = 36, 1..=1_024, Assumed "nine floats, without a cache that keeps them from one tile to the next";
    }
}
