//! DRAM with a bandwidth and a latency.

use super::calendar::Calendar;
use super::clock::cycles_in;
use crate::rate::Rate;
use crate::spec::spec;
use crate::timing::Cycle;

spec! {
    /// Configuration of DRAM.
    DramSpec in "dram" {
        /// Bandwidth in GB/s (10^9 bytes per second).
        gb_per_s: f64 = 102.4, 0.001..=1_000_000.0, Assumed "VR-Pipe Table I: LPDDR3-1600, 16 channels, each taken to be 32 bits wide";
        /// Latency behind the L2 in nanoseconds.
        latency_ns: f64 = 600.0, 0.0..=1_000_000.0, Assumed "as measured on embedded GPUs";
    }
}

impl DramSpec {
    /// Bandwidth in bytes per cycle of the units, which run at `clock_mhz`.
    pub fn bytes_per_cycle(&self, clock_mhz: f64) -> f64 {
        self.gb_per_s * 1e3 / clock_mhz
    }
}

/// DRAM.
#[derive(Debug)]
pub struct Dram {
    latency: u64,
    calendar: Calendar,
    last_write: Cycle,
}

impl Dram {
    /// Creates an idle memory beside units at `clock_mhz`.
    pub fn new(spec: &DramSpec, clock_mhz: f64) -> Self {
        Self {
            latency: cycles_in(spec.latency_ns, clock_mhz),
            calendar: Calendar::new(Rate::nearest(spec.bytes_per_cycle(clock_mhz))),
            last_write: 0,
        }
    }

    /// Reads `bytes` at or after `at`; returns the cycle at which they arrive.
    pub fn read(&mut self, bytes: u64, at: Cycle) -> Cycle {
        self.calendar.book(bytes, at) + self.latency
    }

    /// Writes `bytes` at or after `at`; returns the cycle in which the last of them passes the port.
    pub fn write(&mut self, bytes: u64, at: Cycle) -> Cycle {
        let passed = self.calendar.book(bytes, at);
        self.last_write = self.last_write.max(passed);
        passed
    }

    /// Cycle in which the last byte of the last write passed the port.
    pub(super) fn last_write(&self) -> Cycle {
        self.last_write
    }

    /// Takes requests up to `cycles` out of time order; none has come yet.
    pub(super) fn reorder_within(&mut self, cycles: Cycle) {
        self.calendar = Calendar::spanning(self.calendar.rate(), cycles);
    }

    /// Returns the calendar of the DRAM port.
    pub fn port(&self) -> &Calendar {
        &self.calendar
    }

    pub(super) fn port_mut(&mut self) -> &mut Calendar {
        &mut self.calendar
    }

    /// Bytes moved in both directions.
    pub fn bytes(&self) -> u64 {
        self.calendar.bytes
    }
}
