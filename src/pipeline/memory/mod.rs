//! The memory system behind the caches of fixed-function units: a shared L2 and DRAM, as bandwidth,
//! latency and what is resident.
//!
//! Requests do not come in the order of their times: a later splat's vertices are asked for before
//! an earlier splat's colours. Bandwidth is therefore a calendar, see [`calendar`]; the L2's
//! replacement sees requests in the order in which packets are pushed.

pub mod calendar;
pub mod dram;
pub mod l2;
pub mod line;
pub(crate) mod lru;

use crate::pipeline::timing::Cycle;
use dram::{Dram, DramSpec};
use l2::{L2, L2Spec};

/// L2 and DRAM.
#[derive(Debug)]
pub struct Memory {
    /// The cache.
    pub l2: L2,
    /// What lies behind it.
    pub dram: Dram,
}

impl Memory {
    /// An empty memory system of `lines` lines that can be cached.
    pub fn new(l2: &L2Spec, dram: &DramSpec, lines: u32) -> Self {
        Self {
            l2: L2::new(l2, lines),
            dram: Dram::new(dram),
        }
    }

    /// Reads `bytes` of line `line` at `at`; returns when they are there.
    pub fn read(&mut self, line: u32, bytes: u64, at: Cycle) -> Cycle {
        self.l2.read(line, bytes, at, &mut self.dram)
    }

    /// Writes `bytes` of line `line` at `at`.
    pub fn write(&mut self, line: u32, bytes: u64, at: Cycle) {
        self.l2.write(line, bytes, at, &mut self.dram);
    }

    /// Reads `bytes` that are used once, past the L2's storage; returns when they are there.
    pub fn stream(&mut self, bytes: u64, at: Cycle) -> Cycle {
        let arrived = self.dram.transfer(bytes, at);
        self.l2.pass(bytes, arrived)
    }
}
