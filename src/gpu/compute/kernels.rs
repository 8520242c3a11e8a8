//! Kernels before the raster kernel: preprocess, scan, duplicate, sort, ranges.

use super::radix::RadixSort;
use super::stream::{KernelCost, KernelName, KernelsSpec, Rates, Stream};
use crate::config::Config;

const LANES: u64 = 32;

/// Counts that determine the work of the kernels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KernelWorkload {
    /// Number of splats in the scene.
    pub splats: u64,
    /// Number of splats culled at or before the near plane.
    pub near: u64,
    /// Number of splats in the draw.
    pub visible: u64,
    /// Number of coefficients of the spherical harmonics of a splat, per channel.
    pub(crate) sh_coefficients: u64,
    /// Number of pairs of a splat and a tile.
    pub pairs: u64,
    /// Pairs of the splat with the most pairs in a warp of 32 splats, summed over warps.
    pub(crate) longest_pairs: u64,
    pub(crate) most_pairs: u64,
    /// Bits of a sort key.
    pub key_bits: u64,
}

impl KernelWorkload {
    /// Sum of a quantity of preprocess over all splats, given its values per near, off-screen and visible splat.
    fn over_splats(&self, near: u64, off_screen: u64, visible: u64) -> u64 {
        let seen = self.near + self.visible;
        self.near * near + self.splats.saturating_sub(seen) * off_screen + self.visible * visible
    }

    pub(crate) fn preprocess_bytes(&self, spec: &KernelsSpec) -> u64 {
        let visible = spec.visible_bytes + spec.sh_bytes * self.sh_coefficients;
        self.over_splats(spec.near_bytes, spec.off_screen_bytes, visible)
    }
}

/// Costs of the kernels before the raster kernel of a software renderer, in order.
pub fn kernels(work: &KernelWorkload, config: &Config) -> Vec<KernelCost> {
    let spec = &config.kernels;
    let radix = RadixSort {
        key_bits: work.key_bits,
        digit_bits: spec.digit_bits,
        bytes: [spec.key_bytes, spec.value_bytes],
    };
    let duplicated = warps(work.splats * spec.duplicate_instructions)
        + work.longest_pairs * spec.pair_instructions;
    let streams = [
        preprocess(work, spec),
        Stream {
            gap_ns: spec.gap_ns + spec.readback_ns,
            ..stream(
                spec,
                KernelName::Scan,
                work.splats * spec.scan_bytes,
                warps(work.splats * spec.scan_instructions),
            )
        },
        Stream {
            chain: work.most_pairs * spec.pair_chain_cycles,
            ..stream(
                spec,
                KernelName::Duplicate,
                work.visible * spec.duplicate_bytes
                    + work.pairs * (spec.key_bytes + spec.value_bytes),
                duplicated,
            )
        },
        sort(work.pairs, radix, spec),
        stream(
            spec,
            KernelName::Ranges,
            work.pairs * spec.ranges_bytes,
            warps(work.pairs * spec.ranges_instructions),
        ),
    ];
    let rates = rates(config);
    streams.iter().map(|stream| stream.cost(&rates)).collect()
}

/// Costs of preprocess and of the sort by depth alone before a draw (VR-Pipe, section III-A). Preprocess costs as much
/// as in software, but writes a depth and an index per visible splat instead of its number of tiles (assumption).
pub(crate) fn draw_kernels(work: &KernelWorkload, config: &Config) -> [KernelCost; 2] {
    let (spec, frame) = (&config.kernels, &config.frame);
    let radix = RadixSort {
        key_bits: 8 * frame.key_bytes,
        digit_bits: spec.digit_bits,
        bytes: [frame.key_bytes, frame.value_bytes],
    };
    let rates = rates(config);
    [preprocess(work, spec), sort(work.visible, radix, spec)].map(|stream| stream.cost(&rates))
}

fn warps(threads: u64) -> u64 {
    threads.div_ceil(LANES)
}

fn stream(spec: &KernelsSpec, name: KernelName, bytes: u64, instructions: u64) -> Stream {
    Stream { name, bytes, instructions, chain: 0, share: spec.bandwidth_share, gap_ns: spec.gap_ns }
}

fn preprocess(work: &KernelWorkload, spec: &KernelsSpec) -> Stream {
    let sh_instructions = spec.sh_instructions * work.sh_coefficients.saturating_sub(1);
    let instructions = work.over_splats(
        spec.near_instructions,
        spec.off_screen_instructions,
        spec.visible_instructions + sh_instructions,
    );
    stream(spec, KernelName::Preprocess, work.preprocess_bytes(spec), warps(instructions))
}

