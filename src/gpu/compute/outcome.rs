//! Results of the software renderer: the picture, the cycles, and all counters.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::assign::TileTest;
use super::block::LaneTotals;
use super::cores::CyclesByReason;
use super::kernels::KernelWorkload;
use super::stream::KernelCost;
use quadrille_base::error::{Error, Result};
use quadrille_base::image::Frame;
use quadrille_base::shading::StopRule;
use quadrille_machine::{Cycle, L2Counters, PortKind, StallReason, UnitCycles, documented};

/// Early termination of the software renderer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SoftwareTermination {
    /// Stop rule of the profile.
    Profile,
    /// No pixel stops early.
    Never,
    /// After the blend that raises alpha to 0.996, as in the emulated hardware.
    Hardware,
}

/// A software renderer: the test that lists splats in tiles, and the early termination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComputeMethod {
    /// Test that decides in which tiles a splat is listed.
    pub tiles: TileTest,
    /// Rule of early termination.
    pub termination: SoftwareTermination,
}

impl ComputeMethod {
    /// Oriented boxes, and the stop rule of the profile (`compute`).
    pub const ORIENTED: Self =
        Self { tiles: TileTest::OrientedBox, termination: SoftwareTermination::Profile };
    /// Oriented boxes without early termination (`compute:none`).
    pub const ORIENTED_UNSTOPPED: Self =
        Self { tiles: TileTest::OrientedBox, termination: SoftwareTermination::Never };
    /// Squares, and the stop rule of the profile (`compute-aabb`).
    pub const SQUARE: Self =
        Self { tiles: TileTest::Square, termination: SoftwareTermination::Profile };

    /// Parses `compute` or `compute-aabb`, alone or followed by `:none` or `:hw`; `None` for any other name.
    ///
    /// # Errors
    /// [`Error::Argument`] for another suffix.
    pub fn parse(text: &str) -> Result<Option<Self>> {
        let (name, suffix) = match text.split_once(':') {
            Some((name, suffix)) => (name, Some(suffix)),
            None => (text, None),
        };
        let tiles = match name {
            "compute" => TileTest::OrientedBox,
            "compute-aabb" => TileTest::Square,
            _ => return Ok(None),
        };
        let termination = match suffix {
            None => SoftwareTermination::Profile,
            Some("none") => SoftwareTermination::Never,
            Some("hw") => SoftwareTermination::Hardware,
            Some(_) => {
                let expected = format!("{name}, {name}:none or {name}:hw");
                return Err(Error::argument("variant", expected, text));
            }
        };
        Ok(Some(Self { tiles, termination }))
    }

    /// Returns the stop rule of the renderer for a profile with the rule `of_profile`.
    pub fn stop(self, of_profile: StopRule) -> StopRule {
        match self.termination {
            SoftwareTermination::Profile => of_profile,
            SoftwareTermination::Never => StopRule::Never,
            SoftwareTermination::Hardware => StopRule::After(0.996),
        }
    }
}

impl fmt::Display for ComputeMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.tiles {
            TileTest::OrientedBox => "compute",
            TileTest::Square => "compute-aabb",
        })?;
        f.write_str(match self.termination {
            SoftwareTermination::Profile => "",
            SoftwareTermination::Never => ":none",
            SoftwareTermination::Hardware => ":hw",
        })
    }
}

documented! {
    /// Counts of a software renderer.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct ComputeCounts {
        /// Pairs of a splat and a tile.
        pub pairs: u64,
        /// Fragments above the alpha cut that are lost because their tile does not list the splat, before any stop rule.
        pub fragments_missed: u64,
        /// Rounds started, over all blocks.
        pub rounds: u64,
        /// Entries that warps visit.
        pub warp_entries: u64,
        /// Subset of `warp_entries` that at least one lane blends.
        pub warp_entries_blending: u64,
        /// Lane counts over all entries that warps visit.
        pub lanes: LaneTotals,
        /// Warp instructions of the raster kernel.
        pub instructions: u64,
        /// Cycles of all schedulers in the raster kernel by activity.
        pub cycles_by_reason: CyclesByReason,
        /// Number of warp schedulers of all cores.
        pub schedulers: u64,
        /// Resident blocks per core.
        pub blocks_per_core: u64,
        /// Costs of all kernels of a frame, in launch order.
        pub kernels: Vec<KernelCost>,
        /// Traffic of the L2 in the raster kernel.
        pub l2: L2Counters,
        /// Bytes moved to and from DRAM in the raster kernel.
        pub dram_bytes: u64,
    }
}

