//! Kernels as streams of bytes and instructions: the time of a kernel is the longer of both, plus a gap before it.

use serde::{Deserialize, Serialize};

use quadrille_base::choice;
use quadrille_base::math::whole;
use quadrille_machine::{Cycle, documented, spec};

spec! {
    /// Costs of the kernels before the raster: preprocess, scan, duplicate, sort, ranges.
    KernelsSpec in "kernels" {
        /// Share of DRAM's bandwidth that a kernel with sequential access reaches.
        bandwidth_share: f64 = 0.9, 0.01..=1.0, Assumed "common for streaming kernels";
        /// Share of DRAM's bandwidth that a pass of the radix sort reaches.
        sort_bandwidth_share: f64 = 0.7, 0.01..=1.0, Assumed "Onesweep (arXiv 2206.01784) reaches 0.68 on an A100";
        /// Time between two kernels, in nanoseconds.
        gap_ns: f64 = 1500.0, 0.0..=1_000_000_000.0, Assumed "a kernel that is queued after another one";
        /// Time in nanoseconds in which the host reads the number of pairs, before it starts the kernels after the scan.
        readback_ns: f64 = 10_000.0, 0.0..=1_000_000_000.0, Assumed "a wait, a copy of four bytes and a launch";
        /// Bytes that preprocess reads and writes for a splat in front of the near plane.
        near_bytes: u64 = 20, 0..=1_000_000, Published "preprocessCUDA of diff-gaussian-rasterization: 12 read, 8 written";
        /// Bytes that preprocess reads and writes for a splat off the picture.
        off_screen_bytes: u64 = 72, 0..=1_000_000, Published "preprocessCUDA: 40 read, 32 written";
        /// Bytes that preprocess reads and writes for a visible splat, without spherical harmonics.
        visible_bytes: u64 = 119, 0..=1_000_000, Published "preprocessCUDA: 44 read, 75 written";
        /// Bytes per coefficient of the spherical harmonics.
        sh_bytes: u64 = 12, 0..=1_000_000, Published "preprocessCUDA: three floats";
        /// Instructions of preprocess for a splat in front of the near plane.
        near_instructions: u64 = 51, 0..=100_000, Published "preprocessCUDA, by NVRTC 13.5 and nvdisasm for sm_87";
        /// Instructions of preprocess for a splat off the picture.
        off_screen_instructions: u64 = 421, 0..=100_000, Published "as kernels.near_instructions";
        /// Instructions of preprocess for a visible splat with a constant colour.
        visible_instructions: u64 = 542, 0..=100_000, Published "as kernels.near_instructions";
        /// Instructions of preprocess per coefficient of the spherical harmonics beyond the constant one.
        sh_instructions: u64 = 9, 0..=100_000, Published "as kernels.near_instructions: 132 instructions for 15 coefficients";
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
        /// Instructions of duplicate per splat, without its pairs.
        duplicate_instructions: u64 = 71, 0..=100_000, Published "duplicateWithKeys, by NVRTC 13.5 and nvdisasm for sm_87";
        /// Instructions of duplicate per pair; a warp runs as many rounds as its splat with the most pairs has pairs.
        pair_instructions: u64 = 9, 0..=100_000, Published "as kernels.duplicate_instructions";
        /// Cycles per pair of duplicate, which writes a splat's pairs sequentially.
        pair_chain_cycles: u64 = 44, 0..=100_000, Assumed "the loop's nine instructions at 4 cycles each, and 8 of its branch";
        /// Bits per digit of the radix sort.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// Issue of instructions.
    Issue,
    /// Chains of dependent instructions.
    Chain,
    /// Waits for slower warps of a block.
    Barrier,
    /// Memory bandwidth and latency.
    Memory,
    /// Tail of the kernel, in which cores have no more blocks.
    Tail,
    /// Idle time at launches: before the kernel and between its passes.
    Gap,
}

choice! {
    /// A kernel of a frame.
    pub enum KernelName {
        /// Culling, projection and colours of splats
        Preprocess = "preprocess",
        /// Prefix sum of the tile counts of splats
        Scan = "scan",
        /// Output of a key and a value per pair of a splat and a tile
        Duplicate = "duplicate",
        /// Radix sort
        Sort = "sort",
        /// Ranges of the sorted pairs by tile
        Ranges = "ranges",
        /// Raster of the tiles
        Raster = "raster",
    }
}

documented! {
    /// Cost of a kernel.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub struct KernelCost {
        /// Name of the kernel.
        pub name: KernelName,
        /// Bytes read from and written to DRAM.
        pub bytes: u64,
        /// Warp instructions.
        pub instructions: u64,
        /// Cycles, including the gap before the kernel.
        pub cycles: Cycle,
        /// Resource that takes the longest, and so limits the kernel.
        pub limited_by: Limit,
    }
}

impl KernelCost {
    /// Fields of the configuration that decide the time of the kernel through its limit; all times also depend on
    /// `gpu.clock_mhz`.
    pub fn deciding_fields(&self) -> &'static [&'static str] {
        use KernelName::{Duplicate, Preprocess, Ranges, Raster, Scan, Sort};
        match (self.limited_by, self.name) {
            (Limit::Gap, Scan) => &["kernels.readback_ns", "kernels.gap_ns"],
            (Limit::Gap, _) => &["kernels.gap_ns"],
            (Limit::Memory, Sort) => &["kernels.sort_bandwidth_share", "kernels.digit_bits"],
            (Limit::Memory, Raster) => &["dram.latency_ns", "l2.latency_ns"],
            (Limit::Memory, _) => &["kernels.bandwidth_share", "dram.gb_per_s"],
            (Limit::Chain, Raster) => &["compute.entry_chain_cycles", "compute.blend_chain_cycles"],
            (Limit::Chain, _) => &["kernels.pair_chain_cycles"],
            (Limit::Issue, Preprocess) => {
                &["kernels.visible_instructions", "kernels.off_screen_instructions"]
            }
            (Limit::Issue, Scan) => &["kernels.scan_instructions"],
            (Limit::Issue, Duplicate) => {
                &["kernels.pair_instructions", "kernels.duplicate_instructions"]
            }
            (Limit::Issue, Sort) => &["kernels.pass_instructions"],
            (Limit::Issue, Ranges) => &["kernels.ranges_instructions"],
            (Limit::Issue | Limit::Barrier, Raster) => {
                &["compute.entry_instructions", "cores.issue_cycles"]
            }
            (Limit::Barrier | Limit::Tail, _) => &["cores.cores", "cores.schedulers"],
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Stream {
    pub(super) name: KernelName,
    pub(super) bytes: u64,
    pub(super) instructions: u64,
    pub(super) chain: Cycle,
    pub(super) share: f64,
    pub(super) gap_ns: f64,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Rates {
    pub(super) clock_mhz: f64,
    pub(super) gb_per_s: f64,
    /// Schedulers of all cores, and cycles per instruction.
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