fn sort(items: u64, radix: RadixSort, spec: &KernelsSpec) -> Stream {
    let passes = radix.passes();
    Stream {
        share: spec.sort_bandwidth_share,
        // One kernel per pass, and one kernel that counts the digits.
        gap_ns: spec.gap_ns * (passes + 1) as f64,
        ..stream(
            spec,
            KernelName::Sort,
            items * radix.bytes_per_pair(),
            warps(items * spec.pass_instructions * passes),
        )
    }
}

fn rates(config: &Config) -> Rates {
    Rates {
        clock_mhz: config.gpu.clock_mhz,
        gb_per_s: config.dram.gb_per_s,
        schedulers: config.cores.all_schedulers() * config.gpu.gpcs,
        issue_cycles: config.cores.issue_cycles,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::stream::Limit;

    /// 1000 pairs at 152 bytes: 152,000 bytes at 0.7 of 167.3 bytes per cycle take 1298 cycles, less than seven gaps of 918
    /// cycles. Memory limits a million pairs.
    #[test]
    fn a_kernel_takes_as_long_as_the_slower_of_bytes_and_instructions() {
        let config = Config::default();
        let work = |pairs| KernelWorkload {
            splats: 100,
            visible: 100,
            sh_coefficients: 16,
            pairs,
            longest_pairs: pairs / 8,
            most_pairs: 100,
            key_bits: 44,
            near: 0,
        };
        let few = kernels(&work(1000), &config);
        let names: Vec<_> = few.iter().map(|kernel| kernel.name.name()).collect();
        assert_eq!(names, ["preprocess", "scan", "duplicate", "sort", "ranges"]);
        assert_eq!(few[0].bytes, 100 * (119 + 192));
        assert_eq!((few[3].bytes, few[3].cycles), (152_000, 1_298 + 6_426));
        assert_eq!(few[3].limited_by, Limit::Gap);
        assert_eq!(kernels(&work(1_000_000), &config)[3].limited_by, Limit::Memory);
        let slow = config.with("kernels.pass_instructions=1000").unwrap();
        let slow = kernels(&work(1_000_000), &slow);
        // Six passes of 1000 instructions per key, at 32 threads per warp and 32 warp instructions per cycle.
        assert_eq!(slow[3].limited_by, Limit::Issue);
        assert_eq!(slow[3].cycles, 6_000_000_000 / 1024 + 6_426);
    }

    /// A splat over 10,000 tiles keeps one thread busy for 440,000 cycles.
    #[test]
    fn a_splat_over_many_tiles_is_listed_by_one_thread() {
        let work = KernelWorkload { most_pairs: 10_000, ..KernelWorkload::default() };
        let duplicate = kernels(&work, &Config::default())[2];
        assert_eq!(duplicate.cycles, 440_000 + 918);
        assert_eq!(duplicate.limited_by, Limit::Chain);
    }

    /// A million splats, half of them visible, 16 coefficients. Preprocess moves 500,000 * 72 + 500,000 * (119 + 192) =
    /// 191.5 MB at 0.9 of 102.4 GB/s. Its 500,000 * 421 + 500,000 * (542 + 135) instructions are 17,156,250 warp
    /// instructions at 32 per cycle, which takes less time. The sort of depths takes four passes and 68 bytes per splat at
    /// 0.7 of the bandwidth.
    #[test]
    fn a_draw_sorts_visible_splats_by_depth_alone() {
        let config = Config::default();
        let work = KernelWorkload {
            splats: 1_000_000,
            visible: 500_000,
            sh_coefficients: 16,
            pairs: 7_000_000,
            ..KernelWorkload::default()
        };
        let [preprocess, sort] = draw_kernels(&work, &config);
        assert_eq!((preprocess.name, sort.name), (KernelName::Preprocess, KernelName::Sort));
        let per_cycle = 102.4e3 / 612.0;
        let cycles = |bytes: f64, share: f64| (bytes / (per_cycle * share)).ceil();
        assert_eq!(preprocess.bytes, 191_500_000);
        assert_eq!(preprocess.instructions, 17_156_250);
        assert_eq!(preprocess.limited_by, Limit::Memory);
        assert_eq!(preprocess.cycles as f64, cycles(191.5e6, 0.9) + 918.0);
        // Five gaps of 918 cycles: one before the counting kernel, and one before each of four passes.
        assert_eq!(sort.bytes, 34_000_000);
        assert_eq!(sort.cycles as f64, cycles(34.0e6, 0.7) + 4_590.0);
        // Preprocess costs as much as in software.
        assert_eq!(preprocess, kernels(&work, &config)[0]);
    }
}
