//! Cost of the raster kernel: instructions by class, chains of dependent instructions, and resources that limit blocks.
//!
//! The instruction counts come from the public kernel (`renderCUDA` in forward.cu of
//! graphdeco-inria/diff-gaussian-rasterization), compiled for the Orin's shader cores (sm_87) and disassembled. The
//! variants (no termination test; alpha test after the blend) are the same source with these statements removed or moved.

use crate::warp::cores::CoresSpec;
use quadrille_base::shading::StopRule;
use quadrille_machine::spec;

use super::block::{BLOCK_THREADS, BLOCK_WARPS, WarpWork};

spec! {
    /// Costs of the raster kernel of the software renderer, which draws one screen tile per block of 256 threads.
    ComputeSpec in "compute" {
        /// Warp instructions before the first round.
        setup_instructions: u64 = 39, 0..=100_000, Published "renderCUDA of diff-gaussian-rasterization, by NVRTC 13.5 and nvdisasm for sm_87";
        /// Warp instructions of a round up to the loads of its entries: vote and addresses.
        fetch_instructions: u64 = 24, 0..=100_000, Published "as compute.setup_instructions";
        /// Warp instructions of a round after the loads, without the entries: barrier and loop.
        round_instructions: u64 = 15, 0..=100_000, Published "as compute.setup_instructions";
        /// Warp instructions per entry up to the alpha test, one of them in the special function unit.
        entry_instructions: u64 = 36, 1..=100_000, Published "as compute.setup_instructions";
        /// Additional warp instructions of an entry with a fragment above the alpha cut, if the stop rule tests
        /// the transmittance before the blend.
        stop_instructions: u64 = 5, 0..=100_000, Published "as compute.setup_instructions";
        /// Additional warp instructions of an entry that a lane blends.
        blend_instructions: u64 = 16, 0..=100_000, Published "as compute.setup_instructions";
        /// Additional warp instructions of a blended entry, if the stop rule tests alpha after the blend.
        stop_after_instructions: u64 = 3, 0..=100_000, Published "as compute.setup_instructions, with the test after the blend";
        /// Warp instructions after the last round, with five stores.
        end_instructions: u64 = 31, 0..=100_000, Published "as compute.setup_instructions";
        /// Cycles of the dependent chain of an entry.
        entry_chain_cycles: u64 = 138, 0..=1_000_000, Assumed "longest chain of the disassembly, at 4 cycles per instruction, 21 per special function, 23 per load from shared memory, 8 per branch";
        /// Cycles that the stop test before the blend adds to the chain.
        stop_chain_cycles: u64 = 20, 0..=1_000_000, Assumed "as compute.entry_chain_cycles";
        /// Cycles that a blend adds to the chain if its colour is in the first-level cache.
        blend_chain_cycles: u64 = 73, 0..=1_000_000, Assumed "as compute.entry_chain_cycles, with 33 cycles of a hit in the first-level cache";
        /// Registers per thread.
        registers_per_thread: u64 = 30, 1..=255, Published "as compute.setup_instructions";
        /// Registers of a core.
        registers_per_core: u64 = 65_536, 8_192..=16_777_216, Published "CUDA C++ programming guide, compute capability 8.7";
        /// Shared memory of a block in bytes.
        shared_bytes_per_block: u64 = 7_168, 1..=16_777_216, Published "renderCUDA: 28 bytes per entry of a round";
        /// Shared memory of a core in bytes.
        shared_bytes_per_core: u64 = 49_152, 1..=1_073_741_824, Assumed "as VR-Pipe Table I's first-level cache";
        /// Cycles for which a warp instruction holds the special function unit of its scheduler.
        special_cycles: u64 = 8, 1..=1_024, Assumed "four lanes per scheduler, as NVIDIA's Ampere";
        /// Cycles for which a load of a warp holds the load and store unit of its core.
        load_cycles: u64 = 1, 1..=1_024, Assumed "one address per load, which all lanes of a warp share";
    }
}

/// Granularity of the registers per thread (CUDA occupancy calculator: 256 per warp).
const REGISTER_UNIT: u64 = 8;
pub(crate) const ENTRY_LOADS: u64 = 2;
/// Additional loads per blend: the identifier from shared memory, the colour through the first-level cache.
pub(crate) const BLEND_LOADS: u64 = 4;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct WarpCost {
    pub(super) instructions: u64,
    pub(super) special: u64,
    pub(super) loads: u64,
    pub(super) chain: u64,
}

impl ComputeSpec {
    /// Resident blocks per core, at least 1: the minimum over warp slots, registers and shared memory.
    pub(crate) fn blocks_per_core(&self, cores: &CoresSpec) -> u64 {
        let registers = self.registers_per_thread.next_multiple_of(REGISTER_UNIT);
        let by_warps = cores.warps_per_core / BLOCK_WARPS as u64;
        let by_registers = self.registers_per_core / (registers * BLOCK_THREADS as u64);
        let by_memory = self.shared_bytes_per_core / self.shared_bytes_per_block;
        by_warps.min(by_registers).min(by_memory).max(1)
    }

    /// Cost of one round of a warp under a stop rule, after the loads of the entries.
    pub(super) fn cost(&self, work: &WarpWork, stop: StopRule) -> WarpCost {
        let [entries, over_cut, blending] =
            [work.entries, work.over_cut, work.blending].map(u64::from);
        let (tested, more) = match stop {
            StopRule::Never => (0, 0),
            StopRule::Before(_) | StopRule::BeforeOrAt(_) => (over_cut, 0),
            StopRule::After(_) => (0, self.stop_after_instructions),
        };
        WarpCost {
            instructions: self.round_instructions
                + entries * self.entry_instructions
                + tested * self.stop_instructions
                + blending * (self.blend_instructions + more),
            special: entries,
            loads: entries * ENTRY_LOADS + blending * BLEND_LOADS,
            chain: entries * self.entry_chain_cycles
                + tested * self.stop_chain_cycles
                + blending * self.blend_chain_cycles,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 48 warps allow six blocks, 48 registers per thread five, and 9 KB of shared memory five.
    #[test]
    fn the_scarcest_resource_decides_how_many_blocks_a_core_holds() {
        let (spec, cores) = (ComputeSpec::default(), CoresSpec::default());
        assert_eq!(spec.blocks_per_core(&cores), 6);
        let registers = ComputeSpec { registers_per_thread: 48, ..spec.clone() };
        assert_eq!(registers.blocks_per_core(&cores), 5);
        let memory = ComputeSpec { shared_bytes_per_block: 9_216, ..spec.clone() };
        assert_eq!(memory.blocks_per_core(&cores), 5);
        let few = CoresSpec { warps_per_core: 7, ..cores };
        assert_eq!(spec.blocks_per_core(&few), 1);
    }

    /// Ten entries, four of them with a fragment above the cut, three of them blended: 15 + 360 + 20 + 48 instructions.
    #[test]
    fn a_warp_pays_for_what_its_lanes_do() {
        let spec = ComputeSpec::default();
        let work = WarpWork { entries: 10, over_cut: 4, blending: 3, first: 0 };
        let before = spec.cost(&work, StopRule::Before(1e-4));
        let expected = WarpCost {
            instructions: 15 + 360 + 20 + 48,
            special: 10,
            loads: 32,
            chain: 1380 + 80 + 219,
        };
        assert_eq!(before, expected);
        assert_eq!(spec.cost(&work, StopRule::Never).instructions, 15 + 360 + 48);
        assert_eq!(spec.cost(&work, StopRule::After(0.996)).instructions, 15 + 360 + 57);
    }
}
