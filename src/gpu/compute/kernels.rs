//! The kernels ahead of the raster: preprocess, scan, duplicate, sort, ranges.

use super::radix::RadixSort;
use super::stream::{KernelCost, KernelsSpec, Rates, Stream};
use crate::gpu::config::Config;

/// Lanes of a warp.
const LANES: u64 = 32;

/// Counts that the kernels' work follows from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Workload {
    /// Splats of the scene.
    pub splats: u64,
    /// Of those, splats in front of the near plane.
    pub near: u64,
    /// Of those, visible splats.
    pub visible: u64,
    /// Coefficients of the spherical harmonics of a splat, per channel.
    pub sh_coefficients: u64,
    /// Pairs of a splat and a tile.
    pub pairs: u64,
    /// Sum over warps of 32 splats of the pairs of the splat that has most.
    pub longest_pairs: u64,
    /// Bits of a key.
    pub key_bits: u64,
}

impl Workload {
    /// Sum over the splats of what preprocess has for each near, each off-screen and each visible one.
    fn over_splats(&self, near: u64, off_screen: u64, visible: u64) -> u64 {
        let seen = self.near + self.visible;
        self.near * near + self.splats.saturating_sub(seen) * off_screen + self.visible * visible
    }

    /// Bytes that preprocess reads and writes.
    #[must_use]
    pub fn preprocess_bytes(&self, spec: &KernelsSpec) -> u64 {
        let visible = spec.visible_bytes + spec.sh_bytes * self.sh_coefficients;
        self.over_splats(spec.near_bytes, spec.off_screen_bytes, visible)
    }
}

/// Costs of the kernels ahead of the raster, in order.
#[must_use]
pub fn kernels(work: &Workload, config: &Config) -> Vec<KernelCost> {
    let spec = &config.kernels;
    let sort = RadixSort {
        key_bits: work.key_bits,
        digit_bits: spec.digit_bits,
        bytes: [spec.key_bytes, spec.value_bytes],
    };
    let passes = sort.passes();
    let warps = |instructions: u64| instructions.div_ceil(LANES);
    let stream = |name, bytes, instructions| Stream {
        name,
        bytes,
        instructions,
        share: spec.bandwidth_share,
        gap_ns: spec.gap_ns,
    };
    let sh_instructions = spec.sh_instructions * work.sh_coefficients.saturating_sub(1);
    let preprocess_instructions = work.over_splats(
        spec.near_instructions,
        spec.off_screen_instructions,
        spec.visible_instructions + sh_instructions,
    );
    let duplicated = warps(work.splats * spec.duplicate_instructions)
        + work.longest_pairs * spec.pair_instructions;
    let streams = [
        stream(
            "preprocess",
            work.preprocess_bytes(spec),
            warps(preprocess_instructions),
        ),
        Stream {
            gap_ns: spec.gap_ns + spec.readback_ns,
            ..stream(
                "scan",
                work.splats * spec.scan_bytes,
                warps(work.splats * spec.scan_instructions),
            )
        },
        stream(
            "duplicate",
            work.visible * spec.duplicate_bytes + work.pairs * (spec.key_bytes + spec.value_bytes),
            duplicated,
        ),
        Stream {
            share: spec.sort_bandwidth_share,
            // A kernel per pass, and one that counts.
            gap_ns: spec.gap_ns * (passes + 1) as f64,
            ..stream(
                "sort",
                work.pairs * sort.bytes_per_pair(),
                warps(work.pairs * spec.pass_instructions * passes),
            )
        },
        stream(
            "ranges",
            work.pairs * spec.ranges_bytes,
            warps(work.pairs * spec.ranges_instructions),
        ),
    ];
    let rates = Rates {
        clock_mhz: config.gpu.clock_mhz,
        gb_per_s: config.dram.gb_per_s,
        schedulers: config.cores.all_schedulers() * config.gpu.gpcs,
        issue_cycles: config.cores.issue_cycles,
    };
    streams.iter().map(|stream| stream.cost(&rates)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::compute::stream::Limit;

    /// 1000 pairs at 152 bytes: 152,000 bytes at 0.7 of 167.3 bytes per cycle are 1298 cycles; seven gaps of
    /// 918 cycles take longer. A million pairs: memory.
    #[test]
    fn a_kernel_takes_as_long_as_the_slower_of_bytes_and_instructions() {
        let config = Config::default();
        let work = |pairs| Workload {
            splats: 100,
            visible: 100,
            sh_coefficients: 16,
            pairs,
            longest_pairs: pairs / 8,
            key_bits: 44,
            near: 0,
        };
        let few = kernels(&work(1000), &config);
        let names: Vec<_> = few.iter().map(|kernel| kernel.name).collect();
        assert_eq!(names, ["preprocess", "scan", "duplicate", "sort", "ranges"]);
        assert_eq!(few[0].bytes, 100 * (119 + 192));
        assert_eq!((few[3].bytes, few[3].cycles), (152_000, 1_298 + 6_426));
        assert_eq!(few[3].limited_by, Limit::Gap);
        let many = kernels(&work(1_000_000), &config);
        assert_eq!(many[3].limited_by, Limit::Memory);
        let slow = config.with("kernels.pass_instructions=1000").unwrap();
        let slow = kernels(&work(1_000_000), &slow);
        // 1000 instructions of six passes, a warp of 32 at 32 per cycle.
        assert_eq!(slow[3].limited_by, Limit::Issue);
        assert_eq!(slow[3].cycles, 6_000_000_000 / 1024 + 6_426);
    }
}
