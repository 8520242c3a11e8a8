//! Launches warps on the shader cores in order, one per cycle, when a warp slot is free.

use quadrille_machine::{IssuePort, Process, Rate, Rigid, RigidUnit, Warp, spec, statistics};

spec! {
    /// Configuration of warp launch.
    LaunchSpec in "launch" {
        /// Capacity of the input queue, in warps.
        queue: u64 = 16, 1..=65_536, Assumed "one full tile bin";
        /// Warps per cycle.
        warps_per_cycle: Rate = Rate::ONE, Rate::LEAST..=Rate::MOST, Assumed "one warp per cycle";
        /// Latency in cycles.
        latency_cycles: u64 = 20, 0..=10_000, Assumed "attribute set-up and transfer to a core";
    }
}

statistics! {
    /// Statistics of warp launch.
    pub struct LaunchCounters {
        /// Warps launched.
        pub warps: u64,
        /// Quads of the launched warps.
        pub quads: u64,
    }
}

/// Warp launch unit, in front of the shader cores.
pub type Launch = RigidUnit<LaunchSpec>;

impl Rigid for LaunchSpec {
    const NAME: &'static str = Self::UNIT;
    type Counters = LaunchCounters;

    fn port(&self) -> IssuePort {
        IssuePort::new(self.warps_per_cycle, self.latency_cycles)
    }
}

impl<M> Process<M> for LaunchSpec {
    type In = Warp;
    type Out = Warp;

    fn tile(warp: &Warp) -> Option<u32> {
        Some(warp.tile)
    }

    fn process(&self, warp: Warp, counters: &mut LaunchCounters, _: &M) -> (u64, Option<Warp>) {
        counters.warps += 1;
        counters.quads += warp.quads.len() as u64;
        (1, Some(warp))
    }
}
