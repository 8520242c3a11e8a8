//! DRAM with a bandwidth and a latency.

use super::calendar::Calendar;
use crate::pipeline::spec::spec;
use crate::pipeline::timing::Cycle;

spec! {
    /// DRAM.
    DramSpec in "dram" {
        /// Bytes per cycle of the shader clock.
        bytes_per_cycle: u64 = 167, 1..=1_000_000, Published "VR-Pipe Table I: LPDDR3-1600, 16 channels, 102.4 GB/s at 612 MHz";
        /// Latency in cycles.
        latency_cycles: u64 = 367, 0..=1_000_000, Assumed "600 ns at 612 MHz, as measured on embedded GPUs";
    }
}

/// DRAM.
#[derive(Debug)]
pub struct Dram {
    latency: u64,
    calendar: Calendar,
}

impl Dram {
    /// Creates an idle memory.
    pub fn new(spec: &DramSpec) -> Self {
        Self {
            latency: spec.latency_cycles,
            calendar: Calendar::new(spec.bytes_per_cycle),
        }
    }

    /// Moves `bytes` in either direction at or after `at`; returns the cycle at which a read arrives.
    pub fn transfer(&mut self, bytes: u64, at: Cycle) -> Cycle {
        self.calendar.book(bytes, at) + self.latency
    }

    /// Cycles that the bytes so far take.
    pub fn busy_cycles(&self) -> Cycle {
        self.calendar.busy_cycles()
    }

    /// Bytes moved in both directions.
    pub fn bytes(&self) -> u64 {
        self.calendar.bytes
    }
}
