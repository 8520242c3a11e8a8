//! Memory behind the caches of fixed-function units: a shared L2 and DRAM with bandwidth, latency and
//! residency.
//!
//! Requests do not come in time order: a later splat's vertices are fetched before an earlier splat's
//! colours. Bandwidth is therefore kept in a [`calendar`]. Replacement in the L2 sees requests in the
//! order in which packets are pushed.

pub mod calendar;
pub mod dram;
pub mod l2;
pub mod line;
pub(crate) mod lru;

use crate::pipeline::collect::UnitCycles;
use crate::pipeline::timing::Cycle;
use dram::{Dram, DramSpec};
use l2::{L2, L2Spec};

/// L2 and DRAM.
#[derive(Debug)]
pub struct Memory {
    /// Shared cache.
    pub l2: L2,
    /// Memory behind the cache.
    pub dram: Dram,
}

impl Memory {
    /// Creates a memory with `lines` cacheable lines, none of them resident.
    pub fn new(l2: &L2Spec, dram: &DramSpec, lines: u32) -> Self {
        Self {
            l2: L2::new(l2, lines),
            dram: Dram::new(dram),
        }
    }

    /// Reads `bytes` of `line` at `at`; returns the cycle at which they arrive.
    pub fn read(&mut self, line: u32, bytes: u64, at: Cycle) -> Cycle {
        self.l2.read(line, bytes, at, &mut self.dram)
    }

    /// Writes `bytes` of `line` at `at`.
    pub fn write(&mut self, line: u32, bytes: u64, at: Cycle) {
        self.l2.write(line, bytes, at, &mut self.dram);
    }

    /// Cycles of the ports of the L2 and of DRAM in a run of `cycles`: as many busy ones as their bytes
    /// take at their rates.
    pub fn units(&self, cycles: Cycle) -> Vec<UnitCycles> {
        let unit = |name, busy: u64| UnitCycles {
            name,
            instances: 1,
            busy,
            idle: vec![("unused".to_owned(), cycles.saturating_sub(busy))],
            timeline: None,
        };
        vec![
            unit("l2", self.l2.busy_cycles()),
            unit("dram", self.dram.busy_cycles()),
        ]
    }

    /// Reads `bytes` that are used once, without caching them; returns the cycle at which they arrive.
    pub fn stream(&mut self, bytes: u64, at: Cycle) -> Cycle {
        let arrived = self.dram.transfer(bytes, at);
        self.l2.pass(bytes, arrived)
    }
}
