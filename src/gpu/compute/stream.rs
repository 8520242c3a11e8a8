//! Kernels as streams of bytes and instructions: each takes as long as the slower of both, and the gap in
//! front of it.

use serde::Serialize;

use quadrille_base::math::whole;
use quadrille_machine::{Cycle, documented, spec};

spec! {
    /// The kernels ahead of the raster: preprocess, scan, duplicate, sort, ranges.
    KernelsSpec in "kernels" {
        /// Share of DRAM's bandwidth that a kernel reaches that reads and writes in order.
        bandwidth_share: f64 = 0.9, 0.01..=1.0, Assumed "common for streaming kernels";
        /// Share of DRAM's bandwidth that a pass of the radix sort reaches.
        sort_bandwidth_share: f64 = 0.7, 0.01..=1.0, Assumed "Onesweep (arXiv 2206.01784) reaches 0.68 on an A100";
        /// Time between two kernels in nanoseconds.
        gap_ns: f64 = 1500.0, 0.0..=1_000_000_000.0, Assumed "a kernel that is queued behind another";
        /// Time in nanoseconds for which the host reads the number of pairs before it starts the kernels
        /// behind the scan.
        readback_ns: f64 = 10_000.0, 0.0..=1_000_000_000.0, Assumed "a wait, a copy of four bytes and a launch";
        /// Bytes that preprocess reads and writes for a splat in front of the near plane.
        near_bytes: u64 = 20, 0..=1_000_000, Published "preprocessCUDA of diff-gaussian-rasterization: 12 read, 8 written";
        /// Bytes that preprocess reads and writes for a splat off the picture.
        off_screen_bytes: u64 = 72, 0..=1_000_000, Published "preprocessCUDA: 40 read, 32 written";
        /// Bytes that preprocess reads and writes for a visible splat without its spherical harmonics.
        visible_bytes: u64 = 119, 0..=1_000_000, Published "preprocessCUDA: 44 read, 75 written";
        /// Bytes of a coefficient of the spherical harmonics.
        sh_bytes: u64 = 12, 0..=1_000_000, Published "preprocessCUDA: three floats";
        /// Instructions of preprocess for a splat in front of the near plane.
        near_instructions: u64 = 51, 0..=100_000, Published "preprocessCUDA, by NVRTC 13.5 and nvdisasm for sm_87";
        /// Instructions of preprocess for a splat off the picture.
        off_screen_instructions: u64 = 421, 0..=100_000, Published "as kernels.near_instructions";
        /// Instructions of preprocess for a visible splat with a constant colour.
        visible_instructions: u64 = 542, 0..=100_000, Published "as kernels.near_instructions";
        /// Instructions of preprocess per coefficient of the spherical harmonics beyond the constant one.
        sh_instructions: u64 = 9, 0..=100_000, Published "as kernels.near_instructions: 132 for 15";
        /// Bytes that the scan reads and writes per splat.
        scan_bytes: u64 = 8, 0..=1_000_000, Published "InclusiveSum over 32-bit counts";
        /// Instructions of the scan per splat.
        scan_instructions: u64 = 20, 0..=100_000, Assumed "loads, the scan of a warp in five steps, look-back, stores";
        /// Bytes that duplicate reads per visible splat.
        duplicate_bytes: u64 = 20, 0..=1_000_000, Published "duplicateWithKeys: centre, depth, offset, radius";
        /// Bytes of the key of a pair: tile and depth.
        key_bytes: u64 = 8, 1..=64, Published "duplicateWithKeys: 64-bit keys";
        /// Bytes of the value of a pair: the splat.
        value_bytes: u64 = 4, 0..=64, Published "duplicateWithKeys: 32-bit values";
        /// Instructions of duplicate per splat beside its pairs.
        duplicate_instructions: u64 = 71, 0..=100_000, Published "duplicateWithKeys, by NVRTC 13.5 and nvdisasm for sm_87";
        /// Instructions of duplicate per pair of the splat of a warp that has most.
        pair_instructions: u64 = 9, 0..=100_000, Published "as kernels.duplicate_instructions";
        /// Cycles per pair of duplicate, which writes the pairs of a splat one after the other.
        pair_chain_cycles: u64 = 44, 0..=100_000, Assumed "the loop's nine instructions at 4 cycles each, and 8 of its branch";
        /// Bits of a digit of the radix sort.
        digit_bits: u64 = 8, 1..=16, Published "CUB's policies for compute capability 8.0 and later";
        /// Instructions per key of a pass of the radix sort.
        pass_instructions: u64 = 60, 0..=100_000, Assumed "five per bit of the digit to match equal keys of a warp, and 20 to rank, exchange and store";
        /// Bytes that ranges reads per pair.
        ranges_bytes: u64 = 8, 0..=1_000_000, Published "identifyTileRanges: a key; its neighbour is in the cache";
        /// Instructions of ranges per pair.
        ranges_instructions: u64 = 30, 0..=100_000, Published "identifyTileRanges, by NVRTC 13.5 and nvdisasm for sm_87";
    }
}

/// Limiting factor of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// The issue of instructions.
    Issue,
    /// Chains of dependent instructions.
    Chain,
    /// Slower warps of a block.
    Barrier,
    /// Memory.
    Memory,
    /// The end, when cores run dry.
    Tail,
    /// The gap in front of the kernel.
    Gap,
}

documented! {
    /// Cost of a kernel.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    pub struct KernelCost {
        /// Name of the kernel.
        pub name: &'static str,
        /// Bytes read from and written to DRAM.
        pub bytes: u64,
        /// Warp instructions.
        pub instructions: u64,
        /// Cycles, with the gap in front of it.
        pub cycles: Cycle,
        /// Factor that takes the longest.
        pub limited_by: Limit,
    }
}

/// A kernel as a stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stream {
    pub(super) name: &'static str,
    pub(super) bytes: u64,
    /// Warp instructions.
    pub(super) instructions: u64,
    /// Cycles of the longest chain of dependent instructions of a thread.
    pub(super) chain: Cycle,
    /// Share of DRAM's bandwidth that the kernel reaches.
    pub(super) share: f64,
    /// Time around the kernel, in nanoseconds.
    pub(super) gap_ns: f64,
}

/// The rates of a machine.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rates {
    pub(super) clock_mhz: f64,
    pub(super) gb_per_s: f64,
    /// Schedulers of all cores, and the cycles for which an instruction holds one.
    pub(super) schedulers: u64,
    pub(super) issue_cycles: u64,
}

impl Stream {
    pub(super) fn cost(&self, rates: &Rates) -> KernelCost {
        let bytes_per_cycle = rates.gb_per_s * 1e3 / rates.clock_mhz * self.share;
        let memory: u64 = whole((self.bytes as f64 / bytes_per_cycle).ceil());
        let issue = (self.instructions * rates.issue_cycles).div_ceil(rates.schedulers);
        let gap: u64 = whole((self.gap_ns * rates.clock_mhz / 1e3).ceil());
        let work = memory.max(issue).max(self.chain);
        KernelCost {
            name: self.name,
            bytes: self.bytes,
            instructions: self.instructions,
            cycles: work + gap,
            limited_by: match () {
                () if gap > work => Limit::Gap,
                () if self.chain > memory.max(issue) => Limit::Chain,
                () if issue > memory => Limit::Issue,
                () => Limit::Memory,
            },
        }
    }
}