/// Result of a software renderer.
#[derive(Debug)]
pub struct ComputeResult {
    /// Renderer that ran.
    pub method: ComputeMethod,
    /// Cycles of the raster kernel, which starts from sorted lists.
    pub cycles: Cycle,
    /// Work of the raster kernel, and the costs of all kernels.
    pub counts: ComputeCounts,
    /// Counts that determine the kernels before the raster kernel.
    pub workload: KernelWorkload,
    /// Cycles of the L2 and DRAM ports in the raster kernel.
    pub memory: Vec<UnitCycles>,
    /// Rendered picture.
    pub frame: Frame,
}

impl ComputeCounts {
    /// Share of lanes that blend, over all visited entries, 0 to 1 (VR-Pipe, Fig. 9); `None` if no entry is visited.
    pub fn blending_share(&self) -> Option<f64> {
        let lanes = 32 * self.warp_entries;
        (lanes > 0).then(|| self.lanes.blended as f64 / lanes as f64)
    }

    /// Share of lanes that blend, 0 to 1, over all entries that a lane of their warp blends; `None` without such entries.
    pub fn blending_share_of_blending(&self) -> Option<f64> {
        let lanes = 32 * self.warp_entries_blending;
        (lanes > 0).then(|| self.lanes.blended as f64 / lanes as f64)
    }
}

impl ComputeResult {
    /// Cycles of the schedulers of all cores, and of the ports of L2 and DRAM.
    pub fn units(&self) -> Vec<UnitCycles> {
        let reasons = self.counts.cycles_by_reason;
        let idle = [
            ("chain", reasons.chain),
            ("barrier", reasons.barrier),
            (StallReason::Miss.name(), reasons.memory),
            (StallReason::Drained.name(), reasons.tail),
        ];
        let idle = idle.into_iter().filter(|(_, cycles)| *cycles > 0);
        let cores = UnitCycles {
            name: "cores",
            kind: PortKind::Pipeline,
            instances: self.counts.schedulers,
            busy: reasons.issue,
            idle: idle.map(|(name, cycles)| (name.to_owned(), cycles)).collect(),
            moved: self.counts.instructions,
            rate: None,
            holds_items: false,
            needed: reasons.issue,
            busiest: (reasons.issue + reasons.memory).div_ceil(self.counts.schedulers.max(1)),
            timeline: None,
        };
        [vec![cores], self.memory.clone()].concat()
    }

    /// Describes counters and cycles that do not add up. The list is empty unless the renderer has a bug.
    pub fn discrepancies(&self) -> Vec<String> {
        let mut wrong: Vec<_> = UnitCycles::discrepancies(&self.units(), self.cycles).collect();
        let lanes = &self.counts.lanes;
        let mut check = |holds: bool, what: String| {
            if !holds {
                wrong.push(what);
            }
        };
        check(
            lanes.blended <= lanes.over_cut
                && lanes.over_cut <= lanes.live
                && lanes.live <= 32 * self.counts.warp_entries,
            format!(
                "the lanes of {} warp entries contradict each other: {lanes:?}",
                self.counts.warp_entries
            ),
        );
        let blending = self.counts.warp_entries_blending;
        check(
            blending <= lanes.blended && lanes.blended <= 32 * blending,
            format!(
                "{blending} warp entries with a blend cannot have {} blended lanes",
                lanes.blended
            ),
        );
        let raster = self.counts.kernels.last().map(|kernel| kernel.instructions);
        check(
            raster == Some(self.counts.instructions),
            format!(
                "instructions: {}, but the raster kernel has {}",
                self.counts.instructions,
                raster.unwrap_or(0)
            ),
        );
        wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for name in [
            "compute",
            "compute:none",
            "compute:hw",
            "compute-aabb",
            "compute-aabb:none",
            "compute-aabb:hw",
        ] {
            assert_eq!(ComputeMethod::parse(name).unwrap().unwrap().to_string(), name);
        }
        assert_eq!(ComputeMethod::parse("het").unwrap(), None);
        let error = ComputeMethod::parse("compute:inria").unwrap_err().to_string();
        assert!(error.contains("compute:none or compute:hw"), "{error}");
    }
}
