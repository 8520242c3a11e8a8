//! DRAM with limited bandwidth and constant latency.

use super::calendar::Calendar;
use super::clock::cycles_in;
use super::line::{LINE_BYTES, SECTOR_BYTES};
use super::sector_cache::sectors_of;
use super::traffic::Client;
use crate::rate::Rate;
use crate::spec::spec;
use crate::timing::Cycle;

spec! {
    /// Configuration of DRAM.
    DramSpec in "dram" {
        /// Bandwidth in GB/s (10^9 bytes per second).
        gb_per_s: f64 = 102.4, 0.001..=1_000_000.0, Assumed "VR-Pipe Table I: LPDDR3-1600, 16 channels, each taken to be 32 bits wide";
        /// Latency in nanoseconds, in addition to the latency of the L2.
        latency_ns: f64 = 600.0, 0.0..=1_000_000.0, Assumed "as measured on embedded GPUs";
    }
}

impl DramSpec {
    /// Bandwidth in bytes per cycle of the units, which run at `clock_mhz`.
    pub fn bytes_per_cycle(&self, clock_mhz: f64) -> f64 {
        self.gb_per_s * 1e3 / clock_mhz
    }
}

/// A recorded request to DRAM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DramRequest {
    /// Cycle at which the request reaches DRAM.
    pub at: Cycle,
    /// Address of the first byte.
    pub address: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// True for a write, false for a read.
    pub is_write: bool,
    /// Client that owns the data.
    pub client: Client,
}

/// DRAM: one port with a calendar of its bandwidth, and a constant latency of reads.
#[derive(Debug)]
pub struct Dram {
    latency: u64,
    calendar: Calendar,
    last_write: Cycle,
    requests: Option<Vec<DramRequest>>,
}

impl Dram {
    /// Creates an idle DRAM for units that run at `clock_mhz`.
    pub(crate) fn new(spec: &DramSpec, clock_mhz: f64) -> Self {
        Self {
            latency: cycles_in(spec.latency_ns, clock_mhz),
            calendar: Calendar::new(Rate::nearest(spec.bytes_per_cycle(clock_mhz))),
            last_write: 0,
            requests: None,
        }
    }

    pub(super) fn keep_requests(&mut self) {
        self.requests = Some(Vec::new());
    }

    /// Takes the recorded requests, sorted by cycle; empty if they are not recorded.
    pub fn take_requests(&mut self) -> Vec<DramRequest> {
        let mut requests = self.requests.take().unwrap_or_default();
        requests.sort_by_key(|request| request.at);
        requests
    }

    #[inline(always)]
    pub(super) fn note(&mut self, request: DramRequest) {
        if let Some(requests) = &mut self.requests {
            requests.push(request);
        }
    }

    #[inline(always)]
    pub(super) fn note_sectors(
        &mut self,
        client: Client,
        line: u32,
        sectors: u8,
        is_write: bool,
        at: Cycle,
    ) {
        if self.requests.is_some() {
            for sector in sectors_of(sectors) {
                self.note(DramRequest {
                    at,
                    address: u64::from(line) * LINE_BYTES + sector as u64 * SECTOR_BYTES,
                    bytes: SECTOR_BYTES,
                    is_write,
                    client,
                });
            }
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

    pub(super) fn last_write(&self) -> Cycle {
        self.last_write
    }

    /// Extends the calendar to requests up to `cycles` out of time order. Must be called before the first request.
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

    /// Bytes read and written so far.
    pub fn bytes(&self) -> u64 {
        self.calendar.bytes
    }
}
