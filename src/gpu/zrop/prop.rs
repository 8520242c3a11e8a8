//! PROP passes flushed quads to the tests in order (VR-Pipe, sections III-B and V-A); its other port packs warps.
//!
//! Input and output: beats of quads in order. Rate: quads per cycle.

use quadrille_machine::{Beat, IssuePort, Process, Rate, Rigid, RigidUnit, spec, statistics};

spec! {
    /// Configuration of PROP, with its input and output ports.
    PropSpec in "prop" {
        /// Capacity of the input queue, in beats.
        queue: u64 = 16, 1..=65_536, Assumed "one full tile bin";
        /// Quads passed from tile coalescing to the tests per cycle.
        quads_in_per_cycle: Rate = Rate::new(8, 1), Rate::LEAST..=Rate::MOST, Calibrated "VR-Pipe's speedup of 2.78, which needs more than 5.56 quads per cycle; as tile coalescing";
        /// Quads passed from the tests to warps per cycle.
        quads_out_per_cycle: Rate = Rate::new(4, 1), Rate::LEAST..=Rate::MOST, Calibrated "the 16 pixels per cycle of VR-Pipe Fig. 20b";
        /// Latency in cycles.
        latency_cycles: u64 = 4, 0..=10_000, Assumed "a small queue and an arbiter";
    }
}

statistics! {
    /// Statistics of PROP.
    pub struct PropCounters {
        /// Quads received. All of them are emitted.
        pub quads_in: u64,
    }
}

/// First port of PROP: passes beats from tile coalescing to the tests.
pub type Prop = RigidUnit<PropSpec>;

impl Rigid for PropSpec {
    const NAME: &'static str = Self::UNIT;
    type Counters = PropCounters;

    fn port(&self) -> IssuePort {
        IssuePort::of_beats(self.quads_in_per_cycle, self.latency_cycles)
    }
}

impl<M> Process<M> for PropSpec {
    type In = Beat;
    type Out = Beat;

    fn tile(beat: &Beat) -> Option<u32> {
        Some(beat.tile)
    }

    fn process(&self, beat: Beat, counters: &mut PropCounters, _state: &M) -> (u64, Option<Beat>) {
        let quads = beat.quads.len() as u64;
        counters.quads_in += quads;
        (quads.max(1), Some(beat))
    }
}
